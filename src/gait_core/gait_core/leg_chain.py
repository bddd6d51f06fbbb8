"""
Compiled forward kinematics of one chain, and the room in which searches for its positions compute.

Arrays of a chain of E moving elements driven by m joints; ``gain`` and ``bias`` give element
positions, so that coupled joints (mimic) fit in:

- ``gain`` (E, m), ``bias`` (E,);
- ``turn`` (E + 1, 3, 3), ``offset`` (E + 1, 3): frame of each element in the one before at
  position zero; the last is the sole link's frame, or rather the sole point's;
- ``axis`` (E, 3), ``sliding`` (E,): joint axis in the element's frame, and whether it slides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray

# Handing over arrays costs such functions more than what they do.
small = njit(cache=True, forceinline=True)


class Chain(NamedTuple):
    """Arrays of a chain, see the module."""

    gain: FloatArray
    bias: FloatArray
    turn: FloatArray
    offset: FloatArray
    axis: FloatArray
    sliding: BoolArray


class Room(NamedTuple):
    """Where a search computes: made once, as making arrays costs more than filling them."""

    travel: FloatArray
    axes: FloatArray
    origins: FloatArray
    rotation: FloatArray
    point: FloatArray
    rates: FloatArray
    by_element: FloatArray
    elements: FloatArray
    gradient: FloatArray
    hessian: FloatArray
    packed: FloatArray
    step: FloatArray
    there: FloatArray
    free: BoolArray


@njit(cache=True)
def make_room(count: int, m: int) -> Room:
    """Return the room for a chain of so many elements and joints."""
    return Room(
        np.empty(count), np.empty((count, 3)), np.empty((count, 3)), np.empty((3, 3)), np.empty(3),
        np.empty((count, 3)), np.empty(count), np.empty((count, count)), np.empty(m),
        np.empty((m, m)), np.empty((m, m)), np.empty(m), np.empty(m), np.empty(m, dtype=np.bool_),
    )  # fmt: skip


@small
def chain_forward(  # type: ignore[no-untyped-def]
    travel, turn, offset, axis, sliding, axes, origins, rotation, point
):
    """
    Write the sole's pose, and each element's axis and origin, in the base frame.

    Parameters
    ----------
    travel : (E,) array [rad or m]
        Element positions.
    turn, offset, axis, sliding
        The chain.
    axes, origins : (E, 3) arrays
        Written.
    rotation, point : (3, 3), (3,) arrays
        Written: orientation of the sole link and place of the sole point.

    """
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


@small
def place(chain: Chain, positions: FloatArray, room: Room) -> None:
    """Write the pose at joint positions; written out, as BLAS costs more than so small sums."""
    for e in range(len(chain.bias)):
        travel = chain.bias[e]
        for i in range(len(positions)):
            travel += chain.gain[e, i] * positions[i]
        room.travel[e] = travel
    chain_forward(
        room.travel, chain.turn, chain.offset, chain.axis, chain.sliding,
        room.axes, room.origins, room.rotation, room.point,
    )  # fmt: skip
