# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of gaits against footfall orders that are known by name."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_cpg.gaits import GAITS, Gait, find_gait, leg_lags, leg_sides_and_pairs
from gait_cpg.insect.rhythm import InsectRhythm
from gait_cpg.oscillators import PhaseOscillators, coupling_to_lags

FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT = (
    [0.2, 0.1, -0.3], [0.2, -0.1, -0.3], [-0.2, 0.1, -0.3], [-0.2, -0.1, -0.3])  # fmt: skip
QUADRUPED = np.array([FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT])
HEXAPOD = np.array([[x, y, 0.0] for x in (0.1, 0.0, -0.1) for y in (0.05, -0.05)])


def test_trot_moves_diagonal_legs_together():
    front_left, front_right, rear_left, rear_right = leg_lags(find_gait('trot'), QUADRUPED)
    assert front_left == rear_right
    assert front_right == rear_left
    assert abs(front_left - front_right) == 0.5


def test_walk_is_the_lateral_sequence():
    lags = leg_lags(find_gait('walk'), QUADRUPED)
    order = [('FL', 'FR', 'RL', 'RR')[i] for i in np.argsort(lags)]
    assert order == ['RL', 'FL', 'RR', 'FR']
    np.testing.assert_allclose(np.sort(lags), [0.0, 0.25, 0.5, 0.75])


def test_walk_keeps_three_feet_down():
    lags = leg_lags(find_gait('walk'), QUADRUPED)
    share = (np.linspace(0.0, 1.0, 1000, endpoint=False)[:, None] - lags) % 1.0
    assert np.sum(share < 1.0 - find_gait('walk').duty_factor, axis=1).max() == 1


def test_trot_of_six_legs_is_the_tripod():
    lags = leg_lags(find_gait('trot'), HEXAPOD).reshape(3, 2)
    np.testing.assert_allclose(lags, [[0.0, 0.5], [0.5, 0.0], [0.0, 0.5]])


def test_walk_of_six_legs_lifts_one_after_the_other():
    lags = leg_lags(find_gait('walk'), HEXAPOD)
    np.testing.assert_allclose(np.sort(lags), np.arange(6) / 6.0, atol=1e-12)


@given(order=st.permutations(range(6)), name=st.sampled_from(sorted(GAITS)))
def test_lags_follow_the_legs_when_these_are_relabelled(order, name):
    order = list(order)
    np.testing.assert_array_equal(
        leg_lags(find_gait(name), HEXAPOD[order]), leg_lags(find_gait(name), HEXAPOD)[order]
    )


def test_places_count_from_the_rear():
    side, pair = leg_sides_and_pairs(QUADRUPED)
    assert side.tolist() == [0, 1, 0, 1]
    assert pair.tolist() == [1, 1, 0, 0]


def test_an_unknown_gait_names_the_nearest():
    with pytest.raises(ConfigurationError, match="did you mean 'trot'"):
        find_gait('trott')


@pytest.mark.parametrize('duty_factor', [0.0, 1.0, float('nan')])
def test_a_gait_needs_a_stance_and_a_swing(duty_factor):
    with pytest.raises(ConfigurationError, match='duty_factor'):
        Gait(duty_factor=duty_factor, side_lag=0.5, pair_lag=0.5)


def test_pace_moves_the_legs_of_a_side_together_and_bound_those_of_a_pair():
    front_left, front_right, rear_left, rear_right = leg_lags(find_gait('pace'), QUADRUPED)
    assert (front_left, front_right) == (rear_left, rear_right)
    assert abs(front_left - front_right) == 0.5
    front_left, front_right, rear_left, rear_right = leg_lags(find_gait('bound'), QUADRUPED)
    assert (front_left, rear_left) == (front_right, rear_right)
    assert abs(front_left - rear_left) == 0.5


def in_the_air(name, feet):
    """Return the least and the largest number of feet in the air over a cycle."""
    # Between the instants at which one foot lands and the next lifts.
    time = (np.arange(1000) + 0.5) / 1000.0
    share = (time[:, None] - leg_lags(find_gait(name), feet)) % 1.0
    lifted = np.sum(share < 1.0 - find_gait(name).duty_factor, axis=1)
    return lifted.min(), lifted.max()


def test_tripod_ripple_and_wave_lift_three_two_and_one_of_six_legs():
    assert in_the_air('tripod', HEXAPOD)[1] == 3
    assert in_the_air('ripple', HEXAPOD) == (2, 2)
    assert in_the_air('wave', HEXAPOD)[1] == 1


@pytest.mark.parametrize(('name', 'cycle'), [('tripod', 2.0), ('ripple', 3.0), ('wave', 6.0)])
def test_insect_gaits_are_those_of_the_rule_for_steps_of_a_fixed_time(name, cycle):
    # Rows count from the front, sides as in the table; the cycle in times of one step.
    rhythm = InsectRhythm(np.array([0, 0, 1, 1, 2, 2]), np.array([False, True] * 3))
    began = np.zeros(6)
    dt = 0.001
    for tick in range(round(2.5 * cycle / dt)):
        began[rhythm.advance(dt, cycle, 1.0)] = tick * dt
    lags = (began - began[4]) / cycle % 1.0
    away = (lags - leg_lags(find_gait(name), HEXAPOD) + 0.5) % 1.0 - 0.5
    np.testing.assert_allclose(away, 0.0, atol=0.002)


@pytest.mark.parametrize('name', sorted(GAITS))
@pytest.mark.parametrize('feet', [QUADRUPED, HEXAPOD], ids=['four', 'six'])
def test_coupling_brings_oscillators_from_random_phases_to_the_gait(name, feet):
    lags = leg_lags(find_gait(name), feet)
    coupling = coupling_to_lags(lags, 6.0)
    phase = np.random.default_rng(len(feet)).uniform(-np.pi, np.pi, (20, len(feet)))
    starts = PhaseOscillators(
        frequency=np.full((20, 1), 1.5), target_amplitude=1.0, amplitude_gain=12.0,
        coupling=coupling,
    )  # fmt: skip
    state = starts.rest_state(phase)
    for _ in range(300):
        state = starts.advance(state, 0.05)
    behind = (state[:, 0, :1] - state[:, 0]) / (2.0 * np.pi) - (lags - lags[0])
    np.testing.assert_allclose((behind + 0.5) % 1.0 - 0.5, 0.0, atol=1e-6)
