# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Spanning points and surface points of collision shapes."""

from __future__ import annotations

import itertools

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.robot.model import Link, Shape
from gait_core.robot.urdf.meshes import mesh_hull

_CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
_RIM = np.arange(32) * (2.0 * np.pi / 32.0)
_CIRCLE = np.column_stack([np.cos(_RIM), np.sin(_RIM), np.zeros(32)])


def shape_points(shape: Shape) -> tuple[FloatArray, float]:
    """
    Return points in the link frame and a radius that span a shape.

    The shape is the convex hull of balls of that radius about the points. A mesh counts as its
    convex hull. A cylinder is approximated by 32 points on each rim, with radius zero: its extent
    is exact to 0.5 % of its radius.

    Parameters
    ----------
    shape : Shape

    Returns
    -------
    points : (k, 3) array [m]
    radius : float [m]

    """
    radius = 0.0
    if shape.kind == 'box':
        local = _CORNERS * np.array(shape.size)
    elif shape.kind == 'sphere':
        local, radius = np.zeros((1, 3)), shape.size[0]
    elif shape.kind == 'capsule':
        local, radius = _at_both_ends(shape.size[1], np.zeros((1, 3))), shape.size[0]
    elif shape.kind == 'cylinder':
        local = _at_both_ends(shape.size[1], shape.size[0] * _CIRCLE)
    else:
        local = mesh_hull(shape.file)[0] * np.array(shape.size)
    return _to_link_frame(shape, local), radius


def surface_points(shape: Shape) -> FloatArray:
    """
    Return points on the surface of a shape in the link frame, (k, 3) [m].

    They are 5 mm apart on a box of the size of a foot, a tenth of the radius on a ball. Of a mesh
    they are the vertices of its hull and the centres of the hull's edges and faces.
    """
    if shape.kind == 'box':
        ticks = [np.linspace(-0.5, 0.5, min(65, 2 + int(side / 0.005))) for side in shape.size]
        lattice = np.stack(np.meshgrid(*ticks, indexing='ij'), axis=-1).reshape(-1, 3)
        local = lattice[np.abs(lattice).max(axis=1) == 0.5] * np.array(shape.size)
    elif shape.kind == 'sphere':
        local = shape.size[0] * _unit_sphere_points()
    elif shape.kind == 'capsule':
        local = _at_both_ends(shape.size[1], shape.size[0] * _unit_sphere_points())
    elif shape.kind == 'cylinder':
        discs = [share * shape.size[0] * _CIRCLE for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        local = _at_both_ends(shape.size[1], np.concatenate(discs))
    else:
        vertices, faces = mesh_hull(shape.file)
        corners = vertices[faces]
        edges = 0.5 * (corners + np.roll(corners, 1, axis=1))
        local = np.concatenate([vertices, corners.mean(axis=1), edges.reshape(-1, 3)]) * np.array(
            shape.size
        )
    return _to_link_frame(shape, local)


def _to_link_frame(shape: Shape, local: FloatArray) -> FloatArray:
    return np.asarray(local @ rotation_from_rpy(shape.rpy).T + np.array(shape.xyz))


def _at_both_ends(length: float, points: FloatArray) -> FloatArray:
    half = np.array([0.0, 0.0, 0.5 * length])
    return np.concatenate([points - half, points + half])


def _unit_sphere_points() -> FloatArray:
    """Return 1024 points spread evenly over the unit sphere (golden spiral)."""
    count = np.arange(1024)
    z = 1.0 - (2.0 * count + 1.0) / 1024.0
    angle = count * (np.pi * (3.0 - np.sqrt(5.0)))
    ring = np.sqrt(1.0 - z * z)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])


def link_points(link: Link) -> tuple[FloatArray, FloatArray]:
    """Return points (k, 3) and radii (k,) that span all collision shapes of a link [m]."""
    points, radii = [np.zeros((0, 3))], [np.zeros(0)]
    for shape in link.collisions:
        spanned, radius = shape_points(shape)
        points.append(spanned)
        radii.append(np.full(len(spanned), radius))
    return np.concatenate(points), np.concatenate(radii)
