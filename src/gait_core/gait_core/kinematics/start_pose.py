# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start pose of a robot on a terrain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray, IntArray
from gait_core.contracts import Terrain
from gait_core.kinematics.forward_kinematics import link_poses, pose_matrices
from gait_core.kinematics.frames import assembly_poses
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import RobotModel
from gait_core.robot.shapes import link_points, surface_points
from gait_core.terrains.surfaces import Plane
from gait_core.trial.scene import InitialState


@dataclass(frozen=True, kw_only=True)
class _Outline:
    """Balls that outline a robot: centres (k, 3) in link frames, links (k,), radii (k,)."""

    points: FloatArray
    link: IntArray
    radius: FloatArray


@cached_per_robot
def _outline(robot: RobotModel) -> _Outline:
    """Return the spanning points of every link, and points all over the surfaces of soles."""
    spanned = _spanning_points(robot)
    points, rows, radii = [spanned.points], [spanned.link], [spanned.radius]
    for row, link in enumerate(robot.links):
        if link.name in robot.soles:
            # The ground may have a bump between the corners of a sole, higher than at the corners.
            surfaces = [surface_points(shape) for shape in link.collisions]
            points += surfaces
            radii += [np.zeros(len(surface)) for surface in surfaces]
            rows += [np.full(len(surface), row, dtype=np.int64) for surface in surfaces]
    return _Outline(
        points=np.concatenate(points), link=np.concatenate(rows), radius=np.concatenate(radii)
    )


@cached_per_robot
def _spanning_points(robot: RobotModel) -> _Outline:
    """
    Return balls whose convex hull contains every link, so that the lowest point is on a ball.

    In a robot with contact nodes these are the nodes. A robot without collision shapes has
    the origins of its links.
    """
    if robot.contact_nodes:
        nodes = robot.contact_nodes
        return _Outline(
            points=np.array([node.point for node in nodes]),
            link=np.array([robot.link_index[node.link] for node in nodes]),
            radius=np.array([node.radius for node in nodes]),
        )
    points, rows, radii = [], [], []
    for row, link in enumerate(robot.links):
        spanned, radius = link_points(link)
        points.append(spanned)
        radii.append(radius)
        rows.append(np.full(len(spanned), row, dtype=np.int64))
    if not any(len(part) for part in points):
        points, rows = [np.zeros((len(robot.links), 3))], [np.arange(len(robot.links))]
        radii = [np.zeros(len(robot.links))]
    return _Outline(
        points=np.concatenate(points), link=np.concatenate(rows), radius=np.concatenate(radii)
    )


def pose_on_terrain(
    robot: RobotModel, joint_positions: FloatArray, initial: InitialState, terrain: Terrain
) -> FloatArray:
    """
    Return the pose of the base frame that puts the robot on the terrain.

    The base frame is that of the root link. Of a robot of several bodies it is the frame of the
    assembly; ``root_poses_from_base`` places the roots in it.

    The height is the smallest at which every collision point is ``clearance`` or more above the
    ground below it.

    Parameters
    ----------
    robot : RobotModel
    joint_positions : (m,) array [rad or m]
        By ``robot.joint_names`` or ``robot.target_names``; force elements are ignored.
    initial : InitialState
        Horizontal position, attitude and clearance; its joint positions are ignored.
    terrain : Terrain
        Its height is taken below every collision point.

    Returns
    -------
    (7,) array
        x, y, z [m], quaternion x, y, z, w in ``odom``.

    """
    rotation = Rotation.from_euler('xyz', [initial.roll, initial.pitch, initial.yaw])
    pose = np.array([initial.x, initial.y, 0.0, *rotation.as_quat()])
    joints = np.asarray(joint_positions, dtype=np.float64)[: len(robot.joint_names)]
    outline = _outline(robot)
    links = link_poses(robot, joints, root_poses_from_base(robot, pose))[outline.link]
    points = (links[:, :3, :3] @ outline.points[:, :, None])[..., 0] + links[:, :3, 3]
    # Every ball of the outline must be above the ground below its centre: the base rises by the
    # greatest depth that a ball has while the base is at height zero.
    ground = terrain.height(points[:, 0], points[:, 1])
    pose[2] = float(np.max(ground - (points[:, 2] - outline.radius))) + initial.clearance
    return pose


def lowest_height(robot: RobotModel, links: FloatArray) -> float:
    """Return the height [m] of the lowest point of a robot with the link poses (L, 4, 4)."""
    corners = _spanning_points(robot)
    rows = links[corners.link, 2]
    heights = (rows[:, :3] * corners.points).sum(axis=1) + rows[:, 3]
    return float((heights - corners.radius).min())


def root_poses_from_base(robot: RobotModel, pose: FloatArray) -> FloatArray:
    """Return the poses of the roots, (r, 7), for a pose (7,) of the base frame."""
    if not robot.assembly:
        return pose[None, :]
    frame, roots = pose_matrices(pose), pose_matrices(assembly_poses(robot))
    poses = np.empty((len(roots), 7))
    poses[:, :3] = roots[:, :3, 3] @ frame[:3, :3].T + pose[:3]
    poses[:, 3:] = Rotation.from_matrix(frame[:3, :3] @ roots[:, :3, :3]).as_quat()
    return poses


@cached_per_robot
def nominal_height(robot: RobotModel) -> float:
    """Return the height [m] of the root link over level ground in the nominal stance."""
    touching = replace(InitialState(), clearance=0.0)
    return float(pose_on_terrain(robot, robot.stance, touching, Plane())[2])
