# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""List registered names: KIND is one of robots, controllers, engines, terrains, ..."""

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
)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('kind', metavar='KIND', help=', '.join(KINDS))
    add_json(parser)


def run(options: Namespace) -> int:
    """List the names of a kind with a description of each."""
    from gait_core.errors import unknown_name_error

    if options.kind not in KINDS:
        raise unknown_name_error('kind', options.kind, KINDS)
    names = names_of_kind(options.kind)
    if options.json:
        print_json({'kind': options.kind, 'names': list(names)})
        return 0
    width = max((len(name) for name in names), default=0)
    for name in names:
        print(f'{name:{width}}  {_describe_name(options.kind, name)}'.rstrip())
    return 0


def names_of_kind(kind: str) -> tuple[str, ...]:
    """Return the names of a kind, sorted."""
    from gait_core import registry
    from gait_core.robot.find import robot_names
    from gait_evolver.experiment import experiment_names

    special: dict[str, Callable[[], tuple[str, ...]]] = {
        'robots': robot_names,
        'experiments': experiment_names,
    }
    return special[kind]() if kind in special else registry.names(kind)


def _describe_name(kind: str, name: str) -> str:
    from gait_core import registry
    from gait_core.errors import ConfigurationError
    from gait_evolver.experiment import load_experiment
    from gait_tools.study.definition import load_study

    if kind == 'robots':
        from gait_core.robot.find import find_robot

        return str(find_robot(name))
    if kind == 'experiments':
        return load_experiment(name).description
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
