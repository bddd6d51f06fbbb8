# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Standard frames of a robot, independent of names of links: REP-105 and REP-120."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses, pose_matrices
from gait_core.kinematics.start_pose import lowest_height
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import RobotModel

ODOM, BASE_LINK, BASE_FOOTPRINT = 'odom', 'base_link', 'base_footprint'
_IDENTITY_POSE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@cached_per_robot
def base_frame_name(robot: RobotModel) -> str:
    """
    Return the name of the frame whose pose in odom is that of the robot.

    It is ``base_link``, added above a root link of another name (REP-105). A robot of several
    bodies, or with another link called ``base_link``, has its first root link instead.
    """
    if len(robot.roots) > 1 or (BASE_LINK in robot.link_index and BASE_LINK not in robot.roots):
        return robot.roots[0]
    return BASE_LINK


def base_transforms(
    robot: RobotModel, joint_positions: FloatArray | None, body_poses: FloatArray
) -> Iterator[tuple[str, str, FloatArray]]:
    """
    Yield the transforms from odom to every root link, and to base_footprint.

    base_footprint is left out if a link has that name or joint positions are missing.

    Parameters
    ----------
    robot : RobotModel
    joint_positions : (n,) array or None [rad or m]
        Without them there is no base_footprint.
    body_poses : (r, 7) array
        Poses of the roots in odom.

    Yields
    ------
    parent, child : str
    (7,) array
        Pose of the child in the parent: x, y, z [m], quaternion x, y, z, w.

    """
    base = base_frame_name(robot)
    if base in robot.roots:
        yield from ((ODOM, *row) for row in zip(robot.roots, body_poses, strict=True))
    else:
        yield ODOM, base, body_poses[0]
        yield base, robot.roots[0], _IDENTITY_POSE
    if BASE_FOOTPRINT not in robot.link_index and joint_positions is not None:
        yield _footprint(robot, base, joint_positions, body_poses)


def _footprint(
    robot: RobotModel, base: str, joint_positions: FloatArray, body_poses: FloatArray
) -> tuple[str, str, FloatArray]:
    """
    Return parent, child and pose of base_footprint (REP-120).

    It lies at the height of the lowest point, amid the feet, or amid the bodies of a robot
    without legs. Its yaw is that of the base.
    """
    links = link_poses(robot, joint_positions, body_poses)
    feet = body_poses[:, :3]
    if robot.legs:
        rows = [robot.link_index[leg.sole] for leg in robot.legs]
        points = np.array([leg.sole_point for leg in robot.legs])
        feet = (links[rows, :3, :3] @ points[:, :, None])[..., 0] + links[rows, :3, 3]
    position = np.append(feet[:, :2].mean(axis=0), lowest_height(robot, links))
    forward = pose_matrices(body_poses[0])[:3, 0]
    # Upright, with the heading of the base.
    level = Rotation.from_euler('z', np.arctan2(forward[1], forward[0]))
    if len(robot.roots) > 1:
        return ODOM, BASE_FOOTPRINT, np.append(position, level.as_quat())
    rotation = Rotation.from_quat(body_poses[0, 3:]).inv()
    in_base = rotation.apply(position - body_poses[0, :3])
    return base, BASE_FOOTPRINT, np.append(in_base, (rotation * level).as_quat())
