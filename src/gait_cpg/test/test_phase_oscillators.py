"""Oscillator networks against closed forms and against an independent integrator."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gait_cpg.phase_oscillators import (
    Coupling,
    OscillatorState,
    advance,
    advance_samples,
    amplitude_accelerations,
    amplitudes_after,
    coupling_to_lags,
    locked_phases,
    phase_rates,
)

TROT = np.array([0.0, 0.5, 0.5, 0.0])
WALK = np.array([0.0, 0.25, 0.5, 0.75])
ONES = np.ones(4)


def random_network(n, seed):
    rng = np.random.default_rng(seed)
    bias = rng.uniform(-np.pi, np.pi, (n, n))
    coupling = Coupling(weights=rng.uniform(0.0, 3.0, (n, n)), phase_bias=bias - bias.T)
    state = OscillatorState(
        rng.uniform(-np.pi, np.pi, n), rng.uniform(0.0, 1.5, n), rng.uniform(0.0, 1.0, n)
    )
    return state, coupling, rng.uniform(0.5, 3.0, n), rng.uniform(0.0, 1.5, n)


def literal_rates(phase, amplitude, frequency, coupling):
    # The published sum, term by term.
    rates = 2.0 * np.pi * np.asarray(frequency)
    for i in range(len(phase)):
        for j in range(len(phase)):
            rates[i] += (
                amplitude[j]
                * coupling.weights[i, j]
                * np.sin(phase[j] - phase[i] - coupling.phase_bias[i, j])
            )
    return rates


def run(state, coupling, seconds, dt=0.01, frequency=2.0 * ONES, target=ONES, gain=10.0 * ONES):
    for _ in range(round(seconds / dt)):
        state = advance(
            state,
            dt,
            frequency=frequency,
            target_amplitude=target,
            amplitude_gain=gain,
            coupling=coupling,
        )
    return state


def wrapped(angle):
    return (np.asarray(angle) + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.parametrize('n', [2, 4, 7])
def test_rates_equal_the_published_sum(n):
    state, coupling, frequency, _ = random_network(n, seed=n)
    np.testing.assert_allclose(
        phase_rates(state.phase, state.amplitude, frequency, coupling),
        literal_rates(state.phase, state.amplitude, frequency, coupling),
        atol=1e-12,
    )


@given(phase=arrays(np.float64, 4, elements=st.floats(-10.0, 10.0)), shift=st.floats(-50.0, 50.0))
def test_rates_ignore_a_common_phase_shift(phase, shift):
    coupling = coupling_to_lags(WALK, 5.0)
    np.testing.assert_allclose(
        phase_rates(phase + shift, ONES, ONES, coupling),
        phase_rates(phase, ONES, ONES, coupling),
        atol=1e-9,
    )


@given(order=st.permutations(range(5)), seed=st.integers(0, 2**32 - 1))
def test_relabelled_oscillators_have_relabelled_rates(order, seed):
    state, coupling, frequency, _ = random_network(5, seed)
    order = list(order)
    relabelled = Coupling(
        weights=coupling.weights[np.ix_(order, order)],
        phase_bias=coupling.phase_bias[np.ix_(order, order)],
    )
    np.testing.assert_allclose(
        phase_rates(state.phase[order], state.amplitude[order], frequency[order], relabelled),
        phase_rates(state.phase, state.amplitude, frequency, coupling)[order],
        atol=1e-10,
    )


@settings(deadline=None, max_examples=25)
@given(offset=arrays(np.float64, 4, elements=st.floats(-0.7, 0.7)))
def test_phases_lock_to_the_wanted_lags(offset):
    # All phases within a half circle of the locked state: it is the only attractor there.
    start = OscillatorState(locked_phases(WALK) + offset, ONES, 0.0 * ONES)
    end = run(start, coupling_to_lags(WALK, 5.0), seconds=8.0)
    left = wrapped(end.phase - end.phase[0] + 2.0 * np.pi * WALK)
    np.testing.assert_allclose(left, 0.0, atol=1e-9)


def test_a_small_offset_decays_at_the_stated_rate():
    rate, time, offset = 3.0, 0.4, 1e-4
    start = OscillatorState(locked_phases(TROT) + [offset, 0.0, 0.0, 0.0], ONES, 0.0 * ONES)
    end = run(start, coupling_to_lags(TROT, rate), seconds=time)
    left = wrapped(end.phase - locked_phases(TROT) - 2.0 * np.pi * 2.0 * time)
    # The mean offset stays, the deviation from it decays; sin(x) = x within 1e-8 here.
    np.testing.assert_allclose(
        left - left.mean(),
        (np.array([offset, 0, 0, 0]) - offset / 4) * np.exp(-rate * time),
        atol=1e-11,
    )


def test_a_locked_network_runs_at_its_frequency():
    start = OscillatorState(locked_phases(TROT), ONES, 0.0 * ONES)
    end = run(start, coupling_to_lags(TROT, 5.0), seconds=5.0, frequency=1.7 * ONES)
    np.testing.assert_allclose(end.phase - start.phase, 2.0 * np.pi * 1.7 * 5.0, rtol=1e-12)


def test_unequal_frequencies_lock_with_the_closed_form_offset():
    # Two oscillators, f1 - f2 = df, equal pull w: 2 pi df = 2 w sin(offset), mean frequency.
    df, w = 0.2, 2.0
    coupling = Coupling(weights=w * (1.0 - np.eye(2)), phase_bias=np.zeros((2, 2)))
    two = np.ones(2)
    frequency = np.array([1.0 + df / 2, 1.0 - df / 2])
    end = run(OscillatorState(0.0 * two, two, 0.0 * two), coupling, seconds=20.0,
              frequency=frequency, target=two, gain=10.0 * two)  # fmt: skip
    assert end.phase[0] - end.phase[1] == pytest.approx(np.arcsin(np.pi * df / w), abs=1e-9)
    assert end.phase.mean() == pytest.approx(2.0 * np.pi * 20.0, rel=1e-9)


def test_amplitudes_solve_their_differential_equation():
    rng = np.random.default_rng(3)
    amplitude, rate, target = rng.uniform(0.0, 2.0, (3, 6))
    gain = rng.uniform(2.0, 20.0, 6)
    solution = solve_ivp(
        lambda _, y: np.concatenate((
            y[6:], amplitude_accelerations(y[:6], y[6:], target, gain))),
        (0.0, 0.7), np.concatenate((amplitude, rate)), rtol=1e-11, atol=1e-13)  # fmt: skip
    np.testing.assert_allclose(
        np.concatenate(amplitudes_after(0.7, amplitude, rate, target, gain)),
        solution.y[:, -1],
        atol=1e-9,
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
    n = 5
    start, coupling, frequency, target = random_network(n, seed=11)
    gain = np.full(n, 12.0)

    def derivative(_, y):
        phase, amplitude, rate = y[:n], y[n : 2 * n], y[2 * n :]
        return np.concatenate(
            (
                literal_rates(phase, amplitude, frequency, coupling),
                rate,
                amplitude_accelerations(amplitude, rate, target, gain),
            )
        )

    start_vector = np.concatenate((start.phase, start.amplitude, start.amplitude_rate))
    exact = solve_ivp(derivative, (0.0, 1.0), start_vector, rtol=1e-11, atol=1e-13).y[:, -1]
    end = run(start, coupling, 1.0, dt=dt, frequency=frequency, target=target, gain=gain)
    np.testing.assert_allclose(end.amplitude, exact[n : 2 * n], atol=1e-9)
    np.testing.assert_allclose(end.amplitude_rate, exact[2 * n :], atol=1e-8)
    # Coupling of up to 5 oscillators x 3 rad/s x 1.5: (22 * 0.005)^5 / 120 per step, 200 steps.
    np.testing.assert_allclose(end.phase, exact[:n], atol=3e-5)


def test_a_batch_equals_its_members_to_the_last_bit():
    frequency = np.array([[1.0, 1.1, 0.9, 1.0], [2.0, 2.0, 2.2, 1.9]])
    gain = np.array([5.0 * ONES, 15.0 * ONES])
    coupling = coupling_to_lags(WALK, 4.0)
    phase = np.random.default_rng(5).uniform(0.0, 6.0, (2, 4))
    together = run(OscillatorState.at_rest(phase), coupling, 0.5, frequency=frequency, gain=gain)
    for row in range(2):
        alone = run(OscillatorState.at_rest(phase[row]), coupling, 0.5,
                    frequency=frequency[row], gain=gain[row])  # fmt: skip
        np.testing.assert_array_equal(together.phase[row], alone.phase)
        np.testing.assert_array_equal(together.amplitude[row], alone.amplitude)


def test_a_period_of_no_length_changes_nothing():
    state, coupling, frequency, target = random_network(4, seed=2)
    same = advance(state, 0.0, frequency=frequency, target_amplitude=target,
                   amplitude_gain=ONES, coupling=coupling)  # fmt: skip
    np.testing.assert_array_equal(same.phase, state.phase)
    np.testing.assert_allclose(same.amplitude, state.amplitude, rtol=1e-15)


def test_coupling_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r'weights has shape \(3,\)'):
        Coupling(weights=np.ones(3), phase_bias=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r'phase_bias has shape \(2, 2\)'):
        Coupling(weights=np.ones((3, 3)), phase_bias=np.ones((2, 2)))
    with pytest.raises(ValueError, match='mismatch'):
        phase_rates(np.ones(3), np.ones(3), np.ones(3), coupling_to_lags(TROT, 1.0))


def test_samples_on_the_way_are_those_of_single_steps():
    lags = np.array([0.0, 0.5, 0.5, 0.0])
    state = OscillatorState.at_rest(np.array([0.1, 2.0, 3.5, 5.0]))
    drive = {
        'frequency': np.full(4, 2.0),
        'target_amplitude': np.full(4, 1.0),
        'amplitude_gain': np.full(4, 12.0),
        'coupling': coupling_to_lags(lags, 6.0),
    }
    phases, amplitudes, rates = np.empty((3, 6, 4))
    coupling = drive['coupling']
    advance_samples(
        state.phase, state.amplitude, state.amplitude_rate, drive['frequency'],
        drive['target_amplitude'], drive['amplitude_gain'], coupling.cosine, coupling.sine,
        0.007, phases, amplitudes, rates,
    )  # fmt: skip
    for k in range(6):
        state = advance(state, 0.007, **drive)
        np.testing.assert_array_equal(phases[k], state.phase)
        np.testing.assert_array_equal(amplitudes[k], state.amplitude)
    np.testing.assert_array_equal(rates[-1], state.amplitude_rate)
