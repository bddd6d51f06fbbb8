"""Steps: treads across the way, each a little higher or lower than the one before."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.parameters import Parameters, bounded, text
from gait_core.terrains.base import Grid, HeightField, Terrain


@dataclass(frozen=True, kw_only=True)
class Steps(Parameters):
    """
    Level ground up to ``start``, then treads of one length; a riser is one cell long.

    ``pattern`` is ``up`` (a staircase), ``down``, ``alternate`` (one up, one down) or ``random``:
    each tread goes up or down by the seed.
    """

    height: float = bounded(0.005, low=0.0, high=0.3, unit='m', doc='Of one riser.')
    length: float = bounded(0.3, low=0.02, high=10.0, unit='m', doc='Tread, riser included.')
    pattern: str = text(
        'random',
        choices=('up', 'down', 'alternate', 'random'),
        doc='How treads follow.',
    )
    start: float = bounded(0.5, low=0.0, high=100.0, unit='m', doc='Where the first riser begins.')
    extent: float = bounded(10.0, low=1.0, high=100.0, unit='m', doc='Length of the way ahead.')
    width: float = bounded(6.4, low=0.1, high=100.0, unit='m', doc='Width of the way.')
    cell: float = bounded(0.02, low=0.001, high=0.5, unit='m', doc='Grid spacing.')

    def build(self, seed: int) -> Terrain:
        """Return the surface of a seed."""
        behind = math.ceil(0.5 * self.width / self.cell)
        # Nodes are counted from the foot of the first riser, so that risers end on nodes.
        ahead = math.ceil(self.extent / self.cell)
        x = np.arange(-behind - math.ceil(self.start / self.cell), ahead + 1) * self.cell
        # A riser's upper end belongs to its tread, in spite of what rounding does to multiples.
        tread = np.floor((x - self.cell) / self.length + 1e-9).astype(np.intp) + 1
        levels = self._levels(seed, int(tread.max()))
        heights = np.tile(levels[np.maximum(tread, 0)], (2 * behind + 1, 1))
        return Grid(
            HeightField(
                heights=heights,
                cell=self.cell,
                origin=(self.start + float(x[0]), -behind * self.cell),
            )
        )

    def _levels(self, seed: int, treads: int) -> FloatArray:
        """Return the heights of the ground before and of each tread, (treads + 1,) [m]."""
        count = np.arange(treads + 1)
        match self.pattern:
            case 'up':
                ups = count
            case 'down':
                ups = -count
            case 'alternate':
                ups = count % 2
            case _:
                signs = np.random.default_rng(seed).choice([-1, 1], treads)
                ups = np.concatenate([[0], np.cumsum(signs)])
        return np.asarray(self.height * ups, dtype=np.float64)
