# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Room: level ground inside walls, with boxes for range sensors."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import float_parameter
from gait_core.terrains.surfaces import Grid, check_grid

_WALL_CELLS = 2


@dataclass(frozen=True, kw_only=True)
class Room(TerrainParameters):
    """
    Level ground around the origin with four walls, and boxes at random positions.

    Every square of side ``spacing`` has one box, unless it would overlap the free ground around
    the origin. Walls and boxes rise within one cell: a wall at x has its foot at x - ``cell`` and
    its top at x.
    """

    length: float = float_parameter(
        8.0, low=0.5, high=100.0, unit='m', doc='Distance between the walls ahead and behind.'
    )
    width: float = float_parameter(
        6.0, low=0.5, high=100.0, unit='m', doc='Distance between the walls to the sides.'
    )
    height: float = float_parameter(
        0.6, low=0.0, high=5.0, unit='m', doc='Height of walls and boxes.'
    )
    box: float = float_parameter(
        0.4, low=0.0, high=10.0, unit='m', doc='Side of a box; 0: no boxes.'
    )
    spacing: float = float_parameter(
        2.0, low=0.01, high=50.0, unit='m', doc='Side of the square that holds one box.'
    )
    free_radius: float = float_parameter(
        1.0, low=0.0, high=100.0, unit='m', doc='Radius of level ground around the origin.'
    )
    cell: float = float_parameter(0.1, low=1e-3, high=0.5, unit='m', doc='Grid spacing.')

    def __post_init__(self) -> None:
        """Check that a box fits into its square, and the size of the grid."""
        super().__post_init__()
        if self.box + 2.0 * self.cell > self.spacing:
            raise ConfigurationError(
                f'box = {self.box:g} m does not fit into a spacing of {self.spacing:g} m; '
                f'nearest valid: {max(self.spacing - 2.0 * self.cell, 0.0):g}'
            )
        check_grid(self.length, self.width, self.cell)

    def build(self, seed: int) -> Terrain:
        """Return the surface of a seed."""
        nx, ny = (math.ceil(0.5 * side / self.cell - 1e-9) for side in (self.length, self.width))
        x = np.arange(-nx - _WALL_CELLS, nx + _WALL_CELLS + 1)
        y = np.arange(-ny - _WALL_CELLS, ny + _WALL_CELLS + 1)
        high = (np.abs(x)[None, :] >= nx) | (np.abs(y)[:, None] >= ny)
        side = round(self.box / self.cell)
        if side:
            for left, low in self._boxes(seed, side, nx, ny):
                inside = (y >= low) & (y <= low + side)
                high |= inside[:, None] & ((x >= left) & (x <= left + side))[None, :]
        return Grid(
            HeightField(
                heights=np.where(high, self.height, 0.0),
                cell=self.cell,
                origin=(float(x[0]) * self.cell, float(y[0]) * self.cell),
            )
        )

    def _boxes(self, seed: int, side: int, nx: int, ny: int) -> list[tuple[int, int]]:
        """Return the corner of smallest x and y of each box, in cells from the origin."""
        rng = np.random.default_rng(seed)
        square = max(round(self.spacing / self.cell), side + 2)
        corners = []
        for row in range(2 * ny // square):
            for column in range(2 * nx // square):
                left, low = rng.integers(1, square - side, size=2, endpoint=True).tolist()
                left, low = left + column * square - nx, low + row * square - ny
                # Distance to the nearest point of the box; its faces begin one cell outside.
                away = [max(at - 1, -(at + side + 1), 0) * self.cell for at in (left, low)]
                if math.hypot(*away) > self.free_radius:
                    corners.append((left, low))
        return corners
