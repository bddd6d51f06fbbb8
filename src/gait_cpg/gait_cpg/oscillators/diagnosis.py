# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Diagnosis of oscillators from their signals: alive, dead or diverged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.errors import ConfigurationError

ALIVE_THRESHOLD = 0.05
"""Peak-to-peak value above which a signal is alive (Korbel 2013: signals reach 0.46)."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """
    Properties of the signals of one network or of a batch.

    Attributes
    ----------
    peak_to_peak : (..., m) array
        Largest minus smallest value; NaN in a diverged network.
    frequency : (..., m) array [Hz]
        0 for a signal with less than two upward crossings of its middle.
    diverged : (...,) bool array
        Whether any signal of a network is not finite.
    alive : (..., m) bool array
        Whether ``peak_to_peak`` exceeds ``ALIVE_THRESHOLD``.

    """

    peak_to_peak: FloatArray
    frequency: FloatArray
    diverged: BoolArray
    alive: BoolArray

    @property
    def verdicts(self) -> BoolArray:
        """Verdict on each network, (...,): ``alive``, ``partly dead``, ``dead``, ``diverged``."""
        living = self.alive.sum(axis=-1)
        names = np.where(living == self.alive.shape[-1], 'alive', 'partly dead')
        return np.where(self.diverged, 'diverged', np.where(living == 0, 'dead', names))

    @property
    def verdict(self) -> str:
        """Verdict on a single network."""
        return str(self.verdicts)

    def require_alive(self, subject: str = 'oscillators') -> None:
        """Raise ConfigurationError, in one line, unless all signals of a network are alive."""
        if self.verdict == 'alive':
            return
        if self.verdict == 'diverged':
            raise ConfigurationError(f'{subject} diverge: shorten the step or weaken the drive')
        dead = [str(i + 1) for i in np.flatnonzero(~self.alive)]
        largest = float(self.peak_to_peak[~self.alive].max())
        raise ConfigurationError(
            f'{subject}: signals {", ".join(dead)} of {self.alive.size} do not oscillate: peak to '
            f'peak at most {largest:.2g}, more than {ALIVE_THRESHOLD:g} is needed'
        )


def diagnose(signals: FloatArray, dt: float) -> Diagnosis:
    """
    Diagnose signals, (..., T, m), sampled every ``dt`` [s].

    The frequency follows from the upward crossings of the middle between smallest and largest
    value, interpolated linearly.
    """
    signals = np.asarray(signals, dtype=np.float64)
    finite: BoolArray = np.asarray(np.isfinite(signals).all(axis=(-2, -1)))
    safe = np.where(finite[..., None, None], signals, 0.0)
    high, low = safe.max(axis=-2), safe.min(axis=-2)
    spread = np.where(finite[..., None], high - low, np.nan)
    return Diagnosis(
        peak_to_peak=spread,
        frequency=_crossing_frequency(safe - 0.5 * (high + low)[..., None, :], dt),
        diverged=np.logical_not(finite),
        alive=np.nan_to_num(spread) > ALIVE_THRESHOLD,
    )


def _crossing_frequency(centred: FloatArray, dt: float) -> FloatArray:
    """Return the frequency of the upward zero crossings, (..., m) [Hz]; 0 for less than two."""
    before, after = centred[..., :-1, :], centred[..., 1:, :]
    upward = (before < 0.0) & (after >= 0.0)
    count = upward.sum(axis=-2)
    first = upward.argmax(axis=-2)
    last = upward.shape[-2] - 1 - upward[..., ::-1, :].argmax(axis=-2)
    ends = [_crossing_sample(before, after, index) for index in (first, last)]
    span = (ends[1] - ends[0]) * dt
    crossed = count > 1
    return np.asarray(np.where(crossed, (count - 1) / np.where(crossed, span, 1.0), 0.0))


def _crossing_sample(before: FloatArray, after: FloatArray, index: IntArray) -> FloatArray:
    """Return the position [samples] of the zero crossing after each sample ``index``, (..., m)."""
    a = np.take_along_axis(before, index[..., None, :], axis=-2)[..., 0, :]
    b = np.take_along_axis(after, index[..., None, :], axis=-2)[..., 0, :]
    share = np.divide(a, a - b, out=np.zeros_like(a), where=a != b)
    return np.asarray(index + share, dtype=np.float64)
