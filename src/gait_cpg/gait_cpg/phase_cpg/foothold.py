"""Footholds of swinging feet, as planned by the phase oscillators."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.phase_cpg.swing import ground_points

TURN = 2.0 * math.pi


def footholds(
    oscillators: FloatArray, feet: FloatArray, now: FloatArray, extra: FloatArray
) -> FloatArray:
    """
    Return where feet that swing will touch down, in the base frame as it is now.

    Parameters
    ----------
    oscillators : (3, L) array
        Phases [rad] and amplitudes in the first rows.
    feet : (L, 4) array [m]
        In the nominal stance, and on which side: as the last two of ``foot_targets``.
    now : (10,) array
        Twist and shape, as of ``foot_targets``.
    extra : (L,) array
        By which the duty factor of each leg is more than that of the shape.

    Returns
    -------
    (L, 3) array [m]
        Of feet that stand, where they would land if they swung.

    """
    (phases, amplitudes), twist = oscillators[:2], now[:3]
    frequency, duty_factor, _, height, shift, width, sway = now[3:].tolist()
    duty_factors = duty_factor + extra
    outward = feet[:, 3]
    places = feet[:, :3] + np.outer(outward, (0.0, width, 0.0)) - (shift, 0.0, height)
    # The base goes as far as the feet that stand push it, and the ground the other way.
    moved = np.outer(amplitudes, twist)
    share = np.mod(phases, TURN) / TURN
    left = np.clip(1.0 - duty_factors - share, 0.0, None) / frequency
    half_stance = -0.5 * duty_factors / frequency
    points: FloatArray = places.copy()
    points[:, :2] = ground_points(
        points[:, :2]
        + amplitudes[:, None]
        * (
            ground_points(points[:, :2], np.tile(twist, (len(feet), 1)), half_stance)
            - points[:, :2]
        ),
        moved,
        -left,
    )
    lean = float(outward @ np.cos(phases - 0.5 * TURN * (1.0 - duty_factors))) * sway / len(feet)
    points[:, 1] += amplitudes * lean
    return points
