"""
What Bullet says of bodies, as the suite reports it: frames of links, readings of an IMU.

Rows are of one state or of many that follow each other; both are the same to the last bit.
"""

from __future__ import annotations

import numba
import numpy as np

BODY = 13
"""Numbers of a body: position, quaternion x, y, z, w, velocity, rate."""


@numba.njit
def _matrix(x, y, z, w):  # type: ignore[no-untyped-def]
    """Return the rotation matrix of a quaternion, row by row, as Bullet works it out."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    xs, ys, zs = x * s, y * s, z * s
    wx, wy, wz = w * xs, w * ys, w * zs
    xx, xy, xz = x * xs, x * ys, x * zs
    yy, yz, zz = y * ys, y * zs, z * zs
    return (
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip


@numba.njit(cache=True)
def matrices(bodies, at):  # type: ignore[no-untyped-def]
    """Return the rotation matrices, (T, 3, 3), of bodies that begin in a column of rows."""
    result = np.empty((len(bodies), 3, 3))
    for t in range(len(bodies)):
        x, y, z, w = bodies[t, at + 3 : at + 7]
        flat = result[t].reshape(9)
        flat[0], flat[1], flat[2], flat[3], flat[4], flat[5], flat[6], flat[7], flat[8] = _matrix(
            x, y, z, w
        )
    return result


@numba.njit(cache=True)
def place(bodies, at, levers, mount, result, to):  # type: ignore[no-untyped-def]
    """
    Write frames that are fixed to bodies.

    Parameters
    ----------
    bodies : (T, .) array
        Each body from column ``at``.
    levers : (T, 3) array [m]
        From the bodies to the frames, in ``odom``.
    mount : (4,) or (0,) array
        Quaternion of the frames in the bodies; none where they are not turned.
    result : (T, .) array
        Each frame from column ``to``.

    """
    for t in range(len(bodies)):
        body, frame = bodies[t, at : at + BODY], result[t, to : to + BODY]
        lx, ly, lz = levers[t]
        wx, wy, wz = body[10], body[11], body[12]
        frame[0], frame[1], frame[2] = body[0] + lx, body[1] + ly, body[2] + lz
        x, y, z, w = body[3:7]
        if len(mount):
            a, b, c, d = mount
            frame[3] = w * a + x * d + y * c - z * b
            frame[4] = w * b + y * d + z * a - x * c
            frame[5] = w * c + z * d + x * b - y * a
            frame[6] = w * d - x * a - y * b - z * c
        else:
            frame[3], frame[4], frame[5], frame[6] = x, y, z, w
        frame[7] = body[7] + wy * lz - wz * ly
        frame[8] = body[8] + wz * lx - wx * lz
        frame[9] = body[9] + wx * ly - wy * lx
        frame[10], frame[11], frame[12] = wx, wy, wz


@numba.njit(cache=True)
def feel(frames, at, gravity, period, before, result, to):  # type: ignore[no-untyped-def]
    """
    Write what IMUs on frames read: attitude, rate, specific force.

    Parameters
    ----------
    frames : (T, .) array
        Each frame from column ``at``.
    gravity : (3,) array [m/s^2]
    period : float [s]
    before : (4,) array [m/s]
        Velocity at the last reading, and 1; or 0 if this is the first. Replaced.
    result : (T, .) array
        Each reading from column ``to``.

    """
    for t in range(len(frames)):
        frame, felt = frames[t, at : at + BODY], result[t, to : to + 10]
        x, y, z, w = frame[3:7]
        # Rows of the matrix: what a vector of the link is in the world, so columns lead back.
        a, b, c, d, e, f, g, h, i = _matrix(x, y, z, w)
        felt[0], felt[1], felt[2], felt[3] = x, y, z, w
        u, v, w = frame[10:]
        felt[4] = a * u + d * v + g * w
        felt[5] = b * u + e * v + h * w
        felt[6] = c * u + f * v + i * w
        if before[3] == 0.0:
            before[:3], before[3] = frame[7:10], 1.0
        x = (frame[7] - before[0]) / period - gravity[0]
        y = (frame[8] - before[1]) / period - gravity[1]
        z = (frame[9] - before[2]) / period - gravity[2]
        before[:3] = frame[7:10]
        felt[7] = a * x + d * y + g * z
        felt[8] = b * x + e * y + h * z
        felt[9] = c * x + f * y + i * z
