"""The record of a trial: every tick's state, targets and contacts, time first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.targets import AppliedTargets
from gait_core.trial_spec import TrialSpec


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """
    A finished trial of T control periods; states have T + 1 rows, the first is tick 0.

    Attributes
    ----------
    robot, spec
        What was run.
    status : str
        As of TrialResult.
    dt : float [s]
        Control period.
    joint_positions, joint_velocities, joint_efforts : (T + 1, n) arrays
        In ``robot.joint_names`` order [rad or m, per s, N m or N].
    body_poses : (T + 1, b, 7), body_twists : (T + 1, b, 6)
        Root links, as in Observation.
    target_positions, target_velocities, target_efforts : (T, m) arrays
        Applied targets in ``robot.target_names`` order; the last sub-sample of each tick.
    commands : (T, 3) array [m/s, m/s, rad/s]
    contact_tick, contact_sole : (c,) int arrays
        Tick and index into ``robot.soles`` (-1: any other link) of every contact point.
    contact_points, contact_forces : (c, 3) arrays [m, N]
    contact_depths : (c,) array [m]
    specific_forces : (T + 1, 3) array [m/s^2] or None
        Of the IMU.

    """

    robot: RobotModel
    spec: TrialSpec
    status: str
    dt: float
    joint_positions: FloatArray
    joint_velocities: FloatArray
    joint_efforts: FloatArray
    body_poses: FloatArray
    body_twists: FloatArray
    target_positions: FloatArray
    target_velocities: FloatArray
    target_efforts: FloatArray
    commands: FloatArray
    contact_tick: IntArray
    contact_sole: IntArray
    contact_points: FloatArray
    contact_forces: FloatArray
    contact_depths: FloatArray
    specific_forces: FloatArray | None = None

    @property
    def ticks(self) -> int:
        """T, the number of control periods."""
        return int(self.target_positions.shape[0])

    @property
    def time(self) -> FloatArray:
        """Times of the states, (T + 1,) [s]."""
        return np.arange(self.ticks + 1, dtype=np.float64) * self.dt

    def sole_forces(self) -> FloatArray:
        """Return the force on each sole at each tick, (T + 1, s, 3) [N]."""
        total = np.zeros((self.ticks + 1, len(self.robot.soles), 3))
        on_sole = self.contact_sole >= 0
        np.add.at(
            total,
            (self.contact_tick[on_sole], self.contact_sole[on_sole]),
            self.contact_forces[on_sole],
        )
        return total

    def stance(self, threshold: float = 1.0) -> BoolArray:
        """Return which soles carry more than a vertical force [N], (T + 1, s)."""
        return np.asarray(self.sole_forces()[:, :, 2] > threshold)


class Recorder:
    """Fills preallocated arrays during a trial and cuts them to a Rollout at its end."""

    def __init__(self, spec: TrialSpec, robot: RobotModel) -> None:
        self._spec, self._robot = spec, robot
        ticks, n, b = spec.ticks, len(robot.joint_names), len(robot.roots)
        m = len(robot.target_names)
        self._states = {
            'joint_positions': np.zeros((ticks + 1, n)),
            'joint_velocities': np.zeros((ticks + 1, n)),
            'joint_efforts': np.zeros((ticks + 1, n)),
            'body_poses': np.zeros((ticks + 1, b, 7)),
            'body_twists': np.zeros((ticks + 1, b, 6)),
        }
        self._applied = {
            'target_positions': np.zeros((ticks, m)),
            'target_velocities': np.zeros((ticks, m)),
            'target_efforts': np.zeros((ticks, m)),
        }
        self._commands = np.zeros((ticks, 3))
        self._specific_forces = np.zeros((ticks + 1, 3))
        self._has_imu = True
        self._contacts: list[Contacts] = []

    def state(self, tick: int, observation: Observation) -> None:
        """Store the state at a tick; an absent field stays zero."""
        for name, array in self._states.items():
            value = getattr(observation, name)
            if value is not None:
                array[tick] = value
        if observation.imu is None:
            self._has_imu = False
        else:
            self._specific_forces[tick] = observation.imu.linear_acceleration
        self._contacts.append(observation.contacts or Contacts(soles=self._robot.soles))

    def targets(self, tick: int, applied: AppliedTargets, velocity: tuple[float, ...]) -> None:
        """Store what was applied and commanded in the control period after a tick."""
        self._applied['target_positions'][tick] = applied.position[-1]
        self._applied['target_velocities'][tick] = applied.velocity[-1]
        self._applied['target_efforts'][tick] = applied.effort[-1]
        self._commands[tick] = velocity

    def rollout(self, status: str) -> Rollout:
        """Return the record so far."""
        rows = len(self._contacts)
        counts = [contacts.sole.shape[0] for contacts in self._contacts]

        def joined(name: str) -> FloatArray:
            return np.concatenate([getattr(contacts, name) for contacts in self._contacts])

        return Rollout(
            robot=self._robot,
            spec=self._spec,
            status=status,
            dt=self._spec.scene.control_period,
            **{name: array[:rows] for name, array in self._states.items()},
            **{name: array[: rows - 1] for name, array in self._applied.items()},
            commands=self._commands[: rows - 1],
            contact_tick=np.repeat(np.arange(rows), counts),
            contact_sole=joined('sole').astype(np.int64),
            contact_points=joined('points'),
            contact_forces=joined('forces'),
            contact_depths=joined('depths'),
            specific_forces=self._specific_forces[:rows] if self._has_imu else None,
        )
