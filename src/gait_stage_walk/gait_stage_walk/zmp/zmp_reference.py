# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels of the ZMP reference: polylines, and the part of a swinging foot."""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_stage_walk.zmp.swing import write_path_state


class Swing(NamedTuple):
    """
    Swing of a foot.

    Attributes
    ----------
    path : (6, 3) array
        Coefficients of x, y and yaw.
    path_start, path_duration : int, float [s]
        Tick at which the path begins, and its duration.
    lift_off : int
        Tick of lift-off.
    inward : float [m]
        Distance from the foot to the mass that it lifts, to the left in the frame of the foot.

    """

    path: FloatArray
    path_start: int
    path_duration: float
    lift_off: int
    inward: float


class SwingLoad(NamedTuple):
    """
    Constants of all swings: duration, clearance and moved mass.

    Attributes
    ----------
    periods : int
        Periods from lift-off to touch-down.
    period : float [s]
    clearance : float [m]
    foot_coefficient, lifted_share : float [s^2, s^2/m]
        Constants of the mass model over gravity.

    """

    periods: int
    period: float
    clearance: float
    foot_coefficient: float
    lifted_share: float


@njit(cache=True)
def subtract_swing_zmp(swing, load, now, points):  # type: ignore[no-untyped-def]
    """
    Subtract the part of a swing from references of the ZMP, (N, 2) [m]; see ``mass_model``.

    The references belong to the periods after the tick ``now``; they are overwritten.
    """
    path, path_start, path_duration, lift_off, inward = swing
    swing_periods, period, clearance, foot, lift = load
    state = np.empty((3, 3))
    for j in range(max(0, lift_off - now - 1), min(len(points), lift_off + swing_periods - now)):
        at = (now + 1 + j - path_start) * period
        write_path_state(path, min(at, path_duration), state)
        u = (now + 1 + j - lift_off) / swing_periods
        # Second derivative of the height: clearance * 16 (u (1 - u))^2 over the swing.
        rise = 32.0 * clearance * (1.0 - 6.0 * u * (1.0 - u)) / (swing_periods * period) ** 2
        raised = lift * rise
        s, c = math.sin(state[0, 2]), math.cos(state[0, 2])
        is_moving = 1.0 if at < path_duration else 0.0
        # p - c + (h / g) c'' = (k / g) f'' + (a / g) f_z'' (f + e - p), see ``mass_model``: the
        # lifted mass is at f + e, the foot moved inward.
        x, y = state[0, 0] - s * inward, state[0, 1] + c * inward
        points[j, 0] -= foot * is_moving * state[2, 0] + raised * (x - points[j, 0])
        points[j, 1] -= foot * is_moving * state[2, 1] + raised * (y - points[j, 1])


@njit(cache=True)
def sample_polyline(knots, count, grid, out):  # type: ignore[no-untyped-def]
    """
    Sample a polyline at the periods after the tick ``grid``; its last point is repeated.

    Parameters
    ----------
    knots : (k, 3) array
        Rows of tick, x and y, in ascending order; the first ``count`` are valid.
    count, grid : int
    out : (N, 2) array
        Written.

    """
    at = 0
    for j in range(len(out)):
        time = grid + 1 + j
        while at < count - 2 and knots[at + 1, 0] < time:
            at += 1
        begin, end = knots[at, 0], knots[at + 1, 0]
        share = 1.0
        if end > begin:
            share = min(max((time - begin) / (end - begin), 0.0), 1.0)
        for i in range(2):
            out[j, i] = knots[at, i + 1] + share * (knots[at + 1, i + 1] - knots[at, i + 1])
