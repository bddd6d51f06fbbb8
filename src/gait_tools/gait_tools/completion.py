# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tab completion of the `gait` command in bash and zsh, by argcomplete."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

Completer = Callable[[str, Namespace], Iterable[str]]
"""Function of the word before the cursor and the options so far; returns possible words."""


def print_completions(commands: Iterable[str]) -> None:
    """Print the completions that the shell asks for by environment variables, then end."""
    import argcomplete

    argcomplete.autocomplete(make_parser(commands))


def make_parser(commands: Iterable[str]) -> ArgumentParser:
    """Return one parser of subcommands, whose arguments know their completions."""
    parser = ArgumentParser(prog='gait')
    parser.add_argument('--version', action='store_true')
    subparsers = parser.add_subparsers()
    names = list(commands)
    completers = {**_COMPLETERS, 'command': lambda prefix, options: names}
    for name in names:
        subparser = subparsers.add_parser(name)
        import_module(f'gait_tools.commands.{name}').add_arguments(subparser)
        for action in subparser._actions:
            if action.dest in completers:
                # argcomplete reads this attribute.
                action.completer = _bind(completers[action.dest])  # type: ignore[attr-defined]
    return parser


def _bind(complete: Completer) -> Callable[..., list[str]]:
    """Return a completer for argcomplete; after a wrong word it offers nothing."""

    def completer(prefix: str, parsed_args: Namespace, **_: Any) -> list[str]:
        """Return the words that begin with a prefix."""
        from gait_core.errors import ConfigurationError

        try:
            words = list(complete(prefix, parsed_args))
        except ConfigurationError:
            # An earlier word is wrong, such as the robot: nothing fits.
            return []
        return [word for word in words if word.startswith(prefix)]

    return completer


def _names(kind: str) -> Completer:
    def complete(prefix: str, options: Namespace) -> Iterable[str]:
        """Return the names of a kind."""
        from gait_tools.commands.list import names_of_kind

        return names_of_kind(kind)

    return complete


def _names_and_files(kind: str) -> Completer:
    def complete(prefix: str, options: Namespace) -> Iterable[str]:
        """Return the names of a kind, and files."""
        from argcomplete.completers import FilesCompleter

        return [*_names(kind)(prefix, options), *FilesCompleter()(prefix)]

    return complete


def _kinds(prefix: str, options: Namespace) -> Iterable[str]:
    from gait_tools.commands.list import CONTROLLER_KINDS, KINDS

    return (*KINDS, *CONTROLLER_KINDS)


def _starts(prefix: str, options: Namespace) -> Iterable[str]:
    from gait_tools.commands.init import KINDS

    return KINDS


def _presets(prefix: str, options: Namespace) -> Iterable[str]:
    from gait_core import registry

    return registry.controller(_controller(options)).presets


def _settings(prefix: str, options: Namespace) -> Iterable[str]:
    """Return names of settings, each with its '='."""
    from dataclasses import fields

    from gait_core import registry
    from gait_core.parameters.declaration import declared_parameters
    from gait_core.trial.scene import Scene
    from gait_evolver.experiment import Experiment

    if 'experiment' in options:
        return [f'{entry.name}=' for entry in fields(Experiment)]
    params = registry.controller(_controller(options)).Params
    return [
        *(f'gait.{info.name}=' for info in declared_parameters(params) if info.kind != 'legs'),
        *(f'scene.{entry.name}=' for entry in fields(Scene)),
        'settle_time=',
    ]


def _controller(options: Namespace) -> str:
    """Return the controller that the options name, else that of their robot."""
    from gait_core.robot.load import load_robot
    from gait_core.trial.robot_gait import choose_controller

    return choose_controller(load_robot(options.robot), options.controller)[0]


_COMPLETERS: dict[str, Completer] = {
    'controller': _names('controllers'),
    'engine': _names('engines'),
    'evaluator': _names('evaluators'),
    'experiment': _names_and_files('experiments'),
    'kind': _kinds,
    'name': _names('studies'),
    'preset': _presets,
    'robot': _names_and_files('robots'),
    'settings': _settings,
    'start': _starts,
    'terrain': _names('terrains'),
    'urdf': _names_and_files('robots'),
}
"""Completions by the name of an argument, the same in every subcommand."""
