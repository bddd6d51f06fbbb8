"""The record of a trial: every tick's state, targets and contacts, time first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """Keeps what a trial brings about, which is read-only, and makes arrays of it at its end."""

    def __init__(self, spec: TrialSpec, robot: RobotModel) -> None:
        self._spec, self._robot = spec, robot
        self._states: list[Observation] = []
        self._applied: list[AppliedTargets] = []
        self._commands: list[tuple[float, ...]] = []

    def state(self, observation: Observation) -> None:
        """Keep the state of the next tick."""
        self._states.append(observation)

    def targets(self, applied: AppliedTargets, velocity: tuple[float, ...]) -> None:
        """Keep what is applied and commanded in the control period after the last state."""
        self._applied.append(applied)
        self._commands.append(velocity)

    def rollout(self, status: str) -> Rollout:
        """Return the record so far; an absent field is zero."""
        n, m, b = (
            len(names)
            for names in (self._robot.joint_names, self._robot.target_names, self._robot.roots)
        )
        seen = self._states
        # No state follows the targets with which the physics diverged.
        applied = self._applied[: len(seen) - 1]
        return Rollout(
            robot=self._robot,
            spec=self._spec,
            status=status,
            dt=self._spec.scene.control_period,
            joint_positions=_stacked([state.joint_positions for state in seen], (n,)),
            joint_velocities=_stacked([state.joint_velocities for state in seen], (n,)),
            joint_efforts=_stacked([state.joint_efforts for state in seen], (n,)),
            body_poses=_stacked([state.body_poses for state in seen], (b, 7)),
            body_twists=_stacked([state.body_twists for state in seen], (b, 6)),
            target_positions=_stacked([targets.position[-1] for targets in applied], (m,)),
            target_velocities=_stacked([targets.velocity[-1] for targets in applied], (m,)),
            target_efforts=_stacked([targets.effort[-1] for targets in applied], (m,)),
            commands=np.array(self._commands[: len(applied)], dtype=np.float64).reshape(-1, 3),
            **self._contacts(),
            specific_forces=self._specific_forces(),
        )

    def _contacts(self) -> dict[str, Any]:
        none = Contacts(soles=self._robot.soles)
        contacts = [state.contacts or none for state in self._states]
        counts = [len(one.sole) for one in contacts]
        return {
            'contact_tick': np.repeat(np.arange(len(counts)), counts),
            'contact_sole': np.concatenate([one.sole for one in contacts]).astype(np.int64),
            'contact_points': np.concatenate([one.points for one in contacts]),
            'contact_forces': np.concatenate([one.forces for one in contacts]),
            'contact_depths': np.concatenate([one.depths for one in contacts]),
        }

    def _specific_forces(self) -> FloatArray | None:
        forces = [state.imu.linear_acceleration for state in self._states if state.imu]
        return _stacked(forces, (3,)) if len(forces) == len(self._states) else None


def _stacked(values: Sequence[FloatArray | None], shape: tuple[int, ...]) -> FloatArray:
    """Return arrays of a shape as one with time first, (T, *shape)."""
    if not values:
        return np.zeros((0, *shape))
    zero = np.zeros(shape)
    found = np.concatenate([zero if value is None else value for value in values])
    return np.asarray(found, dtype=np.float64).reshape(len(values), *shape)
