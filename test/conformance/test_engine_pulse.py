# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every control period is counted as it passes, settled, stepped or played, in every engine."""

from dataclasses import replace

import pytest

from gait_core.processes import liveness
from gait_core.testing.skips import need_robot
from gait_core.trial.loop import TrialLoop, play_target_tape, run_trial, start_trial
from gait_core.trial.parts import cached_engine
from gait_core.trial.setup import default_trial, make_scene, usable_engines


@pytest.mark.parametrize(
    ('robot', 'engine'),
    [
        ('a1', 'bullet'),
        ('a1', 'mujoco'),
        ('tetraspine', 'bullet'),
        ('tetraspine', 'cables'),
    ],
)
def test_a_trial_counts_its_control_periods(robot, engine):
    need_robot(robot)
    if engine != 'cables' and engine not in usable_engines():
        pytest.skip(f'{engine} is not installed')
    spec = default_trial(robot, 0.5)
    spec = replace(spec, scene=make_scene(robot, {'engine': engine}), settle_time=0.1)
    settled = round(spec.settle_time / spec.scene.control_period)
    before = liveness.period_count()
    result = run_trial(spec)
    assert result.ticks + settled <= liveness.period_count() - before <= result.ticks + settled + 1


def test_a_long_trial_is_foreseen_in_pieces():
    need_robot('tetraspine')
    spec = default_trial('tetraspine', 1e4)
    spec = replace(spec, scene=make_scene('tetraspine', {'engine': 'cables'}))
    loop = TrialLoop(spec, cached_engine('cables'))
    controller = start_trial(loop)
    assert len(loop.upcoming_commands()) <= 2000 < spec.ticks
    assert play_target_tape(loop, controller) and loop.is_running
