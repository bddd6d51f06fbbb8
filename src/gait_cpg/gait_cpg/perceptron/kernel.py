# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels of a layer of threshold perceptrons with memory and of its set points."""

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
"""Contents of the spare channel: no such channel, 0, 1, or the cosine of the tilt."""


class Layer(NamedTuple):
    """
    Constants of a layer of n perceptrons on q servos.

    Attributes
    ----------
    weights : (n, N_in + q) float32 array
        Input weights, then output weights.
    bounds : (2, q) array [m]
        Limits of the set points.
    channels, memory : int
        As in ``PerceptronLayout``.
    period : float [s]
        Control period.
    gain : float [1/s]
        Acceleration of a set point per output.
    unit : float [m/s]
        Unit in which outputs are remembered.
    acceleration, speed : float [m/s^2, m/s]
        Limits of the set points.

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
    State of a layer; advanced in each control period.

    Attributes
    ----------
    signals : (N_in,) float32 array
        Present and past channels, then past outputs; newest first.
    outputs : (q,) float32 array
        Last outputs.
    positions, speeds : (q,) arrays [m, m/s]
        Set points.

    """

    signals: Weights
    outputs: Weights
    positions: FloatArray
    speeds: FloatArray


class ChannelOptions(NamedTuple):
    """
    Options of the input channels of a layer.

    Attributes
    ----------
    scales : (float [m], float [N])
        Divisors of positions and forces.
    in_ground_frame : bool
        Whether the commanded direction is in the frame of the ground, and is rotated into the
        axes of the robot.
    spare : int
        Contents of the spare channel.

    """

    scales: tuple[float, float]
    in_ground_frame: bool
    spare: int


# Reordering the sum lets the compiler vectorise it, in a seventh of the time.
@numba.njit(cache=True, fastmath={'reassoc', 'nsz'})
def _dot(first: Weights, second: Weights) -> float:
    total = np.float32(0.0)
    for i in range(len(first)):
        total += first[i] * second[i]
    return float(total)


@numba.njit(cache=True)
def sum_active_outputs(signals: Weights, weights: Weights, outputs: Weights) -> int:
    """
    Write the sum of the output weights of the active perceptrons; return their number.

    Parameters
    ----------
    signals : (N_in,) float32 array
    weights : (n, N_in + q) float32 array
        Input weights first.
    outputs : (q,) float32 array
        Written. A perceptron with a weighted sum of exactly zero is not active.

    References
    ----------
    Bishop (2008), Eqs. 2.1 and 2.2.

    """
    inputs, active = len(signals), 0
    outputs[:] = np.float32(0.0)
    for j in range(len(weights)):
        # Eq. 2.1: Rn_j = u(I . W_j) O_j, with the step u(0) = 0; Eq. 2.2: y = sum_j Rn_j.
        if _dot(signals, weights[j, :inputs]) > 0.0:
            active += 1
            for k in range(len(outputs)):
                outputs[k] += weights[j, inputs + k]
    return active


@numba.njit(cache=True)
def push_history(signals: Weights, outputs: Weights, channels: int, memory: int) -> None:
    """
    Push the present channels and outputs onto their histories and drop the oldest.

    Parameters
    ----------
    signals : (N_in,) float32 array
        As in ``PerceptronLayout``; the present channels stay.
    outputs : (q,) float32 array
        Pushed; not used without memory.
    channels, memory : int
        As in ``PerceptronLayout``.

    """
    # Bishop (2008), sections 2.2 and 2.3: I(t) = [x(t); x(t-1) ... x(t-R); y(t-1) ... y(t-R)].
    # Both histories shift by one step, from the end backward, so that no copy is needed.
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
    Integrate accelerations twice to set points, within limits.

    Parameters
    ----------
    accelerations : (q,) array [m/s^2]
    dt : float [s]
        Control period.
    limits : (float [m/s^2], float [m/s])
        Limits of acceleration and speed.
    bounds : (2, q) array [m]
        Limits of the positions; the speed is set to zero at a limit.
    positions, speeds : (q,) arrays [m, m/s]
        Advanced in place.

    References
    ----------
    Bishop (2008), section 4.8.

    """
    # Semi-implicit Euler: s' <- clip(s' + clip(a) dt), then s <- s + s' dt.
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
    # Bishop (2008), section 4.8: outputs are accelerations of the set points.
    active: int = sum_active_outputs(state.signals, layer.weights, outputs)
    accelerations = layer.gain * outputs.astype(np.float64)
    limits = (layer.acceleration, layer.speed)
    integrate_set_points(
        accelerations, layer.period, limits, layer.bounds, state.positions, state.speeds
    )
    # The memory holds outputs without their unit, like the scaled channels.
    unit = np.float32(layer.unit)
    for i in range(len(outputs)):
        outputs[i] /= unit
    push_history(state.signals, outputs, layer.channels, layer.memory)
    return active


@numba.njit(cache=True)
def _ground_axes(quaternion):  # type: ignore[no-untyped-def]
    """Return the base's x and y axes in the plane of the ground, and the cosine of its tilt."""
    x, y, z, w = quaternion
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - scale * (y * y + z * z), scale * (x * y + z * w)),
        (scale * (x * y - z * w), 1.0 - scale * (x * x + z * z)),
        1.0 - scale * (x * x + y * y),
    )


@numba.njit(cache=True)
def _write_command_channels(sensing, velocity, quaternion, channels):  # type: ignore[no-untyped-def]
    """Write the commanded direction (a unit vector, or zeros) and the spare channel."""
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
    command_and_attitude: tuple[FloatArray, FloatArray],
) -> tuple[int, FloatArray]:
    """
    Advance a layer on servos by a control period, from readings to targets.

    Parameters
    ----------
    layer, state, sensing, servos, readings
    command_and_attitude : (3,) array and (4,) array
        Commanded velocity and attitude of the base; the attitude is read only if the channel
        options need it.

    Returns
    -------
    int and (q,) array [rad or m]
        Number of active perceptrons, and target positions.

    """
    count = len(state.positions)
    write_servo_channels(servos, readings, sensing.scales, state.signals)
    _write_command_channels(
        sensing,
        command_and_attitude[0],
        command_and_attitude[1],
        state.signals[2 * count : layer.channels],
    )
    active = step_layer(layer, state)
    targets = np.empty(count)
    write_servo_targets(servos, state.positions, targets)
    return active, targets
