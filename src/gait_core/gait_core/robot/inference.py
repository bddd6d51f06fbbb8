# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inference of legs, stance and mirror pairs from the geometry and names of a bare URDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import re

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import kinematic_tree, link_poses
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import MOVING_KINDS, Joint, Leg, Link, RobotModel
from gait_core.robot.shapes import link_points
from gait_core.robot.urdf.tree import LinkTree

MAX_FOOT_HEIGHT_RATIO = 0.1
"""Height of a foot above the lowest one, as a share of the robot's height.

A chain of joints is a leg if its end is at most so high above the lowest end of all chains."""


def actuated_joint_names(tree: LinkTree) -> tuple[str, ...]:
    """Return the moving joints that mimic no other, in the order of the description."""
    return tuple(
        joint.name for joint in tree.joints if joint.kind in MOVING_KINDS and joint.mimic is None
    )


def neutral_stance(tree: LinkTree) -> dict[str, float]:
    """Return the position of each actuated joint that is nearest to zero within its limits."""
    joints = {joint.name: joint for joint in tree.joints}
    return {
        name: min(max(0.0, joints[name].lower), joints[name].upper)
        for name in actuated_joint_names(tree)
    }


def up_axis(robot: RobotModel) -> str:
    """
    Return the axis of the root link that points up: ``x``, ``y``, ``z``, or one with a minus sign.

    It is opposite to the mean direction from the start to the end of chains in the nominal stance,
    because most chains hang down; ``z`` if no axis is near that mean.
    """
    poses = link_poses(robot, robot.joint_stance)
    chains = tuple(_joint_chains(robot))
    if not chains:
        return 'z'
    ends = np.array(
        [_shape_centre(robot, _outermost_link(robot, c[-1].child, poses), poses) for c in chains]
    )
    starts = poses[[robot.link_index[chain[0].child] for chain in chains], :3, 3]
    axis = _clear_direction(starts - ends)
    # A robot whose legs are folded up lies on its back only if they end above its root.
    return 'z' if axis == '-z' and _clear_direction(-ends) != '-z' else axis


def _clear_direction(vectors: FloatArray) -> str:
    """Return the axis nearest to the mean of vectors (k, 3); ``z`` if none is near it."""
    mean = vectors.mean(axis=0)
    size = max(float(np.max(np.abs(vectors))), 1e-9)
    main = int(np.argmax(np.abs(mean)))
    # Arms, tails and heads are chains too: only a clear mean overrides z.
    if abs(mean[main]) < 0.3 * size:
        return 'z'
    return ('-' if mean[main] < 0.0 else '') + 'xyz'[main]


def _shape_centre(robot: RobotModel, link: str, poses: FloatArray) -> FloatArray:
    """Return the mean of the points that span a link's shapes, or its origin, (3,) [m]."""
    row = robot.link_index[link]
    points, _ = link_points(robot.links[row])
    centre = points.mean(axis=0) if len(points) else np.zeros(3)
    return np.asarray(poses[row, :3, :3] @ centre + poses[row, :3, 3])


def infer_legs(robot: RobotModel) -> tuple[Leg, ...]:
    """
    Return the chains of joints that end lowest in the nominal stance.

    A chain leads from the root, or from the last link with several chains, to a link without
    moving children. That link and those fixed to it form the foot. The sole is the link of the
    foot that is farthest from the joint, among those with collision shapes.
    """
    up = up_axis(robot)
    vertical = (-1.0 if up.startswith('-') else 1.0) * np.eye(3)['xyz'.index(up[-1])]
    poses = link_poses(robot, robot.joint_stance)
    extents = [
        _height_range(link, pose, vertical) for link, pose in zip(robot.links, poses, strict=True)
    ]
    ends = {
        _outermost_link(robot, chain[-1].child, poses): names
        for chain in _joint_chains(robot)
        if (names := tuple(joint.name for joint in chain if joint.name in robot.joint_index))
    }
    rows = {sole: robot.link_index[sole] for sole in ends}
    # Legs end near the lowest end of all chains, within a share of the robot's height.
    bottom = min((extents[row][0] for row in rows.values()), default=0.0)
    height = max(high for _, high in extents) - min(low for low, _ in extents)
    return tuple(
        Leg(
            name=sole,
            joints=ends[sole],
            sole=sole,
            sole_point=_sole_point(robot.links[row], poses[row], vertical),
        )
        for sole, row in rows.items()
        if extents[row][0] <= bottom + MAX_FOOT_HEIGHT_RATIO * height
    )


def _height_range(link: Link, pose: FloatArray, vertical: FloatArray) -> tuple[float, float]:
    points, radii = link_points(link)
    if not len(points):
        height = float(pose[:3, 3] @ vertical)
        return height, height
    heights = (points @ pose[:3, :3].T + pose[:3, 3]) @ vertical
    return float(np.min(heights - radii)), float(np.max(heights + radii))


def _joint_chains(robot: RobotModel) -> Iterator[tuple[Joint, ...]]:
    """Yield the chain of moving joints that leads to each outermost body, in order of joints."""
    parent_joint = {joint.child: joint for joint in robot.joints}
    # Number of moving joints on each rigid body; a body without any ends a chain.
    carried: dict[str, int] = {}
    for joint in robot.joints:
        if joint.kind in MOVING_KINDS:
            body = _rigid_body_head(joint.parent, parent_joint)
            carried[body] = carried.get(body, 0) + 1
    for last in robot.joints:
        if last.kind not in MOVING_KINDS or last.child in carried:
            continue
        chain = [last]
        # Back towards the root, up to a body with several chains or the root itself.
        while True:
            body = _rigid_body_head(chain[0].parent, parent_joint)
            if carried[body] > 1 or body not in parent_joint:
                break
            chain.insert(0, parent_joint[body])
        yield tuple(chain)


def _rigid_body_head(link: str, parent_joint: Mapping[str, Joint]) -> str:
    """Return the first link of a link's rigid body, which fixed joints hold together."""
    while link in parent_joint and parent_joint[link].kind not in MOVING_KINDS:
        link = parent_joint[link].parent
    return link


@cached_per_robot
def rigid_body_heads(robot: RobotModel) -> dict[str, str]:
    """Return the first link of the rigid body of each link, by link."""
    parent_joint = {joint.child: joint for joint in robot.joints}
    return {link.name: _rigid_body_head(link.name, parent_joint) for link in robot.links}


def _outermost_link(robot: RobotModel, head: str, poses: FloatArray) -> str:
    """Return the link of a rigid body that is farthest from its joint and has collisions."""
    heads = rigid_body_heads(robot)
    joint_at = poses[robot.link_index[head], :3, 3]
    best, farthest = head, -1.0
    for link in robot.links:
        if link.collisions and heads[link.name] == head:
            distance = float(np.linalg.norm(poses[robot.link_index[link.name], :3, 3] - joint_at))
            if distance > farthest + 1e-9:
                best, farthest = link.name, distance
    return best


def _sole_point(link: Link, pose: FloatArray, vertical: FloatArray) -> tuple[float, float, float]:
    """Return the sole point in the link frame: a ball's centre, else amid the lowest points."""
    points, radii = link_points(link)
    if not len(points):
        return (0.0, 0.0, 0.0)
    heights = (points @ pose[:3, :3].T) @ vertical - radii
    lowest = points[heights <= heights.min() + 1e-3]
    x, y, z = (0.5 * (lowest.min(axis=0) + lowest.max(axis=0))).tolist()
    return x, y, z


def mirror_sign(robot: RobotModel, name: str, other: str) -> float | None:
    """
    Return the sign that maps a joint's position to its counterpart across the sagittal plane.

    The reflection y -> -y maps a rotation about (a, b, c) to one about (-a, b, -c), and a
    translation along (a, b, c) to one along (a, -b, c). ``None`` if the axis of the counterpart is
    neither the reflected axis nor its opposite, within 8 degrees, at zero joint positions.
    """
    axes = joint_axes_at_zero(robot)
    first, second = robot.joint[name], robot.joint[other]
    if (first.kind == 'prismatic') != (second.kind == 'prismatic'):
        return None
    flip = np.array([1.0, -1.0, 1.0] if first.kind == 'prismatic' else [-1.0, 1.0, -1.0])
    agreement = float(flip * axes[name][0] @ axes[other][0])
    return float(np.sign(agreement)) if abs(agreement) > 0.99 else None


@cached_per_robot
def joint_axes_at_zero(robot: RobotModel) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return axis and origin [m] of each actuated joint in the base frame, at zero positions."""
    tree = kinematic_tree(robot)
    poses = link_poses(robot, np.zeros(len(robot.joint_names)))
    axes = {}
    for name in robot.joint_names:
        row = robot.link_index[robot.joint[name].child]
        axes[name] = (poses[row, :3, :3] @ tree.axis[row], poses[row, :3, 3])
    return axes


def infer_mirror_pairs(robot: RobotModel) -> dict[str, tuple[str, float]]:
    """
    Return the counterpart of each joint and the sign of ``mirror_sign``, by joint.

    The counterpart has the name with left and right exchanged, else the mirrored position. A joint
    in the sagittal plane is its own counterpart. Joints without a counterpart are left out.
    """
    axes = joint_axes_at_zero(robot)
    size = max((float(np.max(np.abs(origin))) for _, origin in axes.values()), default=0.0)
    pairs: dict[str, tuple[str, float]] = {}
    origins = np.array([axes[name][1] for name in robot.joint_names]).reshape(-1, 3)
    for name in robot.joint_names:
        by_name = [other for other in counterpart_names(name) if other in axes]
        mirrored = axes[name][1] * np.array([1.0, -1.0, 1.0])
        distances = np.linalg.norm(origins - mirrored, axis=1)
        near = [robot.joint_names[i] for i in np.flatnonzero(distances <= 0.01 * size + 1e-6)]
        own = [name] if name in near and not by_name else []
        for other in (*by_name, *own, *near):
            sign = mirror_sign(robot, name, other)
            if sign is not None:
                pairs[name] = (other, sign)
                break
    # Only mutual pairs count.
    return {name: pair for name, pair in pairs.items() if pairs.get(pair[0], ('', 0.0))[0] == name}


_SIDE_PATTERN = re.compile(
    r'left|right|Left|Right|LEFT|RIGHT'
    r'|(?<![A-Za-z])[lrfhbmLRFHBM]{1,2}(?![A-Za-z])|(?<=[a-z])[LRFHBM]{1,2}(?![A-Za-z])'
)
_OPPOSITE_SIDE = {
    'l': 'r',
    'r': 'l',
    'L': 'R',
    'R': 'L',
    'left': 'right',
    'right': 'left',
    'Left': 'Right',
    'Right': 'Left',
    'LEFT': 'RIGHT',
    'RIGHT': 'LEFT',
}


def counterpart_names(name: str) -> list[str]:
    """
    Return possible names of the counterpart of a joint, most likely first.

    Examples
    --------
    >>> counterpart_names('FL_hip_joint')
    ['FR_hip_joint']
    >>> counterpart_names('left_knee')
    ['right_knee']

    """
    names = []
    for match in _SIDE_PATTERN.finditer(name):
        word = match.group()
        if word in _OPPOSITE_SIDE:
            swaps = [_OPPOSITE_SIDE[word]]
        else:
            # Of two letters, such as fl, lf, rr, the last one that names a side comes first.
            swaps = [
                word[:i] + _OPPOSITE_SIDE[word[i]] + word[i + 1 :]
                for i in reversed(range(len(word)))
                if word[i] in _OPPOSITE_SIDE
            ]
        names += [name[: match.start()] + swap + name[match.end() :] for swap in swaps]
    return names


def side_from_name(name: str) -> str:
    """
    Return the side in a name: ``left``, ``right`` or an empty string.

    In two letters, as in ``fl``, ``lf`` or ``lr``, l means left, and r beside an l means rear.

    Examples
    --------
    >>> [side_from_name(name) for name in ('FL_hip', 'rf_hip', 'RL_hip', 'right_knee', 'head')]
    ['left', 'right', 'left', 'right', '']

    """
    for match in _SIDE_PATTERN.finditer(name):
        word = match.group().lower()
        if len(word) > 2:
            return word
        if 'l' in word:
            return 'left'
        if 'r' in word:
            return 'right'
    return ''
