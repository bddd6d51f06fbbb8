# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Row layout of the state of a robot with one root, and its observation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from sim_bridge.engines.shared.scene_checks import MAX_STATE_VALUE, check_state


class StateLayout:
    """
    Slices of an array that holds the state of a robot with n joints and one root.

    Parameters
    ----------
    robot : RobotModel
    period : float [s]
        Control period.
    sums_work : bool
        Whether a row has the signed and the positive work of joints.

    Attributes
    ----------
    positions, velocities, efforts : slice
        Of the joints, n numbers each.
    root : slice
        Pose and twist of the root link, 13 numbers.
    work : slice
        Signed, then positive work, 2 n numbers; empty without ``sums_work``.
    imu : slice
        Attitude, angular velocity and specific force of the IMU, 10 numbers.

    """

    def __init__(self, robot: RobotModel, period: float, sums_work: bool) -> None:
        self._robot, self._period, self.sums_work = robot, period, sums_work
        self._element_names = tuple(element.name for element in robot.force_elements)
        self._no_contacts = Contacts(soles=robot.soles)
        n = len(robot.joint_names)
        ends = np.cumsum([n, n, 13, n, 2 * n * sums_work, 10]).tolist()
        self.positions, self.velocities, self.root, self.efforts, self.work, self.imu = (
            slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)
        )
        begin = self.root.start
        self._pose, self._twist = slice(begin, begin + 7), slice(begin + 7, self.root.stop)
        begin = self.imu.start
        self._attitude, self._rate = slice(begin, begin + 4), slice(begin + 4, begin + 7)
        self._force = slice(begin + 7, self.imu.stop)
        self._size = self.imu.stop

    def new_row(self) -> FloatArray:
        """Return a new row of undefined numbers."""
        return np.empty(self._size)

    def check_row(self, tick: int, row: FloatArray) -> None:
        """Raise SimulationDiverged for a state that is not finite or beyond its limits."""
        state = row[: self.root.stop]
        # Fast test: if the sum of squares is below the square of the limit, so is each number. A
        # NaN makes the comparison false. Otherwise check_state looks at each quantity.
        if not state.dot(state) < MAX_STATE_VALUE * MAX_STATE_VALUE:
            pose, twist = row[self._pose].tolist(), row[self._twist].tolist()
            check_state(tick, pose, twist, row[self.positions], row[self.velocities])

    def contacts(self, soles: IntArray, rows: FloatArray) -> Contacts:
        """Return contacts by sole, (c,), -1 for other links, and point, force, depth, (c, 7)."""
        return Contacts(
            soles=self._robot.soles,
            sole=soles,
            points=rows[:, :3],
            forces=rows[:, 3:6],
            depths=rows[:, 6],
        )

    def observation(
        self,
        tick: int,
        row: FloatArray,
        contacts: Contacts | None,
        lengths: FloatArray,
        tensions: FloatArray,
    ) -> Observation:
        """
        Return the observation of a row, and make the row read-only.

        Parameters
        ----------
        tick : int
        row : (size,) array
        contacts : Contacts or None
            ``None`` without contacts.
        lengths, tensions : (e,) arrays [m, N]
            Of the force elements; copied.

        """
        row.flags.writeable = False
        robot = self._robot
        return Observation(
            tick=tick,
            time=tick * self._period,
            joint_names=robot.joint_names,
            joint_positions=row[self.positions],
            joint_velocities=row[self.velocities],
            joint_efforts=row[self.efforts],
            joint_work=row[self.work].reshape(2, -1) if self.sums_work else None,
            body_names=robot.roots,
            body_poses=row[self._pose].reshape(1, 7),
            body_twists=row[self._twist].reshape(1, 6),
            imu=Imu(
                orientation=row[self._attitude],
                angular_velocity=row[self._rate],
                linear_acceleration=row[self._force],
            ),
            contacts=contacts or self._no_contacts,
            **self._elements(lengths, tensions),
        )

    def _elements(self, lengths: FloatArray, tensions: FloatArray) -> dict[str, Any]:
        """Return the fields of force elements; empty for a robot without them."""
        if not self._element_names:
            return {}
        elements = np.array([lengths, tensions])
        elements.flags.writeable = False
        return {
            'element_names': self._element_names,
            'element_lengths': elements[0],
            'element_forces': elements[1],
        }
