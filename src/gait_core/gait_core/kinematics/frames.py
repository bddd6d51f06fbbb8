# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rotations and frames of descriptions: roll, pitch, yaw about fixed axes (URDF, REP-103)."""

from __future__ import annotations

from collections.abc import Sequence
import warnings

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray, read_only_array
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.mechanism import Mechanism


def rotation_from_rpy(rpy: Sequence[float]) -> FloatArray:
    """Return the (3, 3) rotation matrix of roll, pitch, yaw [rad] about fixed axes."""
    if not any(rpy):
        # Exactly the identity, so that numbers in it keep every bit.
        return np.eye(3)
    return np.asarray(Rotation.from_euler('xyz', rpy).as_matrix(), dtype=np.float64)


def rpy_from_rotation(matrix: FloatArray) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] about fixed axes of a (3, 3) rotation matrix."""
    with warnings.catch_warnings():
        # Gimbal lock: at a pitch of 90 degrees many triples are right, and any of them will do.
        warnings.filterwarnings('ignore', 'Gimbal lock')
        roll, pitch, yaw = Rotation.from_matrix(matrix).as_euler('xyz').tolist()
    return roll, pitch, yaw


def ball_joint_axes(robot: Mechanism, names: tuple[str, str, str]) -> FloatArray:
    """Return the axes of the three joints of a ball joint, (3, 3) rows, in the first's frame."""
    first, second, third = (robot.joint[name] for name in names)
    rotation = rotation_from_rpy(second.rpy)
    return np.array(
        [first.axis, rotation @ second.axis, rotation @ rotation_from_rpy(third.rpy) @ third.axis]
    )


@cached_per_robot
def assembly_poses(robot: Mechanism) -> FloatArray:
    """
    Return the poses of the roots in the assembly, in the base frame, (r, 7).

    x, y, z [m], quaternion x, y, z, w.
    """
    poses = np.zeros((len(robot.roots), 7))
    for row, root in enumerate(robot.roots):
        xyz, rpy = robot.assembly.get(root, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        poses[row, :3] = xyz
        poses[row, 3:] = Rotation.from_euler('xyz', rpy).as_quat()
    return read_only_array(poses, name='root poses')


def inertia_in_outer_frame(inertia: FloatArray, rpy: Sequence[float]) -> FloatArray:
    """Return an inertia tensor, (3, 3), of a frame with attitude ``rpy``, in the outer frame."""
    if not any(rpy):
        return inertia
    rotation = rotation_from_rpy(rpy)
    rotated = rotation @ inertia @ rotation.T
    return np.asarray(0.5 * (rotated + rotated.T))
