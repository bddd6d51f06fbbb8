"""Geometry of force elements: where their ends are and how long they are."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics import link_poses
from gait_core.robot.model import RobotModel


def lengths_at(
    robot: RobotModel, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """
    Return the length of every force element, (e,) or (T, e) [m].

    Parameters
    ----------
    robot : RobotModel
    joint_positions, base_pose
        As of ``gait_core.kinematics.link_poses``; the pose matters only between several roots.

    """
    poses = link_poses(robot, joint_positions, base_pose)
    ends = []
    for side in ('a', 'b'):
        rows = [robot.link_index[getattr(one, f'link_{side}')] for one in robot.force_elements]
        points = np.array([getattr(one, f'point_{side}') for one in robot.force_elements])
        at = poses[..., rows, :, :]
        ends.append((at[..., :3, :3] @ points[:, :, None])[..., 0] + at[..., :3, 3])
    return np.asarray(np.linalg.norm(ends[1] - ends[0], axis=-1))
