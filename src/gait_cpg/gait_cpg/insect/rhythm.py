"""
Rhythm of an insect's legs: a master oscillator and one shifted oscillator per leg.

Wilson's rules: steps travel from back to front; legs across the body alternate; a step lasts a
fixed time, and so does the delay between neighbours of one side; only the cycle time changes. The
wave becomes the tripod as it shortens. No sine is ever computed: an oscillator is a phase that
passes a quarter of a cycle.

References
----------
Wilson (1966), Annual Review of Entomology 11:103-122; McKenna (1990), section 4.6.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray

TRIGGER_PHASE = 0.25
"""Phase [cycles] at which an oscillator lets its leg step."""


def cycle_time(period_scale: float, step_time: float) -> float:
    """
    Return the cycle time [s]: the scale times the shortest in which neighbours do not overlap.

    Parameters
    ----------
    period_scale : float
        1 is the tripod; at 3 and above one leg steps at a time.
    step_time : float [s]
        Of a step, and between the steps of neighbours of one side.

    """
    # McKenna (1990), section 4.6: T = 2 M sigma, with the step time M and the scale sigma.
    return 2.0 * period_scale * step_time


class InsectRhythm:
    """
    The oscillators of any number of legs.

    Parameters
    ----------
    row : (n,) int array
        0 for a front leg, counting backwards.
    right : (n,) bool array

    Attributes
    ----------
    master : float [cycles]
        Phase of the master oscillator, unwrapped.
    phases : (n,) array [cycles]
        Of the legs, unwrapped; they change with the cycle time as well.

    """

    def __init__(self, row: IntArray, right: BoolArray) -> None:
        self._row = row.astype(np.float64)
        self._side_phase = np.where(right, 0.5, 0.0)
        self.reset()

    def reset(self) -> None:
        """Begin a cycle."""
        self.master_phase = 0.0
        self.phases: FloatArray = self._side_phase.copy()
        self._counted: FloatArray | None = None

    def advance(self, dt: float, cycle: float, delay: float) -> BoolArray:
        """
        Advance by dt [s]; return which legs are to step now, (n,).

        Parameters
        ----------
        dt : float [s]
        cycle : float [s]
            Cycle time in force.
        delay : float [s]
            Between neighbours of one side.

        """
        if self._counted is None:
            self._counted = self._count_triggers(cycle, delay)
        self.master_phase += dt / cycle
        passed = self._count_triggers(cycle, delay)
        # A longer cycle turns phases back: a quarter that was passed does not count again.
        triggered: BoolArray = passed > self._counted
        self._counted = np.maximum(passed, self._counted)
        return triggered

    def _count_triggers(self, cycle: float, delay: float) -> FloatArray:
        # McKenna (1990), section 4.6: the phase of a leg is that of the master, plus the delay of
        # its row as a share of the cycle, plus half a cycle on the right.
        self.phases = self.master_phase + self._row * (delay / cycle) + self._side_phase
        # Rounding must not delay a trigger that falls on a frame by that frame.
        return np.asarray(np.floor(self.phases - TRIGGER_PHASE + 1e-9))
