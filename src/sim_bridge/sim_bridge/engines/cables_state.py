"""What the kernel recorded, as states that the suite knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, nearest
from gait_core.kinematics import pose_matrices
from gait_core.observation import Contacts, Imu
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.state_tape import StateTape
from sim_bridge.engines.cables_play import Record


class Reader:
    """
    Makes states of records, one after the other.

    The specific force of the IMU is the change of its link's velocity over the control period, as
    in the other engines; the first one after a reset counts the robot as at rest before.
    """

    def __init__(self, robot: RobotModel, scene: Scene) -> None:
        self._robot, self._period = robot, scene.control_period
        self._gravity = np.array(scene.gravity)
        self._coms = np.array([link.com for link in robot.links])
        self._moved = bool(self._coms.any())
        name = robot.imu_link or robot.roots[0]
        if name not in robot.link_index:
            raise ConfigurationError(
                f"robot '{robot.name}': imu_link '{name}' is no link: "
                f'{nearest(name, robot.link_index)}'
            )
        self._imu_row = robot.link_index[name]
        self._velocity: FloatArray | None = None

    def read(self, record: Record, first: int, lane: int = 0, *, keep: bool = True) -> StateTape:
        """
        Return the states of a lane of a record, as far as it stayed within range.

        Parameters
        ----------
        record : Record
        first : int
            Tick of the first state.
        lane : int
        keep : bool
            Whether the trial goes on from here, so that the next states follow these.

        """
        lanes, end = len(record.reached), int(record.reached[lane])
        if not end:
            return StateTape.of(())
        bodies, elements, contacts = (
            part[:end].reshape(end, part.shape[1], -1, lanes)[..., lane]
            for part in (record.bodies, record.elements, record.contacts)
        )
        poses, twists = self._frames(bodies)
        robot, ticks = self._robot, np.arange(first, first + end)
        return StateTape(
            ticks=ticks,
            times=np.asarray(ticks * self._period, dtype=np.float64),
            joint_names=(),
            joint_positions=_frozen(np.zeros((end, 0))),
            joint_velocities=_frozen(np.zeros((end, 0))),
            joint_efforts=_frozen(np.zeros((end, 0))),
            body_names=robot.roots,
            body_poses=_frozen(poses),
            body_twists=_frozen(twists),
            imu=self._imu(poses[:, self._imu_row], twists[:, self._imu_row], keep),
            element_names=tuple(one.name for one in robot.force_elements),
            element_lengths=_frozen(elements[..., 0]),
            element_forces=_frozen(elements[..., 1]),
            **self._contacts(contacts),
        )

    def _frames(self, bodies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return poses (T, b, 7) and twists (T, b, 6) of the links' frames."""
        poses, twists = bodies[..., :7].copy(), bodies[..., 7:].copy()
        if self._moved:
            turns = pose_matrices(poses)[..., :3, :3]
            lever = (turns @ self._coms[:, :, None])[..., 0]
            poses[..., :3] -= lever
            twists[..., :3] -= np.cross(twists[..., 3:], lever)
        return poses, twists

    def _imu(self, poses: FloatArray, twists: FloatArray, keep: bool) -> Imu:
        speeds = twists[:, :3]
        before = self._velocity if self._velocity is not None else speeds[:1].reshape(-1)
        earlier = np.concatenate([before.reshape(-1, 3), speeds[:-1]])[: len(speeds)]
        back = pose_matrices(poses)[:, :3, :3].swapaxes(1, 2)
        felt = (speeds - earlier) / self._period - self._gravity
        if keep and len(speeds):
            self._velocity = speeds[-1].copy()
        return Imu(
            orientation=_frozen(poses[:, 3:].copy()),
            angular_velocity=_frozen((back @ twists[:, 3:, None])[..., 0]),
            linear_acceleration=_frozen((back @ felt[:, :, None])[..., 0]),
        )

    def _contacts(self, rows: FloatArray) -> dict[str, Any]:
        """Return the points where a node is below the ground or pushed by it."""
        touching = rows[..., 6] > 0.0
        tick, node = np.nonzero(touching)
        found = rows[tick, node]
        return {
            'contacts': Contacts(
                soles=self._robot.soles,
                sole=node,
                points=_frozen(found[:, 3:6]),
                forces=_frozen(found[:, :3]),
                depths=_frozen(found[:, 6]),
            ),
            'contact_counts': touching.sum(axis=1),
        }


def _frozen(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
