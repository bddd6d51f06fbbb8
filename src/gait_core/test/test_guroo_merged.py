# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The merged GuRoo is GuRoo with a stiff upper body: equal masses, lengths and legs."""

import numpy as np
import pytest

from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.load import load_robot

GUROO, MERGED = load_robot('guroo'), load_robot('guroo_merged')
BASE = np.array([[[0.0, 0.0, 0.62, 0.0, 0.0, 0.0, 1.0]]])


def test_only_joints_above_the_waist_are_gone():
    gone = set(GUROO.joint_names) - set(MERGED.joint_names)
    assert len(GUROO.joint_names) == 23
    assert gone == {
        name
        for name in GUROO.joint_names
        if name.startswith(
            (
                'torso_side',
                'torso_twist',
                'neck',
                'left_shoulder',
                'right_shoulder',
                'left_elbow',
                'right_elbow',
            )
        )
    }
    assert set(MERGED.joint_names) < set(GUROO.joint_names)


def test_mass_and_legs_are_those_of_guroo():
    assert MERGED.mass == pytest.approx(38.0)
    assert [leg.joints for leg in MERGED.legs] == [leg.joints for leg in GUROO.legs]
    assert MERGED.length_scale == GUROO.length_scale
    assert {k: v for k, v in GUROO.mirror_pairs.items() if k in MERGED.joint_index} == dict(
        MERGED.mirror_pairs
    )


def test_links_and_centre_of_mass_fall_on_those_of_guroo():
    rng = np.random.default_rng(3)
    angles = {name: rng.uniform(-0.4, 0.4) for name in MERGED.joint_names}
    poses, centres = {}, {}
    for robot in (GUROO, MERGED):
        q = np.array([[angles.get(name, 0.0) for name in robot.joint_names]])
        frames = link_poses(robot, q, BASE)[0]
        poses[robot.name] = {link.name: frames[i] for i, link in enumerate(robot.links)}
        centres[robot.name] = com_positions(robot, q, BASE)[0]
    assert poses['guroo'].keys() == poses['guroo_merged'].keys()
    for name, pose in poses['guroo'].items():
        np.testing.assert_allclose(poses['guroo_merged'][name], pose, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(centres['guroo_merged'], centres['guroo'], atol=1e-12)
