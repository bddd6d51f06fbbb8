# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectory of a swinging foot: quintics over the ground that can be redirected."""

from __future__ import annotations

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray

ARRIVAL_SHARE = 0.9
"""Share of a swing after which a foot is over its foothold and only sinks."""


def quintic_to_rest(state: FloatArray, target: FloatArray, time: float) -> FloatArray:
    """
    Return the coefficients of quintic paths to a target at rest, lowest power first, (6, d).

    Parameters
    ----------
    state : (3, d) array
        Positions, velocities and accelerations at time 0.
    target : (d,) array
        Positions at the end.
    time : float [s]
        Time at which the target is reached.

    """
    path: FloatArray = np.empty((6, state.shape[1]))
    path[0], path[1], path[2] = state[0], state[1], 0.5 * state[2]
    t = time
    distance = (target - state[0] - t * state[1] - 0.5 * t * t * state[2]) / t**3
    rate = -(state[1] + t * state[2]) / t**2
    bend = -state[2] / t
    path[3] = 10.0 * distance - 4.0 * rate + 0.5 * bend
    path[4] = (-15.0 * distance + 7.0 * rate - bend) / t
    path[5] = (6.0 * distance - 3.0 * rate + 0.5 * bend) / t**2
    return path


@njit(cache=True)
def write_path_state(path, time, out):  # type: ignore[no-untyped-def]
    """Write position, velocity and acceleration, (3, d), at a time on paths (6, d)."""
    # Horner's scheme for the polynomial and its first two derivatives.
    for i in range(path.shape[1]):
        p = v = a = 0.0
        for k in range(5, -1, -1):
            a = a * time + 2.0 * v
            v = v * time + p
            p = p * time + path[k, i]
        out[0, i], out[1, i], out[2, i] = p, v, a


def swing_height(share: float, clearance: float) -> float:
    """Return the height of a foot [m] at a share of its swing; zero velocity at both ends."""
    u = min(max(share, 0.0), 1.0)
    return clearance * 16.0 * (u * (1.0 - u)) ** 2
