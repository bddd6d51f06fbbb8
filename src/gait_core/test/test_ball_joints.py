# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Three joints in one point form a ball joint; others are refused in one line."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.frames import rotation_from_rpy, rpy_from_rotation
from gait_core.robot.check import check_robot
from gait_core.robot.model import Actuator, Joint, Mimic, RobotModel
from gait_core.testing.free_bodies import ball_joint_robot, hanging_weight, solid_box


def with_joint(name: str, **changes) -> RobotModel:
    robot = ball_joint_robot()
    joints = [replace(one, **changes) if one.name == name else one for one in robot.joints]
    return replace(robot, joints=tuple(joints))


def with_link(name: str, **changes) -> RobotModel:
    robot = ball_joint_robot()
    links = [replace(one, **changes) if one.name == name else one for one in robot.links]
    return replace(robot, links=tuple(links))


def with_actuator(kind: str) -> RobotModel:
    robot = ball_joint_robot()
    return replace(robot, actuators={**robot.actuators, 'ball_1': Actuator(kind=kind)})


def mimicked() -> RobotModel:
    robot = ball_joint_robot()
    tail = Joint(
        name='tail', kind='revolute', parent='arm', child='tip', mimic=Mimic(joint='ball_2')
    )
    tip = solid_box('tip', (0.1, 0.1, 0.1), 1.0)
    return replace(robot, links=(*robot.links, tip), joints=(*robot.joints, tail))


def test_three_joints_in_one_point_make_a_ball_joint():
    assert check_robot(ball_joint_robot(has_tip=True)).ball_joints == {
        'ball': ('ball_0', 'ball_1', 'ball_2')
    }


@pytest.mark.parametrize(
    ('robot', 'message'),
    [
        (with_joint('ball_1', upper=1.0), "'ball': joint 'ball_1' has limits or friction"),
        (with_joint('ball_0', friction=0.1), "'ball': joint 'ball_0' has limits or friction"),
        (with_joint('ball_2', kind='prismatic'), "joint 'ball_2' is prismatic"),
        (with_joint('ball_2', xyz=(0.0, 0.0, 0.1)), "'ball_2' must be the only child of 'ball_1'"),
        (with_joint('ball_2', rpy=(0.0, 0.4, 0.0), axis=(0.0, 1.0, 0.0)), 'not at right angles'),
        (with_link('in_0', mass=0.1), "inner link 'in_0' has mass or collisions"),
        (replace(ball_joint_robot(), imu_link='in_1'), "inner link 'in_1' carries an IMU"),
        (
            replace(ball_joint_robot(), ball_joints={'ball': ('ball_1', 'ball_0', 'ball_2')}),
            'must be the only child of',
        ),
        (
            replace(ball_joint_robot(), ball_joints={'ball_0': ('ball_0', 'ball_1', 'ball_2')}),
            'the name of',
        ),
        (
            replace(ball_joint_robot(), ball_joints={'b': ('ball_0', 'ball_1', 'bal')}),
            "unknown joint 'bal'",
        ),
        (with_actuator('position'), "'ball_1' has a position actuator; .*valid: effort, exp"),
        (with_actuator('velocity'), "'ball_1' has a velocity actuator"),
        (mimicked(), "another joint mimics 'ball_2'"),
    ],
)
def test_three_joints_that_are_none_are_named(robot, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        check_robot(robot)
    assert '\n' not in str(caught.value)


def test_an_element_between_two_bodies_needs_its_length():
    robot = hanging_weight('spring', {'stiffness': 1.0})
    apart = replace(robot, joints=(), joint_names=(), actuators={}, nominal_stance={})
    with pytest.raises(ConfigurationError, match="'tie' joins two bodies; give its rest length"):
        check_robot(apart)
    told = check_robot(replace(apart, nominal_stance={'tie': 0.4}))
    np.testing.assert_array_equal(told.stance, [0.4])


@pytest.mark.filterwarnings('error')
def test_an_attitude_of_ninety_degrees_pitch_is_written_without_a_word():
    turn = rotation_from_rpy((0.3, 0.5 * np.pi, 0.4))
    np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(turn)), turn, atol=1e-7)
