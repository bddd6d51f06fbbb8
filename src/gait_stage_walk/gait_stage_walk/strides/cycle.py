"""A periodic motion of joints without jumps of position, velocity or acceleration."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from gait_core.arrays import FloatArray

PHASES = 4
"""Phases of a cycle, each from one posture to the next."""
KNOTS = 256
"""Per cycle: the joints of a foot on a straight line are met to about 1e-8 rad in between."""


def knots() -> FloatArray:
    """Return the phases at which a cycle is given, (KNOTS,), from 0 on."""
    return np.arange(KNOTS, dtype=np.float64) * (PHASES / KNOTS)


class Cycle:
    """
    A cycle of joint positions over the phase, which runs from 0 to 4 and begins anew.

    A periodic cubic spline (twice continuously differentiable) through what ``knots`` asks for.

    Parameters
    ----------
    positions : (KNOTS, n) array [rad or m]

    """

    def __init__(self, positions: FloatArray) -> None:
        closed = np.concatenate([positions, positions[:1]])
        at = np.append(knots(), float(PHASES))
        # (4, KNOTS, n), the highest power first.
        self._pieces: FloatArray = CubicSpline(at, closed, bc_type='periodic').c

    def at(self, phases: FloatArray) -> FloatArray:
        """Return the positions, (k, n), at some phases, (k,)."""
        along = np.mod(phases, PHASES) * (KNOTS / PHASES)
        piece = np.minimum(along.astype(np.int64), KNOTS - 1)
        cubic, square, linear, constant = self._pieces[:, piece]
        t = ((along - piece) * (PHASES / KNOTS))[:, None]
        return np.asarray(((cubic * t + square) * t + linear) * t + constant)
