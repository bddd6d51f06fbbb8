"""Hopf, van der Pol and linear oscillators, and the interface of all, against closed forms."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_cpg.oscillators import (
    Coupling,
    HopfOscillators,
    LinearOscillators,
    PhaseOscillators,
    VanDerPolOscillators,
    coupling_to_lags,
    diagnose,
    locked_phases,
    neural_oscillators,
    reference_weights,
    uncoupled,
)

WALK = np.array([0.0, 0.25, 0.5, 0.75])
TURN = 2.0 * np.pi


def hopf(coupling=None, frequency=1.5, size=2.0, convergence=5.0):
    return HopfOscillators(
        frequency=frequency,
        size_squared=size,
        convergence=convergence,
        coupling=coupling or uncoupled(1),
    )


def van_der_pol(damping, half=1.0, coupling=None, frequency=1.0 / TURN):
    return VanDerPolOscillators(
        frequency=frequency,
        damping=damping,
        half_amplitude=half,
        coupling=coupling or uncoupled(1),
    )


def cycles(phase):
    """Return by which share of a cycle each phase comes after the first, in [-0.5, 0.5)."""
    return (np.asarray(phase)[0] - phase) / TURN % 1.0


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
    linear = LinearOscillators(frequency=np.array([1.0, 1.2, 0.9, 1.0]), coupling=coupling)
    around, relaxing = hopf(coupling), van_der_pol(2.0, 0.5, coupling, 1.0)
    return {
        'matsuoka': (neurons, neurons.start()),
        'phase': (phases, phases.at_rest(phase)),
        'hopf': (around, around.at_phases(phase)),
        'van_der_pol': (relaxing, relaxing.at_phases(phase)),
        'linear': (linear, linear.at_phases(phase)),
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
        np.abs(network.euler(state, 0.5 / steps, 1, every=steps).state - exact).max()
        for steps in (1000, 2000)
    ]
    # First order: half the step, half the error; exact in part where a network is at rest.
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.02)


@pytest.mark.parametrize('model', MODELS)
def test_a_run_in_pieces_equals_one_and_a_batch_its_members(model):
    network, state = networks()[model]
    whole = network.euler(state, 0.001, 30, every=4)
    pieces = network.euler(state, 0.001, 10, every=4)
    rest = network.euler(pieces.state, 0.001, 20, every=4)
    np.testing.assert_array_equal(rest.state, whole.state)
    np.testing.assert_array_equal(np.concatenate([pieces.signals, rest.signals]), whole.signals)
    each = np.linspace(0.0, 0.3, 30 * network.size).reshape(30, -1)
    driven = network.euler(state, 0.001, 30, every=4, drive=each)
    last = network.euler(state, 0.001, 29, every=4, drive=each[:29])
    np.testing.assert_array_equal(
        driven.state, network.euler(last.state, 0.001, every=4, drive=each[29]).state
    )


def test_a_batch_of_any_shape_equals_its_members():
    tau = np.array([[0.2, 0.3, 0.4], [0.25, 0.35, 0.45]])
    weights = np.random.default_rng(4).uniform(1.0, 3.4, (3, 24))
    batch = neural_oscillators(weights, 4, tau_a=tau)
    assert (batch.batch, batch.size, batch.outputs) == ((2, 3), 8, 4)
    drive = np.random.default_rng(5).uniform(0.0, 0.1, (2, 3, 8))
    run = batch.euler(batch.start(), 0.0005, 400, drive=drive)
    rates = batch.rates(batch.start(), drive)
    for i, j in np.ndindex(2, 3):
        one = neural_oscillators(weights[j], 4, tau_a=tau[i, j])
        alone = one.euler(one.start(), 0.0005, 400, drive=drive[i, j])
        np.testing.assert_array_equal(run.signals[i, j], alone.signals)
        np.testing.assert_array_equal(run.state[i, j], alone.state)
        np.testing.assert_array_equal(rates[i, j], one.rates(one.start(), drive[i, j]))
    # The steps that SciPy chooses are common to all: equal to what rectifiers leave of its order.
    one = neural_oscillators(weights[2], 4, tau_a=tau[1, 2])
    np.testing.assert_allclose(
        batch.solve(batch.start(), [0.5])[-1][1, 2], one.solve(one.start(), [0.5])[-1], atol=1e-6
    )


@pytest.mark.parametrize('dt', [0.001, 0.01])
def test_a_hopf_oscillator_runs_at_the_closed_form_size_and_frequency(dt):
    network = hopf()
    signals = network.euler(network.at_phases([0.4]), dt, round(20.0 / dt)).signals
    late = signals[len(signals) // 2 :]
    assert np.all(network.oscillates())
    # Between two samples the peak is met within (pi f dt)^2 / 2 of it.
    size = network.expected_amplitude(dt)[0]
    assert late.max() == pytest.approx(size, rel=(np.pi * 1.5 * dt) ** 2)
    frequency = network.expected_frequency(dt)[0]
    assert diagnose(late, dt).frequency[0] == pytest.approx(frequency, rel=1e-3 * dt)


def test_exact_hopf_oscillators_have_the_radius_of_their_parameter_and_dead_ones_none():
    network = hopf(uncoupled(2), size=np.array([2.0, -0.5]))
    end = network.solve(np.array([[0.1, 0.3], [0.0, 0.2]]), [8.1])[-1]
    np.testing.assert_allclose(np.hypot(*end), network.expected_amplitude(), atol=1e-6)
    assert network.oscillates().tolist() == [True, False]
    turned = network.phases(end)[0] / TURN
    assert turned == pytest.approx(8.1 * network.expected_frequency()[0] - 12.0, abs=1e-6)


@pytest.mark.parametrize(('eps', 'size', 'frequency'), [(0.2, 1e-5, 1e-5), (1.0, 1e-4, 1e-3)])
def test_a_van_der_pol_oscillator_has_the_size_and_frequency_of_the_series(eps, size, frequency):
    network = van_der_pol(eps)
    dt = 0.02
    late = network.solve(network.at_phases([0.0]), np.arange(0.0, 160.0, dt))[4000:, 0]
    # A peak between two samples is met within dt^2 / 8.
    assert late.max() == pytest.approx(network.expected_amplitude()[0], rel=size + dt**2 / 8)
    found = diagnose(late, dt).frequency[0]
    assert found == pytest.approx(network.expected_frequency()[0], rel=frequency)


def test_a_relaxing_van_der_pol_oscillator_has_the_asymptotic_period():
    network = van_der_pol(10.0)
    late = network.solve(network.at_phases([0.0]), np.arange(0.0, 120.0, 0.02))[1500:, 0]
    found = diagnose(late, 0.02).frequency[0]
    assert found == pytest.approx(network.expected_frequency()[0], rel=0.02)
    assert late.max() == pytest.approx(2.0, rel=0.012)
    assert np.isnan(van_der_pol(3.0).expected_frequency()[0])
    assert not van_der_pol(0.0).oscillates()[0]


@pytest.mark.parametrize('seed', range(3))
def test_coupling_drives_every_model_of_it_to_the_lags_from_random_phases(seed):
    phase = np.random.default_rng(seed).uniform(-np.pi, np.pi, 4)
    coupling = coupling_to_lags(WALK, 4.0)
    around = hopf(coupling, frequency=1.0)
    end = around.euler(around.at_phases(phase), 0.001, 1, every=10000).state
    np.testing.assert_allclose(cycles(around.phases(end)), WALK, atol=1e-6)
    # At the lags the coupling is without effect on sizes.
    np.testing.assert_allclose(np.hypot(*end), around.expected_amplitude(0.001), rtol=1e-6)
    # What is nearly harmonic is turned back nearly exactly: within epsilon^2.
    weak = van_der_pol(1.0, 0.5, coupling, frequency=1.0)
    end = weak.euler(weak.at_phases(phase), 0.001, 1, every=15000).state
    np.testing.assert_allclose(cycles(weak.phases(end)), WALK, atol=0.006)


def ring(rates):
    """Return three oscillators of which each is pulled by the next, at these rates [1/s]."""
    weights = np.zeros((3, 3))
    for i, rate in enumerate(rates):
        weights[i, (i + 1) % 3] = rate
    lags = np.array([0.0, 0.2, -0.3])
    return Coupling(weights=weights, phase_bias=TURN * (lags[:, None] - lags[None, :]))


def test_linear_oscillators_follow_their_exact_solution():
    network = LinearOscillators(
        frequency=np.array([[1.0, 1.3, 0.8], [2.0, 2.0, 2.0]]), coupling=ring((2.0, 3.0, 4.0))
    )
    phase = np.array([0.5, -2.0, 7.0])
    exact = network.phases_after(0.7, phase)
    solved = network.solve(network.at_phases(phase), [0.7])[-1, :, 0]
    np.testing.assert_allclose(solved, exact, atol=1e-6)
    assert network.oscillates().tolist() == [True, True]
    late, later = network.phases_after(30.0, phase), network.phases_after(31.0, phase)
    # The weights of a ring's mean are the inverses of its rates: 6, 4 and 3 of 13.
    mean = (6.0 * 1.0 + 4.0 * 1.3 + 3.0 * 0.8) / 13.0
    np.testing.assert_allclose(network.expected_frequency(), [mean, 2.0])
    np.testing.assert_allclose(later - late, TURN * np.array([[mean], [2.0]]) * np.ones(3))
    np.testing.assert_allclose(late - late[:, :1], network.expected_offsets(), atol=1e-9)
    np.testing.assert_allclose(cycles(late[1]), [0.0, 0.2, 0.7])


def test_linear_offsets_decay_at_the_stated_rate():
    network = LinearOscillators(frequency=1.0, coupling=coupling_to_lags(WALK, 3.0))
    assert network.convergence_rate() == pytest.approx(3.0)
    start = locked_phases(WALK) + [1.0, 0.0, 0.0, 0.0]
    left = network.phases_after(0.4, start) - locked_phases(WALK) - TURN * 0.4 - 0.25
    np.testing.assert_allclose(left, np.exp(-1.2) * np.array([0.75, -0.25, -0.25, -0.25]))


def test_linear_oscillators_that_do_not_reach_each_other_do_not_stay_together():
    apart = LinearOscillators(frequency=np.array([1.0, 2.0]), coupling=uncoupled(2))
    assert not apart.oscillates()
    # A master needs no pull on itself: it reaches its follower.
    weights = np.array([[0.0, 0.0], [50.0, 0.0]])
    led = LinearOscillators(
        frequency=np.array([1.5, 0.0]),
        coupling=Coupling(weights=weights, phase_bias=np.zeros((2, 2))),
    )
    assert led.oscillates()
    assert led.expected_frequency() == pytest.approx(1.5)
    assert led.expected_offsets()[1] == pytest.approx(-TURN * 1.5 / 50.0)


def test_a_step_that_is_too_long_is_reported_as_divergence():
    # 1 + dt (alpha (mu - r^2)) runs away from r = 3 on: the growth of Euler's own making.
    network = hopf(convergence=50.0)
    with np.errstate(over='ignore', invalid='ignore'):
        signals = network.euler(np.array([[3.0], [0.0]]), 0.02, 100).signals
    found = diagnose(signals, 0.02)
    assert found.verdict == 'diverged'
    with pytest.raises(ConfigurationError, match='diverge: shorten the step or weaken the drive'):
        found.require_alive()


def test_an_equation_that_leaves_the_finite_range_is_reported_by_the_integrator():
    # mu < 0 and p^2 > 0: damped within, driven without, in finite time to infinity.
    network = van_der_pol(-5.0)
    with pytest.raises(SimulationDiverged, match='oscillators diverge after'):
        with np.errstate(over='ignore', invalid='ignore'):
            network.solve(np.array([[3.0], [0.0]]), [50.0])


def test_dead_signals_are_named():
    time = np.arange(0.0, 4.0, 0.01)
    signals = np.stack([0.3 * np.sin(TURN * 1.25 * time), 0.01 * np.sin(time), 0.0 * time], axis=1)
    found = diagnose(signals, 0.01)
    assert found.verdict == 'partly dead'
    assert found.alive.tolist() == [True, False, False]
    np.testing.assert_allclose(found.frequency[[0, 2]], [1.25, 0.0], atol=1e-4)
    with pytest.raises(
        ConfigurationError, match=r'network: signal 2, 3 of 3 is dead, it moves by at most 0.018'
    ):
        found.require_alive('network')
    both = diagnose(np.stack([signals[:, :1], np.full((400, 1), 0.1)]), 0.01)
    assert both.verdicts.tolist() == ['alive', 'dead']
    both.__class__.require_alive(diagnose(signals[:, :1], 0.01))


def test_shapes_that_do_not_fit_are_refused():
    network, state = networks()['hopf']
    with pytest.raises(ValueError, match=r'state has shape \(4, 2\), expected \(..., 2, 4\)'):
        network.rates(state.T)
    with pytest.raises(ValueError, match='broadcast'):
        network.euler(state, 0.01, drive=np.ones(3))
