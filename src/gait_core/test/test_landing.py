# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Predicted footholds follow from the motion of the stance feet under the base."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.footholds import predict_foothold
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_core.testing.skips import need_robot

ROOT = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])


def foot(robot, leg, joints, base=ROOT):
    links = link_poses(robot, joints, base)
    one = robot.leg(leg)
    return (links[robot.link_index[one.sole]] @ [*one.sole_point, 1.0])[:3]


@pytest.mark.parametrize('count', [1, 3])
def test_feet_that_stand_land_where_they_are(count):
    robot = legged_box()
    names = [leg.name for leg in robot.legs][:count]
    rng = np.random.default_rng(3)
    now = robot.joint_stance + rng.uniform(-0.2, 0.2, len(robot.joint_names))
    # Only the leg in the air moves: the base stays, and the foot comes where it is then.
    then = now.copy()
    columns = [robot.joint_index[name] for name in robot.legs[-1].joints]
    then[columns] += 0.3
    last = robot.legs[-1].name
    np.testing.assert_allclose(
        predict_foothold(robot, last, names, now, then), foot(robot, last, then), atol=1e-12
    )
    for name in names:
        there = predict_foothold(robot, name, [name], now, then)
        np.testing.assert_allclose(there, foot(robot, name, now), atol=1e-12)


def test_on_one_sole_the_base_moves_over_it_with_its_attitude():
    """The foot in the air is where it would be if the base were placed by the other foot."""
    robot = load_robot('guroo')
    left, right = (leg.name for leg in robot.legs)
    rng = np.random.default_rng(5)
    now, then = robot.joint_stance + rng.uniform(-0.3, 0.3, (2, len(robot.joint_names)))
    row = robot.link_index[robot.leg(left).sole]
    sole_now, sole_then = (link_poses(robot, joints, ROOT)[row] for joints in (now, then))
    base_then = sole_now @ np.linalg.inv(sole_then)
    turn = Rotation.from_matrix(base_then[:3, :3]).as_quat()
    placed = np.array([[*base_then[:3, 3], *turn]])
    expected = foot(robot, right, then, placed)
    np.testing.assert_allclose(
        predict_foothold(robot, right, [left], now, then), expected, atol=1e-12
    )


def test_on_three_feet_the_base_moves_as_they_do():
    robot = need_robot('a1')
    names = [leg.name for leg in robot.legs]
    # Feet that all go back and turn alike under the base: a base that goes on and turns.
    turn, shift = Rotation.from_euler('xyz', (0.02, -0.03, 0.1)), np.array([-0.03, 0.01, 0.005])
    now, then = robot.joint_stance.copy(), robot.joint_stance.copy()
    for name in names[:3]:
        leg = LegKinematics(robot, name)
        there = turn.apply(foot(robot, name, now)) + shift
        solution = leg.solve(there)
        assert solution.is_reachable
        then[[robot.joint_index[joint] for joint in leg.joint_names]] = solution.positions
    ahead = predict_foothold(robot, names[3], names[:3], now, then)
    expected = turn.inv().apply(foot(robot, names[3], then) - shift)
    np.testing.assert_allclose(ahead, expected, atol=1e-5)
