# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Random quantities of a scene, drawn from the seed of each trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import math
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.trial.scene import Push, Scene
from gait_core.trial.seeding import derived_seed

Ranges = Mapping[str, tuple[float, float]]
"""Lowest and highest value by quantity; drawn uniformly, whole numbers with both ends."""

_SCENE_STREAM = 3
_TERRAIN, _INITIAL, _SENSORS, _PUSH = 'terrain.', 'initial.', 'sensors.', 'push.'
_INITIAL_TEXTS = {
    'x': 'Initial x of the base [m].',
    'y': 'Initial y of the base [m].',
    'roll': 'Initial roll of the base [rad].',
    'pitch': 'Initial pitch of the base [rad].',
    'yaw': 'Initial yaw of the base [rad].',
    'clearance': 'Initial height of the lowest sole above the terrain [m].',
}
_SENSOR_TEXTS = {
    'joint_position_noise': 'Standard deviation of measured joint positions [rad or m].',
    'joint_velocity_noise': 'Standard deviation of measured joint velocities [rad/s or m/s].',
    'orientation_noise': 'Standard deviation of the orientation by the IMU [rad].',
    'angular_velocity_noise': 'Standard deviation of the angular velocity by the IMU [rad/s].',
    'acceleration_noise': 'Standard deviation of the acceleration by the IMU [m/s^2].',
    'delay_ticks': 'Delay of all observations [control periods].',
}
_PUSH_QUANTITIES = ('push.force', 'push.start', 'push.duration')


@dataclass(frozen=True, kw_only=True)
class RandomisedQuantity:
    """Meaning of a name, and whether its values are whole numbers."""

    text: str
    is_integer: bool = False


def _quantities() -> dict[str, RandomisedQuantity]:
    """Return the quantities by name."""
    named = {
        'draw': RandomisedQuantity(text='Seed of the body of a drawn robot.', is_integer=True),
        'mass': RandomisedQuantity(text='Factor of every mass and inertia [-].'),
        'friction': RandomisedQuantity(text='Coulomb coefficient of the ground [-].'),
        'restitution': RandomisedQuantity(text='Coefficient of restitution of the ground [-].'),
        'terrain.seed': RandomisedQuantity(
            text='Seed of the surface of the terrain.', is_integer=True
        ),
    }
    for name, text in _INITIAL_TEXTS.items():
        named[_INITIAL + name] = RandomisedQuantity(text=text)
    for name, text in _SENSOR_TEXTS.items():
        named[_SENSORS + name] = RandomisedQuantity(text=text, is_integer=name == 'delay_ticks')
    named['push.force'] = RandomisedQuantity(
        text='Force of an added push at the root link, in a random horizontal direction [N].'
    )
    named['push.start'] = RandomisedQuantity(text='Start of the added push [s].')
    named['push.duration'] = RandomisedQuantity(text='Duration of the added push [s].')
    return named


RANDOMISED_QUANTITIES: Mapping[str, RandomisedQuantity] = _quantities()
"""Quantities by name; ``terrain.<parameter>`` of the scene's terrain is valid too."""


def check_ranges(scene: Scene, ranges: Ranges) -> None:
    """
    Check the ranges of quantities of a scene, at both ends.

    Raises
    ------
    ConfigurationError
        For an unknown quantity (with the nearest one), a range that is empty or not finite, a
        push with some of its quantities missing, or a value that the scene refuses.

    """
    for name, (low, high) in ranges.items():
        if name not in RANDOMISED_QUANTITIES and not name.startswith(_TERRAIN):
            raise ConfigurationError(
                f'randomise: {unknown_name_error("quantity", name, RANDOMISED_QUANTITIES)}'
            )
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ConfigurationError(
                f'randomise.{name} is [{low:g}, {high:g}], expected finite numbers in increasing '
                'order; nearest valid: '
                f'[{min(low, high):g}, {max(low, high):g}]'
            )
        if _is_integer(name) and not (float(low).is_integer() and float(high).is_integer()):
            raise ConfigurationError(
                f'randomise.{name} is [{low:g}, {high:g}], expected whole numbers; nearest valid: '
                f'[{round(low)}, {round(high)}]'
            )
    pushed = [name for name in _PUSH_QUANTITIES if name in ranges]
    if pushed and len(pushed) < len(_PUSH_QUANTITIES):
        missing = next(name for name in _PUSH_QUANTITIES if name not in ranges)
        raise ConfigurationError(f'randomise has {pushed[0]} but no {missing}')
    for end in range(2):
        try:
            _replace_values(
                scene, {name: _as_number(name, pair[end]) for name, pair in ranges.items()}, 0.0
            )
        except ConfigurationError as error:
            raise ConfigurationError(f'randomise: {error}') from error


def randomise_scene(scene: Scene, ranges: Ranges, seed: int) -> Scene:
    """
    Return the scene of a trial with its random quantities drawn.

    Each quantity has its own random stream, seeded with its name: adding one leaves the values of
    the others.

    Parameters
    ----------
    scene : Scene
    ranges : mapping of str to (float, float)
    seed : int
        Seed of the trial.

    """
    if not ranges:
        return scene
    values = {name: _draw_value(name, pair, seed) for name, pair in ranges.items()}
    return _replace_values(
        scene, values, float(_generator('push.direction', seed).uniform(0.0, math.tau))
    )


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng(derived_seed(seed, _SCENE_STREAM, *name.encode()))


def _is_integer(name: str) -> bool:
    return name in RANDOMISED_QUANTITIES and RANDOMISED_QUANTITIES[name].is_integer


def _as_number(name: str, value: float) -> float | int:
    return int(value) if _is_integer(name) else float(value)


def _draw_value(name: str, pair: tuple[float, float], seed: int) -> float | int:
    low, high = pair
    rng = _generator(name, seed)
    if _is_integer(name):
        return int(rng.integers(int(low), int(high), endpoint=True))
    return float(rng.uniform(low, high))


def _replace_values(scene: Scene, values: Mapping[str, float | int], direction: float) -> Scene:
    """Return a scene with values by name; a push among them acts towards a direction [rad]."""
    changes: dict[str, Any] = {
        name: values[name] for name in ('draw', 'friction', 'restitution') if name in values
    }
    if 'mass' in values:
        changes['mass_factor'] = values['mass']
    for part, prefix in (('initial', _INITIAL), ('sensors', _SENSORS)):
        fields_of_part = _values_under(values, prefix)
        if fields_of_part:
            changes[part] = replace(getattr(scene, part), **fields_of_part)
    ground = _values_under(values, _TERRAIN)
    if ground:
        seed = ground.pop('seed', scene.terrain.seed)
        parameters = {**scene.terrain.parameters, **ground}
        changes['terrain'] = replace(scene.terrain, parameters=parameters, seed=seed)
    if 'push.force' in values:
        size = values['push.force']
        force = (size * math.cos(direction), size * math.sin(direction), 0.0)
        push = Push(start=values['push.start'], duration=values['push.duration'], force=force)
        changes['pushes'] = (*scene.pushes, push)
    return replace(scene, **changes)


def _values_under(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name[len(prefix) :]: value for name, value in values.items() if name.startswith(prefix)
    }
