# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Periodic gaits encoded in the weights of a layer of threshold perceptrons.

About thirty parameters determine hundreds of thousands of weights. The perceptrons form the relays
of module ``relays``; ``rank_squared`` searches the same weights one by one. A ``ForwardPattern``
walks along x. An ``OmnidirectionalPattern`` walks in the commanded direction without turning: the
spider is symmetric about four sides, so a gait along x with the legs permuted is one along y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from gait_core.arrays import ComplexArray, FloatArray, IntArray
from gait_core.parameters.space import Gene, ParameterSpace
from gait_cpg.perceptron.layout import PerceptronLayout, Weights
from gait_studies.bishop2008.breeding import Y_MIRROR_PAIRS, permutation_from_pairs
from gait_studies.bishop2008.relays import MAX_PERIOD, SQUARE_WAVE_GAIN, RelayLayer, max_swing

SIDE_SERVOS = (0, 1, 8, 12, 2, 3, 9, 13)
"""Servos of the legs of one side: two V, the rotation and the knee of each, front leg first."""
LEADING_SERVO = SIDE_SERVOS[0]
KNEE_SERVOS = slice(12, 16)
QUARTER_TURN: IntArray = np.array([*np.roll(range(8), -2), 9, 10, 11, 8, 13, 14, 15, 12])
"""Servo with the same role in the next leg to the left, by servo."""
_ALTERNATING_SIGNS: FloatArray = np.array([1.0, -1.0, 1.0, -1.0])
_ROTATION_SERVOS = slice(8, 12)
"""Rotation servos: a reflection reverses their sign."""
_STARTING_BIAS = 0.02
_MIN_ACCELERATION = 0.05
"""Minimum relative acceleration: a servo with a small swing still has to reach its offset."""

ArrayT = TypeVar('ArrayT', FloatArray, ComplexArray)


def _swing_genes() -> list[Gene]:
    return [
        Gene(name='period', lower=0.4, upper=MAX_PERIOD, unit='s', log=True),
        Gene(name='leader', lower=0.005, upper=0.08, unit='m'),
        *_symmetric_genes(
            [f'{part}{servo}' for servo in SIDE_SERVOS[1:] for part in ('with', 'after')], 0.08
        ),
        *_symmetric_genes([f'offset{servo}' for servo in SIDE_SERVOS], 0.1),
    ]


def _symmetric_genes(names: list[str], limit: float) -> list[Gene]:
    return [Gene(name=name, lower=-limit, upper=limit, unit='m') for name in names]


FORWARD_SPACE = ParameterSpace(
    (*_swing_genes(), *_symmetric_genes([f'steer{servo}' for servo in SIDE_SERVOS], 0.1))
)
"""The 32 parameters of a ``ForwardPattern``, with their bounds."""
OMNIDIRECTIONAL_SPACE = ParameterSpace(
    (
        *_swing_genes(),
        Gene(name='gate', lower=1.2, upper=3.4, unit='-'),
        Gene(name='share', lower=0.0, upper=1.0, unit='-'),
    )
)
"""The 26 parameters of an ``OmnidirectionalPattern``."""


class _MirroredSides:
    """Values of all sixteen servos from those of one side; the sides are half a period apart."""

    mirror: IntArray = permutation_from_pairs(Y_MIRROR_PAIRS)
    sign: FloatArray = np.where(np.isin(np.arange(16), np.r_[_ROTATION_SERVOS]), -1.0, 1.0)

    def __init__(self, values: dict[str, float]) -> None:
        self._values = values

    def swings(self) -> ComplexArray:
        """Return the complex swings (16,) [m]; the imaginary part lags a quarter of a period."""
        swings: ComplexArray = np.zeros(16, dtype=np.complex128)
        values = self._values
        for servo in SIDE_SERVOS:
            along = values.get(f'with{servo}', values['leader'])
            swings[servo] = along + 1.0j * values.get(f'after{servo}', 0.0)
            swings[self.mirror[servo]] = -self.sign[servo] * swings[servo]
        return swings

    def mirror_values(self, name: str, sign: float) -> FloatArray:
        """Return the values of genes ``name`` (16,) [m], on the other side times ``sign``."""
        found: FloatArray = np.zeros(16)
        for servo in SIDE_SERVOS:
            found[servo] = self._values[f'{name}{servo}']
            found[self.mirror[servo]] = sign * self.sign[servo] * found[servo]
        return found


@dataclass(frozen=True, kw_only=True)
class ForwardPattern:
    """
    Gait along x: two mirrored sides half a period apart, steered by the commanded direction.

    Attributes
    ----------
    space : ParameterSpace
    perceptrons : int
        Number of perceptrons that the pattern needs.
    period : float [s]
    swings : (16,) complex array [m]
        Amplitude of each servo in phase with the first (real part) and a quarter of a period later
        (imaginary part). The maximum acceleration limits the swing.
    offsets : (16,) array [m]
        Mean positions of the servos.
    steering : (16,) array [m]
        Shift of the mean positions for a command straight to the left.

    """

    space: ClassVar[ParameterSpace] = FORWARD_SPACE
    perceptrons: ClassVar[int] = 16 + 1
    period: float
    swings: ComplexArray
    offsets: FloatArray
    steering: FloatArray

    @classmethod
    def from_unit(cls, point: FloatArray) -> ForwardPattern:
        """Return the pattern of a point of the unit cube, (32,)."""
        values = FORWARD_SPACE.decode(point)
        sides = _MirroredSides(values)
        return cls(
            period=values['period'],
            swings=sides.swings(),
            offsets=sides.mirror_values('offset', 1.0),
            steering=sides.mirror_values('steer', -1.0),
        )

    def weights(self, layout: PerceptronLayout, dt: float) -> Weights:
        """
        Return the weights of the pattern, (perceptrons, width), the input weights of norm 1.

        Parameters
        ----------
        layout : PerceptronLayout
            Layout that ``check_layout`` accepts.
        dt : float [s]
            Control period.

        """
        strengths = _relative_accelerations(self.swings, self.period, _MIN_ACCELERATION)
        leaders: FloatArray = np.zeros(16)
        leaders[LEADING_SERVO] = 1.0 / (SQUARE_WAVE_GAIN * strengths[LEADING_SERVO])
        layer = RelayLayer(layout, dt, self.period, leaders)
        for servo, swing in enumerate(self.swings.tolist()):
            offset = np.array([self.offsets[servo], 0.0, self.steering[servo]])
            kick = _STARTING_BIAS * (servo == LEADING_SERVO)
            layer.add_relay(servo, swing, strengths[servo], offset, kick)
        return layer.weights()


@dataclass(frozen=True, kw_only=True)
class OmnidirectionalPattern:
    """
    Four copies of a gait, along +-x and +-y, mixed by the commanded direction.

    The swings are split into the mean over the four gaits (legs lifted in turn) and the remainder
    of each. The mean part is active for every direction: fully for the knees, by ``common_share``
    for the other servos. The wave that sets all phases is the motion of the knees. The remainder
    of a gait is active for directions near its own. Without a direction no remainder is active
    and the robot treads on the spot. Offsets have a constant part and a part that rotates with
    the direction.

    Attributes
    ----------
    space, perceptrons
        As in ``ForwardPattern``.
    period : float [s]
    swings : (16,) complex array [m]
        Swings of the gait along x, as in ``ForwardPattern``.
    offsets : (16,) array [m]
        Mean positions of the servos in the gait along x.
    gate : float [-]
        Narrowness of the gates: at an angle ``a`` from its direction the remainder of a gait
        swings by the factor ``sqrt(1 - gate^2 (1 - cos a)^2)``, or not at all.
    common_share : float [-]
        Share of the mean part that is active for every direction, knees excepted.

    """

    space: ClassVar[ParameterSpace] = OMNIDIRECTIONAL_SPACE
    perceptrons: ClassVar[int] = 16 + 4 * 16 * 2 + 1
    period: float
    swings: ComplexArray
    offsets: FloatArray
    gate: float
    common_share: float

    @classmethod
    def from_unit(cls, point: FloatArray) -> OmnidirectionalPattern:
        """Return the pattern of a point of the unit cube, (26,)."""
        values = OMNIDIRECTIONAL_SPACE.decode(point)
        sides = _MirroredSides(values)
        return cls(
            period=values['period'],
            swings=sides.swings(),
            offsets=sides.mirror_values('offset', 1.0),
            gate=values['gate'],
            common_share=values['share'],
        )

    @property
    def common_swings(self) -> ComplexArray:
        """Mean of the swings over the four gaits, (16,) [m]; diagonal legs are in phase."""
        return _mean_over_turns(self.swings, -1.0)

    def weights(self, layout: PerceptronLayout, dt: float) -> Weights:
        """Return the weights of the pattern, as of ``ForwardPattern.weights``."""
        common, offsets = self.common_swings, self._offsets()
        shares = np.full(16, self.common_share)
        shares[KNEE_SERVOS] = 1.0
        strengths = shares * _relative_accelerations(common, self.period, _MIN_ACCELERATION)
        own = self.swings - shares * common
        leaders, kicks = np.zeros((2, 16))
        leaders[KNEE_SERVOS] = _ALTERNATING_SIGNS / (
            SQUARE_WAVE_GAIN * strengths[KNEE_SERVOS].sum()
        )
        kicks[KNEE_SERVOS] = _STARTING_BIAS * _ALTERNATING_SIGNS
        layer = RelayLayer(layout, dt, self.period, leaders)
        # Phases are counted from the wave, and the wave is the motion of the knees.
        knee = common[KNEE_SERVOS.start]
        phase = abs(knee) / knee if knee else 1.0
        for servo, swing in enumerate((common * phase).tolist()):
            layer.add_relay(servo, swing, strengths[servo], offsets[servo], kicks[servo])
        for turns, (x, y) in enumerate(((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))):
            swings = _turn_gait(own, turns, -1.0)
            parts = _relative_accelerations(swings, self.period, 0.0)
            gate = self.gate * np.array([1.0, -x, -y])
            for servo, swing in enumerate((swings * phase).tolist()):
                layer.add_gated_relay(servo, swing, parts[servo], offsets[servo], gate)
        return layer.weights()

    def _offsets(self) -> FloatArray:
        """Return offsets and their change per direction component x and y, (16, 3) [m]."""
        ahead = 0.5 * (self.offsets - _turn_gait(self.offsets, 2, 1.0))
        common = _mean_over_turns(self.offsets, 1.0)
        return np.stack([common, ahead, _turn_gait(ahead, 1, 1.0)], axis=1)


def _turn_gait(values: ArrayT, turns: int, sign: float) -> ArrayT:
    """Return the values (16,) of a gait turned left by quarter turns, times ``sign`` at each."""
    for _ in range(turns):
        turned = np.empty_like(values)
        turned[QUARTER_TURN] = sign * values
        values = turned
    return values


def _mean_over_turns(values: ArrayT, sign: float) -> ArrayT:
    """Return the mean of the values (16,) of a gait over the four quarter turns."""
    total = sum(_turn_gait(values, turns, sign) for turns in range(4))
    return total / 4.0  # type: ignore[return-value]


def _relative_accelerations(swings: ComplexArray, period: float, minimum: float) -> FloatArray:
    """Return the accelerations that produce these swings, over the maximum, (16,)."""
    return np.clip(np.abs(swings) / max_swing(period), minimum, 1.0)
