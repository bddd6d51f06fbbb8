# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The record of a trial: its states, the targets applied and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.motion.observation import Contacts, Observation
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape, AppliedTargets
from gait_core.robot.model import RobotModel
from gait_core.trial.hash import TrialHash
from gait_core.trial.spec import TrialSpec


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """
    A finished trial of T control periods; its states are T + 1, the first is tick 0.

    Attributes
    ----------
    robot, spec
        Robot and spec of the trial.
    status : str
        As of TrialResult.
    states : StateTape
        As the engine reported them. Fields that most measures need are properties here, zero where
        an engine does not report them.
    applied : tuple of AppliedTape
        Targets applied in the T control periods, in ``robot.target_names`` order: consecutive
        tapes, each with a constant number of sub-samples.
    commands : (T, 3) array [m/s, m/s, rad/s]

    """

    robot: RobotModel
    spec: TrialSpec
    status: str
    states: StateTape
    applied: tuple[AppliedTape, ...]
    commands: FloatArray

    @property
    def ticks(self) -> int:
        """T, the number of control periods."""
        return len(self.states) - 1

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return self.spec.scene.control_period

    @property
    def time(self) -> FloatArray:
        """Times of the states, (T + 1,) [s]."""
        return np.arange(self.ticks + 1, dtype=np.float64) * self.dt

    @property
    def joint_positions(self) -> FloatArray:
        """(T + 1, n) array in ``robot.joint_names`` order [rad or m]."""
        return self._or_zero(self.states.joint_positions, len(self.robot.joint_names))

    @property
    def joint_velocities(self) -> FloatArray:
        """(T + 1, n) array [per s]."""
        return self._or_zero(self.states.joint_velocities, len(self.robot.joint_names))

    @property
    def joint_efforts(self) -> FloatArray:
        """(T + 1, n) array [N m or N]."""
        return self._or_zero(self.states.joint_efforts, len(self.robot.joint_names))

    @property
    def body_poses(self) -> FloatArray:
        """(T + 1, b, 7) array of the root links, as in Observation."""
        return self._or_zero(self.states.body_poses, len(self.robot.roots), 7)

    @property
    def body_twists(self) -> FloatArray:
        """(T + 1, b, 6) array of the root links, as in Observation."""
        return self._or_zero(self.states.body_twists, len(self.robot.roots), 6)

    def _or_zero(self, array: FloatArray | None, *shape: int) -> FloatArray:
        return np.zeros((self.ticks + 1, *shape)) if array is None else array

    @property
    def contacts(self) -> Contacts:
        """Contact points of all states in order of time, c in total."""
        return self.states.contacts or Contacts(soles=self.robot.soles)

    @cached_property
    def contact_tick(self) -> IntArray:
        """Tick of every contact point, (c,)."""
        counts = self.states.contact_counts
        if counts is None:
            return np.zeros(0, dtype=np.int64)
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def loaded_contacts(self) -> tuple[IntArray, FloatArray]:
        """Tick (c,) and position (c, 3) [m] of the contact points that carry load."""
        loaded = self.contacts.loaded
        return self.contact_tick[loaded], self.contacts.points[loaded]

    def loaded_points(self, tick: int) -> FloatArray:
        """Return the contact points that carry load at a tick, (c, 3) [m]."""
        ticks, points = self.loaded_contacts
        first, end = np.searchsorted(ticks, [tick, tick + 1])
        return points[first:end]

    @cached_property
    def target_positions(self) -> FloatArray:
        """Last sub-sample of the position targets of each period, (T, m)."""
        return self._last([tape.position for tape in self.applied])

    @cached_property
    def target_velocities(self) -> FloatArray:
        """Last sub-sample of the velocity targets of each period, (T, m)."""
        return self._last([tape.velocity for tape in self.applied])

    @cached_property
    def target_efforts(self) -> FloatArray:
        """Last sub-sample of the effort targets of each period, (T, m)."""
        return self._last([tape.effort for tape in self.applied])

    def target_sub_samples(self) -> tuple[FloatArray, FloatArray, float]:
        """
        Return all sub-samples of the position and velocity targets, and their period [s].

        Both arrays are (S, m). Every control period has as many sub-samples as the finest one:
        values of the others are repeated.
        """
        finest = max((tape.position.shape[1] for tape in self.applied), default=1)
        empty = np.zeros((0, len(self.robot.target_names)))
        parts: tuple[list[FloatArray], list[FloatArray]] = ([empty], [empty])
        for tape in self.applied:
            held = np.arange(finest) * tape.position.shape[1] // finest
            for part, array in zip(parts, (tape.position, tape.velocity), strict=True):
                part.append(array[:, held].reshape(len(array) * finest, array.shape[2]))
        return np.concatenate(parts[0]), np.concatenate(parts[1]), self.dt / finest

    def _last(self, arrays: list[FloatArray]) -> FloatArray:
        empty = np.zeros((0, len(self.robot.target_names)))
        return np.concatenate([empty, *(array[:, -1] for array in arrays)])

    def sole_forces(self) -> FloatArray:
        """Return the force on each sole at each tick, (T + 1, s, 3) [N]."""
        total = np.zeros((self.ticks + 1, len(self.robot.soles), 3))
        contacts = self.contacts
        on_sole = contacts.sole >= 0
        np.add.at(
            total,
            (self.contact_tick[on_sole], contacts.sole[on_sole]),
            contacts.forces[on_sole],
        )
        return total


class Recorder:
    """
    Recorder of the states, targets and commands of a running trial.

    Single ticks are appended to its lists, many at once are added as tapes. The first state comes
    before any targets.

    Attributes
    ----------
    states : list of Observation
    applied : list of AppliedTargets
    commands : list of tuple [m/s, m/s, rad/s]
        Commanded velocities, one per control period.

    """

    def __init__(self, spec: TrialSpec, robot: RobotModel) -> None:
        self._spec, self._robot = spec, robot
        self.states: list[Observation] = []
        self.applied: list[AppliedTargets] = []
        self._state_tapes: list[StateTape] = []
        self._applied_tapes: list[AppliedTape] = []
        self.commands: list[tuple[float, ...]] = []

    def add_tape(
        self, applied: AppliedTape, velocities: Sequence[tuple[float, ...]], states: StateTape
    ) -> None:
        """Record the targets and commanded velocities of control periods, and the states after."""
        self._stack()
        self._applied_tapes.append(applied)
        self.commands.extend(velocities)
        if len(states):
            self._state_tapes.append(states)

    def _stack(self) -> None:
        """Convert the single ticks to tapes."""
        if self.states:
            self._state_tapes.append(StateTape.from_states(self.states))
        for _, periods in groupby(self.applied, lambda applied: len(applied.position)):
            self._applied_tapes.append(AppliedTape.from_periods(list(periods)))
        self.states, self.applied = [], []

    def _all_states(self) -> StateTape:
        self._stack()
        self._state_tapes = [StateTape.concatenate(self._state_tapes)]
        return self._state_tapes[0]

    def trial_hash(self, status: str) -> str:
        """Return the trial hash of the record and the final status."""
        states, digest, begin = self._all_states(), TrialHash(), 0
        for applied in self._applied_tapes:
            digest.add_periods(states[begin : begin + len(applied)], applied)
            begin += len(applied)
        digest.add_end(states[-1:], status)
        return digest.hexdigest()

    def rollout(self, status: str) -> Rollout:
        """Return the record so far."""
        states = self._all_states()
        # No state follows the targets with which the physics diverged.
        ticks, begin, applied = len(states) - 1, 0, []
        for tape in self._applied_tapes:
            if begin < ticks:
                applied.append(tape[: ticks - begin])
            begin += len(tape)
        return Rollout(
            robot=self._robot,
            spec=self._spec,
            status=status,
            states=states,
            applied=tuple(applied),
            commands=np.array(self.commands[:ticks], dtype=np.float64).reshape(-1, 3),
        )
