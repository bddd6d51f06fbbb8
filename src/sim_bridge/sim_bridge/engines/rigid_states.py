"""How engines of rigid bodies report states: one row of numbers each, alone or on a tape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from gait_core.state_tape import StateTape
from sim_bridge.engines.bounds import FAR, check_state

Touching = tuple[IntArray, FloatArray]
"""Sole of each contact, (c,), and its point, force and depth, (c, 7)."""
NO_CONTACTS: Touching = (np.zeros(0, dtype=np.int64), np.zeros((0, 7)))
MotorsT = TypeVar('MotorsT')


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

    def row(self) -> FloatArray:
        """Return an empty row."""
        return np.empty(self._size)

    def check(self, tick: int, row: FloatArray) -> None:
        """Raise SimulationDiverged for a state that is not finite or beyond any physics."""
        state = row[: self.root.stop]
        # If all squares together are no more, nothing is far off; else a closer look is needed.
        if not state.dot(state) < FAR * FAR:
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
        names = self._element_names
        return _named(names, np.array([lengths, tensions])) if names else {}


class RigidReader(ABC, Generic[MotorsT]):
    """
    Reads the state of a robot with one root; a subclass says how its library tells the numbers.

    A row holds positions and velocities of the joints, pose and twist of the root, efforts, work
    where the engine sums it, and attitude, rate and specific force of the IMU.

    Parameters
    ----------
    robot : RobotModel
    scene : Scene
    sums_work : bool
        Whether a row has the work of joints, signed and positive.

    """

    def __init__(self, robot: RobotModel, scene: Scene, sums_work: bool) -> None:
        self._robot, self._period = robot, scene.control_period
        n = len(robot.joint_names)
        self._sums_work = sums_work
        sizes = (n, n, 7, 6, n, 2 * n * sums_work, 4, 3, 3)
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        self._parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._size, self._state = ends[-1], slice(0, 2 * n + 13)
        self._no_contacts = Contacts(soles=robot.soles)

    @abstractmethod
    def _fill(self, tick: int, motors: MotorsT, row: FloatArray) -> None:
        """Write the row of a state; SimulationDiverged if the library says it is none."""

    @abstractmethod
    def _touching(self) -> Touching:
        """Return the contacts with the ground."""

    @abstractmethod
    def _elements(self, motors: MotorsT) -> tuple[tuple[str, ...], FloatArray]:
        """Return the names of force elements, and their lengths and tensions, (2, e)."""

    def _read(self, tick: int, motors: MotorsT, row: FloatArray) -> None:
        """Write the row of a state that is physics; else raise SimulationDiverged."""
        self._fill(tick, motors, row)
        self._check(tick, row)

    def _check(self, tick: int, row: FloatArray) -> None:
        state = row[self._state]
        # If all squares together are no more, nothing is far off; else a closer look is needed.
        if not state.dot(state) < FAR * FAR:
            q, rates, pose, twist = [row[at] for at in self._parts[:4]]
            check_state(tick, pose.tolist(), twist.tolist(), q, rates)

    def read(self, tick: int, motors: MotorsT) -> Observation:
        """
        Return the state at a control tick.

        Raises
        ------
        SimulationDiverged
            If it is not finite or beyond any physics.

        """
        row: FloatArray = np.empty(self._size)
        self._read(tick, motors, row)
        row.flags.writeable = False
        q, rates, pose, twist, efforts, work, *imu = [row[at] for at in self._parts]
        attitude, spin, felt = imu
        touching = self._touching()
        names, elements = self._elements(motors)
        return Observation(
            tick=tick,
            time=tick * self._period,
            joint_names=self._robot.joint_names,
            joint_positions=q,
            joint_velocities=rates,
            joint_efforts=efforts,
            joint_work=work.reshape(2, -1) if self._sums_work else None,
            body_names=self._robot.roots,
            body_poses=pose.reshape(1, 7),
            body_twists=twist.reshape(1, 6),
            imu=Imu(orientation=attitude, angular_velocity=spin, linear_acceleration=felt),
            contacts=self._contacts(touching) if len(touching[0]) else self._no_contacts,
            **_named(names, elements),
        )

    def log(self, motors: MotorsT, first: int, count: int) -> StateLog:
        """Return a log for the states of some ticks, to be read one after another."""
        return StateLog(self, motors, first, count)

    def _contacts(self, touching: Touching) -> Contacts:
        soles, found = touching
        return Contacts(
            soles=self._robot.soles,
            sole=soles,
            points=found[:, :3],
            forces=found[:, 3:6],
            depths=found[:, 6],
        )

    def _tape(
        self,
        first: int,
        rows: FloatArray,
        counts: IntArray,
        touching: list[Touching],
        elements: FloatArray,
    ) -> StateTape:
        count = len(rows)
        ticks = np.arange(first, first + count)
        rows.flags.writeable = False
        q, rates, pose, twist, efforts, work, *imu = [rows[:, at] for at in self._parts]
        attitude, spin, felt = imu
        names = tuple(one.name for one in self._robot.force_elements)
        return StateTape(
            ticks=ticks,
            times=self._period * ticks.astype(np.float64),
            joint_names=self._robot.joint_names,
            joint_positions=q,
            joint_velocities=rates,
            joint_efforts=efforts,
            joint_work=work.reshape(count, 2, -1) if self._sums_work and count else None,
            body_names=self._robot.roots,
            body_poses=pose.reshape(count, 1, 7),
            body_twists=twist.reshape(count, 1, 6),
            imu=Imu(orientation=attitude, angular_velocity=spin, linear_acceleration=felt),
            contacts=self._contacts(
                (
                    np.concatenate([NO_CONTACTS[0], *(one[0] for one in touching)]),
                    np.concatenate([NO_CONTACTS[1], *(one[1] for one in touching)]),
                )
            ),
            contact_counts=counts,
            **_named(names, elements.swapaxes(0, 1)),
        )


def _named(names: tuple[str, ...], elements: FloatArray) -> dict[str, Any]:
    """Return the fields of force elements, none where there are none."""
    if not names:
        return {}
    elements.flags.writeable = False
    return {
        'element_names': names,
        'element_lengths': elements[0],
        'element_forces': elements[1],
    }


class StateLog:
    """
    The states of consecutive ticks as they are read.

    Parameters
    ----------
    reader : RigidReader
    motors : object
        As the reader takes them.
    first : int
        Tick of the first state.
    count : int
        Most states.

    Attributes
    ----------
    first : int
    rows : (count, size) array
        Of which ``done`` are filled.
    counts : (count,) int array
        Of contacts.
    elements : (count, 2, e) array
        Lengths and tensions of force elements.
    done : int

    """

    def __init__(
        self, reader: RigidReader[MotorsT], motors: MotorsT, first: int, count: int
    ) -> None:
        self._reader, self._motors, self.first = reader, motors, first
        self.rows: FloatArray = np.empty((count, reader._size))
        self.counts: IntArray = np.zeros(count, dtype=np.int64)
        self.done = 0
        self._touching: list[Touching] = []
        self.elements: FloatArray = np.empty((count, 2, len(reader._robot.force_elements)))

    def read(self) -> None:
        """Read the state of the next tick; SimulationDiverged leaves it out."""
        done, motors = self.done, self._motors
        self._reader._read(self.first + done, motors, self.rows[done])
        self.elements[done] = self._reader._elements(motors)[1]
        touching = self._reader._touching()
        self.counts[done] = len(touching[0])
        self.add(done + 1, touching)

    def add(self, done: int, touching: Touching) -> None:
        """Take it that so many states are filled in, the contacts of the new ones given."""
        self.done = done
        self._touching.append(touching)

    def tape(self) -> StateTape:
        """Return the states that were read."""
        rows, counts = self.rows[: self.done], self.counts[: self.done]
        return self._reader._tape(
            self.first, rows, counts, self._touching, self.elements[: self.done]
        )
