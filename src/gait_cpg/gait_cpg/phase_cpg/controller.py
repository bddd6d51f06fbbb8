"""The controller that walks on phase oscillators: one per leg, feet placed by leg kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from gait_core.parameters.declaration import Parameters, bounded, flag, share, text, whole
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_cpg.gaits import GAITS, OWN, gait, leg_lags, read_gait
from gait_cpg.oscillators import coupling_to_lags, locked_phases
from gait_cpg.phase_cpg.ground_slope import NEEDS as SLOPE_NEEDS
from gait_cpg.phase_cpg.ground_slope import GroundSlope, follow_ground, leg_room, within_reach
from gait_cpg.phase_cpg.kernel import WalkShape, WalkState, advance_feet, follow
from gait_cpg.phase_cpg.posture import SET_POINTS, Posture
from gait_cpg.phase_cpg.skid import skid_share
from gait_cpg.phase_cpg.swing import footholds, in_stance
from gait_cpg.reflexes.feet import FootReflexes, FootReflexParams
from gait_cpg.steering import Steering

MIN_LEGS = 4
Twist = tuple[float, float, float]
NOWHERE: Twist = (0.0, 0.0, 0.0)
_LARGEST = 1e6
"""Component of a velocity [m/s, rad/s] beyond which more makes no difference: all stays finite."""
_AT_REST = 1e-4
"""Amplitude below which a robot that was told to stop stands: a lift of micrometres."""


@dataclass(frozen=True, kw_only=True)
class PhaseCpgParams(FootReflexParams):
    """Parameters of the phase-oscillator walk."""

    gait: str = text('trot', choices=(*GAITS, OWN), doc='Gait: which legs swing together.')
    gait_file: str = text(
        '', doc='YAML file of the gait `own`: duty factor and phase lag of each leg.'
    )
    frequency: float = bounded(2.5, low=0.2, high=5.0, unit='Hz', doc='Gait cycles per second.')
    duty_factor: float = bounded(
        GAITS['trot'].duty_factor,
        low=0.3,
        high=0.95,
        unit='-',
        doc='Share of a stride that is stance.',
    )
    stride_height: float = bounded(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot above the ground at mid-swing.'
    )
    body_height: float = bounded(
        0.0,
        low=-0.2,
        high=0.2,
        unit='m',
        doc='Height of the body above that of its nominal stance.',
    )
    body_shift: float = bounded(
        0.0,
        low=-0.2,
        high=0.2,
        unit='m',
        doc='Forward shift of the body over the feet of the nominal stance.',
    )
    stance_width: float = bounded(
        0.0,
        low=-0.1,
        high=0.2,
        unit='m',
        doc='Outward shift of each foot from the nominal stance.',
    )
    sway: float = bounded(
        0.0,
        low=0.0,
        high=0.2,
        unit='m',
        doc='Sideways shift of the body away from swinging legs, if all legs of one side swing at '
        'once; less if they alternate.',
    )
    max_forward: float = bounded(
        0.6, low=0.0, high=3.0, unit='m/s', doc='Largest speed forward and backward.'
    )
    max_sideways: float = bounded(
        0.3, low=0.0, high=2.0, unit='m/s', doc='Largest speed to either side.'
    )
    max_yaw_rate: float = bounded(1.0, low=0.0, high=5.0, unit='rad/s', doc='Largest yaw rate.')
    acceleration: float = bounded(
        0.5, low=0.01, high=10.0, unit='m/s^2', doc='Largest change of the velocity per second.'
    )
    yaw_acceleration: float = bounded(
        1.5, low=0.01, high=30.0, unit='rad/s^2', doc='Largest change of the yaw rate per second.'
    )
    sub_samples: int = whole(
        5,
        low=1,
        high=20,
        doc='Targets per control period; must divide its number of physics steps.',
    )
    convergence_rate: float = bounded(
        6.0,
        low=0.5,
        high=20.0,
        unit='1/s',
        doc='Rate at which phase lags, step length and changed parameters converge.',
    )
    heading_gain: float = bounded(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Yaw rate per heading error; 0: the heading is not held.',
    )
    speed_gain: float = bounded(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Rate at which a speed error is corrected; 0: the speed is not held.',
    )
    level: float = share(
        0.0,
        doc='Share of the slope of the ground that the legs compensate; 1: the body stays level.',
    )
    odometry: bool = flag(
        False,
        doc='Report leg odometry in the state `odom`: the sum of the motion of the stance feet.',
    )

    def __post_init__(self) -> None:
        """Check every field, and read the file of a gait of its own."""
        super().__post_init__()
        if self.gait == OWN:
            read_gait(self.gait_file)


_UNLEVELLED = 1e-3
"""Share of a slope that is let go at once where levelling was switched off: millimetres."""
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
_PLACE = 3
"""Where they begin beside the twist."""
_AT_START = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
"""Their share that holds from the start; what moves standing feet begins at nothing."""


_MORE_PRESETS: Mapping[str, Mapping[str, Any]] = {
    'pace': {'gait': 'pace', 'duty_factor': GAITS['pace'].duty_factor, 'frequency': 3.0},
    'bound': {'gait': 'bound', 'duty_factor': GAITS['bound'].duty_factor, 'frequency': 3.5},
    'crawl': {
        'gait': 'crawl',
        'duty_factor': GAITS['crawl'].duty_factor,
        'frequency': 0.5,
        'sway': 0.06,
    },
    'tripod': {'gait': 'tripod', 'duty_factor': GAITS['tripod'].duty_factor, 'frequency': 1.5},
    'ripple': {'gait': 'ripple', 'duty_factor': GAITS['ripple'].duty_factor, 'frequency': 1.2},
    'wave': {'gait': 'wave', 'duty_factor': GAITS['wave'].duty_factor, 'frequency': 0.6},
}


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
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'trot': {'gait': 'trot'},
        'walk': {
            'gait': 'walk',
            'frequency': 0.8,
            'duty_factor': GAITS['walk'].duty_factor,
            'sway': 0.06,
        },
        **_MORE_PRESETS,
    }

    set_points: ClassVar[tuple[str, ...]] = SET_POINTS

    def __init__(self, robot: RobotModel, params: PhaseCpgParams) -> None:
        if len(robot.legs) < MIN_LEGS:
            raise ConfigurationError(
                f"controller 'phase_cpg' needs {MIN_LEGS} legs, robot '{robot.name}' has "
                f'{len(robot.legs)}'
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
        self._feet = np.column_stack((feet, outward))
        # Feet that cannot step aside slide in a turn: it takes a larger difference of strides.
        self._stretch = 1.0 / skid_share(self._paths.legs, stance)
        columns = [robot.joint_index[name] for name in self._names]
        self._fastest = robot.velocity_limit[columns]
        self._reflexes = FootReflexes(robot, self._leg_names)
        self._odometry = LegOdometry(robot, self._leg_names)
        self._posture = Posture(robot, self._feet[:, :3])
        self._robot, self._slope = robot, GroundSlope(robot, self._leg_names)
        self._steering = Steering()
        self.set_params(params)
        self.reset(0)
        # Kernels are compiled on their first call on a machine, for seconds: not in a walk.
        self._advance(1.0, (params.max_forward or 1.0, 0.0, 0.0), {})
        self.reset(0)

    @property
    def needs(self) -> frozenset[str]:
        """Nothing, but where a reflex, levelling or the odometry is on."""
        needed = self._reflexes.needs
        if self._params.level:
            needed |= SLOPE_NEEDS
        return needed | {'joint_positions'} if self._params.odometry else needed

    @property
    def velocity_bounds(self) -> VelocityLimits:
        """Limits of the velocities that are followed."""
        params = self._params
        return symmetric_limits(params.max_forward, params.max_sideways, params.max_yaw_rate)

    def set_params(self, params: PhaseCpgParams) -> None:
        """Replace the parameters; the walk settles into them."""
        self._params = params
        if params.level:
            self._room = leg_room(self._robot)
        self._reflexes.set_params(params)
        if params.gait == OWN:
            own = read_gait(params.gait_file)
            self._lags, duty_factors = own.of(self._leg_names)
            duty_factor = float(duty_factors[0])
            self._wanted_extra = duty_factors - duty_factor
        else:
            self._lags = leg_lags(gait(params.gait), self._feet[:, :3])
            duty_factor = params.duty_factor
            self._wanted_extra = np.zeros(len(self._lags))
        self._start = locked_phases(self._lags)
        self._coupling = coupling_to_lags(self._lags, params.convergence_rate)
        # The amplitude's double time constant is 2 / gain.
        self._gain = np.full(len(self._lags), 2.0 * params.convergence_rate)
        turning = params.max_yaw_rate * self._stretch
        self._limits = (params.max_forward, params.max_sideways, turning)
        self._wanted = np.array([getattr(params, name) for name in _SHAPE])
        self._wanted[_SHAPE.index('duty_factor')] = duty_factor
        self._gait = WalkShape(
            self._feet,
            self._gain,
            self._coupling.cosine,
            self._coupling.sine,
            self._wanted,
            self._wanted_extra,
        )

    def reset(self, seed: int) -> None:
        """Stand in the nominal stance; nothing here is random, whatever the seed."""
        self._now = np.concatenate((np.zeros(_PLACE), self._wanted * _AT_START))
        self._extra = self._wanted_extra.copy()
        self._joints = self._stance.copy()
        self._paths.reset()
        self._reflexes.reset()
        self._odometry.reset()
        self._posture.reset()
        self._slope.reset()
        self._level, self._rise = self._params.level, np.zeros(2)
        self._steering.reset()
        self._stand()

    def _stand(self) -> None:
        self._oscillators = np.zeros((3, len(self._lags)))
        self._oscillators[0] = self._start
        self._walking = False

    @property
    def _levelling(self) -> bool:
        """True if the ground has a say in where the feet are."""
        return self._params.level > 0.0 or self._level > _UNLEVELLED

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint positions at the end of each sub-sample and the rates to them."""
        if self._params.odometry:
            self._odometry.update(self._standing(), observation)
        if self._levelling:
            self._slope.update(dt, self._standing(), observation)
        x, y, yaw = (min(max(speed, -_LARGEST), _LARGEST) for speed in command.velocity)
        velocity = self._steering.corrected(
            dt,
            (x, y, yaw),
            observation,
            1.0 / float(self._now[_PLACE]),
            self._params.heading_gain,
            self._params.speed_gain,
        )
        set_points = command.set_points
        if self._posture.sitting or set_points.get('sit', 0.0) > 0.0:
            velocity = NOWHERE
        joints, rates = self._advance(dt, self._steered(dt, velocity), set_points)
        targets = JointTargets(names=self._names, position=joints, velocity=rates)
        if self._reflexes.active:
            targets = self._reflexes.apply(dt, targets, self._standing(), observation)
        return targets

    def _advance(
        self, dt: float, twist: Twist, set_points: Mapping[str, float]
    ) -> tuple[FloatArray, FloatArray]:
        """Return positions and rates, (K, n), of a control period at whose end a twist holds."""
        samples = self._params.sub_samples
        period, settled = dt / samples, -math.expm1(-dt * self._params.convergence_rate)
        state = WalkState(self._oscillators, self._now, self._extra)
        feet = np.empty((len(self._feet), samples, 3))
        moving = twist != NOWHERE
        self._walking = self._walking or moving
        advance_feet(
            state, self._gait, np.array(twist), period if self._walking else 0.0, settled, feet
        )
        # A robot that is told not to move walks until its feet hardly leave the ground.
        if self._walking and not moving and self._oscillators[1].max() < _AT_REST:
            self._stand()
        if set_points or not self._posture.upright:
            feet = self._posture.place(dt, set_points, feet)
        if self._levelling:
            self._level += settled * (self._params.level - self._level)
            rise = within_reach(self._level * self._slope.ahead, self._feet[:, :3], self._room)
            feet = follow_ground(feet, self._rise, rise)
            self._rise = rise
        joints = self._paths.follow(feet)
        rates = np.empty_like(joints)
        follow(self._joints, self._fastest, period, joints, rates)
        for array in (joints, rates):
            array.flags.writeable = False
        return joints, rates

    def _steered(self, dt: float, velocity: Twist) -> Twist:
        """Return the twist that follows a velocity, bounded in size and in rate of change."""
        now = self._now[:_PLACE].tolist()
        wanted = (velocity[0], velocity[1], velocity[2] * self._stretch)
        x, y, yaw = (
            min(max(value, -limit), limit) - is_now
            for value, limit, is_now in zip(wanted, self._limits, now, strict=True)
        )
        speed, allowed = math.hypot(x, y), self._params.acceleration * dt
        if speed > allowed:
            x, y = x * (allowed / speed), y * (allowed / speed)
        allowed = self._params.yaw_acceleration * self._stretch * dt
        return now[0] + x, now[1] + y, now[2] + min(max(yaw, -allowed), allowed)

    def state(self) -> Mapping[str, float]:
        """
        Return where the gait is.

        ``phase`` [rad] of the first leg, ``phase.<leg>`` [rad] in [0, 2 pi) from lift-off,
        ``stance.<leg>`` 1 for a foot meant to be down, ``amplitude`` from standing (0) to walking
        (1), ``odom.x``, ``odom.y`` [m] and ``odom.yaw`` [rad] where odometry is on, and
        ``reflex.<name>``: how often each has acted.
        """
        phases = np.mod(self._oscillators[0], 2.0 * math.pi)
        down = self._standing()
        values = {
            'phase': float(phases[0]),
            'amplitude': float(self._oscillators[1].mean()),
        }
        for name, phase, stance in zip(self._leg_names, phases, down, strict=True):
            values[f'phase.{name}'] = float(phase)
            values[f'stance.{name}'] = float(stance)
        if self._params.odometry:
            places = ('odom.x', 'odom.y', 'odom.yaw')
            values.update(zip(places, self._odometry.pose.tolist(), strict=True))
        for name, count in self._reflexes.counts.items():
            values[f'reflex.{name}'] = float(count)
        return values

    def landings(self) -> Mapping[str, FloatArray]:
        """Return where feet in the air will come down, (3,) [m], by leg, in the base frame."""
        if not self._walking:
            return {}
        points = footholds(self._oscillators, self._feet, self._now, self._extra)
        points[:, 2] += points[:, :2] @ self._rise
        down = self._standing()
        return {
            name: point
            for name, point, stands in zip(self._leg_names, points, down, strict=True)
            if not stands
        }

    def watch(self) -> None:
        """Keep from now on what the thresholds of reflexes are held against."""
        self._reflexes.watch()

    def thresholds(self, margin: float) -> dict[str, float]:
        """Return thresholds of reflexes a share beyond what was felt while watched, by name."""
        return self._reflexes.thresholds(margin)

    def _standing(self) -> BoolArray:
        """Return which feet are meant to be down."""
        phases = np.mod(self._oscillators[0], 2.0 * math.pi)
        down = in_stance(phases, float(self._now[_PLACE + 1]) + self._extra)
        return down if self._walking else np.ones_like(down)
