# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reference page of the `gait` command, generated from the parsers of its subcommands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from gait_tools.cli import COMMANDS, CommandParser

_HEAD = """\
<!-- Written by tools/write_tables.py from gait_tools/commands; a test compares. -->

# The command gait

`./gait` at the root of a clone enters the environment that `make setup` made; on an installed ROS
the command `gait` is in a sourced workspace. `gait help COMMAND` prints these texts, and the Tab
key [completes](install.md#tab-completion) names and options.

| Exit status | Meaning |
|---|---|
| 0 | done, or a trial that ended `ok` or `fell` |
| 1 | diverged or invalid trial, failed row of a study, stopped run that can be resumed |
| 2 | a mistake in the command or in a file; one line names it and the nearest valid value |
| 130, 143 | interrupted by SIGINT, SIGTERM |

`--json` prints one object on standard output and nothing else. Its metrics are defined in
[measures.md](measures.md#metrics).

| Command | Purpose |
|---|---|
"""


def page() -> str:
    """Return the page."""
    lines = [_HEAD + '\n'.join(f'| [{name}](#{name}) | {text} |' for name, text in _commands())]
    lines.append('')
    for name, _ in _commands():
        lines += _section(name)
    return '\n'.join(lines)


def _commands() -> Iterator[tuple[str, str]]:
    yield from COMMANDS.items()


def actions_of(name: str) -> list[argparse.Action]:
    """Return the arguments of a subcommand without ``--help``."""
    parser = CommandParser(prog=f'gait {name}', add_help=False)
    import_module(f'gait_tools.commands.{name}').add_arguments(parser)
    return parser._actions


def _section(name: str) -> Iterator[str]:
    """Yield the lines on one subcommand: its usage, its text and a table of its arguments."""
    actions = actions_of(name)
    needed = [_flag(action) for action in actions if action.required and action.nargs != '?']
    yield f'## {name}\n'
    yield f'`gait {" ".join([name, *needed])} [options]`\n'
    text = import_module(f'gait_tools.commands.{name}').__doc__ or ''
    yield f'{text.strip()}\n'
    yield '| Argument | Meaning |\n|---|---|'
    for action in actions:
        flag, text = (cell.replace('|', r'\|') for cell in (_flag(action), action.help or ''))
        yield f'| `{flag}` | {text} |'
    yield ''


def _flag(action: argparse.Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest)
    metavar = '' if action.nargs == 0 else f' {action.metavar or action.dest.upper()}'
    return f'{action.option_strings[-1]}{metavar}'
