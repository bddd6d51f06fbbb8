"""
Periodic gaits as weights of a layer of threshold perceptrons: few numbers for hundred thousands.

The layers are relays, as ``relays`` describes: such as ``rank_squared`` could have
found, nothing is computed elsewhere. A ``Pattern`` walks one way. An ``Omnidirectional`` one walks
wherever the direction asks for, without turning: the spider looks the same from four sides, so a
gait along x is one along y by another order of the legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from gait_core.arrays import ComplexArray, FloatArray, IntArray
from gait_core.parameters.declaration import Gene, ParameterSpace
from gait_cpg.perceptron.layout import PerceptronLayout, Weights
from gait_studies.bishop2008.breeding import Y_MIRROR_PAIRS, permutation_from_pairs
from gait_studies.bishop2008.relays import MAX_PERIOD, SQUARE_WAVE_GAIN, RelayLayer, max_swing

SIDE_SERVOS = (0, 1, 8, 12, 2, 3, 9, 13)
"""Those of the legs at one side, two V, the rotation and the knee of each, the front leg first."""
LEADING_SERVO = SIDE_SERVOS[0]
KNEE_SERVOS = slice(12, 16)
QUARTER_TURN: IntArray = np.array([*np.roll(range(8), -2), 9, 10, 11, 8, 13, 14, 15, 12])
"""Servo of the next leg to the left that is what each is to its own."""
_ALTERNATING_SIGNS: FloatArray = np.array([1.0, -1.0, 1.0, -1.0])
_ROTATION_SERVOS = slice(8, 12)
"""Rotation servos, whose mirror image pushes where they pull."""
_STARTING_BIAS = 0.02
_MIN_ACCELERATION = 0.05
"""Least acceleration of a servo by the greatest: one that hardly swings still has to move."""

ArrayT = TypeVar('ArrayT', FloatArray, ComplexArray)


def _swing_genes() -> list[Gene]:
    return [
        Gene(name='period', lower=0.4, upper=MAX_PERIOD, unit='s', log=True),
        Gene(name='leader', lower=0.005, upper=0.08, unit='m'),
        *_symmetric_genes(
            [f'{one}{servo}' for servo in SIDE_SERVOS[1:] for one in ('with', 'after')], 0.08
        ),
        *_symmetric_genes([f'offset{servo}' for servo in SIDE_SERVOS], 0.1),
    ]


def _symmetric_genes(names: list[str], most: float) -> list[Gene]:
    return [Gene(name=name, lower=-most, upper=most, unit='m') for name in names]


FORWARD_SPACE = ParameterSpace(
    (*_swing_genes(), *_symmetric_genes([f'steer{servo}' for servo in SIDE_SERVOS], 0.1))
)
"""The 32 numbers of a pattern, with their bounds."""
OMNIDIRECTIONAL_SPACE = ParameterSpace(
    (
        *_swing_genes(),
        Gene(name='gate', lower=1.2, upper=3.4, unit='-'),
        Gene(name='share', lower=0.0, upper=1.0, unit='-'),
    )
)
"""The 26 numbers of an omnidirectional pattern."""


class _MirroredSides:
    """Two mirrored sides half a period apart, from the numbers of one."""

    mirror: IntArray = permutation_from_pairs(Y_MIRROR_PAIRS)
    sign: FloatArray = np.where(np.isin(np.arange(16), np.r_[_ROTATION_SERVOS]), -1.0, 1.0)

    def __init__(self, values: dict[str, float]) -> None:
        self._values = values

    def swings(self) -> ComplexArray:
        """Return the swings (16,) [m]: the imaginary part lags a quarter of a period."""
        found: ComplexArray = np.zeros(16, dtype=np.complex128)
        values = self._values
        for servo in SIDE_SERVOS:
            along = values.get(f'with{servo}', values['leader'])
            found[servo] = along + 1.0j * values.get(f'after{servo}', 0.0)
            found[self.mirror[servo]] = -self.sign[servo] * found[servo]
        return found

    def mirrored(self, name: str, sign: float) -> FloatArray:
        """Return numbers (16,) [m] whose mirror images are equal, or opposite by ``sign``."""
        found: FloatArray = np.zeros(16)
        for servo in SIDE_SERVOS:
            found[servo] = self._values[f'{name}{servo}']
            found[self.mirror[servo]] = sign * self.sign[servo] * found[servo]
        return found


@dataclass(frozen=True, kw_only=True)
class ForwardPattern:
    """
    A gait of two mirrored sides half a period apart, which the direction steers.

    Attributes
    ----------
    space : ParameterSpace
    perceptrons : int
        How many a layer takes.
    period : float [s]
    swings : (16,) complex array [m]
        Of each servo in phase with the first, and (imaginary) a quarter of a period later. No
        servo swings farther than its greatest acceleration lets it.
    offsets : (16,) array [m]
        Middles of the servos.
    steering : (16,) array [m]
        How far the middles move for a direction at a right angle to the left.

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
            offsets=sides.mirrored('offset', 1.0),
            steering=sides.mirrored('steer', -1.0),
        )

    def weights(self, layout: PerceptronLayout, dt: float) -> Weights:
        """
        Return the weights of the pattern, (perceptrons, width), the input weights of norm 1.

        Parameters
        ----------
        layout : PerceptronLayout
            Of at least ``perceptrons``, as of ``check_layout``.
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
    Four gaits of one, along x, y and back, mixed by the wanted direction.

    What all four have in common, legs lifted in turn, goes on whatever the direction is, the knees
    wholly, for they are the wave that all follow, the other servos by a share. What a gait has
    beyond that is open to directions near its own. With no direction all are closed and the robot
    treads on the spot. Middles have a part for all directions and one that follows the direction
    around.

    Attributes
    ----------
    space, perceptrons
        As of ``Pattern``.
    period : float [s]
    swings : (16,) complex array [m]
        Of the gait along x, as of ``Pattern``.
    offsets : (16,) array [m]
        Middles of the servos in that.
    gate : float [-]
        How narrow the gaits are: what each has of its own swings by
        ``sqrt(1 - gate^2 (1 - cos a)^2)`` at an angle ``a`` from it.
    common_share : float [-]
        How much of what the gaits have in common goes on for all directions but for the knees.

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
            offsets=sides.mirrored('offset', 1.0),
            gate=values['gate'],
            common_share=values['share'],
        )

    @property
    def common_swings(self) -> ComplexArray:
        """Swings that all four gaits have in common, (16,) [m]: diagonal legs in phase."""
        return _mean_over_turns(self.swings, -1.0)

    def weights(self, layout: PerceptronLayout, dt: float) -> Weights:
        """Return the weights of the pattern, as of ``Pattern.weights``."""
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
        # Phases are behind the wave, which is that of the knees.
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
        """Return middles, and what the direction adds along x and y, (16, 3) [m]."""
        ahead = 0.5 * (self.offsets - _turn_gait(self.offsets, 2, 1.0))
        common = _mean_over_turns(self.offsets, 1.0)
        return np.stack([common, ahead, _turn_gait(ahead, 1, 1.0)], axis=1)


def _turn_gait(values: ArrayT, turns: int, sign: float) -> ArrayT:
    """Return the numbers of a gait (16,) turned left by right angles, times ``sign`` at each."""
    for _ in range(turns):
        found = np.empty_like(values)
        found[QUARTER_TURN] = sign * values
        values = found
    return values


def _mean_over_turns(values: ArrayT, sign: float) -> ArrayT:
    """Return the mean of the numbers of a gait (16,) over all four turns."""
    total = sum(_turn_gait(values, turns, sign) for turns in range(4))
    return total / 4.0  # type: ignore[return-value]


def _relative_accelerations(swings: ComplexArray, period: float, least: float) -> FloatArray:
    """Return accelerations that swing servos so far, by the greatest one, (16,)."""
    return np.clip(np.abs(swings) / max_swing(period), least, 1.0)
