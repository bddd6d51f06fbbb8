# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every built-in robot walks where the package gait_studies is not there."""

import os
import subprocess
import sys

import pytest

from gait_core.robot.find import robot_names
from gait_core.testing.skips import need_engine, need_robot
from gait_core.trial.setup import default_trial

WALK = """
import importlib.util
import sys

from gait_core import registry
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial

assert importlib.util.find_spec('gait_studies') is None
assert not registry.names('studies')
result = run_trial(default_trial(sys.argv[1], 1.0))
print(result.status, result.reason)
sys.exit(result.status != 'ok')
"""


def without_studies():
    """Return an environment whose path of Python leaves gait_studies out."""
    places = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    kept = [place for place in places if 'gait_studies' not in place]
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(kept)}


@pytest.mark.physics
@pytest.mark.parametrize('name', robot_names())
def test_a_robot_walks_without_the_studies(name):
    need_robot(name)
    need_engine(default_trial(name).scene.engine)
    done = subprocess.run(
        [sys.executable, '-c', WALK, name],
        env=without_studies(),
        capture_output=True,
        text=True,
        check=False,
    )
    if "find_spec('gait_studies') is None" in done.stderr:
        pytest.skip('gait_studies shares a folder with the other packages')
    assert done.returncode == 0, done.stdout + done.stderr
