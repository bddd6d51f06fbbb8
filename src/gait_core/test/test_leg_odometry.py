# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Odometry of legs: a base that moves over feet that stay, in closed form."""

from dataclasses import replace
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.leg_odometry import LegOdometry
from gait_core.motion.observation import Imu, Observation
from gait_core.testing.doubles import legged_box

BOX = legged_box(4, 3, roll=True)
ROBOT = replace(
    BOX, nominal_stance={n: (0.0, -0.5, 1.0)[i % 3] for i, n in enumerate(BOX.joint_names)}
)
NAMES = [leg.name for leg in ROBOT.legs]
LEGS = [LegKinematics(ROBOT, name) for name in NAMES]
FEET = np.array([leg.forward([0.0, -0.5, 1.0])[0] for leg in LEGS])
ALL = np.ones(4, dtype=bool)


def over(x, y, yaw, roll=0.0, imu=False):
    """Return the observation of a base displaced by (x, y, yaw) over feet that stay in place."""
    turn = Rotation.from_euler('xyz', [roll, 0.0, yaw])
    places = turn.inv().apply(FEET - [x, y, 0.0])
    joints = np.concatenate(
        [leg.solve(place).positions for leg, place in zip(LEGS, places, strict=True)]
    )
    reading = Imu(
        orientation=turn.as_quat(), angular_velocity=np.zeros(3), linear_acceleration=np.zeros(3)
    )
    return Observation(tick=0, time=0.0, joint_positions=joints, imu=reading if imu else None)


@pytest.mark.parametrize('imu', [True, False])
def test_it_finds_the_way_of_a_base_over_feet_that_stay(imu):
    odometry = LegOdometry(ROBOT, NAMES)
    for share in np.linspace(0.0, 1.0, 6):
        pose = odometry.update(ALL, over(0.04 * share, -0.02 * share, 0.1 * share, imu=imu))
    np.testing.assert_allclose(pose, [0.04, -0.02, 0.1], atol=1e-5)


def test_it_adds_up_steps_in_the_direction_it_has_come_to_point():
    odometry = LegOdometry(ROBOT, NAMES)
    for _ in range(5):
        odometry.update(ALL, over(0.0, 0.0, 0.0))
        odometry.update(ALL, over(0.03, 0.0, 0.1))
        # Feet in the air go back to where they began.
        odometry.update(~ALL, over(0.0, 0.0, 0.0))
    steps = [[0.03 * math.cos(0.1 * i), 0.03 * math.sin(0.1 * i)] for i in range(5)]
    np.testing.assert_allclose(odometry.pose, [*np.sum(steps, axis=0), 0.5], atol=1e-5)


def test_a_body_that_rolls_goes_nowhere_where_an_imu_tells():
    odometry = LegOdometry(ROBOT, NAMES)
    odometry.update(ALL, over(0.0, 0.0, 0.0, imu=True))
    pose = odometry.update(ALL, over(0.0, 0.0, 0.0, roll=0.1, imu=True))
    np.testing.assert_allclose(pose, 0.0, atol=1e-5)


def test_without_feet_on_the_ground_or_joints_the_pose_is_held():
    odometry = LegOdometry(ROBOT, NAMES)
    odometry.update(ALL, over(0.0, 0.0, 0.0))
    before = odometry.update(ALL, over(0.02, 0.0, 0.0)).copy()
    np.testing.assert_array_equal(odometry.update(~ALL, over(0.04, 0.0, 0.0)), before)
    np.testing.assert_array_equal(odometry.update(ALL, Observation(tick=0, time=0.0)), before)
    assert np.isfinite(odometry.pose).all()
