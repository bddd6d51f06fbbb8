# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from gait_core.motion.observation import Imu, Observation, missing_fields
from gait_core.sensors.noise import SensorSimulator
from gait_core.trial.scene import SensorModel


def truth(tick, n=4):
    return Observation(
        tick=tick,
        time=tick * 0.02,
        joint_positions=np.full(n, float(tick)),
        joint_velocities=np.zeros(n),
        imu=Imu(
            orientation=np.array([0.0, 0.0, 0.0, 1.0]),
            angular_velocity=np.zeros(3),
            linear_acceleration=np.array([0.0, 0.0, 9.81]),
        ),
    )


def readings(model, ticks, seed=0, n=4):
    sensors = SensorSimulator(model, seed)
    return [sensors.read(truth(tick, n)) for tick in range(ticks)]


def test_ideal_sensors_hand_the_truth_on():
    sensors, true = SensorSimulator(SensorModel(), 0), truth(3)
    assert sensors.read(true) is true


def test_a_delay_keeps_the_clock_and_ages_the_readings():
    seen = readings(SensorModel(delay_ticks=2), 6)
    assert [o.tick for o in seen] == list(range(6))
    assert [o.time for o in seen] == [tick * 0.02 for tick in range(6)]
    # Before two ticks have passed, the oldest reading there is.
    assert [o.joint_positions[0] for o in seen] == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]


def test_noise_has_the_stated_deviation_and_no_mean():
    model = SensorModel(
        joint_position_noise=0.02,
        joint_velocity_noise=0.5,
        angular_velocity_noise=0.1,
        acceleration_noise=0.3,
        orientation_noise=0.01,
    )
    seen = readings(model, 300, n=20)
    position = np.array([o.joint_positions - o.tick for o in seen])
    velocity = np.array([o.joint_velocities for o in seen])
    gyro = np.array([o.imu.angular_velocity for o in seen])
    force = np.array([o.imu.linear_acceleration - [0, 0, 9.81] for o in seen])
    # For small angles the vector part of a quaternion is half the rotation vector.
    tilt = 2.0 * np.array([o.imu.orientation[:3] for o in seen])
    for values, deviation in (
        (position, 0.02), (velocity, 0.5), (gyro, 0.1), (force, 0.3), (tilt, 0.01),
    ):  # fmt: skip
        # At least 900 draws: five deviations of their standard deviation are 12 %.
        assert values.std() == pytest.approx(deviation, rel=0.12)
        assert abs(values.mean()) < 5.0 * deviation / np.sqrt(values.size)


def test_quaternions_stay_of_unit_length():
    for seen in readings(SensorModel(orientation_noise=0.5), 50):
        assert np.linalg.norm(seen.imu.orientation) == pytest.approx(1.0)


def test_equal_seeds_give_equal_noise_and_others_not():
    model = SensorModel(joint_position_noise=0.1)
    first, again, other = (readings(model, 5, seed)[-1].joint_positions for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_one_noise_leaves_the_draws_of_the_others_alone():
    quiet = readings(SensorModel(joint_velocity_noise=0.1), 5)
    noisy = readings(SensorModel(joint_velocity_noise=0.1, joint_position_noise=0.1), 5)
    for a, b in zip(quiet, noisy, strict=True):
        np.testing.assert_array_equal(a.joint_velocities, b.joint_velocities)


def test_absent_readings_stay_absent():
    bare = Observation(tick=0, time=0.0)
    seen = SensorSimulator(SensorModel(joint_position_noise=0.1, delay_ticks=1), 0).read(bare)
    assert seen.joint_positions is None and seen.imu is None


def test_missing_lists_what_a_controller_needs_in_vain():
    needs = frozenset({'imu', 'joint_positions', 'contacts', 'body_poses'})
    assert missing_fields(truth(0), needs) == ['body_poses', 'contacts']
