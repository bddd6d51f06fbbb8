"""The record of a trial: every tick's state, targets and contacts, time first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.state_tape import StateTape
from gait_core.targets import AppliedTape, AppliedTargets
from gait_core.trial_hash import TrialHash
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
    joint_work : (T + 1, 2, n) array [J] or None
        Since tick 0, signed and positive, summed over the physics steps, where the engine does.
    element_lengths, element_forces : (T + 1, e) arrays [m, N] or None
        Of force elements, in the robot's order; tension is positive.
    imu_orientations, angular_velocities : (T + 1, 4), (T + 1, 3) arrays or None
        Of the IMU, as in Observation.
    sub_targets : (s, 3, m) array or None
        Position, velocity and effort targets of every sub-sample, one after the other; None where
        each control period has but one, or where nobody asked for them.
    sub_samples : (T,) int array or None
        Their number in each control period.

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
    joint_work: FloatArray | None = None
    element_lengths: FloatArray | None = None
    element_forces: FloatArray | None = None
    imu_orientations: FloatArray | None = None
    angular_velocities: FloatArray | None = None
    sub_targets: FloatArray | None = None
    sub_samples: IntArray | None = None

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
    """
    Keeps what a trial brings about, which is read-only, and makes arrays of it at its end.

    It comes tick by tick or as tapes of many; the first state comes before any targets.
    """

    def __init__(self, spec: TrialSpec, robot: RobotModel) -> None:
        self._spec, self._robot = spec, robot
        self._states: list[Observation] = []
        self._applied: list[AppliedTargets] = []
        self._state_tapes: list[StateTape] = []
        self._applied_tapes: list[AppliedTape] = []
        self._commands: list[tuple[float, ...]] = []

    def state(self, observation: Observation) -> None:
        """Keep the state of the next tick."""
        self._states.append(observation)

    def targets(self, applied: AppliedTargets, velocity: tuple[float, ...]) -> None:
        """Keep what is applied and commanded in the control period after the last state."""
        self._applied.append(applied)
        self._commands.append(velocity)

    def tape(
        self, applied: AppliedTape, velocities: Sequence[tuple[float, ...]], states: StateTape
    ) -> None:
        """Keep what is applied and commanded in control periods, and the states that follow."""
        self._stack()
        self._applied_tapes.append(applied)
        self._commands.extend(velocities)
        if len(states):
            self._state_tapes.append(states)

    def _stack(self) -> None:
        """Make tapes of what came tick by tick."""
        if self._states:
            self._state_tapes.append(StateTape.of(self._states))
        for _, periods in groupby(self._applied, lambda applied: len(applied.position)):
            self._applied_tapes.append(AppliedTape.of(list(periods)))
        self._states, self._applied = [], []

    def _all_states(self) -> StateTape:
        self._stack()
        self._state_tapes = [StateTape.joined(self._state_tapes)]
        return self._state_tapes[0]

    def hash(self, status: str) -> str:
        """Return the trial_hash of what was kept, and of how it ended."""
        states, digest, begin = self._all_states(), TrialHash(), 0
        for applied in self._applied_tapes:
            digest.periods(states[begin : begin + len(applied)], applied)
            begin += len(applied)
        digest.end(states[-1:], status)
        return digest.hexdigest()

    def rollout(self, status: str, *, whole: bool = False) -> Rollout:
        """Return the record so far, ``whole`` with all sub-samples; an absent field is zero."""
        states = self._all_states()
        # No state follows the targets with which the physics diverged.
        ticks = len(states) - 1
        n, b = len(self._robot.joint_names), len(self._robot.roots)
        imu = states.imu
        return Rollout(
            robot=self._robot,
            spec=self._spec,
            status=status,
            dt=self._spec.scene.control_period,
            joint_positions=_or_zero(states.joint_positions, ticks + 1, n),
            joint_velocities=_or_zero(states.joint_velocities, ticks + 1, n),
            joint_efforts=_or_zero(states.joint_efforts, ticks + 1, n),
            body_poses=_or_zero(states.body_poses, ticks + 1, b, 7),
            body_twists=_or_zero(states.body_twists, ticks + 1, b, 6),
            **self._targets(ticks),
            commands=np.array(self._commands[:ticks], dtype=np.float64).reshape(-1, 3),
            **self._contacts(states),
            specific_forces=None if imu is None else imu.linear_acceleration,
            joint_work=states.joint_work,
            element_lengths=states.element_lengths,
            element_forces=states.element_forces,
            imu_orientations=None if imu is None else imu.orientation,
            angular_velocities=None if imu is None else imu.angular_velocity,
            **(self._sub_targets(ticks) if whole else {}),
        )

    def _sub_targets(self, ticks: int) -> dict[str, Any]:
        counts = [tape.position.shape[1] for tape in self._applied_tapes for _ in tape][:ticks]
        if max(counts, default=1) == 1:
            return {}
        rows = [
            np.stack([tape.position, tape.velocity, tape.effort], axis=2).reshape(
                -1, 3, tape.position.shape[2]
            )
            for tape in self._applied_tapes
        ]
        return {
            'sub_targets': np.concatenate(rows)[: sum(counts)],
            'sub_samples': np.array(counts, dtype=np.int64),
        }

    def _targets(self, ticks: int) -> dict[str, Any]:
        none = np.zeros((0, len(self._robot.target_names)))
        return {
            f'target_{name}': np.concatenate(
                [none, *(getattr(applied, kind)[:, -1] for applied in self._applied_tapes)]
            )[:ticks]
            for name, kind in (
                ('positions', 'position'),
                ('velocities', 'velocity'),
                ('efforts', 'effort'),
            )
        }

    def _contacts(self, states: StateTape) -> dict[str, Any]:
        found = states.contacts or Contacts(soles=self._robot.soles)
        counts = states.contact_counts
        if counts is None:
            counts = np.zeros(len(states), dtype=np.int64)
        return {
            'contact_tick': np.repeat(np.arange(len(counts)), counts),
            'contact_sole': found.sole.astype(np.int64),
            'contact_points': found.points,
            'contact_forces': found.forces,
            'contact_depths': found.depths,
        }


def _or_zero(array: FloatArray | None, *shape: int) -> FloatArray:
    return np.zeros(shape) if array is None else array
