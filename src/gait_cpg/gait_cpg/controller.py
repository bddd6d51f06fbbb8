"""The controller that walks on phase oscillators: one per leg, feet placed by leg kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.leg_ik import LegKinematics
from gait_core.observation import Observation
from gait_core.parameters import Parameters, bounded, text, whole
from gait_core.robot.model import RobotModel
from gait_core.targets import JointTargets
from gait_core.trial_spec import Command
from gait_cpg.gaits import GAITS, gait, leg_lags
from gait_cpg.phase_oscillators import OscillatorState, advance, coupling_to_lags, locked_phases
from gait_cpg.swing import foot_positions, in_stance

MIN_LEGS = 4
_AT_REST = 1e-4
"""Amplitude below which a robot that was told to stop stands: a lift of micrometres."""


@dataclass(frozen=True, kw_only=True)
class PhaseCpgParams(Parameters):
    """Parameters of the phase-oscillator walk."""

    gait: str = text('trot', choices=tuple(GAITS), doc='Which legs move together.')
    frequency: float = bounded(2.5, low=0.2, high=5.0, unit='Hz', doc='Gait cycles per second.')
    duty_factor: float = bounded(
        GAITS['trot'].duty_factor,
        low=0.3,
        high=0.95,
        unit='-',
        doc='Share of a cycle that a foot is down.',
    )
    stride_height: float = bounded(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot over the ground at mid-swing.'
    )
    body_height: float = bounded(
        0.0, low=-0.2, high=0.2, unit='m', doc='Raises the body over its nominal stance.'
    )
    body_shift: float = bounded(
        0.0,
        low=-0.2,
        high=0.2,
        unit='m',
        doc='Shifts the body forward over the feet of the nominal stance.',
    )
    stance_width: float = bounded(
        0.0, low=-0.1, high=0.2, unit='m', doc='Moves each foot outward from the nominal stance.'
    )
    sway: float = bounded(
        0.0,
        low=0.0,
        high=0.2,
        unit='m',
        doc='Shifts the body sideways, away from the legs in the air; by so much if all of one '
        'side swung together, less if they take turns.',
    )
    max_forward: float = bounded(
        0.6, low=0.0, high=3.0, unit='m/s', doc='Bound of the speed forward and backward.'
    )
    max_sideways: float = bounded(
        0.3, low=0.0, high=2.0, unit='m/s', doc='Bound of the speed to either side.'
    )
    max_yaw_rate: float = bounded(
        1.0, low=0.0, high=5.0, unit='rad/s', doc='Bound of the turning rate.'
    )
    acceleration: float = bounded(
        0.5, low=0.01, high=10.0, unit='m/s^2', doc='Bound of the change of the velocity.'
    )
    yaw_acceleration: float = bounded(
        1.5, low=0.01, high=30.0, unit='rad/s^2', doc='Bound of the change of the turning rate.'
    )
    sub_samples: int = whole(
        5,
        low=1,
        high=20,
        doc='Joint targets in a control period; they must divide its physics steps.',
    )
    convergence_rate: float = bounded(
        6.0,
        low=0.5,
        high=20.0,
        unit='1/s',
        doc='Rate at which phase lags, the size of the steps and changed parameters settle.',
    )


_SHAPE = (
    'frequency',
    'duty_factor',
    'stride_height',
    'body_height',
    'body_shift',
    'stance_width',
    'sway',
)
"""Parameters that settle instead of jumping when they are changed during a walk."""
_AT_START = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
"""Their share that holds from the start; what moves standing feet begins at nothing."""


def _followed(start: FloatArray, wanted: FloatArray, reach: FloatArray) -> FloatArray:
    """Return joints (K, n) that follow the wanted ones by at most ``reach`` (n,) a sub-sample."""
    joints = np.empty_like(wanted)
    for k, target in enumerate(wanted):
        start = joints[k] = start + np.clip(target - start, -reach, reach)
    return joints


class PhaseCpgController:
    """
    Walks any robot with at least four legs, each driven by one amplitude-phase oscillator.

    The command's velocity, within the limits of speed and acceleration, is the twist of the base
    that the stance feet oppose; the amplitudes scale the steps between standing (0) and walking
    (1). A robot that is told not to move finishes its steps in place and stands still. What the
    legs cannot reach is met as closely as their joint limits allow. It runs open loop, from the
    command alone; set points are not looked at. New parameters settle at ``convergence_rate``.
    """

    Params: ClassVar[type[Parameters]] = PhaseCpgParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            'trot': MappingProxyType({'gait': 'trot'}),
            'walk': MappingProxyType(
                {
                    'gait': 'walk',
                    'frequency': 0.8,
                    'duty_factor': GAITS['walk'].duty_factor,
                    'sway': 0.06,
                }
            ),
        }
    )
    needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, robot: RobotModel, params: PhaseCpgParams) -> None:
        if len(robot.legs) < MIN_LEGS:
            raise ConfigurationError(
                f"controller 'phase_cpg' needs {MIN_LEGS} legs, robot '{robot.name}' has "
                f'{len(robot.legs)}'
            )
        self._names = tuple(name for leg in robot.legs for name in leg.joints)
        self._legs = [LegKinematics(robot, leg.name) for leg in robot.legs]
        stance = [
            [robot.nominal_stance.get(name, 0.0) for name in leg.joints] for leg in robot.legs
        ]
        self._stance = np.concatenate(stance)
        self._feet = np.array(
            [leg.forward(joints)[0] for leg, joints in zip(self._legs, stance, strict=True)]
        )
        self._outward = np.where(self._feet[:, 1] < 0.0, -1.0, 1.0)
        columns = [robot.joint_index[name] for name in self._names]
        self._fastest = robot.velocity_limit[columns]
        self._leg_names = [leg.name for leg in robot.legs]
        self.set_params(params)
        self.reset(0)

    @property
    def params(self) -> PhaseCpgParams:
        """The parameters in force."""
        return self._params

    def set_params(self, params: PhaseCpgParams) -> None:
        """Replace the parameters; the walk settles into them."""
        self._params = params
        self._lags = leg_lags(gait(params.gait), self._feet)
        self._coupling = coupling_to_lags(self._lags, params.convergence_rate)
        self._limits = np.array([params.max_forward, params.max_sideways, params.max_yaw_rate])

    def reset(self, seed: int) -> None:
        """Stand in the nominal stance; nothing here is random, whatever the seed."""
        self._twist = np.zeros(3)
        self._shape = self._wanted_shape() * _AT_START
        self._joints = self._stance
        for leg in self._legs:
            leg.reset()
        self._stand()

    def _stand(self) -> None:
        self._oscillators = OscillatorState.at_rest(locked_phases(self._lags))
        self._walking = False

    def _wanted_shape(self) -> FloatArray:
        return np.array([getattr(self._params, name) for name in _SHAPE])

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint positions at the end of each sub-sample and the rates to them."""
        samples = self._params.sub_samples
        share = np.arange(1.0, samples + 1.0)[:, None] / samples
        last_twist, last_shape, last_joints = self._twist, self._shape, self._joints
        self._twist = self._steered(dt, command.velocity)
        settled = -math.expm1(-dt * self._params.convergence_rate)
        self._shape = last_shape + settled * (self._wanted_shape() - last_shape)
        feet = self._foot_targets(
            last_twist + share * (self._twist - last_twist),
            last_shape + share * (self._shape - last_shape),
            dt / samples,
        )
        joints = np.concatenate(
            [leg.follow(feet[:, i]) for i, leg in enumerate(self._legs)], axis=1
        )
        reach = self._fastest * (dt / samples)
        moves = np.diff(joints, axis=0, prepend=last_joints[None])
        if np.any(np.abs(moves) > reach):
            # The nearest point in reach jumped: the joints follow no faster than they can.
            joints = _followed(last_joints, joints, reach)
            moves = np.diff(joints, axis=0, prepend=last_joints[None])
        self._joints = joints[-1]
        return JointTargets(names=self._names, position=joints, velocity=moves * (samples / dt))

    def _steered(self, dt: float, velocity: tuple[float, float, float]) -> FloatArray:
        """Return the twist that follows the command, bounded in size and in rate of change."""
        change = np.clip(velocity, -self._limits, self._limits) - self._twist
        speed, allowed = math.hypot(change[0], change[1]), self._params.acceleration * dt
        if speed > allowed:
            change[:2] *= allowed / speed
        allowed = self._params.yaw_acceleration * dt
        change[2] = min(max(change[2], -allowed), allowed)
        return self._twist + change

    def _foot_targets(self, twists: FloatArray, shapes: FloatArray, dt: float) -> FloatArray:
        """Return the feet in the base frame after each of K sub-samples, (K, legs, 3) [m]."""
        frequency, duty_factor, stride_height, height, shift, width, sway = shapes.T[:, :, None]
        feet = np.repeat(self._feet[None], len(shapes), axis=0)
        feet[..., 0] -= shift
        feet[..., 1] += width * self._outward
        feet[..., 2] -= height
        moving = bool(np.any(self._twist))
        self._walking = self._walking or moving
        if not self._walking:
            return feet
        phases, amplitudes = self._oscillations(shapes[-1, 0], moving, len(shapes), dt)
        path = foot_positions(phases, feet, twists[:, None], frequency, duty_factor, stride_height)
        # Highest where a leg is amidst its swing; legs that swing on both sides cancel.
        lifted = np.cos(phases - math.pi * (1.0 - duty_factor))
        path[..., 1] += sway * np.mean(self._outward * lifted, axis=1, keepdims=True)
        targets: FloatArray = feet + amplitudes[..., None] * (path - feet)
        return targets

    def _oscillations(
        self, frequency: float, moving: bool, samples: int, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Advance the oscillators by some sub-samples; return (K, legs) phases and amplitudes."""
        n = len(self._legs)
        drive = np.full(n, frequency)
        target = np.full(n, float(moving))
        # The amplitude's double time constant is 2 / gain.
        gain = np.full(n, 2.0 * self._params.convergence_rate)
        phases, amplitudes = np.empty((samples, n)), np.empty((samples, n))
        for k in range(samples):
            self._oscillators = advance(
                self._oscillators,
                dt,
                frequency=drive,
                target_amplitude=target,
                amplitude_gain=gain,
                coupling=self._coupling,
            )
            phases[k], amplitudes[k] = self._oscillators.phase, self._oscillators.amplitude
        if not moving and np.all(amplitudes[-1] < _AT_REST):
            self._stand()
        return phases, amplitudes

    def state(self) -> Mapping[str, float]:
        """
        Return where the gait is.

        ``phase`` [rad] of the first leg, ``phase.<leg>`` [rad] in [0, 2 pi) from lift-off,
        ``stance.<leg>`` 1 for a foot meant to be down, and ``amplitude`` from standing (0) to
        walking (1).
        """
        phases = np.mod(self._oscillators.phase, 2.0 * math.pi)
        down = in_stance(phases, self._shape[1]) | (not self._walking)
        values = {
            'phase': float(phases[0]),
            'amplitude': float(self._oscillators.amplitude.mean()),
        }
        for name, phase, stance in zip(self._leg_names, phases, down, strict=True):
            values[f'phase.{name}'] = float(phase)
            values[f'stance.{name}'] = float(stance)
        return values
