"""One-lobe velocity pulses: a joint moves by a fixed angle in a fixed time."""

from __future__ import annotations

from dataclasses import dataclass
import math

from gait_core.arrays import FloatArray

SECOND = 1_000_000_000
"""Nanoseconds in a second: times are integers, so that sums of ticks stay exact."""


def to_nanoseconds(seconds: float) -> int:
    """Return a time in whole nanoseconds."""
    return round(seconds * SECOND)


def pulse_progress(s: float) -> float:
    r"""
    Return the share of a pulse's motion completed at a share of its duration.

    .. math::
        F(s) = s - \sin(2 \pi s) / (2 \pi), \quad 0 \le s \le 1

    0 below and 1 above: the integral of a one-lobe cosine velocity ``1 - cos(2 pi s)``, whose
    ends are at rest and whose peak is twice its mean.

    References
    ----------
    Pike (2003), section 6.2, ``Velocity2``.

    Examples
    --------
    >>> [pulse_progress(s) for s in (-1.0, 0.0, 0.5, 1.0, 2.0)]
    [0.0, 0.0, 0.5, 1.0, 1.0]

    """
    if s <= 0.0:
        return 0.0
    if s >= 1.0:
        return 1.0
    return s - math.sin(2.0 * math.pi * s) / (2.0 * math.pi)


@dataclass(frozen=True, kw_only=True)
class Pulse:
    """
    A motion by ``angles`` [rad], (n,), from ``start`` to ``end`` [ns].

    ``stage`` is the published number of the stage that it belongs to.
    """

    stage: int
    start: int
    end: int
    angles: FloatArray

    def share_between(self, begin: int, end: int) -> float:
        """
        Return the share of the motion that falls between two times [ns].

        The published listing samples the lobe once a tick instead; its sum then misses the angle
        by a little for a duration that is no whole number of ticks, and the error accumulates.
        """
        # The difference of the integrals F at both ends: no angle is lost between ticks.
        duration = self.end - self.start
        return pulse_progress((end - self.start) / duration) - pulse_progress(
            (begin - self.start) / duration
        )
