"""Ends, lengths and rates of force elements, from the bodies that carry them, compiled."""

from __future__ import annotations

import math

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray

# Elements shorter than this have no direction.
_SHORT = 1e-12


@numba.njit(cache=True)
def stretch(
    bodies: FloatArray,
    carriers: IntArray,
    levers: FloatArray,
    points: FloatArray,
    lengths: FloatArray,
    rates: FloatArray,
    along: FloatArray,
) -> None:
    """
    Write the ends of elements in ``odom``, their lengths, rates and directions from a to b.

    Parameters
    ----------
    bodies : (c, 13) array
        Position, quaternion x, y, z, w, velocity and rate of each inertial frame.
    carriers : (e, 2) int array
        Rows of bodies that carry the ends.
    levers : (e, 2, 3) array [m]
        Ends in those frames.
    points : (e, 2, 3) array
    lengths, rates : (e,) arrays
    along : (e, 3) array

    """
    speed = np.empty((2, 3))
    for i in range(len(lengths)):
        for end in range(2):
            body, r = bodies[carriers[i, end]], levers[i, end]
            x, y, z, w = body[3], body[4], body[5], body[6]
            # v + 2 w (q x v) + 2 q x (q x v) turns v by the quaternion (q, w).
            tx, ty, tz = (
                2.0 * (y * r[2] - z * r[1]),
                2.0 * (z * r[0] - x * r[2]),
                2.0 * (x * r[1] - y * r[0]),
            )
            ax = r[0] + w * tx + y * tz - z * ty
            ay = r[1] + w * ty + z * tx - x * tz
            az = r[2] + w * tz + x * ty - y * tx
            points[i, end] = body[0] + ax, body[1] + ay, body[2] + az
            speed[end, 0] = body[7] + body[11] * az - body[12] * ay
            speed[end, 1] = body[8] + body[12] * ax - body[10] * az
            speed[end, 2] = body[9] + body[10] * ay - body[11] * ax
        between = points[i, 1] - points[i, 0]
        length = math.sqrt((between * between).sum())
        lengths[i] = length
        along[i] = between / length if length > _SHORT else 0.0 * between
        rates[i] = (along[i] * (speed[1] - speed[0])).sum()
