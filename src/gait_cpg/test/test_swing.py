# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Foot trajectories: rigid motion of the ground in stance, continuity and clearance in swing."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_cpg.phase_cpg.swing import (
    StepParameters,
    ground_points_after,
    is_stance,
    write_foot_targets,
)

FEET = np.array([[0.2, 0.13, -0.3], [0.2, -0.13, -0.3], [-0.2, 0.13, -0.3], [-0.2, -0.13, -0.3]])
MIRROR = np.array([1, 0, 3, 2])
speeds = st.floats(-1.0, 1.0)
twists = st.tuples(speeds, speeds, st.floats(-2.0, 2.0)).map(np.array)
duties = st.floats(0.2, 0.9)
frequencies = st.floats(0.3, 4.0)


def ground_velocities(points, twist):
    """Velocity of the ground in the base frame: that of a rigid body, reversed."""
    return -twist[:2] - twist[2] * np.stack((-points[:, 1], points[:, 0]), axis=-1)


def positions(phase, twist, frequency=2.0, duty_factor=0.6, clearance=0.05, feet=FEET):
    """Feet of a steady walk at a phase, of all legs or of each; no shifts, full amplitude."""
    shape = np.array([frequency, 0.0, clearance, 0.0, 0.0, 0.0, 0.0])
    steps = StepParameters(twist, shape, np.full(len(feet), duty_factor, dtype=float))
    phases = np.full((1, len(feet)), phase, dtype=float)
    stance = np.column_stack((feet, np.sign(feet[:, 1])))
    targets = np.empty((len(feet), 1, 3))
    write_foot_targets(phases, np.ones_like(phases), stance, steps, steps, targets)
    return targets[:, 0]


def test_a_foot_at_mid_stance_is_where_it_stands():
    duty_factor = 0.6
    mid = 2.0 * np.pi * (1.0 - duty_factor / 2.0)
    np.testing.assert_allclose(
        positions(mid, np.array([0.4, -0.1, 0.8]), duty_factor=duty_factor), FEET, atol=1e-12
    )


def test_a_straight_walk_draws_a_straight_stance_of_the_stride_length():
    speed, frequency, duty_factor = 0.4, 1.6, 0.6
    twist = np.array([speed, 0.0, 0.0])
    touch_down, lift_off = 2.0 * np.pi * (1.0 - duty_factor), 2.0 * np.pi
    phase = np.linspace(touch_down, lift_off - 1e-9, 50)
    path = np.array([positions(p, twist, frequency, duty_factor) - FEET for p in phase])
    np.testing.assert_allclose(path[:, :, 1:], 0.0, atol=1e-12)
    reach = 0.5 * speed * duty_factor / frequency
    np.testing.assert_allclose(path[:, 0, 0], np.linspace(reach, -reach, 50), atol=1e-9)


@given(twist=twists, frequency=frequencies, duty_factor=duties, share=st.floats(0.01, 0.99))
def test_stance_feet_move_with_the_ground(twist, frequency, duty_factor, share):
    # Central difference over 2e-5 of a cycle inside the stance, against the rigid motion.
    phase = 2.0 * np.pi * (1.0 - duty_factor * (1.0 - share))
    step = 2.0 * np.pi * 1e-5 * duty_factor * min(share, 1.0 - share)
    before, here, after = (
        positions(phase + k * step, twist, frequency, duty_factor) for k in (-1, 0, 1)
    )
    speed = (after - before)[:, :2] / (2.0 * step / (2.0 * np.pi * frequency))
    np.testing.assert_allclose(speed, ground_velocities(here[:, :2], twist), atol=2e-5)
    np.testing.assert_allclose(here[:, 2], FEET[:, 2])


@given(twist=twists, time=st.floats(-2.0, 2.0))
def test_ground_motion_is_rigid_and_can_be_undone(twist, time):
    there = ground_points_after(FEET[:, :2], twist, time)
    for i in range(3):
        assert np.linalg.norm(there[i] - there[i + 1]) == pytest.approx(
            np.linalg.norm(FEET[i, :2] - FEET[i + 1, :2]), abs=1e-12
        )
    np.testing.assert_allclose(ground_points_after(there, twist, -time), FEET[:, :2], atol=1e-12)


def test_turning_on_the_spot_is_a_rotation_about_the_base():
    angle = 0.3
    turned = ground_points_after(FEET[:, :2], np.array([0.0, 0.0, 1.0]), angle)
    c, s = np.cos(angle), np.sin(angle)
    np.testing.assert_allclose(turned, FEET[:, :2] @ np.array([[c, -s], [s, c]]), atol=1e-12)


@given(twist=twists, frequency=frequencies, duty_factor=duties)
def test_position_and_velocity_are_continuous_at_both_ends_of_the_swing(
    twist, frequency, duty_factor
):
    touch_down = 2.0 * np.pi * (1.0 - duty_factor)
    step = 1e-6
    for seam in (0.0, touch_down):
        path = [positions(seam + k * step, twist, frequency, duty_factor) for k in (-2, -1, 1, 2)]
        before, after = path[1] - path[0], path[3] - path[2]
        # Per rad of phase; curvature adds at most |second derivative| * 3 steps.
        np.testing.assert_allclose(after / step, before / step, atol=2e-3)
        np.testing.assert_allclose(path[2], path[1], atol=1e-5)


@given(twist=twists, duty_factor=duties, clearance=st.floats(0.0, 0.2),
       phase=st.floats(-50.0, 50.0))  # fmt: skip
def test_a_foot_is_above_the_ground_only_in_swing(twist, duty_factor, clearance, phase):
    height = positions(phase, twist, duty_factor=duty_factor, clearance=clearance)[:, 2] + 0.3
    assert np.all(height >= -1e-12)
    assert np.all(height <= clearance + 1e-12)
    if is_stance(np.array(phase), duty_factor):
        np.testing.assert_allclose(height, 0.0, atol=1e-12)


@given(twist=twists, duty_factor=duties, clearance=st.floats(0.01, 0.2))
def test_mid_swing_has_the_full_clearance(twist, duty_factor, clearance):
    mid = np.pi * (1.0 - duty_factor)
    height = positions(mid, twist, duty_factor=duty_factor, clearance=clearance)[:, 2] + 0.3
    np.testing.assert_allclose(height, clearance, rtol=1e-9)


@given(twist=twists, phase=st.floats(0.0, 6.28), turns=st.integers(-3, 3))
def test_the_path_is_periodic(twist, phase, turns):
    # The seam itself may fall on either side by rounding: continuity bounds the difference.
    np.testing.assert_allclose(
        positions(phase + 2.0 * np.pi * turns, twist), positions(phase, twist), atol=1e-9
    )


@given(twist=twists, phase=st.floats(0.0, 6.28), duty_factor=duties)
def test_a_mirrored_command_mirrors_the_feet(twist, phase, duty_factor):
    mirrored = positions(phase, twist * [1.0, -1.0, -1.0], duty_factor=duty_factor)
    np.testing.assert_allclose(
        mirrored[MIRROR] * [1.0, -1.0, 1.0],
        positions(phase, twist, duty_factor=duty_factor),
        atol=1e-12,
    )


def test_lift_off_is_the_first_instant_of_the_swing():
    assert is_stance(np.array([0.0, 0.1, np.pi, 6.2]), 0.5).tolist() == [False, False, True, True]


def test_targets_of_a_period_are_steady_feet_scaled_shifted_and_swayed():
    rng = np.random.default_rng(3)
    phases, amplitudes = rng.uniform(0.0, 20.0, (2, 4)), rng.uniform(0.0, 1.0, (2, 4))
    twist = np.array([0.4, -0.1, 0.6])
    shapes = np.array(
        [[2.0, 0.6, 0.05, 0.01, 0.02, 0.03, 0.0], [1.0, 0.8, 0.05, 0.01, 0.02, 0.03, 0.04]]
    )
    outward = np.sign(FEET[:, 1])
    targets = np.empty((phases.shape[1], len(phases), 3))
    extra = np.array([[0.0, 0.02, -0.02, 0.0], [0.04, 0.06, -0.02, 0.0]])
    first, last = map(StepParameters, (0.0 * twist, twist), shapes, extra)
    stance = np.column_stack((FEET, outward))
    write_foot_targets(phases, amplitudes, stance, first, last, targets)
    assert targets.shape == (4, 2, 3)
    stand = FEET + np.stack([[-0.02, 0.03 * side, -0.01] for side in outward])
    # Half-way in the first of two samples, at the end in the second.
    for k, (moving, frequency, duty_factor, sway) in enumerate(
        [
            (0.5 * twist, 1.5, 0.7 + extra.mean(axis=0), 0.02),
            (twist, 1.0, 0.8 + extra[1], 0.04),
        ]
    ):
        walk = positions(phases[k], moving, frequency, duty_factor, 0.05, stand)
        lifted = np.cos(phases[k] - np.pi * (1.0 - duty_factor))
        walk[:, 1] += sway * np.mean(outward * lifted)
        wanted = stand + amplitudes[k][:, None] * (walk - stand)
        np.testing.assert_allclose(targets[:, k], wanted, atol=1e-14)
