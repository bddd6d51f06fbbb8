# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled angles, rates and torques of ball joints.

An engine gives a ball joint as a quaternion and an angular velocity in the axes of its child link.
In the axes of ``BallJoint.to_ball_axes`` its rotation is ``Rx(a) Ry(b) Rz(sign * c)``, with the
angles a, b and c of the three joints. At a right angle b (gimbal lock) a and c turn about the same
axis; c is then reported as 0. Within 3 degrees of gimbal lock the factor 1 / cos(b) of rates and
torques is bounded by ``1 / MIN_COSINE``: a damper along the angles would otherwise be too stiff
for any physics step.
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
"""Cosine of the second angle below which rates and torques are bounded: 3 degrees from lock."""
_LOCK_COSINE = 1e-7
"""Cosine of the second angle below which the third is reported as 0."""


@numba.njit(cache=True)
def _rotation_in_ball_axes(quaternion: FloatArray, to_ball_axes: FloatArray) -> Matrix:
    """Return the rotation of a quaternion x, y, z, w in the axes of a ball joint, by rows."""
    # A change of axes turns the vector part of a quaternion and keeps its scalar part.
    x, y, z = rotate_vector(to_ball_axes, quaternion[0], quaternion[1], quaternion[2])
    w = quaternion[3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        1.0 - s * (y * y + z * z),
        s * (x * y - z * w),
        s * (x * z + y * w),
        s * (x * y + z * w),
        1.0 - s * (x * x + z * z),
        s * (y * z - x * w),
        s * (x * z - y * w),
        s * (y * z + x * w),
        1.0 - s * (x * x + y * y),
    )


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
    Write the angles [rad] of b ball joints and their rates [rad/s].

    Parameters
    ----------
    quaternions : (b, 4) array
        x, y, z, w.
    angular_velocities : (b, 3) array [rad/s]
        In the axes of the child link.
    to_ball_axes, signs : (b, 9) and (b,) arrays
        Of ``BallJoint``, the matrix by rows.
    angles, rates : (b, 3) arrays

    """
    for i in range(len(signs)):
        m = _rotation_in_ball_axes(quaternions[i], to_ball_axes[i])
        # R = Rx(a) Ry(b) Rz(c'), c' = sign c, by rows:
        #   m0 = cos b cos c'   m1 = -cos b sin c'   m2 = sin b
        #   m5 = -sin a cos b   m8 = cos a cos b
        # so that cos b = hypot(m0, m1), a = atan2(-m5, m8) and c' = atan2(-m1, m0). In gimbal
        # lock a is atan2(m7, m4), with c' = 0.
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
        # From the child's axes to the parent's; then omega = a_dot ex + b_dot Rx(a) ey
        # + c'_dot R ez, with R ez = (m2, -sin a cos b, cos a cos b), is solved for the rates.
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
    efforts: FloatArray,
    torques: FloatArray,
) -> None:
    """
    Write the torques on the children of b ball joints that do the work of given efforts.

    Parameters
    ----------
    quaternions, to_ball_axes, signs, angles
        As of ``compute_ball_angles``.
    efforts : (b, 3) array [N m]
        Efforts along the three angles.
    torques : (b, 3) array [N m]
        In the axes of the child link; written.

    """
    for i in range(len(signs)):
        first, second, third = efforts[i]
        if first == 0.0 and second == 0.0 and third == 0.0:
            torques[i] = 0.0
            continue
        m = _rotation_in_ball_axes(quaternions[i], to_ball_axes[i])
        cosine = max(math.hypot(m[0], m[1]), MIN_COSINE)
        sa, ca = math.sin(angles[i, 0]), math.cos(angles[i, 0])
        # Virtual work: efforts = J^T tau, with J the axes of the three angles as above. Along ex
        # the torque is `first`, in the plane of ey and ez (turned by a) `second` and `across`.
        across = (signs[i] * third - m[2] * first) / cosine
        x, y, z = rotate_vector_back(
            m, first, ca * second - sa * across, sa * second + ca * across
        )
        torques[i, 0], torques[i, 1], torques[i, 2] = rotate_vector_back(to_ball_axes[i], x, y, z)


def ball_quaternion(ball: BallJoint, angles: Sequence[float] | FloatArray) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of a ball joint at its three angles [rad]."""
    sa, sb, sc = np.sin(angles) * (1.0, 1.0, ball.sign)
    ca, cb, cc = np.cos(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    about_y = np.array([[cb, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, cb]])
    about_z = np.array([[cc, -sc, 0.0], [sc, cc, 0.0], [0.0, 0.0, 1.0]])
    return quaternion_from_matrix(
        ball.to_ball_axes.T @ about_x @ about_y @ about_z @ ball.to_ball_axes
    )
