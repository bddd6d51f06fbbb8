# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Surfaces of terrains: the plane and grids of heights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import hashlib

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField

MAX_VERTICES = 4_000_000
"""Largest number of vertices of a grid; a mistyped cell size would fill the memory."""


def check_grid(length: float, width: float, cell: float) -> None:
    """
    Check that a grid has at most ``MAX_VERTICES`` vertices; arguments in m.

    Raises
    ------
    ConfigurationError
        With the smallest valid cell.

    """
    count = (length / cell + 1.0) * (width / cell + 1.0)
    if count > MAX_VERTICES:
        # One percent more, so that the value rounded to three digits is valid.
        nearest = 1.01 * cell * (count / MAX_VERTICES) ** 0.5
        raise ConfigurationError(
            f'cell = {cell:g} m makes {count:.3g} vertices of a ground of {length:g} x {width:g} '
            f'm, more than {MAX_VERTICES:.3g}; nearest valid: {nearest:.3g}'
        )


@dataclass(frozen=True)
class Plane:
    """The infinite plane z = 0."""

    heightfield: None = None

    @property
    def hash(self) -> str:
        """SHA-256 of the surface."""
        return hashlib.sha256(b'plane').hexdigest()

    def height(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return zeros."""
        return np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y)))

    def normal(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the vertical."""
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        return np.broadcast_to(np.array([0.0, 0.0, 1.0]), (*shape, 3))


@dataclass(frozen=True)
class Grid:
    """Terrain made of a height field; the surface of every uneven terrain."""

    heightfield: HeightField

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the surface."""
        field = self.heightfield
        digest = hashlib.sha256(b'grid')
        for part in (field.heights.shape, (field.cell, *field.origin)):
            digest.update(np.asarray(part, dtype='<f8').tobytes())
        digest.update(field.heights.astype('<f8').tobytes())
        return digest.hexdigest()

    def height(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the height [m] at points; outside the grid the height of its edge."""
        return self.heightfield.height(x, y)

    def normal(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the upward unit normal at points."""
        return self.heightfield.normal(x, y)
