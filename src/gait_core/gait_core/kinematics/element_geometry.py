# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Geometry of force elements: their ends and lengths."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.mechanism import Mechanism


def element_ends_at(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """
    Return the positions of both ends of every force element, (e, 2, 3) or (T, e, 2, 3) [m].

    Parameters
    ----------
    robot : RobotModel
    joint_positions, base_pose
        See ``gait_core.kinematics.forward_kinematics.link_poses``.

    """
    poses = link_poses(robot, joint_positions, base_pose)
    ends = []
    for side in ('a', 'b'):
        rows = [
            robot.link_index[getattr(element, f'link_{side}')] for element in robot.force_elements
        ]
        points = np.array([getattr(element, f'point_{side}') for element in robot.force_elements])
        frames = poses[..., rows, :, :]
        ends.append((frames[..., :3, :3] @ points.reshape(-1, 3, 1))[..., 0] + frames[..., :3, 3])
    return np.stack(ends, axis=-2)


def element_lengths_at(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """Return lengths of force elements, (e,) or (T, e) [m]; arguments: see ``element_ends_at``."""
    ends = element_ends_at(robot, joint_positions, base_pose)
    return np.asarray(np.linalg.norm(ends[..., 1, :] - ends[..., 0, :], axis=-1))
