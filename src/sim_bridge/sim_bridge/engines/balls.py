"""
Three angles of a ball joint, their rates, and the torque of forces along them, compiled.

An engine gives a ball joint as a quaternion and a rate in the axes of the link behind it. In the
axes of ``Ball.turn`` the rotation is ``Rx(a) Ry(b) Rz(sign * c)`` with the angles a, b and c of
the three joints. Where b is at a right angle (gimbal lock) a and c turn about one axis: c is then
reported as 0. Within 3 degrees of that the division by cos(b) in rates and torques is bounded by
``1 / NEAR``: a damper along the angles would be stiffer there than any physics step can bear.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numba
import numpy as np

from gait_core.arrays import FloatArray
from sim_bridge.engines.fused import Ball
from sim_bridge.engines.rigid import quaternion_of

NEAR = 0.05
"""Cosine of the second angle, 3 degrees from lock, below which rates and torques are bounded."""
_LOCKED = 1e-7


@numba.njit(cache=True)
def _rotation(quaternion: FloatArray, turn: FloatArray) -> FloatArray:
    """Return the rotation of a quaternion x, y, z, w in the axes of a ball joint."""
    x, y, z, w = quaternion
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    matrix = np.empty((3, 3))
    matrix[0] = 1.0 - scale * (y * y + z * z), scale * (x * y - z * w), scale * (x * z + y * w)
    matrix[1] = scale * (x * y + z * w), 1.0 - scale * (x * x + z * z), scale * (y * z - x * w)
    matrix[2] = scale * (x * z - y * w), scale * (y * z + x * w), 1.0 - scale * (x * x + y * y)
    return np.asarray(turn @ matrix @ turn.T)


@numba.njit(cache=True)
def ball_states(
    quaternions: FloatArray,
    spins: FloatArray,
    turns: FloatArray,
    signs: FloatArray,
    angles: FloatArray,
    rates: FloatArray,
) -> None:
    """
    Write angles [rad] and rates [rad/s] of ball joints.

    Parameters
    ----------
    quaternions : (b, 4) array
        x, y, z, w.
    spins : (b, 3) array [rad/s]
        In the axes of the link behind the joint.
    turns, signs : (b, 3, 3) and (b,) arrays
        Of ``Ball``.
    angles, rates : (b, 3) arrays

    """
    for i in range(len(signs)):
        m = _rotation(quaternions[i], turns[i])
        cosine = math.hypot(m[0, 0], m[0, 1])
        if cosine > _LOCKED:
            a, c = math.atan2(-m[1, 2], m[2, 2]), math.atan2(-m[0, 1], m[0, 0])
        else:
            a, c = math.atan2(m[2, 1], m[1, 1]), 0.0
        angles[i, 0], angles[i, 1] = a, math.atan2(m[0, 2], cosine)
        angles[i, 2] = signs[i] * c
        spin = m @ (turns[i] @ spins[i])
        last = (math.cos(a) * spin[2] - math.sin(a) * spin[1]) / max(cosine, NEAR)
        rates[i, 0] = spin[0] - m[0, 2] * last
        rates[i, 1] = math.cos(a) * spin[1] + math.sin(a) * spin[2]
        rates[i, 2] = signs[i] * last


@numba.njit(cache=True)
def ball_torques(
    quaternions: FloatArray,
    turns: FloatArray,
    signs: FloatArray,
    angles: FloatArray,
    forces: FloatArray,
    torques: FloatArray,
) -> None:
    """
    Write the torque on the link behind each ball joint that does the work of forces along angles.

    Parameters
    ----------
    quaternions, turns, signs, angles
        As of ``ball_states``.
    forces : (b, 3) array [N m]
        Along the three angles.
    torques : (b, 3) array [N m]
        In the axes of the link behind the joint.

    """
    torque = np.empty(3)
    for i in range(len(signs)):
        m = _rotation(quaternions[i], turns[i])
        cosine = max(math.hypot(m[0, 0], m[0, 1]), NEAR)
        sa, ca = math.sin(angles[i, 0]), math.cos(angles[i, 0])
        across = (signs[i] * forces[i, 2] - m[0, 2] * forces[i, 0]) / cosine
        torque[0] = forces[i, 0]
        torque[1] = ca * forces[i, 1] - sa * across
        torque[2] = sa * forces[i, 1] + ca * across
        torques[i] = turns[i].T @ (m.T @ torque)


def ball_quaternion(ball: Ball, angles: Sequence[float] | FloatArray) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of a ball joint at three angles [rad]."""
    sa, sb, sc = np.sin(angles) * (1.0, 1.0, ball.sign)
    ca, cb, cc = np.cos(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    about_y = np.array([[cb, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, cb]])
    about_z = np.array([[cc, -sc, 0.0], [sc, cc, 0.0], [0.0, 0.0, 1.0]])
    return quaternion_of(ball.turn.T @ about_x @ about_y @ about_z @ ball.turn)
