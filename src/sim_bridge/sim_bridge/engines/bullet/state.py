# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Observations of a robot in Bullet."""

from __future__ import annotations

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.motors import Motors
from sim_bridge.engines.bullet.world import World
from sim_bridge.engines.shared.merged_joints import CarriedFrame, own_frame
from sim_bridge.engines.shared.rigid_states import StateLayout
from sim_bridge.engines.shared.rotations import (
    invert_quaternion,
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_matrix,
)

STATE_SIZE = 13
"""Size of a state: position, quaternion x, y, z, w, velocity, angular velocity; all in odom."""


def body_state(body: int, link: int, client: int) -> FloatArray:
    """Return the state of a link's inertial frame, which is the frame that Bullet moves, (13,)."""
    if link < 0:
        position, quaternion = pb.getBasePositionAndOrientation(body, client)
        linear, angular = pb.getBaseVelocity(body, client)
    else:
        # The first 1 asks for velocities, the second for forward kinematics: without it Bullet's
        # links are one step behind its joints.
        state = pb.getLinkState(body, link, 1, 1, client)
        position, quaternion, linear, angular = state[0], state[1], state[6], state[7]
    return np.array((*position, *quaternion, *linear, *angular))


class MountedFrame:
    """A frame fixed to a link, relative to the inertial frame that Bullet moves."""

    def __init__(self, world: World, frame: CarriedFrame) -> None:
        self.carrier = world.link_index[frame.link]
        com, inertial_quaternion = world.inertial_frame(self.carrier)
        back = invert_quaternion(inertial_quaternion)
        self._lever = matrix_from_quaternion(back) @ (frame.position - com)
        quaternion = multiply_quaternions(back, quaternion_from_matrix(frame.rotation))
        self._rotation: FloatArray = np.empty((3, 3))
        self._quaternion = (
            quaternion[:0] if np.array_equal(quaternion, (0.0, 0.0, 0.0, 1.0)) else quaternion
        )

    def write_state(self, body: FloatArray, frame: FloatArray) -> None:
        """Write the state of the frame, (13,), from that of its link's inertial frame, (13,)."""
        write_rotation_matrix(body, self._rotation)
        write_frame_state(body, self._rotation @ self._lever, self._quaternion, frame)


class StateReader:
    """
    Reader of observations, once per control period.

    The specific force of the IMU is the mean over the last control period, as of a sensor that
    integrates between its samples: change of velocity over the period, minus gravity. At the
    first reading after a reset the velocity counts as unchanged. Contacts are those of the last
    physics step, with their points at its start.
    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene, sums_work: bool) -> None:
        self._layout = StateLayout(robot, scene.control_period, sums_work)
        self._client, self._body, self._ground = world.client, world.body, world.ground
        self._gravity, self._period = np.array(scene.gravity), scene.control_period
        self._root_mount = MountedFrame(world, own_frame(robot.links[0].name))
        imu_link = robot.imu_link or robot.links[0].name
        self._imu_mount = MountedFrame(world, world.merged.frames[imu_link])
        self._imu_is_root = imu_link == robot.links[0].name
        self._imu_before: FloatArray = np.zeros(4)
        carriers = [world.link_index[world.merged.carrier_of(sole)] for sole in robot.soles]
        self._sole_of = {index: i for i, index in reversed(list(enumerate(carriers)))}

    def read(self, tick: int, motors: Motors) -> Observation:
        """
        Return the observation at a tick.

        Raises
        ------
        SimulationDiverged
            If a value is not finite or beyond its limit.

        """
        layout, row = self._layout, self._layout.new_row()
        motors.read_period()
        row[layout.positions], row[layout.velocities], row[layout.efforts] = motors.joints
        if layout.sums_work:
            row[layout.work] = motors.work.ravel()
        base = body_state(self._body, -1, self._client)
        frame = row[layout.root]
        self._root_mount.write_state(base, frame)
        if not self._imu_is_root:
            carrier = self._imu_mount.carrier
            body = base if carrier < 0 else body_state(self._body, carrier, self._client)
            frame = np.empty(STATE_SIZE)
            self._imu_mount.write_state(body, frame)
        write_imu_reading(frame, self._gravity, self._period, self._imu_before, row[layout.imu])
        layout.check_row(tick, row)
        elements = motors.elements
        return layout.observation(
            tick, row, self._contacts(), elements.lengths, elements.tensions.efforts
        )

    def _contacts(self) -> Contacts | None:
        """Return the contacts with the ground; ``None`` without contacts."""
        soles: list[int] = []
        numbers: list[float] = []
        for point in pb.getContactPoints(self._body, self._ground, physicsClientId=self._client):
            _, _, _, link, _, _, at, (x, y, z), gap, normal, s, (a, b, c), t, (d, e, f) = point
            # Bullet also lists points that are close but do not touch.
            if normal > 0.0 or gap < 0.0:
                soles.append(self._sole_of.get(link, -1))
                # Force on the robot: normal force, and friction along its two directions s and t.
                numbers += (
                    *at,
                    normal * x + s * a + t * d,
                    normal * y + s * b + t * e,
                    normal * z + s * c + t * f,
                    -gap,
                )
        if not soles:
            return None
        rows = np.array(numbers).reshape(-1, 7)
        return self._layout.contacts(np.array(soles, dtype=np.int64), rows)


@numba.njit
def _matrix(x, y, z, w):  # type: ignore[no-untyped-def]
    """Return the rotation matrix of a quaternion, by rows, with Bullet's rounding."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    xs, ys, zs = x * s, y * s, z * s
    wx, wy, wz = w * xs, w * ys, w * zs
    xx, xy, xz = x * xs, x * ys, x * zs
    yy, yz, zz = y * ys, y * zs, z * zs
    return (
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )


@numba.njit(cache=True)
def write_rotation_matrix(body, result):  # type: ignore[no-untyped-def]
    """Write the rotation matrix, (3, 3), of a body's state, (13,)."""
    x, y, z, w = body[3:7]
    a, b, c, d, e, f, g, h, i = _matrix(x, y, z, w)
    result[0, 0], result[0, 1], result[0, 2] = a, b, c
    result[1, 0], result[1, 1], result[1, 2] = d, e, f
    result[2, 0], result[2, 1], result[2, 2] = g, h, i


@numba.njit(cache=True)
def write_frame_state(body, lever, mount, frame):  # type: ignore[no-untyped-def]
    """
    Write the state of a frame that is fixed to a body.

    Parameters
    ----------
    body : (13,) array
    lever : (3,) array [m]
        From the body to the frame, in odom.
    mount : (4,) or (0,) array
        Quaternion of the frame in the body; empty for parallel axes.
    frame : (13,) array
        Written.

    """
    lx, ly, lz = lever
    wx, wy, wz = body[10], body[11], body[12]
    frame[0], frame[1], frame[2] = body[0] + lx, body[1] + ly, body[2] + lz
    x, y, z, w = body[3:7]
    if len(mount):
        a, b, c, d = mount
        frame[3] = w * a + x * d + y * c - z * b
        frame[4] = w * b + y * d + z * a - x * c
        frame[5] = w * c + z * d + x * b - y * a
        frame[6] = w * d - x * a - y * b - z * c
    else:
        frame[3], frame[4], frame[5], frame[6] = x, y, z, w
    # v_frame = v + omega x lever.
    frame[7] = body[7] + wy * lz - wz * ly
    frame[8] = body[8] + wz * lx - wx * lz
    frame[9] = body[9] + wx * ly - wy * lx
    frame[10], frame[11], frame[12] = wx, wy, wz


@numba.njit(cache=True)
def write_imu_reading(frame, gravity, period, before, reading):  # type: ignore[no-untyped-def]
    """
    Write the reading of an IMU: attitude, angular velocity and specific force, (10,).

    Parameters
    ----------
    frame : (13,) array
        State of the frame of the IMU.
    gravity : (3,) array [m/s^2]
    period : float [s]
    before : (4,) array [m/s]
        Velocity at the last reading, then 1; 0 before the first reading. Updated.
    reading : (10,) array
        Written.

    """
    x, y, z, w = frame[3:7]
    # R by rows turns vectors of the IMU into odom; R^T, its columns, turns them back.
    a, b, c, d, e, f, g, h, i = _matrix(x, y, z, w)
    reading[0], reading[1], reading[2], reading[3] = x, y, z, w
    u, v, w = frame[10:]
    reading[4] = a * u + d * v + g * w
    reading[5] = b * u + e * v + h * w
    reading[6] = c * u + f * v + i * w
    if before[3] == 0.0:
        before[:3], before[3] = frame[7:10], 1.0
    # Specific force f = dv/dt - g, in odom; then R^T f.
    x = (frame[7] - before[0]) / period - gravity[0]
    y = (frame[8] - before[1]) / period - gravity[1]
    z = (frame[9] - before[2]) / period - gravity[2]
    before[:3] = frame[7:10]
    reading[7] = a * x + d * y + g * z
    reading[8] = b * x + e * y + h * z
    reading[9] = c * x + f * y + i * z
