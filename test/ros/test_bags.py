"""What a bag holds is what the bridge publishes: types, hashes of types, and every number."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Time

from gait_core.playback import observations, states
from gait_core.scene import SensorModel
from gait_core.soles import SoleContacts
from gait_core.testing import KinematicEngine, WaveController, registered, spec_for_test
from gait_core.trial import run_loop
from gait_core.trial_spec import Command
from gait_evolver.bags.messages import Messages
from gait_evolver.bags.types import typestore
from gait_ros import state_messages as live
from gait_ros.conversions import to_observation

GRAVITY = 9.81
SENSORS = SensorModel(orientation_noise=0.01, angular_velocity_noise=0.02, acceleration_noise=0.3)


@pytest.fixture(scope='module')
def rollout():
    spec = spec_for_test(duration=0.4)
    spec = replace(spec, scene=replace(spec.scene, sensors=SENSORS))
    with registered('controllers', wave=WaveController):
        return run_loop(spec, KinematicEngine()).rollout()


@pytest.mark.parametrize(
    'kind',
    [
        'gait_interfaces/msg/FootContacts',
        'gait_interfaces/msg/LockstepObservation',
        'gait_interfaces/msg/Stability',
        'sensor_msgs/msg/JointState',
        'sensor_msgs/msg/Imu',
        'nav_msgs/msg/Odometry',
        'trajectory_msgs/msg/JointTrajectory',
        'rosgraph_msgs/msg/Clock',
    ],
)
def test_the_hash_of_a_type_is_that_of_the_installed_one(kind):
    package, _, name = kind.split('/')
    file = Path(get_package_share_directory(package), 'msg', f'{name}.json')
    hashes = {
        one['type_name']: one['hash_string'] for one in json.loads(file.read_text())['type_hashes']
    }
    assert typestore().hash_rihs01(kind) == hashes[kind]


def test_the_covariance_of_a_reading_is_that_of_its_noise(rollout):
    message = live.imu(Time(), list(observations(rollout))[3], rollout.robot, SENSORS)
    for field, deviation in (('orientation', 0.01), ('linear_acceleration', 0.3)):
        covariance = getattr(message, f'{field}_covariance').reshape(3, 3)
        np.testing.assert_allclose(covariance, np.eye(3) * deviation**2)
    exact = live.imu(Time(), list(observations(rollout))[3], rollout.robot, SensorModel())
    assert not exact.angular_velocity_covariance.any()


def assert_equal(ours, theirs, where=''):
    """Compare a message of rosbags with one of rclpy, field by field."""
    if hasattr(theirs, 'get_fields_and_field_types'):
        for name in theirs.get_fields_and_field_types():
            assert_equal(getattr(ours, name), getattr(theirs, name), f'{where}.{name}')
    elif isinstance(theirs, (str, bytes)) or np.isscalar(theirs):
        assert ours == theirs, where
    elif len(theirs) and hasattr(theirs[0], 'get_fields_and_field_types'):
        assert len(ours) == len(theirs), where
        for one, other in zip(ours, theirs, strict=True):
            assert_equal(one, other, where)
    else:
        assert list(ours) == list(theirs), where


def test_every_message_is_that_of_the_bridge(rollout):
    build, robot = Messages(typestore().types, rollout), rollout.robot
    soles = SoleContacts(robot, GRAVITY)
    stamp = Time(sec=1, nanosec=500)
    seen_ones = list(observations(rollout))
    for tick in (0, 7, rollout.ticks):
        true, seen, at = states(rollout)[tick], seen_ones[tick], 1_000_000_500
        assert_equal(build.joint_states(seen, at)[3], live.joint_state(stamp, seen))
        assert_equal(build.odometry(true, at)[3], live.odometry(stamp, true, robot))
        assert_equal(build.imu(seen, at)[3], live.imu(stamp, seen, robot, SENSORS))
        contacts = live.foot_contacts(stamp, true.contacts, soles.update(true.contacts))
        assert_equal(build.foot_contacts(true, at)[3], contacts)
        published = live.stability(stamp, true, robot, GRAVITY)
        balance = {topic: message for topic, _, _, message in build.stability(true, at)}
        assert_equal(balance['/stability'], published)
        assert_equal(balance['/zmp'], live.zmp_point(published))
        told = build.observation(seen, Command(), at)[3]
        assert_equal(told.observation, to_observation(seen))
        found = {one.child_frame_id: one for one in build.transforms(true, at)[3].transforms}
        for message in (
            live.body_transforms(stamp, true, robot),
            live.link_transforms(stamp, true, robot),
        ):
            for one in message.transforms:
                assert_equal(found[one.child_frame_id], one)
