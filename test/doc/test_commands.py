# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands on pages name existing subcommands, options, robots and launch arguments."""

from importlib import import_module
from pathlib import Path
import re
import shlex

import pytest

from gait_core.robot.find import robot_names
from gait_ros.graph.launch_arguments import (
    CONTROL_ARGUMENTS,
    EVOLVE_ARGUMENTS,
    HARDWARE_ARGUMENTS,
    WALK_ARGUMENTS,
)
from gait_tools.cli import COMMANDS, CommandParser

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for pattern in ('*.md', '*/*.md', 'src/*/*.md') for path in ROOT.glob(pattern))
FENCED = re.compile(r'^```(?:bash|sh)?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
INLINE = re.compile(r'`((?:\./)?gait [^`\n]+|ros2 launch [^`\n]+)`')
LAUNCH_ARGUMENTS = {
    file: {argument.name for argument in arguments}
    for file, arguments in (
        ('walk.launch.py', WALK_ARGUMENTS),
        ('hardware.launch.py', HARDWARE_ARGUMENTS),
        ('control.launch.py', CONTROL_ARGUMENTS),
        ('evolve.launch.py', EVOLVE_ARGUMENTS),
    )
}


def commands():
    """Yield page, words, and whether they are in a block, of every command on the pages."""
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        name = page.relative_to(ROOT).as_posix()
        for block in FENCED.findall(text):
            for line in block.replace('\\\n', ' ').splitlines():
                yield name, line.strip(), True
        for line in INLINE.findall(text):
            yield name, line, False


def typed(start):
    """Return (page, words, whether in a block) of every command with such a first word."""
    found = set()
    for page, line, is_block in commands():
        if not re.match(start, line) or re.search(r'[<$]|\.\.\.', line):
            continue
        command = re.split(r' [|&;]+ | [|&;]+$', line.replace(r'\|', '|'))[0]
        found.add((page, tuple(shlex.split(command, comments=True)), is_block))
    return sorted(found)


GAIT, LAUNCH = typed(r'(\./)?gait [a-z]'), typed('ros2 launch gait_bringup')


def flags_of(name):
    parser = CommandParser(prog=name, add_help=False, allow_abbrev=False)
    import_module(f'gait_tools.commands.{name}').add_arguments(parser)
    return parser, {flag for action in parser._actions for flag in action.option_strings}


@pytest.mark.parametrize(('page', 'words', 'is_block'), GAIT)
def test_a_command_has_its_name_options_and_robot(page, words, is_block):
    _, name, *rest = words
    assert name in COMMANDS
    parser, flags = flags_of(name)
    assert {word.partition('=')[0] for word in rest if word.startswith('--')} <= flags | {'--help'}
    if not is_block:
        return
    options = parser.parse_args(rest)
    robot = getattr(options, 'robot', 'a1')
    # What is no name is the folder of a robot that the page has made.
    assert robot in robot_names() or '/' in robot or page.startswith('doc/add_a_robot')


@pytest.mark.parametrize(('page', 'words', 'is_block'), LAUNCH)
def test_a_launch_has_its_file_and_arguments(page, words, is_block):
    file, given = words[3], [word for word in words[4:] if ':=' in word]
    assert (ROOT / 'launch' / file).is_file()
    assert {word.partition(':=')[0] for word in given} <= LAUNCH_ARGUMENTS[file]


def test_a_lot_is_looked_at():
    assert len(GAIT) > 60 and len(LAUNCH) > 10
