# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Meshes and poses of a recorded trial for the player of a report."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray, IntArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import contact_zmp
from gait_core.robot.model import Link, RobotModel, Shape
from gait_core.robot.shapes import shape_points
from gait_core.terrains import load_terrain
from gait_core.trial.rollout import Rollout

_FRAMES_PER_SECOND = 25.0
_MAX_FRAMES = 500
_GROUND_POINTS = 60
"""Points along each side of the grid of uneven ground."""

_UNIT_BALL = np.array(
    [
        (np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise))
        for rise in np.radians((-90.0, -45.0, 0.0, 45.0, 90.0))
        for turn in np.arange(8) * np.pi / 4.0
    ]
)
_BARE_LINK_RADIUS = 0.03
"""Radius of a link without a shape, in length scales."""


def replay_data(rollout: Rollout) -> dict[str, Any]:
    """
    Return the data of the page's player; arrays are base64 of little-endian numbers.

    Vertices are in the frames of their links. ``poses`` holds x, y, z and a quaternion of each
    link in each frame of the replay.
    """
    robot = rollout.robot
    period = max(1.0 / _FRAMES_PER_SECOND, rollout.ticks * rollout.dt / _MAX_FRAMES)
    every = max(1, round(period / rollout.dt))
    ticks = np.arange(0, rollout.ticks + 1, every)
    frames = link_poses(robot, rollout.joint_positions[ticks], rollout.body_poses[ticks])
    vertices, links, faces = _meshes(robot)
    half_width = _half_view_width(robot, vertices, links)
    ends, end_links = _element_ends(robot)
    zmp = contact_zmp(rollout)
    points = np.where(zmp.defined[:, None], zmp.points, np.nan)[ticks]
    return {
        'period': every * rollout.dt,
        'frames': len(ticks),
        'links': len(robot.links),
        'vertices': _encode_base64(vertices, '<f4'),
        'link': links.tolist(),
        'faces': faces.T.tolist(),
        'leg': _leg_numbers(robot)[links[faces[:, 0]]].tolist(),
        'elements': _encode_base64(ends, '<f4'),
        'element_link': end_links.tolist(),
        'poses': _encode_base64(_positions_and_quaternions(frames), '<f4'),
        'centre': _encode_base64(rollout.body_poses[ticks].mean(axis=1)[:, :3], '<f4'),
        'zmp': [[round(float(x), 4) for x in p] if np.isfinite(p[0]) else None for p in points],
        'half_width': half_width,
        'ground': _ground_heights(rollout, half_width),
    }


def _encode_base64(values: FloatArray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _positions_and_quaternions(frames: FloatArray) -> FloatArray:
    """Return homogeneous transforms (F, L, 4, 4) as positions and quaternions, (F, L, 7)."""
    turns = Rotation.from_matrix(frames[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    return np.concatenate([frames[..., :3, 3], turns.reshape(*frames.shape[:2], 4)], axis=-1)


def _meshes(robot: RobotModel) -> tuple[FloatArray, IntArray, IntArray]:
    """Return vertices (v, 3) [m] in their links' frames, their links (v,) and triangles (f, 3)."""
    vertices, links, faces = [np.zeros((0, 3))], [np.zeros(0, dtype=int)], []
    count = 0
    for row, link in enumerate(robot.links):
        for points, corners in _link_meshes(robot, link):
            vertices.append(points)
            links.append(np.full(len(points), row))
            faces.append(corners + count)
            count += len(points)
    return np.concatenate(vertices), np.concatenate(links), np.concatenate(faces)


def _link_meshes(robot: RobotModel, link: Link) -> list[tuple[FloatArray, IntArray]]:
    nodes = [node for node in robot.contact_nodes if node.link == link.name]
    small = _BARE_LINK_RADIUS * robot.length_scale
    meshes = [_hull(*shape_points(shape)) for shape in _shapes(link)]
    meshes += [_hull(np.array([node.point]), max(node.radius, small)) for node in nodes]
    if not meshes and link.mass > 0.0:
        meshes = [_hull(link.com[None], small)]
    return meshes


def _shapes(link: Link) -> tuple[Shape, ...]:
    return link.collisions or link.visuals


def _hull(points: FloatArray, radius: float) -> tuple[FloatArray, IntArray]:
    """Return the convex hull of balls about points as vertices and triangles facing outwards."""
    if radius > 0.0:
        points = (points[:, None] + radius * _UNIT_BALL).reshape(-1, 3)
    try:
        hull = ConvexHull(points)
    except QhullError:  # Flat: a sheet has no hull. A hair of thickness gives it one.
        hull = ConvexHull((points[:, None] + 1e-4 * _UNIT_BALL).reshape(-1, 3))
    order = np.full(len(hull.points), -1)
    order[hull.vertices] = np.arange(len(hull.vertices))
    corners = order[hull.simplices]
    placed = hull.points[hull.vertices]
    a, b, c = (placed[corners[:, i]] for i in range(3))
    inwards = np.einsum('fi,fi->f', np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    corners[inwards] = corners[inwards][:, ::-1]
    return placed, corners


def _element_ends(robot: RobotModel) -> tuple[FloatArray, IntArray]:
    """Return the ends of the force elements (2 e, 3) [m] in their links' frames, and the links."""
    ends, links = [np.zeros((0, 3))], []
    for element in robot.force_elements:
        ends.append(np.array([element.point_a, element.point_b]))
        links += [robot.link_index[element.link_a], robot.link_index[element.link_b]]
    return np.concatenate(ends), np.array(links, dtype=int)


def _leg_numbers(robot: RobotModel) -> IntArray:
    """Return the number of each link's leg, from 1; 0 is the body."""
    leg_numbers = np.zeros(len(robot.links), dtype=int)
    for row, leg in enumerate(robot.legs):
        for name in leg.joints:
            leg_numbers[robot.link_index[robot.joint[name].child]] = row + 1
        if leg.sole in robot.link_index and leg.joints:
            leg_numbers[robot.link_index[leg.sole]] = row + 1
    return leg_numbers


def _half_view_width(robot: RobotModel, vertices: FloatArray, links: IntArray) -> float:
    """Return half the width [m] of a view that shows the meshes in any posture."""
    frames = link_poses(robot, robot.stance[: len(robot.joint_names)])
    placed = (frames[links, :3, :3] @ vertices[:, :, None])[..., 0] + frames[links, :3, 3]
    return float(0.6 * np.ptp(placed, axis=0).max())


def _ground_heights(rollout: Rollout, half_width: float) -> dict[str, Any]:
    """Return heights of the terrain around the path on a grid [m]; level ground has 4 points."""
    base = rollout.body_poses[:, :, :2].reshape(-1, 2)
    low, high = base.min(axis=0) - 2.0 * half_width, base.max(axis=0) + 2.0 * half_width
    terrain = load_terrain(rollout.spec.scene.terrain)
    count = _GROUND_POINTS if rollout.spec.scene.terrain.name != 'flat' else 2
    x, y = (np.linspace(low[i], high[i], count) for i in range(2))
    heights = terrain.height(*np.meshgrid(x, y))
    return {'x': _rounded(x), 'y': _rounded(y), 'z': [_rounded(row) for row in heights]}


def _rounded(values: FloatArray) -> list[float]:
    return [round(float(value), 4) for value in values]
