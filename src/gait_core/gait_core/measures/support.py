# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of support by what a robot stands on: an area, a line, a point or nothing."""

from __future__ import annotations

import math

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray, IntArray

NOTHING, POINT, LINE, AREA = range(4)


def support_kinds(
    instant: IntArray, points: FloatArray, instants: int, min_width: float
) -> IntArray:
    """
    Return the kind of support at each instant, (T,): NOTHING, POINT, LINE or AREA.

    It is the figure that the contacts of the instant span.

    Parameters
    ----------
    instant : (c,) int array
        Index of the instant of each contact point, in ascending order.
    points : (c, 3) array [m]
        Heights are ignored.
    instants : int
        Number of instants, T.
    min_width : float [m]
        An area narrower than this counts as a line, and a line shorter than this as a point.

    """
    first = np.concatenate([[0], np.cumsum(np.bincount(instant, minlength=instants))])
    kinds: IntArray = np.empty(instants, dtype=np.int64)
    _write_kinds(np.ascontiguousarray(points), first, min_width, kinds)
    return kinds


@njit(cache=True)
def _write_kinds(points: FloatArray, first: IntArray, min_width: float, kinds: IntArray) -> None:
    """Write the kind of each group of points; group t has rows ``first[t]`` to the next."""
    for t in range(len(kinds)):
        group = points[first[t] : first[t + 1]]
        # The farthest pair of points, and the width of the group across it.
        length, along_x, along_y = 0.0, 0.0, 0.0
        for a in range(len(group)):
            for b in range(a + 1, len(group)):
                x, y = group[b, 0] - group[a, 0], group[b, 1] - group[a, 1]
                if math.hypot(x, y) > length:
                    length, along_x, along_y = math.hypot(x, y), x, y
        if length < min_width:
            kinds[t] = POINT if len(group) else NOTHING
            continue
        low, high = math.inf, -math.inf
        for k in range(len(group)):
            across = (group[k, 1] * along_x - group[k, 0] * along_y) / length
            low, high = min(low, across), max(high, across)
        kinds[t] = AREA if high - low >= min_width else LINE
