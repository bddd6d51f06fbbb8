# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""More contacts than MuJoCo has memory for end a trial, not the process."""

import subprocess
import sys

import pytest

from gait_core.testing.skips import need_engine

need_engine('mujoco')

pytestmark = pytest.mark.physics

# The limit is lowered: the bodies that reach the real one take minutes to build.
PROGRAM = """
from dataclasses import replace
from gait_core.errors import SimulationDiverged
from gait_core.robot.model import Shape
from gait_core.trial.scene import Scene
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets, step_through
from sim_bridge.engines.mujoco import model as mujoco_model
from sim_bridge.engines.mujoco.engine import MujocoEngine

box = legged_box(4, 3)
feet = (Shape(kind='box', size=(0.1, 0.1, 0.3)),) * 10
links = [replace(one, collisions=feet if one.name in box.soles else ()) for one in box.links]
robot = replace(box, links=tuple(links))
scene = Scene(robot='x', physics_step=0.02, engine_options={'iterations': 2})
usual, tape = mujoco_model.MAX_MEMORY, [applied_targets(robot)] * 3
for memory in (20_000, 60_000, 130_000, usual):
    mujoco_model.MAX_MEMORY = memory
    engine = MujocoEngine(lambda name, draw: robot)
    try:
        engine.reset(scene, 0)
        print(memory, len(step_through(engine, tape)), 'states')
    except SimulationDiverged as error:
        print(memory, str(error).count(chr(10)), error)
    engine.close()
"""


def test_a_lack_of_memory_is_told_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert len(lines) == 4
    for memory, breaks, reason in lines[:3]:
        assert int(memory) < 200_000 and breaks == '0'
        assert reason.startswith(('the physics', 'the simulation')) and 'memory' in reason
    assert lines[3][1:] == ['3', 'states']
    # MuJoCo leaves no log behind.
    assert not list(tmp_path.iterdir())
