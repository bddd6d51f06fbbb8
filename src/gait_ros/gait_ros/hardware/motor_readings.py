"""Latest readings of motors by name, their age, and the time for which they have not changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.safety.plausibility import IMPLAUSIBLE

# Pause [s] in the readings of a motor that ends its time of rest: it may have moved meanwhile.
_MAX_PAUSE = 0.5


class Readings:
    """
    Latest finite reading of each motor.

    Times are pairs [s], (2,): by the clock of the messages' stamps and by a steady clock. A time
    span is the shorter of the two, so that neither a paused simulation nor a clock that is set
    makes a reading look old.

    Parameters
    ----------
    names : sequence of str
    tolerance : (n,) float array or None
        Change of a reading that still counts as rest; ``None``: zero.

    Attributes
    ----------
    values : (n,) float array
        NaN before the first finite reading.

    """

    def __init__(self, names: Sequence[str], tolerance: FloatArray | None = None) -> None:
        self._row = {name: row for row, name in enumerate(names)}
        n = len(self._row)
        self._tolerance = np.zeros(n) if tolerance is None else tolerance
        self.values: FloatArray = np.full(n, np.nan)
        self._came = np.full((n, 2), -np.inf)
        self._anchor = np.full(n, np.nan)
        self._since = np.full((n, 2), -np.inf)

    def take(self, names: Sequence[str], values: FloatArray, now: FloatArray) -> None:
        """Add readings that came at a time; unknown names and implausible values are left out."""
        for name, value in zip(names, values.tolist(), strict=True):
            row = self._row.get(name)
            # Written as a negation, because every comparison with NaN is false.
            if row is None or not abs(value) <= IMPLAUSIBLE:
                continue
            paused = _spans(self._came[row], now) > _MAX_PAUSE
            # The anchor is the value at which the rest began: a slow drift ends the rest, too.
            if paused or not abs(value - self._anchor[row]) <= self._tolerance[row]:
                self._anchor[row], self._since[row] = value, now
            self.values[row], self._came[row] = value, now

    def ages(self, now: FloatArray) -> FloatArray:
        """Return the age of each reading [s]; ``inf`` before the first."""
        return _spans(self._came, now)

    def stillness(self, now: FloatArray) -> FloatArray:
        """Return the time [s] for which each reading has not changed; 0 before the first."""
        return np.where(np.isnan(self.values), 0.0, _spans(self._since, now))


def _spans(then: FloatArray, now: FloatArray) -> FloatArray:
    """Return the shorter time span by both clocks [s]; a clock that went back does not count."""
    spans = now - then
    return np.asarray(np.where(spans < 0.0, np.inf, spans).min(axis=-1))
