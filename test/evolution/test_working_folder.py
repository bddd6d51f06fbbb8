# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""No file of the working folder is executed, by the command gait or the processes it starts."""

import os
from pathlib import Path
import shutil
import subprocess

import pytest

from gait_core.processes.python_command import python_module_command
from gait_core.testing.doubles import legged_box
from gait_core.testing.folders import write_robot_folder
from gait_core.trial.scene import EMPTY_MAPPING
from gait_evolver.experiment import read_experiment

GAIT = Path(__file__).parents[2] / 'gait'
# Modules that Python, its worker processes, libraries and this suite import.
NAMES = (
    *('random', 'yaml', 'copy', 'json', 'select', 'signal', 'socket', 'runpy', 'types'),
    *(
        'multiprocessing',
        'pickle',
        'tempfile',
        'numpy',
        'numba',
        'rclpy',
        'gait_core',
        'sitecustomize',
    ),
)


@pytest.fixture
def hostile_folder(tmp_path):
    for name in NAMES:
        (tmp_path / f'{name}.py').write_text(f'open({str(tmp_path / "executed")!r}, "w")\n1 / 0\n')
    return tmp_path


@pytest.mark.skipif(not GAIT.exists(), reason='needs the script gait of the source tree')
def test_the_command_and_its_workers_execute_no_file_of_the_folder(hostile_folder):
    sizes = ('population=4', 'duration=0.1', 'optimizer.settings.elites=1')
    settings = [word for size in sizes for word in ('--set', size)]
    words = ['evolve', 'guroo_quick', '--generations', '1', '--workers', '1', *settings]
    done = subprocess.run(
        [GAIT, *words, '--run-dir', 'run'],
        cwd=hostile_folder,
        env={name: value for name, value in os.environ.items() if name != 'PYTHONSAFEPATH'},
        capture_output=True,
        text=True,
    )
    assert 'Traceback' not in done.stderr and done.returncode in (0, 1), done.stderr
    assert len((hostile_folder / 'run' / 'evaluations.csv').read_text().splitlines()) > 4
    assert not (hostile_folder / 'executed').exists()


def test_a_child_process_of_ours_executes_no_file_of_the_folder(hostile_folder):
    done = subprocess.run(
        python_module_command('json.tool'),
        input='[1]',
        cwd=hostile_folder,
        env={name: value for name, value in os.environ.items() if name != 'PYTHONSAFEPATH'},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.split() == ['[', '1', ']'], done.stderr
    assert not (hostile_folder / 'executed').exists()


def test_a_robot_of_the_command_line_is_that_of_the_working_folder(tmp_path, monkeypatch):
    """A folder of the same name beside an experiment of somebody else is not meant."""
    for folder in ('pet', 'theirs/pet'):
        write_robot_folder(tmp_path / folder, legged_box())
    experiment = tmp_path / 'theirs' / 'e.yaml'
    experiment.write_text(
        'robot: ./pet\ncontroller: wave\nduration: 1.0\ngenes: {amplitude: {}}\n'
        'fitness: {distance: 1.0}\n'
    )
    monkeypatch.chdir(tmp_path)

    def robot(overrides=EMPTY_MAPPING):
        return read_experiment(str(experiment), overrides)[0].robot

    assert robot() == str(tmp_path / 'theirs' / 'pet')
    assert robot({'robot': './pet'}) == str(tmp_path / 'pet')
    # Nor where the working folder has none: the path that was written is the one that is missing.
    assert robot({'robot': 'theirs/../theirs/pet'}) == str(tmp_path / 'theirs' / 'pet')
    shutil.rmtree(tmp_path / 'pet')
    assert robot({'robot': './pet'}) == str(tmp_path / 'pet')
