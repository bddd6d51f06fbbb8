# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Textured mesh of the ground for pictures: a checkerboard, or heights by colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray, IntArray
from gait_core.terrains import Terrain

LIGHT_SQUARE, DARK_SQUARE = (224, 226, 228), (196, 200, 205)
LOW_COLOUR, HIGH_COLOUR = (96, 116, 90), (226, 214, 178)
MAX_CELLS = 96
"""Largest number of cells along a side of an uneven ground."""


@dataclass(frozen=True, kw_only=True)
class GroundMesh:
    """
    A textured triangle mesh.

    Attributes
    ----------
    vertices, normals : (v, 3) arrays [m, -]
    triangles : (t, 3) int array
    texture_points : (v, 2) array
        Position of each vertex in the texture, in [0, 1], repeated beyond.
    texture : (h, w, 3) uint8 array

    """

    vertices: FloatArray
    normals: FloatArray
    triangles: IntArray
    texture_points: FloatArray
    texture: npt.NDArray[np.uint8]


def ground_mesh(terrain: Terrain, centre: FloatArray, half_width: float) -> GroundMesh:
    """
    Return the ground within ``half_width`` [m] of a centre, (2,) [m], along x and y.

    A plane becomes a checkerboard of 0.5 m squares aligned with whole metres. Another terrain is
    sampled at the vertices of its grid, or fewer of them, and coloured by height.
    """
    field = terrain.heightfield
    if field is None:
        return _checker_mesh(centre, half_width)
    # Every stride-th vertex of the grid, not a grid of its own, whose surface would differ.
    stride = int(np.ceil(2.0 * half_width / MAX_CELLS / field.cell))
    x, y = (
        low + field.cell * _grid_indices(low, field.cell, count, at, half_width, stride)
        for low, count, at in zip(
            field.origin, field.heights.shape[::-1], centre.tolist(), strict=True
        )
    )
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    heights = terrain.height(grid[:, 0], grid[:, 1])
    low, high = float(field.heights.min()), float(field.heights.max())
    share = (heights - low) / max(high - low, 1e-9)
    ramp = np.linspace(LOW_COLOUR, HIGH_COLOUR, 64).astype(np.uint8)
    return GroundMesh(
        vertices=np.column_stack([grid, heights]),
        normals=terrain.normal(grid[:, 0], grid[:, 1]),
        triangles=_triangles(len(x), len(y)),
        texture_points=np.column_stack([0.01 + 0.98 * share, np.full(len(grid), 0.5)]),
        texture=np.repeat(ramp[None], 4, axis=0),
    )


def _grid_indices(
    low: float, cell: float, count: int, at: float, half_width: float, stride: int
) -> npt.NDArray[np.int64]:
    """Return every stride-th grid index along one axis within the half width of a position."""
    first = max(0, int(np.ceil((at - half_width - low) / cell)))
    last = min(count - 1, int(np.floor((at + half_width - low) / cell)))
    # Multiples of the stride, so that the picture does not jump when the centre moves.
    first += -first % stride
    return np.arange(first, max(last, first) + 1, stride, dtype=np.int64)


def _checker_mesh(centre: FloatArray, half_width: float) -> GroundMesh:
    """Return a flat square around a point, with a texture of light and dark squares."""
    side = np.arange(-np.ceil(half_width), np.ceil(half_width) + 0.5)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2) + np.round(centre)
    # One texture a metre: two squares of 0.5 m along each side.
    squares = np.array([[LIGHT_SQUARE, DARK_SQUARE], [DARK_SQUARE, LIGHT_SQUARE]], dtype=np.uint8)
    return GroundMesh(
        vertices=np.column_stack([grid, np.zeros(len(grid))]),
        normals=np.tile([0.0, 0.0, 1.0], (len(grid), 1)),
        triangles=_triangles(len(side), len(side)),
        texture_points=grid - grid.min(axis=0),
        texture=np.kron(squares, np.ones((32, 32, 1), dtype=np.uint8)),
    )


def _triangles(columns: int, rows: int) -> IntArray:
    """Return both triangles of every cell, counter-clockwise from above, split as Bullet does."""
    i, j = np.meshgrid(np.arange(columns - 1), np.arange(rows - 1))
    corner = (j * columns + i).ravel().astype(np.int64)
    right, up = corner + 1, corner + columns
    return np.concatenate(
        [np.column_stack([corner, right, up]), np.column_stack([right, up + 1, up])]
    )
