"""
Relays made of threshold perceptrons that swing servos in step with what their layer remembers.

The layer remembers its own outputs. A perceptron and one that is always excited and stands
opposite to it make a relay that accelerates the set point of a servo one way or the other. All
relays follow one wave, the first harmonic of the past outputs of the leading servos: these in
phase, so that they oscillate with the period of that filter, any other with a lag of its own. How
far a servo swings lies in the output weights. What brings its middle to an offset is slow: the
mean of its measured place over the last period, and the mean speed that its outputs of the past
add up to.

A relay of two perceptrons has a gate that the wanted direction opens: with thresholds ``b`` above
and below the wave, of amplitude 1, their sum swings by ``sqrt(1 - b^2)`` and has no mean, and not
at all for ``b`` beyond 1. So one layer mixes gaits by the direction. The last channel has to be
the constant 1.
"""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_cpg.perceptron.layout import PerceptronLayout, Weights

FORWARD_CHANNEL, LEFT_CHANNEL, ONE_CHANNEL = 32, 33, 34
"""Channels of the direction's parts forward and to the left, and of the constant 1."""
LENGTH_SCALE, MAX_ACCELERATION = 0.1, 2.9
"""What the controller divides places and outputs by [m, m/s^2], by default."""
SQUARE_WAVE_GAIN = 4.0 / math.pi
"""First harmonic of a square wave of amplitude 1."""
MAX_PERIOD = 1.6
_OFFSET_GAIN, _SPEED_GAIN, _MEMORY_TIME = 2.0, 3.0, 1.0
"""Of a servo to its offset [1/m], against its speed [s/m], how long it trusts its outputs [s]."""


def check_layout(layout: PerceptronLayout, dt: float, perceptrons: int) -> None:
    """Raise ConfigurationError unless a layer of this layout can carry so many for any period."""
    if layout.outputs != 16 or layout.channels != 35:
        raise ConfigurationError(
            f'patterns are of 35 channels and the 16 servos of the spider, not of '
            f'{layout.channels} and {layout.outputs}'
        )
    if layout.perceptrons < perceptrons:
        raise ConfigurationError(
            f'a pattern takes {perceptrons} perceptrons, not {layout.perceptrons}; nearest '
            f'valid: {perceptrons}'
        )
    least = math.ceil(MAX_PERIOD / dt)
    if layout.memory < least:
        raise ConfigurationError(
            f'a pattern looks back {least} control periods, the layer remembers {layout.memory}; '
            f'nearest valid: {least}'
        )


def max_swing(wave_period: float) -> float:
    """Return how far a square wave of the greatest acceleration swings a servo [m]."""
    return SQUARE_WAVE_GAIN * MAX_ACCELERATION * (wave_period / (2.0 * math.pi)) ** 2


class RelayLayer:
    """
    Relays of the spider's servos, one after the other, and the weights of the layer they make.

    Parameters
    ----------
    layout : PerceptronLayout
        As of ``check_layout``.
    dt, period : float [s]
        Control period; of the wave.
    leaders : (16,) array
        What the wave is made of: shares of the outputs of servos, as parts of the greatest one.
        Their sum of square waves in phase has to have a first harmonic of 1.

    """

    def __init__(
        self, layout: PerceptronLayout, dt: float, period: float, leaders: FloatArray
    ) -> None:
        self._layout, self._dt, self._leaders = layout, dt, leaders
        lags = dt * np.arange(1, layout.memory + 1)
        periods = math.floor(layout.memory * dt / period)
        whole = round(periods * period / dt)
        self._period_ticks = round(period / dt)
        # How much of each past output is left in the mean speed over the last period.
        left = np.minimum(lags / period, 1.0) * np.exp(-lags / _MEMORY_TIME)
        self._speed_weights = MAX_ACCELERATION * dt * left
        share = np.where(np.arange(layout.memory) < whole, 2.0 / whole, 0.0)
        self._wave = share * np.exp(2.0j * math.pi * lags / period)
        self._inputs: list[FloatArray] = []
        self._outputs: list[FloatArray] = []

    def add_relay(
        self, servo: int, swing: complex, strength: float, offset: FloatArray, kick: float = 0.0
    ) -> None:
        """
        Add a relay of one perceptron.

        Parameters
        ----------
        servo : int
        swing : complex
            Phase behind the wave; its size does not count.
        strength : float
            Acceleration by the greatest.
        offset : (3,) array [m]
            Middle of the servo, and what the wanted direction adds along x and y.
        kick : float
            What starts a leader.

        """
        row = self._input_weights(servo, swing, offset)
        row[ONE_CHANNEL] += kick
        self._add(servo, row, 2.0 * strength)

    def add_gated_relay(
        self, servo: int, swing: complex, strength: float, offset: FloatArray, gate: FloatArray
    ) -> None:
        """
        Add a relay of two perceptrons, open where ``gate`` [1, along x, along y] comes to 0.

        The other parameters are those of ``relay``.
        """
        for sign in (1.0, -1.0):
            row = self._input_weights(servo, swing, offset)
            row[[ONE_CHANNEL, FORWARD_CHANNEL, LEFT_CHANNEL]] += sign * gate
            self._add(servo, row, strength)

    def _input_weights(self, servo: int, swing: complex, offset: FloatArray) -> FloatArray:
        layout = self._layout
        row: FloatArray = np.zeros(layout.inputs)
        answers = row[layout.channels * (layout.memory + 1) :].reshape(layout.memory, 16)
        phase = np.conj(swing) / max(abs(swing), 1e-9)
        answers += np.outer((phase * self._wave).real, self._leaders)
        # Over a whole period a swing has no mean: what is left has to come to the offset.
        places = slice(servo, layout.channels * self._period_ticks, layout.channels)
        row[places] -= _OFFSET_GAIN * LENGTH_SCALE / self._period_ticks
        answers[:, servo] -= _SPEED_GAIN * self._speed_weights
        row[[ONE_CHANNEL, FORWARD_CHANNEL, LEFT_CHANNEL]] += _OFFSET_GAIN * offset
        return row

    def _add(self, servo: int, row: FloatArray, strength: float) -> None:
        self._inputs.append(row / np.linalg.norm(row))
        self._outputs.append(strength * np.eye(16)[servo])

    def weights(self) -> Weights:
        """Return the weights of the layer; the last perceptron used is the one always excited."""
        layout, used = self._layout, len(self._inputs)
        found: FloatArray = np.zeros((layout.perceptrons, layout.weights_per_perceptron))
        found[:used, : layout.inputs] = self._inputs
        found[used, ONE_CHANNEL] = 1.0
        outputs = MAX_ACCELERATION * self._dt * np.array(self._outputs)
        found[:used, layout.inputs :] = outputs
        found[used, layout.inputs :] = -0.5 * outputs.sum(axis=0)
        return found.astype(np.float32)
