# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ticks owed to wall time: the ratio is kept, a long stop is let go."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from sim_bridge.pacing import CommandWait, RealTimePace, poll_schedule


@given(
    steps=st.lists(st.floats(1e-4, 0.05), min_size=1, max_size=100),
    factor=st.sampled_from([0.2, 1.0, 5.0]),
)
def test_ticks_follow_wall_time_at_any_jitter_to_within_one(steps, factor):
    pace, now, done = RealTimePace(0.02), 100.0, 0
    pace.due_ticks(now, factor)
    for step in steps:
        now += step
        owed = pace.due_ticks(now, factor)
        pace.count_ticks(owed)
        done += owed
        assert abs(done - (now - 100.0) * factor / 0.02) <= 1.0 + 1e-6
    assert pace.lag == 0.0


def test_a_stop_longer_than_a_quarter_second_is_not_made_up_for():
    pace = RealTimePace(0.02)
    pace.due_ticks(0.0, 1.0)
    assert pace.due_ticks(10.0, 1.0) == pytest.approx(0.25 / 0.02, abs=1)
    assert pace.lag == pytest.approx(9.75, abs=0.021)


def test_a_new_factor_holds_from_the_moment_it_is_set():
    pace = RealTimePace(0.02)
    pace.due_ticks(0.0, 1.0)
    pace.count_ticks(pace.due_ticks(0.2, 1.0))
    assert pace.due_ticks(0.2, 5.0) == 0
    assert pace.due_ticks(0.3, 5.0) == pytest.approx(25, abs=1)


def test_nothing_is_owed_for_a_pause():
    pace = RealTimePace(0.02)
    pace.due_ticks(0.0, 1.0)
    pace.restart()
    assert pace.due_ticks(5.0, 1.0) == 0 and pace.lag == 0.0


@pytest.mark.parametrize('factor', [0.05, 1.0, 4.0, 10.0])
def test_ticks_come_one_by_one_and_late_ones_can_be_made_up_for(factor):
    period, at_once = poll_schedule(0.02, factor)
    assert at_once == 1
    assert 0.001 <= period <= 0.5 * 0.02 / factor


@given(dt=st.floats(1e-3, 1.0), factor=st.floats(0.01, 100.0))
def test_what_is_owed_can_be_run_at_any_factor(dt, factor):
    period, at_once = poll_schedule(dt, factor)
    assert at_once * dt / factor >= period * (1.0 - 1e-12)
    assert 0.001 <= period <= 0.01


def regular(ticks=5):
    """Return patience with who has commanded in each of some ticks of 5 ms, and the time."""
    patience = CommandWait()
    for tick in range(ticks):
        assert patience.may_step(0.005 * tick, tick)
        patience.note_tick(0.005 * tick)
    return patience, 0.005 * ticks


def test_late_targets_of_a_regular_controller_are_waited_for():
    patience, now = regular(6)
    for late in (0.0, 0.01, 0.04):
        assert not patience.may_step(now + late, 5)
    assert patience.may_step(now + 0.041, 6)


def test_who_is_gone_is_waited_for_once():
    patience, now = regular(6)
    assert not patience.may_step(now, 5)
    assert patience.may_step(now + 0.06, 5)
    for tick in range(20):
        patience.note_tick(now + 0.06 + 0.005 * tick)
        assert patience.may_step(now + 0.06 + 0.005 * tick, 5)


@pytest.mark.parametrize('every', [2, 3])
def test_who_commands_more_slowly_than_ticks_come_is_never_waited_for(every):
    patience = CommandWait()
    for tick in range(60):
        assert patience.may_step(0.005 * tick, tick // every)
        patience.note_tick(0.005 * tick)
