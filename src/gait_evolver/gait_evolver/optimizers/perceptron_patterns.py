"""
A periodic gait as weights of a layer of threshold perceptrons: few numbers for hundred thousands.

The layer remembers its own outputs. Two perceptrons of equal and opposite output make a relay that
accelerates the set point of a servo one way or the other, so each servo takes one perceptron, and
one that is always excited stands opposite to all. The relay of the first servo follows the first
harmonic of its own past: it oscillates with the period of that filter. The relay of any other
compares where it wants to be, a sum of the same harmonic and its quarter turn, with where its own
past outputs have brought it. What the sensors add is slow: the middle of a servo comes back to its
offset. Such a layer is one that ``rank_squared`` could have found: nothing is computed elsewhere.
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
_ALONG, _ACROSS = 0, 1
"""Channels of the commanded direction behind those of the servos."""
LENGTH_SCALE, MAX_ACCELERATION = 0.1, 2.9
"""What the controller divides places and outputs by [m, m/s^2], by default."""
_STRENGTH = 0.9
"""Acceleration of the relays by the greatest."""
_FORGET, _LEAD, _SLOW = 0.5, 0.08, 0.3
"""How long a servo trusts its outputs [s], how far it looks ahead [s], pull to its offset [-]."""
_LEADER_PULL, _LEADER_DAMPING, _KICK = 4.0, 4.0, 0.02
"""Of the first servo to its offset [1/m, s/m], and what starts it [-]."""
MOST_PERIOD = 1.6


def pattern_space() -> ParameterSpace:
    """Return the 32 numbers of a pattern, with their bounds."""
    genes = [
        Gene(name='period', lower=0.4, upper=MOST_PERIOD, unit='s', log=True),
        Gene(name='leader', lower=0.005, upper=0.08, unit='m'),
    ]
    for names, most in (
        ([f'{part}{servo}' for servo in SERVOS[1:] for part in ('with', 'after')], 0.08),
        ([f'offset{servo}' for servo in SERVOS], 0.05),
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
        Of each servo in phase with the first, and a quarter of a period later.
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
    if layout.outputs != 16 or layout.channels < 34:
        raise ConfigurationError(
            f'patterns are of the 16 servos of the spider, not of {layout.outputs}'
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
    strengths = np.full(16, _STRENGTH)
    # A square wave of that strength swings as far as the pattern wants.
    reach = MAX_ACCELERATION * (pattern.period / (2.0 * math.pi)) ** 2
    strengths[LEADER] = min(0.25 * math.pi * pattern.swings[LEADER, 0] / reach, 1.0)
    for servo in range(16):
        layer.relay(servo, float(strengths[LEADER]))
    return layer.weights(strengths)


class _Layer:
    """Input weights of the relays, one row a servo, and of the one that is always excited."""

    def __init__(self, pattern: Pattern, layout: PerceptronLayout, dt: float) -> None:
        self._pattern, self._layout, self._dt = pattern, layout, dt
        self._rows: FloatArray = np.zeros((17, layout.inputs))
        self._rows[16, 32 + _ALONG] = 1.0
        past = layout.channels * (layout.memory + 1)
        self._answers = self._rows[:, past:].reshape(17, layout.memory, 16)
        self._lags = dt * np.arange(1, layout.memory + 1)
        periods = math.floor(layout.memory * dt / pattern.period)
        whole = round(periods * pattern.period / dt)
        waves = 2.0 * math.pi * self._lags / pattern.period
        share = np.where(np.arange(layout.memory) < whole, 2.0 / whole, 0.0)
        self._with, self._after = share * np.cos(waves), share * np.sin(waves)

    def relay(self, servo: int, strength: float) -> None:
        """Write the row of a servo; ``strength`` is that of the first one."""
        pattern, layout, row = self._pattern, self._layout, self._rows[servo]
        answers = self._answers[servo]
        first = 4.0 / math.pi * strength  # Harmonic of a square wave.
        if servo == LEADER:
            answers[:, LEADER] = self._with / first
            pull = _LEADER_PULL
            ago = layout.channels * round(pattern.period / self._dt) + servo
            damping = _LEADER_DAMPING * LENGTH_SCALE / pattern.period
            row[servo] -= damping
            row[ago] += damping
            row[32 + _ALONG] += _KICK
        else:
            swing = pattern.swings[servo]
            answers[:, LEADER] -= (swing[0] * self._with + swing[1] * self._after) / first
            kept = MAX_ACCELERATION * self._dt * np.exp(-self._lags / _FORGET)
            answers[:, servo] -= kept * (self._lags + _LEAD)
            pull = _SLOW
        row[servo] -= pull * LENGTH_SCALE
        row[32 + _ALONG] += pull * pattern.offsets[servo]
        row[32 + _ACROSS] += pull * pattern.steering[servo]

    def weights(self, strengths: FloatArray) -> Weights:
        layout = self._layout
        found: FloatArray = np.zeros((layout.perceptrons, layout.width))
        found[:17, : layout.inputs] = self._rows / np.linalg.norm(self._rows, axis=1)[:, None]
        outputs = MAX_ACCELERATION * self._dt * strengths
        found[:16, layout.inputs :] = np.diag(2.0 * outputs)
        found[16, layout.inputs :] = -outputs
        return found.astype(np.float32)
