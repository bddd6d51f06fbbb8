"""A layer of threshold perceptrons with memory, and set points from accelerations, compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.perceptron.layout import Weights
from gait_cpg.perceptron.servos import ServoGeometry, ServoReadings, aim_servos, read_servos

NO_SPARE, ZERO, ONE, UPRIGHT = range(4)
"""Contents of the last channel: there is none, 0, 1, or the cosine of the tilt."""


class Layer(NamedTuple):
    """
    Weights, sizes and limits of a layer; none of them changes during a walk.

    ``weights`` (n, N_in + q), input weights first; ``bounds`` (2, q) [m] of the set points;
    ``channels`` and ``memory`` as of ``PerceptronLayout``; ``period`` [s] of control; ``gain``
    [1/s], acceleration by output; ``unit`` [m/s] in which outputs are remembered;
    ``acceleration`` [m/s^2] and ``speed`` [m/s], limits of the set points.
    """

    weights: Weights
    bounds: FloatArray
    channels: int
    memory: int
    period: float
    gain: float
    unit: float
    acceleration: float
    speed: float


class LayerState(NamedTuple):
    """
    Memory of a layer, advanced by each control period.

    ``signals`` (N_in,): channels and outputs, the newest first; ``answer`` (q,): the last
    outputs; ``places`` (q,) [m] and ``speeds`` (q,) [m/s] of the set points.
    """

    signals: Weights
    answer: Weights
    places: FloatArray
    speeds: FloatArray


class Sensing(NamedTuple):
    """
    Scaling of the channels of a layer.

    ``scales``: lengths [m] and forces [N] are divided by them; ``in_ground``: whether the
    commanded direction is one of the ground, to be turned into the robot's axes; ``spare``:
    contents of the last channel.
    """

    scales: tuple[float, float]
    in_ground: bool
    spare: int


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
        # Eq. 2.1: Rn_j = u(I . W_j) O_j with a strict step u; Eq. 2.2: y = sum_j Rn_j.
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
    # I(t) = [x(t); x(t-1) ... x(t-R); y(t-1) ... y(t-R)]: Bishop (2008), sections 2.2 and 2.3.
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
    limits: tuple[float, float],
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
    limits : float [m/s^2] and float [m/s]
        Of acceleration and speed.
    bounds : (2, q) array [m]
        A set point that reaches one stands still there.
    places, speeds : (q,) arrays [m, m/s]
        Advanced.

    References
    ----------
    Bishop (2008), section 4.8.

    """
    # s' <- clip(s' + clip(a) dt), then s <- s + s' dt.
    most, fastest = limits
    for i in range(len(places)):
        change = min(max(accelerations[i], -most), most) * dt
        speeds[i] = min(max(speeds[i] + change, -fastest), fastest)
        places[i] += speeds[i] * dt
        if places[i] < bounds[0, i] or places[i] > bounds[1, i]:
            places[i] = min(max(places[i], bounds[0, i]), bounds[1, i])
            speeds[i] = 0.0


@numba.njit(cache=True)
def think(layer: Layer, state: LayerState) -> int:
    """
    Answer the present channels, move the set points and remember both; return how many answered.

    The answer is left in the unit in which it is remembered.
    """
    answer = state.answer
    active: int = respond(state.signals, layer.weights, answer)
    accelerations = layer.gain * answer.astype(np.float64)
    limits = (layer.acceleration, layer.speed)
    move_set_points(accelerations, layer.period, limits, layer.bounds, state.places, state.speeds)
    unit = np.float32(layer.unit)
    for i in range(len(answer)):
        answer[i] /= unit
    remember(state.signals, answer, layer.channels, layer.memory)
    return active


@numba.njit(cache=True)
def _ground_axes(quaternion):  # type: ignore[no-untyped-def]
    """Return the root link's x and y axes along the ground's x and y, and its z along the up."""
    x, y, z, w = quaternion
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - scale * (y * y + z * z), scale * (x * y + z * w)),
        (scale * (x * y - z * w), 1.0 - scale * (x * x + z * z)),
        1.0 - scale * (x * x + y * y),
    )


@numba.njit(cache=True)
def _write_direction(sensing, velocity, quaternion, channels):  # type: ignore[no-untyped-def]
    """Write the commanded direction in the robot's x and y, or zeros, and the last channel."""
    x, y = velocity[0], velocity[1]
    size = math.hypot(x, y)
    if size > 0.0:
        x, y = x / size, y / size
    if sensing.in_ground:
        forward, left, _ = _ground_axes(quaternion)
        x, y = forward[0] * x + forward[1] * y, left[0] * x + left[1] * y
    channels[0], channels[1] = x, y
    if sensing.spare == UPRIGHT:
        channels[2] = _ground_axes(quaternion)[2]
    elif sensing.spare != NO_SPARE:
        channels[2] = 1.0 if sensing.spare == ONE else 0.0


@numba.njit(cache=True)
def drive_servos(
    layer: Layer,
    state: LayerState,
    sensing: Sensing,
    servos: ServoGeometry,
    readings: ServoReadings,
    heading: tuple[FloatArray, FloatArray],
) -> tuple[int, FloatArray]:
    """
    Run one control period of a layer on servos, from readings to targets.

    Parameters
    ----------
    layer, state, sensing, servos, readings
    heading : (3,) array and (4,) array
        Commanded velocity, and attitude of the root link; the latter is read only where the
        sensing asks for it.

    Returns
    -------
    int and (q,) array [rad or m]
        Number of active perceptrons, and target positions.

    """
    count = len(state.places)
    read_servos(servos, readings, sensing.scales, state.signals)
    _write_direction(sensing, heading[0], heading[1], state.signals[2 * count : layer.channels])
    active = think(layer, state)
    targets = np.empty(count)
    aim_servos(servos, state.places, targets)
    return active, targets
