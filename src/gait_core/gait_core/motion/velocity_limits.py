# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of the velocity that a controller can follow."""

from __future__ import annotations

from dataclasses import dataclass
import math

Velocity = tuple[float, float, float]
"""Forward velocity, velocity to the left and yaw rate [m/s, m/s, rad/s]."""
ZERO_VELOCITY: Velocity = (0.0, 0.0, 0.0)
_TOLERANCE = 1e-9
_DIRECTIONS = (
    ('forward', 'backward', 'm/s'),
    ('to the left', 'to the right', 'm/s'),
    ('to the left', 'to the right', 'rad/s'),
)


@dataclass(frozen=True)
class VelocityRange:
    """
    Range of one component of the velocity that a controller can follow.

    Attributes
    ----------
    low, high : float [m/s or rad/s]
        A commanded value outside the range is clipped to it.
    reason : str
        Source of the limit: a parameter, or a motion that the walk lacks.

    """

    low: float
    high: float
    reason: str

    @classmethod
    def symmetric(cls, limit: float, reason: str) -> VelocityRange:
        """Return the range from ``-limit`` to ``limit``."""
        return cls(-limit, limit, reason)


UNLIMITED = VelocityRange(-math.inf, math.inf, '')
"""Range of a component without limits."""

VelocityLimits = tuple[VelocityRange, VelocityRange, VelocityRange] | str
"""Ranges of forward velocity, velocity to the left and yaw rate.

A text instead is the reason why the controller follows no velocity."""


def symmetric_limits(forward: float, sideways: float, yaw_rate: float) -> VelocityLimits:
    """Return limits set by the parameters ``max_forward``, ``max_sideways``, ``max_yaw_rate``."""
    return (
        VelocityRange.symmetric(forward, 'gait.max_forward'),
        VelocityRange.symmetric(sideways, 'gait.max_sideways'),
        VelocityRange.symmetric(yaw_rate, 'gait.max_yaw_rate'),
    )


def describe_clipping(limits: VelocityLimits, velocity: Velocity) -> str:
    """
    Return one line that names each clipped component, its limit and the reason; '' if none is.

    Parameters
    ----------
    limits : VelocityLimits
    velocity : (forward, left, yaw rate) [m/s, m/s, rad/s]

    Examples
    --------
    >>> limits = (VelocityRange.symmetric(0.6, 'gait.max_forward'), UNLIMITED, UNLIMITED)
    >>> describe_clipping(limits, (100.0, 0.0, 0.2))
    '100 m/s forward is limited to 0.6 (gait.max_forward)'
    >>> describe_clipping('it keeps its own pace', (0.2, 0.0, -1.0))
    '0.2 m/s forward, 1 rad/s to the right: it keeps its own pace'

    """
    commanded = [
        f'{abs(speed):g} {unit} {ahead if speed > 0.0 else back}'
        for speed, (ahead, back, unit) in zip(velocity, _DIRECTIONS, strict=True)
    ]
    if isinstance(limits, str):
        ignored = ', '.join(text for text, speed in zip(commanded, velocity, strict=True) if speed)
        return f'{ignored}: {limits}' if ignored else ''
    cut = []
    for text, speed, bound in zip(commanded, velocity, limits, strict=True):
        clipped = min(max(speed, bound.low), bound.high)
        if abs(clipped - speed) > _TOLERANCE:
            cut.append(f'{text} is limited to {abs(clipped):.3g} ({bound.reason})')
    return '; '.join(cut)
