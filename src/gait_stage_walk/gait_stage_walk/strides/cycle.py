"""Periodic motions of joints without jumps of acceleration, their phase, and going over to one."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import CubicSpline

from gait_core.arrays import FloatArray

PHASES = 4
"""Phases of a cycle, each from one posture to the next."""
HALF_CYCLE = PHASES / 2
"""Phases between the two tripods."""
KNOTS = 256
"""Per cycle: the joints of a foot on a straight line are met to about 1e-8 rad in between."""


def knot_phases() -> FloatArray:
    """Return the phases at which a cycle is given, (KNOTS,), from 0 on."""
    return np.arange(KNOTS, dtype=np.float64) * (PHASES / KNOTS)


def minimum_jerk(share: FloatArray) -> FloatArray:
    """Return how far a minimum-jerk motion from 0 to 1 is after some shares of its time."""
    return np.asarray(share**3 * (10.0 + share * (6.0 * share - 15.0)))


class JointCycle:
    """
    A cycle of joint positions over the phase, which runs from 0 to 4 and begins anew.

    A periodic cubic spline (twice continuously differentiable) through what ``knots`` asks for.

    Parameters
    ----------
    positions : (KNOTS, n) array [rad or m]

    """

    def __init__(self, positions: FloatArray) -> None:
        closed = np.concatenate([positions, positions[:1]])
        at = np.append(knot_phases(), float(PHASES))
        # (4, KNOTS, n), the highest power first.
        self._coefficients: FloatArray = CubicSpline(at, closed, bc_type='periodic').c

    def positions_at(self, phases: FloatArray) -> FloatArray:
        """Return the positions, (k, n), at some phases, (k,)."""
        along = np.mod(phases, PHASES) * (KNOTS / PHASES)
        piece = np.minimum(along.astype(np.int64), KNOTS - 1)
        cubic, square, linear, constant = self._coefficients[:, piece]
        t = ((along - piece) * (PHASES / KNOTS))[:, None]
        return np.asarray(((cubic * t + square) * t + linear) * t + constant)


class StrideRhythm:
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
        self, dt: float, count: int, target_rate: float, period: float, ramp_time: float
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
        pace, sample_time = PHASES / period, dt / count
        phases = np.empty(count + 1)
        phases[0] = self.phase
        for i in range(1, count + 1):
            if target_rate == 0.0:
                self._brake(sample_time, pace, ramp_time)
            else:
                self._goal = None
                change = sample_time / ramp_time
                self.rate += min(max(target_rate - self.rate, -change), change)
                self.phase += self.rate * pace * sample_time
            phases[i] = self.phase
        turns = PHASES * math.floor(self.phase / PHASES)
        self.phase -= turns
        if self._goal is not None:
            self._goal -= turns
        return phases

    def _brake(self, dt: float, pace: float, ramp_time: float) -> None:
        """Brake so as to be at rest where both tripods stand; without a rate, stay."""
        if self.rate == 0.0:
            return
        direction = math.copysign(1.0, self.rate)
        if self._goal is None:
            braking = 0.5 * self.rate**2 * ramp_time * pace
            # Midway between landing of one tripod and lift-off of the other.
            distance = (direction * (0.5 * (self.stance - HALF_CYCLE) - self.phase)) % HALF_CYCLE
            self._goal = self.phase + direction * (
                distance if distance >= braking else distance + HALF_CYCLE
            )
        distance = direction * (self._goal - self.phase)
        # The rate from which an even braking ends at rest after what is left.
        rate = min(abs(self.rate), math.sqrt(max(2.0 * distance, 0.0) / (ramp_time * pace)))
        advance = rate * pace * dt
        if advance >= distance or rate * ramp_time < dt:
            self.phase, self.rate = self._goal, 0.0
        else:
            self.phase += direction * advance
            self.rate = direction * rate


class CycleBlend:
    """
    Cycles laid over each other, each of which gains its weight with minimum jerk.

    All run on while they are covered, so that velocities go over smoothly too.

    Parameters
    ----------
    start : (n,) array [rad or m]
        What lies under the first cycle.

    """

    def __init__(self, start: FloatArray) -> None:
        self._start = start
        self._cycles: list[JointCycle] = []
        self._ages: list[float] = []

    @property
    def standing(self) -> bool:
        """True if the start still has a weight."""
        return len(self._start) > 0

    def add_cycle(self, cycle: JointCycle) -> None:
        """Go over to a cycle from now on."""
        self._cycles.append(cycle)
        self._ages.append(0.0)

    def positions_at(self, phases: FloatArray, times: FloatArray, duration: float) -> FloatArray:
        """
        Return the positions, (k, n), and let the time pass.

        Parameters
        ----------
        phases : (k,) array
            Of all cycles.
        times : (k,) array [s]
            From now on; the last is the time that passes.
        duration : float [s]
            In which a cycle covers what lies below it.

        """
        positions: FloatArray = self._start
        done = 0
        for i, cycle in enumerate(self._cycles):
            shares = np.minimum((self._ages[i] + times) / duration, 1.0)[:, None]
            above = cycle.positions_at(phases)
            below = positions if i or self.standing else above
            positions = below + (above - below) * minimum_jerk(shares)
            self._ages[i] += float(times[-1])
            if self._ages[i] >= duration:
                done = i + 1
        if done:
            self._start = self._start[:0]
            del self._cycles[: done - 1], self._ages[: done - 1]
        return positions
