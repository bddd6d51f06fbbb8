# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Rotations in double precision, with quaternions in the order x, y, z, w.

PyBullet's own functions round to single precision, which would be visible in every pose. The
compiled functions take and return a vector as three numbers: in a physics step the allocation of
an array would cost more than the rotation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
from transforms3d.quaternions import mat2quat, qconjugate, quat2mat

from gait_core.arrays import FloatArray

Vector = Sequence[float] | FloatArray
Matrix = tuple[float, float, float, float, float, float, float, float, float]
"""Rotation matrix by rows."""


def matrix_from_quaternion(quaternion: Vector) -> FloatArray:
    """Return the (3, 3) rotation matrix of a quaternion x, y, z, w."""
    x, y, z, w = quaternion
    matrix: FloatArray = quat2mat((w, x, y, z))
    return matrix


def quaternion_from_matrix(matrix: FloatArray) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of a (3, 3) rotation matrix."""
    w, x, y, z = mat2quat(matrix)
    return np.array([x, y, z, w])


def multiply_quaternions(first: Vector, second: Vector) -> FloatArray:
    """Return the product of two quaternions x, y, z, w, (4,): the second rotation acts first."""
    x, y, z, w = first
    a, b, c, d = second
    return np.array(
        [
            w * a + x * d + y * c - z * b,
            w * b + y * d + z * a - x * c,
            w * c + z * d + x * b - y * a,
            w * d - x * a - y * b - z * c,
        ]
    )


def invert_quaternion(quaternion: Vector) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of the inverse rotation."""
    x, y, z, w = quaternion
    w, x, y, z = qconjugate((w, x, y, z))
    return np.array([x, y, z, w])


@numba.njit(cache=True)
def rotate_vector(
    m: FloatArray | Matrix, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return a vector multiplied by a matrix, nine numbers by rows."""
    return (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
    )


@numba.njit(cache=True)
def rotate_vector_back(
    m: FloatArray | Matrix, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return a vector multiplied by the transpose, hence inverse, of a rotation matrix."""
    return (
        m[0] * x + m[3] * y + m[6] * z,
        m[1] * x + m[4] * y + m[7] * z,
        m[2] * x + m[5] * y + m[8] * z,
    )
