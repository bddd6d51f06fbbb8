# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scene of a trial: everything outside the controller that its result depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from types import MappingProxyType
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import added_field
from gait_core.trial.seeding import MAX_SEED, check_seed

MAX_STEPS_PER_TICK = 100_000
"""Largest number of physics steps in a control period: a mistyped step would run for hours."""

_MAX_FACTOR = 1e6
# Greatest gravity [m/s^2], push [N] and noise [unit of the reading]: beyond it computing fails.
_MAX_SIZE = 1e9
# Longest delay [control periods]: each delayed observation is held in memory.
_MAX_DELAY = 10_000

EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})


def _check_finite(owner: str, /, **values: float) -> None:
    for name, value in values.items():
        if not math.isfinite(value):
            raise ConfigurationError(f'{owner}.{name} is {value}, expected a finite number')


def _check_size(name: str, value: float, unit: str, largest: float = _MAX_SIZE) -> None:
    if abs(value) > largest:
        raise ConfigurationError(
            f'{name} is {value:g}{unit and " "}{unit}, outside [{-largest:g}, {largest:g}]; '
            f'nearest valid: {math.copysign(largest, value):g}'
        )


@dataclass(frozen=True, kw_only=True)
class TerrainSpec:
    """A registered terrain, its parameters by name and the seed of its random surface."""

    name: str = 'flat'
    parameters: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the seed."""
        check_seed(self.seed)


@dataclass(frozen=True, kw_only=True)
class InitialState:
    """
    Start of the robot; its height follows from the terrain under its soles.

    ``x``, ``y`` [m], ``roll``, ``pitch``, ``yaw`` [rad] of the base, ``clearance`` [m] of the
    lowest sole above the terrain, ``joint_positions`` by name [rad or m] over the nominal stance.
    """

    x: float = 0.0
    y: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    clearance: float = 0.001
    joint_positions: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)

    def __post_init__(self) -> None:
        """Check that every number is finite and that no foot starts inside the ground."""
        _check_finite(
            'initial',
            x=self.x,
            y=self.y,
            roll=self.roll,
            pitch=self.pitch,
            yaw=self.yaw,
            clearance=self.clearance,
        )
        _check_finite('initial.joint_positions', **self.joint_positions)
        for name, value in (*vars(self).items(), *self.joint_positions.items()):
            if name != 'joint_positions':
                _check_size(f'initial.{name}', value, '(m or rad)', _MAX_FACTOR)
        if self.clearance < 0.0:
            raise ConfigurationError(
                f'initial.clearance is {self.clearance} m, it must not be negative; '
                'nearest valid: 0'
            )


@dataclass(frozen=True, kw_only=True)
class Push:
    """A constant force [N], in ``odom``, at a link's centre of mass over a time window [s]."""

    start: float
    duration: float
    force: tuple[float, float, float]
    link: str = ''
    """Empty: the root link."""

    def __post_init__(self) -> None:
        """Check that every number is finite and the window not empty."""
        _check_finite(
            'push',
            start=self.start,
            duration=self.duration,
            fx=self.force[0],
            fy=self.force[1],
            fz=self.force[2],
        )
        for axis, force in zip('xyz', self.force, strict=True):
            _check_size(f'push.f{axis}', force, 'N')
        for name in ('start', 'duration'):
            _check_size(f'push.{name}', getattr(self, name), 's')
        if self.duration <= 0.0:
            raise ConfigurationError(f'push.duration is {self.duration} s, it must be positive')


@dataclass(frozen=True, kw_only=True)
class SensorModel:
    """
    Noise and delay between the true state and the observation of the controller.

    Standard deviations of white noise in the unit of each reading; ``delay_ticks`` whole control
    periods. The recorded and hashed states stay the true ones.
    """

    joint_position_noise: float = 0.0
    joint_velocity_noise: float = 0.0
    orientation_noise: float = 0.0
    angular_velocity_noise: float = 0.0
    acceleration_noise: float = 0.0
    delay_ticks: int = 0

    @property
    def imu_variances(self) -> tuple[float, float, float]:
        """Variance of each axis of an IMU: orientation, angular velocity and acceleration."""
        return (
            self.orientation_noise**2,
            self.angular_velocity_noise**2,
            self.acceleration_noise**2,
        )

    def __post_init__(self) -> None:
        """Refuse negative values, and noise beyond any reading."""
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ConfigurationError(
                    f'sensors.{name} is {value}, expected a finite number that is not negative; '
                    'nearest valid: 0'
                )
            if name == 'delay_ticks':
                _check_size(f'sensors.{name}', value, 'control periods', _MAX_DELAY)
            else:
                _check_size(f'sensors.{name}', value, '(standard deviation)')


@dataclass(frozen=True, kw_only=True)
class Scene:
    """
    Robot, ground, physics settings, initial state and disturbances.

    Attributes
    ----------
    robot : str
        Name or robot folder.
    draw : int
        Seed of the body of a drawn robot (``model.py``); other robots ignore it.
    engine : str
        Registered engine.
    engine_options : mapping of str to float
        Engine-specific settings by name, e.g. ``solver_iterations``.
    terrain : TerrainSpec
    friction, restitution : float
        Coulomb coefficient and restitution of every contact with the ground.
    contact_law : str
        ``engine``, or a law that the engine registers by name.
    gravity : (3,) tuple [m/s^2]
    physics_step, control_period : float [s]
        The second is a whole multiple of the first.
    initial : InitialState
    pushes : tuple of Push
    sensors : SensorModel
    length_scale : float
        Length ratio of the simulated to the real robot (similarity scaling); 1 is unscaled.
    fixed_base : bool
        Whether the root link is fixed. A fitness is refused then.
    mass_factor : float
        Factor of every mass and inertia of the robot; 1: as described.

    """

    robot: str
    draw: int = 0
    engine: str = 'bullet'
    engine_options: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    terrain: TerrainSpec = field(default_factory=TerrainSpec)
    friction: float = 0.9
    restitution: float = 0.0
    contact_law: str = 'engine'
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    physics_step: float = 0.001
    control_period: float = 0.02
    initial: InitialState = field(default_factory=InitialState)
    pushes: tuple[Push, ...] = ()
    sensors: SensorModel = field(default_factory=SensorModel)
    length_scale: float = 1.0
    fixed_base: bool = False
    mass_factor: float = added_field(1.0)

    def __post_init__(self) -> None:
        """Check ranges and that the control period is a whole multiple of the physics step."""
        _check_finite(
            'scene',
            friction=self.friction,
            restitution=self.restitution,
            gx=self.gravity[0],
            gy=self.gravity[1],
            gz=self.gravity[2],
            length_scale=self.length_scale,
            mass_factor=self.mass_factor,
            **self.engine_options,
        )
        for axis, value in zip('xyz', self.gravity, strict=True):
            _check_size(f'scene.gravity along {axis}', value, 'm/s^2')
        for name in ('friction', 'restitution'):
            if getattr(self, name) < 0.0:
                raise ConfigurationError(
                    f'scene.{name} is {getattr(self, name)}, it must not be negative; '
                    'nearest valid: 0'
                )
        _check_size('scene.friction', self.friction, '', _MAX_FACTOR)
        if self.restitution > 1.0:
            raise ConfigurationError(
                f'scene.restitution is {self.restitution}, outside [0, 1]: a bounce gains no speed'
                '; nearest valid: 1'
            )
        if not 0 <= self.draw <= MAX_SEED:
            raise ConfigurationError(f'scene.draw is {self.draw}, expected 0 to {MAX_SEED}')
        for name in ('length_scale', 'mass_factor'):
            value = getattr(self, name)
            if value <= 0.0:
                raise ConfigurationError(f'scene.{name} is {value}, it must be positive')
            if not 1.0 / _MAX_FACTOR <= value <= _MAX_FACTOR:
                nearest = _MAX_FACTOR if value > 1.0 else 1.0 / _MAX_FACTOR
                raise ConfigurationError(
                    f'scene.{name} is {value:g}, outside '
                    f'[{1.0 / _MAX_FACTOR:g}, {_MAX_FACTOR:g}]; nearest valid: {nearest:g}'
                )
        steps_per_tick(self.physics_step, self.control_period)

    @property
    def steps_per_tick(self) -> int:
        """Physics steps in one control period."""
        return steps_per_tick(self.physics_step, self.control_period)


def steps_per_tick(physics_step: float, control_period: float) -> int:
    """
    Return the number of physics steps in a control period.

    Raises
    ------
    ConfigurationError
        If the ratio is not a whole number; the message names the nearest valid periods.

    """
    for name, value in (('physics_step', physics_step), ('control_period', control_period)):
        if not (math.isfinite(value) and value > 0.0):
            raise ConfigurationError(f'scene.{name} is {value} s, it must be positive')
    ratio = control_period / physics_step
    if ratio > MAX_STEPS_PER_TICK:
        raise ConfigurationError(
            f'scene.physics_step {physics_step:g} s makes {ratio:.3g} steps of a control period, '
            f'more than {MAX_STEPS_PER_TICK}; nearest valid: '
            f'{control_period / MAX_STEPS_PER_TICK:g} s'
        )
    steps = round(ratio)
    if steps >= 1 and math.isclose(ratio, steps, rel_tol=1e-9):
        return steps
    periods = [n * physics_step for n in (math.floor(ratio), math.ceil(ratio)) if n >= 1]
    finer = [control_period / n for n in (math.ceil(ratio), math.floor(ratio)) if n >= 1]
    raise ConfigurationError(
        f'scene.control_period {control_period:g} s is not a whole multiple of '
        f'scene.physics_step {physics_step:.6g} s; nearest valid control periods: '
        f'{", ".join(f"{p:.6g}" for p in periods)} s; nearest valid physics steps: '
        f'{", ".join(f"1/{1.0 / p:.6g}" for p in finer)} s'
    )
