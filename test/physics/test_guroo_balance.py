# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""GuRoo's balanced walk: straight at the commanded speed, over pushes, to a stop and on again."""

import numpy as np
import pytest

from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec

pytestmark = pytest.mark.physics


def run(seconds, *speeds, preset='balanced', pushes=()):
    """Return the record of a walk in MuJoCo with forward speeds [m/s] from times [s] on."""
    need_engine('mujoco')
    scene = {'engine': 'mujoco', 'physics_step': 0.002, 'pushes': pushes}
    script = tuple(
        TimedCommand(time=time, command=Command(velocity=(speed, 0.0, 0.0)))
        for time, speed in speeds
    )
    loop = run_loop(
        TrialSpec(
            scene=make_scene('guroo', scene),
            controller='staged_walk',
            parameters=resolve_gait(load_robot('guroo'), 'staged_walk', preset).parameters,
            duration=seconds,
            script=script,
        )
    )
    return loop.rollout()


@pytest.mark.parametrize('speed', [0.03, 0.05, 0.08])
def test_it_walks_at_the_commanded_speed(speed):
    rollout = run(40.0, (0.0, speed))
    assert rollout.status == 'ok'
    way = rollout.body_poses[:, 0, :2]
    steady = rollout.time > 5.0
    ahead, aside = way[-1] - way[steady][0]
    assert ahead / (40.0 - 5.0) == pytest.approx(speed, rel=0.1)
    assert abs(aside) < 0.05 * ahead


def test_it_survives_a_push_that_fells_the_open_loop():
    push = {'start': 10.0, 'duration': 0.2, 'force': [0.0, -55.0, 0.0], 'link': 'torso'}
    assert run(18.0, preset='levelled', pushes=(push,)).status == 'fell'
    assert run(18.0, (0.0, 0.068), pushes=(push,)).status == 'ok'


def test_it_stops_at_no_speed_and_walks_on():
    rollout = run(32.0, (0.0, 0.068), (8.0, 0.0), (20.0, 0.068))
    assert rollout.status == 'ok'
    x, time = rollout.body_poses[:, 0, 0], rollout.time
    still = x[(time > 15.0) & (time < 20.0)]
    assert np.ptp(still) < 0.005
    assert x[-1] - still[-1] > 0.5
