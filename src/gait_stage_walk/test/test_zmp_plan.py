# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Footsteps, swings and the plan of a walk: properties, and orbits of the pendulum."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.measures.stability import support_margin, support_polygon
from gait_stage_walk.zmp.footsteps import ZERO_TWIST, compose_poses, integrate_twist, next_foothold
from gait_stage_walk.zmp.mass_model import MassModel
from gait_stage_walk.zmp.plan import LEFT, SHIFT, SIDE_SIGNS, STAND, SWING, StepShape, WalkPlan
from gait_stage_walk.zmp.preview import GRAVITY, preview_gains
from gait_stage_walk.zmp.swing import quintic_to_rest, swing_height, write_path_state

HALF_WIDTH, HEIGHT, PERIOD, TIME = 0.1, 0.8, 0.01, 0.7
SOLE = np.array([[x, y] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
GAINS = preview_gains(HEIGHT, PERIOD)
SHAPE = StepShape(step_time=TIME, double_share=0.2, clearance=0.05, forward=0.0, inward=0.0)
TWISTS = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.2, 0.2), st.floats(-0.4, 0.4))
POSES = st.tuples(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.floats(-3.0, 3.0))


def made(mass=MassModel(height=HEIGHT)):  # noqa: B008
    feet = np.array([[0.0, HALF_WIDTH], [0.0, -HALF_WIDTH]])
    return WalkPlan(feet, np.zeros(2), GAINS, mass, SHAPE)


def walked(plan, twist, periods):
    """Advance a plan; return its states (T, 3, 2), stages, supports and feet (T, 2, 4)."""
    states, stages, supports, feet = [], [], [], []
    for _ in range(periods):
        plan.advance(twist)
        place = np.empty((2, 4))
        plan.feet_at(0.0, place)
        states.append(plan.state.copy())
        stages.append(plan.stage)
        supports.append(plan.support)
        feet.append(place)
    return np.array(states), np.array(stages), np.array(supports), np.array(feet)


@pytest.fixture(scope='module')
def forward():
    """Return a walk straight ahead at 0.3 m/s for 6 s, without masses of feet."""
    return walked(made(), (0.3, 0.0, 0.0), 600)


def seen_from(pose, other):
    """Return a pose in the frame of another."""
    x, y = other[0] - pose[0], other[1] - pose[1]
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return c * x + s * y, c * y - s * x, other[2] - pose[2]


@given(pose=POSES, twist=TWISTS, side=st.sampled_from((1.0, -1.0)))
def test_two_steps_carry_a_foot_as_far_as_the_twist_carries_the_body(pose, twist, side):
    # Straight or turning on the spot exactly; on arcs the two legs' chords differ from the arc.
    x, y, yaw = twist
    other = next_foothold(pose, side, HALF_WIDTH, twist, TIME)
    back = next_foothold(other, -side, HALF_WIDTH, twist, TIME)
    way = seen_from(pose, back)
    assert way[2] == pytest.approx(2.0 * TIME * yaw, abs=1e-9)
    whole = integrate_twist(twist, 2.0 * TIME)
    bend = abs(yaw) * TIME * (math.hypot(x, 2.0 * y) * TIME + 2.0 * HALF_WIDTH)
    path = seen_from(
        compose_poses(pose, (0.0, side * HALF_WIDTH, 0.0)),
        compose_poses(back, (0.0, side * HALF_WIDTH, 0.0)),
    )
    assert math.dist(path[:2], whole[:2]) <= 2.0 * bend + 1e-9


@given(pose=POSES, twist=TWISTS, side=st.sampled_from((1.0, -1.0)))
def test_feet_never_come_closer_than_they_stand_nor_turn_their_toes_in(pose, twist, side):
    one = next_foothold(pose, side, HALF_WIDTH, (0.0, *twist[1:]), TIME)
    way = seen_from(pose, one)
    assert side * way[2] >= -1e-9
    assert side * way[1] >= HALF_WIDTH * (1.0 + math.cos(way[2])) - 1e-9


@given(pose=POSES, side=st.sampled_from((1.0, -1.0)))
def test_a_robot_that_stands_keeps_its_feet(pose, side):
    other = next_foothold(pose, side, HALF_WIDTH, ZERO_TWIST, TIME)
    assert next_foothold(other, -side, HALF_WIDTH, ZERO_TWIST, TIME) == pytest.approx(
        pose, abs=1e-9
    )


@settings(deadline=None)
@given(
    state=st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
    target=st.floats(-2.0, 2.0),
    time=st.floats(0.1, 2.0),
)
def test_a_foot_goes_on_as_it_moves_and_comes_to_rest_at_its_target(state, target, time):
    path = quintic_to_rest(np.array(state)[:, None], np.array([target]), time)
    out = np.empty((3, 1))
    write_path_state(path, 0.0, out)
    np.testing.assert_allclose(out[:, 0], state, atol=1e-12)
    write_path_state(path, time, out)
    np.testing.assert_allclose(out[:, 0], [target, 0.0, 0.0], atol=1e-9 / time**2)


def test_a_foot_is_lifted_by_its_clearance_from_rest_to_rest():
    heights = np.array([swing_height(u, 0.05) for u in np.linspace(0.0, 1.0, 1001)])
    assert heights.max() == pytest.approx(0.05) == swing_height(0.5, 0.05)
    assert heights[1] < 1e-6
    assert heights[[0, -1]].tolist() == [0.0, 0.0]
    assert swing_height(-0.1, 0.05) == swing_height(1.1, 0.05) == 0.0


def test_on_one_foot_the_orbital_energy_and_the_growth_of_the_divergent_component_hold(forward):
    states, stages, supports, feet = forward
    rate = GAINS.natural_rate
    # Amid single supports, where the wanted point has stood still and will for a while.
    begins = np.flatnonzero((stages[1:] == SWING) & (stages[:-1] == SHIFT))[2:-1] + 1
    for begin in begins:
        rows = slice(begin + 18, begin + 38)
        point = feet[begin, supports[begin], :2]
        c, v = states[rows, 0] - point, states[rows, 1]
        energy = v**2 - (rate * c) ** 2
        # E = v^2 - w^2 c^2 is conserved (Kajita 2003; Pratt 2006), within what smoothing takes.
        np.testing.assert_allclose(energy, np.broadcast_to(energy[:1], energy.shape), atol=6e-3)
        divergent = c[:, 1] + v[:, 1] / rate
        grown = divergent[0] * np.exp(rate * PERIOD * np.arange(20))
        np.testing.assert_allclose(divergent, grown, atol=0.04 * HALF_WIDTH)


@settings(max_examples=12, deadline=None)
@given(twist=TWISTS)
def test_the_zero_moment_point_stays_over_the_soles_that_stand(twist):
    states, stages, supports, feet = walked(made(), twist, 400)
    zmp = states[:, 0] - states[:, 2] * HEIGHT / GRAVITY
    for k in range(0, 400, 3):
        standing = [supports[k]] if stages[k] == SWING else [0, 1]
        corners = np.concatenate([_corners(feet[k, foot]) for foot in standing])
        assert support_margin(zmp[k], support_polygon(corners)) > 0.0


def _corners(foot):
    c, s = math.cos(foot[3]), math.sin(foot[3])
    return foot[:2] + SOLE @ np.array([[c, s], [-s, c]])


def test_it_walks_at_speed_and_moves_without_jumps(forward):
    states, stages, _, feet = forward
    assert (states[-1, 0, 0] - states[200, 0, 0]) / 3.99 == pytest.approx(0.3, abs=0.02)
    assert {SHIFT, SWING} == set(stages[100:])
    # From one period to the next: no foot faster than 3 m/s, no mass beyond a jerk of 60 m/s^3.
    assert np.abs(np.diff(feet[:, :, :3], axis=0)).max() < 0.03
    assert np.abs(np.diff(states[:, 2], axis=0)).max() < 60.0 * PERIOD


def test_told_to_stop_it_puts_its_feet_side_by_side_and_the_mass_between_them():
    plan = made()
    walked(plan, (0.2, 0.1, 0.2), 330)
    assert plan.stage != STAND
    states, stages, _, feet = walked(plan, ZERO_TWIST, 500)
    assert stages[-1] == STAND
    left, right = feet[-1]
    assert seen_from((*right[:2], right[3]), (*left[:2], left[3])) == pytest.approx(
        (0.0, 2.0 * HALF_WIDTH, 0.0), abs=1e-3
    )
    np.testing.assert_allclose(states[-1, 0], 0.5 * (left[:2] + right[:2]), atol=2e-3)
    np.testing.assert_allclose(states[-1, 1:], 0.0, atol=5e-3)
    steps = plan.steps
    walked(plan, ZERO_TWIST, 100)
    assert plan.steps == steps


def test_what_a_swing_adds_is_asked_of_the_mass():
    mass = MassModel(height=HEIGHT, foot_coefficient=0.05, lifted_share=0.08, inward=0.02)
    plan = made(mass)
    states, stages, supports, feet = walked(plan, (0.3, 0.0, 0.0), 600)
    bare, *_ = walked(made(), (0.3, 0.0, 0.0), 600)
    table = states[:, 0] - states[:, 2] * HEIGHT / GRAVITY
    bend = np.zeros_like(feet)
    bend[1:-1] = (feet[2:] - 2.0 * feet[1:-1] + feet[:-2]) / PERIOD**2
    errors = []
    for k in range(250, 560):
        if stages[k] == SWING:
            foot = 1 - supports[k]
            at = feet[k, foot, :2] - (0.0, SIDE_SIGNS[foot] * mass.inward)
            whole = (
                table[k]
                + (
                    mass.foot_coefficient * bend[k, foot, :2]
                    + mass.lifted_share * bend[k, foot, 2] * (at - table[k])
                )
                / GRAVITY
            )
            errors.append((whole - feet[k, supports[k], :2], table[k] - feet[k, supports[k], :2]))
    compensated, left_alone = np.abs(np.array(errors)).mean(axis=0)
    assert (compensated < 0.5 * left_alone)[0]
    assert np.abs(states[:, 0] - bare[:, 0]).max() > 0.005


@given(ahead=st.floats(-1.0, 1.0), left=st.floats(-1.0, 1.0))
@settings(max_examples=10, deadline=None)
def test_a_foot_in_the_air_is_led_elsewhere_within_bounds_and_lands_there(ahead, left):
    plan = made()
    walked(plan, (0.2, 0.0, 0.0), 1)
    while plan.stage != SWING:
        plan.advance((0.2, 0.0, 0.0))
    side, planned = SIDE_SIGNS[plan.swing], plan.foothold
    assert plan.swing == LEFT
    plan.shift_foothold(ahead, left)
    moved = np.subtract(plan.foothold, planned)
    assert moved[0] == pytest.approx(min(max(ahead, -0.15), 0.15))
    assert side * moved[1] == pytest.approx(min(max(side * left, -0.02), 0.15))
    place = plan.foothold
    while plan.stage == SWING:
        plan.advance((0.2, 0.0, 0.0))
    assert plan.feet[LEFT] == place
