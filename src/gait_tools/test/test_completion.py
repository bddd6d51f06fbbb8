# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The Tab key completes commands, options and registered names."""

import io
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

from gait_core.testing.workspace import workspace
from gait_tools import cli
from gait_tools.cli import COMMANDS
from gait_tools.completion import make_parser

argcomplete = pytest.importorskip('argcomplete')
PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def box(tmp_path_factory):
    with workspace(tmp_path_factory.mktemp('workspace')):
        yield


class QuietFinder(argcomplete.CompletionFinder):
    """Finder without the debug stream, which takes a file descriptor that pytest may use."""

    def _init_debug_stream(self):
        pass


@pytest.fixture
def complete(monkeypatch, tmp_path):
    """Return a function that lists the completions of a line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        monkeypatch.setenv('_ARGCOMPLETE', '1')
        monkeypatch.setenv('_ARGCOMPLETE_IFS', '\013')
        monkeypatch.setenv('COMP_LINE', line)
        monkeypatch.setenv('COMP_POINT', str(len(line)))
        printed = io.StringIO()
        with pytest.raises(SystemExit):
            QuietFinder()(make_parser(COMMANDS), exit_method=sys.exit, output_stream=printed)
        return [word.strip() for word in printed.getvalue().split('\013') if word.strip()]

    return run


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('gait wal', ['walk']),
        ('gait help ev', ['evolve']),
        ('gait walk legged', ['legged_box']),
        ('gait walk --con', ['--controller']),
        ('gait walk legged_box --controller wa', ['wave']),
        ('gait walk legged_box --preset w', ['wave']),
        ('gait walk legged_box --controller hold --preset ', ['stand']),
        ('gait walk legged_box --engine kin', ['kinematic']),
        ('gait walk legged_box --set gait.fr', ['gait.frequency=']),
        ('gait walk legged_box --set scene.fr', ['scene.friction=']),
        ('gait evolve guroo_qu', ['guroo_quick']),
        ('gait evolve guroo_quick --set popu', ['population=']),
        ('gait list presets wa', ['wave']),
        ('gait list para', ['parameters']),
        ('gait walk no_robot --preset ', []),
    ],
)
def test_words_are_completed(complete, line, words):
    assert complete(line) == words


def test_every_command_and_files_are_offered(complete, tmp_path):
    assert set(cli.COMMANDS) <= set(complete('gait '))
    (tmp_path / 'my_search.yaml').touch()
    assert complete('gait evolve my') == ['my_search.yaml']


def test_bash_asks_the_command_itself(tmp_path):
    if shutil.which('bash') is None or shutil.which('register-python-argcomplete') is None:
        pytest.skip('bash or register-python-argcomplete is not installed')
    command = tmp_path / 'gait'
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {PACKAGE / "bin" / "gait"} "$@"\n')
    command.chmod(0o755)
    script = f"""
    PATH={tmp_path}:$PATH
    . {PACKAGE / 'completion' / 'gait.bash'}
    complete -p gait
    COMP_LINE='gait list co' COMP_POINT=12 COMP_TYPE=9 COMP_WORDS=(gait list co) COMP_CWORD=2
    _python_argcomplete gait co list
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ['bash', '-c', script], capture_output=True, text=True, check=True, timeout=60
    )
    registered, *words = done.stdout.split('\n')
    assert registered.endswith(' gait')
    assert [word.strip() for word in words if word] == ['controllers']
