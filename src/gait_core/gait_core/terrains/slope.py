# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Slope: level ground, then an inclined plane."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import float_parameter
from gait_core.terrains.surfaces import Grid, check_grid


@dataclass(frozen=True, kw_only=True)
class Slope(TerrainParameters):
    """
    An inclined plane that begins at a line, with level ground before it; height 0 at the origin.

    The line is ``start`` ahead of the origin in the uphill direction; with a negative ``start`` a
    robot starts on the slope. The edge is rounded over one cell. The seed has no effect.
    """

    angle_deg: float = float_parameter(
        5.0, low=-40.0, high=40.0, unit='deg', doc='Angle of the slope; negative: downhill.'
    )
    direction_deg: float = float_parameter(
        0.0, low=-180.0, high=180.0, unit='deg', doc='Uphill direction: 0 ahead, 90 to the left.'
    )
    start: float = float_parameter(
        0.5,
        low=-100.0,
        high=100.0,
        unit='m',
        doc='Distance from the origin at which the slope begins.',
    )
    extent: float = float_parameter(
        40.0, low=0.05, high=500.0, unit='m', doc='Side of the ground.'
    )
    cell: float = float_parameter(0.1, low=1e-4, high=1.0, unit='m', doc='Grid spacing.')

    def __post_init__(self) -> None:
        """Check the size of the grid."""
        super().__post_init__()
        check_grid(self.extent, self.extent, self.cell)

    def build(self, seed: int) -> Terrain:
        """Return the surface."""
        half = math.ceil(0.5 * self.extent / self.cell)
        across = np.arange(-half, half + 1) * self.cell
        turn = math.radians(self.direction_deg)
        ahead = math.cos(turn) * across[None, :] + math.sin(turn) * across[:, None]
        climbed = np.maximum(ahead, self.start) - max(self.start, 0.0)
        return Grid(
            HeightField(
                heights=math.tan(math.radians(self.angle_deg)) * climbed,
                cell=self.cell,
                origin=(-half * self.cell, -half * self.cell),
            )
        )
