# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled oscillators against their published equations, written out term by term."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gait_cpg.oscillators import Coupling, PhaseOscillators
from gait_cpg.oscillators.matsuoka import MatsuokaNeurons, neural_oscillators

READOUTS = [('neurons', 3), ('neurons', 4), ('pairs', 4), ('lagged', 6)]


def neurons(readout, n, seed=1):
    """Return a network with all coefficients different, and a state with silent neurons."""
    rng = np.random.default_rng(seed)
    network = MatsuokaNeurons(
        weights=rng.uniform(0.5, 2.0, (n, n)) * (1.0 - np.eye(n)),
        tonic=rng.uniform(0.4, 0.9, n),
        tau_a=rng.uniform(0.1, 0.3, n),
        tau_b=rng.uniform(0.3, 0.9, n),
        adaptation=rng.uniform(1.0, 3.0, n),
        readout=readout,
    )
    state = rng.uniform(0.1, 0.9, (2, n))
    state[0, 1] = -0.4
    return network, state


def neuron_rates(network, state, drive):
    # Matsuoka (1985): tau_a u' = s + f - u - beta v - sum w y; tau_b v' = y - v; y = max(0, u).
    u, v = state
    y = np.maximum(u, 0.0)
    inhibition = np.array([
        sum(network.weights[i, j] * y[j] for j in range(len(u))) for i in range(len(u))
    ])  # fmt: skip
    change = network.tonic + drive - u - network.adaptation * v - inhibition
    return np.stack([change / network.tau_a, (y - v) / network.tau_b])


def neuron_signals(network, state):
    outputs = np.maximum(state[0], 0.0)
    if network.readout == 'neurons':
        return outputs
    pairs = outputs[0::2] - outputs[1::2]
    if network.readout == 'pairs':
        return pairs
    return np.concatenate([pairs, state[1, 0::2] - state[1, 1::2]])


@pytest.mark.parametrize(('readout', 'n'), READOUTS)
def test_neurons_follow_their_equations(readout, n):
    network, state = neurons(readout, n)
    drive = np.linspace(-0.2, 0.3, n)
    np.testing.assert_allclose(
        network.rates(state, drive), neuron_rates(network, state, drive), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(network.signals(state), neuron_signals(network, state), rtol=1e-14)
    assert network.outputs == len(neuron_signals(network, state))


@pytest.mark.parametrize(('readout', 'n'), READOUTS)
@pytest.mark.parametrize('samples', [1, 5])
def test_neurons_take_explicit_euler_steps_under_their_drives(readout, n, samples):
    network, state = neurons(readout, n)
    drives = np.random.default_rng(2).uniform(-0.3, 0.3, (samples, n))
    run = network.euler(state, 0.02, samples, steps_per_sample=3, drive=drives)
    for sample in range(samples):
        for _ in range(3):
            state = state + 0.02 * neuron_rates(network, state, drives[sample])
        np.testing.assert_allclose(run.signals[sample], neuron_signals(network, state), rtol=1e-11)
    np.testing.assert_allclose(run.state, state, rtol=1e-11)


def test_one_drive_holds_for_all_samples():
    network, state = neurons('pairs', 4)
    drive = np.array([0.1, -0.2, 0.3, 0.0])
    one = network.euler(state, 0.02, 4, drive=drive)
    each = network.euler(state, 0.02, 4, drive=np.tile(drive, (4, 1)))
    np.testing.assert_array_equal(one.signals, each.signals)


def test_flexors_begin_more_adapted_than_extensors():
    network, _ = neurons('pairs', 4)
    # Korbel (2013), Table 4.
    np.testing.assert_array_equal(network.initial_state(), [[0.3] * 4, [0.1, 0.5, 0.1, 0.5]])
    np.testing.assert_array_equal(
        network.initial_state(0.2, 0.4, 0.6), [[0.2] * 4, [0.4, 0.6, 0.4, 0.6]]
    )


def test_equilibria_are_at_rest_and_grow_as_their_linearised_equations():
    network, _ = neurons('neurons', 4, seed=5)
    found = network.equilibria()
    assert found
    for rest in found:
        y = np.maximum(rest.inner, 0.0)
        state = np.stack([rest.inner, y])
        np.testing.assert_allclose(neuron_rates(network, state, 0.0), 0.0, atol=1e-12)
        # Central differences: exact for equations that are linear about a regular point.
        jacobian = np.empty((8, 8))
        for k in range(8):
            step = np.zeros(8)
            step[k] = 1e-6
            ahead, behind = (
                neuron_rates(network, state + side * step.reshape(2, 4), 0.0) for side in (1, -1)
            )
            jacobian[:, k] = ((ahead - behind) / 2e-6).ravel()
        assert rest.growth == pytest.approx(np.linalg.eigvals(jacobian).real.max(), abs=1e-6)
    assert network.oscillates() == all(rest.growth > -1e-9 for rest in found)


def test_a_pair_oscillates_between_the_bounds_of_matsuoka():
    # 1 + tau_a / tau_b <= w < 1 + beta: 1.5 to 3.5.
    for weight, oscillates in ((1.49, False), (1.51, True), (3.49, True), (3.51, False)):
        pair = neural_oscillators([], 1, tau_a=0.2, pair_weight=weight, adaptation=2.5)
        assert pair.oscillates() == oscillates


# Phase oscillators


def phases(n=3, seed=4):
    rng = np.random.default_rng(seed)
    network = PhaseOscillators(
        frequency=rng.uniform(0.5, 2.0, n),
        target_amplitude=rng.uniform(0.5, 1.5, n),
        amplitude_gain=rng.uniform(5.0, 15.0, n),
        coupling=Coupling(
            weights=rng.uniform(0.0, 3.0, (n, n)) * (1.0 - np.eye(n)),
            phase_bias=rng.uniform(-2.0, 2.0, (n, n)),
        ),
    )
    return network, np.stack(
        [rng.uniform(-3.0, 3.0, n), rng.uniform(0.2, 1.0, n), rng.normal(size=n)]
    )


def phase_rates(network, state, drive=0.0):
    # Ijspeert et al. (2007): theta' = 2 pi f + sum r_j w_ij sin(theta_j - theta_i - phi_ij), and
    # r'' = a (a / 4 (R - r) - r').
    theta, r, rate = state
    n = len(theta)
    weights, bias = network.coupling.weights, network.coupling.phase_bias
    pull = [
        sum(r[j] * weights[i, j] * np.sin(theta[j] - theta[i] - bias[i, j]) for j in range(n))
        for i in range(n)
    ]
    gain = network.amplitude_gain
    bend = gain * (0.25 * gain * (network.target_amplitude - r) - rate)
    return np.stack([2.0 * np.pi * network.frequency + np.array(pull) + drive, rate, bend])


def test_phase_oscillators_follow_their_equations():
    network, state = phases()
    drive = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(
        network.rates(state, drive), phase_rates(network, state, drive), rtol=1e-11
    )
    np.testing.assert_allclose(network.signals(state), state[1] * np.cos(state[0]), rtol=1e-14)
    run = network.euler(state, 0.01, 2, steps_per_sample=2, drive=drive)
    for sample in range(2):
        for _ in range(2):
            state = state + 0.01 * phase_rates(network, state, drive)
        np.testing.assert_allclose(run.signals[sample], state[1] * np.cos(state[0]), rtol=1e-10)
    np.testing.assert_allclose(run.state, state, rtol=1e-10)


@pytest.mark.parametrize('dt', [0.004, 0.005, 0.02, 0.033])
def test_a_step_of_any_length_is_the_solution_of_the_equations(dt):
    network, state = phases()
    exact = solve_ivp(
        lambda _, flat: phase_rates(network, flat.reshape(3, 3)).ravel(),
        (0.0, dt), state.ravel(), rtol=1e-12, atol=1e-12,
    ).y[:, -1].reshape(3, 3)  # fmt: skip
    # Amplitudes are exact; phases to the fourth power of 5 ms.
    found = network.advance(state, dt)
    np.testing.assert_allclose(found[1:], exact[1:], atol=1e-9)
    np.testing.assert_allclose(found[0], exact[0], atol=2e-7)


def amplitudes_at(network, state, time):
    """Return the critically damped amplitudes from their closed form."""
    half = 0.5 * network.amplitude_gain
    offset = state[1] - network.target_amplitude
    return network.target_amplitude + (offset + (state[2] + half * offset) * time) * np.exp(
        -half * time
    )


@pytest.mark.parametrize(('dt', 'steps'), [(0.005, 1), (0.0049, 1), (0.0051, 2), (0.015, 3)])
def test_phases_take_runge_kutta_steps_of_five_milliseconds_at_most(dt, steps):
    network, state = phases()
    theta, h = state[0], dt / steps

    def slope(phase, time):
        amplitude = amplitudes_at(network, state, time)
        return phase_rates(network, np.stack([phase, amplitude, state[2]]))[0]

    for k in range(steps):
        start, middle, end = k * h, (k + 0.5) * h, (k + 1.0) * h
        k1 = slope(theta, start)
        k2 = slope(theta + 0.5 * h * k1, middle)
        k3 = slope(theta + 0.5 * h * k2, middle)
        k4 = slope(theta + h * k3, end)
        theta = theta + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    np.testing.assert_allclose(network.advance(state, dt)[0], theta, rtol=1e-13)


@pytest.mark.parametrize(('targets', 'alive'), [((0.5, 0.1), True), ((0.5, 0.0), False)])
def test_oscillators_live_above_an_amplitude_of_zero(targets, alive):
    network = PhaseOscillators(
        frequency=1.0,
        target_amplitude=np.array(targets),
        amplitude_gain=9.0,
        coupling=Coupling(weights=np.zeros((2, 2)), phase_bias=np.zeros((2, 2))),
    )
    assert bool(network.oscillates()) == alive
