# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pipes, devices, folders and huge or damaged files as every file argument of every command."""

from importlib import import_module
import os
from pathlib import Path
import signal

import pytest

from gait_core.testing.doubles import register_temporarily
from gait_tools.cli import COMMANDS, EXIT_USER_ERROR, CommandParser, main
from gait_tools.study.definition import Study

READ = ('FILE', 'ROBOT', 'EXPERIMENT', 'RUN_DIR_OR_CHAMPION', 'URDF', 'NAME=PATH')
WRITTEN = ('DIR', 'PATH', 'FILE.csv|FILE.yaml|DIR', '--out', '--markdown', '--video')
OTHERS = (
    *(
        'C',
        'COMMAND',
        'CONTROLLER',
        'E',
        'G/I',
        'HOST:PORT',
        'ID',
        'KIND',
        'M',
        'N',
        'NAME',
        'NAME=VALUE',
        'NAME[,...]',
        'P',
        'S',
    ),
    *('NAME[:k=v,...]', 'VX[,VY[,WZ]]'),
)
KINDS = ('pipe', 'device', 'folder', 'huge', 'bytes', 'empty', 'absent')
LIMIT = 20
"""Longest time [s] of a refusal, so that a read without end fails."""


def arguments():
    """Return command, option (empty for a positional argument) and metavar of every argument."""
    found = []
    for name in COMMANDS:
        parser = CommandParser(prog=name, allow_abbrev=False)
        import_module(f'gait_tools.commands.{name}').add_arguments(parser)
        for action in parser._actions:
            if action.metavar is not None:
                option = action.option_strings[0] if action.option_strings else ''
                found.append((name, option, action.metavar))
    return found


def is_written(option, metavar):
    return metavar in WRITTEN or option in WRITTEN


def test_every_argument_is_known_as_a_file_or_not():
    assert not [row for row in arguments() if row[2] not in (*READ, *WRITTEN, *OTHERS)]


def made(kind, folder):
    """Return a path of a kind that no command can read."""
    path = folder / 'given.yaml'
    if kind == 'pipe':
        os.mkfifo(path)
    elif kind == 'device':
        path.symlink_to('/dev/zero')
    elif kind == 'folder':
        path.mkdir()
    elif kind == 'huge':
        path.touch()
        os.truncate(path, 2**40)
    elif kind == 'bytes':
        path.write_bytes(bytes(range(256)) * 8)
    elif kind == 'empty':
        path.touch()
    return path


def words_with(name, option, path, folder):
    """Return a command line with a path as one of its arguments."""
    needed = {'adopt': ('--out', str(folder / 'robot'))}.get(name, ())
    if name == 'init':
        return [name, 'experiment', str(folder / 'my.yaml'), option, str(path)]
    if not option:
        return [name, str(path), *needed]
    if option == '--package':
        urdf = folder / 'robot.urdf'
        urdf.write_text(
            '<robot name="one"><link name="base"><visual><geometry><mesh '
            'filename="package://one/mesh.stl"/></geometry></visual></link></robot>'
        )
        return [name, str(urdf), option, f'one={path}', *needed]
    source = {'walk': 'guroo'}[name]
    return [name, source, option, str(path), *needed]


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize(
    ('name', 'option'),
    [
        pytest.param(name, option, id=f'{name}{option}')
        for name, option, metavar in arguments()
        if metavar in READ and not is_written(option, metavar)
    ],
)
def test_what_is_no_usable_file_is_refused_in_one_line(name, option, kind, tmp_path, capsys):
    path = made(kind, tmp_path)
    signal.alarm(LIMIT)
    try:
        code = main(words_with(name, option, path, tmp_path))
    finally:
        signal.alarm(0)
    printed = capsys.readouterr()
    assert code == EXIT_USER_ERROR, printed
    (line,) = printed.err.splitlines()
    # Of a package the folder is followed to where a link leads.
    assert ('given.yaml' in line or '/dev/zero' in line) and len(line) < 500


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('name', ['evolve', 'study'])
def test_what_is_no_run_is_not_resumed(name, kind, tmp_path, capsys):
    path = made(kind, tmp_path)
    words = {'evolve': [name], 'study': [name, 'made_up']}[name]
    study = Study(name='made_up', title='A study.', source='nobody', parts=())
    signal.alarm(LIMIT)
    try:
        with register_temporarily('studies', made_up=lambda: study):
            code = main([*words, '--run-dir', str(path), '--resume'])
    finally:
        signal.alarm(0)
    printed = capsys.readouterr()
    assert code == EXIT_USER_ERROR, printed
    (line,) = printed.err.splitlines()
    assert Path(path).name in line
