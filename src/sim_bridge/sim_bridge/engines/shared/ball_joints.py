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
from sim_bridge.engines.shared.merged_joints import BallJoint
from sim_bridge.engines.shared.rotations import (
    Matrix,
    quaternion_from_matrix,
    rotate_vector,
    rotate_vector_back,
)

MIN_COSINE = 0.05
"""Cosine of the second angle, 3 degrees from lock, below which rates and torques are bounded."""
_LOCK_COSINE = 1e-7


@numba.njit(cache=True)
def _rotation_in_ball_axes(quaternion: FloatArray, to_ball_axes: FloatArray) -> Matrix:
    """Return the rotation of a quaternion x, y, z, w in the axes of a ball joint, by rows."""
    x, y, z = rotate_vector(to_ball_axes, quaternion[0], quaternion[1], quaternion[2])
    w = quaternion[3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),
        s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w),
        s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y),
    )  # fmt: skip


@numba.njit(cache=True)
def compute_ball_angles(
    quaternions: FloatArray,
    angular_velocities: FloatArray,
    to_ball_axes: FloatArray,
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
    turns, signs : (b, 9) and (b,) arrays
        Of ``Ball``, by rows.
    angles, rates : (b, 3) arrays

    """
    for i in range(len(signs)):
        m = _rotation_in_ball_axes(quaternions[i], to_ball_axes[i])
        cosine = math.hypot(m[0], m[1])
        if cosine > _LOCK_COSINE:
            a, c = math.atan2(-m[5], m[8]), math.atan2(-m[1], m[0])
        else:
            a, c = math.atan2(m[7], m[4]), 0.0
        angles[i, 0], angles[i, 1] = a, math.atan2(m[2], cosine)
        angles[i, 2] = signs[i] * c
        x, y, z = rotate_vector(
            to_ball_axes[i],
            angular_velocities[i, 0],
            angular_velocities[i, 1],
            angular_velocities[i, 2],
        )
        x, y, z = rotate_vector(m, x, y, z)
        sa, ca = math.sin(a), math.cos(a)
        last = (ca * z - sa * y) / max(cosine, MIN_COSINE)
        rates[i, 0] = x - m[2] * last
        rates[i, 1] = ca * y + sa * z
        rates[i, 2] = signs[i] * last


@numba.njit(cache=True)
def compute_ball_torques(
    quaternions: FloatArray,
    to_ball_axes: FloatArray,
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
    for i in range(len(signs)):
        first, second, third = forces[i]
        if first == 0.0 and second == 0.0 and third == 0.0:
            torques[i] = 0.0
            continue
        m = _rotation_in_ball_axes(quaternions[i], to_ball_axes[i])
        cosine = max(math.hypot(m[0], m[1]), MIN_COSINE)
        sa, ca = math.sin(angles[i, 0]), math.cos(angles[i, 0])
        across = (signs[i] * third - m[2] * first) / cosine
        x, y, z = rotate_vector_back(
            m, first, ca * second - sa * across, sa * second + ca * across
        )
        torques[i, 0], torques[i, 1], torques[i, 2] = rotate_vector_back(to_ball_axes[i], x, y, z)


def ball_quaternion(ball: BallJoint, angles: Sequence[float] | FloatArray) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of a ball joint at three angles [rad]."""
    sa, sb, sc = np.sin(angles) * (1.0, 1.0, ball.sign)
    ca, cb, cc = np.cos(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    about_y = np.array([[cb, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, cb]])
    about_z = np.array([[cc, -sc, 0.0], [sc, cc, 0.0], [0.0, 0.0, 1.0]])
    return quaternion_from_matrix(
        ball.to_ball_axes.T @ about_x @ about_y @ about_z @ ball.to_ball_axes
    )
