"""A layer of threshold perceptrons with memory, and set points from accelerations, compiled."""

from __future__ import annotations

import math
from typing import Any

import numba
from numba import carray
import numpy as np

from gait_core.addresses import ANY, numbers_at, pointer
from gait_core.arrays import FloatArray
from gait_core.compiled_step import STEP_SIGNATURE
from gait_core.perceptrons import Weights
from gait_cpg.perceptron_servos import aim_servos, read_servos

MEMORY = np.dtype(
    [
        *(
            (name, 'i8')
            for name in (
                *('signals', 'weights', 'answer', 'places', 'speeds', 'bounds'),
                *('elements', 'at_rest', 'joints', 'cranks', 'carriages_at_rest'),
                *('element_lengths', 'element_forces', 'joint_positions', 'joint_efforts'),
                *('body_poses', 'perceptrons', 'memory', 'channels', 'servos', 'cranked'),
                *('turned', 'spare', 'active'),
            )
        ),
        *(
            (name, 'f8')
            for name in (
                *('length_scale', 'force_scale', 'dt', 'gain', 'unit', 'acceleration', 'speed'),
            )
        ),
    ]
)
"""
What ``step`` is given: addresses of arrays of the controller and of its servos; where the fields
of an observation begin in the readings; counts, of which ``cranked`` is that of the slider-cranks;
whether the direction is ``turned`` from that of the ground, what the last channel carries, how
many perceptrons were active; then scales, and timing and limits of ``think``.
"""
NO_SPARE, ZERO, ONE, UPRIGHT = range(4)
"""What a last channel carries."""
_LIKE = np.zeros(0, dtype=MEMORY)


# Sums may be taken in another order, which makes them vectors: a seventh of the time.
@numba.njit(cache=True, fastmath={'reassoc', 'nsz'})
def _dot(one: Weights, other: Weights) -> float:
    total = np.float32(0.0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return float(total)


@numba.njit(cache=True)
def respond(signals: Weights, weights: Weights, answer: Weights) -> int:
    """
    Write the summed outputs of the perceptrons that the signals excite; return how many they are.

    Parameters
    ----------
    signals : (N_in,) float32 array
    weights : (n, N_in + q) float32 array
        Input weights first.
    answer : (q,) float32 array
        Written. A perceptron whose weighted sum is exactly zero adds nothing.

    References
    ----------
    Bishop (2008), Eqs. 2.1 and 2.2.

    """
    inputs, active = len(signals), 0
    answer[:] = np.float32(0.0)
    for j in range(len(weights)):
        if _dot(signals, weights[j, :inputs]) > 0.0:
            active += 1
            for k in range(len(answer)):
                answer[k] += weights[j, inputs + k]
    return active


@numba.njit(cache=True)
def remember(signals: Weights, answer: Weights, channels: int, memory: int) -> None:
    """
    Push the present channels and an answer on the two histories; the oldest of each are lost.

    Parameters
    ----------
    signals : (N_in,) float32 array
        As of ``PerceptronLayout``; the present channels stay.
    answer : (q,) float32 array
    channels, memory : int

    """
    past, outputs = channels * (memory + 1), len(answer)
    for i in range(past - 1, channels - 1, -1):
        signals[i] = signals[i - channels]
    for i in range(len(signals) - 1, past + outputs - 1, -1):
        signals[i] = signals[i - outputs]
    if memory:
        signals[past : past + outputs] = answer


@numba.njit(cache=True)
def move_set_points(
    accelerations: FloatArray,
    dt: float,
    most: float,
    fastest: float,
    bounds: FloatArray,
    places: FloatArray,
    speeds: FloatArray,
) -> None:
    """
    Integrate accelerations twice, within limits, to set points.

    Parameters
    ----------
    accelerations : (q,) array [m/s^2]
    dt : float [s]
    most : float [m/s^2]
    fastest : float [m/s]
    bounds : (2, q) array [m]
        A set point that reaches one stands still there.
    places, speeds : (q,) arrays [m, m/s]
        Advanced.

    References
    ----------
    Bishop (2008), section 4.8.

    """
    for i in range(len(places)):
        change = min(max(accelerations[i], -most), most) * dt
        speeds[i] = min(max(speeds[i] + change, -fastest), fastest)
        places[i] += speeds[i] * dt
        if places[i] < bounds[0, i] or places[i] > bounds[1, i]:
            places[i] = min(max(places[i], bounds[0, i]), bounds[1, i])
            speeds[i] = 0.0


@numba.njit(cache=True)
def think(
    signals: Weights,
    weights: Weights,
    answer: Weights,
    shape: tuple[int, int],
    timing: tuple[float, float, float],
    limits: tuple[float, float],
    bounds: FloatArray,
    places: FloatArray,
    speeds: FloatArray,
) -> int:
    """
    Answer the present channels, move the set points and remember both; return how many answered.

    Parameters
    ----------
    signals, weights, answer
        As of ``respond``; the answer is left in the unit in which it is remembered.
    shape : (int, int)
        ``channels`` and ``memory``, as of ``remember``.
    timing : (float, float, float)
        Control period [s], acceleration by output [1/s], and unit of remembered outputs [m/s].
    limits : (float, float)
        Of acceleration and speed, as of ``move_set_points``.
    bounds, places, speeds
        As of ``move_set_points``.

    """
    active: int = respond(signals, weights, answer)
    accelerations = timing[1] * answer.astype(np.float64)
    move_set_points(accelerations, timing[0], limits[0], limits[1], bounds, places, speeds)
    unit = np.float32(timing[2])
    for i in range(len(answer)):
        answer[i] /= unit
    remember(signals, answer, shape[0], shape[1])
    return active


@numba.njit
def _axes(quaternion):  # type: ignore[no-untyped-def]
    """Return the root link's x and y axes along the ground's x and y, and its z along the up."""
    x, y, z, w = quaternion
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - scale * (y * y + z * z), scale * (x * y + z * w)),
        (scale * (x * y - z * w), 1.0 - scale * (x * x + z * z)),
        1.0 - scale * (x * x + y * y),
    )


@numba.njit
def _direct(own, command, quaternion, channels):  # type: ignore[no-untyped-def]
    """Write the commanded direction in the robot's x and y, or zeros, and the last channel."""
    x, y = command[0], command[1]
    size = math.hypot(x, y)
    if size > 0.0:
        x, y = x / size, y / size
    if own.turned:
        forward, left, _ = _axes(quaternion)
        x, y = forward[0] * x + forward[1] * y, left[0] * x + left[1] * y
    channels[0], channels[1] = x, y
    if own.spare == UPRIGHT:
        channels[2] = _axes(quaternion)[2]
    elif own.spare != NO_SPARE:
        channels[2] = 1.0 if own.spare == ONE else 0.0


@numba.njit
def _singles(address, shape):  # type: ignore[no-untyped-def]
    return carray(pointer(address), shape, np.float32)


@numba.njit
def _indices(address, count):  # type: ignore[no-untyped-def]
    return carray(pointer(address), count, np.int64)


@numba.njit
def _step(own, readings, command, targets):  # type: ignore[no-untyped-def]
    q, cranked = own.servos, own.cranked
    signals = _singles(own.signals, own.channels * (own.memory + 1) + q * own.memory)
    at_rest = numbers_at(own.at_rest, q - cranked)
    cranks = numbers_at(own.cranks, 2 * cranked).reshape((cranked, 2))
    carriages = numbers_at(own.carriages_at_rest, cranked)
    scales = (own.length_scale, own.force_scale)
    read_servos(
        readings[own.element_lengths :], readings[own.element_forces :],
        readings[own.joint_positions :], readings[own.joint_efforts :],
        _indices(own.elements, q - cranked), at_rest, _indices(own.joints, cranked), cranks,
        carriages, scales, signals,
    )  # fmt: skip
    quaternion = readings[own.body_poses + 3 : own.body_poses + 7]
    _direct(own, command, quaternion, signals[2 * q : own.channels])
    places = numbers_at(own.places, q)
    own.active = think(
        signals, _singles(own.weights, (own.perceptrons, len(signals) + q)),
        _singles(own.answer, q), (own.channels, own.memory), (own.dt, own.gain, own.unit),
        (own.acceleration, own.speed), numbers_at(own.bounds, 2 * q).reshape((2, q)), places,
        numbers_at(own.speeds, q),
    )  # fmt: skip
    aim_servos(places, at_rest, cranks, carriages, targets)


@numba.cfunc(STEP_SIGNATURE, cache=True)
def _native_step(readings, command, memory, targets):  # type: ignore[no-untyped-def]
    own = carray(memory, 1, _LIKE.dtype)[0]
    _step(own, carray(readings, ANY), carray(command, 3), carray(targets, ANY))


NATIVE_STEP: Any = _native_step
"""A control period of the controller, with a ``MEMORY``; compiled with this module."""
