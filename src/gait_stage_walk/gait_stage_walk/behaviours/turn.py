# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Turns while walking: a leg is twisted in swing, and turns the body when it untwists in stance.

A twist in swing does not turn the body. The same leg turns it one step later, by untwisting on the
ground; only then does the turn count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.parameters.declaration import Parameters, float_parameter, str_parameter
from gait_core.robot.model import RobotModel
from gait_stage_walk.behaviours.behaviour import Period, no_turn
from gait_stage_walk.staged.pulse import Pulse, to_nanoseconds
from gait_stage_walk.staged.timetable import opposite_leg
from gait_stage_walk.staged.walk import StagedWalk, WalkMode

LEGS = ('left', 'right')
TWIST_JOINTS = tuple(f'{leg}_leg_twist' for leg in LEGS)
"""Joints that turn a leg about the vertical, positive to the left."""

MAX_TWIST = math.radians(20.0)
"""Largest twist of a leg by one behaviour [rad]; the joints reach 45 degrees, and turns add up."""

MIN_TWIST = 1e-9
"""Smallest twist [rad]; a smaller remainder of a turn counts as zero."""


class LegTwists:
    """
    Twists legs in swing and back in stance, at the signals of a walk.

    Parameters
    ----------
    walk : StagedWalk
        Stepped before this in every control period.
    wanted_twist : callable
        Returns the twist [rad], positive to the left, for the swinging leg.

    Attributes
    ----------
    turned : float [rad]
        Angle by which the body has turned.
    pending : dict of str to float [rad]
        Twist of each leg that has not turned the body yet.

    """

    def __init__(self, walk: StagedWalk, wanted_twist: Callable[[str], float]) -> None:
        self._walk = walk
        self._wanted_twist = wanted_twist
        self.turned = 0.0
        self.pending = dict.fromkeys(LEGS, 0.0)
        self._pulses: list[Pulse] = []

    @property
    def is_idle(self) -> bool:
        """True if both legs are untwisted and at rest."""
        return not self._pulses and not any(self.pending.values())

    def step(self, period: Period, duration: float) -> FloatArray:
        """
        Return the turns of ``TWIST_JOINTS`` in a period, (2,) [rad].

        A twist and its return last ``duration`` [s] each.
        """
        # Pike (2003), Figures 7.1 and 7.2: at a signal the swinging leg is twisted, and the other,
        # in stance, is twisted back; its twist now turns the body.
        for signal in self._walk.signals(period.begin, period.end):
            self.turned += self._untwist(opposite_leg(signal.swing), signal.time, duration)
            twist = min(max(self._wanted_twist(signal.swing), -MAX_TWIST), MAX_TWIST)
            if abs(twist) > MIN_TWIST:
                self._twist(signal.swing, twist, signal.time, duration)
                self.pending[signal.swing] = twist
        if self._walk.mode is WalkMode.EXIT:
            # The swinging leg untwists before touch-down: it does not turn the body.
            for leg in LEGS:
                self._untwist(leg, period.begin, duration)
        if not self._pulses:
            return no_turn(len(TWIST_JOINTS))
        turns = np.zeros(len(TWIST_JOINTS))
        for pulse in self._pulses:
            turns += pulse.share_between(period.begin, period.end) * pulse.angles
        self._pulses = [pulse for pulse in self._pulses if pulse.end > period.end]
        return turns

    def _untwist(self, leg: str, start: int, duration: float) -> float:
        """Schedule the return of a leg's twist; return the twist [rad]."""
        promised = self.pending[leg]
        if promised:
            self._twist(leg, -promised, start, duration)
            self.pending[leg] = 0.0
        return promised

    def _twist(self, leg: str, angle: float, start: int, duration: float) -> None:
        angles = np.zeros(len(TWIST_JOINTS))
        angles[LEGS.index(leg)] = angle
        end = start + to_nanoseconds(duration)
        self._pulses.append(Pulse(stage=0, start=start, end=end, angles=angles))


@dataclass(frozen=True, kw_only=True)
class TurnParams(Parameters):
    """Parameters of a turn by an angle."""

    angle_deg: float = float_parameter(
        20.0, low=-360.0, high=360.0, unit='deg', doc='Change of heading, positive to the left.'
    )
    share: float = float_parameter(
        0.25,
        low=0.02,
        high=1.0,
        unit='-',
        doc='Share of the angle per twist of a leg about the vertical, made in swing and undone '
        'in stance; a twist is at most 20 degrees.',
    )
    period: float = float_parameter(
        0.7, low=0.3, high=0.9, unit='s', doc='Duration of a twist of a leg, and of its return.'
    )
    legs: str = str_parameter(
        'right',
        choices=('right', 'both'),
        doc='Legs that are twisted: right as published, or both, which turns twice as fast.',
    )


class Turn:
    """
    Behaviour that turns a walk by an angle and then finishes, with untwisted legs.

    Every twist is returned, even if the turn is changed or stopped in between.

    References
    ----------
    Pike (2003), chapter 7, ``NWTurn``. As printed, both halves of a twist count, so the body
    turns half the angle, always to the same side; ``speed`` divides the angle; and a turn may end
    between twist and return.

    """

    Params: ClassVar[type[Parameters]] = TurnParams
    fixed: ClassVar[tuple[str, ...]] = ()
    joints = TWIST_JOINTS

    def __init__(self, robot: RobotModel, walk: StagedWalk, params: TurnParams) -> None:
        self.params = params
        self._stopped = False
        self._twists = LegTwists(walk, self._wanted_twist)

    @property
    def is_finished(self) -> bool:
        """True if the body has turned by the angle and both legs are untwisted."""
        # The right leg takes part in every turn.
        return self._twists.is_idle and abs(self._wanted_twist('right')) <= MIN_TWIST

    def set_params(self, params: TurnParams) -> None:
        """Replace the parameters; they are used from the next twist on."""
        self.params = params

    def stop(self) -> None:
        """Finish when the present twists are returned."""
        self._stopped = True

    def step(self, period: Period) -> FloatArray:
        """Return the turns of ``joints`` in a period, (n,) [rad]."""
        return self._twists.step(period, self.params.period)

    @property
    def _remainder(self) -> float:
        """Rest of the turn [rad] for which no leg has been twisted; 0 after a stop."""
        if self._stopped:
            return 0.0
        begun_angle = self._twists.turned + sum(self._twists.pending.values())
        return math.radians(self.params.angle_deg) - begun_angle

    def _wanted_twist(self, leg: str) -> float:
        """Return the next twist of a leg [rad], a share of the angle at most."""
        if leg == 'left' and self.params.legs == 'right':
            return 0.0
        largest = math.radians(abs(self.params.angle_deg)) * self.params.share
        return min(max(self._remainder, -largest), largest)
