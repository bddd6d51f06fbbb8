# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots that others described: masses, legs and frames against independent readings."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.inference import (
    counterpart_names,
    infer_mirror_pairs,
    side_from_name,
    up_axis,
)
from gait_core.robot.load import load_robot, read_robot
from gait_core.robot.urdf.writer import to_urdf
from gait_core.testing.skips import need_data, need_robot

FILES = (
    'a1/a1.urdf',
    'laikago/laikago_toes_zup.urdf',
    'laikago/laikago_toes.urdf',
    'mini_cheetah/mini_cheetah.urdf',
    'quadruped/spirit40.urdf',
)


def data_file(name: str):
    return need_data(f'pybullet_data:{name}')


@pytest.fixture(params=FILES, ids=lambda name: name.split('/')[-1])
def foreign(request):
    return data_file(request.param)


def test_mass_links_and_joints_equal_the_file(foreign):
    robot, root = load_robot(str(foreign)), ElementTree.parse(foreign).getroot()
    masses = [float(item.get('value')) for item in root.findall('link/inertial/mass')]
    assert robot.mass == pytest.approx(sum(masses), rel=1e-12)
    assert len(robot.links) == len(root.findall('link'))
    moving = [item.get('name') for item in root.findall('joint') if item.get('type') != 'fixed']
    assert list(robot.joint_names) == moving
    assert len(moving) == 12


def test_four_legs_of_three_joints_are_found_with_their_toes(foreign):
    robot = load_robot(str(foreign))
    assert [len(leg.joints) for leg in robot.legs] == [3] * 4
    assert all('toe' in leg.sole.lower() for leg in robot.legs)
    assert sorted(name for leg in robot.legs for name in leg.joints) == sorted(robot.joint_names)
    # The toes are balls about their link's origin.
    assert {leg.sole_point for leg in robot.legs} == {(0.0, 0.0, 0.0)}


def test_the_stance_lies_within_the_limits(foreign):
    robot = load_robot(str(foreign))
    assert np.all((robot.lower <= robot.stance) & (robot.stance <= robot.upper))


def test_every_joint_has_a_counterpart_whose_counterpart_it_is(foreign):
    robot = load_robot(str(foreign))
    pairs = robot.mirror_pairs
    assert set(pairs) == set(robot.joint_names)
    for name, (other, sign) in pairs.items():
        assert pairs[other] == (name, sign)
        assert sign in (1.0, -1.0)


@pytest.mark.parametrize('name', [FILES[0], FILES[3], FILES[4], 'guroo'])
def test_mirrored_joints_give_a_mirrored_robot(name):
    """A pose and its mirror image put counterpart links at mirrored places."""
    robot = load_robot(name) if '/' not in name else load_robot(str(data_file(name)))
    rng = np.random.default_rng(5)
    pose = rng.uniform(-0.5, 0.5, len(robot.joint_names))
    mirrored = np.zeros_like(pose)
    for joint, (other, sign) in robot.mirror_pairs.items():
        mirrored[robot.joint_index[other]] = sign * pose[robot.joint_index[joint]]
    here, there = link_poses(robot, pose), link_poses(robot, mirrored)
    for joint, (other, _) in robot.mirror_pairs.items():
        place = here[robot.link_index[robot.joint[joint].child], :3, 3]
        image = there[robot.link_index[robot.joint[other].child], :3, 3]
        np.testing.assert_allclose(image, place * [1.0, -1.0, 1.0], atol=1e-9)


def test_a_humanoid_has_two_legs_and_not_its_arms():
    robot = load_robot('guroo')
    inferred = read_robot(Path(robot.source) / 'guroo.urdf.xacro')
    assert {leg.sole for leg in inferred.legs} == set(robot.soles)
    assert [len(leg.joints) for leg in inferred.legs] == [6, 6]
    # What robot.yaml writes out equals what geometry and names tell.
    assert infer_mirror_pairs(robot) == robot.mirror_pairs


def test_the_up_axis_is_read_off_the_legs():
    ups = {name: up_axis(load_robot(str(data_file(name)))) for name in FILES}
    assert ups == dict.fromkeys(FILES, 'z') | {'laikago/laikago_toes.urdf': 'y'}


def test_a_y_up_file_stands_after_the_turn_that_robot_yaml_gives(tmp_path):
    file = data_file('laikago/laikago_toes.urdf')
    (tmp_path / 'robot.yaml').write_text(
        f'urdf: pybullet_data:laikago/{file.name}\nroot_rpy: [1.5707963267948966, 0, '
        '1.5707963267948966]\n'
    )
    turned = read_robot(tmp_path)
    z_up = load_robot(str(data_file('laikago/laikago_toes_zup.urdf')))
    assert up_axis(turned) == 'z'
    feet = []
    for robot in (turned, z_up):
        rows = [robot.link_index[sole] for sole in robot.soles]
        places = link_poses(robot, np.zeros(12))[rows, :3, 3]
        feet.append(places - places.mean(axis=0))
    # The z-up file writes its quarter turns with five decimals.
    np.testing.assert_allclose(feet[0], feet[1], atol=1e-4)


def test_a1_stands_with_each_toe_under_its_hip():
    robot = need_robot('a1')
    assert robot.mass == pytest.approx(12.458, abs=1e-9)
    assert [leg.name for leg in robot.legs] == ['fl', 'fr', 'rl', 'rr']
    poses = link_poses(robot, robot.stance)
    for leg in robot.legs:
        hip = poses[robot.link_index[robot.joint[leg.joints[1]].child], :3, 3]
        toe = poses[robot.link_index[leg.sole], :3, 3]
        # Two segments of 0.2 m, each leaning by 0.9 rad, one forward and one back.
        np.testing.assert_allclose(toe - hip, [0.0, 0.0, -0.4 * np.cos(0.9)], atol=1e-12)
    assert robot.length_scale == pytest.approx(0.4 * np.cos(0.9) + 0.02, abs=1e-12)


def test_a_robot_without_mass_is_refused(tmp_path):
    path = tmp_path / 'ghost.urdf'
    path.write_text('<robot name="ghost"><link name="a"/></robot>')
    with pytest.raises(ConfigurationError, match="robot 'ghost' has a total mass of 0 kg"):
        load_robot(str(path))


@pytest.mark.parametrize('name', [*FILES, 'guroo'])
def test_to_urdf_gives_the_same_robot_to_the_last_bit(tmp_path, name):
    robot = load_robot(name) if '/' not in name else load_robot(str(data_file(name)))
    path = tmp_path / 'again.urdf'
    path.write_text(to_urdf(robot))
    again = read_robot(path)
    assert [link.name for link in again.links] == [link.name for link in robot.links]
    for mine, other in zip(robot.links, again.links, strict=True):
        assert mine.mass == other.mass
        np.testing.assert_array_equal(mine.com, other.com)
        np.testing.assert_array_equal(mine.inertia, other.inertia)
        assert mine.collisions == other.collisions
        assert mine.visuals == other.visuals
    for joint in robot.joints:
        assert again.joint[joint.name] == joint
    pose = np.random.default_rng(2).uniform(-1.0, 1.0, len(again.joint_names))
    columns = [robot.joint_index[joint] for joint in again.joint_names]
    permuted = np.zeros(len(pose))
    permuted[columns] = pose
    np.testing.assert_array_equal(link_poses(again, pose), link_poses(robot, permuted))


def test_to_urdf_can_leave_the_visuals_out():
    robot = load_robot('guroo')
    assert '<visual>' in to_urdf(robot)
    assert '<visual>' not in to_urdf(robot, visuals=False)


@pytest.mark.parametrize(
    ('name', 'other', 'side'),
    [
        ('FL_hip_joint', 'FR_hip_joint', 'left'),
        ('thigh_hr_to_knee_hr_j', 'thigh_hl_to_knee_hr_j', 'right'),
        ('rl_knee', 'rr_knee', 'left'),
        ('rf_knee', 'lf_knee', 'right'),
        ('LeftKnee', 'RightKnee', 'left'),
        ('r_ankle', 'l_ankle', 'right'),
        ('toeFR', 'toeFL', 'right'),
    ],
)
def test_sides_are_read_off_names(name, other, side):
    assert side_from_name(name).lower() == side
    assert other in counterpart_names(name)


@pytest.mark.parametrize('name', ['torso', 'ball_7', 'upper', 'relay'])
def test_names_without_a_side_have_none(name):
    assert side_from_name(name) == ''
    assert counterpart_names(name) == []
