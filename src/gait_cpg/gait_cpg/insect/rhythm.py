# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Rhythm of insect legs: a master oscillator and a phase-shifted oscillator per leg.

Wilson's rules: swings travel from back to front; legs across the body alternate; the duration of a
swing and the delay between neighbours on one side are constant; only the cycle time changes. As
the cycle shortens, the wave becomes the tripod. An oscillator is a phase that triggers a swing at
a quarter of a cycle, the peak of its sine.

References
----------
Wilson (1966), Annual Review of Entomology 11:103-122; McKenna (1990), section 4.6.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray

TRIGGER_PHASE = 0.25
"""Phase [cycles] at which an oscillator triggers the swing of its leg."""


def cycle_time(period_scale: float, step_time: float) -> float:
    """
    Return the cycle time [s]: the scale times the shortest one without overlap of neighbours.

    Parameters
    ----------
    period_scale : float
        1 is the tripod; from 3 on one leg swings at a time.
    step_time : float [s]
        Duration of a swing, and delay between neighbours on one side.

    """
    # McKenna (1990), section 4.6: T = 2 M sigma, with the step time M and the scale sigma.
    return 2.0 * period_scale * step_time


class InsectRhythm:
    """
    Oscillators of any number of legs.

    Parameters
    ----------
    row : (n,) int array
        Row of each leg: 0 in front, increasing backward.
    right : (n,) bool array
        Whether each leg is on the right.

    Attributes
    ----------
    master_phase : float [cycles]
        Phase of the master oscillator, not wrapped.
    phases : (n,) array [cycles]
        Phases of the legs, not wrapped; they depend on the cycle time too.

    """

    def __init__(self, row: IntArray, right: BoolArray) -> None:
        self._row = row.astype(np.float64)
        self._side_phase = np.where(right, 0.5, 0.0)
        self.reset()

    def reset(self) -> None:
        """Return to the start of a cycle."""
        self.master_phase = 0.0
        self.phases: FloatArray = self._side_phase.copy()
        self._counted: FloatArray | None = None

    def advance(self, dt: float, cycle: float, delay: float) -> BoolArray:
        """
        Advance by a control period; return which legs are triggered to swing, (n,).

        Parameters
        ----------
        dt : float [s]
            Control period.
        cycle : float [s]
            Cycle time in force.
        delay : float [s]
            Delay between neighbours on one side.

        """
        if self._counted is None:
            self._counted = self._count_triggers(cycle, delay)
        self.master_phase += dt / cycle
        passed = self._count_triggers(cycle, delay)
        # A longer cycle turns the phases of the legs back: a trigger must not count again.
        triggered: BoolArray = passed > self._counted
        self._counted = np.maximum(passed, self._counted)
        return triggered

    def _count_triggers(self, cycle: float, delay: float) -> FloatArray:
        """Update the phases of the legs; return the number of their triggers so far, (n,)."""
        # McKenna (1990), section 4.6: the phase of a leg is that of the master, plus the delay of
        # its row as a share of the cycle, plus half a cycle on the right.
        self.phases = self.master_phase + self._row * (delay / cycle) + self._side_phase
        # The margin keeps rounding from delaying a trigger by a control period.
        return np.asarray(np.floor(self.phases - TRIGGER_PHASE + 1e-9))
