"""Rows of numbers that hold the states of robots with one root, and their observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from sim_bridge.engines.shared.scene_checks import MAX_STATE_VALUE, check_state


class StateLayout:
    """
    Parts of a row of numbers that holds the state of a robot with one root.

    Parameters
    ----------
    robot : RobotModel
    period : float [s]
        Length of a control period.
    sums_work : bool
        Whether a row has the work of joints, signed and positive.

    Attributes
    ----------
    positions, velocities, efforts : slice
        Of the joints, n each.
    root : slice
        Pose and twist of the root link, 13.
    work : slice
        2 n numbers, or none.
    imu : slice
        Attitude, rate and specific force of the IMU, 10.

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
        """Return an empty row."""
        return np.empty(self._size)

    def check_row(self, tick: int, row: FloatArray) -> None:
        """Raise SimulationDiverged for a state that is not finite or beyond any physics."""
        state = row[: self.root.stop]
        # If all squares together are no more, nothing is far off; else a closer look is needed.
        if not state.dot(state) < MAX_STATE_VALUE * MAX_STATE_VALUE:
            pose, twist = row[self._pose].tolist(), row[self._twist].tolist()
            check_state(tick, pose, twist, row[self.positions], row[self.velocities])

    def contacts(self, soles: IntArray, rows: FloatArray) -> Contacts:
        """Return contacts by the sole of each, (c,), and its point, force and depth, (c, 7)."""
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
        Return the observation of a row, which is not to be written to any more.

        Parameters
        ----------
        tick : int
        row : (size,) array
        contacts : Contacts or None
            ``None``: nothing touches the ground.
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
        """Return the fields of force elements, none where there are none."""
        if not self._element_names:
            return {}
        elements = np.array([lengths, tensions])
        elements.flags.writeable = False
        return {
            'element_names': self._element_names,
            'element_lengths': elements[0],
            'element_forces': elements[1],
        }
