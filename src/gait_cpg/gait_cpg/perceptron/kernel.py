"""A layer of threshold perceptrons with memory, and set points from accelerations, compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.perceptron.layout import Weights
from gait_cpg.perceptron.servos import (
    ServoGeometry,
    ServoReadings,
    write_servo_channels,
    write_servo_targets,
)

NO_SPARE_CHANNEL, SPARE_ZERO, SPARE_ONE, SPARE_UPRIGHT = range(4)
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

    ``signals`` (N_in,): channels and outputs, the newest first; ``outputs`` (q,): the last
    outputs; ``positions`` (q,) [m] and ``speeds`` (q,) [m/s] of the set points.
    """

    signals: Weights
    outputs: Weights
    positions: FloatArray
    speeds: FloatArray


class ChannelOptions(NamedTuple):
    """
    Scaling of the channels of a layer.

    ``scales``: lengths [m] and forces [N] are divided by them; ``in_ground``: whether the
    commanded direction is one of the ground, to be turned into the robot's axes; ``spare``:
    contents of the last channel.
    """

    scales: tuple[float, float]
    in_ground_frame: bool
    spare: int


# Sums may be taken in another order, which makes them vectors: a seventh of the time.
@numba.njit(cache=True, fastmath={'reassoc', 'nsz'})
def _dot(one: Weights, other: Weights) -> float:
    total = np.float32(0.0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return float(total)


@numba.njit(cache=True)
def sum_active_outputs(signals: Weights, weights: Weights, outputs: Weights) -> int:
    """
    Write the summed outputs of the perceptrons that the signals excite; return how many they are.

    Parameters
    ----------
    signals : (N_in,) float32 array
    weights : (n, N_in + q) float32 array
        Input weights first.
    outputs : (q,) float32 array
        Written. A perceptron whose weighted sum is exactly zero adds nothing.

    References
    ----------
    Bishop (2008), Eqs. 2.1 and 2.2.

    """
    inputs, active = len(signals), 0
    outputs[:] = np.float32(0.0)
    for j in range(len(weights)):
        # Eq. 2.1: Rn_j = u(I . W_j) O_j with a strict step u; Eq. 2.2: y = sum_j Rn_j.
        if _dot(signals, weights[j, :inputs]) > 0.0:
            active += 1
            for k in range(len(outputs)):
                outputs[k] += weights[j, inputs + k]
    return active


@numba.njit(cache=True)
def push_history(signals: Weights, outputs: Weights, channels: int, memory: int) -> None:
    """
    Push the present channels and outputs on the two histories; the oldest of each are lost.

    Parameters
    ----------
    signals : (N_in,) float32 array
        As of ``PerceptronLayout``; the present channels stay.
    outputs : (q,) float32 array
    channels, memory : int

    """
    # I(t) = [x(t); x(t-1) ... x(t-R); y(t-1) ... y(t-R)]: Bishop (2008), sections 2.2 and 2.3.
    past, count = channels * (memory + 1), len(outputs)
    for i in range(past - 1, channels - 1, -1):
        signals[i] = signals[i - channels]
    for i in range(len(signals) - 1, past + count - 1, -1):
        signals[i] = signals[i - count]
    if memory:
        signals[past : past + count] = outputs


@numba.njit(cache=True)
def integrate_set_points(
    accelerations: FloatArray,
    dt: float,
    limits: tuple[float, float],
    bounds: FloatArray,
    positions: FloatArray,
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
    positions, speeds : (q,) arrays [m, m/s]
        Advanced.

    References
    ----------
    Bishop (2008), section 4.8.

    """
    # s' <- clip(s' + clip(a) dt), then s <- s + s' dt.
    max_acceleration, max_speed = limits
    for i in range(len(positions)):
        change = min(max(accelerations[i], -max_acceleration), max_acceleration) * dt
        speeds[i] = min(max(speeds[i] + change, -max_speed), max_speed)
        positions[i] += speeds[i] * dt
        if positions[i] < bounds[0, i] or positions[i] > bounds[1, i]:
            positions[i] = min(max(positions[i], bounds[0, i]), bounds[1, i])
            speeds[i] = 0.0


@numba.njit(cache=True)
def step_layer(layer: Layer, state: LayerState) -> int:
    """
    Advance a layer by a control period; return the number of active perceptrons.

    The outputs are left in the unit in which they are remembered.
    """
    outputs = state.outputs
    active: int = sum_active_outputs(state.signals, layer.weights, outputs)
    accelerations = layer.gain * outputs.astype(np.float64)
    limits = (layer.acceleration, layer.speed)
    integrate_set_points(
        accelerations, layer.period, limits, layer.bounds, state.positions, state.speeds
    )
    unit = np.float32(layer.unit)
    for i in range(len(outputs)):
        outputs[i] /= unit
    push_history(state.signals, outputs, layer.channels, layer.memory)
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
def _write_command_channels(sensing, velocity, quaternion, channels):  # type: ignore[no-untyped-def]
    """Write the commanded direction in the robot's x and y, or zeros, and the last channel."""
    x, y = velocity[0], velocity[1]
    size = math.hypot(x, y)
    if size > 0.0:
        x, y = x / size, y / size
    if sensing.in_ground_frame:
        forward, left, _ = _ground_axes(quaternion)
        x, y = forward[0] * x + forward[1] * y, left[0] * x + left[1] * y
    channels[0], channels[1] = x, y
    if sensing.spare == SPARE_UPRIGHT:
        channels[2] = _ground_axes(quaternion)[2]
    elif sensing.spare != NO_SPARE_CHANNEL:
        channels[2] = 1.0 if sensing.spare == SPARE_ONE else 0.0


@numba.njit(cache=True)
def drive_servos(
    layer: Layer,
    state: LayerState,
    sensing: ChannelOptions,
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
    count = len(state.positions)
    write_servo_channels(servos, readings, sensing.scales, state.signals)
    _write_command_channels(
        sensing, heading[0], heading[1], state.signals[2 * count : layer.channels]
    )
    active = step_layer(layer, state)
    targets = np.empty(count)
    write_servo_targets(servos, state.positions, targets)
    return active, targets
