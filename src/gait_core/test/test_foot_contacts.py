# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stances from forces: hysteresis, closed gaps, and grazes by their impulse."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.measures.foot_contacts import (
    SoleContacts,
    StanceRule,
    stance_rule,
    stances_from_forces,
)
from gait_core.measures.gait_diagram import touchdowns
from gait_core.testing.doubles import legged_box

DT = 0.01
WEIGHT = 100.0


def rule(on=5.0, off=2.0, gap=0.03, impulse=1.0, dt=DT):
    """Return a rule; by default gaps below 3 ticks are closed and stances need 100 N ticks."""
    return StanceRule(on_force=on, off_force=off, min_gap=gap, min_impulse=impulse, dt=dt)


def stances(*forces, limits=None):
    """Return the stances of a single sole, and its grazes."""
    found, grazes = stances_from_forces(np.array(forces, dtype=float)[:, None], limits or rule())
    return found[:, 0].astype(int).tolist(), int(grazes[0])


def test_the_rule_of_a_robot_follows_from_its_weight_and_length():
    robot = legged_box()
    found, weight = stance_rule(robot, 9.81, 0.02), robot.mass * 9.81
    assert (found.on_force, found.off_force) == pytest.approx((0.05 * weight, 0.02 * weight))
    assert found.min_impulse == pytest.approx(0.01 * weight)
    # Legs of 0.3 m: half of sqrt(0.3 / 9.81) s are 4.37 ticks, so five are a swing.
    assert found.min_gap == pytest.approx(0.0874, abs=1e-4)
    assert found.gap_ticks == 5


@pytest.mark.parametrize(('gap', 'ticks'), [(0.03, 3), (0.0301, 4), (0.0, 1), (3 * 0.1 / 10, 3)])
def test_a_gap_counts_by_its_time(gap, ticks):
    assert rule(gap=gap).gap_ticks == ticks


def test_between_the_thresholds_a_sole_stays_as_it_is():
    instant = rule(gap=0.0, impulse=0.0)
    found, _ = stances(3, 5, 3, 3, 1, 3, 3, 6, 2, 3, limits=instant)
    assert found == [0, 1, 1, 1, 0, 0, 0, 1, 1, 1]


def test_a_bounce_belongs_to_the_stance_around_it():
    # Two ticks off are closed, three are a swing.
    found, _ = stances(0, 0, 0, 0, 60, 0, 0, 60, 60, 0, 0, 0, 90, 90)
    assert found == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ('force', 'ticks', 'is_stance'),
    # 0.01 s times 100 N are 1 N s: 38 ms of the weight are a stance, 3 to 4 ms are none.
    [(380.0, 1, True), (35.0, 1, False), (50.0, 2, True), (49.0, 2, False), (9.0, 12, True)],
)
def test_a_stance_is_told_from_a_graze_by_its_impulse(force, ticks, is_stance):
    found, grazes = stances(*[0] * 5, *[force] * ticks, *[0] * 5)
    assert sum(found) == (ticks if is_stance else 0)
    assert grazes == (not is_stance)


def test_a_landing_that_the_end_cuts_is_neither_stance_nor_graze():
    assert stances(*[0] * 5, 40, 40) == ([0] * 7, 0)
    assert stances(*[0] * 5, 40, 40, 40) == ([0] * 5 + [1] * 3, 0)


def test_a_sole_that_is_loaded_within_a_gap_of_the_start_stands_from_it():
    assert stances(0, 0, 9, 9, 9) == ([1] * 5, 0)
    assert stances(0, 0, 0, 90, 90) == ([0, 0, 0, 1, 1], 0)


def test_noise_about_a_threshold_makes_one_stance():
    # Landing and lifting off over 100 ticks each, with noise of a quarter of the gap.
    rng = np.random.default_rng(0)
    ramp = np.concatenate([np.linspace(0, 10, 100), np.linspace(10, 0, 100)])
    noisy = ramp + rng.uniform(-0.5, 0.5, 200)
    assert np.abs(np.diff((noisy > 5.0).astype(int))).sum() > 2
    found, _ = stances(*noisy, limits=rule(on=6.0, off=4.0, gap=0.0))
    assert np.abs(np.diff(found)).sum() == 2


def test_thresholds_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match='off must not exceed on'):
        rule(on=1.0, off=2.0)


def bursts(forces_and_ticks):
    return np.concatenate([np.full(ticks, force) for force, ticks in forces_and_ticks])


@given(
    record=st.lists(
        st.tuples(st.sampled_from([0.0, 3.0, 6.0, 40.0, 200.0]), st.integers(1, 8)),
        min_size=1,
        max_size=20,
    )
)
def test_what_arrives_tick_by_tick_makes_the_stances_of_the_whole(record):
    forces = np.concatenate([np.zeros(4), bursts(record), np.zeros(4)])[:, None]
    whole, grazes = stances_from_forces(forces, rule())
    soles = SoleContacts(rule(), 1)
    live = np.array([soles.update(row) for row in forces])
    assert touchdowns(live).sum() == touchdowns(whole).sum()
    assert soles.grazes[0] == grazes[0]
    # Each stance of the whole is long enough and has its impulse; each gap is a whole one.
    edges = np.flatnonzero(np.diff(whole[:, 0])) + 1
    for begin, end in edges.reshape(-1, 2):
        assert forces[begin, 0] >= 5.0 and forces[end - 1, 0] >= 2.0
        assert forces[begin:end].sum() * DT >= 1.0
    assert np.all(edges[2::2] - edges[1:-1:2] >= 3)
