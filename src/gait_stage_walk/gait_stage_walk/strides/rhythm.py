"""Phase of a stride: its rate, and how it comes to rest."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_stage_walk.strides.cycle import PHASES

HALF = PHASES / 2
"""Phases between the two tripods."""


class Rhythm:
    """
    The phase of a stride; it starts at rest in mid-stance of the first tripod.

    Attributes
    ----------
    phase : float
        From 0 to below 4.
    rate : float
        Cycles per period, negative backwards.
    stance : float
        Phase at which a tripod lifts off, at least 2.

    """

    def __init__(self, stance: float) -> None:
        self.phase, self.rate = 0.5 * stance, 0.0
        self.stance = stance
        self._goal: float | None = None

    def advance(
        self, dt: float, count: int, wanted: float, period: float, ramp_time: float
    ) -> FloatArray:
        """
        Return the phases at the ends of ``count`` parts of a time, and at its start before them.

        The rate nears what is wanted at a bounded rate. Wanted 0, it ends where both tripods
        stand, as soon as it can.

        Parameters
        ----------
        dt : float [s]
        count : int
        wanted : float
            Cycles per period.
        period, ramp_time : float [s]
            Of a cycle, and from a rate of 0 to 1.

        """
        pace, part = PHASES / period, dt / count
        phases = np.empty(count + 1)
        phases[0] = self.phase
        for i in range(1, count + 1):
            if wanted == 0.0:
                self._halt(part, pace, ramp_time)
            else:
                self._goal = None
                change = part / ramp_time
                self.rate += min(max(wanted - self.rate, -change), change)
                self.phase += self.rate * pace * part
            phases[i] = self.phase
        turns = PHASES * math.floor(self.phase / PHASES)
        self.phase -= turns
        if self._goal is not None:
            self._goal -= turns
        return phases

    def _halt(self, dt: float, pace: float, ramp_time: float) -> None:
        """Brake so as to be at rest where both tripods stand; without a rate, stay."""
        if self.rate == 0.0:
            return
        sense = math.copysign(1.0, self.rate)
        if self._goal is None:
            braking = 0.5 * self.rate**2 * ramp_time * pace
            # Midway between landing of one tripod and lift-off of the other.
            left = (sense * (0.5 * (self.stance - HALF) - self.phase)) % HALF
            self._goal = self.phase + sense * (left if left >= braking else left + HALF)
        left = sense * (self._goal - self.phase)
        # The rate from which an even braking ends at rest after what is left.
        rate = min(abs(self.rate), math.sqrt(max(2.0 * left, 0.0) / (ramp_time * pace)))
        moved = rate * pace * dt
        if moved >= left or rate * ramp_time < dt:
            self.phase, self.rate = self._goal, 0.0
        else:
            self.phase += sense * moved
            self.rate = sense * rate
