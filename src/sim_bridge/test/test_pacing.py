"""Ticks owed to wall time: the ratio is kept, a long stop is let go."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from sim_bridge.pacing import Pace


@given(
    steps=st.lists(st.floats(1e-4, 0.05), min_size=1, max_size=100),
    factor=st.sampled_from([0.2, 1.0, 5.0]),
)
def test_ticks_follow_wall_time_at_any_jitter_to_within_one(steps, factor):
    pace, now, done = Pace(0.02), 100.0, 0
    pace.owed(now, factor)
    for step in steps:
        now += step
        owed = pace.owed(now, factor)
        pace.ran(owed)
        done += owed
        assert abs(done - (now - 100.0) * factor / 0.02) <= 1.0 + 1e-6
    assert pace.lag == 0.0


def test_a_stop_longer_than_a_quarter_second_is_not_made_up_for():
    pace = Pace(0.02)
    pace.owed(0.0, 1.0)
    assert pace.owed(10.0, 1.0) == pytest.approx(0.25 / 0.02, abs=1)
    assert pace.lag == pytest.approx(9.75, abs=0.021)


def test_a_new_factor_holds_from_the_moment_it_is_set():
    pace = Pace(0.02)
    pace.owed(0.0, 1.0)
    pace.ran(pace.owed(0.2, 1.0))
    assert pace.owed(0.2, 5.0) == 0
    assert pace.owed(0.3, 5.0) == pytest.approx(25, abs=1)


def test_nothing_is_owed_for_a_pause():
    pace = Pace(0.02)
    pace.owed(0.0, 1.0)
    pace.restart()
    assert pace.owed(5.0, 1.0) == 0 and pace.lag == 0.0
