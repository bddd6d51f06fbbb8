# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rough ground: an independent random height at every node of a square grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.contracts import Terrain, TerrainParameters
from gait_core.height_field import HeightField
from gait_core.parameters.declaration import float_parameter, int_parameter
from gait_core.terrains.surfaces import Grid


@dataclass(frozen=True, kw_only=True)
class Rough(TerrainParameters):
    """
    Random heights of grid nodes, uniform over ``range`` with mean zero; centred on the origin.

    The defaults are the ground of Bishop (2008), section 4.2: 256 x 256 nodes over 50 x 50 m and
    a range of 0.13 m, which makes the mean step between neighbouring nodes a third of the range.
    ``flat_radius`` adds level ground to start from, where nodes have height zero.
    """

    range: float = float_parameter(
        0.13,
        low=0.0,
        high=1.0,
        unit='m',
        doc='Difference of the highest and the lowest possible node.',
    )
    extent: float = float_parameter(
        50.0, low=0.05, high=500.0, unit='m', doc='Side of the ground.'
    )
    nodes: int = int_parameter(256, low=2, high=1024, doc='Grid nodes along a side.')
    flat_radius: float = float_parameter(
        0.0,
        low=0.0,
        high=100.0,
        unit='m',
        doc='Radius around the origin within which nodes have height zero.',
    )

    def build(self, seed: int) -> Terrain:
        """Return the surface of a seed."""
        half = 0.5 * self.range
        heights = np.random.default_rng(seed).uniform(-half, half, (self.nodes, self.nodes))
        across = np.linspace(-0.5 * self.extent, 0.5 * self.extent, self.nodes)
        heights[np.hypot(across[:, None], across[None, :]) < self.flat_radius] = 0.0
        return Grid(
            HeightField(
                heights=heights,
                cell=self.extent / (self.nodes - 1),
                origin=(-0.5 * self.extent, -0.5 * self.extent),
            )
        )
