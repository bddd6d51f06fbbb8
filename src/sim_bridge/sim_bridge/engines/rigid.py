"""
Poses in double precision, in the order of components that the suite uses.

PyBullet's own helpers round to single precision, which would show in every pose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from transforms3d.quaternions import mat2quat, qconjugate, qmult, quat2mat

from gait_core.arrays import FloatArray

Vector = Sequence[float] | FloatArray


def matrix_of(quaternion: Vector) -> FloatArray:
    """Return the (3, 3) rotation matrix of a quaternion x, y, z, w."""
    x, y, z, w = quaternion
    matrix: FloatArray = quat2mat((w, x, y, z))
    return matrix


def quaternion_of(matrix: FloatArray) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of a (3, 3) rotation matrix."""
    return np.roll(mat2quat(matrix), -1)


def product(first: Vector, second: Vector) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of the second rotation seen from the first."""
    (x, y, z, w), (a, b, c, d) = first, second
    return np.roll(qmult((w, x, y, z), (d, a, b, c)), -1)


def inverse(quaternion: Vector) -> FloatArray:
    """Return the quaternion x, y, z, w, (4,), of the opposite rotation."""
    x, y, z, w = quaternion
    return np.roll(qconjugate((w, x, y, z)), -1)


def velocity_at(lever: FloatArray, linear: Vector, angular: Vector) -> FloatArray:
    """Return a rigid body's velocity, (3,), at the end of a lever from a point of known one."""
    x, y, z = lever
    wx, wy, wz = angular
    return np.array(
        [linear[0] + wy * z - wz * y, linear[1] + wz * x - wx * z, linear[2] + wx * y - wy * x]
    )
