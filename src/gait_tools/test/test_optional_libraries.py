# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A command without a library that it needs ends with one line that names it."""

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from gait_core.errors import OPTIONAL_LIBRARIES

CHAMPION = str(Path(__file__).parents[3] / 'doc' / 'results' / 'guroo_champion.yaml')
HINTS = {
    'pybullet': (
        "engine 'bullet' is not usable here: No module named 'pybullet' (pip install pybullet)"
    ),
    'mujoco': "engine 'mujoco' is not usable here: No module named 'mujoco' (pip install mujoco)",
    'cma': "optimizer 'cma_es' is not usable here: No module named 'cma' (pip install cma)",
    'pymoo': "optimizer 'nsga2' is not usable here: No module named 'pymoo' (pip install pymoo)",
    'sklearn': (
        "optimizer 'gaussian_process' is not usable here: No module named 'sklearn' "
        '(pip install scikit-learn)'
    ),
    'optuna': "optimizer 'tpe' is not usable here: No module named 'optuna' (pip install optuna)",
    'plotly': "a report needs plotly: No module named 'plotly' (pip install plotly)",
    'ray': (
        "evaluator 'ray' is not usable here: No module named 'ray' "
        '(make setup EXTRAS=ray, or pip install -r requirements-ray.txt)'
    ),
    'rosbags': "a bag needs the library rosbags: No module named 'rosbags' (pip install rosbags)",
}
# What is blocked, the command, its status, and a part of its line.
CASES = [
    ('pybullet mujoco', 'walk guroo', 2, f'{HINTS["pybullet"]}; {HINTS["mujoco"]}'),
    ('cma', 'evolve a1_trot --run-dir {folder}/run', 2, HINTS['cma']),
    (
        'pymoo',
        'evolve guroo_quick --set optimizer.name=nsga2 --run-dir {folder}/run',
        2,
        HINTS['pymoo'],
    ),
    ('ray', 'evolve a1_trot --evaluator ray --run-dir {folder}/run', 2, HINTS['ray']),
    (
        'sklearn',
        'evolve guroo_quick --set optimizer.name=gaussian_process --run-dir {folder}/run',
        2,
        HINTS['sklearn'],
    ),
    (
        'optuna',
        'evolve guroo_quick --set optimizer.name=tpe --run-dir {folder}/run',
        2,
        HINTS['optuna'],
    ),
    ('plotly', 'report {champion} --out {folder}/page.html', 2, HINTS['plotly']),
    ('rosbags', 'walk tetraspine --record {folder}/bag', 2, HINTS['rosbags']),
    ('numba', 'walk guroo', 2, "No module named 'numba'"),
    ('scipy', 'list robots', 2, "No module named 'scipy'"),
    (' '.join(OPTIONAL_LIBRARIES), 'list optimizers', 0, ''),
    (' '.join(OPTIONAL_LIBRARIES), 'list engines', 0, ''),
]
# A child of its own for each case: what one imports, no other has.
PROGRAM = """
import json, os, sys
from gait_tools.cli import main

class Blocked:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in self.names:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

for number, (blocked, command) in enumerate(json.load(sys.stdin)):
    child = os.fork()
    if child == 0:
        for descriptor in (1, 2):
            os.dup2(os.open(f'{number}.{descriptor}', os.O_CREAT | os.O_WRONLY), descriptor)
        sys.meta_path.insert(0, Blocked(blocked.split()))
        status = main(command.split())
        sys.stdout.flush()
        os._exit(status)
    with open(f'{number}.status', 'w') as file:
        file.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


@pytest.fixture(scope='module')
def outcomes(tmp_path_factory):
    """Return status, output and error output of each case."""
    folder = tmp_path_factory.mktemp('without')
    commands = [
        (blocked, words.format(folder=folder, champion=CHAMPION)) for blocked, words, *_ in CASES
    ]
    subprocess.run(
        [sys.executable, '-c', PROGRAM],
        input=json.dumps(commands),
        cwd=folder,
        env=dict(os.environ),
        text=True,
        timeout=120,
        check=True,
    )
    return [
        (
            int((folder / f'{number}.status').read_text()),
            *((folder / f'{number}.{descriptor}').read_text() for descriptor in (1, 2)),
        )
        for number in range(len(CASES))
    ]


@pytest.mark.parametrize('number', range(len(CASES)), ids=[f'{c[0]}-{c[1]}' for c in CASES])
def test_a_missing_library_is_one_line(outcomes, number):
    _, _, expected, hint = CASES[number]
    status, output, errors = outcomes[number]
    assert status == expected, errors
    if status == 0:
        assert output and not errors
    else:
        assert hint in errors
        assert len(errors.splitlines()) == 1 and not output
