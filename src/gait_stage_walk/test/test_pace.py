# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A commanded velocity becomes a step size."""

import pytest

from gait_core.trial.spec import Command
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.staged.pace import MAX_STEP_DEG, MIN_STEP_DEG, apply_velocity, walking_speed
from gait_stage_walk.staged.parameters import StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

TICK = to_nanoseconds(0.02)
FOLLOWING = StagedWalkParams(follow_velocity=True)


@pytest.mark.parametrize('time_scale', [0.6, 0.9, 1.2])
@pytest.mark.parametrize('degrees', [6.0, 13.0, 24.0])
def test_the_step_is_the_inverse_of_the_speed(degrees, time_scale):
    params = StagedWalkParams(follow_velocity=True, time_scale=time_scale)
    found = apply_velocity(params, (walking_speed(degrees, time_scale), 0.0, 0.0))
    assert found.step_size_deg == pytest.approx(degrees)
    assert not found.stop


def test_commands_beyond_the_walk_get_its_nearest_step():
    assert apply_velocity(FOLLOWING, (1.0, 0.0, 0.0)).step_size_deg == MAX_STEP_DEG
    assert apply_velocity(FOLLOWING, (0.005, 0.0, 0.0)).step_size_deg == MIN_STEP_DEG
    assert apply_velocity(FOLLOWING, (0.0, 0.0, -0.05)).step_size_deg == MIN_STEP_DEG


@pytest.mark.parametrize('velocity', [(0.0, 0.0, 0.0), (-0.1, 0.0, 0.0), (0.0, 0.1, 0.0)])
def test_it_stands_when_nothing_it_can_do_is_asked(velocity):
    assert apply_velocity(FOLLOWING, velocity).stop


def test_without_follow_velocity_the_parameters_are_kept():
    params = StagedWalkParams()
    assert apply_velocity(params, (0.0, 0.0, 0.0)) is params


def test_a_new_speed_waits_for_the_end_of_the_cycle_and_none_ends_the_walk():
    walk = StagedWalk(FOLLOWING)
    sizes = []
    for tick in range(1000):
        time = tick * 0.02
        forward = 0.034 if time < 3.0 else 0.068 if time < 9.0 else 0.0
        command = Command(velocity=(forward, 0.0, 0.0))
        before = walk.mode_start
        walk.step(Period(tick * TICK, (tick + 1) * TICK, command))
        sizes.append(walk.current.step_size_deg)
        changed = tick and sizes[-1] != sizes[-2]
        assert not changed or walk.mode_start != before
    assert sizes[0] == pytest.approx(10.0)
    assert max(sizes) == pytest.approx(20.0)
    assert walk.mode is WalkMode.IDLE
