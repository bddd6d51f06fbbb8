# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bumps or holes at random positions on level ground."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import float_parameter
from gait_core.terrains.surfaces import Grid, check_grid


@dataclass(frozen=True, kw_only=True)
class Bumps(TerrainParameters):
    """
    One bump or hole at a random position in every square of side ``spacing``; none overlap.

    A bump is half a wave of a cosine about its centre, level at its foot and at its top. Bumps
    that would reach into the level ground around the origin are left out. Finer cells make rounder
    bumps, but engines support a flat sole poorly on more than 5 by 5 cells.
    """

    height: float = float_parameter(
        0.01, low=-1.0, high=1.0, unit='m', doc='Height of a bump; negative: depth of a hole.'
    )
    radius: float = float_parameter(
        0.1, low=5e-4, high=10.0, unit='m', doc='Radius of a bump at its foot; at least 2 cells.'
    )
    spacing: float = float_parameter(
        0.3, low=0.001, high=50.0, unit='m', doc='Side of the square that holds one bump.'
    )
    flat_radius: float = float_parameter(
        0.4, low=0.0, high=100.0, unit='m', doc='Radius of level ground around the origin.'
    )
    extent: float = float_parameter(
        10.0, low=0.05, high=100.0, unit='m', doc='Side of the ground.'
    )
    cell: float = float_parameter(0.05, low=1e-4, high=0.5, unit='m', doc='Grid spacing.')

    def __post_init__(self) -> None:
        """Check that a bump fits into its square and the grid shows it."""
        super().__post_init__()
        if 2.0 * self.radius > self.spacing:
            raise ConfigurationError(
                f'radius = {self.radius:g} m does not fit into a spacing of {self.spacing:g} m; '
                f'nearest valid: {0.5 * self.spacing:g}'
            )
        if self.radius < 2.0 * self.cell:
            raise ConfigurationError(
                f'cell = {self.cell:g} m is too coarse for bumps of radius {self.radius:g} m; '
                f'nearest valid: {0.5 * self.radius:g}'
            )
        check_grid(self.extent, self.extent, self.cell)

    def build(self, seed: int) -> Terrain:
        """Return the surface of a seed."""
        half = math.ceil(0.5 * self.extent / self.cell)
        across = np.arange(-half, half + 1) * self.cell
        square = np.floor((across + half * self.cell) / self.spacing).astype(np.intp)
        count = int(square.max()) + 1
        free = 0.5 * self.spacing - self.radius
        jitter = np.random.default_rng(seed).uniform(-free, free, (2, count, count))
        centre = (np.arange(count) + 0.5) * self.spacing - half * self.cell
        x, y = centre[None, :] + jitter[0], centre[:, None] + jitter[1]
        top = np.where(np.hypot(x, y) < self.flat_radius + self.radius, 0.0, self.height)
        # Each node gets the height of the bump in its square: no bump reaches another square.
        bump = np.ix_(square, square)
        away = np.hypot(across[None, :] - x[bump], across[:, None] - y[bump])
        share = np.minimum(away / self.radius, 1.0)
        heights = 0.5 * top[bump] * (1.0 + np.cos(math.pi * share))
        return Grid(
            HeightField(
                heights=heights, cell=self.cell, origin=(-half * self.cell, -half * self.cell)
            )
        )
