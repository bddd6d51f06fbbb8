# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pattern networks oscillate with their parameters, and CMA-ES finds a wanted pattern."""

import numpy as np
import pytest

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_cpg.perceptron.kernel import Layer, LayerState, step_layer
from gait_cpg.perceptron.layout import PerceptronLayout
from gait_studies.bishop2008.breeding import Y_MIRROR_PAIRS, permutation_from_pairs
from gait_studies.bishop2008.pattern_cma import PatternCmaOptimizer
from gait_studies.bishop2008.patterns import QUARTER_TURN, ForwardPattern, OmnidirectionalPattern
from gait_studies.bishop2008.relays import check_layout

DT = 0.012
LAYOUT = PerceptronLayout(perceptrons=30, memory=250, channels=35, outputs=16)
WIDE = PerceptronLayout(perceptrons=150, memory=150, channels=35, outputs=16)
GATE = 2.0


def alone(kind=ForwardPattern, heading=(1.0, 0.0), ticks=2000, **values):
    """Return the set points (ticks, 16) [m] of a layer whose servos are where it sets them."""
    told = {'period': 0.9, 'leader': 0.03, **values}
    point = kind.space.encode({name: told.get(name, 0.0) for name in kind.space.names})
    layout = LAYOUT if kind is ForwardPattern else WIDE
    weights = kind.from_unit(point).weights(layout, DT)
    signals, answer = (np.zeros(size, dtype=np.float32) for size in (layout.inputs, 16))
    state = LayerState(signals, answer, np.zeros(16), np.zeros(16))
    layer = Layer(
        weights=weights,
        bounds=np.array([[-0.09], [0.09]]) + np.zeros(16),
        channels=35,
        memory=layout.memory,
        period=DT,
        gain=1.0 / DT,
        unit=2.9 * DT,
        acceleration=2.9,
        speed=0.35,
    )
    found = np.zeros((ticks, 16))
    for row in found:
        signals[:16], signals[32:35] = state.positions / 0.1, (*heading, 1.0)
        step_layer(layer, state)
        row[:] = state.positions
    return found[ticks // 2 :]


@pytest.fixture(scope='module')
def found():
    return alone(with3=-0.03, after12=0.04, offset13=0.02)


def every_way(angle, **values):
    """Return the set points of a gait whose rotation servos are all that a direction moves."""
    told = {'leader': 0.01, 'with1': 0.01, 'with2': -0.01, 'with3': -0.01, 'with12': 0.04}
    told |= {'with13': -0.04, 'with8': 0.03, 'after9': 0.02, 'gate': GATE}
    told |= {'share': 1.0, **values}
    heading = (0.0, 0.0) if angle is None else (np.cos(angle), np.sin(angle))
    return alone(OmnidirectionalPattern, heading, 1200, **told)


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

    mirror = permutation_from_pairs(Y_MIRROR_PAIRS)
    for servo in (3, 12):
        assert between(servo, mirror[servo]) == pytest.approx(np.pi, abs=0.1)
    assert between(3, 12) == pytest.approx(np.pi / 2.0, abs=0.15)


def test_middles_are_the_offsets_and_steering_moves_them(found):
    assert found[:, 13].mean() == pytest.approx(0.02, abs=0.004)
    assert found[:, 14].mean() == pytest.approx(0.02, abs=0.004)
    aside = alone(heading=(0.8, 0.6), ticks=1200, steer13=0.05)
    assert aside[:, 13].mean() == pytest.approx(0.03, abs=0.006)
    assert aside[:, 14].mean() == pytest.approx(-0.03, abs=0.006)


@pytest.mark.parametrize('angle', [0.0, np.pi / 9.0, np.pi / 4.0])
def test_gates_let_through_what_their_angle_to_the_direction_says(angle):
    # Along x the rotation servos of legs 1 and 4 swing by 0.03 m in phase, those of 2 and 3 by
    # 0.02 m a quarter later; along y each does what the next one to its right does along x, half
    # a period later.
    ahead = np.array([0.03, 0.02j, 0.02j, 0.03])
    open_by = [
        np.sqrt(1.0 - min(1.0, GATE * (1.0 - part(angle))) ** 2) for part in (np.cos, np.sin)
    ]
    wanted = np.abs(open_by[0] * ahead - open_by[1] * np.roll(ahead, 1))
    found = every_way(angle)
    for servo, swing in zip(range(8, 12), wanted, strict=True):
        assert harmonic(found[:, servo], 0.9)[0] == pytest.approx(swing, rel=0.2, abs=0.003)


def test_legs_are_lifted_by_their_share_without_a_direction_and_wholly_with_one():
    for angle, part in ((None, 0.4), (0.0, 1.0)):
        found = every_way(angle, share=0.4)
        assert harmonic(found[:, 12], 0.9)[0] == pytest.approx(0.04, rel=0.1)
        for servo in range(8):
            assert harmonic(found[:, servo], 0.9)[0] == pytest.approx(0.01 * part, rel=0.25)


def test_without_a_direction_the_robot_treads_on_the_spot():
    found = every_way(None)
    for knee in range(12, 16):
        assert harmonic(found[:, knee], 0.9)[0] == pytest.approx(0.04, rel=0.1)
    for rotation in range(8, 12):
        assert harmonic(found[:, rotation], 0.9)[0] < 0.004


def test_a_gait_along_y_is_that_along_x_by_the_next_legs_half_a_period_later():
    ahead, left = every_way(0.0), every_way(np.pi / 2.0)
    for servo, other in enumerate(QUARTER_TURN.tolist()):
        one, turned = harmonic(ahead[:, servo], 0.9), harmonic(left[:, other], 0.9)
        assert turned[0] == pytest.approx(one[0], abs=0.003)
        if one[0] > 0.015:
            assert np.cos(one[1] - turned[1]) == pytest.approx(-1.0, abs=0.05)


def test_middles_follow_the_direction_around():
    point = np.random.default_rng(4).random(len(OmnidirectionalPattern.space))
    constant, along, across = (
        OmnidirectionalPattern.from_unit(point).weights(WIDE, DT)[:16, [34, 32, 33]].T
    )
    assert np.abs(along).max() > 0.01
    for servo, other in enumerate(QUARTER_TURN.tolist()):
        assert along[other] == pytest.approx(-across[servo], rel=0.02, abs=1e-3)
        assert across[other] == pytest.approx(along[servo], rel=0.02, abs=1e-3)
        if servo < 12:  # Knees lead, and are pushed one way or the other to begin with.
            assert constant[other] == pytest.approx(constant[servo], rel=0.02)


@pytest.mark.parametrize(
    ('kind', 'layout'), [(ForwardPattern, LAYOUT), (OmnidirectionalPattern, WIDE)]
)
def test_input_weights_have_norm_one_and_unused_perceptrons_none(kind, layout):
    point = np.random.default_rng(3).random(len(kind.space))
    weights = kind.from_unit(point).weights(layout, DT)
    norms = np.linalg.norm(weights[:, : layout.inputs], axis=1)
    assert norms[: kind.perceptrons] == pytest.approx(1.0, abs=1e-5)
    assert not weights[kind.perceptrons :].any()


def test_the_search_finds_a_wanted_pattern():
    search = PatternCmaOptimizer(dimension=0, shapes=LAYOUT, seed=1, population=12)
    goal = ForwardPattern.from_unit(np.full(len(ForwardPattern.space), 0.6)).weights(LAYOUT, DT)
    near = []
    for _ in range(16):
        asked = search.ask()
        away = [float(np.abs(LAYOUT.join_weights(one.arrays) - goal).sum()) for one in asked]
        near.append(np.mean(away))
        search.tell(
            [
                Evaluation(id=one.id, status='ok', objectives=np.array([-value]))
                for one, value in zip(asked, away, strict=True)
            ]
        )
    assert near[-1] < 0.7 * near[0]
    # The mean of what scatters around a goal is nearer to it.
    assert float(np.abs(search.mean_network - goal).sum()) < near[-1]


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
        check_layout(PerceptronLayout(**sizes), DT, ForwardPattern.perceptrons)
