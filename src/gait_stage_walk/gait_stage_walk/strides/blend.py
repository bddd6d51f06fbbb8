"""Going over from a posture to a cycle, and from one cycle to another, without a jump."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_stage_walk.strides.cycle import Cycle
from gait_stage_walk.strides.tripod import smooth_step


class Blend:
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
        self._cycles: list[Cycle] = []
        self._ages: list[float] = []

    @property
    def standing(self) -> bool:
        """True if the start still has a weight."""
        return len(self._start) > 0

    def cover(self, cycle: Cycle) -> None:
        """Go over to a cycle from now on."""
        self._cycles.append(cycle)
        self._ages.append(0.0)

    def at(self, phases: FloatArray, times: FloatArray, duration: float) -> FloatArray:
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
            above = cycle.at(phases)
            below = positions if i or self.standing else above
            positions = below + (above - below) * smooth_step(shares)
            self._ages[i] += float(times[-1])
            if self._ages[i] >= duration:
                done = i + 1
        if done:
            self._start = self._start[:0]
            del self._cycles[: done - 1], self._ages[: done - 1]
        return positions
