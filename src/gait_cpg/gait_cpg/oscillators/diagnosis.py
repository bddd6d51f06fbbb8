"""Diagnosis of oscillators from their signals, in a form that studies can count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.errors import ConfigurationError

ALIVE_THRESHOLD = 0.05
"""Peak-to-peak size from which a signal counts as alive (Korbel 2013: signals reach 0.46)."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """
    Properties of the signals of one network or of a batch.

    Attributes
    ----------
    peak_to_peak : (..., m) array
        NaN where the network diverges.
    frequency : (..., m) array [Hz]
        0 for a signal that does not cross its middle twice upwards.
    diverged : (...,) bool array
        Whether any signal is not finite.
    alive : (..., m) bool array

    """

    peak_to_peak: FloatArray
    frequency: FloatArray
    diverged: BoolArray
    alive: BoolArray

    @property
    def verdicts(self) -> BoolArray:
        """Return ``alive``, ``partly dead``, ``dead`` or ``diverged`` of each, (...,) array."""
        living = self.alive.sum(axis=-1)
        names = np.where(living == self.alive.shape[-1], 'alive', 'partly dead')
        return np.where(self.diverged, 'diverged', np.where(living == 0, 'dead', names))

    @property
    def verdict(self) -> str:
        """The verdict on a single network."""
        return str(self.verdicts)

    def require_alive(self, subject: str = 'oscillators') -> None:
        """Raise ConfigurationError, in one line, unless all signals of one network are alive."""
        if self.verdict == 'alive':
            return
        if self.verdict == 'diverged':
            raise ConfigurationError(f'{subject} diverge: shorten the step or weaken the drive')
        dead = [str(i + 1) for i in np.flatnonzero(~self.alive)]
        largest = float(self.peak_to_peak[~self.alive].max())
        raise ConfigurationError(
            f'{subject}: signal {", ".join(dead)} of {self.alive.size} is dead, it moves by at most '
            f'{largest:.2g}; alive is above {ALIVE_THRESHOLD:g}'
        )


def diagnose(signals: FloatArray, dt: float) -> Diagnosis:
    """
    Return whether signals, (..., T, m) at a distance of ``dt`` [s], are alive.

    The frequency is that of upward crossings of the middle between the extremes, interpolated
    linearly.
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
    """Return the frequency of the upward zero crossings, (..., m) [Hz]."""
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
    """Return where, in samples, the signal crosses zero after some samples, (..., m)."""
    a = np.take_along_axis(before, index[..., None, :], axis=-2)[..., 0, :]
    b = np.take_along_axis(after, index[..., None, :], axis=-2)[..., 0, :]
    share = np.divide(a, a - b, out=np.zeros_like(a), where=a != b)
    return np.asarray(index + share, dtype=np.float64)
