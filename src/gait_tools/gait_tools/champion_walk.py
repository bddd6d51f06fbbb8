# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials of a champion other than its record: inherited values, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gait_core import registry
from gait_core.errors import NotInstalled, excerpt
from gait_core.parameters.declaration import (
    make_parameters,
    merge_parameters,
    parameter_values,
)
from gait_core.parameters.plain_data import to_plain_data
from gait_core.trial.champion import Champion
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TimedCommand, TrialSpec

_ENGINE_FIELDS = ('engine', 'engine_options', 'physics_step', 'control_period')
"""Fields of a scene that are settings of its engine."""
_COMPARED_FIELDS = ('duration', 'settle_time', 'seed')
_MAX_LISTED = 200
"""Number of characters after which further differences are counted only."""


def champion_scene(recorded: Scene, changes: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the changes of a scene with the engine of a champion's record.

    The recorded engine and its settings apply, unless ``changes`` name another engine or the
    recorded one is not installed.
    """
    if changes.get('engine', recorded.engine) != recorded.engine:
        return dict(changes)
    try:
        registry.engine(recorded.engine)
    except NotInstalled:
        return dict(changes)
    fields = to_plain_data(recorded)
    return {**{name: fields[name] for name in _ENGINE_FIELDS}, **changes}


def champion_fields(recorded: TrialSpec, changes: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the fields of a trial that walks with a champion's gait at its command.

    Parameters
    ----------
    recorded : TrialSpec
    changes : mapping
        Parameters that replace those of the champion. One that it lacks has the default of the
        controller, as in its record.

    """
    declared = registry.controller(recorded.controller).Params
    values = merge_parameters(declared, recorded.parameters, changes)
    parameters = make_parameters(declared, values).with_file_hashes()
    return {
        'controller': recorded.controller,
        'parameters': parameter_values(parameters),
        'script': recorded.script,
        'fitness_terms': recorded.fitness_terms,
        'weights': recorded.weights,
        'weights_sha256': recorded.weights_sha256,
    }


def describe_differences(spec: TrialSpec, champion: Champion) -> str:
    """Return one line on differences between a trial and a champion's record, or ''."""
    differences = list(_differences(spec, champion.spec))
    if not differences:
        return ''
    shown = [
        text
        for index, text in enumerate(differences)
        if len('; '.join(differences[: index + 1])) <= _MAX_LISTED
    ]
    listed, more = '; '.join(shown), len(differences) - len(shown)
    return (
        f'differs from its record, whose fitness is {champion.fitness:.4f}: {listed}'
        + (f'; and {more} more' if more > 0 else '')
        + '; `gait replay` repeats the record'
    )


def _differences(spec: TrialSpec, recorded: TrialSpec) -> Iterator[str]:
    present, recorded_values = _compared_values(spec), _compared_values(recorded)
    for name in dict.fromkeys((*present, *recorded_values)):
        if present.get(name) != recorded_values.get(name):
            yield f'{name} {_text(present.get(name))}, recorded {_text(recorded_values.get(name))}'


def _compared_values(spec: TrialSpec) -> dict[str, Any]:
    """Return values of a trial that change its fitness, the most important first."""
    scene = to_plain_data(spec.scene)
    del scene['robot']  # Another folder may hold the same robot.
    declared = registry.controller(spec.controller).Params
    return {
        'scene.engine': scene['engine'],
        'command': [_command_text(item) for item in spec.script],
        **{name: getattr(spec, name) for name in _COMPARED_FIELDS},
        'randomise': sorted(spec.randomise),
        # Not checked together: the gait file of a record may be gone.
        **dict(_flatten({**parameter_values(declared()), **spec.parameters}, 'gait.')),
        **dict(_flatten(scene, 'scene.')),
    }


def _flatten(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield nested values by dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f'{prefix}{name}.')
        else:
            yield f'{prefix}{name}', value


def _command_text(item: TimedCommand) -> str:
    velocity = ','.join(f'{component:g}' for component in item.command.velocity)
    points = ','.join(f'{name}={value:g}' for name, value in item.command.set_points.items())
    start = f' from {item.time:g} s' if item.time else ''
    return f'{velocity}{f" {points}" if points else ""}{start}'


def _text(value: Any) -> str:
    """Return a value as a short text."""
    if isinstance(value, float):
        return f'{value:g}'
    if isinstance(value, (list, tuple)):
        return excerpt(', '.join(map(_text, value)) or 'none')
    return 'none' if value is None else excerpt(value)
