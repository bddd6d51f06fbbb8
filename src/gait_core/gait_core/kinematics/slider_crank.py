"""
A slider-crank: a carriage on a line through a hinge turns it by a rod and a crank, compiled.

The crank stands on the hinge's child, along it at angle 0; the carriage runs on the parent on the
far side of the hinge, and its place is its distance from the hinge [m]. It grows with the angle
from 0 (straight) to pi.
"""

from __future__ import annotations

import math

import numba


@numba.njit(cache=True)
def carriage_position(angle: float, crank: float, rod: float) -> tuple[float, float]:
    """
    Return the place of the carriage [m] and by how much it moves per angle [m/rad].

    A force F along the place turns the hinge by the torque F times the second: virtual work.

    References
    ----------
    Bishop (2008), *A Method for Generating Robot Control Systems*, section 4.5 and appendix C.

    """
    # Place d = sqrt(KLL^2 - KBR^2 sin^2) - KBR cos of the knee angle, and dd/dtheta, by which the
    # force times dd/dtheta is the torque.
    sine, cosine = crank * math.sin(angle), crank * math.cos(angle)
    reach = math.sqrt(rod * rod - sine * sine)
    return reach - cosine, sine - sine * cosine / reach


@numba.njit(cache=True)
def crank_angle(position: float, crank: float, rod: float) -> float:
    """
    Return the angle in [0, pi] [rad] at which the carriage has a place [m].

    That of the nearest place where the carriage cannot be: between ``rod - crank`` and
    ``rod + crank`` it can.
    """
    # Law of cosines: the inverse of the place.
    position = min(max(position, rod - crank), rod + crank)
    cosine = (rod * rod - crank * crank - position * position) / (2.0 * crank * position)
    return math.acos(min(max(cosine, -1.0), 1.0))
