"""The `gait` command: finds the subcommand and turns a user's mistake into one line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
import os
import sys
from typing import Any, NoReturn

COMMANDS = {
    'walk': 'run one trial of a robot and print its measures',
    'evolve': 'search for a better gait',
    'replay': 'run a champion again and compare with its record',
    'check': 'report what a robot description says, and what it lacks',
    'list': 'list robots, controllers, engines, terrains, experiments, ...',
    'bench': 'measure the speed of this installation against its budgets',
}
"""Subcommands; each is a module of ``gait_evolver.commands`` with ``add_arguments``, ``run``."""

MISTAKE = 2


class UserError(Exception):
    """A mistake on the command line, as one line."""


class Parser(argparse.ArgumentParser):
    """Answers mistakes with one line that names the nearest valid word."""

    def error(self, message: str) -> NoReturn:
        """Raise the message instead of printing the usage."""
        raise UserError(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line and return the exit code.

    0: done, or a trial that ended ``ok`` or ``fell``. 1: diverged, invalid, or a failed row.
    2: a user's mistake, named in one line on standard error. 130: interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except UserError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough; nothing more can be written, also not on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ValueError as error:
        # Imported here: `gait --help` must not wait for NumPy.
        from gait_core.errors import ConfigurationError

        if isinstance(error, ConfigurationError):
            return _refuse(str(error))
        raise


def _refuse(message: str) -> int:
    print(f'gait: {" ".join(message.split())}', file=sys.stderr)
    return MISTAKE


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ('-h', '--help'):
        print(_overview())
        return 0
    if words[0] == '--version':
        from gait_evolver import __version__

        print(f'gait {__version__}')
        return 0
    name = words[0]
    if name not in COMMANDS:
        raise UserError(f"unknown command '{name}': {_nearest(name, COMMANDS)}")
    command = import_module(f'gait_evolver.commands.{name}')
    parser = Parser(
        prog=f'gait {name}',
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return int(command.run(_parsed(parser, words[1:])))


def _parsed(parser: Parser, words: list[str]) -> argparse.Namespace:
    options, rest = parser.parse_known_args(words)
    if rest:
        flags = [flag for action in parser._actions for flag in action.option_strings]
        wrong = rest[0].partition('=')[0]
        if wrong.startswith('-'):
            raise UserError(f"unknown option '{wrong}': {_nearest(wrong, flags)}")
        raise UserError(f"unexpected argument '{rest[0]}'")
    return options


def _nearest(name: str, valid: Any) -> str:
    from gait_core.errors import nearest

    return nearest(name, valid)


def _overview() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f'  {name:{width}}  {text}' for name, text in COMMANDS.items()]
    return '\n'.join(
        [
            'usage: gait COMMAND [ARGUMENTS]',
            '',
            'Generate, evolve, inspect and replay gaits.',
            '',
            *lines,
            '',
            '`gait COMMAND --help` tells more.',
        ]
    )


if __name__ == '__main__':
    sys.exit(main())
