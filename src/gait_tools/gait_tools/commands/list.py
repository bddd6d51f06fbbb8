# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
List registered names: KIND is one of robots, controllers, engines, terrains, ...

`gait list parameters CONTROLLER` lists what `gait walk --set gait.NAME=VALUE` can change, `gait
list presets CONTROLLER` what `gait walk --preset` can select.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any

from gait_tools.commands.common import add_json, print_json

KINDS = (
    'robots',
    'controllers',
    'engines',
    'terrains',
    'optimizers',
    'evaluators',
    'experiments',
    'studies',
    'fitness_terms',
    'metrics',
)


CONTROLLER_KINDS = ('parameters', 'presets')
"""Kinds that belong to a controller."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('kind', metavar='KIND', help=', '.join((*KINDS, *CONTROLLER_KINDS)))
    parser.add_argument(
        'controller',
        metavar='CONTROLLER',
        nargs='?',
        help=f'controller of the {" or ".join(CONTROLLER_KINDS)}',
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """List the names of a kind with a description of each."""
    from gait_core.errors import ConfigurationError, unknown_name_error

    kind = options.kind
    if kind not in (*KINDS, *CONTROLLER_KINDS):
        raise unknown_name_error('kind', kind, (*KINDS, *CONTROLLER_KINDS))
    if kind in CONTROLLER_KINDS:
        described = _describe_controller(kind, options.controller)
    elif options.controller is not None:
        raise ConfigurationError(f"unexpected argument '{options.controller}'")
    else:
        described = {
            name: '' if options.json else _describe_name(kind, name)
            for name in names_of_kind(kind)
        }
    if options.json:
        print_json({'kind': kind, 'names': list(described)})
        return 0
    width = max((len(name) for name in described), default=0)
    for name, text in described.items():
        print(f'{name:{width}}  {text}'.rstrip())
    return 0


def _describe_controller(kind: str, controller: str | None) -> dict[str, str]:
    """Return the parameters or presets of a controller with a description of each."""
    from gait_core import registry
    from gait_core.errors import ConfigurationError
    from gait_core.parameters.declaration import declared_parameters
    from gait_core.parameters.tables import format_range, format_value

    if controller is None:
        raise ConfigurationError(
            f'`gait list {kind}` needs a CONTROLLER: valid: '
            f'{", ".join(registry.names("controllers"))}'
        )
    found = registry.controller(controller)
    if kind == 'presets':
        described = {
            name: ', '.join(f'{key}={format_value(value)}' for key, value in values.items())
            or 'the defaults of the parameters'
            for name, values in found.presets.items()
        }
        default = next(iter(described))
        return {**described, default: f'{described[default]} (default preset)'}
    described = {}
    for info in declared_parameters(found.Params):
        unit = '' if info.unit in ('', '-') else f' {info.unit}'
        limits = format_range(info)
        default = format_value(info.default)
        value = f'{default}{unit}' if default else 'empty'
        if limits:
            value += f' ({limits})' if default else f' ({limits}{unit})'
        described[info.public_name] = f'{value}: {info.doc}'
    return described


def names_of_kind(kind: str) -> tuple[str, ...]:
    """Return the names of a kind, sorted."""
    from gait_core import registry

    if kind == 'robots':
        from gait_core.robot.find import robot_names

        return robot_names()
    if kind == 'experiments':
        from gait_evolver.experiment import experiment_names

        return experiment_names()
    if kind == 'metrics':
        return tuple(sorted(_metric_texts()))
    return registry.names(kind)


def _metric_texts() -> dict[str, str]:
    """Return the text of each metric of a trial; ``<leg>`` stands for the name of a leg."""
    from gait_core.measures.metrics import LEG_METRICS, METRICS

    return {**METRICS, **{f'{name}.<leg>': text for name, text in LEG_METRICS.items()}}


def _describe_name(kind: str, name: str) -> str:
    """Return one line on a registered name; an error in its code becomes that line."""
    from gait_core import registry
    from gait_core.errors import ConfigurationError
    from gait_evolver.experiment import load_experiment
    from gait_tools.study.definition import load_study

    if kind == 'robots':
        from gait_core.robot.find import find_robot

        return str(find_robot(name))
    if kind == 'experiments':
        return load_experiment(name).description
    if kind == 'metrics':
        return _metric_texts()[name]
    try:
        if kind == 'studies':
            return load_study(name).title
        find: Mapping[str, Callable[[str], Any]] = {
            'controllers': registry.controller,
            'engines': registry.engine,
            'terrains': registry.terrain,
            'optimizers': registry.optimizer,
            'evaluators': registry.evaluator,
            'fitness_terms': registry.fitness_term,
        }
        found = find[kind](name)
        more = ''
        if kind == 'controllers':
            more = f' Presets: {", ".join(found.presets)}.'
        if kind == 'engines':
            more = f' Carries {"; ".join(found.supported_features)}.'
        text = (found.__doc__ or '').strip().splitlines()
    except ConfigurationError as error:
        return f'({error})'
    return (text[0] if text else '') + more
