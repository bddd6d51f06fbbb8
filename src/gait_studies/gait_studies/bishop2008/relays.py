# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Relays of threshold perceptrons that oscillate through the memory of their layer.

The layer remembers its own outputs. A relay is a perceptron together with one that is always
excited and has the opposite output: the pair accelerates the set point of a servo in one direction
or the other. All relays follow one wave, the first harmonic of the past outputs of the leading
servos. The leading servos are in phase with it, so they oscillate with the period of that filter;
every other servo has its own lag. The output weights set the amplitude. Two slow terms keep the
mean of a servo at its offset: the mean of its measured position over the last period, and the mean
speed that its past outputs add up to.

A relay of two perceptrons has a gate that depends on the commanded direction. With thresholds
``+-b`` about a wave of amplitude 1, the sum of both swings by ``sqrt(1 - b^2)`` with zero mean,
and is constant for ``b`` above 1. So one layer mixes gaits by direction. The last channel must be
the constant 1.
"""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_cpg.perceptron.layout import PerceptronLayout, Weights

FORWARD_CHANNEL, LEFT_CHANNEL, ONE_CHANNEL = 32, 33, 34
"""Channels of the direction's forward and left components, and of the constant 1."""
LENGTH_SCALE, MAX_ACCELERATION = 0.1, 2.9
"""Default scales of positions and outputs in the controller [m, m/s^2]."""
SQUARE_WAVE_GAIN = 4.0 / math.pi
"""First harmonic of a square wave of amplitude 1."""
MAX_PERIOD = 1.6
_OFFSET_GAIN, _SPEED_GAIN, _MEMORY_TIME = 2.0, 3.0, 1.0
"""Gain of the offset error [1/m], of the speed [s/m], and decay time of past outputs [s]."""


def check_layout(layout: PerceptronLayout, dt: float, perceptrons: int) -> None:
    """Raise ConfigurationError if a layout is too small for a pattern of any period."""
    if layout.outputs != 16 or layout.channels != 35:
        raise ConfigurationError(
            f'a pattern needs 35 channels and 16 outputs (servos of the spider), not '
            f'{layout.channels} and {layout.outputs}'
        )
    if layout.perceptrons < perceptrons:
        raise ConfigurationError(
            f'a pattern needs {perceptrons} perceptrons, not {layout.perceptrons}; nearest '
            f'valid: {perceptrons}'
        )
    least = math.ceil(MAX_PERIOD / dt)
    if layout.memory < least:
        raise ConfigurationError(
            f'a pattern needs a memory of {least} control periods, not {layout.memory}; nearest '
            f'valid: {least}'
        )


def max_swing(wave_period: float) -> float:
    """Return the amplitude of a servo that a square wave of maximum acceleration drives [m]."""
    return SQUARE_WAVE_GAIN * MAX_ACCELERATION * (wave_period / (2.0 * math.pi)) ** 2


class RelayLayer:
    """
    Builder of the weights of a layer, relay by relay.

    Parameters
    ----------
    layout : PerceptronLayout
        Layout that ``check_layout`` accepts.
    dt, period : float [s]
        Control period, and period of the wave.
    leaders : (16,) array
        Weights of the servos' outputs in the wave, relative to the maximum output. The weighted
        sum of square waves in phase must have a first harmonic of 1.

    """

    def __init__(
        self, layout: PerceptronLayout, dt: float, period: float, leaders: FloatArray
    ) -> None:
        self._layout, self._dt, self._leaders = layout, dt, leaders
        lags = dt * np.arange(1, layout.memory + 1)
        periods = math.floor(layout.memory * dt / period)
        whole_ticks = round(periods * period / dt)
        self._period_ticks = round(period / dt)
        # Contribution of each past output to the mean speed over the last period.
        remaining = np.minimum(lags / period, 1.0) * np.exp(-lags / _MEMORY_TIME)
        self._speed_weights = MAX_ACCELERATION * dt * remaining
        share = np.where(np.arange(layout.memory) < whole_ticks, 2.0 / whole_ticks, 0.0)
        self._wave = share * np.exp(2.0j * math.pi * lags / period)
        self._inputs: list[FloatArray] = []
        self._outputs: list[FloatArray] = []

    def add_relay(
        self, servo: int, phasor: complex, strength: float, offset: FloatArray, kick: float = 0.0
    ) -> None:
        """
        Add a relay of one perceptron.

        Parameters
        ----------
        servo : int
        phasor : complex
            Its argument is the lag behind the wave; its magnitude has no effect.
        strength : float
            Acceleration over the maximum.
        offset : (3,) array [m]
            Mean position of the servo, and its change per direction component x and y.
        kick : float
            Constant input that starts the oscillation of a leading servo.

        """
        row = self._input_weights(servo, phasor, offset)
        row[ONE_CHANNEL] += kick
        self._add(servo, row, 2.0 * strength)

    def add_gated_relay(
        self, servo: int, phasor: complex, strength: float, offset: FloatArray, gate: FloatArray
    ) -> None:
        """
        Add a relay of two perceptrons; it is fully active where the gate is 0.

        The gate is ``gate`` (3,) times (1, direction x, direction y). The other parameters are
        those of ``add_relay``.
        """
        for sign in (1.0, -1.0):
            row = self._input_weights(servo, phasor, offset)
            row[[ONE_CHANNEL, FORWARD_CHANNEL, LEFT_CHANNEL]] += sign * gate
            self._add(servo, row, strength)

    def _input_weights(self, servo: int, phasor: complex, offset: FloatArray) -> FloatArray:
        """Return the input weights of a perceptron of a relay, (inputs,)."""
        layout = self._layout
        row: FloatArray = np.zeros(layout.inputs)
        past_outputs = row[layout.channels * (layout.memory + 1) :].reshape(layout.memory, 16)
        # The wave, shifted by the lag of the relay: a Fourier sum over the leaders' past outputs.
        phase = np.conj(phasor) / max(abs(phasor), 1e-9)
        past_outputs += np.outer((phase * self._wave).real, self._leaders)
        # Over a whole period the wave has zero mean: the mean position is regulated to the offset.
        positions = slice(servo, layout.channels * self._period_ticks, layout.channels)
        row[positions] -= _OFFSET_GAIN * LENGTH_SCALE / self._period_ticks
        past_outputs[:, servo] -= _SPEED_GAIN * self._speed_weights
        row[[ONE_CHANNEL, FORWARD_CHANNEL, LEFT_CHANNEL]] += _OFFSET_GAIN * offset
        return row

    def _add(self, servo: int, row: FloatArray, strength: float) -> None:
        self._inputs.append(row / np.linalg.norm(row))
        self._outputs.append(strength * np.eye(16)[servo])

    def weights(self) -> Weights:
        """Return the weights of the layer; the perceptron after the relays is always excited."""
        layout, used = self._layout, len(self._inputs)
        weights: FloatArray = np.zeros((layout.perceptrons, layout.weights_per_perceptron))
        weights[:used, : layout.inputs] = self._inputs
        weights[used, ONE_CHANNEL] = 1.0
        outputs = MAX_ACCELERATION * self._dt * np.array(self._outputs)
        weights[:used, layout.inputs :] = outputs
        weights[used, layout.inputs :] = -0.5 * outputs.sum(axis=0)
        return weights.astype(np.float32)
