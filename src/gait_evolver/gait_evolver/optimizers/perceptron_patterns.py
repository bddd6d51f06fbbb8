"""
A periodic gait as weights of a layer of threshold perceptrons: few numbers for hundred thousands.

The layer remembers its own outputs. Two perceptrons of equal and opposite output make a relay that
accelerates the set point of a servo one way or the other, so each servo takes one perceptron, and
one that is always excited stands opposite to all. All relays follow the first harmonic of the past
outputs of the first servo: this one in phase, so that it oscillates with the period of that
filter, any other with a lag of its own. How far a servo swings lies in its output weights. What
brings its middle to an offset is slow: the mean of its measured place over the last period, and
the mean speed that its outputs of the past add up to. Such a layer is one that ``rank_squared``
could have found: nothing is computed elsewhere. Its last channel has to be the constant 1.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.parameters import Gene, ParameterSpace
from gait_core.perceptrons import PerceptronLayout, Weights
from gait_evolver.optimizers.perceptron_breeding import END_PAIRS, swapped

SERVOS = (0, 1, 8, 12, 2, 3, 9, 13)
"""Those of the legs at one side, two V, the rotation and the knee of each, the front leg first."""
_TURNING = slice(8, 12)
"""Rotation servos, whose mirror image pushes where they pull."""
LEADER = SERVOS[0]
_ACROSS, _ONE = 33, 34
"""Channels of the direction's part to the left, and of the constant 1."""
LENGTH_SCALE, MAX_ACCELERATION = 0.1, 2.9
"""What the controller divides places and outputs by [m, m/s^2], by default."""
_PULL, _DAMPING, _FORGET, _KICK = 2.0, 3.0, 1.0, 0.02
"""Of a servo to its offset [1/m], against its speed [s/m], for how long it trusts its outputs [s],
and what starts the first one [-]."""
_LEAST = 0.05
"""Least acceleration of a servo by the greatest: one that hardly swings still has to move."""
MOST_PERIOD = 1.6


def pattern_space() -> ParameterSpace:
    """Return the 32 numbers of a pattern, with their bounds."""
    genes = [
        Gene(name='period', lower=0.4, upper=MOST_PERIOD, unit='s', log=True),
        Gene(name='leader', lower=0.005, upper=0.08, unit='m'),
    ]
    for names, most in (
        ([f'{part}{servo}' for servo in SERVOS[1:] for part in ('with', 'after')], 0.08),
        ([f'offset{servo}' for servo in SERVOS], 0.1),
        ([f'steer{servo}' for servo in SERVOS], 0.1),
    ):
        genes += [Gene(name=name, lower=-most, upper=most, unit='m') for name in names]
    return ParameterSpace(tuple(genes))


SPACE = pattern_space()


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """
    A gait of two mirrored sides half a period apart.

    Attributes
    ----------
    period : float [s]
    swings : (16, 2) array [m]
        Of each servo in phase with the first, and a quarter of a period later. No servo swings
        farther than its greatest acceleration lets it.
    offsets : (16,) array [m]
        Middles of the servos.
    steering : (16,) array [m]
        How far the middles move for a direction at a right angle to the left.

    """

    period: float
    swings: FloatArray
    offsets: FloatArray
    steering: FloatArray

    @classmethod
    def of(cls, point: FloatArray) -> Pattern:
        """Return the pattern of a point of the unit cube, (32,)."""
        values = SPACE.decode(point)
        swings, offsets, steering = np.zeros((16, 2)), np.zeros(16), np.zeros(16)
        mirror, sign = swapped(END_PAIRS), np.ones(16)
        sign[_TURNING] = -1.0
        for servo in SERVOS:
            along = values.get(f'with{servo}', values['leader'])
            swing = np.array([along, values.get(f'after{servo}', 0.0)])
            other, flip = mirror[servo], sign[servo]
            swings[servo] = swing
            swings[other] = -flip * swing
            offsets[servo], steering[servo] = values[f'offset{servo}'], values[f'steer{servo}']
            offsets[other], steering[other] = flip * offsets[servo], -flip * steering[servo]
        return cls(period=values['period'], swings=swings, offsets=offsets, steering=steering)


def check_layout(layout: PerceptronLayout, dt: float) -> None:
    """Raise ConfigurationError unless a layer of this layout can carry every pattern."""
    if layout.outputs != 16 or layout.channels != 35:
        raise ConfigurationError(
            f'patterns are of 35 channels and the 16 servos of the spider, not of '
            f'{layout.channels} and {layout.outputs}'
        )
    if layout.perceptrons < 17:
        raise ConfigurationError(
            f'a pattern takes 17 perceptrons, not {layout.perceptrons}; nearest valid: 17'
        )
    least = math.ceil(MOST_PERIOD / dt)
    if layout.memory < least:
        raise ConfigurationError(
            f'a pattern looks back {least} control periods, the layer remembers {layout.memory}; '
            f'nearest valid: {least}'
        )


def weights_of(pattern: Pattern, layout: PerceptronLayout, dt: float) -> Weights:
    """
    Return the weights of a pattern, (perceptrons, width), the input weights of norm 1.

    Parameters
    ----------
    pattern : Pattern
    layout : PerceptronLayout
        As of ``check_layout``.
    dt : float [s]
        Control period.

    """
    layer = _Layer(pattern, layout, dt)
    for servo in range(16):
        layer.relay(servo)
    return layer.weights()


class _Layer:
    """Input weights of the relays, one row a servo, and of the one that is always excited."""

    def __init__(self, pattern: Pattern, layout: PerceptronLayout, dt: float) -> None:
        self._pattern, self._layout, self._dt = pattern, layout, dt
        self._rows: FloatArray = np.zeros((17, layout.inputs))
        self._rows[16, _ONE] = 1.0
        past = layout.channels * (layout.memory + 1)
        self._answers = self._rows[:, past:].reshape(17, layout.memory, 16)
        self._lags = dt * np.arange(1, layout.memory + 1)
        periods = math.floor(layout.memory * dt / pattern.period)
        whole = round(periods * pattern.period / dt)
        self._once = round(pattern.period / dt)
        # How much of each past output is left in the mean speed over the last period.
        left = np.minimum(self._lags / pattern.period, 1.0) * np.exp(-self._lags / _FORGET)
        self._kept = MAX_ACCELERATION * dt * left
        waves = 2.0 * math.pi * self._lags / pattern.period
        share = np.where(np.arange(layout.memory) < whole, 2.0 / whole, 0.0)
        # A square wave of the greatest acceleration swings a servo that far.
        reach = 4.0 / math.pi * MAX_ACCELERATION * (pattern.period / (2.0 * math.pi)) ** 2
        self._strengths = np.clip(np.hypot(*pattern.swings.T) / reach, _LEAST, 1.0)
        first = 4.0 / math.pi * self._strengths[LEADER]  # Harmonic of the leader's square wave.
        self._with, self._after = share * np.cos(waves) / first, share * np.sin(waves) / first

    def relay(self, servo: int) -> None:
        """Write the row of a servo."""
        pattern, layout, row = self._pattern, self._layout, self._rows[servo]
        along, after = pattern.swings[servo]
        size = max(math.hypot(along, after), 1e-9)
        answers = self._answers[servo]
        answers[:, LEADER] = (along * self._with + after * self._after) / size
        # Over a whole period a swing has no mean: what is left has to come to the offset.
        for lag in range(self._once):
            row[layout.channels * lag + servo] -= _PULL * LENGTH_SCALE / self._once
        answers[:, servo] -= _DAMPING * self._kept
        row[_ONE] += _PULL * pattern.offsets[servo] + _KICK * (servo == LEADER)
        row[_ACROSS] += _PULL * pattern.steering[servo]

    def weights(self) -> Weights:
        """Return the weights of the layer; outputs swing servos as far as the pattern wants."""
        layout = self._layout
        found: FloatArray = np.zeros((layout.perceptrons, layout.width))
        found[:17, : layout.inputs] = self._rows / np.linalg.norm(self._rows, axis=1)[:, None]
        outputs = MAX_ACCELERATION * self._dt * self._strengths
        found[:16, layout.inputs :] = np.diag(2.0 * outputs)
        found[16, layout.inputs :] = -outputs
        return found.astype(np.float32)
