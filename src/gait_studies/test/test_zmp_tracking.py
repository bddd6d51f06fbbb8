# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The published ZMP score: closed forms, its quirks, failures, and the filter."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.measures.stability import moving_mean
from gait_core.motion.stance_controller import HoldController
from gait_core.registry import load, names
from gait_core.testing.doubles import (
    KinematicEngine,
    register_temporarily,
    rollout_with_arrays,
    spec_for_test,
)
from gait_core.trial.loop import run_loop
from gait_studies.pike2003 import zmp_tracking
from gait_studies.pike2003.zmp_tracking import (
    IdealZmp,
    deviation_changes,
    mean_deviation,
    mean_deviation_change,
)

TIME = np.arange(241) * 0.02
IDEAL = IdealZmp(amplitude=0.085, speed=0.053, period=3.15)
TERMS = ('pike2003_zmp', 'pike2003_zmp_smooth', 'zmp_deviation')


def test_the_ideal_scores_nothing_and_a_constant_offset_counts_once():
    ideal = IDEAL.at(TIME)
    assert mean_deviation_change(ideal, ideal) == 0.0
    # The first term holds the whole offset, and 137 terms are divided by 138.
    assert mean_deviation_change(ideal, ideal + [0.0, 0.1]) == pytest.approx(100 * 0.5 * 0.1 / 138)
    assert mean_deviation_change(ideal, ideal + [0.0, 0.1]) == pytest.approx(0.0362, abs=1e-4)
    assert deviation_changes(ideal, ideal + [0.0, 0.1]).shape == (137, 2)


def test_the_text_of_the_publication_would_count_it_in_every_tick():
    ideal = IDEAL.at(TIME)
    assert mean_deviation(ideal, ideal + [0.0, 0.1]) == pytest.approx(100 * 0.5 * 0.1)


@given(st.integers(0, 102), st.integers(240, 240), st.floats(-5.0, 5.0))
def test_ticks_outside_the_scored_ones_do_not_count(early, late, offset):
    ideal = IDEAL.at(TIME)
    moved = ideal.copy()
    moved[early] += offset
    moved[late] += offset
    assert mean_deviation_change(ideal, moved) == 0.0
    assert mean_deviation(ideal, moved) == 0.0


@given(st.integers(103, 239))
def test_every_scored_tick_counts(tick):
    ideal = IDEAL.at(TIME)
    moved = ideal.copy()
    moved[tick, 0] += 0.01
    # Up and down again, except in the last tick, from which nothing returns.
    edges = 1 if tick == 239 else 2
    assert mean_deviation_change(ideal, moved) == pytest.approx(100 * 0.5 * 0.01 * edges / 138)


def test_alternating_deviation_scores_its_swing_not_its_size():
    ideal = IDEAL.at(TIME)
    chatter = np.zeros_like(ideal)
    chatter[::2, 1] = 0.02
    # 136 swings of 2 cm; the first term is the deviation at tick 103, an odd one: none.
    assert mean_deviation_change(ideal, ideal + chatter) == pytest.approx(
        100 * 0.5 * 136 * 0.02 / 138
    )


def test_the_ideal_has_the_crossings_of_the_sway():
    time_scale = 0.9
    crossings = IDEAL.start + np.array([1.0, 2.75]) * time_scale
    np.testing.assert_allclose(IDEAL.at(crossings)[:, 1], 0.0, atol=1e-12)
    # On the right foot first, then on the left one; a ramp ahead; nothing before the start.
    assert IDEAL.at(np.array([IDEAL.start + 0.125 * time_scale]))[0, 1] == pytest.approx(-0.085)
    assert IDEAL.at(np.array([IDEAL.start + 1.875 * time_scale]))[0, 1] == pytest.approx(0.085)
    np.testing.assert_array_equal(IDEAL.at(TIME)[:102], 0.0)
    np.testing.assert_allclose(np.diff(IDEAL.at(TIME)[102:, 0]), 0.053 * 0.02)


def test_the_filter_is_a_mean_over_what_there_is():
    values = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, -2.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        moving_mean(values, 2), [[1.0, 0.0], [2.0, 1.0], [4.0, 0.0], [2.5, -1.0]]
    )
    np.testing.assert_allclose(moving_mean(values, 9)[-1], values.mean(axis=0))
    np.testing.assert_array_equal(moving_mean(values, 1), values)


@pytest.fixture(scope='module')
def gliding():
    """Return a robot that glides at 0.3 m/s, faces and goes 50 degrees to the left, 240 ticks."""
    with register_temporarily('controllers', hold=HoldController):
        loop = run_loop(spec_for_test('hold', duration=4.8), KinematicEngine())
    rollout, yaw = loop.rollout(), np.radians(50.0)
    poses = np.zeros_like(rollout.body_poses)
    poses[:, 0, 0] = 2.0 + 0.3 * rollout.time * np.cos(yaw)
    poses[:, 0, 1] = -1.0 + 0.3 * rollout.time * np.sin(yaw)
    poses[:, 0, 2] = 0.3
    poses[:, 0, 3:] = Rotation.from_euler('z', yaw).as_quat()
    return rollout_with_arrays(rollout, body_poses=poses)


def test_the_measured_zmp_is_seen_from_the_start_in_its_heading(gliding):
    zmp = zmp_tracking.filtered_zmp(gliding, 1)
    # No acceleration: below the centre of mass. The first tick has none: the start; the last
    # one holds the tick before.
    np.testing.assert_array_equal(zmp[0], 0.0)
    np.testing.assert_allclose(np.diff(zmp[1:-1, 0]), 0.3 * 0.02, atol=1e-9)
    np.testing.assert_allclose(np.ptp(zmp[1:, 1]), 0.0, atol=1e-9)
    np.testing.assert_array_equal(zmp[-1], zmp[-2])
    np.testing.assert_allclose(
        zmp_tracking.filtered_zmp(gliding)[5], 0.5 * (zmp[4] + zmp[5]), atol=1e-12
    )


def test_the_score_of_a_rollout_is_that_of_its_zmp(gliding):
    ideal = zmp_tracking.ideal_zmp(gliding).at(gliding.time)
    assert load('fitness_terms', 'pike2003_zmp')(gliding) == mean_deviation_change(
        ideal, zmp_tracking.filtered_zmp(gliding)
    )
    assert zmp_tracking.ideal_zmp(gliding).period == 3.15


@pytest.mark.parametrize('name', TERMS)
def test_a_fall_and_a_trial_without_a_scored_tick_cost_more_than_any_other(name, gliding):
    term = load('fitness_terms', name)
    assert term(replace(gliding, status='fell')) == zmp_tracking.FALL_COST
    short = spec_for_test('hold', duration=1.0)
    with register_temporarily('controllers', hold=HoldController):
        assert term(run_loop(short, KinematicEngine()).rollout()) == zmp_tracking.FALL_COST
    # However wild: a ZMP that jumps by kilometres is no failure yet.
    wild = gliding.body_poses.copy()
    wild[::2, 0, 0] += 1e6
    assert 100.0 < term(rollout_with_arrays(gliding, body_poses=wild)) < zmp_tracking.FALL_COST


def test_all_terms_are_registered():
    assert set(TERMS) <= set(names('fitness_terms'))
