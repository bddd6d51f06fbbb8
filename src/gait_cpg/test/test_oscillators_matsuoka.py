# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Matsuoka's neurons against their theory and against what Korbel (2013) says of them."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gait_core.errors import ConfigurationError
from gait_cpg.gaits import find_gait, leg_lags
from gait_cpg.oscillators import (
    MatsuokaNeurons,
    alternating_weights,
    cross_weight_count,
    diagnose,
    neural_oscillators,
    reference_weights,
    weight_matrix,
)

STEP = 0.0005  # s, explicit Euler
SAMPLES = 30000  # of 15 s
LATE = slice(10000, None)  # 5 to 15 s
LAST = slice(26000, None)  # 13 to 15 s


def single(weight=1.5, tau=0.3, ratio=2.0):
    """Return one neural oscillator."""
    return neural_oscillators([], 1, tau_a=tau, tau_ratio=ratio, pair_weight=weight)


@cache
def signal_of(weight=1.5, tau=0.3, ratio=2.0):
    """Return the signal of one neural oscillator over 15 s, (30000,)."""
    network = single(weight, tau, ratio)
    return network.euler(network.initial_state(), STEP, SAMPLES).signals[:, 0]


def four(weights, tau):
    """Return the signals of four neural oscillators over 15 s, (..., 30000, 4)."""
    network = neural_oscillators(weights, 4, tau_a=tau)
    return network.euler(network.initial_state(), STEP, SAMPLES).signals


def third_harmonic(signal, frequency):
    """Return the third harmonic as a share of the first, over whole cycles."""
    cycles = int(len(signal) * STEP * frequency)
    whole = signal[: round(cycles / frequency / STEP)]
    sizes = np.abs(np.fft.rfft(whole))
    return sizes[3 * cycles] / sizes[cycles]


def frequency_of(signal):
    return diagnose(signal[:, None], STEP).frequency[0]


def test_check_13_a_single_oscillator_is_a_sine_of_half_a_hertz():
    late = signal_of()[LATE]
    frequency = frequency_of(late)
    assert frequency == pytest.approx(0.5305, rel=0.01)
    assert np.abs(late).max() == pytest.approx(0.19, abs=0.01)
    assert third_harmonic(late, frequency) < 0.001


def test_check_14_it_dies_with_fast_adaptation_and_is_no_sine_with_slow():
    assert np.abs(signal_of(ratio=1.5)[LAST]).max() < 0.02
    slow = signal_of(ratio=3.0)[LATE]
    assert np.abs(slow[-4000:]).max() > 0.2
    assert frequency_of(slow) == pytest.approx(0.4205, rel=0.02)
    assert third_harmonic(slow, frequency_of(slow)) > 0.05


def test_check_15_the_stated_time_constant_gives_seven_tenths_of_a_hertz():
    assert frequency_of(signal_of(tau=0.2274)[LATE]) == pytest.approx(0.70, rel=0.01)
    assert frequency_of(signal_of(tau=0.2)[LATE]) == pytest.approx(0.796, rel=0.01)
    assert frequency_of(signal_of(tau=0.5)[LATE]) == pytest.approx(0.318, rel=0.01)


def test_heavier_inhibition_changes_frequency_and_shape():
    heavy = signal_of(weight=2.0)[LATE]
    assert frequency_of(heavy) == pytest.approx(0.441, rel=0.02)
    assert np.abs(heavy).max() == pytest.approx(0.230, abs=0.002)
    assert third_harmonic(heavy, frequency_of(heavy)) == pytest.approx(0.16, abs=0.01)


REFERENCE = {
    2000: (0.09587769, 0.11561952, -0.10681086, -0.01932287),
    4000: (-0.08152248, 0.09401814, -0.01287179, 0.0),
    10000: (-0.20903445, 0.13641536, 0.03507216, 0.0),
    20000: (-0.24705011, 0.17703307, 0.0, 0.0),
    29999: (-0.13744696, 0.21533824, -0.06776550, 0.0),
}


def test_check_16_the_reference_vector_is_met():
    weights = reference_weights(4)
    np.testing.assert_allclose(weights, 1.0 + 2.4 * np.arange(24) / 24.0)
    signals = four(weights, 0.25)
    assert signals.shape == (SAMPLES, 4)
    for sample, wanted in REFERENCE.items():
        np.testing.assert_allclose(signals[sample], wanted, atol=1e-6)


@pytest.mark.parametrize(('tau', 'most'), [(0.2, 1e-6), (0.25, 1e-6), (0.3, 2e-6), (0.5, 2e-4)])
def test_check_17_oscillators_that_are_all_alike_come_to_rest(tau, most):
    assert np.abs(four(np.full(24, 2.2), tau)[LATE]).max() < most


def test_check_19_most_random_networks_are_alive_and_none_is_large():
    rng = np.random.default_rng(2013)
    weights, tau = rng.uniform(1.0, 3.4, (200, 24)), rng.uniform(0.2, 0.5, 200)
    signals = four(weights, tau)
    found = diagnose(signals[:, 24000:], STEP)
    assert (found.verdicts == 'alive').mean() >= 0.86
    assert np.abs(signals[:, 2500:]).max() <= 0.28
    sizes = np.ptp(signals[:, 2500:], axis=1)
    assert np.median(sizes) == pytest.approx(0.46, abs=0.03)


@settings(deadline=None, max_examples=30)
@given(
    weight=st.floats(1.05, 4.0),
    ratio=st.floats(0.5, 6.0),
    beta=st.floats(0.5, 3.0),
    tau=st.floats(0.1, 0.6),
)
def test_a_pair_oscillates_just_where_theory_says(weight, ratio, beta, tau):
    low, high = 1.0 + 1.0 / ratio, 1.0 + beta
    network = neural_oscillators(
        [], 1, tau_a=tau, tau_ratio=ratio, pair_weight=weight, adaptation=beta
    )
    # On the edges rounding decides.
    if min(abs(weight - low), abs(weight - high)) < 1e-6:
        return
    assert network.oscillates() == (low < weight < high)
    # Close to the upper edge a pair takes longer for a cycle than it is watched.
    if not 0.95 * high < weight < high:
        assert np.isnan(network.expected_frequency()[0]) == (not low < weight < high)


@pytest.mark.parametrize(
    ('weight', 'ratio', 'verdict'),
    [
        (1.55, 2.0, 'alive'),
        (1.45, 2.0, 'dead'),
        (3.4, 2.0, 'alive'),
        (3.6, 2.0, 'dead'),
        (1.5, 3.0, 'alive'),
        (1.5, 1.5, 'dead'),
    ],
)
def test_what_theory_says_of_rest_is_what_integration_shows(weight, ratio, verdict):
    network = single(weight, 0.2, ratio)
    run = network.euler(network.initial_state(), STEP, 60000)
    assert diagnose(run.signals[40000:], STEP).verdict == verdict
    assert network.oscillates() == (verdict == 'alive')
    if verdict == 'dead':
        # It comes to rest in a state that is among those found, and stable.
        stable = [rest for rest in network.equilibria() if rest.growth < 0.0]
        away = [np.abs(run.state[0] - rest.inner).max() for rest in stable]
        assert min(away) < 0.01
    for rest in network.equilibria():
        state = np.stack([rest.inner, np.maximum(rest.inner, 0.0)])
        np.testing.assert_allclose(network.rates(state), 0.0, atol=1e-12)


@pytest.mark.parametrize('beta', [1.5, 2.5, 8.0])
@pytest.mark.parametrize('ratio', [1.0, 2.0, 6.0])
def test_the_frequency_near_the_boundary_is_that_of_harmonic_balance(ratio, beta):
    # Matsuoka (2011), Biol. Cybern. 104:297-304, Eq. 25: exact at w = 1 + tau_a / tau_b.
    tau, weight = 0.3, 1.001 * (1.0 + 1.0 / ratio)
    network = neural_oscillators(
        [], 1, tau_a=tau, tau_ratio=ratio, pair_weight=weight, adaptation=beta
    )
    balance = np.sqrt((1.0 + ratio) * beta / weight - 1.0) / (2.0 * np.pi * ratio * tau)
    assert network.expected_frequency()[0] == pytest.approx(balance, rel=3e-3)


@pytest.mark.parametrize(
    ('weight', 'ratio', 'beta'), [(2.5, 12.0, 2.5), (3.3, 12.0, 2.5), (3.3, 0.5, 16.0)]
)
def test_frequency_and_peak_far_from_the_boundary_are_those_of_the_equations(weight, ratio, beta):
    tau, tonic = 0.05, 1.0

    def rates(_, state):
        u, v = state[:2], state[2:]
        y = np.maximum(u, 0.0)
        return np.r_[(tonic - u - weight * y[::-1] - beta * v) / tau, (y - v) / (ratio * tau)]

    def signal(_, state):
        return max(state[0], 0.0) - max(state[1], 0.0)

    signal.direction = 1.0
    end = 60.0 * tau * (1.0 + ratio)
    run = solve_ivp(
        rates,
        (0.0, end),
        [0.3, 0.3, 0.1, 0.5],
        events=signal,
        rtol=1e-8,
        atol=1e-10,
        max_step=0.5 * tau,
    )
    start, stop = run.t_events[0][[-6, -1]]
    late = np.maximum(run.y[:2, run.t > start], 0.0)
    network = neural_oscillators(
        [], 1, tau_a=tau, tau_ratio=ratio, pair_weight=weight, adaptation=beta, tonic=tonic
    )
    assert network.expected_frequency()[0] == pytest.approx(5.0 / (stop - start), rel=5e-3)
    assert network.expected_amplitude()[0] == pytest.approx(
        np.abs(late[0] - late[1]).max(), rel=0.02
    )


def test_a_pair_with_known_frequency():
    network = neural_oscillators(
        [], 1, tau_a=0.05, tau_ratio=12.0, pair_weight=2.5, adaptation=2.5, tonic=1.0
    )
    assert network.expected_frequency()[0] == pytest.approx(0.676, abs=5e-4)


def test_rhythms_are_known_of_pairs_alone():
    batch = neural_oscillators(np.zeros((3, 4)), 2, tau_a=np.array([0.2, 0.3, 0.4]))
    np.testing.assert_allclose(
        batch.expected_frequency(),
        np.repeat([[0.2], [0.3], [0.4]], 2, axis=1) ** -1 / 2 / np.pi,
        rtol=1e-3,
    )
    assert batch.expected_amplitude().shape == (3, 2)
    with pytest.raises(ValueError, match='equal pairs without coupling'):
        neural_oscillators(reference_weights(4), 4, tau_a=0.3).expected_frequency()
    with pytest.raises(ValueError, match='one network'):
        batch.oscillates()


def test_four_oscillators_of_the_reference_cannot_come_to_rest():
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    assert network.oscillates()
    assert network.equilibria()
    # Winners that keep all others silent are stable where inhibition outweighs adaptation.
    strong = neural_oscillators(np.full(24, 4.0), 4, tau_a=0.25, pair_weight=4.0)
    assert not strong.oscillates()


def test_weights_go_where_the_published_map_puts_them():
    weights = weight_matrix(np.arange(1.0, 25.0), 4)
    # Appendix B.2: neurons from 1; w1 is of neuron 3 on 1, w11 of 6 on 4, w24 of 6 on 8.
    wanted = {
        (1, 3): 1,
        (1, 5): 2,
        (1, 7): 3,
        (2, 4): 4,
        (3, 1): 7,
        (4, 6): 11,
        (5, 3): 14,
        (6, 2): 16,
        (7, 5): 21,
        (8, 2): 22,
        (8, 6): 24,
    }
    for (to, sender), value in wanted.items():
        assert weights[to - 1, sender - 1] == value
    pairs = [(i, i ^ 1) for i in range(8)]
    assert all(weights[pair] == 1.5 for pair in pairs)
    assert np.count_nonzero(weights) == 32


@given(count=st.integers(1, 8))
def test_any_number_of_oscillators_inhibits_all_to_all_in_kind(count):
    weights = weight_matrix(np.ones(cross_weight_count(count)), count, pair_weight=2.0)
    kind = np.arange(2 * count) % 2
    alike = kind[:, None] == kind[None, :]
    np.testing.assert_array_equal(weights[alike] - np.eye(2 * count)[alike] * -1.0, 1.0)
    assert np.count_nonzero(weights[~alike]) == 2 * count


def test_a_wrong_number_of_weights_is_refused():
    with pytest.raises(ValueError, match=r'have shape \(23,\), expected 24'):
        neural_oscillators(np.ones(23), 4, tau_a=0.3)
    with pytest.raises(ValueError, match='3 paired neurons: expected an even number'):
        MatsuokaNeurons(weights=np.zeros((3, 3)), tonic=1.0, tau_a=0.1, tau_b=0.2, adaptation=2.0)


@settings(deadline=None, max_examples=10)
@given(order=st.permutations(range(4)), seed=st.integers(0, 2**32 - 1))
def test_relabelled_oscillators_give_relabelled_signals(order, seed):
    rng = np.random.default_rng(seed)
    network = neural_oscillators(rng.uniform(1.0, 3.4, 24), 4, tau_a=0.3)
    neurons = np.array([[2 * i, 2 * i + 1] for i in order]).ravel()
    other = MatsuokaNeurons(
        weights=network.weights[np.ix_(neurons, neurons)],
        tonic=0.5,
        tau_a=0.3,
        tau_b=0.6,
        adaptation=2.5,
    )
    state = rng.uniform(-0.3, 0.3, (2, 8))
    one = network.euler(state, STEP, 200).signals
    relabelled = other.euler(state[:, neurons], STEP, 200).signals
    np.testing.assert_allclose(relabelled, one[:, list(order)], atol=1e-12)


def test_three_neurons_in_a_ring_fire_one_after_the_other():
    # Matsuoka (1985), section 5: cyclic inhibition, no pairs; the outputs are the signals.
    ring = np.array([[0.0, 2.5, 0.0], [0.0, 0.0, 2.5], [2.5, 0.0, 0.0]])
    network = MatsuokaNeurons(
        weights=ring, tonic=1.0, tau_a=0.1, tau_b=1.2, adaptation=2.5, readout='neurons'
    )
    assert network.outputs == 3
    assert network.oscillates()
    signals = network.euler(network.initial_state(), 0.001, 20000).signals[10000:]
    found = diagnose(signals, 0.001)
    assert found.verdict == 'alive'
    peaks = [np.argmax(signals[: round(1000 / found.frequency[0]), i]) for i in range(3)]
    gaps = np.diff(np.sort(peaks)) * 0.001 * found.frequency[0]
    np.testing.assert_allclose(gaps, 1.0 / 3.0, atol=0.02)


def test_the_lagged_readout_adds_the_fatigue_of_each_pair():
    network = neural_oscillators(reference_weights(4), 4, tau_a=0.25, readout='lagged')
    plain = neural_oscillators(reference_weights(4), 4, tau_a=0.25)
    run, signals = (
        network.euler(network.initial_state(), STEP, 3000),
        four(reference_weights(4), 0.25),
    )
    np.testing.assert_array_equal(run.signals[:, :4], signals[:3000])
    np.testing.assert_array_equal(run.state, plain.euler(plain.initial_state(), STEP, 3000).state)
    # What lags is the first, low-passed: tau_b dV/dt = S - V.
    lagged, before = run.signals[:, 4:], run.signals[:-1]
    np.testing.assert_allclose(
        np.diff(lagged, axis=0), STEP / 0.5 * (before[:, :4] - before[:, 4:]), atol=1e-15
    )
    np.testing.assert_array_equal(network.signals(run.state), run.signals[-1])
    with pytest.raises(ValueError, match="readout 'pair', expected one of"):
        neural_oscillators([], 1, tau_a=0.3, readout='pair')


def leg_lags_of(name, pairs):
    feet = np.array([[0.1 * i, side, 0.0] for i in range(pairs) for side in (0.1, -0.1)])
    return leg_lags(find_gait(name), feet)


@pytest.mark.parametrize(
    ('name', 'pairs'), [('trot', 2), ('pace', 2), ('bound', 2), ('tripod', 3), ('trot', 4)]
)
def test_alternating_weights_bring_legs_from_random_states_to_the_gait(name, pairs):
    lags = leg_lags_of(name, pairs)
    count = 2 * pairs
    network = neural_oscillators(
        alternating_weights(lags, 0.6), count, tau_a=np.full(8, 0.05), pair_weight=2.0
    )
    start = np.random.default_rng(pairs).uniform(0.0, 0.4, (8, 2, 2 * count))
    late = network.euler(start, STEP, 40000).signals[:, 30000:]
    assert (diagnose(late, STEP).verdicts == 'alive').all()
    # All in step with the first, or opposite to it, by their lags.
    signs = np.where(np.abs(lags - lags[0]) < 0.25, 1.0, -1.0)
    away = np.abs(late * signs - late[:, :, :1]).max(axis=(1, 2))
    assert away.max() < 0.01
    # A pair that is inhibited by as much more.
    pair = neural_oscillators([], 1, tau_a=0.05, pair_weight=2.6)
    found = diagnose(late, STEP).frequency
    np.testing.assert_allclose(found, pair.expected_frequency()[0], rtol=0.02)


def test_alternating_weights_are_of_half_cycles():
    with pytest.raises(ValueError, match='expected multiples of one half'):
        alternating_weights(leg_lags_of('walk', 2), 0.5)
    weights = weight_matrix(alternating_weights(leg_lags_of('tripod', 3), 0.6), 6)
    np.testing.assert_allclose(weights.sum(axis=1), 1.5 + 0.6)


def test_feedback_entrains_an_oscillator_to_its_rhythm():
    network = single()
    time = STEP * np.arange(60000)
    own = network.expected_frequency()[0]
    rhythm = 0.2 * np.sin(2.0 * np.pi * 1.15 * own * time)
    run = network.euler(
        network.initial_state(), STEP, 60000, drive=np.stack([rhythm, -rhythm], axis=1)
    )
    assert frequency_of(run.signals[30000:, 0]) == pytest.approx(1.15 * own, rel=0.01)


def test_the_library_reports_a_network_that_dies():
    signals = four(np.full(24, 2.2), 0.25)[24000:]
    with pytest.raises(ConfigurationError, match='signals 1, 2, 3, 4 of 4 do not oscillate'):
        diagnose(signals, STEP).require_alive()
