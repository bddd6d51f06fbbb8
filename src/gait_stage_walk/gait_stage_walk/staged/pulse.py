# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""One-lobe velocity pulses, which move joints by given angles in a given time."""

from __future__ import annotations

from dataclasses import dataclass
import math

from gait_core.arrays import FloatArray

SECOND = 1_000_000_000
"""Nanoseconds per second; times are integers, so that sums of control periods are exact."""


def to_nanoseconds(seconds: float) -> int:
    """Return a time in whole nanoseconds."""
    return round(seconds * SECOND)


def pulse_progress(s: float) -> float:
    r"""
    Return the completed share of a pulse's motion at a share ``s`` of its duration.

    .. math::
        F(s) = s - \sin(2 \pi s) / (2 \pi), \quad 0 \le s \le 1

    It is 0 before and 1 after: the integral of the one-lobe velocity ``1 - cos(2 pi s)``, which
    is zero at both ends and has a peak of twice its mean.

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
    Motion of joints by one velocity pulse.

    Attributes
    ----------
    stage : int
        Published number of the stage.
    start, end : int [ns]
    angles : (n,) array [rad]
        Angles by which the joints move in all.

    """

    stage: int
    start: int
    end: int
    angles: FloatArray

    def share_between(self, begin: int, end: int) -> float:
        """
        Return the share of the motion that falls between two times [ns].

        The published listing samples the velocity once per control period. If the duration is not
        a multiple of the period, its sum misses the angle, and the errors accumulate.
        """
        # Difference of the integral F at both times: the shares of all periods sum to 1.
        duration = self.end - self.start
        return pulse_progress((end - self.start) / duration) - pulse_progress(
            (begin - self.start) / duration
        )
