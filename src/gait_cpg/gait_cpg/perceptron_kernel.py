"""A layer of threshold perceptrons with memory, and set points from accelerations, compiled."""

from __future__ import annotations

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.perceptrons import Weights


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
