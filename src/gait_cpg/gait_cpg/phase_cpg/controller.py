# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``phase_cpg``: one phase oscillator per leg, feet placed by inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.contracts import ReflexController
from gait_core.errors import ConfigurationError
from gait_core.kinematics.leg_odometry import LegOdometry
from gait_core.kinematics.leg_paths import LegPathSolver
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits, symmetric_limits
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_cpg.gaits import OWN_GAIT, find_gait, leg_lags, read_gait, replace_leg_values
from gait_cpg.oscillators import coupling_to_lags, locked_phases
from gait_cpg.phase_cpg.ground_slope import (
    SLOPE_NEEDS,
    GroundSlope,
    follow_ground,
    limit_gradient,
    vertical_travel,
)
from gait_cpg.phase_cpg.kernel import WalkShape, WalkState, advance_feet, limit_joint_rates
from gait_cpg.phase_cpg.parameters import PRESETS, PhaseCpgParams
from gait_cpg.phase_cpg.posture import SET_POINTS, BodyPosture
from gait_cpg.phase_cpg.skid import skid_yaw_ratio
from gait_cpg.phase_cpg.swing import is_stance, predict_footholds
from gait_cpg.reflexes.feet import FootReflexes
from gait_cpg.steering import Steering

MIN_LEGS = 4
Twist = tuple[float, float, float]
ZERO_TWIST: Twist = (0.0, 0.0, 0.0)
_MAX_SPEED = 1e6
"""Clamp of commanded velocities [m/s, rad/s], so that sums with them stay finite."""
_MIN_AMPLITUDE = 1e-4
"""Amplitude below which a stopping robot stands: its feet lift by micrometres."""


_MIN_LEVEL_SHARE = 1e-3
"""Share of a slope below which levelling, once switched off, ends: feet shift millimetres."""
_SHAPE_PARAMETERS = (
    'frequency',
    'duty_factor',
    'stride_height',
    'body_height',
    'body_shift',
    'stance_width',
    'sway',
)
"""Parameters that converge, instead of jumping, when they are changed during a walk."""
_TWIST_SIZE = 3
"""Number of components of the twist, which precede the shape in one array."""
_INITIAL_SHARE = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
"""Shares of the target shape at the start; shifts of standing feet start at zero."""


class PhaseCpgController(ReflexController):
    """
    Walks any robot with at least four legs, with one amplitude-phase oscillator per leg.

    The commanded velocity, within the limits of speed and acceleration, is the twist of the base
    that the stance feet oppose. The amplitudes scale the steps from standing (0) to walking (1).
    At zero velocity the robot finishes its steps in place and stands. Targets out of reach are met
    as closely as the joint limits allow. The controller is open loop, except for the options that
    are switched on: reflexes, and feedback of heading, speed and slope. The set points ``height``,
    ``roll``, ``pitch`` and ``yaw`` move the body over its feet; at ``sit`` 1 it stops and lies
    down, at 0 it stands up. Changed parameters converge at ``convergence_rate``.
    """

    Params: ClassVar[type[Parameters]] = PhaseCpgParams
    _params: PhaseCpgParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    set_points: ClassVar[tuple[str, ...]] = SET_POINTS

    def __init__(self, robot: RobotModel, params: PhaseCpgParams) -> None:
        if len(robot.legs) < MIN_LEGS:
            raise ConfigurationError(
                f"controller 'phase_cpg' needs {MIN_LEGS} legs, robot '{robot.name}' has "
                f'{len(robot.legs)}'
            )
        rigid = next((leg.name for leg in robot.legs if not leg.joints), None)
        if rigid is not None:
            raise ConfigurationError(
                f"controller 'phase_cpg' moves every leg, leg '{rigid}' of robot '{robot.name}' "
                'has no joints'
            )
        self._names = tuple(name for leg in robot.legs for name in leg.joints)
        self._leg_names = [leg.name for leg in robot.legs]
        self._paths = LegPathSolver(robot, self._leg_names)
        stance = [
            [robot.nominal_stance.get(name, 0.0) for name in leg.joints] for leg in robot.legs
        ]
        self._stance = np.concatenate(stance)
        feet = np.array(
            [leg.forward(joints)[0] for leg, joints in zip(self._paths.legs, stance, strict=True)]
        )
        outward = np.where(feet[:, 1] < 0.0, -1.0, 1.0)
        self._nominal_feet = np.column_stack((feet, outward))
        # Feet that cannot step sideways slide in a turn: the strides are made for a higher yaw
        # rate than the robot reaches.
        self._yaw_gain = 1.0 / skid_yaw_ratio(self._paths.legs, stance)
        columns = [robot.joint_index[name] for name in self._names]
        self._max_rates = robot.velocity_limit[columns]
        self._reflexes = FootReflexes(robot, self._leg_names)
        self._odometry = LegOdometry(robot, self._leg_names)
        self._posture = BodyPosture(robot, self._nominal_feet[:, :3])
        self._robot, self._slope = robot, GroundSlope(robot, self._leg_names)
        self._steering = Steering()
        self.set_params(params)
        self.reset(0)
        # The first call on a machine compiles the kernels, for seconds: here, not in a walk.
        self._advance(1.0, (params.max_forward or 1.0, 0.0, 0.0), {})
        self.reset(0)

    @property
    def needs(self) -> frozenset[str]:
        """Fields of the observation that reflexes, levelling and odometry read, if they are on."""
        fields = self._reflexes.needs
        if self._params.level:
            fields |= SLOPE_NEEDS
        return fields | {'joint_positions'} if self._params.odometry else fields

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed."""
        params = self._params
        return symmetric_limits(params.max_forward, params.max_sideways, params.max_yaw_rate)

    def set_params(self, params: PhaseCpgParams) -> None:
        """Replace the parameters; the walk converges to them at ``convergence_rate``."""
        self._params = params
        if params.level:
            self._vertical_travel = vertical_travel(self._robot)
        self._reflexes.set_params(params)
        names = self._leg_names
        if params.gait == OWN_GAIT:
            own = read_gait(params.gait_file, params.gait_file_sha256)
            lags, duty_factors = own.lags_and_duty_factors(names)
            duty_factor = float(duty_factors[0])
        else:
            lags = leg_lags(find_gait(params.gait), self._nominal_feet[:, :3])
            duty_factor = params.duty_factor
            duty_factors = np.full(len(lags), duty_factor)
        self._lags = replace_leg_values(lags, 'lag', params.leg_lags, names) % 1.0
        duty_factors = replace_leg_values(
            duty_factors, 'duty_factor', params.leg_duty_factors, names
        )
        self._target_duty_offsets = duty_factors - duty_factor
        self._initial_phases = locked_phases(self._lags)
        self._coupling = coupling_to_lags(self._lags, params.convergence_rate)
        # A critically damped amplitude converges at the rate gain / 2.
        self._amplitude_gain = np.full(len(self._lags), 2.0 * params.convergence_rate)
        turning = params.max_yaw_rate * self._yaw_gain
        self._limits = (params.max_forward, params.max_sideways, turning)
        self._target_shape = np.array([getattr(params, name) for name in _SHAPE_PARAMETERS])
        self._target_shape[_SHAPE_PARAMETERS.index('duty_factor')] = duty_factor
        self._walk_shape = WalkShape(
            self._nominal_feet,
            self._amplitude_gain,
            self._coupling.cosine,
            self._coupling.sine,
            self._target_shape,
            self._target_duty_offsets,
        )

    def reset(self, seed: int) -> None:
        """Return to the nominal stance; the seed is not used."""
        self._twist_and_shape = np.concatenate(
            (np.zeros(_TWIST_SIZE), self._target_shape * _INITIAL_SHARE)
        )
        self._duty_offsets = self._target_duty_offsets.copy()
        self._last_joints = self._stance.copy()
        self._paths.reset()
        self._reflexes.reset()
        self._odometry.reset()
        self._posture.reset()
        self._slope.reset()
        self._level_share, self._ground_rise = self._params.level, np.zeros(2)
        self._steering.reset()
        self._stop_walking()

    def _stop_walking(self) -> None:
        """Set the oscillators to rest at the phases of the gait."""
        self._oscillators = np.zeros((3, len(self._lags)))
        self._oscillators[0] = self._initial_phases
        self._is_walking = False

    @property
    def _is_levelling(self) -> bool:
        """True if the slope of the ground moves the feet."""
        return self._params.level > 0.0 or self._level_share > _MIN_LEVEL_SHARE

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint positions at the end of each sub-sample and the rates to them."""
        if self._params.odometry:
            self._odometry.update(self._stance_legs(), observation)
        if self._is_levelling:
            self._slope.update(dt, self._stance_legs(), observation)
        x, y, yaw = (min(max(speed, -_MAX_SPEED), _MAX_SPEED) for speed in command.velocity)
        velocity = self._steering.correct_velocity(
            dt,
            (x, y, yaw),
            observation,
            1.0 / float(self._twist_and_shape[_TWIST_SIZE]),
            self._params.heading_gain,
            self._params.speed_gain,
        )
        set_points = command.set_points
        if self._posture.is_sitting or set_points.get('sit', 0.0) > 0.0:
            velocity = ZERO_TWIST
        joints, rates = self._advance(dt, self._limit_twist(dt, velocity), set_points)
        targets = JointTargets(names=self._names, position=joints, velocity=rates)
        if self._reflexes.is_active:
            targets = self._reflexes.apply(dt, targets, self._stance_legs(), observation)
        return targets

    def _advance(
        self, dt: float, twist: Twist, set_points: Mapping[str, float]
    ) -> tuple[FloatArray, FloatArray]:
        """
        Advance oscillators and feet by a control period; return joint positions and rates.

        Parameters
        ----------
        dt : float [s]
            Control period.
        twist : (x, y, yaw) [m/s, m/s, rad/s]
            Twist of the base at the end of the period.
        set_points : mapping of str to float
            Height and attitude of the body, ``sit``.

        Returns
        -------
        positions, rates : (K, n) arrays [rad or m, and per s]

        """
        samples = self._params.sub_samples
        period, convergence = dt / samples, -math.expm1(-dt * self._params.convergence_rate)
        state = WalkState(self._oscillators, self._twist_and_shape, self._duty_offsets)
        feet = np.empty((len(self._nominal_feet), samples, 3))
        is_moving = twist != ZERO_TWIST
        self._is_walking = self._is_walking or is_moving
        advance_feet(
            state,
            self._walk_shape,
            np.array(twist),
            period if self._is_walking else 0.0,
            convergence,
            feet,
        )
        # A stopping robot steps in place until its feet hardly leave the ground.
        if self._is_walking and not is_moving and self._oscillators[1].max() < _MIN_AMPLITUDE:
            self._stop_walking()
        if set_points or not self._posture.is_neutral:
            feet = self._posture.move_feet(dt, set_points, feet)
        if self._is_levelling:
            self._level_share += convergence * (self._params.level - self._level_share)
            rise = limit_gradient(
                self._level_share * self._slope.gradient_in_base,
                self._nominal_feet[:, :3],
                self._vertical_travel,
            )
            feet = follow_ground(feet, self._ground_rise, rise)
            self._ground_rise = rise
        joints = self._paths.follow(feet)
        rates = np.empty_like(joints)
        limit_joint_rates(self._last_joints, self._max_rates, period, joints, rates)
        for array in (joints, rates):
            array.flags.writeable = False
        return joints, rates

    def _limit_twist(self, dt: float, velocity: Twist) -> Twist:
        """Return the twist that follows a velocity within limits of speed and acceleration."""
        now = self._twist_and_shape[:_TWIST_SIZE].tolist()
        commanded = (velocity[0], velocity[1], velocity[2] * self._yaw_gain)
        x, y, yaw = (
            min(max(value, -limit), limit) - present
            for value, limit, present in zip(commanded, self._limits, now, strict=True)
        )
        speed, allowed = math.hypot(x, y), self._params.acceleration * dt
        if speed > allowed:
            x, y = x * (allowed / speed), y * (allowed / speed)
        allowed = self._params.yaw_acceleration * self._yaw_gain * dt
        return now[0] + x, now[1] + y, now[2] + min(max(yaw, -allowed), allowed)

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the gait.

        ``phase`` [rad] of the first leg; ``phase.<leg>`` [rad] in [0, 2 pi) from lift-off;
        ``stance.<leg>``, 1 for a leg in stance by plan; ``amplitude`` from standing (0) to walking
        (1); ``odom.x``, ``odom.y`` [m] and ``odom.yaw`` [rad] with odometry on; and
        ``reflex.<name>``, the number of activations.
        """
        phases = np.mod(self._oscillators[0], 2.0 * math.pi)
        is_down = self._stance_legs()
        values = {
            'phase': float(phases[0]),
            'amplitude': float(self._oscillators[1].mean()),
        }
        for name, phase, stance in zip(self._leg_names, phases, is_down, strict=True):
            values[f'phase.{name}'] = float(phase)
            values[f'stance.{name}'] = float(stance)
        if self._params.odometry:
            names = ('odom.x', 'odom.y', 'odom.yaw')
            values.update(zip(names, self._odometry.pose.tolist(), strict=True))
        for name, count in self._reflexes.counts.items():
            values[f'reflex.{name}'] = float(count)
        return values

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """Return the predicted foothold of each swinging leg, (3,) [m], in the base frame."""
        if not self._is_walking:
            return {}
        points = predict_footholds(
            self._oscillators, self._nominal_feet, self._twist_and_shape, self._duty_offsets
        )
        points[:, 2] += points[:, :2] @ self._ground_rise
        is_down = self._stance_legs()
        return {
            name: point
            for name, point, in_stance in zip(self._leg_names, points, is_down, strict=True)
            if not in_stance
        }

    def record_ranges(self) -> None:
        """Record from now on the quantities that have thresholds of reflexes."""
        self._reflexes.record_ranges()

    def thresholds(self, margin: float) -> dict[str, float]:
        """Return thresholds of reflexes, by name, above the records by a share ``margin``."""
        return self._reflexes.thresholds(margin)

    def _stance_legs(self) -> BoolArray:
        """Return which legs are in stance by plan, (L,)."""
        phases = np.mod(self._oscillators[0], 2.0 * math.pi)
        is_down = is_stance(
            phases, float(self._twist_and_shape[_TWIST_SIZE + 1]) + self._duty_offsets
        )
        return is_down if self._is_walking else np.ones_like(is_down)
