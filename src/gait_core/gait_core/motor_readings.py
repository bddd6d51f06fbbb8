"""What motors report: the latest readings, how old they are, and for how long they are still."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.plausible import IMPLAUSIBLE

# A pause in the readings of a motor after which nothing is known of what it did [s].
_PAUSE = 0.5


class Readings:
    """
    The latest finite reading of each of some names.

    Times are pairs of clocks [s], (2,): the one of the messages' stamps and a steady one. A span
    is the shorter of the two, because a simulator may run faster or slower than messages travel.

    Parameters
    ----------
    names : sequence of str
    tolerance : (n,) float array or None
        By how much a reading may change and still count as the same; ``None``: not at all.

    Attributes
    ----------
    values : (n,) float array
        NaN where nothing finite has come.

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
        """Take readings that came at a time; what is unknown or not plausible is left out."""
        for name, value in zip(names, values.tolist(), strict=True):
            row = self._row.get(name)
            # NaN compares false.
            if row is None or not abs(value) <= IMPLAUSIBLE:
                continue
            paused = _spans(self._came[row], now) > _PAUSE
            if paused or not abs(value - self._anchor[row]) <= self._tolerance[row]:
                self._anchor[row], self._since[row] = value, now
            self.values[row], self._came[row] = value, now

    def ages(self, now: FloatArray) -> FloatArray:
        """Return the age of each reading [s], ``inf`` where none has come."""
        return _spans(self._came, now)

    def stillness(self, now: FloatArray) -> FloatArray:
        """Return for how long each reading has not changed [s]; 0 where none has come."""
        return np.where(np.isnan(self.values), 0.0, _spans(self._since, now))


def _spans(then: FloatArray, now: FloatArray) -> FloatArray:
    """Return the shorter span of both clocks [s]; one that has gone back does not count."""
    spans = now - then
    return np.asarray(np.where(spans < 0.0, np.inf, spans).min(axis=-1))
