# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Foot contacts: stances of soles from their vertical forces, the same for topics and metrics.

A sole is loaded from ``LOADED_SHARE`` of the weight on, until its force falls below
``UNLOADED_SHARE``. Gaps shorter than ``MIN_GAP`` belong to the stance around them. A stance whose
impulse is below ``MIN_IMPULSE`` is a graze and is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from numba import njit
import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.measures.energy import check_period
from gait_core.robot.model import RobotModel

LOADED_SHARE, UNLOADED_SHARE = 0.05, 0.02
"""Shares of the weight at which a sole becomes loaded, and below which it is no longer."""

MIN_GAP = 0.5
"""Shortest swing, in units of sqrt(length scale / g), a free-fall time."""

MIN_IMPULSE = 0.01
"""Smallest impulse of a stance, divided by the weight [s]."""

# States of a sole. Undecided: no load or gap long enough yet. Loading: loaded, no stance yet.
_UNDECIDED, _SWING, _LOADING, _STANCE = range(4)


@dataclass(frozen=True, kw_only=True)
class StanceRule:
    """
    Limits that make a vertical force a stance.

    Attributes
    ----------
    on_force, off_force : float [N]
        A sole becomes loaded when its force reaches ``on_force``, and stays loaded until it falls
        below ``off_force``.
    min_gap : float [s]
        Shortest swing.
    min_impulse : float [N s]
        Smallest impulse of a stance.
    dt : float [s]
        Time between two forces.

    """

    on_force: float
    off_force: float
    min_gap: float
    min_impulse: float
    dt: float

    def __post_init__(self) -> None:
        """Check that the thresholds are in order and that time passes."""
        check_period(self.dt)
        if not self.off_force <= self.on_force:
            raise ValueError(
                f'thresholds on = {self.on_force} N, off = {self.off_force} N: '
                'off must not exceed on'
            )

    @property
    def gap_ticks(self) -> int:
        """Fewest ticks of a swing."""
        # Rounding must not raise a whole quotient.
        return max(1, math.ceil(self.min_gap / self.dt - 1e-9))


def stance_rule(robot: RobotModel, gravity: float, dt: float) -> StanceRule:
    """Return the rule for a robot in a gravity [m/s^2]; without gravity that of 1 m/s^2."""
    gravity = gravity or 1.0
    weight = robot.mass * gravity
    return StanceRule(
        on_force=LOADED_SHARE * weight,
        off_force=UNLOADED_SHARE * weight,
        min_gap=MIN_GAP * math.sqrt(robot.length_scale / gravity),
        min_impulse=MIN_IMPULSE * weight,
        dt=dt,
    )


class SoleContacts:
    """
    Stances of soles, from forces as they arrive.

    A stance is known as soon as its impulse is reached, and its end as soon as the gap is no
    longer a short one. A sole that is loaded before the record has had a whole gap counts as in
    stance from the start of the record.

    Attributes
    ----------
    loaded : (s,) bool array
        Whether each sole is loaded now, without delay.
    grazes : (s,) int array
        Contacts so far that were no stance.

    """

    def __init__(self, rule: StanceRule, soles: int) -> None:
        self._rule = rule
        self.loaded: BoolArray = np.zeros(soles, dtype=bool)
        self.grazes: IntArray = np.zeros(soles, dtype=np.int64)
        self._sole_states: IntArray = np.full(soles, _UNDECIDED)
        # Ticks since the last load; row of ``add`` at which the stance starts, negative if that
        # was in an earlier call; sum of the forces since that row [N].
        self._gap: IntArray = np.zeros(soles, dtype=np.int64)
        self._start: IntArray = np.zeros(soles, dtype=np.int64)
        self._force_sum: FloatArray = np.zeros(soles)

    def update(self, forces: FloatArray) -> BoolArray:
        """Return which soles are known to be in stance, (s,), after vertical forces (s,) [N]."""
        return np.asarray(self.add(forces[None])[0])

    def add(self, forces: FloatArray) -> BoolArray:
        """
        Return the stances, (T, s), of further vertical forces (T, s) [N].

        Starts and ends are set back to the ticks at which they happened, within these T rows.
        """
        rule, stance = self._rule, np.zeros(forces.shape, dtype=bool)
        _write_stances(
            np.ascontiguousarray(forces, dtype=np.float64),
            (rule.on_force, rule.off_force, rule.min_impulse / rule.dt, rule.gap_ticks),
            (self._sole_states, self._gap, self._start, self._force_sum, self.loaded, self.grazes),
            stance,
        )
        return stance

    def end(self, stance: BoolArray) -> None:
        """Remove from stances (T, s), in place, the gaps still open at the end of a record."""
        for sole in np.flatnonzero((self._sole_states == _STANCE) & (self._gap > 0)):
            stance[-self._gap[sole] :, sole] = False


def stances_from_forces(forces: FloatArray, rule: StanceRule) -> tuple[BoolArray, IntArray]:
    """
    Return the stances (T, s) in a record of vertical forces (T, s) [N], and the grazes (s,).

    A load that has not reached the impulse of a stance when the record ends counts as neither.
    """
    soles = SoleContacts(rule, forces.shape[1])
    stance = soles.add(forces)
    soles.end(stance)
    return stance, soles.grazes


@njit(cache=True)
def _write_stances(  # type: ignore[no-untyped-def]
    forces, limits, state, stance
):
    """
    Advance the state of each sole over rows of forces, and write the stances.

    ``limits`` are the fields of StanceRule, with the smallest impulse over the period [N].
    """
    on_force, off_force, min_sum, gap_ticks = limits
    sole_state, gap, start, force_sum, loaded, grazes = state
    ticks, soles = forces.shape
    for s in range(soles):
        for t in range(ticks):
            force = forces[t, s]
            loaded[s] = force >= (off_force if loaded[s] else on_force)
            if loaded[s]:
                if sole_state[s] == _SWING:
                    sole_state[s], start[s], force_sum[s] = _LOADING, t, 0.0
                gap[s] = 0
                force_sum[s] += force
                is_reached = sole_state[s] == _LOADING and force_sum[s] >= min_sum
                if is_reached or sole_state[s] == _UNDECIDED:
                    # The rows since the load began belong to the stance, too.
                    sole_state[s] = _STANCE
                    stance[max(start[s], 0) : t, s] = True
            elif sole_state[s] != _SWING:
                gap[s] += 1
                if gap[s] >= gap_ticks:
                    if sole_state[s] == _LOADING:
                        grazes[s] += 1
                    # The gap is long enough for a swing: its rows so far were no stance.
                    sole_state[s] = _SWING
                    stance[max(t + 1 - gap[s], 0) : t, s] = False
            stance[t, s] = sole_state[s] == _STANCE
        # The next call counts its rows from 0 again.
        start[s] -= ticks
