# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Steps: treads across the x axis, each higher or lower than the one before."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import float_parameter, fraction_parameter
from gait_core.terrains.surfaces import Grid, check_grid


@dataclass(frozen=True, kw_only=True)
class Steps(TerrainParameters):
    """
    Level ground up to ``start``, then treads that go up or down at random; a riser takes one cell.

    With ``up_share`` 1 or 0 all treads go up or all go down. Finer cells make steeper risers, but
    engines support a flat sole poorly on more than 5 by 5 cells.
    """

    height: float = float_parameter(0.005, low=0.0, high=0.3, unit='m', doc='Height of a riser.')
    length: float = float_parameter(
        0.3, low=0.001, high=10.0, unit='m', doc='Length of a tread with its riser.'
    )
    up_share: float = fraction_parameter(
        0.5, doc='Probability that a tread goes up: 1 is a staircase up, 0 one down.'
    )
    start: float = float_parameter(
        0.5, low=0.0, high=100.0, unit='m', doc='Distance from the origin to the first riser.'
    )
    extent: float = float_parameter(
        10.0, low=0.05, high=100.0, unit='m', doc='Length of the ground ahead.'
    )
    width: float = float_parameter(6.4, low=0.01, high=100.0, unit='m', doc='Width of the ground.')
    cell: float = float_parameter(0.05, low=1e-4, high=0.5, unit='m', doc='Grid spacing.')

    def __post_init__(self) -> None:
        """Check that a tread has a level part and the size of the grid."""
        super().__post_init__()
        if self.length < 2.0 * self.cell:
            raise ConfigurationError(
                f'cell = {self.cell:g} m is too coarse for treads of {self.length:g} m; '
                f'nearest valid: {0.5 * self.length:g}'
            )
        check_grid(self.extent + self.start + 0.5 * self.width, self.width, self.cell)

    def build(self, seed: int) -> Terrain:
        """Return the surface of a seed."""
        behind = math.ceil(0.5 * self.width / self.cell)
        # Nodes are counted from the foot of the first riser, so that risers end on nodes.
        ahead = math.ceil(self.extent / self.cell)
        x = np.arange(-behind - math.ceil(self.start / self.cell), ahead + 1) * self.cell
        # The upper end of a riser belongs to its tread, also when x / length is rounded down.
        tread = np.floor((x - self.cell) / self.length + 1e-9).astype(np.intp) + 1
        draws = np.random.default_rng(seed).random(max(int(tread.max()), 0))
        # A draw is below 1: a share of 1 always goes up, a share of 0 never.
        rises = np.where(draws < self.up_share, self.height, -self.height)
        levels = np.concatenate([[0.0], np.cumsum(rises)])
        heights = np.tile(levels[np.maximum(tread, 0)], (2 * behind + 1, 1))
        return Grid(
            HeightField(
                heights=heights,
                cell=self.cell,
                origin=(self.start + float(x[0]), -behind * self.cell),
            )
        )
