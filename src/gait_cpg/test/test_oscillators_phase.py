# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Oscillator networks against closed forms and against an independent integrator."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
import numpy as np
import pytest

from gait_cpg.oscillators import (
    Coupling,
    PhaseOscillators,
    amplitudes_after,
    coupling_to_lags,
    locked_phases,
    zero_coupling,
)
from gait_cpg.oscillators.kernels import sample_phase_oscillators

TROT = np.array([0.0, 0.5, 0.5, 0.0])
WALK = np.array([0.0, 0.25, 0.5, 0.75])


def network(coupling, frequency=2.0, target=1.0, gain=10.0):
    return PhaseOscillators(
        frequency=frequency, target_amplitude=target, amplitude_gain=gain, coupling=coupling
    )


def full(phase):
    """Return a state of unit amplitudes."""
    phase = np.asarray(phase)
    return np.stack([phase, np.ones_like(phase), np.zeros_like(phase)], axis=-2)


def random_network(n, seed):
    rng = np.random.default_rng(seed)
    bias = rng.uniform(-np.pi, np.pi, (n, n))
    coupling = Coupling(weights=rng.uniform(0.0, 3.0, (n, n)), phase_bias=bias - bias.T)
    state = np.stack(
        [rng.uniform(-np.pi, np.pi, n), rng.uniform(0.0, 1.5, n), rng.uniform(0.0, 1.0, n)]
    )
    frequency, target = rng.uniform(0.5, 3.0, n), rng.uniform(0.0, 1.5, n)
    return state, network(coupling, frequency, target, np.full(n, 12.0))


def literal_rates(phase, amplitude, net):
    # The published sum, term by term.
    rates = 2.0 * np.pi * net.frequency
    for i in range(len(phase)):
        for j in range(len(phase)):
            rates[i] += (
                amplitude[j]
                * net.coupling.weights[i, j]
                * np.sin(phase[j] - phase[i] - net.coupling.phase_bias[i, j])
            )
    return rates


def run(net, state, seconds, dt=0.01):
    for _ in range(round(seconds / dt)):
        state = net.advance(state, dt)
    return state


def wrapped(angle):
    return (np.asarray(angle) + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.parametrize('n', [2, 4, 7])
def test_rates_equal_the_published_equations(n):
    state, net = random_network(n, seed=n)
    phase, amplitude, rate = net.rates(state)
    np.testing.assert_allclose(phase, literal_rates(state[0], state[1], net), atol=1e-12)
    np.testing.assert_array_equal(amplitude, state[2])
    np.testing.assert_allclose(rate, 12.0 * (3.0 * (net.target_amplitude - state[1]) - state[2]))


@given(phase=arrays(np.float64, 4, elements=st.floats(-10.0, 10.0)), shift=st.floats(-50.0, 50.0))
def test_rates_ignore_a_common_phase_shift(phase, shift):
    net = network(coupling_to_lags(WALK, 5.0))
    np.testing.assert_allclose(net.rates(full(phase + shift)), net.rates(full(phase)), atol=1e-9)


@given(order=st.permutations(range(5)), seed=st.integers(0, 2**32 - 1))
def test_relabelled_oscillators_have_relabelled_rates(order, seed):
    state, net = random_network(5, seed)
    order = list(order)
    relabelled = network(
        Coupling(
            weights=net.coupling.weights[np.ix_(order, order)],
            phase_bias=net.coupling.phase_bias[np.ix_(order, order)],
        ),
        net.frequency[order],
        net.target_amplitude[order],
        12.0,
    )
    np.testing.assert_allclose(
        relabelled.rates(state[:, order]), net.rates(state)[:, order], atol=1e-10
    )


@settings(deadline=None, max_examples=25)
@given(offset=arrays(np.float64, 4, elements=st.floats(-0.7, 0.7)))
def test_phases_lock_to_the_wanted_lags(offset):
    # All phases within a half circle of the locked state: it is the only attractor there.
    end = run(network(coupling_to_lags(WALK, 5.0)), full(locked_phases(WALK) + offset), 8.0)
    left = wrapped(end[0] - end[0, 0] + 2.0 * np.pi * WALK)
    np.testing.assert_allclose(left, 0.0, atol=1e-9)


def test_a_small_offset_decays_at_the_stated_rate():
    rate, time, offset = 3.0, 0.4, 1e-4
    start = full(locked_phases(TROT) + [offset, 0.0, 0.0, 0.0])
    end = run(network(coupling_to_lags(TROT, rate)), start, time)
    left = wrapped(end[0] - locked_phases(TROT) - 2.0 * np.pi * 2.0 * time)
    # The mean offset stays, the deviation from it decays; sin(x) = x within 1e-8 here.
    np.testing.assert_allclose(
        left - left.mean(),
        (np.array([offset, 0, 0, 0]) - offset / 4) * np.exp(-rate * time),
        atol=1e-11,
    )


def test_a_locked_network_runs_at_its_frequency():
    start, net = full(locked_phases(TROT)), network(coupling_to_lags(TROT, 5.0), 1.7)
    end = run(net, start, seconds=5.0)
    np.testing.assert_allclose(end[0] - start[0], 2.0 * np.pi * 1.7 * 5.0, rtol=1e-12)
    assert net.expected_frequency() == pytest.approx(1.7)


@pytest.mark.parametrize(('detuning', 'bias'), [(0.2, 0.0), (-0.5, 1.0)])
def test_unequal_frequencies_lock_with_the_closed_form_offset(detuning, bias):
    biases = bias * np.array([[0.0, 1.0], [-1.0, 0.0]])
    coupling = Coupling(weights=2.0 * (1.0 - np.eye(2)), phase_bias=biases)
    net = network(coupling, np.array([1.0, 1.0 + detuning]))
    assert net.locks()
    end = run(net, full([0.0, 0.0]), seconds=20.0)
    assert end[0, 1] - end[0, 0] == pytest.approx(net.expected_offset(), abs=1e-9)
    assert net.expected_offset() == pytest.approx(np.arcsin(np.pi * detuning / 2.0) + bias)
    assert net.expected_frequency() == pytest.approx(1.0 + detuning / 2)
    late = run(net, end, seconds=1.0)
    mean = late[0].mean() - end[0].mean()
    assert mean == pytest.approx(2.0 * np.pi * net.expected_frequency(), rel=1e-9)


@pytest.mark.parametrize(('pull', 'locked'), [(1.01, True), (0.99, False)])
def test_two_oscillators_lock_up_to_the_closed_form_detuning(pull, locked):
    # One follows the other, which feels nothing: 2 pi (f_1 - f_0) against w_10 alone.
    weights = 2.0 * np.pi * 0.1 * pull * np.array([[0.0, 0.0], [1.0, 0.0]])
    net = network(Coupling(weights=weights, phase_bias=np.zeros((2, 2))), np.array([1.0, 1.1]))
    assert net.locks() == locked
    early = run(net, full([0.0, 0.0]), seconds=60.0, dt=0.02)
    late = run(net, early, seconds=60.0, dt=0.02)
    slips = np.abs(np.diff(late[0])[0] - np.diff(early[0])[0]) > np.pi
    assert slips != locked
    assert np.isnan(net.expected_offset()) != locked
    with pytest.raises(ValueError, match='no closed form'):
        net.expected_frequency()


def test_amplitudes_solve_their_differential_equation():
    rng = np.random.default_rng(3)
    amplitude, rate, target = rng.uniform(0.0, 2.0, (3, 6))
    gain = rng.uniform(2.0, 20.0, 6)
    net = network(zero_coupling(6), 1.0, target, gain)
    start = np.stack([np.zeros(6), amplitude, rate])
    end = net.solve(start, [0.7], rtol=1e-11, atol=1e-13)[-1]
    np.testing.assert_allclose(
        amplitudes_after(0.7, amplitude, rate, target, gain), end[1:], atol=1e-9
    )


def test_amplitudes_from_rest_rise_without_overshoot():
    # Critical damping: r = R (1 - (1 + a t / 2) exp(-a t / 2)).
    time, gain = np.linspace(0.0, 3.0, 301), 8.0
    zero, one = np.zeros(301), np.ones(301)
    rising, _ = amplitudes_after(time, zero, zero, one, gain * one)
    half = 0.5 * gain * time
    np.testing.assert_allclose(rising, 1.0 - (1.0 + half) * np.exp(-half), atol=1e-12)
    assert np.all(np.diff(rising) > 0.0)
    assert rising[-1] < 1.0


@pytest.mark.parametrize('dt', [0.004, 0.01, 0.02])
def test_advance_agrees_with_an_adaptive_integrator(dt):
    start, net = random_network(5, seed=11)
    exact = net.solve(start, [1.0], rtol=1e-11, atol=1e-13)[-1]
    end = run(net, start, 1.0, dt=dt)
    np.testing.assert_allclose(end[1], exact[1], atol=1e-9)
    np.testing.assert_allclose(end[2], exact[2], atol=1e-8)
    # Coupling of up to 5 oscillators x 3 rad/s x 1.5: (22 * 0.005)^5 / 120 per step, 200 steps.
    np.testing.assert_allclose(end[0], exact[0], atol=3e-5)


def test_a_batch_equals_its_members_to_the_last_bit():
    frequency = np.array([[1.0, 1.1, 0.9, 1.0], [2.0, 2.0, 2.2, 1.9]])
    gain = np.array([[5.0], [15.0]])
    coupling = coupling_to_lags(WALK, 4.0)
    phase = np.random.default_rng(5).uniform(0.0, 6.0, (2, 4))
    both = network(coupling, frequency, 1.0, gain)
    together = run(both, both.rest_state(phase), 0.5)
    for row in range(2):
        one = network(coupling, frequency[row], 1.0, gain[row])
        np.testing.assert_array_equal(together[row], run(one, one.rest_state(phase[row]), 0.5))


def test_a_period_of_no_length_changes_nothing():
    state, net = random_network(4, seed=2)
    same = net.advance(state, 0.0)
    np.testing.assert_array_equal(same[0], state[0])
    np.testing.assert_allclose(same[1], state[1], rtol=1e-15)


def test_coupling_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r'weights has shape \(3,\)'):
        Coupling(weights=np.ones(3), phase_bias=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r'phase_bias has shape \(2, 2\)'):
        Coupling(weights=np.ones((3, 3)), phase_bias=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r'state has shape \(3, 3\), expected \(..., 3, 4\)'):
        network(coupling_to_lags(TROT, 1.0)).rates(np.ones((3, 3)))
    with pytest.raises(ValueError, match='broadcast'):
        network(coupling_to_lags(TROT, 1.0), np.ones(3))


def test_samples_on_the_way_are_those_of_single_steps():
    net = network(coupling_to_lags(TROT, 6.0), np.full(4, 2.0), np.ones(4), np.full(4, 12.0))
    state = net.rest_state([0.1, 2.0, 3.5, 5.0])
    phases, amplitudes, rates = np.empty((3, 6, 4))
    coupling = net.coupling.cosine, net.coupling.sine
    coefficients = (net.frequency, net.target_amplitude, net.amplitude_gain, *coupling)
    sample_phase_oscillators(tuple(state), coefficients, 0.007, (phases, amplitudes, rates))
    for k in range(6):
        state = net.advance(state, 0.007)
        np.testing.assert_array_equal(phases[k], state[0])
        np.testing.assert_array_equal(amplitudes[k], state[1])
    np.testing.assert_array_equal(rates[-1], state[2])
