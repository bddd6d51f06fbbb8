# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Strides: inverse kinematics, paths of feet and joints, lengths, and what does not slip."""

from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_stage_walk.strides.cycle import KNOTS, PHASES, JointCycle, knot_phases
from gait_stage_walk.strides.leg import feet_from_joints, joints_from_feet
from gait_stage_walk.strides.tripod import (
    Extension,
    foot_stride,
    joint_stride,
    level_walk_feet,
    postures_from_genes,
)

RADIUS = 0.01
LENGTHS = np.full((4, 3, 2), 0.09)
GENES = np.tile([[45, 45, 9, 9], [75, 30, 9, 9], [105, 30, 9, 9], [80, 70, 7, 7]], (1, 3)).ravel()
# Three legs that stand differently, with equal strokes of 0.1 m.
UNEQUAL = level_walk_feet(0.1, 0.16, 0.03, 0.0) + np.array([[0.02, 0.0], [-0.01, 0.0], [0.0, 0.0]])
UNEQUAL_LENGTHS = np.tile([[0.09, 0.1], [0.1, 0.08], [0.085, 0.085]], (4, 1, 1))

angles = st.floats(0.05, 2.5)
lengths = st.floats(0.06, 0.12)


def held(joints):
    """Return where the ground is that feet hold, ahead of the hips: they roll over it."""
    return feet_from_joints(joints)[..., 0] - RADIUS * (joints[..., 0] + joints[..., 1])


def standing(stride):
    return knot_phases() <= stride.lift_off_phase


def test_published_foot_position():
    # Acceptance: q0 = q1 = 45 degrees, 6 cm: x 0.0424, depth 0.1024 m (equation 3.16).
    foot = feet_from_joints(np.array([np.pi / 4, np.pi / 4, 0.06, 0.06]))
    np.testing.assert_allclose(foot, [0.0424, 0.1024], atol=1e-4)


@example(hip=1.42, knee=2.47, upper=0.066, lower=0.103)
@given(hip=st.floats(0.6, 1.5), knee=angles, upper=lengths, lower=lengths)
def test_inverse_kinematics_undoes_forward_kinematics(hip, knee, upper, lower):
    joints = np.array([hip, knee, upper, lower])
    found = joints_from_feet(feet_from_joints(joints), joints[2:])
    np.testing.assert_allclose(found, joints, atol=1e-6)


def test_postures_are_met_at_their_phases_and_at_rest():
    postures = postures_from_genes(GENES)
    stride = joint_stride(postures, RADIUS)
    cycle = JointCycle(stride.joints.reshape(KNOTS, 12))
    at = np.arange(4.0)
    np.testing.assert_allclose(cycle.positions_at(at), postures.reshape(4, 12), atol=1e-12)
    rates = (cycle.positions_at(at + 1e-4) - cycle.positions_at(at - 1e-4)) / 2e-4
    np.testing.assert_allclose(rates, 0.0, atol=1e-4)


def test_joints_move_on_straight_lines_between_postures():
    postures = postures_from_genes(GENES)
    joints = joint_stride(postures, RADIUS).joints
    quarter = KNOTS // 4
    share = (joints[:quarter, 0, 0] - postures[0, 0, 0]) / (postures[1, 0, 0] - postures[0, 0, 0])
    other = (joints[:quarter, 0, 1] - postures[0, 0, 1]) / (postures[1, 0, 1] - postures[0, 0, 1])
    np.testing.assert_allclose(share, other, atol=1e-12)


def test_travel_of_postures_is_the_published_stroke_but_for_rolling_feet():
    # Acceptance 7: D = 0.150573 m; both tripods push once in a cycle.
    assert joint_stride(postures_from_genes(GENES), 0.0).travel == pytest.approx(
        2 * 0.150573, abs=2e-6
    )


@pytest.mark.parametrize('extension', [None, Extension(standing=1.0, lifting=1.0)])
@pytest.mark.parametrize('duty', [0.5, 0.6])
@pytest.mark.parametrize(
    ('feet', 'lengths'),
    [(level_walk_feet(0.12, 0.165, 0.03, 0.01), LENGTHS), (UNEQUAL, UNEQUAL_LENGTHS)],
)
def test_standing_feet_move_with_one_body_velocity(feet, lengths, duty, extension):
    stride = foot_stride(feet, lengths, duty, RADIUS, extension)
    on_ground = standing(stride)
    advance = -np.diff(held(stride.joints)[on_ground], axis=0) * KNOTS
    np.testing.assert_allclose(advance, stride.travel, atol=1e-6)
    depth = feet_from_joints(stride.joints)[on_ground][..., 1]
    np.testing.assert_allclose(depth, np.broadcast_to(feet[1, :, 1], depth.shape), atol=1e-12)


def test_a_foot_in_the_air_passes_its_keyframe_and_comes_down_where_it_shall():
    stride = foot_stride(UNEQUAL, UNEQUAL_LENGTHS, 0.5, 0.0)
    feet = feet_from_joints(stride.joints)
    for phase, keyframe in zip((0, 64, 128, 192), UNEQUAL, strict=True):
        np.testing.assert_allclose(feet[phase], keyframe, atol=1e-12)
    swing = feet[~standing(stride)][..., 1]
    assert np.all(swing <= 0.16 + 1e-12) and swing.min() == pytest.approx(0.13, abs=1e-9)


@pytest.mark.parametrize('duty', [0.5, 0.55, 0.7])
def test_there_is_no_jump_of_velocity(duty):
    stride = foot_stride(UNEQUAL, UNEQUAL_LENGTHS, duty, RADIUS, Extension(standing=0.5))
    cycle = JointCycle(stride.joints.reshape(KNOTS, 12))

    def largest(step):
        at = cycle.positions_at(np.arange(0.0, 2.0 * PHASES, step))
        return np.abs(np.diff(at, n=2, axis=0)).max() / step

    # Differences of a continuous velocity vanish with the step; a jump would stay.
    assert largest(0.001) == pytest.approx(0.25 * largest(0.004), rel=0.02)


def test_frozen_lengths_stay_and_full_extension_leaves_the_knee():
    feet = level_walk_feet(0.1, 0.165, 0.03, 0.0)
    frozen = foot_stride(feet, LENGTHS, 0.55, RADIUS, Extension()).joints
    assert np.ptp(frozen[..., 2:]) == 0.0 and np.ptp(frozen[..., 1]) > 0.5
    free = foot_stride(feet, LENGTHS, 0.55, RADIUS, Extension(standing=1.0, lifting=1.0)).joints
    np.testing.assert_allclose(free[..., 1], free[0, 0, 1], atol=1e-9)
    assert np.ptp(free[..., 2]) > 0.01


def test_lengths_keep_their_limits_and_knees_make_up_for_them():
    feet = level_walk_feet(0.1, 0.165, 0.03, 0.0)
    stride = foot_stride(
        feet, LENGTHS, 0.55, 0.0, Extension(standing=1.0, lifting=1.0, longest=0.092)
    )
    assert stride.joints[..., 2].max() == 0.092
    on_ground = standing(stride)
    np.testing.assert_allclose(
        feet_from_joints(stride.joints)[on_ground][..., 1], 0.165, atol=1e-12
    )


def test_a_foot_out_of_reach_is_refused_or_neared():
    feet = level_walk_feet(0.1, 0.19, 0.03, 0.0)
    with pytest.raises(ConfigurationError, match='cannot reach a foot .*nearest valid: 0.18 m'):
        foot_stride(feet, LENGTHS, 0.55, RADIUS)
    near = foot_stride(feet, LENGTHS, 0.55, RADIUS, beyond='nearest')
    assert np.hypot(*np.moveaxis(feet_from_joints(near.joints), -1, 0)).max() == pytest.approx(
        0.18
    )


def test_a_wrong_count_of_genes_is_refused():
    with pytest.raises(ConfigurationError, match='47 values; nearest valid: 48'):
        postures_from_genes(np.zeros(47))
