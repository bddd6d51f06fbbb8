# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Frames of REP-105 and REP-120, for robots whatever their links are called."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.base_frames import base_frame_name, base_transforms
from gait_core.kinematics.forward_kinematics import link_poses, pose_matrices
from gait_core.kinematics.start_pose import pose_on_terrain, root_poses_from_base
from gait_core.robot.load import load_robot, read_robot
from gait_core.robot.urdf.writer import insert_base_link, to_urdf
from gait_core.terrains.surfaces import Plane
from gait_core.testing.skips import need_robot
from gait_core.trial.scene import InitialState

ROBOTS = ('guroo', 'a1', 'roach', 'hexapod', 'spider')


def placed(robot, rpy):
    """Return transforms by child, as matrices in odom, of a robot that leans."""
    turn = Rotation.from_euler('xyz', rpy).as_quat()
    poses = np.array([[0.7, -0.4, 0.5, *turn]] * len(robot.roots))
    found = {'odom': np.eye(4)}
    for parent, child, pose in base_transforms(robot, robot.joint_stance, poses):
        assert child not in found, 'a frame has one parent'
        found[child] = found[parent] @ pose_matrices(pose)
    return found, poses


@pytest.mark.parametrize('name', ROBOTS)
def test_every_robot_has_a_base_link_and_a_footprint_amid_its_level_soles(name):
    robot = need_robot(name)
    found, poses = placed(robot, (0.2, -0.1, 0.6))
    assert base_frame_name(robot) == 'base_link'
    for frame in ('base_link', robot.roots[0]):
        np.testing.assert_allclose(found[frame], pose_matrices(poses[0]), atol=1e-12)
    footprint = found['base_footprint']
    # Roll and pitch are zero, the yaw is that of base_link.
    forward = found['base_link'][:3, 0]
    yaw = np.arctan2(forward[1], forward[0])
    level = Rotation.from_euler('z', yaw).as_matrix()
    np.testing.assert_allclose(footprint[:3, :3], level, atol=1e-12)
    links = link_poses(robot, robot.joint_stance, poses)
    soles = np.array(
        [links[robot.link_index[leg.sole]] @ [*leg.sole_point, 1.0] for leg in robot.legs]
    )
    np.testing.assert_allclose(footprint[:2, 3], soles[:, :2].mean(axis=0), atol=1e-12)
    assert footprint[2, 3] <= soles[:, 2].min() + 1e-12


@pytest.mark.parametrize('name', [*ROBOTS, 'tetraspine'])
def test_the_footprint_lies_on_the_floor_that_the_robot_stands_on(name):
    robot = need_robot(name)
    over = replace(InitialState(), clearance=0.03, yaw=0.5)
    poses = root_poses_from_base(robot, pose_on_terrain(robot, robot.stance, over, Plane()))
    *_, (parent, child, pose) = base_transforms(robot, robot.joint_stance, poses)
    height = (pose_matrices(poses[0]) @ [*pose[:3], 1.0])[2] if parent != 'odom' else pose[2]
    assert child == 'base_footprint' and height == pytest.approx(0.03)


def test_bodies_without_a_base_have_their_own_frames_and_a_footprint_below_their_middle():
    robot = load_robot('tetraspine')
    rows = list(base_transforms(robot, robot.joint_stance, np.eye(7)[[6] * 5]))
    assert [row[:2] for row in rows[:-1]] == [('odom', root) for root in robot.roots]
    assert rows[-1][:2] == ('odom', 'base_footprint')
    np.testing.assert_array_equal(rows[-1][2][:2], 0.0)
    assert base_frame_name(robot) == robot.roots[0]


def test_a_description_gets_a_base_link_once_and_stays_the_same_robot(tmp_path):
    robot = need_robot('a1')
    text = insert_base_link(to_urdf(robot), 'base_link')
    document = ElementTree.fromstring(text)
    joint = document.find('joint[@name="base_link_to_trunk"]')
    assert joint.get('type') == 'fixed' and joint.find('origin') is None
    assert insert_base_link(text, 'base_link') == text
    path = tmp_path / 'a1.urdf'
    path.write_text(text)
    read = read_robot(path)
    assert read.roots == ('base_link',) and set(read.joint_names) == set(robot.joint_names)
    assert read.mass == pytest.approx(robot.mass)
