# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Preview control against the closed forms of the linear inverted pendulum."""

import math

import numpy as np
import pytest

from gait_stage_walk.zmp.preview import GRAVITY, integrate_jerk, preview_gains, write_preview_jerk

HEIGHT, PERIOD = 0.8, 0.01
RATE = math.sqrt(GRAVITY / HEIGHT)
STEP_AT, STEP = 200, 0.1


def followed(gains, reference):
    """Return the states (T, 3, 2) that follow a reference (T + N, 2) from rest at the origin."""
    state, jerk = np.zeros((3, 2)), np.zeros(2)
    states = []
    for k in range(len(reference) - len(gains.forward)):
        states.append(state.copy())
        ahead = reference[k + 1 : k + 1 + len(gains.forward)]
        write_preview_jerk(gains.feedback, gains.forward, state, ahead, jerk)
        integrate_jerk(state, jerk, gains.period, state)
    return np.array(states)


@pytest.fixture(scope='module')
def stepped():
    """Return the motion of both axes where one reference steps at a known time."""
    gains = preview_gains(HEIGHT, PERIOD, weight=1e-9)
    reference = np.zeros((400 + len(gains.forward), 2))
    reference[STEP_AT:, 0] = STEP
    return followed(gains, reference)


def test_the_gains_for_what_is_coming_decay_at_the_rate_of_the_pendulum():
    # The closed loop keeps the mirrored unstable zero of the cart-table: exp(-w T) a period.
    gains = preview_gains(HEIGHT, PERIOD, weight=1e-12)
    shrink = gains.forward[31:60] / gains.forward[30:59]
    np.testing.assert_allclose(shrink, math.exp(-RATE * PERIOD), rtol=1e-3)


def test_the_gains_sum_to_that_of_the_position():
    gains = preview_gains(HEIGHT, PERIOD)
    assert gains.forward.sum() == pytest.approx(gains.feedback[0], rel=1e-12)
    # What comes after the horizon counts for less than a hundredth.
    assert abs(gains.forward[-1]) < 0.01 * gains.feedback[0]


def test_shifting_everything_shifts_the_motion():
    gains = preview_gains(HEIGHT, PERIOD)
    rng = np.random.default_rng(3)
    ahead = rng.normal(size=(len(gains.forward), 2))
    state, here, there = rng.normal(size=(3, 2)), np.zeros(2), np.zeros(2)
    write_preview_jerk(gains.feedback, gains.forward, state, ahead, here)
    moving = state + np.array([[7.0, -3.0], [0.0, 0.0], [0.0, 0.0]])
    write_preview_jerk(gains.feedback, gains.forward, moving, ahead + (7.0, -3.0), there)
    np.testing.assert_allclose(there, here, rtol=1e-6)


def test_before_a_step_the_mass_moves_as_an_unstable_pendulum_and_after_it_as_a_stable_one(
    stepped,
):
    # c = s exp(w t) / 2 before, s - s exp(-w t) / 2 after: the bounded orbit for a stepping p.
    times = (np.arange(len(stepped)) - STEP_AT) * PERIOD
    exact = np.where(
        times < 0.0,
        0.5 * STEP * np.exp(RATE * times),
        STEP - 0.5 * STEP * np.exp(-RATE * times),
    )
    np.testing.assert_allclose(stepped[:, 0, 0], exact, atol=0.01 * STEP)
    np.testing.assert_array_equal(stepped[:, :, 1], 0.0)


def test_the_zero_moment_point_follows_the_step(stepped):
    zmp = stepped[:, 0, 0] - stepped[:, 2, 0] / RATE**2
    late = np.arange(len(zmp)) - STEP_AT
    assert np.abs(zmp[late < -15]).max() < 0.02 * STEP
    assert np.abs(zmp[late > 15] - STEP).max() < 0.02 * STEP


def test_a_constant_jerk_moves_the_mass_on_a_cubic():
    state = np.array([[0.3, 0.0], [-0.2, 1.0], [0.5, 0.0]])
    out = np.empty((3, 2))
    integrate_jerk(state, np.array([2.0, -6.0]), 0.5, out)
    time = 0.5
    cubic = 0.3 - 0.2 * time + 0.25 * time**2 + time**3 / 3.0
    np.testing.assert_allclose(out[:, 0], [cubic, -0.2 + 0.25 + 0.25, 1.5])
    np.testing.assert_allclose(out[:, 1], [0.5 - 0.125, 1.0 - 0.75, -3.0])
