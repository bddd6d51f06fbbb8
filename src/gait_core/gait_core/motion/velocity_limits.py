"""Limits of the velocities that a controller follows."""

from __future__ import annotations

from dataclasses import dataclass
import math

Velocity = tuple[float, float, float]
_TOLERANCE = 1e-9
_DIRECTIONS = (
    ('forward', 'backward', 'm/s'),
    ('to the left', 'to the right', 'm/s'),
    ('to the left', 'to the right', 'rad/s'),
)


@dataclass(frozen=True)
class VelocityRange:
    """
    The range of one component of a velocity that a controller follows.

    Attributes
    ----------
    low, high : float [m/s or rad/s]
        What lies outside is walked as the nearer of them.
    reason : str
        Where it comes from: a parameter, or what the walk cannot do.

    """

    low: float
    high: float
    reason: str

    @classmethod
    def symmetric(cls, limit: float, reason: str) -> VelocityRange:
        """Return the bound of a speed that is the same both ways."""
        return cls(-limit, limit, reason)


UNLIMITED = VelocityRange(-math.inf, math.inf, '')
"""A component that is followed whatever it is."""

VelocityLimits = tuple[VelocityRange, VelocityRange, VelocityRange] | str
"""Of forward speed, speed to the left and turning rate; or why no velocity is followed at all."""


def symmetric_limits(forward: float, sideways: float, yaw_rate: float) -> VelocityLimits:
    """Return the bounds of parameters ``max_forward``, ``max_sideways`` and ``max_yaw_rate``."""
    return (
        VelocityRange.symmetric(forward, 'gait.max_forward'),
        VelocityRange.symmetric(sideways, 'gait.max_sideways'),
        VelocityRange.symmetric(yaw_rate, 'gait.max_yaw_rate'),
    )


def describe_clipping(limits: VelocityLimits, velocity: Velocity) -> str:
    """
    Return what of a velocity is not walked, and why, in one line; empty where all of it is.

    Parameters
    ----------
    limits : VelocityLimits
    velocity : (forward, left, yaw rate) [m/s, m/s, rad/s]

    Examples
    --------
    >>> bounds = (VelocityRange.symmetric(0.6, 'gait.max_forward'), UNLIMITED, UNLIMITED)
    >>> describe_clipping(bounds, (100.0, 0.0, 0.2))
    '100 m/s forward is walked as 0.6 (gait.max_forward)'
    >>> describe_clipping('it keeps its own pace', (0.2, 0.0, -1.0))
    '0.2 m/s forward, 1 rad/s to the right: it keeps its own pace'

    """
    asked = [
        f'{abs(speed):g} {unit} {ahead if speed > 0.0 else back}'
        for speed, (ahead, back, unit) in zip(velocity, _DIRECTIONS, strict=True)
    ]
    if isinstance(limits, str):
        told = ', '.join(text for text, speed in zip(asked, velocity, strict=True) if speed)
        return f'{told}: {limits}' if told else ''
    cut = []
    for text, speed, bound in zip(asked, velocity, limits, strict=True):
        walked = min(max(speed, bound.low), bound.high)
        if abs(walked - speed) > _TOLERANCE:
            cut.append(f'{text} is walked as {abs(walked):.3g} ({bound.reason})')
    return '; '.join(cut)
