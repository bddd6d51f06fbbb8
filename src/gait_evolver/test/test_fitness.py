# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fitness terms against closed forms on rollouts made by hand."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.testing.doubles import make_rollout, rollout_with_arrays, spec_for_test
from gait_core.trial.loop import run_loop
from gait_evolver import fitness

T, DT = 50, 0.02


@pytest.fixture(scope='module')
def still():
    """Return a rollout in which nothing moves and nothing touches the ground."""
    poses = np.zeros((T + 1, 1, 7))
    poses[:, :, 6] = 1.0
    standing = _standing()
    return make_rollout(standing.robot, standing.spec, T, body_poses=poses)


def _standing():
    from gait_core.motion.stance_controller import HoldController
    from gait_core.testing.doubles import KinematicEngine, register_temporarily

    with register_temporarily('controllers', hold=HoldController):
        return run_loop(spec_for_test('hold', duration=T * DT), KinematicEngine()).rollout()


def moved(rollout, ahead, left, yaw0=0.0, turn=0.0):
    """Return the rollout with a base that goes straight while it turns evenly."""
    share = np.linspace(0.0, 1.0, T + 1)
    x, y = np.cos(yaw0) * ahead - np.sin(yaw0) * left, np.sin(yaw0) * ahead + np.cos(yaw0) * left
    poses = np.zeros((T + 1, 1, 7))
    poses[:, 0, 0], poses[:, 0, 1], poses[:, 0, 2] = share * x, share * y, 0.3
    poses[:, 0, 3:] = Rotation.from_euler('z', (yaw0 + share * turn)[:, None]).as_quat()
    return rollout_with_arrays(rollout, body_poses=poses)


@given(ahead=st.floats(-5, 5), left=st.floats(-5, 5), yaw0=st.floats(-3, 3), turn=st.floats(-9, 9))
def test_displacements_are_those_in_the_frame_of_the_start(still, ahead, left, yaw0, turn):
    rollout = moved(still, ahead, left, yaw0, turn)
    assert fitness.forward_displacement(rollout) == pytest.approx(ahead, abs=1e-9)
    assert fitness.lateral_drift(rollout) == pytest.approx(abs(left), abs=1e-9)
    # Full turns count: the yaw is unwrapped.
    assert fitness.heading_change(rollout) == pytest.approx(abs(turn), abs=1e-9)


def test_survival_is_the_share_that_was_run(still):
    assert fitness.survival_share(still) == 1.0
    half = replace(still, spec=replace(still.spec, duration=2 * T * DT))
    assert fitness.survival_share(half) == 0.5


def test_energy_is_positive_work(still):
    # 2 N m at 3 rad/s for one second on one joint; braking on another costs nothing.
    efforts, rates = np.zeros_like(still.joint_efforts), np.zeros_like(still.joint_velocities)
    efforts[:, 0], rates[:, 0] = 2.0, 3.0
    efforts[:, 1], rates[:, 1] = -2.0, 3.0
    working = rollout_with_arrays(still, joint_efforts=efforts, joint_velocities=rates)
    assert fitness.positive_work(working) == pytest.approx(6.0)
    assert fitness.positive_work(still) == 0.0


def test_transport_efficiency_is_weight_times_distance_by_work(still):
    efforts, rates = np.zeros_like(still.joint_efforts), np.zeros_like(still.joint_velocities)
    efforts[:, 0], rates[:, 0] = 2.0, 3.0
    walking = rollout_with_arrays(
        moved(still, 2.0, 0.3), joint_efforts=efforts, joint_velocities=rates
    )
    weight = 9.81 * still.robot.mass
    assert fitness.transport_efficiency(walking) == pytest.approx(weight * 2.0 / 6.0)
    # Standing is worth nothing, though it costs nothing; nor is a fall, however far it leads.
    assert fitness.transport_efficiency(still) == 0.0
    assert fitness.transport_efficiency(replace(walking, status='fell')) == 0.0


def test_work_that_the_engine_summed_counts_before_that_of_the_ticks(still):
    work = np.zeros((T + 1, 2, len(still.robot.joint_names)))
    work[1:, 0, 0], work[1:, 1, 0] = 1.5, 4.0
    assert fitness.positive_work(rollout_with_arrays(still, joint_work=work)) == pytest.approx(4.0)


def test_smoothness_is_minus_the_rms_acceleration(still):
    # One of n joints speeds up by 4 rad/s^2: the mean square is 16 / n.
    rates = np.zeros_like(still.joint_velocities)
    rates[:, 0] = 4.0 * np.arange(T + 1) * DT
    n = rates.shape[1]
    faster = rollout_with_arrays(still, joint_velocities=rates)
    assert fitness.smoothness(faster) == pytest.approx(-4.0 / np.sqrt(n))
    assert fitness.smoothness(still) == 0.0


def test_tilt_is_the_largest_lean(still):
    poses = still.body_poses.copy()
    poses[20, 0, 3:] = Rotation.from_euler('xy', [0.3, 0.0]).as_quat()
    poses[30, 0, 3:] = Rotation.from_euler('zy', [2.0, -0.5]).as_quat()
    assert fitness.max_tilt(rollout_with_arrays(still, body_poses=poses)) == pytest.approx(0.5)
    assert fitness.max_tilt(still) == 0.0


def test_zmp_margin_of_a_square_stance(still):
    # Four equal forces at the corners of a square of 0.2 m: the margin is 0.1 m; half the ticks
    # are in the air and count as zero.
    corners = 0.1 * np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
    ticks = np.arange(0, T + 1, 2)
    force = np.array([0.0, 0.0, 9.81 * still.robot.mass / 4])
    standing = rollout_with_arrays(
        still,
        contact_tick=np.repeat(ticks, 4),
        contact_sole=np.tile(np.arange(4), len(ticks)),
        contact_points=np.tile(corners, (len(ticks), 1)),
        contact_forces=np.tile(force, (4 * len(ticks), 1)),
        contact_depths=np.zeros(4 * len(ticks)),
    )
    assert fitness.mean_zmp_margin(standing) == pytest.approx(0.1 * len(ticks) / (T + 1))
    assert fitness.mean_zmp_margin(still) == 0.0


@pytest.mark.parametrize(
    ('term', 'missing', 'words'),
    [
        (fitness.mean_zmp_margin, ('contacts', 'contact_counts'), 'zmp_margin: .* no contacts'),
        (fitness.positive_work, ('joint_efforts', 'joint_work'), 'energy: .* no work'),
        (fitness.transport_efficiency, ('joint_efforts', 'joint_work'), 'energy: .* no work'),
        (fitness.smoothness, ('joint_velocities',), 'smoothness: .* no joint velocities'),
    ],
)
def test_a_term_of_absent_states_is_refused(still, term, missing, words):
    states = replace(still.states, **dict.fromkeys(missing))
    with pytest.raises(ValueError, match=words):
        term(replace(still, states=states))
