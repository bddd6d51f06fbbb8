# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bags hold the messages that a bridge publishes: types, their hashes, and every number."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message

from gait_core.measures.foot_contacts import SoleContacts, stance_rule
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    register_temporarily,
    spec_for_test,
)
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import SensorModel
from gait_ros.messages.conversions import BUILDER
from gait_tools.bags.messages import (
    BAG_TOPICS,
    OBSERVATION_TOPIC,
    controller_observations,
    trial_messages,
)
from gait_tools.bags.types import load_typestore

GRAVITY = 9.81
SENSORS = SensorModel(orientation_noise=0.01, angular_velocity_noise=0.02, acceleration_noise=0.3)


@pytest.fixture(scope='module')
def rollout():
    spec = spec_for_test(duration=0.4)
    spec = replace(spec, scene=replace(spec.scene, sensors=SENSORS))
    with register_temporarily('controllers', wave=WaveController):
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
    assert load_typestore().hash_rihs01(kind) == hashes[kind]


def test_the_covariance_of_a_reading_is_that_of_its_noise(rollout):
    message = BUILDER.imu(
        Time(), list(controller_observations(rollout))[3].imu, rollout.robot, SENSORS
    )
    for field, deviation in (('orientation', 0.01), ('linear_acceleration', 0.3)):
        covariance = getattr(message, f'{field}_covariance').reshape(3, 3)
        np.testing.assert_allclose(covariance, np.eye(3) * deviation**2)
    exact = BUILDER.imu(
        Time(), list(controller_observations(rollout))[3].imu, rollout.robot, SensorModel()
    )
    assert not exact.angular_velocity_covariance.any()


def test_every_message_is_that_of_the_bridge_to_the_last_bit(rollout):
    store, robot = load_typestore(), rollout.robot
    soles = SoleContacts(stance_rule(robot, GRAVITY, rollout.dt), len(robot.soles))
    seen_ones = list(controller_observations(rollout))
    recorded = list(trial_messages(rollout))
    for tick in range(rollout.ticks + 1):
        true, seen = rollout.states[tick], seen_ones[tick]
        now = round((tick + 1) * rollout.dt * 1e9)
        stamp = BUILDER.time(now)
        stability = BUILDER.stability(stamp, true, robot, GRAVITY)
        standing = soles.update(true.contacts.sole_forces()[:, 2])
        live = {
            '/joint_states': BUILDER.joint_state(stamp, seen),
            '/odom': BUILDER.odometry(stamp, true, robot),
            '/imu/data': BUILDER.imu(stamp, seen.imu, robot, SENSORS),
            '/foot_contacts': BUILDER.foot_contacts(stamp, true.contacts, standing),
            '/stability': stability,
            '/zmp': BUILDER.zmp(stability),
            '/tf': BUILDER.robot_transforms(stamp, true, robot, links=True),
        }
        found = {topic: message for topic, at, message in recorded if at == now}
        for topic, message in live.items():
            ours = bytes(store.serialize_cdr(found[topic], BAG_TOPICS[topic]))
            assert deserialize_message(ours, type(message)) == message
        if tick < rollout.ticks:
            told = found[OBSERVATION_TOPIC].observation
            ours = bytes(store.serialize_cdr(told, 'gait_interfaces/msg/Observation'))
            message = BUILDER.observation(seen)
            assert deserialize_message(ours, type(message)) == message
