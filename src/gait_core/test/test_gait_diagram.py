# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.measures.gait_diagram import gait_diagram as diagram_of_record
from gait_core.measures.gait_diagram import touchdowns

DT = 0.02
LEGS = ('fl', 'fr', 'rl', 'rr')


def gait_diagram(legs, stance, dt):
    return diagram_of_record(legs, stance, np.zeros(stance.shape[1], dtype=np.int64), dt)


def periodic(period, duty, lags, ticks=500):
    """Legs that land at lag * period and stand for duty * period ticks, again and again."""
    shift = np.rint(np.array(lags) * period).astype(int)
    return (np.arange(ticks)[:, None] - shift) % period < round(duty * period)


def test_a_trot_is_recognised():
    diagram = gait_diagram(LEGS, periodic(50, 0.6, [0.0, 0.5, 0.5, 0.0]), DT)
    for leg in LEGS:
        assert diagram.duty_factor[leg] == pytest.approx(0.6)
        assert diagram.stride_frequency[leg] == pytest.approx(1.0)
    for leg, lag in zip(LEGS, (0.0, np.pi, np.pi, 0.0), strict=True):
        assert diagram.phase_lag[leg] == pytest.approx(lag)


def test_the_share_of_stance_is_known_of_legs_that_never_land_or_never_leave():
    stance = np.zeros((100, 2), dtype=bool)
    stance[:, 0] = True
    found = gait_diagram(('down', 'up'), stance, DT)
    assert found.stance_fraction == {'down': 1.0, 'up': 0.0}
    assert not found.duty_factor


@pytest.mark.parametrize('lags', [(0.0, 0.5, 0.74, 0.26), (0.0, 0.02, 0.98, 0.6)])
def test_phase_lags_count_from_the_first_leg(lags):
    # A landing at the very first tick cannot be seen: all start in mid-stride.
    found = gait_diagram(LEGS, periodic(50, 0.7, np.array(lags) + 0.3), DT).phase_lag
    for leg, lag in zip(LEGS, lags, strict=True):
        assert found[leg] == pytest.approx(2.0 * np.pi * lag)


def test_phase_lags_are_circular_means():
    stance = periodic(50, 0.5, [0.3, 0.3], ticks=1000)
    landings = np.flatnonzero(touchdowns(stance)[:, 1])
    # The second leg lands one tick before the first and one after it, in turns.
    stance[landings[::2] - 1, 1] = True
    stance[landings[1::2], 1] = False
    lag = gait_diagram(('a', 'b'), stance, DT).phase_lag['b']
    # An arithmetic mean of 2 % and 98 % of a stride would be half a stride.
    assert min(lag, 2.0 * np.pi - lag) < 0.02


def landing(*ticks, rows=60):
    stance = np.zeros(rows, dtype=bool)
    stance[list(ticks)] = True
    return stance


def test_phases_count_in_the_stride_of_the_first_leg_that_they_fall_into():
    # Strides of 10 and of 20 ticks: a half of the first, and a quarter of the second.
    stance = np.stack([landing(10, 20, 40), landing(15), landing(25), landing(20)], axis=1)
    found = gait_diagram(LEGS, stance, DT).phase_lag
    assert found == pytest.approx({'fl': 0.0, 'fr': np.pi, 'rl': 0.5 * np.pi, 'rr': 0.0})


def test_landings_before_or_after_all_strides_of_the_first_leg_have_no_phase():
    stance = np.stack([landing(10, 20, 40), landing(5), landing(40), landing(50)], axis=1)
    assert gait_diagram(LEGS, stance, DT).phase_lag == {'fl': 0.0}
    # Of opposite phases there is no mean.
    opposite = np.stack([landing(10, 30), landing(15, 25)], axis=1)
    assert 'b' not in gait_diagram(('a', 'b'), opposite, DT).phase_lag
    # One stride is none to count in.
    assert not gait_diagram(('a', 'b'), opposite[:20], DT).phase_lag


@settings(deadline=None)
@given(period=st.integers(10, 80), stand=st.integers(20, 80), shift=st.integers(1, 79))
def test_duty_factor_and_frequency_do_not_depend_on_the_phase(period, stand, shift):
    duty = max(1, period * stand // 100) / period
    still = gait_diagram(('a',), periodic(period, duty, [1.0 / period]), DT)
    moved = gait_diagram(('a',), periodic(period, duty, [(1 + shift) / period]), DT)
    for diagram in (still, moved):
        assert diagram.duty_factor['a'] == pytest.approx(duty, abs=1e-9)
        assert diagram.stride_frequency['a'] == pytest.approx(1.0 / (period * DT))


def test_stances_are_intervals_in_seconds():
    stance = np.array([1, 1, 0, 0, 1, 1, 1, 0, 1], dtype=bool)[:, None]
    assert gait_diagram(('a',), stance, 0.5).stances['a'] == ((0.0, 1.0), (2.0, 3.5), (4.0, 4.5))


def test_standing_or_flying_all_the_time_leaves_the_rest_undefined():
    for always in (True, False):
        diagram = gait_diagram(('a', 'b'), np.full((100, 2), always), DT)
        assert diagram.duty_factor == diagram.stride_frequency == diagram.phase_lag == {}
        assert len(diagram.stances['a']) == int(always)


def test_standing_at_the_start_is_no_landing():
    stance = np.array([1, 0, 0, 1, 0, 1], dtype=bool)[:, None]
    np.testing.assert_array_equal(np.flatnonzero(touchdowns(stance)), [3, 5])


def test_legs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r'expected \(T, 2\)'):
        gait_diagram(('a', 'b'), np.zeros((5, 3), dtype=bool), DT)


def test_a_leg_that_lands_once_has_neither_stride_nor_duty_factor():
    found = gait_diagram(('a',), landing(10, 11)[:, None], DT)
    assert found.duty_factor == found.stride_frequency == {}
    assert len(found.stances['a']) == 1
