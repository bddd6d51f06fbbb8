"""Targets after a change of what makes them: the difference is made good slowly."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray

# Time within which nothing passes that is faster than before [s]: of a robot that moved, and of
# one that stood, whose controller may take as long until its targets rest anew.
_LEAST, _STOOD = 0.5, 1.5
# Time in which targets that go on being faster get twice as much of their way [s].
_DOUBLING = 0.5
_WINDOW = 1.0


class Pace:
    """The greatest speed of each joint's targets within the last one to two seconds."""

    def __init__(self, size: int) -> None:
        self._now, self._before = np.zeros((2, size))
        self._since = 0.0

    def add(self, dt: float, speed: FloatArray) -> None:
        """Take the speeds, (n,), of a control period of length dt [s]."""
        self._since += dt
        if self._since > _WINDOW:
            self._before, self._now = self._now, np.zeros_like(self._now)
            self._since = 0.0
        np.maximum(self._now, speed, out=self._now)

    @property
    def speed(self) -> FloatArray:
        """Greatest speed of each, (n,)."""
        greatest: FloatArray = np.maximum(self._now, self._before)
        return greatest


class Blend:
    """
    Passes from the targets before a change to those after it.

    What moves as fast as before passes; all beyond that, a jump first of all, is kept as an offset
    that shrinks at a speed of its own, every joint in proportion. A robot that stood is therefore
    not moved faster than that speed, and one that walks walks on. Targets that go on being faster
    than before the change, because the new gait is, get their way in the end.

    Parameters
    ----------
    last : (n,) array
        What was put out last.
    before : (n,) array
        Of which targets; the two differ within a blend.
    pace : (n,) array
        Greatest speeds before the change.
    speed : (n,) array
        At which the offset shrinks.

    Attributes
    ----------
    passed : (n,) array
        Greatest speed in the last control period of what passed.

    """

    def __init__(
        self, last: FloatArray, before: FloatArray, pace: FloatArray, speed: FloatArray
    ) -> None:
        self._before, self._offset = before, last - before
        self._pace, self._speed = pace.copy(), speed
        self._elapsed, self._moves_until = 0.0, 0.0
        self._patience = _LEAST if (pace > speed).any() else _STOOD
        self.passed: FloatArray = np.zeros_like(pace)
        self._effort: FloatArray | None = None

    @property
    def done(self) -> bool:
        """Whether the targets are followed as they are."""
        return self._elapsed >= self._patience and not self._offset.any()

    @property
    def bound(self) -> FloatArray:
        """Greatest speed of each joint now, (n,)."""
        greatest: FloatArray = self._pace + self._speed
        return greatest

    def follow(self, wanted: FloatArray, period: float) -> FloatArray:
        """Return what takes the place of targets, (K, n), each of which holds for a period [s]."""
        given, self.passed = np.empty_like(wanted), np.zeros_like(self._pace)
        for k, row in enumerate(wanted):
            moved = row - self._before
            most = self._pace * period
            passed = np.clip(moved, -most, most)
            self.passed = np.maximum(self.passed, np.abs(passed) / period)
            self._offset = self._offset + passed - moved
            self._elapsed += period
            if (np.abs(moved) > self._speed * period).any():
                self._moves_until = self._elapsed + _WINDOW
            if self._patience < self._elapsed < self._moves_until:
                self._pace = self._pace + (self._pace + self._speed) * period / _DOUBLING
            self._shrink(period)
            given[k], self._before = row + self._offset, row
        return given

    def _shrink(self, period: float) -> None:
        over = float(np.abs(self._offset / (self._speed * period)).max(initial=0.0))
        self._offset = self._offset * (1.0 - 1.0 / over) if over > 1.0 else 0.0 * self._offset

    def fade(self, last: FloatArray, wanted: FloatArray) -> FloatArray:
        """Return efforts, (K, n), that come from the last ones before the change."""
        if self._effort is None:
            self._effort = last - wanted[0]
        left = max(0.0, 1.0 - self._elapsed / _LEAST)
        faded: FloatArray = wanted + left * self._effort
        return faded
