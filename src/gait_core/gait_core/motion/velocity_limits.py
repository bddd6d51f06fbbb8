"""Limits of the velocities that a controller follows."""

from __future__ import annotations

from dataclasses import dataclass
import math

Velocity = tuple[float, float, float]
_ALMOST = 1e-9
_WAYS = (
    ('forward', 'backward', 'm/s'),
    ('to the left', 'to the right', 'm/s'),
    ('to the left', 'to the right', 'rad/s'),
)


@dataclass(frozen=True)
class Bound:
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
    def both(cls, most: float, reason: str) -> Bound:
        """Return the bound of a speed that is the same both ways."""
        return cls(-most, most, reason)


FREE = Bound(-math.inf, math.inf, '')
"""A component that is followed whatever it is."""

Bounds = tuple[Bound, Bound, Bound] | str
"""Of forward speed, speed to the left and turning rate; or why no velocity is followed at all."""


def at_most(forward: float, sideways: float, yaw_rate: float) -> Bounds:
    """Return the bounds of parameters ``max_forward``, ``max_sideways`` and ``max_yaw_rate``."""
    return (
        Bound.both(forward, 'gait.max_forward'),
        Bound.both(sideways, 'gait.max_sideways'),
        Bound.both(yaw_rate, 'gait.max_yaw_rate'),
    )


def beyond(bounds: Bounds, velocity: Velocity) -> str:
    """
    Return what of a velocity is not walked, and why, in one line; empty where all of it is.

    Parameters
    ----------
    bounds : Bounds
    velocity : (forward, left, yaw rate) [m/s, m/s, rad/s]

    Examples
    --------
    >>> bounds = (Bound.both(0.6, 'gait.max_forward'), FREE, FREE)
    >>> beyond(bounds, (100.0, 0.0, 0.2))
    '100 m/s forward is walked as 0.6 (gait.max_forward)'
    >>> beyond('it keeps its own pace', (0.2, 0.0, -1.0))
    '0.2 m/s forward, 1 rad/s to the right: it keeps its own pace'

    """
    asked = [
        f'{abs(speed):g} {unit} {ahead if speed > 0.0 else back}'
        for speed, (ahead, back, unit) in zip(velocity, _WAYS, strict=True)
    ]
    if isinstance(bounds, str):
        told = ', '.join(text for text, speed in zip(asked, velocity, strict=True) if speed)
        return f'{told}: {bounds}' if told else ''
    cut = []
    for text, speed, bound in zip(asked, velocity, bounds, strict=True):
        walked = min(max(speed, bound.low), bound.high)
        if abs(walked - speed) > _ALMOST:
            cut.append(f'{text} is walked as {abs(walked):.3g} ({bound.reason})')
    return '; '.join(cut)
