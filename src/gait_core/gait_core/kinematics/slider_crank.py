# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Slider-crank: a carriage turns a hinge by a rod and a crank, compiled.

The crank is fixed to the child link of the hinge and points along it at angle 0. The carriage runs
on the parent, on a line through the hinge and on its far side; its position is its distance from
the hinge [m]. The position grows with the angle of the hinge from 0 (straight) to pi.
"""

from __future__ import annotations

import math

import numba


@numba.njit(cache=True)
def carriage_position(angle: float, crank: float, rod: float) -> tuple[float, float]:
    """
    Return the position d of the carriage [m] and its derivative by the hinge angle [m/rad].

    By virtual work a force F on the carriage makes the torque ``F * dd/dtheta`` at the hinge.

    References
    ----------
    Bishop (2008), *A Method for Generating Robot Control Systems*, section 4.5 and appendix C.

    """
    # Bishop (2008), sec. 4.5: d = sqrt(KLL^2 - KBR^2 sin^2 theta) - KBR cos theta, with the rod
    # KLL and the crank KBR. Hence dd/dtheta = KBR sin - KBR^2 sin cos / sqrt(...).
    sine, cosine = crank * math.sin(angle), crank * math.cos(angle)
    root = math.sqrt(rod * rod - sine * sine)
    return root - cosine, sine - sine * cosine / root


@numba.njit(cache=True)
def crank_angle(position: float, crank: float, rod: float) -> float:
    """
    Return the hinge angle in [0, pi] [rad] of a position of the carriage [m].

    Positions are clipped to the range of the carriage, ``rod - crank`` to ``rod + crank``.
    """
    # Law of cosines in the triangle of crank, rod and position.
    position = min(max(position, rod - crank), rod + crank)
    cosine = (rod * rod - crank * crank - position * position) / (2.0 * crank * position)
    return math.acos(min(max(cosine, -1.0), 1.0))
