# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Print the list of commands, or the text of one.

`gait COMMAND --help` prints the same text.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'command', metavar='COMMAND', nargs='?', help='command (default: the list of commands)'
    )


def run(options: Namespace) -> int:
    """Print the help."""
    from gait_tools.cli import format_usage, load_command

    if options.command is None:
        print(format_usage())
    else:
        load_command(options.command)[1].print_help()
    return 0
