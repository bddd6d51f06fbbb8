# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Height fields: triangulated grids of heights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray, read_only_array


@dataclass(frozen=True, kw_only=True)
class HeightField:
    """
    A triangulated grid of heights; the surface that an engine builds, to the last vertex.

    Vertex (j, i) is at x = ``origin[0] + i * cell``, y = ``origin[1] + j * cell``. The
    diagonal of a cell joins its (i + 1, j) and (i, j + 1) vertices: one triangle has its right
    angle at the corner of least x and y, the other at the corner of greatest x and y. Bullet
    splits a quad like that unless its edges are flipped; an engine with the other diagonal gets
    the same surface from a grid turned by 90 degrees. Some engines (Bullet) put the middle
    between the lowest and the highest vertex at the shape's origin: ``mid_height`` undoes it.

    Attributes
    ----------
    heights : (ny, nx) array [m]
        Exact in single precision, in which engines hold them.
    cell : float [m]
        Grid spacing along x and y.
    origin : (float, float) [m]
        x and y of ``heights[0, 0]`` in ``odom``.

    """

    heights: FloatArray
    cell: float
    origin: tuple[float, float]

    def __post_init__(self) -> None:
        """Round the heights to single precision and freeze them; refuse less than one cell."""
        single = np.asarray(self.heights, dtype=np.float32).astype(np.float64)
        heights = read_only_array(single, (None, None), name='heights')
        if min(heights.shape) < 2 or not self.cell > 0.0 or not np.isfinite(heights).all():
            raise ValueError(
                f'height field has shape {heights.shape} and cell {self.cell} m; expected (2, 2) '
                'or more, finite heights and a positive cell'
            )
        object.__setattr__(self, 'heights', heights)

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies within the grid."""
        width, length = self.size
        return 0.0 <= x - self.origin[0] <= width and 0.0 <= y - self.origin[1] <= length

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y [m]."""
        ny, nx = self.heights.shape
        return (nx - 1) * self.cell, (ny - 1) * self.cell

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the grid in ``odom``, x and y [m]."""
        return self.origin[0] + 0.5 * self.size[0], self.origin[1] + 0.5 * self.size[1]

    @cached_property
    def max_height(self) -> float:
        """Height of the highest vertex [m]."""
        return float(self.heights.max())

    @property
    def mid_height(self) -> float:
        """Middle between the lowest and the highest vertex [m]."""
        return float(0.5 * (self.heights.min() + self.heights.max()))

    def height(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the height of the surface [m] at points; outside the grid that of its edge."""
        i, j, u, v, first = self._locate(x, y)
        h = self.heights
        # Each triangle is a plane through its three vertices.
        low = h[j, i] + u * (h[j, i + 1] - h[j, i]) + v * (h[j + 1, i] - h[j, i])
        top = h[j + 1, i + 1]
        high = top + (1.0 - u) * (h[j + 1, i] - top) + (1.0 - v) * (h[j, i + 1] - top)
        return np.asarray(np.where(first, low, high))

    def normal(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return unit normals, upwards, (..., 3), of the triangles under points."""
        i, j, _, _, first = self._locate(x, y)
        h = self.heights
        slope_x = np.where(first, h[j, i + 1] - h[j, i], h[j + 1, i + 1] - h[j + 1, i])
        slope_y = np.where(first, h[j + 1, i] - h[j, i], h[j + 1, i + 1] - h[j, i + 1])
        normal = np.stack([-slope_x, -slope_y, np.full(np.shape(slope_x), self.cell)], axis=-1)
        return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))

    def _locate(
        self, x: npt.ArrayLike, y: npt.ArrayLike
    ) -> tuple[
        npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray, FloatArray, npt.NDArray[np.bool_]
    ]:
        """
        Return the cells of points, the positions within them, and the triangles.

        They are cell indices i and j, coordinates u and v in [0, 1] within the cell, and whether
        the point is in the triangle at the corner of least x and y (u + v <= 1).
        """
        ny, nx = self.heights.shape
        i, j = np.broadcast_arrays(
            (np.asarray(x, dtype=np.float64) - self.origin[0]) / self.cell,
            (np.asarray(y, dtype=np.float64) - self.origin[1]) / self.cell,
        )
        i, j = np.clip(i, 0.0, nx - 1), np.clip(j, 0.0, ny - 1)
        column = np.minimum(i.astype(np.intp), nx - 2)
        row = np.minimum(j.astype(np.intp), ny - 2)
        u, v = i - column, j - row
        return column, row, u, v, np.asarray(u + v <= 1.0)
