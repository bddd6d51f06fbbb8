# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forward kinematics and centres of mass of a whole robot, vectorised over time."""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.errors import unknown_name_error
from gait_core.kinematics.frames import assembly_poses, rotation_from_rpy
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.mechanism import MOVING_KINDS, Joint, Mechanism


class KinematicTree(NamedTuple):
    """
    Kinematic tree of a robot as arrays, one row per link in ``robot.links`` order.

    Attributes
    ----------
    parent : (L,) int array
        Row of the parent link; -1 for a root.
    offset : (L, 3) array [m]
    rotation : (L, 3, 3) array
        Frame of the joint above each link, in the parent's frame, at position zero.
    axis : (L, 3) array
        Joint axis in the link's frame.
    revolute, prismatic : (L,) bool arrays
        Kind of the joint above; both false for fixed joints and roots.
    gain : (L, n) array
    bias : (L,) array
        The joint above each link is at ``gain @ joint_positions + bias``: mimic joints follow
        theirs, other joints that are not actuated stay at zero.
    mass : (L,) array [kg]
    com : (L, 3) array [m]
        In each link's frame.

    """

    parent: IntArray
    offset: FloatArray
    rotation: FloatArray
    axis: FloatArray
    revolute: BoolArray
    prismatic: BoolArray
    gain: FloatArray
    bias: FloatArray
    mass: FloatArray
    com: FloatArray


@cached_per_robot
def kinematic_tree(robot: Mechanism) -> KinematicTree:
    """Return the kinematic tree of a robot, computed once per robot."""
    count = len(robot.links)
    parent = np.full(count, -1, dtype=np.int64)
    offset, axis = np.zeros((count, 3)), np.zeros((count, 3))
    rotation = np.tile(np.eye(3), (count, 1, 1))
    revolute, prismatic = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    gain, bias = np.zeros((count, len(robot.joint_names))), np.zeros(count)
    for joint in robot.joints:
        i = robot.link_index[joint.child]
        parent[i] = robot.link_index[joint.parent]
        offset[i], rotation[i], axis[i] = joint.xyz, rotation_from_rpy(joint.rpy), joint.axis
        revolute[i] = joint.kind in ('revolute', 'continuous')
        prismatic[i] = joint.kind == 'prismatic'
        gain[i], bias[i] = _joint_gains(robot, joint)
    return KinematicTree(
        parent=parent,
        offset=offset,
        rotation=rotation,
        axis=axis,
        revolute=revolute,
        prismatic=prismatic,
        gain=gain,
        bias=bias,
        mass=np.array([link.mass for link in robot.links]),
        com=np.array([link.com for link in robot.links]),
    )


def _joint_gains(robot: Mechanism, joint: Joint) -> tuple[FloatArray, float]:
    """Return the gains (n,) and the bias that give a joint's position from the actuated ones."""
    row = np.zeros(len(robot.joint_names))
    factor, bias = 1.0, 0.0
    # Follow chains of mimic joints; more steps than there are joints would be a loop.
    for _ in range(len(robot.joints)):
        if joint.name in robot.joint_index:
            row[robot.joint_index[joint.name]] = factor
            return row, bias
        if joint.mimic is None:
            break
        bias += factor * joint.mimic.offset
        factor *= joint.mimic.multiplier
        joint = robot.joint[joint.mimic.joint]
    return row, bias if joint.kind in MOVING_KINDS else 0.0


def pose_matrices(poses: FloatArray) -> FloatArray:
    """Return (..., 4, 4) transforms of (..., 7) poses: x, y, z [m], quaternion x, y, z, w."""
    poses = np.asarray(poses, dtype=np.float64)
    matrices = np.zeros((*poses.shape[:-1], 4, 4))
    rotations = Rotation.from_quat(poses[..., 3:].reshape(-1, 4)).as_matrix()
    matrices[..., :3, :3] = rotations.reshape(*poses.shape[:-1], 3, 3)
    matrices[..., :3, 3] = poses[..., :3]
    matrices[..., 3, 3] = 1.0
    return matrices


def link_poses(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """
    Return the pose of every link frame.

    Parameters
    ----------
    robot : RobotModel
    joint_positions : (T, n) or (n,) array [rad or m]
        By ``robot.joint_names``.
    base_pose : (T, r, 7), (T, 7), (r, 7) or (7,) array
        Poses of the r roots: x, y, z [m], quaternion x, y, z, w. Default: poses of the assembly,
        or the origin for a single root, so that the result is in the base frame.

    Returns
    -------
    (T, L, 4, 4) array, or (L, 4, 4) for a single time
        Homogeneous transforms from each link's frame, in ``robot.links`` order.

    Raises
    ------
    ValueError
        If a shape does not fit; the message names the array.

    """
    tree = kinematic_tree(robot)
    is_single = np.ndim(joint_positions) == 1
    angles, base = _checked_arrays(robot, joint_positions, base_pose)
    steps, roots = len(angles), len(robot.roots)
    travel = tree.gain @ angles.T + tree.bias[:, None]
    parts = _joint_transforms(robot)
    # Transforms are stored transposed with time last: one matrix product per link then gives
    # all times at once.
    poses = np.empty((len(robot.links), 4, 4, steps))
    poses[:roots] = pose_matrices(base).transpose(1, 3, 2, 0)
    for i in range(roots, len(robot.links)):
        parent = poses[tree.parent[i]].reshape(4, -1)
        if tree.revolute[i]:
            # Rodrigues: T(q) = T_0 + sin q T_s + (1 - cos q) T_c; the three parts are stacked.
            fixed, turned, bent = (parts[i] @ parent).reshape(3, 4, 4, steps)
            poses[i] = fixed + np.sin(travel[i]) * turned + (1.0 - np.cos(travel[i])) * bent
        elif tree.prismatic[i]:
            fixed, slid = (parts[i, :8] @ parent).reshape(2, 4, 4, steps)
            poses[i] = fixed + travel[i] * slid
        else:
            poses[i] = (parts[i, :4] @ parent).reshape(4, 4, steps)
    by_time = np.ascontiguousarray(poses.transpose(3, 0, 2, 1))
    return by_time[0] if is_single else by_time


def _checked_arrays(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return joint positions (T, n) and poses of the roots (T, r, 7)."""
    angles = np.atleast_2d(np.asarray(joint_positions, dtype=np.float64))
    if angles.ndim != 2 or angles.shape[1] != len(robot.joint_names):
        raise ValueError(
            f'joint_positions has shape {angles.shape}, expected (T, {len(robot.joint_names)})'
        )
    steps, roots = len(angles), len(robot.roots)
    base = assembly_poses(robot) if base_pose is None else np.asarray(base_pose, dtype=np.float64)
    if base.shape == (steps, 7) and roots == 1:
        base = base[:, None, :]
    try:
        return angles, np.broadcast_to(base, (steps, roots, 7))
    except ValueError as error:
        raise ValueError(f'base_pose has shape {base.shape}, expected {(steps, roots, 7)}') from (
            error
        )


@cached_per_robot
def _joint_transforms(robot: Mechanism) -> FloatArray:
    """
    Return the parts of the transform from each link to its parent, (L, 12, 4), transposed.

    Each link has three (4, 4) parts T_0, T_s and T_c. A revolute joint at q has the transform
    ``T_0 + sin(q) T_s + (1 - cos(q)) T_c`` (Rodrigues' formula), a prismatic one ``T_0 + q T_s``.
    """
    tree = kinematic_tree(robot)
    parts = np.zeros((len(robot.links), 3, 4, 4))
    parts[:, 0, 3, 3] = 1.0
    parts[:, 0, :3, :3], parts[:, 0, :3, 3] = tree.rotation, tree.offset
    for i, (rotation, axis) in enumerate(zip(tree.rotation, tree.axis, strict=True)):
        if tree.revolute[i]:
            across = np.cross(np.eye(3), axis)
            parts[i, 1, :3, :3], parts[i, 2, :3, :3] = (
                rotation @ across,
                rotation @ across @ across,
            )
        elif tree.prismatic[i]:
            parts[i, 1, :3, 3] = rotation @ axis
    return np.asarray(parts.swapaxes(2, 3).reshape(-1, 12, 4))


def link_coms(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """Return each link's centre of mass, (T, L, 3) [m]; arguments as of ``link_poses``."""
    tree = kinematic_tree(robot)
    angles, base = _checked_arrays(robot, joint_positions, base_pose)
    coms = np.empty((len(angles), len(robot.links), 3))
    travel = angles @ tree.gain.T + tree.bias
    frames = np.ascontiguousarray(pose_matrices(base)[..., :3, :])
    _write_coms(tree, frames, travel, coms)
    return coms


@njit(cache=True)
def _write_coms(tree, frames, travel, coms):  # type: ignore[no-untyped-def]
    """
    Write the centres of mass of all links, (T, L, 3) [m].

    ``frames`` (T, r, 3, 4) are poses of the roots, ``travel`` (T, L) positions of the joints above
    the links.
    """
    parent, revolute, prismatic = tree.parent, tree.revolute, tree.prismatic
    offset, rotation, axis, com = tree.offset, tree.rotation, tree.axis, tree.com
    roots = frames.shape[1]
    rotations, origins = np.empty((len(parent), 3, 3)), np.empty((len(parent), 3))
    for t in range(len(coms)):
        for i in range(len(parent)):
            s, c = 0.0, 1.0
            if revolute[i]:
                s, c = math.sin(travel[t, i]), math.cos(travel[t, i])
            a, b, d = axis[i, 0], axis[i, 1], axis[i, 2]
            # Row k of the rotation is the world's axis k in the moving frame: each row and the
            # coordinate k of the origin are updated by themselves.
            for k in range(3):
                if i < roots:
                    u, v, w = frames[t, i, k, 0], frames[t, i, k, 1], frames[t, i, k, 2]
                    origin = frames[t, i, k, 3]
                else:
                    p = parent[i]
                    x, y, z = rotations[p, k, 0], rotations[p, k, 1], rotations[p, k, 2]
                    origin = origins[p, k]
                    origin += x * offset[i, 0] + y * offset[i, 1] + z * offset[i, 2]
                    u = x * rotation[i, 0, 0] + y * rotation[i, 1, 0] + z * rotation[i, 2, 0]
                    v = x * rotation[i, 0, 1] + y * rotation[i, 1, 1] + z * rotation[i, 2, 1]
                    w = x * rotation[i, 0, 2] + y * rotation[i, 1, 2] + z * rotation[i, 2, 2]
                along = a * u + b * v + d * w
                if prismatic[i]:
                    origin += along * travel[t, i]
                elif revolute[i]:
                    # Rodrigues' formula with the angle reversed: the frame turns, the row stays.
                    rest = (1.0 - c) * along
                    u, v, w = (
                        c * u + s * (d * v - b * w) + rest * a,
                        c * v + s * (a * w - d * u) + rest * b,
                        c * w + s * (b * u - a * v) + rest * d,
                    )
                rotations[i, k, 0], rotations[i, k, 1], rotations[i, k, 2] = u, v, w
                origins[i, k] = origin
                coms[t, i, k] = origin + u * com[i, 0] + v * com[i, 1] + w * com[i, 2]


def com_positions(
    robot: Mechanism, joint_positions: FloatArray, base_pose: FloatArray | None = None
) -> FloatArray:
    """Return the robot's centre of mass, (T, 3) or (3,) [m]; arguments as of ``link_poses``."""
    mass = kinematic_tree(robot).mass
    coms = link_coms(robot, joint_positions, base_pose)
    com = (mass[:, None] * coms).sum(axis=-2) / mass.sum()
    return np.asarray(com[0] if np.ndim(joint_positions) == 1 else com)


def point_position(
    robot: Mechanism,
    joint_positions: FloatArray,
    link: str,
    point: tuple[float, float, float] | FloatArray = (0.0, 0.0, 0.0),
) -> FloatArray:
    """Return the position of a point of a link in the base frame, (T, 3) or (3,) [m]."""
    poses = link_poses(robot, joint_positions)[..., _link_row(robot, link), :, :]
    return np.asarray(poses[..., :3, :3] @ np.asarray(point) + poses[..., :3, 3])


def _link_row(robot: Mechanism, link: str) -> int:
    if link not in robot.link_index:
        raise unknown_name_error('link', link, robot.link_index)
    return robot.link_index[link]
