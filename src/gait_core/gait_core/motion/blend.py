# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Smooth transition of joint targets between gaits, at a bounded extra speed."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray

# Time [s] for which no target moves faster than before the change. It is longer for a robot that
# stood, because its controller may need that time to bring its targets to rest again.
_GUARD_MOVING, _GUARD_STANDING = 0.5, 1.5
# Time [s] in which the allowed speed doubles if the new gait is faster than the old one.
_DOUBLING_TIME = 0.5
# Length [s] of a window in which peak speeds are taken.
_PEAK_WINDOW = 1.0


class PeakSpeed:
    """The greatest speed of each joint's targets within the last one to two seconds."""

    def __init__(self, size: int) -> None:
        # Two windows in turn: the maximum of both covers at least one whole window at any time,
        # without a history of samples.
        self._current, self._previous = np.zeros((2, size))
        self._elapsed = 0.0

    def update(self, dt: float, speed: FloatArray) -> None:
        """Update the maximum with the speeds, (n,), of a control period of length dt [s]."""
        self._elapsed += dt
        if self._elapsed > _PEAK_WINDOW:
            self._previous, self._current = self._current, np.zeros_like(self._current)
            self._elapsed = 0.0
        np.maximum(self._current, speed, out=self._current)

    @property
    def speed(self) -> FloatArray:
        """Greatest speed of each joint, (n,) [rad/s or m/s]."""
        greatest: FloatArray = np.maximum(self._current, self._previous)
        return greatest


class Blend:
    """
    Transition from the targets before a change of the gait to those after it.

    The output is the new targets plus an offset. Motion of the targets up to the peak speed before
    the change is passed on. Motion beyond it, such as a jump at the change, goes into the offset,
    which shrinks at ``speed``, all joints in proportion. A robot that stood is therefore moved at
    ``speed`` at most, and one that walks goes on walking. If the new gait is faster than the old
    one, the speed that is passed on grows after a guard time until the gait is followed exactly.

    Parameters
    ----------
    last : (n,) array [rad or m]
        Last output.
    before : (n,) array [rad or m]
        Last targets of the controller; they differ from ``last`` if the change comes during
        another blend.
    peak : (n,) array [rad/s or m/s]
        Peak speeds before the change.
    speed : (n,) array [rad/s or m/s]
        Speed at which the offset shrinks.

    Attributes
    ----------
    passed_speed : (n,) array [rad/s or m/s]
        Greatest speed that was passed on in the last control period, without the offset's.

    """

    def __init__(
        self, last: FloatArray, before: FloatArray, peak: FloatArray, speed: FloatArray
    ) -> None:
        self._before, self._offset = before, last - before
        self._peak, self._speed = peak.copy(), speed
        self._elapsed, self._moves_until = 0.0, 0.0
        self._guard_time = _GUARD_MOVING if (peak > speed).any() else _GUARD_STANDING
        self.passed_speed: FloatArray = np.zeros_like(peak)
        self._effort_offset: FloatArray | None = None

    @property
    def is_done(self) -> bool:
        """True if the guard time is over and the offset is zero."""
        return self._elapsed >= self._guard_time and not self._offset.any()

    @property
    def max_speed(self) -> FloatArray:
        """Greatest speed of each joint's output now, (n,): passed on, and of the offset."""
        greatest: FloatArray = self._peak + self._speed
        return greatest

    def follow(self, targets: FloatArray, period: float) -> FloatArray:
        """Return the output for target positions, (K, n), each of which holds for a period [s]."""
        output, self.passed_speed = np.empty_like(targets), np.zeros_like(self._peak)
        for k, row in enumerate(targets):
            change = row - self._before
            limit = self._peak * period
            passed = np.clip(change, -limit, limit)
            self.passed_speed = np.maximum(self.passed_speed, np.abs(passed) / period)
            # The offset takes up the motion that is not passed on: the output lags behind.
            self._offset = self._offset + passed - change
            self._elapsed += period
            # A gait moves in bursts; between two of them it counts as moving.
            if (np.abs(change) > self._speed * period).any():
                self._moves_until = self._elapsed + _PEAK_WINDOW
            # Only targets that go on moving need more speed. A single jump does not: its offset
            # shrinks to zero by itself.
            if self._guard_time < self._elapsed < self._moves_until:
                self._peak = self._peak + self.max_speed * period / _DOUBLING_TIME
            self._shrink(period)
            output[k], self._before = row + self._offset, row
        return output

    def _shrink(self, period: float) -> None:
        """
        Shrink the offset by one period.

        All joints arrive together: the slowest one, relative to its speed, sets the rate.
        """
        periods = float(np.abs(self._offset / (self._speed * period)).max(initial=0.0))
        self._offset = (
            self._offset * (1.0 - 1.0 / periods) if periods > 1.0 else 0.0 * self._offset
        )

    def fade_efforts(self, last: FloatArray, efforts: FloatArray) -> FloatArray:
        """Return efforts, (K, n), that fade from the last ones, (n,), to ``efforts``, (K, n)."""
        if self._effort_offset is None:
            self._effort_offset = last - efforts[0]
        share = max(0.0, 1.0 - self._elapsed / _GUARD_MOVING)
        faded: FloatArray = efforts + share * self._effort_offset
        return faded
