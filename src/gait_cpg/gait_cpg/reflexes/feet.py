# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Foot reflexes: layers between a walk and the joints.

The reflexes take the joint targets of any walk and its stance legs, compute the feet by forward
kinematics, shift them where a reflex acts, and solve for the joints again. An obstacle shows as
the lag of a swinging foot behind its target, a hole as a stance without contact, a fall as tilt in
excess of an undisturbed walk: then stance feet level the base, and swinging feet step to the low
side. While no reflex acts, targets pass unchanged to the last bit.

References
----------
Pearson and Franklin (1984), Int. J. Robotics Research 3(2):101-112: elevator reflex and searching
movements of insects on rough ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.parameters.declaration import bool_parameter, float_parameter, fraction_parameter
from gait_core.robot.model import RobotModel
from gait_cpg.reflexes.tilt import OBSTACLE_REFLEXES, Tilt, TiltParams

FOOT_REFLEXES = ('elevator_reflex', 'retraction', 'foothold_search', 'posture_reflex')
"""Names of the reflexes; each is a parameter that switches it on."""
_REFLEX_NEEDS = frozenset({'joint_positions', 'contacts'})
_MIN_MOTION = 1e-9
_IK_ITERATIONS, _IK_DAMPING = 4, 0.02
_HORIZONTAL = np.array([1.0, 1.0, 0.0])


@dataclass(frozen=True, kw_only=True)
class FootReflexParams(TiltParams):
    """Parameters of the foot reflexes; leg lengths are those in the nominal stance."""

    readers: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **TiltParams.readers,
        # The longer of lift and retraction gives the rate of both.
        **dict.fromkeys(('held_lag', 'elevator_lift', 'retraction_way'), OBSTACLE_REFLEXES),
        **dict.fromkeys(('groundless_time', 'search_depth', 'search_time'), ('foothold_search',)),
        'reflex_time': (*OBSTACLE_REFLEXES, 'posture_reflex'),
        **dict.fromkeys(('lean_gain', 'lean_step', 'lean_most'), ('posture_reflex',)),
    }

    elevator_reflex: bool = bool_parameter(
        False, doc='A foot that meets an obstacle in its swing is lifted higher.'
    )
    retraction: bool = bool_parameter(
        False, doc='A foot that meets an obstacle in its swing is drawn back.'
    )
    foothold_search: bool = bool_parameter(
        False, doc='A stance foot without contact reaches further down.'
    )
    held_lag: float = float_parameter(
        0.15,
        low=0.0,
        high=2.0,
        unit='-',
        doc='Lag of a swinging foot behind its target that shows an obstacle, in leg lengths.',
    )
    groundless_time: float = float_parameter(
        0.06,
        low=0.0,
        high=2.0,
        unit='s',
        doc='Time of a stance without contact after which the foothold search begins.',
    )
    elevator_lift: float = fraction_parameter(
        0.15, doc='Additional lift over an obstacle, in leg lengths.'
    )
    retraction_way: float = fraction_parameter(
        0.1, doc='Distance of a retraction at an obstacle, in leg lengths.'
    )
    search_depth: float = fraction_parameter(
        0.2, doc='Largest depth of the foothold search, in leg lengths.'
    )
    lean_gain: float = float_parameter(
        1.0,
        low=0.0,
        high=10.0,
        unit='-',
        doc='Share of the height error of a stance foot, caused by excess of tilt, that the '
        'posture reflex corrects.',
    )
    lean_step: float = float_parameter(
        1.0,
        low=0.0,
        high=10.0,
        unit='-',
        doc='Shift of a swinging foot to the low side per excess of tilt, in leg lengths per rad.',
    )
    lean_most: float = fraction_parameter(
        0.2, doc='Largest shift of a foot by the posture reflex, in leg lengths.'
    )
    reflex_time: float = float_parameter(
        0.06,
        low=1e-3,
        high=2.0,
        unit='s',
        doc='Time in which lift, retraction and posture reflex reach their full shift.',
    )
    search_time: float = float_parameter(
        0.12,
        low=1e-3,
        high=2.0,
        unit='s',
        doc='Time in which the foothold search reaches its depth.',
    )


class FootReflexes:
    """
    Foot reflexes over the targets of one walk.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names, in the order of the walk's ``stance``.

    Attributes
    ----------
    offsets : (L, 3) array [m]
        Shifts of the feet away from the targets of the walk, in the base frame.
    counts : dict of str to int
        Number of activations of each reflex since the start.
    is_active : bool
        Whether ``apply`` has to be called: a reflex is on, still decays, or is recorded.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self._legs = [LegKinematics(robot, name) for name in legs]
        self._columns = [leg.columns for leg in self._legs]
        self._max_rates = [robot.velocity_limit[columns] for columns in self._columns]
        self._soles = np.array([robot.soles.index(robot.leg(name).sole) for name in legs])
        poses = link_poses(robot, robot.joint_stance)
        child = {joint.name: joint.child for joint in robot.joints}
        hips = [poses[robot.link_index[child[leg.joint_names[0]]]][:3, 3] for leg in self._legs]
        feet = [
            leg.forward(robot.stance[columns])[0]
            for leg, columns in zip(self._legs, self._columns, strict=True)
        ]
        self._nominal_feet: FloatArray = np.array(feet)
        self._leg_lengths = np.linalg.norm(self._nominal_feet - np.array(hips), axis=1)
        self.tilt = Tilt()
        self._is_recording = self._is_enabled = False
        self.reset()
        self.set_params(FootReflexParams())

    def reset(self) -> None:
        """Set all shifts, counts and records to zero."""
        shape = (len(self._legs), 3)
        self.tilt.reset()
        self.offsets: FloatArray = np.zeros(shape)
        self._obstacle_offsets: FloatArray = np.zeros(shape)
        self._posture_offsets: FloatArray = np.zeros(shape)
        self.counts = dict.fromkeys(FOOT_REFLEXES, 0)
        self._acting_legs: dict[str, BoolArray] = {}
        self._is_held: BoolArray = np.zeros(shape[0], dtype=bool)
        self._groundless: FloatArray = np.zeros(shape[0])
        self._planned_feet: FloatArray | None = None
        self._shifted_feet: FloatArray | None = None
        self._last_joints: list[FloatArray] = []
        self._maxima = {'held_lag': 0.0, 'groundless_time': 0.0}
        self._update_active()

    def set_params(self, params: FootReflexParams) -> None:
        """Replace the parameters; the shift of a reflex that is switched off decays."""
        self._params = params
        self._is_enabled = any(getattr(params, name) for name in FOOT_REFLEXES)
        self._update_active()

    def _update_active(self) -> None:
        self.is_active = self._is_enabled or self._is_recording or bool(self.offsets.any())

    @property
    def needs(self) -> frozenset[str]:
        """Fields of an observation that the active reflexes read."""
        if not self.is_active:
            return frozenset()
        return (
            _REFLEX_NEEDS | {'imu'}
            if self._params.posture_reflex or self._is_recording
            else _REFLEX_NEEDS
        )

    def record_ranges(self) -> None:
        """Record from now on the maxima of the quantities that have thresholds."""
        self._is_recording = self.is_active = True

    def thresholds(self, margin: float) -> dict[str, float]:
        """Return thresholds above the recorded maxima by a share ``margin``, by parameter name."""
        of_feet = {name: (1.0 + margin) * maximum for name, maximum in self._maxima.items()}
        return {**of_feet, **self.tilt.thresholds(margin)}

    def apply(
        self, dt: float, targets: JointTargets, stance: BoolArray, observation: Observation
    ) -> JointTargets:
        """
        Return the targets of a control period with the feet shifted by the reflexes.

        Parameters
        ----------
        dt : float [s]
            Control period.
        targets : JointTargets
            Positions of at least all joints of the legs.
        stance : (L,) bool array
            Whether each leg is in stance by the plan of the walk.
        observation : Observation
            Joint positions, contacts and, for the posture reflex, IMU at the start of the period.

        """
        index = {name: i for i, name in enumerate(targets.names)}
        columns = [[index[name] for name in leg.joint_names] for leg in self._legs]
        position = np.asarray(targets.position)
        offsets_before, planned = self.offsets, self._feet(position[-1], columns)
        self._update_offsets(dt, planned, stance, observation)
        self._planned_feet, self._shifted_feet = planned, planned + self.offsets
        if offsets_before.any() or self.offsets.any():
            targets = self._shift_targets(dt, targets, columns, offsets_before)
        last = np.asarray(targets.position)[-1]
        self._last_joints = [last[of_leg] for of_leg in columns]
        return targets

    def _feet(self, joints: FloatArray, columns: list[list[int]]) -> FloatArray:
        """Return the feet in the base frame, (L, 3) [m], by forward kinematics."""
        pairs = zip(self._legs, columns, strict=True)
        return np.array([leg.forward(joints[of_leg])[0] for leg, of_leg in pairs])

    def _update_offsets(
        self, dt: float, planned: FloatArray, stance: BoolArray, observation: Observation
    ) -> None:
        """Advance the shifts of the feet by a control period, by the observation at its start."""
        params = self._params
        # Measured quantities: tilt, lag of the feet along their motion, time without contact.
        self.tilt.update(observation.imu, params)
        direction, lag = self._swing_lag(planned, observation)
        grounded = np.zeros(len(planned), dtype=bool)
        if observation.contacts is not None:
            grounded = np.isin(self._soles, observation.contacts.sole)
        self._groundless = np.where(stance & ~grounded, self._groundless + dt, 0.0)
        if self._is_recording:
            self._record_maxima(lag, stance)
        # An obstacle is remembered until touch-down: once lifted, the foot lags no longer.
        self._is_held = ~stance & (self._is_held | (lag > params.held_lag))
        # Pearson and Franklin (1984): elevator reflex, retraction and search set a goal for the
        # shift of each foot; without a reflex the goal is zero.
        goal = np.zeros_like(planned)
        relative_rate = max(params.elevator_lift, params.retraction_way) / params.reflex_time
        rates: FloatArray = self._leg_lengths * relative_rate
        if params.elevator_reflex:
            is_lifted = self._count_onsets('elevator_reflex', self._is_held)
            goal[is_lifted, 2] = params.elevator_lift * self._leg_lengths[is_lifted]
        if params.retraction:
            is_retracted = self._count_onsets('retraction', ~stance & (lag > params.held_lag))
            goal[is_retracted] -= (
                params.retraction_way
                * self._leg_lengths[is_retracted, None]
                * direction[is_retracted]
            )
        if params.foothold_search:
            self._set_search_goals(stance, goal, rates)
        # Shifts move to their goals at bounded rates, so that targets stay continuous.
        max_change = dt * rates[:, None]
        self._obstacle_offsets = self._obstacle_offsets + np.clip(
            goal - self._obstacle_offsets, -max_change, max_change
        )
        max_change = dt * params.lean_most / params.reflex_time * self._leg_lengths[:, None]
        goal = self._posture_goals(stance)
        self._posture_offsets = self._posture_offsets + np.clip(
            goal - self._posture_offsets, -max_change, max_change
        )
        self.offsets = self._obstacle_offsets + self._posture_offsets
        self._update_active()

    def _posture_goals(self, stance: BoolArray) -> FloatArray:
        """Return the shifts of the feet that the posture reflex asks for, (L, 3) [m]."""
        params, goal = self._params, np.zeros_like(self._nominal_feet)
        if not params.posture_reflex:
            return goal
        excess = self.tilt.excess
        self._count_onsets('posture_reflex', excess != 0.0)
        roll, pitch = excess
        # Small-angle height error of the body over each stance foot: x pitch - y roll.
        sinkage = self._nominal_feet[:, 0] * pitch - self._nominal_feet[:, 1] * roll
        goal[stance, 2] = -params.lean_gain * sinkage[stance]
        # Swinging feet step to the low side, to catch the fall.
        shift = params.lean_step * self._leg_lengths[~stance]
        goal[~stance, 0], goal[~stance, 1] = shift * pitch, -shift * roll
        limit = params.lean_most * self._leg_lengths[:, None]
        return np.asarray(np.clip(goal, -limit, limit))

    def _set_search_goals(self, stance: BoolArray, goal: FloatArray, rates: FloatArray) -> None:
        """Write goals and rates of the feet that search for ground into ``goal`` and ``rates``."""
        params = self._params
        depth = params.search_depth * self._leg_lengths
        is_searching = self._count_onsets(
            'foothold_search', self._groundless > params.groundless_time
        )
        # Down to the full depth until the foot has contact; then it stays at that depth.
        goal[is_searching, 2] = -depth[is_searching]
        has_ground = stance & ~is_searching & (self._obstacle_offsets[:, 2] < 0.0)
        goal[has_ground, 2] = self._obstacle_offsets[has_ground, 2]
        rates[is_searching] = depth[is_searching] / params.search_time

    def _swing_lag(
        self, planned: FloatArray, observation: Observation
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return the horizontal direction of motion and the lag of each foot.

        Both are zero in the first control period and without joint positions.

        Returns
        -------
        direction : (L, 3) array
            Unit vectors; zero for a foot at rest.
        lag : (L,) array [leg lengths]
            Distance of the measured foot behind its last target along the direction.

        """
        if (
            self._shifted_feet is None
            or self._planned_feet is None
            or observation.joint_positions is None
        ):
            return np.zeros_like(planned), np.zeros(len(planned))
        motion = (planned - self._planned_feet) * _HORIZONTAL
        size = np.linalg.norm(motion, axis=1, keepdims=True)
        direction: FloatArray = np.where(
            size > _MIN_MOTION, motion / np.maximum(size, _MIN_MOTION), 0.0
        )
        behind = self._shifted_feet - self._feet(observation.joint_positions, self._columns)
        return direction, (behind * direction).sum(axis=1) / self._leg_lengths

    def _record_maxima(self, lag: FloatArray, stance: BoolArray) -> None:
        """Extend the records of tilt, lag in swing and time of a stance without contact."""
        self.tilt.widen_recorded_range()
        for name, values, legs in (
            ('held_lag', lag, ~stance),
            ('groundless_time', self._groundless, stance),
        ):
            self._maxima[name] = max(self._maxima[name], float(values[legs].max(initial=0.0)))

    def _count_onsets(self, reflex: str, acting: BoolArray) -> BoolArray:
        """Count the elements in which a reflex begins to act; return ``acting``."""
        acting_before = self._acting_legs.get(reflex, np.zeros_like(acting))
        self.counts[reflex] += int((acting & ~acting_before).sum())
        self._acting_legs[reflex] = acting
        return acting

    def _joints_at_foot(self, number: int, joints: FloatArray, foot: FloatArray) -> FloatArray:
        """Return the joints of a leg that put its foot at a point, within limits."""
        leg = self._legs[number]
        # Damped least squares from the joints of the last period, a few steps and no restart: a
        # foot out of reach must not flip the knee to its other solution.
        damping = (_IK_DAMPING * self._leg_lengths[number]) ** 2 * np.eye(3)
        for _ in range(_IK_ITERATIONS):
            jacobian = leg.jacobian(joints)[:3]
            error = foot - leg.forward(joints)[0]
            change = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping, error)
            joints = np.clip(joints + change, leg.lower, leg.upper)
        return joints

    def _shift_targets(
        self,
        dt: float,
        targets: JointTargets,
        columns: list[list[int]],
        offsets_before: FloatArray,
    ) -> JointTargets:
        """Return targets with feet shifted, linearly from the last shifts to the present ones."""
        position = np.array(targets.position)
        velocity = None if targets.velocity is None else np.array(targets.velocity)
        samples, period = len(position), dt / len(position)
        for row, (leg, of_leg) in enumerate(zip(self._legs, columns, strict=True)):
            if not (offsets_before[row].any() or self.offsets[row].any()):
                continue
            joints = self._last_joints[row] if self._last_joints else position[0, of_leg]
            max_change = self._max_rates[row] * period
            for k in range(samples):
                share = (k + 1.0) / samples
                offset = offsets_before[row] + share * (self.offsets[row] - offsets_before[row])
                planned = position[k, of_leg]
                # Start at the last targets: a straight leg can bend to either side.
                start = joints if offsets_before[row].any() or k else planned
                shifted = self._joints_at_foot(row, start, leg.forward(planned)[0] + offset)
                step = np.clip(shifted - joints, -max_change, max_change)
                joints = joints + step
                position[k, of_leg] = joints
                if velocity is not None:
                    velocity[k, of_leg] = step / period
        return replace(targets, position=position, velocity=velocity)
