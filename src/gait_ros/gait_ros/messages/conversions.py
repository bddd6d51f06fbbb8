# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Builder of ROS messages, and exact conversions of trials.

Arrays are passed as flat buffers: rclpy checks every element of a list, but none of an
``array.array`` or a NumPy array.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.messages.builder import MessageBuilder
from gait_core.messages.reader import read_array, read_command, read_quantities
from gait_core.motion.targets import JointTargets
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.robot.name_checks import check_message_names
from gait_core.terrains import load_terrain
from gait_core.trial.scene import Push, Scene
from gait_core.trial.setup import make_scene, trial_of_scene
from gait_core.trial.spec import Milestone, TimedCommand, TrialResult, TrialSpec
from gait_interfaces import msg
from gait_interfaces.srv import QueryTerrain
from gait_ros.nodes.parameters import from_parameter_values, to_parameter_values

_QUANTITY_BITS = {
    'position': msg.JointTargets.POSITION,
    'velocity': msg.JointTargets.VELOCITY,
    'effort': msg.JointTargets.EFFORT,
}
_NOISE_FIELDS = (
    'joint_position_noise',
    'joint_velocity_noise',
    'orientation_noise',
    'angular_velocity_noise',
    'acceleration_noise',
)
_POSE_FIELDS = ('x', 'y', 'roll', 'pitch', 'yaw', 'clearance')
_FIELD_SIZES = {
    'friction': 1,
    'gravity': 3,
    'physics_step': 1,
    'control_period': 1,
    'initial_pose': 6,
}


class _MessageTypes(dict[str, Any]):
    """Message classes by full name, imported at their first use."""

    def __missing__(self, name: str) -> Any:
        package, _, kind = name.split('/')
        self[name] = getattr(import_module(f'{package}.msg'), kind)
        return self[name]


def _field_value(values: Any) -> Any:
    """
    Return an array as the constructor argument of a field of variable length.

    Constructors convert it to an ``array.array``, which is fastest from bytes.
    """
    return values.tolist() if values.dtype.kind == 'b' else values.tobytes()


BUILDER = MessageBuilder(_MessageTypes(), _field_value)
"""Builder of messages of rclpy."""


def float_buffer(values: Any) -> array[float]:
    """Return a float array of any shape as the flat buffer of a ``float64[]`` field."""
    return array('d', np.ascontiguousarray(values, dtype=np.float64).tobytes())


def to_targets(targets: JointTargets) -> msg.JointTargets:
    """Return joint targets as a message."""
    message = msg.JointTargets(names=targets.names, sub_samples=targets.sub_samples)
    given = 0
    for name, bit in _QUANTITY_BITS.items():
        value = getattr(targets, name)
        if value is not None:
            given |= bit
            setattr(message, name, float_buffer(value))
    message.given = given
    return message


def from_targets(message: msg.JointTargets) -> JointTargets:
    """
    Return the joint targets of a message.

    Raises
    ------
    BadCommand
        If a joint is repeated, a length is wrong, or a value is not finite.

    """
    names, rows = tuple(message.names), int(message.sub_samples)
    check_message_names(names)
    fields = {}
    for name, bit in _QUANTITY_BITS.items():
        if message.given & bit:
            values = np.asarray(getattr(message, name), dtype=np.float64)
            if rows < 1 or values.size != rows * len(names):
                raise BadCommand(
                    f'{name} has {values.size} values, expected {rows} x {len(names)} for '
                    f'{len(names)} joints'
                )
            fields[name] = values.reshape(rows, len(names))
    return JointTargets(names=names, **fields)


# --------------------------------------------------------------------------- trials and results


class _Codec(NamedTuple):
    """Conversion of a field of a scene to a field of its message, and back to plain data."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


_UNCHANGED = _Codec(lambda value: value, lambda value: value)
_NUMBER = _Codec(float, float)
_OPTIONAL = _Codec(lambda value: float_buffer([value]), lambda values: values[0])
_QUANTITIES = _Codec(BUILDER.quantities, read_quantities)

# Field of the message, path of the value in the scene, and conversion.
_SCENE_FIELDS = (
    ('draw', 'draw', _UNCHANGED),
    ('engine', 'engine', _UNCHANGED),
    ('engine_options', 'engine_options', _QUANTITIES),
    ('terrain', 'terrain.name', _UNCHANGED),
    ('terrain_parameters', 'terrain.parameters', _QUANTITIES),
    ('terrain_seed', 'terrain.seed', _UNCHANGED),
    ('friction', 'friction', _OPTIONAL),
    ('restitution', 'restitution', _NUMBER),
    ('contact_law', 'contact_law', _UNCHANGED),
    ('gravity', 'gravity', _Codec(float_buffer, list)),
    ('physics_step', 'physics_step', _OPTIONAL),
    ('control_period', 'control_period', _OPTIONAL),
    ('length_scale', 'length_scale', _NUMBER),
    ('fixed_base', 'fixed_base', _UNCHANGED),
    ('mass_factor', 'mass_factor', _NUMBER),
    ('initial_joints', 'initial.joint_positions', _QUANTITIES),
    ('sensor_delay', 'sensors.delay_ticks', _UNCHANGED),
)


def to_scene(scene: Scene) -> msg.Scene:
    """Return a scene as a message."""
    pushes = scene.pushes
    return msg.Scene(
        robot=scene.robot,
        complete=True,
        initial_pose=float_buffer([getattr(scene.initial, name) for name in _POSE_FIELDS]),
        push_links=[push.link for push in pushes],
        push_windows=float_buffer([(push.start, push.duration) for push in pushes]),
        push_forces=float_buffer([push.force for push in pushes]),
        sensor_noise=np.array(
            [getattr(scene.sensors, name) for name in _NOISE_FIELDS], dtype=np.float64
        ),
        **{field: codec.encode(attrgetter(keys)(scene)) for field, keys, codec in _SCENE_FIELDS},
    )


def from_scene(message: msg.Scene) -> Scene:
    """
    Return the scene of a message.

    A complete message has every value. Those that an incomplete one lacks are those of the robot.

    Raises
    ------
    ConfigurationError
        If a value is invalid; the message names it.

    """
    for name, size in _FIELD_SIZES.items():
        count = len(getattr(message, name))
        if count != size and (count or message.complete):
            raise ConfigurationError(f'scene.{name} has {count} values, expected {size}')
    if not message.robot:
        raise ConfigurationError('scene.robot is empty; name one, e.g. guroo')
    if message.complete:
        scene: Scene = read_value(Scene, {'robot': message.robot, **_scene_data(message)}, 'scene')
        return scene
    return make_scene(message.robot, _scene_data(message))


def _scene_data(message: msg.Scene) -> dict[str, Any]:
    """Return the values of a scene as plain data; of an incomplete message those that are set."""
    every, new = message.complete, msg.Scene()
    given: dict[str, Any] = {}
    for field, keys, codec in _SCENE_FIELDS:
        value = getattr(message, field)
        if every or value != getattr(new, field):
            *owner, key = keys.split('.')
            values = given.setdefault(owner[0], {}) if owner else given
            values[key] = codec.decode(value)
    if len(message.initial_pose):
        given.setdefault('initial', {}).update(
            zip(_POSE_FIELDS, message.initial_pose, strict=True)
        )
    noises = zip(_NOISE_FIELDS, message.sensor_noise.tolist(), strict=True)
    if noises := {name: value for name, value in noises if value}:
        given.setdefault('sensors', {}).update(noises)
    pushes = _pushes(message)
    if pushes:
        given['pushes'] = to_plain_data(pushes)
    return given


def _pushes(message: msg.Scene) -> tuple[Push, ...]:
    """Return the pushes of a scene; ConfigurationError if the numbers of values differ."""
    count = len(message.push_links)
    for name, values, width in (
        ('push_windows', message.push_windows, 2),
        ('push_forces', message.push_forces, 3),
    ):
        _check_size(name, values, width, count, 'links')
    windows, forces = read_array(message.push_windows, 2), read_array(message.push_forces, 3)
    return tuple(
        Push(link=link, start=start, duration=duration, force=(fx, fy, fz))
        for link, (start, duration), (fx, fy, fz) in zip(
            message.push_links, windows.tolist(), forces.tolist(), strict=True
        )
    )


def _check_size(name: str, values: Any, width: int, count: int, what: str) -> None:
    if len(values) != count * width:
        raise ConfigurationError(
            f'{name} has {len(values)} values, expected {count} x {width} for {count} {what}'
        )


def to_spec(spec: TrialSpec) -> msg.TrialSpec:
    """Return the specification of a trial as a message."""
    return msg.TrialSpec(
        scene=to_scene(spec.scene),
        controller=spec.controller,
        parameters=to_parameter_values(spec.parameters),
        command_times=float_buffer([item.time for item in spec.script]),
        commands=[BUILDER.command(item.command) for item in spec.script],
        seed=spec.seed,
        duration=float(spec.duration),
        settle_time=float(spec.settle_time),
        fitness_terms=BUILDER.quantities(spec.fitness_terms),
        gates=BUILDER.quantities(spec.gates),
        varied=list(spec.randomise),
        varied_ranges=float_buffer(list(spec.randomise.values())),
        # Milestones (time [s], distance [m]): a trial that has not moved so far by then ends as
        # ``invalid:hopeless``.
        hopeless=float_buffer([(item.time, item.moved) for item in spec.hopeless]),
        weights=spec.weights,
        weights_sha256=spec.weights_sha256,
    )


def from_spec(message: msg.TrialSpec) -> TrialSpec:
    """Return the specification of a message; ConfigurationError names an invalid value."""
    if len(message.command_times) != len(message.commands):
        raise ConfigurationError(
            f'command_times has {len(message.command_times)} values, expected '
            f'{len(message.commands)}, one per command'
        )
    fields: dict[str, Any] = {
        'script': tuple(
            TimedCommand(time=time, command=read_command(command))
            for time, command in zip(message.command_times, message.commands, strict=True)
        ),
        'seed': message.seed,
        'fitness_terms': read_quantities(message.fitness_terms),
        'gates': read_quantities(message.gates),
        'randomise': _varied_ranges(message),
        'hopeless': _milestones(message),
        'weights': message.weights,
        'weights_sha256': message.weights_sha256,
    }
    scene, parameters = from_scene(message.scene), from_parameter_values(message.parameters)
    if message.scene.complete:
        return TrialSpec(
            scene=scene,
            controller=message.controller,
            parameters=parameters,
            duration=message.duration,
            settle_time=message.settle_time,
            **fields,
        )
    if not message.commands:
        del fields['script']
    usual = trial_of_scene(scene, message.controller, parameters)
    for name in ('duration', 'settle_time'):
        if getattr(message, name):
            fields[name] = getattr(message, name)
    return replace(usual, **fields)


def _milestones(message: msg.TrialSpec) -> tuple[Milestone, ...]:
    values = message.hopeless
    _check_size('hopeless', values, 2, (len(values) + 1) // 2, 'milestones')
    return tuple(
        Milestone(time=time, moved=moved) for time, moved in read_array(values, 2).tolist()
    )


def _varied_ranges(message: msg.TrialSpec) -> dict[str, tuple[float, float]]:
    _check_size('varied_ranges', message.varied_ranges, 2, len(message.varied), 'quantities')
    pairs = read_array(message.varied_ranges, 2).tolist()
    return {name: (low, high) for name, (low, high) in zip(message.varied, pairs, strict=True)}


def to_result(result: TrialResult) -> msg.TrialResult:
    """Return the result of a trial as a message."""
    return msg.TrialResult(
        status=result.status,
        metrics=BUILDER.quantities(result.metrics),
        terms=BUILDER.quantities(result.terms),
        fitness=_optional(result.fitness),
        trial_hash=result.trial_hash,
        spec_hash=result.spec_hash,
        fingerprint=result.fingerprint,
        ticks=result.ticks,
        fell_at=_optional(result.fell_at),
        wall_time=float(result.wall_time),
        reason=result.reason,
    )


def from_result(message: msg.TrialResult) -> TrialResult:
    """Return the result of a message."""
    return TrialResult(
        status=message.status,
        metrics=read_quantities(message.metrics),
        terms=read_quantities(message.terms),
        fitness=message.fitness[0] if message.fitness else None,
        trial_hash=message.trial_hash,
        spec_hash=message.spec_hash,
        fingerprint=message.fingerprint,
        ticks=message.ticks,
        fell_at=message.fell_at[0] if message.fell_at else None,
        wall_time=message.wall_time,
        reason=message.reason,
    )


def _optional(value: float | None) -> list[float]:
    return [] if value is None else [float(value)]


def answer_terrain_query(
    scene: Scene | None, request: QueryTerrain.Request, response: QueryTerrain.Response
) -> QueryTerrain.Response:
    """Fill in the heights and normals at the points of a request, or the reason of a refusal."""
    if scene is None:
        response.message = 'there is no scene yet'
    elif len(request.x) != len(request.y):
        response.message = f'y has {len(request.y)} values, expected {len(request.x)}, one per x'
    elif not (np.isfinite(request.x).all() and np.isfinite(request.y).all()):
        response.message = 'x or y is not finite'
    else:
        terrain = load_terrain(scene.terrain)
        x, y = np.array(request.x), np.array(request.y)
        response.heights = float_buffer(terrain.height(x, y))
        response.normals = float_buffer(terrain.normal(x, y))
        response.terrain = scene.terrain.name
        response.terrain_hash = terrain.hash
        response.success = True
    return response
