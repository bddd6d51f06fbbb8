"""Networks of patterns oscillate as told, and CMA-ES of patterns finds what it is asked for."""

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.perceptrons import PerceptronLayout
from gait_cpg.perceptron_kernel import think
from gait_evolver.optimizers.pattern_cma import PatternCmaOptimizer
from gait_evolver.optimizers.perceptron_breeding import END_PAIRS, swapped
from gait_evolver.optimizers.perceptron_patterns import SPACE, Pattern, check_layout, weights_of

DT = 0.012
LAYOUT = PerceptronLayout(perceptrons=30, memory=250, channels=35, outputs=16)
QUIET = dict.fromkeys(SPACE.names, 0.0)


def alone(heading=(1.0, 0.0), ticks=2000, **values):
    """Return the set points (ticks, 16) [m] of a layer whose servos are where it sets them."""
    point = SPACE.encode({**QUIET, 'period': 0.9, 'leader': 0.03, **values})
    weights = weights_of(Pattern.of(point), LAYOUT, DT)
    signals = np.zeros(LAYOUT.inputs, dtype=np.float32)
    answer, places, speeds = np.zeros(16, dtype=np.float32), np.zeros(16), np.zeros(16)
    bounds = np.array([[-0.09], [0.09]]) + np.zeros(16)
    found = np.zeros((ticks, 16))
    for row in found:
        signals[:16], signals[32:35] = places / 0.1, (*heading, 1.0)
        think(
            signals, weights, answer, (35, 250), (DT, 1.0 / DT, 2.9 * DT), (2.9, 0.35), bounds,
            places, speeds,
        )  # fmt: skip
        row[:] = places
    return found[ticks // 2 :]


@pytest.fixture(scope='module')
def found():
    return alone(with3=-0.03, after12=0.04, offset13=0.02)


def harmonic(places, period):
    """Return amplitude and phase [rad] of one servo's swing."""
    whole = places[: round(np.floor(len(places) * DT / period) * period / DT)]
    times = DT * np.arange(len(whole))
    value = 2.0 * np.mean((whole - whole.mean()) * np.exp(-2j * np.pi * times / period))
    return abs(value), np.angle(value)


def test_all_servos_swing_with_the_period(found):
    for servo, amplitude in ((0, 0.03), (3, 0.03), (12, 0.04)):
        spectrum = np.abs(np.fft.rfft(found[:, servo] - found[:, servo].mean()))
        assert np.fft.rfftfreq(len(found), DT)[spectrum.argmax()] == pytest.approx(1.1, abs=0.09)
        assert harmonic(found[:, servo], 0.9)[0] == pytest.approx(amplitude, rel=0.1)
    assert harmonic(found[:, 8], 0.9)[0] < 0.004


def test_sides_are_half_a_period_apart_and_phases_as_told(found):
    def between(one, other):
        lag = harmonic(found[:, one], 0.9)[1] - harmonic(found[:, other], 0.9)[1]
        return abs((lag + np.pi) % (2.0 * np.pi) - np.pi)

    mirror = swapped(END_PAIRS)
    for servo in (3, 12):
        assert between(servo, mirror[servo]) == pytest.approx(np.pi, abs=0.1)
    assert between(3, 12) == pytest.approx(np.pi / 2.0, abs=0.15)


def test_middles_are_the_offsets_and_steering_moves_them(found):
    assert found[:, 13].mean() == pytest.approx(0.02, abs=0.004)
    assert found[:, 14].mean() == pytest.approx(0.02, abs=0.004)
    aside = alone(heading=(0.8, 0.6), ticks=1200, steer13=0.05)
    assert aside[:, 13].mean() == pytest.approx(0.03, abs=0.006)
    assert aside[:, 14].mean() == pytest.approx(-0.03, abs=0.006)


def test_input_weights_have_norm_one_and_unused_perceptrons_none():
    point = np.random.default_rng(3).random(len(SPACE))
    weights = weights_of(Pattern.of(point), LAYOUT, DT)
    norms = np.linalg.norm(weights[:, : LAYOUT.inputs], axis=1)
    assert norms[:17] == pytest.approx(1.0, abs=1e-5)
    assert not weights[17:].any()


def test_the_search_finds_a_wanted_pattern():
    search = PatternCmaOptimizer(layout=LAYOUT, seed=1, population=12)
    goal = weights_of(Pattern.of(np.full(len(SPACE), 0.6)), LAYOUT, DT)
    near = []
    for _ in range(16):
        asked = search.ask()
        away = [float(np.abs(one.weights - goal).sum()) for one in asked]
        near.append(np.mean(away))
        search.tell([
            Evaluation(id=one.id, status='ok', objectives=np.array([-value]))
            for one, value in zip(asked, away, strict=True)
        ])  # fmt: skip
    assert near[-1] < 0.7 * near[0]


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'memory': 100}, '134'),
        ({'perceptrons': 9}, '17'),
        ({'outputs': 8}, 'spider'),
        ({'channels': 34}, '34'),
    ],
)
def test_layers_that_cannot_carry_patterns_are_refused(changes, words):
    sizes = {'perceptrons': 30, 'memory': 250, 'channels': 35, 'outputs': 16, **changes}
    with pytest.raises(ConfigurationError, match=words):
        check_layout(PerceptronLayout(**sizes), DT)
