# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Periodic joint motions with continuous acceleration, their phase, and blends between them."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import CubicSpline

from gait_core.arrays import FloatArray

PHASES = 4
"""Number of phases of a cycle, each from one posture to the next."""
HALF_CYCLE = PHASES / 2
"""Lag of the second tripod behind the first, in phases."""
KNOTS = 256
"""Knots per cycle; between them the joints of a foot on a straight line err by about 1e-8 rad."""


def knot_phases() -> FloatArray:
    """Return the phases of the knots, (KNOTS,), from 0 on."""
    return np.arange(KNOTS, dtype=np.float64) * (PHASES / KNOTS)


def minimum_jerk(share: FloatArray) -> FloatArray:
    """Return the position of a minimum-jerk motion from 0 to 1 at shares of its duration."""
    return np.asarray(share**3 * (10.0 + share * (6.0 * share - 15.0)))


class JointCycle:
    """
    Cycle of joint positions over the phase, which runs from 0 to 4.

    Periodic cubic spline, twice continuously differentiable, through positions at the knots.

    Parameters
    ----------
    positions : (KNOTS, n) array [rad or m]
        Positions at ``knot_phases``.

    """

    def __init__(self, positions: FloatArray) -> None:
        closed = np.concatenate([positions, positions[:1]])
        at = np.append(knot_phases(), float(PHASES))
        # (4, KNOTS, n), the highest power first.
        self._coefficients: FloatArray = CubicSpline(at, closed, bc_type='periodic').c

    def positions_at(self, phases: FloatArray) -> FloatArray:
        """Return the positions, (k, n), at phases, (k,)."""
        along = np.mod(phases, PHASES) * (KNOTS / PHASES)
        piece = np.minimum(along.astype(np.int64), KNOTS - 1)
        cubic, square, linear, constant = self._coefficients[:, piece]
        t = ((along - piece) * (PHASES / KNOTS))[:, None]
        return np.asarray(((cubic * t + square) * t + linear) * t + constant)


class StrideRhythm:
    """
    Phase of a stride; it starts at rest at mid-stance of the first tripod.

    Attributes
    ----------
    phase : float
        From 0 to below 4.
    rate : float
        Frequency as a multiple of that at the cycle time ``period``; negative backward.
    lift_off_phase : float
        Phase at the end of stance, at least 2.

    """

    def __init__(self, lift_off_phase: float) -> None:
        self.phase, self.rate = 0.5 * lift_off_phase, 0.0
        self.lift_off_phase = lift_off_phase
        self._goal: float | None = None

    def advance(
        self, dt: float, count: int, target_rate: float, period: float, ramp_time: float
    ) -> FloatArray:
        """
        Advance by a control period; return the phases at its start and after each sample.

        The rate moves toward the target at a bounded rate of change. A target of 0 stops it at
        the next phase with both tripods in stance that it can reach.

        Parameters
        ----------
        dt : float [s]
            Control period.
        count : int
            Number of samples.
        target_rate : float
            Frequency as a multiple of 1 / period.
        period, ramp_time : float [s]
            Cycle time at a rate of 1, and duration of a change of the rate by 1.

        Returns
        -------
        (count + 1,) array

        """
        phase_rate, sample_time = PHASES / period, dt / count
        phases = np.empty(count + 1)
        phases[0] = self.phase
        for i in range(1, count + 1):
            if target_rate == 0.0:
                self._brake(sample_time, phase_rate, ramp_time)
            else:
                self._goal = None
                change = sample_time / ramp_time
                self.rate += min(max(target_rate - self.rate, -change), change)
                self.phase += self.rate * phase_rate * sample_time
            phases[i] = self.phase
        whole_cycles = PHASES * math.floor(self.phase / PHASES)
        self.phase -= whole_cycles
        if self._goal is not None:
            self._goal -= whole_cycles
        return phases

    def _brake(self, dt: float, phase_rate: float, ramp_time: float) -> None:
        """Brake to rest at a phase with both tripods in stance; at rest, stay."""
        if self.rate == 0.0:
            return
        direction = math.copysign(1.0, self.rate)
        if self._goal is None:
            braking = 0.5 * self.rate**2 * ramp_time * phase_rate
            # Goal: midway between the touch-down of one tripod and the lift-off of the other; the
            # next one if the braking distance is longer than the distance to it.
            distance = (
                direction * (0.5 * (self.lift_off_phase - HALF_CYCLE) - self.phase)
            ) % HALF_CYCLE
            self._goal = self.phase + direction * (
                distance if distance >= braking else distance + HALF_CYCLE
            )
        distance = direction * (self._goal - self.phase)
        # Constant deceleration to rest over d: rate^2 = 2 d / (ramp_time * phase_rate).
        rate = min(abs(self.rate), math.sqrt(max(2.0 * distance, 0.0) / (ramp_time * phase_rate)))
        advance = rate * phase_rate * dt
        if advance >= distance or rate * ramp_time < dt:
            self.phase, self.rate = self._goal, 0.0
        else:
            self.phase += direction * advance
            self.rate = direction * rate


class CycleBlend:
    """
    Blend of cycles: each new cycle replaces those before it, with minimum jerk.

    The earlier cycles run on until then, so that velocities are continuous too.

    Parameters
    ----------
    start : (n,) array [rad or m]
        Positions that the first cycle replaces.

    """

    def __init__(self, start: FloatArray) -> None:
        self._start = start
        self._cycles: list[JointCycle] = []
        self._ages: list[float] = []

    @property
    def is_starting(self) -> bool:
        """True if the first cycle has not replaced the start yet."""
        return len(self._start) > 0

    def add_cycle(self, cycle: JointCycle) -> None:
        """Begin to replace the present cycle by a new one."""
        self._cycles.append(cycle)
        self._ages.append(0.0)

    def positions_at(self, phases: FloatArray, times: FloatArray, duration: float) -> FloatArray:
        """
        Return the positions, (k, n), at times from now on, and advance to the last of them.

        Parameters
        ----------
        phases : (k,) array
            Phases of all cycles.
        times : (k,) array [s]
        duration : float [s]
            Duration of the blend to a new cycle.

        """
        # From the oldest to the newest cycle: each moves the blend toward itself by its weight.
        positions: FloatArray = self._start
        done = 0
        for i, cycle in enumerate(self._cycles):
            shares = np.minimum((self._ages[i] + times) / duration, 1.0)[:, None]
            newer = cycle.positions_at(phases)
            older = positions if i or self.is_starting else newer
            positions = older + (newer - older) * minimum_jerk(shares)
            self._ages[i] += float(times[-1])
            if self._ages[i] >= duration:
                done = i + 1
        # A cycle at full weight hides the start and all cycles before it.
        if done:
            self._start = self._start[:0]
            del self._cycles[: done - 1], self._ages[: done - 1]
        return positions
