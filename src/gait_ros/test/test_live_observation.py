# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Readings of drivers are used by name; impossible ones are refused, one line for each kind."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Vector3
from sensor_msgs.msg import Imu, JointState

from gait_core.robot.load import load_robot
from gait_core.testing.doubles import legged_box
from gait_interfaces.msg import FootContacts
from gait_ros.live.observation import LiveObservation


@pytest.fixture
def seen():
    robot = legged_box()
    lines = []
    made = LiveObservation(robot, lines.append)
    made.lines = lines
    return made


def level(quaternion=(0.0, 0.0, 0.0, 1.0), covariance=0.0):
    message = Imu()
    x, y, z, w = quaternion
    message.orientation.x, message.orientation.y = x, y
    message.orientation.z, message.orientation.w = z, w
    message.orientation_covariance = np.array([covariance] + [0.0] * 8)
    return message


def read(seen):
    return seen.make_observation(0, 0.0)


@pytest.mark.parametrize(
    ('message', 'words'),
    [
        (level((0.0, 0.0, 0.0, 0.0)), 'the norm of the quaternion is not 1'),
        (level((math.nan, 0.0, 0.0, 1.0)), 'not finite'),
        (level((0.0, 0.0, 0.0, 1e30)), 'the norm of the quaternion is not 1'),
        (level(covariance=-1.0), 'orientation not reported'),
        (level(covariance=math.nan), 'orientation not reported'),
    ],
)
def test_an_imu_without_an_orientation_is_none(seen, message, words):
    seen.add_imu(message)
    seen.add_imu(message)
    (line,) = seen.lines
    assert words in line and seen.ignored_content == (line,)
    assert read(seen).imu is None


def test_an_orientation_of_single_precision_is_one(seen):
    half = float(np.float32(math.sqrt(0.5))) * 1.001
    seen.add_imu(level((0.0, 0.0, half, half)))
    np.testing.assert_allclose(np.linalg.norm(read(seen).imu.orientation), 1.0, atol=1e-15)
    assert not seen.lines


@pytest.mark.parametrize('value', [math.inf, 1e308, 100.0, -100.0])
def test_an_angle_that_no_joint_can_have_is_not_measured(seen, value):
    """A soft start begins at the measured pose: that of a broken encoder would be commanded."""
    robot = legged_box()
    names = list(robot.joint_names)
    seen.add_joint_state(JointState(name=names, position=[0.1] * 7 + [value]))
    assert 'far beyond' in seen.lines[0] and len(seen.unmeasured_joints()) == len(names)
    seen.add_joint_state(JointState(name=names[::-1], position=[0.1 * i for i in range(8)]))
    np.testing.assert_allclose(read(seen).joint_positions, [0.1 * i for i in range(8)][::-1])


def test_a_joint_whose_broadcaster_tells_nan_is_not_measured_and_the_others_are(seen):
    """joint_state_broadcaster publishes NaN until the first state of a motor has come."""
    names = list(legged_box().joint_names)
    seen.add_joint_state(JointState(name=names, position=[0.1] * 7 + [math.nan]))
    assert seen.unmeasured_joints() == names[7:] and seen.age() == math.inf and not seen.lines
    seen.add_joint_state(JointState(name=names, position=[0.2] * 8))
    assert not seen.unmeasured_joints() and seen.age() < math.inf


def test_force_elements_are_read_beside_joints():
    robot = load_robot('tetraspine')
    lines = []
    seen = LiveObservation(robot, lines.append)
    assert seen.make_observation(0, 0.0).element_lengths is None
    names = [element.name for element in robot.force_elements][::-1]
    lengths = [0.1 + 0.001 * i for i in range(len(names))]
    seen.add_joint_state(JointState(name=names, position=lengths, effort=[2.0] * len(names)))
    read = seen.make_observation(0, 0.0)
    assert list(read.element_names) == names[::-1] and not lines
    np.testing.assert_array_equal(read.element_lengths, lengths[::-1])
    assert read.element_forces.tolist() == [2.0] * len(names)
    seen.add_joint_state(JointState(name=['cable'], position=[0.1]))
    assert "unknown joint 'cable'" in lines[0] and 'none is available' not in lines[0]


@pytest.mark.parametrize('source', ['joint_states', 'imu/data'])
@pytest.mark.parametrize(
    ('simulated', 'wall', 'age'),
    [
        # Ten times as fast as asked: 5 s of its time pass between two messages 50 ms apart.
        (5.0, 0.05, 0.05),
        # As slow as a busy machine makes it: 10 s on the wall for 20 ms of its time.
        (0.02, 10.0, 0.02),
        # The driver has stalled: by either clock.
        (3.0, 4.0, 3.0),
        (4.0, 3.0, 3.0),
    ],
)
def test_the_shorter_of_simulated_and_wall_age_counts(monkeypatch, source, simulated, wall, age):
    """Neither a fast nor a slow simulation passes for a driver that has stalled (doc/ros.md)."""
    clocks = {'simulated': 100 * 10**9, 'wall': 7 * 10**9}
    monkeypatch.setattr('gait_ros.live.observation.time.monotonic_ns', lambda: clocks['wall'])
    robot = legged_box()
    seen = LiveObservation(robot, [].append, lambda: clocks['simulated'])
    joints = JointState(name=list(robot.joint_names), position=[0.1] * 8)
    needs = frozenset({'imu'} if source == 'imu/data' else ())
    assert seen.age(needs) == math.inf
    seen.add_joint_state(joints)
    seen.add_imu(level())
    assert seen.age(needs) == 0.0
    clocks['simulated'] += round(simulated * 1e9)
    clocks['wall'] += round(wall * 1e9)
    if source == 'imu/data':
        seen.add_joint_state(joints)
        assert seen.age() == 0.0
    assert seen.age(needs) == pytest.approx(age)
    # What comes no more is as old as it is, whatever else has come.
    seen.add_joint_state(JointState(name=joints.name[1:], position=[0.1] * 7))
    assert seen.age(needs) == pytest.approx(age)


def test_complaints_of_one_kind_are_one(seen):
    names = list(legged_box().joint_names)
    for count in (1, 2, 3, 5):
        seen.add_joint_state(JointState(name=names, position=[0.0] * 8, velocity=[0.0] * count))
    assert len(seen.ignored_content) == len(seen.lines) == 1
    assert 'joint_velocities has 1 values, expected 8' in seen.lines[0]


@pytest.mark.parametrize(
    ('forces', 'in_contact', 'soles'),
    [
        # Measured forces count at once, whatever is known of a stance.
        ((20.0, 0.0, 5.0, 0.0), (False, True, True, False), [0, 2]),
        # Contact switches without forces.
        ((0.0, 0.0, 0.0, 0.0), (False, True, False, True), [1, 3]),
    ],
)
def test_contacts_follow_measured_forces_without_delay(seen, forces, in_contact, soles):
    robot = legged_box()
    seen.add_foot_contacts(
        FootContacts(
            soles=list(robot.soles),
            in_contact=list(in_contact),
            forces=[Vector3(z=force) for force in forces],
            centres=[Point()] * 4,
        )
    )
    assert read(seen).contacts.sole.tolist() == soles
