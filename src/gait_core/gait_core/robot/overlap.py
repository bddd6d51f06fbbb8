# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Overlaps of collision shapes of different bodies in the nominal stance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.robot.inference import rigid_body_heads
from gait_core.robot.model import RobotModel, Shape
from gait_core.robot.urdf.meshes import mesh_vertices

MAX_COMPARED = 100_000
"""Largest number of pairs of shapes that are compared."""
TOUCH_TOLERANCE = 1e-6
"""Overlap [m] up to which shapes only touch."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """
    Two links whose shapes overlap, by at most ``depth`` [m].

    ``are_neighbours`` is true if one joint connects them; engines ignore contacts of neighbours.
    ``is_exact`` is true for boxes and spheres. Cylinders, capsules and meshes are replaced by
    their oriented bounding boxes, so that their overlap may be smaller or none.
    """

    link_a: str
    link_b: str
    depth: float
    are_neighbours: bool
    is_exact: bool


@dataclass(frozen=True)
class _Block:
    """Box: centre (3,), axes as columns (3, 3), half sizes (3,); or ball, with radius > 0."""

    centre: FloatArray
    axes: FloatArray
    half: FloatArray
    radius: float
    is_exact: bool


def find_overlaps(robot: RobotModel) -> tuple[Overlap, ...]:
    """
    Return the overlapping pairs of links, in the order of ``robot.links``.

    At most ``MAX_COMPARED`` pairs of shapes are compared, so that a description with thousands of
    shapes in one place does not take minutes.
    """
    poses = link_poses(robot, robot.stance[: len(robot.joint_names)])
    head = rigid_body_heads(robot)
    neighbours = {frozenset((head[joint.parent], head[joint.child])) for joint in robot.joints}
    blocks = {
        link.name: [_move_block(_block_from_shape(shape), pose) for shape in link.collisions]
        for link, pose in zip(robot.links, poses, strict=True)
    }
    overlaps, compared = [], 0
    for link_a, link_b in _near_pairs(blocks):
        # Links fixed to each other are one body.
        if head[link_a] == head[link_b]:
            continue
        compared += len(blocks[link_a]) * len(blocks[link_b])
        if compared > MAX_COMPARED:
            break
        depth, is_exact = max(
            (
                (_overlap_depth(a, b), a.is_exact and b.is_exact)
                for a in blocks[link_a]
                for b in blocks[link_b]
            ),
            default=(0.0, True),
        )
        if depth > TOUCH_TOLERANCE:
            overlaps.append(
                Overlap(
                    link_a=link_a,
                    link_b=link_b,
                    depth=depth,
                    are_neighbours=frozenset((head[link_a], head[link_b])) in neighbours,
                    is_exact=is_exact,
                )
            )
    return tuple(overlaps)


def _near_pairs(blocks: Mapping[str, list[_Block]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of links, in order, whose bounding balls overlap."""
    names = [name for name, listed in blocks.items() if listed]
    centres = np.array([np.mean([block.centre for block in blocks[name]], 0) for name in names])
    radii = np.array(
        [
            max(
                float(np.linalg.norm(block.centre - centre) + np.linalg.norm(block.half))
                + block.radius
                for block in blocks[name]
            )
            for name, centre in zip(names, centres, strict=True)
        ]
    )
    for i, name in enumerate(names):
        distances = np.linalg.norm(centres[i + 1 :] - centres[i], axis=1)
        for j in np.flatnonzero(distances <= radii[i + 1 :] + radii[i]).tolist():
            yield name, names[i + 1 + j]


def _block_from_shape(shape: Shape) -> _Block:
    """Return the block of a shape in its link's frame."""
    middle, half, radius = np.zeros(3), np.zeros(3), 0.0
    if shape.kind == 'box':
        half = 0.5 * np.array(shape.size)
    elif shape.kind == 'sphere':
        radius = shape.size[0]
    elif shape.kind == 'mesh':
        vertices = mesh_vertices(shape.file) * np.array(shape.size)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
    else:
        across, length = shape.size
        along = 0.5 * length + (across if shape.kind == 'capsule' else 0.0)
        half = np.array([across, across, along])
    axes = rotation_from_rpy(shape.rpy)
    is_exact = shape.kind in ('box', 'sphere')
    return _Block(axes @ middle + np.array(shape.xyz), axes, half, radius, is_exact)


def _move_block(block: _Block, pose: FloatArray) -> _Block:
    rotation, origin = pose[:3, :3], pose[:3, 3]
    return replace(block, centre=rotation @ block.centre + origin, axes=rotation @ block.axes)


def _overlap_depth(a: _Block, b: _Block) -> float:
    """Return the depth of overlap of two blocks [m]; negative or zero if they are apart."""
    if a.radius > 0.0 and b.radius > 0.0:
        return a.radius + b.radius - float(np.linalg.norm(a.centre - b.centre))
    if a.radius > 0.0:
        return _ball_box_depth(a, b)
    if b.radius > 0.0:
        return _ball_box_depth(b, a)
    return _box_box_depth(a, b)


def _ball_box_depth(ball: _Block, box: _Block) -> float:
    local = box.axes.T @ (ball.centre - box.centre)
    # Centre inside the box: depth to the nearest face. Outside: to the nearest point of the box.
    outside = np.abs(local) - box.half
    if np.all(outside <= 0.0):
        return ball.radius - float(outside.max())
    return ball.radius - float(np.linalg.norm(np.maximum(outside, 0.0)))


def _box_box_depth(a: _Block, b: _Block) -> float:
    """Return the depth of overlap of two boxes [m], by the separating axis theorem."""
    # Two boxes are apart if their projections on one of 15 axes are apart. These axes are the
    # normals of the faces and the cross products of the edges. The depth is the smallest overlap
    # of projections.
    crossed = np.cross(a.axes.T[:, None, :], b.axes.T[None, :, :]).reshape(9, 3)
    axes = np.concatenate([a.axes.T, b.axes.T, crossed])
    lengths = np.linalg.norm(axes, axis=1)
    # Parallel edges have no cross product.
    axes = axes[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    extents = np.abs(axes @ a.axes) @ a.half + np.abs(axes @ b.axes) @ b.half
    return float(np.min(extents - np.abs(axes @ (b.centre - a.centre))))
