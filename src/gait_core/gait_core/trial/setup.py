# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scenes and trials from names, a robot's defaults and overrides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
import logging
import math
from typing import Any

from gait_core import registry
from gait_core.errors import ConfigurationError, NotInstalled, excerpt
from gait_core.files.access import MAX_DIGITS, RepeatedKey, parse_json
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import Coordinate, Location, read_value
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.scene import EMPTY_MAPPING, Scene, TerrainSpec
from gait_core.trial.spec import Command, TimedCommand, TrialSpec

DEFAULT_ENGINES = ('bullet', 'mujoco')
_SCENE = Location('scene')
# Deepest nesting of a setting; none has more than about six levels.
_MAX_DEPTH = 20
_FLAT_GROUPS = ('gait', 'parameters')
_log = logging.getLogger(__name__)


def parse_value(text: str) -> Any:
    """
    Return the number, truth value, list or text that a command line argument means.

    Examples
    --------
    >>> [parse_value(text) for text in ('1e-3', '.5', 'true', '1,2', '[1, trot]', 'trot')]
    [0.001, 0.5, True, [1, 2], [1, 'trot'], 'trot']

    """
    stripped = text.strip()
    if stripped.lower() in ('true', 'false'):
        return stripped.lower() == 'true'
    if len(stripped) > MAX_DIGITS and stripped.lstrip('+-').isdigit():
        raise ConfigurationError(
            f'a number of {len(stripped)} characters; at most {MAX_DIGITS} are read'
        )
    for read in (int, float):
        try:
            return read(stripped)
        except ValueError:
            continue
    try:
        return parse_json(stripped, 'value')
    except RepeatedKey:
        raise
    except ConfigurationError:
        # Text, or a list of bare words.
        pass
    if ',' in stripped:
        bare = stripped.removeprefix('[').removesuffix(']')
        return [parse_value(part) for part in bare.split(',')]
    return stripped


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Return ``name=value`` arguments as nested mappings, split at the dots of the names."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition('=')
        if not equals or not name.strip():
            raise ConfigurationError(f"'{text}' is not a setting: expected NAME=VALUE")
        read = parse_value(value)
        if read == {}:
            raise ConfigurationError(
                f"'{excerpt(text)}' changes nothing: expected NAME.KEY=VALUE to set a key of it"
            )
        pairs.append((name.strip(), read))
    return nest_settings(pairs)


def nest_settings(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """
    Return values by dotted name as nested mappings.

    Raises
    ------
    ConfigurationError
        If a name is set twice, or one below another, since one of the two would be lost.

    Examples
    --------
    Parameters of a gait stay flat: ``duty_factor.fl`` stands beside ``duty_factor``.

    >>> nest_settings([('scene.friction', 0.5), ('seed', 3), ('gait.lag.fl', 0.5)])
    {'scene': {'friction': 0.5}, 'seed': 3, 'gait': {'lag.fl': 0.5}}

    """
    settings: dict[str, Any] = {}
    pairs = list(pairs)
    _check_set_once(pairs)
    for name, value in pairs:
        *groups, last = name.split('.')
        if groups and groups[0] in _FLAT_GROUPS:
            groups, last = groups[:1], name.partition('.')[2]
        if len(groups) > _MAX_DEPTH:
            raise ConfigurationError(
                f"'{excerpt(name)}' has more than {_MAX_DEPTH} dots: no setting is nested so deep"
            )
        mapping = settings
        for group in groups:
            mapping = mapping.setdefault(group, {})
        mapping[last] = value
    return settings


def _check_set_once(pairs: Iterable[tuple[str, Any]]) -> None:
    """Raise ConfigurationError for a name that is set twice, or is below another that is set."""
    known: dict[tuple[str, ...], tuple[str, Any]] = {}
    for name, value in pairs:
        group, *keys = name.split('.')
        path = ('gait' if group in _FLAT_GROUPS else group, *keys)
        if path in known:
            both = f"'{known[path][0]}' and '{name}' set the same value"
            fault = f"'{name}' is set twice" if name == known[path][0] else both
            raise ConfigurationError(f'{fault}; leave one of them out')
        known[path] = (name, value)
    for path, (name, _) in known.items():
        for length in range(1, min(len(path), _MAX_DEPTH)):
            outer, value = known.get(path[:length], ('', None))
            # A parameter of all legs stands beside those of single legs, unless it names legs too.
            is_flat = path[0] == 'gait' and length > 1 and not isinstance(value, Mapping)
            if outer and not is_flat:
                raise ConfigurationError(
                    f"'{outer}' was set to a value, so '{name}' cannot be set"
                )


def merge_settings(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested mappings with the values of the second over those of the first."""
    result = dict(base)
    for key, value in overrides.items():
        known = result.get(key)
        are_mappings = isinstance(known, Mapping) and isinstance(value, Mapping)
        result[key] = merge_settings(known, value) if are_mappings else value  # type: ignore[arg-type]
    return result


def parse_terrain(text: str) -> dict[str, Any]:
    """
    Return the terrain of ``NAME[:key=value,...]`` as plain data; ``seed`` is its seed.

    Examples
    --------
    >>> parse_terrain('rough:range=0.1,seed=3')
    {'name': 'rough', 'parameters': {'range': 0.1}, 'seed': 3}

    """
    name, _, rest = text.partition(':')
    parameters: dict[str, Any] = {}
    for part in filter(None, rest.split(',')):
        key, equals, value = part.partition('=')
        if not equals:
            raise ConfigurationError(f"terrain '{text}': expected NAME:KEY=VALUE,...")
        if key.strip() in parameters:
            raise ConfigurationError(f"terrain '{text}': '{key.strip()}' is set twice")
        parameters[key.strip()] = parse_value(value)
    terrain: dict[str, Any] = {'name': name, 'parameters': parameters}
    if 'seed' in parameters:
        terrain['seed'] = parameters.pop('seed')
    return terrain


def parse_velocity(text: str) -> tuple[float, float, float]:
    """Return the velocity of ``VX[,VY[,WZ]]`` [m/s, m/s, rad/s]."""
    parts = text.split(',')
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or not all(math.isfinite(number) for number in numbers):
        raise ConfigurationError(
            f"command '{text}': expected VX[,VY[,WZ]] of finite numbers, e.g. 0.3,0,0.1"
        )
    velocity: tuple[float, float, float] = read_value(
        tuple[Coordinate, Coordinate, Coordinate], (*numbers, 0.0, 0.0, 0.0)[:3], 'command'
    )
    return velocity


def check_registered(kind: str, name: str) -> str:
    """Return the name if it is registered, without importing it; else ConfigurationError."""
    valid = registry.names(kind)
    if name not in valid:
        raise registry.unregistered_name_error(kind, name, valid)
    return name


@cache
def default_engine() -> str:
    """
    Return the default engine: the first usable one of ``DEFAULT_ENGINES``.

    A warning gives the reason if it is not the first of them.

    Raises
    ------
    ConfigurationError
        If none is usable; the message has the reasons.

    """
    reasons = []
    for name in DEFAULT_ENGINES:
        try:
            registry.engine(name)
        except ConfigurationError as error:
            reasons.append(str(error))
            continue
        if reasons:
            _log.warning("%s; '%s' takes its place", '; '.join(reasons), name)
        return name
    raise ConfigurationError('; '.join(reasons))


def make_scene(
    robot_name: str, overrides: Mapping[str, Any], location: Location = _SCENE
) -> Scene:
    """
    Return the robot's default scene with some of its fields replaced.

    Parameters
    ----------
    robot_name : str
        Name or folder.
    overrides : mapping
        Plain data of Scene fields, nested.
    location : Location
        Of the overrides.

    Raises
    ------
    ConfigurationError
        For an unknown robot, field, engine or terrain, with the nearest valid one.

    """
    if overrides.get('robot', robot_name) != robot_name:
        with (location / 'robot').locate_errors():
            raise ConfigurationError(
                f"scene.robot is '{overrides['robot']}', but the robot chosen beside the scene is "
                f"'{robot_name}'; leave scene.robot out"
            )
    robot = load_robot(robot_name, read_value(int, overrides.get('draw', 0), location / 'draw'))
    _check_default_names(robot)
    defaults = dict(robot.defaults.get('scene', {}))
    chosen = read_value(str, overrides.get('engine', ''), location / 'engine')
    engine = chosen or defaults.get('engine') or default_engine()
    if engine != defaults.get('engine', engine):
        defaults.pop('engine_options', None)  # They are options of the robot's default engine.
    options = dict(robot.defaults.get('engines', {})).get(engine, {})
    base = merge_settings({'engine': engine, 'engine_options': options}, defaults)
    if engine in robot.defaults.get('physics_steps', {}):
        base['physics_step'] = robot.defaults['physics_steps'][engine]
    if 'terrain' in overrides:
        # Parameters of one terrain mean nothing to another: only those of the chosen one are kept.
        with (location / 'terrain').locate_errors():
            base['terrain'] = _default_terrain(robot, overrides['terrain'])
    scene: Scene = read_value(
        Scene, {**merge_settings(base, overrides), 'robot': robot_name, 'engine': engine}, location
    )
    with (location / 'engine').locate_errors():
        check_registered('engines', scene.engine)
    with (location / 'engine_options').locate_errors():
        _check_engine_options(scene.engine, scene.engine_options)
    with (location / 'terrain').locate_errors():
        _check_terrain(scene.terrain)
    return scene


def scene_with_engine(scene: Scene, engine: str) -> Scene:
    """
    Return a scene on an engine.

    A scene that is on this engine already is returned as it is. Otherwise the options are the
    robot's defaults for the engine, since those of one engine mean nothing to another.
    """
    if engine == scene.engine:
        return scene
    foreign = ('robot', 'engine', 'engine_options')
    fields = {key: value for key, value in to_plain_data(scene).items() if key not in foreign}
    return make_scene(scene.robot, {**fields, 'engine': engine})


def check_defaults(robot: RobotModel) -> None:
    """Raise ConfigurationError for the first default of a robot that a trial would refuse."""
    _check_default_names(robot)
    checks: dict[str, Callable[[str, Any], None]] = {
        'terrains': lambda name, given: _check_terrain(TerrainSpec(name=name, parameters=given)),
        'engines': _check_engine_options,
    }
    for key, check in checks.items():
        for name, parameters in robot.defaults.get(key, {}).items():
            try:
                check(name, parameters)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"robot '{robot.name}': defaults.{key}: {error}"
                ) from error
    if robot.defaults.get('controller'):
        resolve_gait(robot)


def _check_default_names(robot: RobotModel) -> None:
    """Raise ConfigurationError for defaults of an unknown engine or terrain."""
    for key, kind in (
        ('engines', 'engines'),
        ('physics_steps', 'engines'),
        ('terrains', 'terrains'),
    ):
        for name in robot.defaults.get(key, {}):
            try:
                check_registered(kind, name)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"robot '{robot.name}': defaults.{key}: {error}"
                ) from error


def _default_terrain(robot: RobotModel, terrain: Any) -> dict[str, Any]:
    """Return the robot's default parameters of a terrain: an insect needs lower obstacles."""
    if isinstance(terrain, TerrainSpec):
        name = terrain.name
    elif isinstance(terrain, Mapping):
        name = str(terrain.get('name', 'flat'))
    else:
        nearest = f'{{name: {terrain if isinstance(terrain, str) else "flat"}}}'
        raise ConfigurationError(
            f'scene.terrain is {terrain!r}, expected named values; nearest valid: {nearest}'
        )
    return {'parameters': robot.defaults.get('terrains', {}).get(name, {})}


def _check_engine_options(engine: str, options: Mapping[str, float]) -> None:
    """Raise ConfigurationError for options that an engine refuses, if it is installed here."""
    if options:
        try:
            found = registry.engine(engine)
        except NotInstalled:
            return
        found.check_options(options)


def _check_terrain(terrain: TerrainSpec) -> None:
    from gait_core.terrains import load_terrain

    check_registered('terrains', terrain.name)
    load_terrain(terrain)


def default_script(robot: RobotModel) -> tuple[TimedCommand, ...]:
    """Return the script of the robot's default command, from the start on."""
    x, y, yaw = robot.defaults.get('command', (0.0, 0.0, 0.0))
    return constant_script((float(x), float(y), float(yaw)))


def constant_script(velocity: tuple[float, float, float]) -> tuple[TimedCommand, ...]:
    """Return the script of one velocity from the start on."""
    return (TimedCommand(time=0.0, command=Command(velocity=velocity)),)


def default_trial(
    robot_name: str, duration: float = 0.0, scene: Mapping[str, Any] = EMPTY_MAPPING
) -> TrialSpec:
    """
    Return the default trial of a robot, as `gait walk` runs it.

    Parameters
    ----------
    robot_name : str
        Name or folder.
    duration : float [s]
        0: the robot's default.
    scene : mapping
        Changes of its scene, nested.

    """
    usual = trial_of_scene(make_scene(robot_name, scene))
    return replace(usual, duration=duration) if duration else usual


def trial_of_scene(
    scene: Scene,
    controller: str = '',
    parameters: Mapping[str, Any] = EMPTY_MAPPING,
    preset: str = '',
) -> TrialSpec:
    """
    Return the trial of a scene with the defaults of its robot.

    Parameters
    ----------
    scene : Scene
    controller, parameters, preset
        As in ``resolve_gait``.

    """
    robot = load_robot(scene.robot, scene.draw)
    gait = resolve_gait(robot, controller, preset, parameters)
    return TrialSpec(
        scene=scene,
        controller=gait.controller,
        parameters=gait.trial_parameters,
        script=default_script(robot),
        duration=float(robot.defaults.get('duration', 10.0)),
        settle_time=float(robot.defaults.get('settle_time', 0.0)),
    )


def usable_engines() -> tuple[str, ...]:
    """Return those of ``DEFAULT_ENGINES`` whose libraries are installed."""
    return tuple(name for name in DEFAULT_ENGINES if _is_installed(registry.engine, name))


def usable_robots(*names: str) -> tuple[str, ...]:
    """Return those robots whose files are installed."""
    return tuple(name for name in names if _is_installed(load_robot, name))


def _is_installed(load: Callable[[str], object], name: str) -> bool:
    try:
        load(name)
    except NotInstalled:
        return False
    return True
