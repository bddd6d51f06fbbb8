"""Compiled forward kinematics of a leg, and the work arrays of the search for its positions."""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray

# Handing over arrays costs such functions more than what they do.
inline_njit = njit(cache=True, forceinline=True)


class Chain(NamedTuple):
    """
    A leg as a chain of E moving elements driven by m joints.

    Element positions are ``gain @ joint positions + bias``, so that coupled joints (mimic) fit
    in. Several legs of the same E and m are one chain whose arrays have a leading axis.

    Attributes
    ----------
    gain, bias : (E, m), (E,) arrays
    turn, offset : (E + 1, 3, 3), (E + 1, 3) arrays
        Frame of each element in the one before, at position zero; the last is that of the sole
        link, at the sole point.
    axis : (E, 3) array
        Axes of the joints in their elements' frames.
    sliding : (E,) array
        Whether an element slides along its axis; it turns about it if not.
    lower, upper : (m,) arrays [rad or m]
        Limits of the joints.

    """

    gain: FloatArray
    bias: FloatArray
    turn: FloatArray
    offset: FloatArray
    axis: FloatArray
    sliding: BoolArray
    lower: FloatArray
    upper: FloatArray


class WorkArrays(NamedTuple):
    """Arrays in which a search computes, made once: making them costs more than filling them."""

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
    """Return the work arrays for a chain of some elements and m joints."""
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
    turn, offset, axis, sliding = chain.turn, chain.offset, chain.axis, chain.sliding
    count = len(travel)
    for i in range(3):
        point[i] = 0.0
        for j in range(3):
            rotation[i, j] = 1.0 if i == j else 0.0
    for e in range(count + 1):
        last = e == count
        s, c = (0.0, 1.0) if last or sliding[e] else (math.sin(travel[e]), math.cos(travel[e]))
        for i in range(3):
            # A row of the rotation is a vector of the base in the moving frame.
            x, y, z = rotation[i, 0], rotation[i, 1], rotation[i, 2]
            point[i] += x * offset[e, 0] + y * offset[e, 1] + z * offset[e, 2]
            u = x * turn[e, 0, 0] + y * turn[e, 1, 0] + z * turn[e, 2, 0]
            v = x * turn[e, 0, 1] + y * turn[e, 1, 1] + z * turn[e, 2, 1]
            w = x * turn[e, 0, 2] + y * turn[e, 1, 2] + z * turn[e, 2, 2]
            if not last:
                a, b, d = axis[e, 0], axis[e, 1], axis[e, 2]
                along = a * u + b * v + d * w
                axes[e, i], origins[e, i] = along, point[i]
                if sliding[e]:
                    point[i] += along * travel[e]
                else:
                    # Rodrigues, backwards: the frame turns under the vector.
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

    The matrix product is written out: BLAS costs more than so small a sum.
    """
    for e in range(len(chain.bias)):
        travel = chain.bias[e]
        for i in range(len(positions)):
            travel += chain.gain[e, i] * positions[i]
        work.element_positions[e] = travel
    forward_from_elements(chain, work)
