# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled forward kinematics of a leg, and the work arrays of its inverse kinematics."""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray

# Small functions are inlined: passing arrays to them costs more than their body.
inline_njit = njit(cache=True, forceinline=True)


class Chain(NamedTuple):
    """
    A leg as a chain of E moving elements driven by m joints.

    An element is a moving joint on the path from the root to the sole. Element positions are
    ``gain @ joint positions + bias``, which includes mimic joints. Legs of the same E and m are
    stacked into one chain whose arrays have a leading axis.

    Attributes
    ----------
    gain, bias : (E, m), (E,) arrays
    rotation, offset : (E + 1, 3, 3), (E + 1, 3) arrays
        Frame of each element in the previous one, at position zero. The last row is the frame
        of the sole link, moved to the sole point.
    axis : (E, 3) array
        Joint axis of each element in its own frame.
    sliding : (E,) bool array
        True for a prismatic element, false for a revolute one.
    lower, upper : (m,) arrays [rad or m]
        Limits of the joints.

    """

    gain: FloatArray
    bias: FloatArray
    rotation: FloatArray
    offset: FloatArray
    axis: FloatArray
    sliding: BoolArray
    lower: FloatArray
    upper: FloatArray


class WorkArrays(NamedTuple):
    """
    Work arrays of a search, allocated once per call: allocation costs more than filling them.

    Attributes
    ----------
    element_positions : (E,) array [rad or m]
    axes, origins : (E, 3) arrays
        Axis and origin of each element in the base frame.
    rotation, point : (3, 3), (3,) arrays
        Rotation of the sole link and position of the sole point in the base frame.
    rates : (E, 3) array
        Derivative of a vector by each element position.
    element_gradient, element_hessian : (E,), (E, E) arrays
        Derivatives of the cost by element positions.
    gradient, hessian : (m,), (m, m) arrays
        Derivatives of the cost by joint positions.
    cholesky : (m, m) array
        Lower Cholesky factor of the damped Hessian.
    step, candidate : (m,) arrays
        Newton step and the joint positions that it leads to.
    is_free : (m,) bool array
        Whether a joint may move: no limit holds it.

    """

    element_positions: FloatArray
    axes: FloatArray
    origins: FloatArray
    rotation: FloatArray
    point: FloatArray
    rates: FloatArray
    element_gradient: FloatArray
    element_hessian: FloatArray
    gradient: FloatArray
    hessian: FloatArray
    cholesky: FloatArray
    step: FloatArray
    candidate: FloatArray
    is_free: BoolArray


@njit(cache=True)
def make_work_arrays(count: int, m: int) -> WorkArrays:
    """Return the work arrays for a chain of ``count`` elements and m joints."""
    by_element, by_joint = (count, 3), (m, m)
    return WorkArrays(
        np.empty(count),
        np.empty(by_element),
        np.empty(by_element),
        np.empty((3, 3)),
        np.empty(3),
        np.empty(by_element),
        np.empty(count),
        np.empty((count, count)),
        np.empty(m),
        np.empty(by_joint),
        np.empty(by_joint),
        np.empty(m),
        np.empty(m),
        np.empty(m, dtype=np.bool_),
    )


@inline_njit
def forward_from_elements(chain: Chain, work: WorkArrays) -> None:
    """
    Write the sole's pose, and each element's axis and origin, in the base frame.

    Reads ``work.element_positions``; writes ``axes``, ``origins``, the sole's ``rotation`` and
    the sole ``point``.
    """
    travel, axes, origins = work.element_positions, work.axes, work.origins
    rotation, point = work.rotation, work.point
    fixed, offset, axis, sliding = chain.rotation, chain.offset, chain.axis, chain.sliding
    count = len(travel)
    for i in range(3):
        point[i] = 0.0
        for j in range(3):
            rotation[i, j] = 1.0 if i == j else 0.0
    for e in range(count + 1):
        is_last = e == count
        s, c = (0.0, 1.0) if is_last or sliding[e] else (math.sin(travel[e]), math.cos(travel[e]))
        for i in range(3):
            # Row i of the rotation is the base's axis i, expressed in the moving frame: each row
            # is updated by itself, without a matrix product.
            x, y, z = rotation[i, 0], rotation[i, 1], rotation[i, 2]
            point[i] += x * offset[e, 0] + y * offset[e, 1] + z * offset[e, 2]
            u = x * fixed[e, 0, 0] + y * fixed[e, 1, 0] + z * fixed[e, 2, 0]
            v = x * fixed[e, 0, 1] + y * fixed[e, 1, 1] + z * fixed[e, 2, 1]
            w = x * fixed[e, 0, 2] + y * fixed[e, 1, 2] + z * fixed[e, 2, 2]
            if not is_last:
                a, b, d = axis[e, 0], axis[e, 1], axis[e, 2]
                along = a * u + b * v + d * w
                axes[e, i], origins[e, i] = along, point[i]
                if sliding[e]:
                    point[i] += along * travel[e]
                else:
                    # Rodrigues' formula with the angle reversed: the frame turns, the row stays.
                    rest = (1.0 - c) * along
                    u, v, w = (
                        c * u + s * (d * v - b * w) + rest * a,
                        c * v + s * (a * w - d * u) + rest * b,
                        c * w + s * (b * u - a * v) + rest * d,
                    )
            rotation[i, 0], rotation[i, 1], rotation[i, 2] = u, v, w


@inline_njit
def compute_pose(chain: Chain, positions: FloatArray, work: WorkArrays) -> None:
    """
    Write the pose of a chain at joint positions (m,).

    The product with the gains is written out: for so few terms a call of BLAS costs more.
    """
    for e in range(len(chain.bias)):
        travel = chain.bias[e]
        for i in range(len(positions)):
            travel += chain.gain[e, i] * positions[i]
        work.element_positions[e] = travel
    forward_from_elements(chain, work)
