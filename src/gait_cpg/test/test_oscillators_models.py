# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of all oscillator networks: integration, batches, diagnosis and refusals."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_cpg.oscillators import (
    PhaseOscillators,
    coupling_to_lags,
    diagnose,
    neural_oscillators,
    reference_weights,
    zero_coupling,
)

WALK = np.array([0.0, 0.25, 0.5, 0.75])
TURN = 2.0 * np.pi


def networks():
    """Return one network of every model, with a state to start from."""
    rng = np.random.default_rng(1)
    phase = rng.uniform(-np.pi, np.pi, 4)
    coupling = coupling_to_lags(WALK, 3.0)
    neurons = neural_oscillators(reference_weights(4), 4, tau_a=0.3)
    phases = PhaseOscillators(
        frequency=np.array([1.0, 1.2, 0.9, 1.0]),
        target_amplitude=0.7,
        amplitude_gain=9.0,
        coupling=coupling,
    )
    return {
        'matsuoka': (neurons, neurons.initial_state()),
        'phase': (phases, phases.rest_state(phase)),
    }


MODELS = sorted(networks())


@pytest.mark.parametrize('model', MODELS)
def test_an_euler_step_is_the_state_and_its_rates(model):
    network, state = networks()[model]
    drive = np.linspace(-0.1, 0.2, network.size)
    run = network.euler(state, 0.01, drive=drive)
    np.testing.assert_allclose(
        run.state, state + 0.01 * network.rates(state, drive), rtol=1e-13, atol=1e-14
    )
    np.testing.assert_array_equal(run.signals[0], network.signals(run.state))


@pytest.mark.parametrize('model', MODELS)
def test_euler_converges_to_the_integrator_that_controls_its_error(model):
    network, state = networks()[model]
    exact = network.solve(state, [0.25, 0.5])[-1]
    errors = [
        np.abs(network.euler(state, 0.5 / steps, 1, steps_per_sample=steps).state - exact).max()
        for steps in (1000, 2000)
    ]
    # First order: half the step, half the error; exact in part where a network is at rest.
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.02)


@pytest.mark.parametrize('model', MODELS)
def test_a_run_in_pieces_equals_one_and_a_batch_its_members(model):
    network, state = networks()[model]
    whole = network.euler(state, 0.001, 30, steps_per_sample=4)
    pieces = network.euler(state, 0.001, 10, steps_per_sample=4)
    rest = network.euler(pieces.state, 0.001, 20, steps_per_sample=4)
    np.testing.assert_array_equal(rest.state, whole.state)
    np.testing.assert_array_equal(np.concatenate([pieces.signals, rest.signals]), whole.signals)
    each = np.linspace(0.0, 0.3, 30 * network.size).reshape(30, -1)
    driven = network.euler(state, 0.001, 30, steps_per_sample=4, drive=each)
    last = network.euler(state, 0.001, 29, steps_per_sample=4, drive=each[:29])
    np.testing.assert_array_equal(
        driven.state, network.euler(last.state, 0.001, steps_per_sample=4, drive=each[29]).state
    )


def test_a_batch_of_any_shape_equals_its_members():
    tau = np.array([[0.2, 0.3, 0.4], [0.25, 0.35, 0.45]])
    weights = np.random.default_rng(4).uniform(1.0, 3.4, (3, 24))
    batch = neural_oscillators(weights, 4, tau_a=tau)
    assert (batch.batch, batch.size, batch.outputs) == ((2, 3), 8, 4)
    drive = np.random.default_rng(5).uniform(0.0, 0.1, (2, 3, 8))
    run = batch.euler(batch.initial_state(), 0.0005, 400, drive=drive)
    rates = batch.rates(batch.initial_state(), drive)
    for i, j in np.ndindex(2, 3):
        one = neural_oscillators(weights[j], 4, tau_a=tau[i, j])
        alone = one.euler(one.initial_state(), 0.0005, 400, drive=drive[i, j])
        np.testing.assert_array_equal(run.signals[i, j], alone.signals)
        np.testing.assert_array_equal(run.state[i, j], alone.state)
        np.testing.assert_array_equal(rates[i, j], one.rates(one.initial_state(), drive[i, j]))
    # The steps that SciPy chooses are common to all: equal to what rectifiers leave of its order.
    one = neural_oscillators(weights[2], 4, tau_a=tau[1, 2])
    np.testing.assert_allclose(
        batch.solve(batch.initial_state(), [0.5])[-1][1, 2],
        one.solve(one.initial_state(), [0.5])[-1],
        atol=1e-6,
    )


def of_gain(gain):
    """Return one phase oscillator; its amplitude has the double eigenvalue ``-gain / 2``."""
    return PhaseOscillators(
        frequency=1.0, target_amplitude=1.0, amplitude_gain=gain, coupling=zero_coupling(1)
    )


def test_a_step_that_is_too_long_is_reported_as_divergence():
    # An Euler step multiplies by 1 - 0.02 * 250 = -4: growth of Euler's own making.
    network = of_gain(500.0)
    with np.errstate(over='ignore', invalid='ignore'):
        signals = network.euler(network.rest_state([0.0]), 0.02, 1000).signals
    found = diagnose(signals, 0.02)
    assert found.verdict == 'diverged'
    with pytest.raises(ConfigurationError, match='diverge: shorten the step or weaken the drive'):
        found.require_alive()


def test_an_equation_that_leaves_the_finite_range_is_reported_by_the_integrator():
    # A negative gain drives the amplitude from its target, as exp(25 t).
    network = of_gain(-50.0)
    with pytest.raises(SimulationDiverged, match='oscillators diverge after'):
        with np.errstate(over='ignore', invalid='ignore'):
            network.solve(network.rest_state([0.0]), [50.0])


def test_dead_signals_are_named():
    time = np.arange(0.0, 4.0, 0.01)
    signals = np.stack([0.3 * np.sin(TURN * 1.25 * time), 0.01 * np.sin(time), 0.0 * time], axis=1)
    found = diagnose(signals, 0.01)
    assert found.verdict == 'partly dead'
    assert found.alive.tolist() == [True, False, False]
    np.testing.assert_allclose(found.frequency[[0, 2]], [1.25, 0.0], atol=1e-4)
    with pytest.raises(
        ConfigurationError,
        match=r'network: signals 2, 3 of 3 do not oscillate: peak to peak at most 0.018',
    ):
        found.require_alive('network')
    both = diagnose(np.stack([signals[:, :1], np.full((400, 1), 0.1)]), 0.01)
    assert both.verdicts.tolist() == ['alive', 'dead']
    both.__class__.require_alive(diagnose(signals[:, :1], 0.01))


def test_shapes_that_do_not_fit_are_refused():
    network, state = networks()['phase']
    with pytest.raises(ValueError, match=r'state has shape \(4, 3\), expected \(..., 3, 4\)'):
        network.rates(state.T)
    with pytest.raises(ValueError, match='broadcast'):
        network.euler(state, 0.01, drive=np.ones(3))
