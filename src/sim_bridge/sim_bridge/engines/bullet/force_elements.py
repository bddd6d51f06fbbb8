# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Force elements in Bullet: lengths read and tensions applied in every physics step."""

from __future__ import annotations

import math

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.robot.model import RobotModel
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.world import World
from sim_bridge.engines.shared.actuator_targets import ActuatorTargets, ElementTensions
from sim_bridge.engines.shared.rotations import invert_quaternion, matrix_from_quaternion

_ROOT_INDEX = -1
# Elements below this length [m] have no direction and pull nothing.
_MIN_LENGTH = 1e-12


class ForceElements:
    """
    The e force elements of a world.

    Attributes
    ----------
    tensions : ElementTensions
    lengths : (e,) array [m]
        At the last reading.

    """

    def __init__(self, world: World, robot: RobotModel, actuator_targets: ActuatorTargets) -> None:
        self._client, self._body = world.client, world.body
        self.tensions = ElementTensions(actuator_targets, robot)
        count = len(robot.force_elements)
        ends = [
            _element_end(world, element.link_a, element.point_a)
            for element in robot.force_elements
        ]
        ends += [
            _element_end(world, element.link_b, element.point_b)
            for element in robot.force_elements
        ]
        links = sorted({link for link, _ in ends})
        self._moving_links = [link for link in links if link != _ROOT_INDEX]
        self._has_root = _ROOT_INDEX in links
        rows = [links.index(link) for link, _ in ends]
        self._carriers: IntArray = np.array(rows, dtype=np.int64).reshape(2, count).T.copy()
        levers = np.array([lever for _, lever in ends]).reshape(2, count, 3)
        self._levers: FloatArray = levers.transpose(1, 0, 2).copy()
        self._links = [(ends[i][0], ends[count + i][0]) for i in range(count)]
        self._points: FloatArray = np.zeros((count, 2, 3))
        self.lengths: FloatArray = np.zeros(count)
        self._rates: FloatArray = np.zeros(count)
        self._along: FloatArray = np.zeros((count, 3))

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self._links)

    def read(self) -> None:
        """Read end points, lengths and their rates in the present state."""
        numbers: list[float] = []
        if self._has_root:
            at, quaternion = pb.getBasePositionAndOrientation(self._body, self._client)
            linear, angular = pb.getBaseVelocity(self._body, self._client)
            numbers += (*at, *quaternion, *linear, *angular)
        if self._moving_links:
            # Without forward kinematics Bullet's links are one step behind its joints.
            states = pb.getLinkStates(self._body, self._moving_links, 1, 1, self._client)
            for state in states:
                numbers += (*state[0], *state[1], *state[6], *state[7])
        bodies = np.array(numbers).reshape(-1, 13)
        compute_element_states(
            bodies,
            self._carriers,
            self._levers,
            self._points,
            self.lengths,
            self._rates,
            self._along,
        )

    def apply_tensions(self) -> None:
        """Apply tensions at both ends of every element for the next step, by the last reading."""
        pulls = self.tensions.compute(self.lengths, self._rates)[:, None] * self._along
        body, client, frame = self._body, self._client, pb.WORLD_FRAME
        apply_force = pb.applyExternalForce
        for (a, b), (at_a, at_b), pull, back in zip(
            self._links, self._points.tolist(), pulls.tolist(), (-pulls).tolist(), strict=True
        ):
            apply_force(body, a, pull, at_a, frame, client)
            apply_force(body, b, back, at_b, frame, client)


def _element_end(
    world: World, link: str, point: tuple[float, float, float]
) -> tuple[int, FloatArray]:
    """Return Bullet's link that carries an end, and the end in its inertial frame, (3,) [m]."""
    frame = world.merged.frames[link].compose(point, (0.0, 0.0, 0.0))
    carrier = world.link_index[frame.link]
    com, quaternion = world.inertial_frame(carrier)
    return carrier, matrix_from_quaternion(invert_quaternion(quaternion)) @ (frame.position - com)


@numba.njit(cache=True)
def compute_element_states(
    bodies: FloatArray,
    carriers: IntArray,
    levers: FloatArray,
    points: FloatArray,
    lengths: FloatArray,
    rates: FloatArray,
    along: FloatArray,
) -> None:
    """
    Write end points of elements in ``odom``, lengths, their rates, and directions from a to b.

    Parameters
    ----------
    bodies : (c, 13) array
        State of the inertial frame of each carrier.
    carriers : (e, 2) int array
        Rows of ``bodies`` that carry the two ends.
    levers : (e, 2, 3) array [m]
        Ends in those frames.
    points : (e, 2, 3) array [m]
        Written, like the three below.
    lengths, rates : (e,) arrays [m, m/s]
    along : (e, 3) array
        Unit vectors; 0 for an element without length.

    """
    speed = np.empty((2, 3))
    for i in range(len(lengths)):
        for end in range(2):
            body, r = bodies[carriers[i, end]], levers[i, end]
            x, y, z, w = body[3], body[4], body[5], body[6]
            # Rotation of r by the quaternion (q, w): r + w t + q x t, with t = 2 q x r.
            tx, ty, tz = (
                2.0 * (y * r[2] - z * r[1]),
                2.0 * (z * r[0] - x * r[2]),
                2.0 * (x * r[1] - y * r[0]),
            )
            ax = r[0] + w * tx + y * tz - z * ty
            ay = r[1] + w * ty + z * tx - x * tz
            az = r[2] + w * tz + x * ty - y * tx
            points[i, end] = body[0] + ax, body[1] + ay, body[2] + az
            speed[end, 0] = body[7] + body[11] * az - body[12] * ay
            speed[end, 1] = body[8] + body[12] * ax - body[10] * az
            speed[end, 2] = body[9] + body[10] * ay - body[11] * ax
        # Velocity of an end is v + omega x lever, above; dL/dt = u . (v_b - v_a), u = d / |d|.
        between = points[i, 1] - points[i, 0]
        length = math.sqrt((between * between).sum())
        lengths[i] = length
        along[i] = between / length if length > _MIN_LENGTH else 0.0 * between
        rates[i] = (along[i] * (speed[1] - speed[0])).sum()
