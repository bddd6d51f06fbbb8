# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The hexapod walks: 5 m by the speed that kinematics foresees, without slip, drag or fall."""

import numpy as np
import pytest

from gait_core.testing.skips import need_engine
from gait_studies.cafarelli2017.stride_search import EXTENSION_GENES, StrideSearch, replay_stride
from gait_studies.cafarelli2017.stride_trials import run_stride, stride_trial
from gait_studies.cafarelli2017.strides.published import published_best_stride

pytestmark = pytest.mark.physics
# Stroke by duty and period of the presets.
FORESEEN = {'fixed': 0.12 / 0.55 / 2.0, 'extending': 0.12 / 0.55 / 3.2}


@pytest.mark.parametrize('preset', FORESEEN)
def test_it_walks_5_m_by_the_speed_foreseen(preset):
    need_engine('mujoco')
    duration = 5.2 / FORESEEN[preset]
    walk = run_stride(stride_trial({}, duration=duration, engine='mujoco', preset=preset))
    assert walk.status == 'ok'
    assert walk.distance > 5.0
    # The start apart, feet slide by 0.1 %; the bound is a tenth.
    assert walk.speed == pytest.approx(FORESEEN[preset], rel=0.02)
    assert walk.slip < 0.01 and walk.drag < 0.01 and walk.knees == 0.0
    assert walk.cost_of_transport is not None
    # The lift of the stride, but for the sag of the joints.
    assert walk.clearance == pytest.approx(0.03, abs=0.003)


@pytest.mark.parametrize('preset', FORESEEN)
def test_bullet_walks_alike(preset):
    need_engine('bullet')
    walk = run_stride(stride_trial({}, duration=6.0, engine='bullet', preset=preset))
    assert walk.status == 'ok'
    assert walk.speed == pytest.approx(FORESEEN[preset], rel=0.1)
    assert walk.slip < 0.05 and walk.drag < 0.05 and walk.knees == 0.0


@pytest.mark.parametrize('ground', ['up_10', 'across_10'])
def test_it_walks_on_slopes(ground):
    need_engine('mujoco')
    walk = run_stride(stride_trial({}, ground, duration=10.0, engine='mujoco'))
    assert walk.status == 'ok'
    # Seen from above a slope is shorter; feet hold.
    assert walk.speed == pytest.approx(FORESEEN['fixed'], rel=0.1)
    assert walk.slip < 0.02


def test_extending_screws_cost_more_than_knees():
    need_engine('mujoco')
    costs = [
        run_stride(
            stride_trial(
                {'extension': share, 'lift_extension': share, 'period': 3.2}, duration=10.0
            )
        ).cost_of_transport
        for share in (0.0, 1.0)
    ]
    # Each J of a screw takes 4 J of its motor, and those that yield take work too.
    assert costs[1] > 1.5 * costs[0]


def test_the_published_best_stride_drags_itself_backwards():
    need_engine('mujoco')
    walk, foreseen = replay_stride(published_best_stride(), 'flat', 'joints', duration=10.0)
    assert foreseen > 0.1
    assert walk.speed < 0.0
    assert walk.slip > 0.2


def test_frozen_and_free_searches_differ_in_extension_alone():
    frozen, free = (
        StrideSearch(frozen=frozen, ground='up_10', seed=3).plan() for frozen in (True, False)
    )
    assert set(free.space.names) - set(frozen.space.names) == set(EXTENSION_GENES)
    assert frozen.scenes == free.scenes
    settings = [plan.experiment.optimizer.settings['start'] for plan in (frozen, free)]
    starts = [
        plan.space.decode(np.array(start))
        for plan, start in zip((frozen, free), settings, strict=True)
    ]
    assert {name: starts[1][name] for name in frozen.space.names} == starts[0]
