# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whole-tree kinematics against closed forms, finite differences and conservation of shape."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, link_poses, point_position
from gait_core.robot.load import load_robot
from gait_core.robot.model import Joint, Link, Mimic, RobotModel
from gait_core.testing.doubles import legged_box

GUROO = load_robot('guroo')
N = len(GUROO.joint_names)


def make(joints: list[Joint], names: tuple[str, ...], mass: float = 1.0) -> RobotModel:
    links = ['base', *(joint.child for joint in joints)]
    return RobotModel(
        name='chain',
        links=tuple(
            Link(name=name, mass=mass, com=np.zeros(3), inertia=np.eye(3)) for name in links
        ),
        joints=tuple(joints),
        joint_names=names,
        actuators={},
    )


def test_a_planar_leg_is_where_trigonometry_says():
    robot = legged_box(legs=1, joints=2)
    hip, knee = np.linspace(-1.0, 1.0, 7), np.linspace(-1.5, 0.5, 7)
    foot = point_position(robot, np.column_stack([hip, knee]), 'leg0_link1', (0.0, 0.0, -0.15))
    # A positive angle about y swings what hangs down backwards.
    np.testing.assert_allclose(foot[:, 0], -0.15 * (np.sin(hip) + np.sin(hip + knee)), atol=1e-15)
    np.testing.assert_allclose(
        foot[:, 2], -0.05 - 0.15 * (np.cos(hip) + np.cos(hip + knee)), atol=1e-15
    )
    np.testing.assert_array_equal(foot[:, 1], 0.0)


def test_a_slide_moves_along_its_turned_axis():
    slide = Joint(
        name='slide', kind='prismatic', parent='base', child='arm', xyz=(1.0, 0.0, 0.0),
        rpy=(0.0, 0.0, np.pi / 2), axis=(1.0, 0.0, 0.0),
    )  # fmt: skip
    robot = make([slide], ('slide',))
    np.testing.assert_allclose(
        point_position(robot, np.array([0.3]), 'arm'), [1.0, 0.3, 0.0], atol=1e-15
    )


def test_mimic_joints_follow_and_passive_joints_stay_at_zero():
    def about_z(name, parent, child, mimic=None):
        return Joint(name=name, kind='revolute', parent=parent, child=child, mimic=mimic)

    robot = make(
        [
            about_z('a', 'base', 'one'),
            about_z('b', 'one', 'two', Mimic(joint='a', multiplier=-2.0, offset=0.1)),
            about_z('c', 'two', 'three', Mimic(joint='b', multiplier=0.5)),
            about_z('free', 'three', 'four'),
        ],
        ('a',),
    )
    poses = link_poses(robot, np.array([0.4]))
    angles = Rotation.from_matrix(poses[:, :3, :3]).as_rotvec()[:, 2]
    follower = -2.0 * 0.4 + 0.1
    np.testing.assert_allclose(np.diff(angles), [0.4, follower, 0.5 * follower, 0.0], atol=1e-14)


positions = st.lists(st.floats(-1.5, 1.5), min_size=N, max_size=N).map(np.array)
numbers = st.floats(-3.0, 3.0)
poses = st.tuples(numbers, numbers, numbers, numbers, numbers, numbers).map(
    lambda v: np.array([*v[:3], *Rotation.from_rotvec(v[3:]).as_quat()])
)


@settings(max_examples=30, deadline=None)
@given(joints=positions, base=poses)
def test_moving_the_base_moves_every_link_rigidly(joints, base):
    turn = Rotation.from_quat(base[3:]).as_matrix()
    level, moved = link_poses(GUROO, joints), link_poses(GUROO, joints, base)
    np.testing.assert_allclose(moved[:, :3, 3], level[:, :3, 3] @ turn.T + base[:3], atol=1e-12)
    np.testing.assert_allclose(moved[:, :3, :3], turn @ level[:, :3, :3], atol=1e-12)
    np.testing.assert_allclose(
        com_positions(GUROO, joints, base),
        turn @ com_positions(GUROO, joints) + base[:3],
        atol=1e-12,
    )


def test_the_centre_of_mass_is_the_weighted_mean():
    joints = np.random.default_rng(1).uniform(-1.0, 1.0, (4, N))
    frames = link_poses(GUROO, joints)
    expected = np.zeros((4, 3))
    for row, link in enumerate(GUROO.links):
        expected += link.mass * (frames[:, row, :3, :3] @ link.com + frames[:, row, :3, 3])
    np.testing.assert_allclose(com_positions(GUROO, joints), expected / 38.0, atol=1e-12)


def test_times_are_independent_of_one_another():
    joints = np.random.default_rng(3).uniform(-1.0, 1.0, (5, N))
    base = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0], (5, 1))
    together = link_poses(GUROO, joints, base)
    for time in range(5):
        np.testing.assert_allclose(
            together[time], link_poses(GUROO, joints[time], base[time]), atol=1e-15
        )


def test_wrong_shapes_and_names_are_refused():
    with pytest.raises(
        ValueError, match=r'joint_positions has shape \(1, 3\), expected \(T, 23\)'
    ):
        link_poses(GUROO, np.zeros(3))
    with pytest.raises(ValueError, match=r'base_pose has shape \(6,\)'):
        link_poses(GUROO, np.zeros(N), np.zeros(6))
    with pytest.raises(ConfigurationError, match="unknown link 'l_sol': did you mean 'l_sole'"):
        point_position(GUROO, np.zeros(N), 'l_sol')


def test_a_changed_copy_of_a_robot_gets_its_own_tree():
    robot = legged_box(legs=1, joints=1)
    before = link_poses(robot, np.zeros(1))
    hip = dataclasses.replace(robot.joints[0], xyz=(0.5, 0.0, 0.0))
    after = link_poses(dataclasses.replace(robot, joints=(hip,)), np.zeros(1))
    np.testing.assert_array_equal(after[1, :3, 3], [0.5, 0.0, 0.0])
    np.testing.assert_array_equal(link_poses(robot, np.zeros(1)), before)
