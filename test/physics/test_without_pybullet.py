# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Without PyBullet, MuJoCo is the default engine, and one line says that PyBullet is missing."""

import json
import os
import subprocess
import sys

import pytest

from gait_core.testing.skips import need_engine

need_engine('mujoco')
pytestmark = pytest.mark.physics
BULLET = "engine 'bullet' is not usable here: No module named 'pybullet' (pip install pybullet)"
A1 = (
    "'pybullet_data:a1/a1.urdf' needs the Python package 'pybullet_data', which is not "
    'installed here (pip install pybullet)'
)


@pytest.fixture(scope='module')
def gait(tmp_path_factory):
    """Run `gait` in a process that finds no PyBullet, as on a Python without its wheel."""
    folder = tmp_path_factory.mktemp('without')
    for module in ('pybullet', 'pybullet_data'):
        (folder / f'{module}.py').write_text(
            f'raise ModuleNotFoundError("No module named {module!r}", name={module!r})\n'
        )
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get('PYTHONPATH'))))

    def run(words):
        return subprocess.run(
            [sys.executable, '-m', 'gait_tools.cli', *words.split()],
            capture_output=True,
            text=True,
            env={**os.environ, 'PYTHONPATH': path},
            timeout=120,
            check=False,
        )

    return run


def test_a_walk_gets_mujoco_and_one_line_says_so(gait):
    done = gait('walk guroo --seconds 1 --json')
    assert done.returncode == 0
    walked = json.loads(done.stdout)
    assert (walked['status'], walked['engine']) == ('ok', 'mujoco')
    assert done.stderr == f"{BULLET}; 'mujoco' takes its place\n"


def test_the_list_of_engines_says_which_is_missing(gait):
    done = gait('list engines')
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in done.stdout.splitlines()}
    assert (done.returncode, done.stderr) == (0, '')
    assert lines['bullet'] == f'({BULLET})'
    assert 'MuJoCo' in lines['mujoco']


@pytest.mark.parametrize(
    ('words', 'message'), [('walk guroo --engine bullet', BULLET), ('walk a1', A1)]
)
def test_what_needs_it_is_refused_in_one_line(gait, words, message):
    done = gait(words)
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr == f'gait: {message}\n'
