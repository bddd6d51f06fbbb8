# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Observations of free bodies, with a compiled loop over control periods."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.state_tape import StateTape
from gait_core.processes import liveness
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from sim_bridge.engines.cables.kernel import (
    BodyLayout,
    BodyMotion,
    CompiledScene,
    advance_period,
    update_elements,
    update_points,
)
from sim_bridge.engines.shared.rotations import rotate_vector, rotate_vector_back
from sim_bridge.engines.shared.scene_checks import MAX_STATE_VALUE, divergence_error

_NO_JOINTS: FloatArray = np.zeros(0)
_NO_JOINTS.flags.writeable = False


class StateView(NamedTuple):
    """
    Arrays of an observation, written in place.

    Attributes
    ----------
    poses, twists : (b, 7) and (b, 6) arrays
        Of the links' frames, not of the centres of mass.
    elements : (2, e) array [m, N]
        Lengths, and tensions of the last step.
    imu_readings : (2, 3) array [rad/s, m/s^2]
        Angular velocity and specific force in the axes of the IMU's link.

    """

    poses: FloatArray
    twists: FloatArray
    elements: FloatArray
    imu_readings: FloatArray


class ImuMount(NamedTuple):
    """
    An IMU at the origin of a link.

    Attributes
    ----------
    body : int
    gravity : (3,) array [m/s^2]
    period : float [s]
        Time between two readings.
    velocity : (3,) array [m/s]
        Of the link at the last reading, NaN before the first.

    """

    body: int
    gravity: FloatArray
    period: float
    velocity: FloatArray


@numba.njit(cache=True, error_model='numpy')
def write_view(layout: BodyLayout, motion: BodyMotion, mount: ImuMount, view: StateView) -> bool:
    """
    Write the arrays of an observation; return whether every value is below its limit.

    The specific force of the IMU is the mean over the control period, as in the other engines:
    change of velocity over the period, minus gravity. At the first reading after a reset the
    velocity counts as unchanged.
    """
    state, buffers, poses, twists = motion.state, motion.buffers, view.poses, view.twists
    # Tensions of the last step are saved first: update_elements overwrites them while it computes
    # the lengths at the end of that step.
    for e in range(len(buffers.elements)):
        view.elements[1, e] = buffers.elements[e, 1]
    update_points(layout, state, buffers)
    update_elements(layout, buffers, 0.0)
    for e in range(len(buffers.elements)):
        view.elements[0, e] = buffers.elements[e, 0]
    is_in_range = True
    for b in range(len(state)):
        for i in range(state.shape[1]):
            # NaN compares false, so it is out of range too.
            is_in_range &= abs(state[b, i]) < MAX_STATE_VALUE
        # Frame of the link: origin = com - R c, v_origin = v_com - omega x (R c).
        com = layout.coms[b]
        x, y, z = rotate_vector(buffers.rotations[b], com[0], com[1], com[2])
        u, v, w = state[b, 10], state[b, 11], state[b, 12]
        poses[b] = state[b, :7]
        twists[b] = state[b, 7:]
        poses[b, 0] -= x
        poses[b, 1] -= y
        poses[b, 2] -= z
        twists[b, 0] -= v * z - w * y
        twists[b, 1] -= w * x - u * z
        twists[b, 2] -= u * y - v * x
    # Specific force f = dv/dt - g, then both readings turned into the link by R^T.
    rotation, twist = buffers.rotations[mount.body], twists[mount.body]
    for i in range(3):
        change = twist[i] - mount.velocity[i]
        rate = change / mount.period if math.isfinite(change) else 0.0
        mount.velocity[i] = twist[i]
        view.imu_readings[1, i] = rate - mount.gravity[i]
    readings = view.imu_readings
    readings[0] = rotate_vector_back(rotation, twist[3], twist[4], twist[5])
    readings[1] = rotate_vector_back(rotation, readings[1, 0], readings[1, 1], readings[1, 2])
    return is_in_range


@numba.njit(cache=True, error_model='numpy', nogil=True)
def _advance_tape(
    scene: CompiledScene,
    motion: BodyMotion,
    targets: FloatArray,
    first: int,
    mount: ImuMount,
    views: tuple[StateView, FloatArray, IntArray],
) -> int:
    """
    Advance control periods under targets (T, 3, K, e); return how many ended within range.

    ``views`` are a ``StateView`` with time first in every array, the contacts (T, c, 7), and the
    counter of control periods by which the process shows that it is alive.
    """
    view, contacts, beats = views
    for t in range(len(targets)):
        advance_period(scene, motion, targets[t], first + t * scene.steps)
        beats[0] += 1
        now = StateView(view.poses[t], view.twists[t], view.elements[t], view.imu_readings[t])
        contacts[t] = motion.buffers.contacts
        if not write_view(scene.layout, motion, mount, now):
            return t
    return len(targets)


class StateReader:
    """Reader of observations, one per control period or a whole tape of them."""

    def __init__(self, robot: RobotModel, scene: Scene, layout: BodyLayout) -> None:
        self._robot, self._layout = robot, layout
        self._names = tuple(element.name for element in robot.force_elements)
        self._no_contacts = Contacts(soles=robot.soles)
        self._mount = ImuMount(
            body=robot.link_index[robot.imu_link or robot.roots[0]],
            gravity=np.array(scene.gravity, dtype=np.float64),
            period=scene.control_period,
            velocity=np.full(3, np.nan),
        )

    def _allocate_view(self, *shape: int) -> StateView:
        bodies, elements = len(self._robot.roots), len(self._names)
        return StateView(
            poses=np.empty((*shape, bodies, 7)),
            twists=np.empty((*shape, bodies, 6)),
            elements=np.empty((*shape, 2, elements)),
            imu_readings=np.empty((*shape, 2, 3)),
        )

    def read(self, tick: int, motion: BodyMotion) -> Observation:
        """Return the observation at a tick; SimulationDiverged if a value is beyond its limit."""
        view = self._allocate_view()
        if not write_view(self._layout, motion, self._mount, view):
            raise divergence_error(tick)
        return Observation(
            tick=tick,
            time=tick * self._mount.period,
            joint_positions=_NO_JOINTS,
            joint_velocities=_NO_JOINTS,
            joint_efforts=_NO_JOINTS,
            contacts=self._contacts(motion.buffers.contacts),
            **self._fields(view),
        )

    def run_tape(
        self, scene: CompiledScene, motion: BodyMotion, targets: FloatArray, tick: int
    ) -> StateTape:
        """Advance from a tick under targets (T, 3, K, e); return the states up to a divergence."""
        count = len(targets)
        view, contacts = (
            self._allocate_view(count),
            np.empty((count, *motion.buffers.contacts.shape)),
        )
        views, first = (view, contacts, liveness.period_counter()), tick * scene.steps
        count = _advance_tape(scene, motion, targets, first, self._mount, views)
        if not count:
            return StateTape.from_states(())
        ticks = np.arange(tick + 1, tick + 1 + count)
        rows = contacts[:count]
        no_joints = np.zeros((count, 0))
        return StateTape(
            ticks=ticks,
            times=ticks * self._mount.period,
            joint_positions=no_joints,
            joint_velocities=no_joints,
            joint_efforts=no_joints,
            contacts=self._contacts(rows.reshape(-1, rows.shape[-1])),
            contact_counts=(rows[..., 6] > 0.0).sum(axis=1),
            **self._fields(StateView(*(array[:count] for array in view))),
        )

    def _fields(self, view: StateView) -> dict[str, Any]:
        """Return the fields that an observation and a tape of states (time first) share."""
        for array in view:
            array.flags.writeable = False
        return {
            'body_names': self._robot.roots,
            'body_poses': view.poses,
            'body_twists': view.twists,
            'imu': Imu(
                orientation=view.poses[..., self._mount.body, 3:],
                angular_velocity=view.imu_readings[..., 0, :],
                linear_acceleration=view.imu_readings[..., 1, :],
            ),
            'element_names': self._names,
            'element_lengths': view.elements[..., 0, :],
            'element_forces': view.elements[..., 1, :],
        }

    def _contacts(self, rows: FloatArray) -> Contacts:
        """Return the contacts of the nodes whose depth is positive."""
        (touching,) = np.nonzero(rows[:, 6] > 0.0)
        if not len(touching):
            return self._no_contacts
        found = rows[touching]
        found.flags.writeable = False
        return Contacts(
            soles=self._robot.soles,
            sole=touching % len(self._robot.soles),
            points=found[:, 3:6],
            forces=found[:, :3],
            depths=found[:, 6],
        )
