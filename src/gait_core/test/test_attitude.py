# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Heading from the IMU, else from the pose, for rotations about fixed axes (REP-103)."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.motion.observation import IMU, POSE, Imu, Observation, yaw_from_quaternion

ANGLE = st.floats(-3.1, 3.1)


@given(roll=ANGLE, pitch=st.floats(-1.5, 1.5), yaw=ANGLE)
def test_yaw_is_that_of_the_rotation_and_of_the_opposite_quaternion(roll, pitch, yaw):
    quaternion = Rotation.from_euler('xyz', (roll, pitch, yaw)).as_quat()
    np.testing.assert_allclose(
        [yaw_from_quaternion(quaternion), yaw_from_quaternion(-quaternion)], yaw, atol=1e-12
    )


def test_the_attitude_of_an_observation_is_that_of_the_imu_or_else_of_the_pose():
    by_imu, by_pose = Rotation.from_euler('z', [[0.3], [0.5]]).as_quat()
    imu = Imu(orientation=by_imu, angular_velocity=np.zeros(3), linear_acceleration=np.zeros(3))
    poses = np.array([[0.0, 0.0, 0.6, *by_pose]])
    both = Observation(tick=0, time=0.0, imu=imu, body_poses=poses).attitude
    assert both.source == IMU and both.yaw == yaw_from_quaternion(by_imu)
    pose = Observation(tick=0, time=0.0, body_poses=poses).attitude
    assert pose.source == POSE and pose.yaw == yaw_from_quaternion(by_pose)
    assert Observation(tick=0, time=0.0).attitude is None
