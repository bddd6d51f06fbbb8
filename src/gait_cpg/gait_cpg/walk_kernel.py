"""A control period of the walk, compiled: from oscillators to feet, and what joints can follow."""

from __future__ import annotations

import math

import numba
import numpy as np

from gait_cpg.phase_oscillators import advance_samples
from gait_cpg.swing import foot_targets


@numba.njit(cache=True)
def advance_feet(  # type: ignore[no-untyped-def]
    oscillators, drive, cosine, sine, period, walking, stance, now, then, feet
):
    """
    Advance the oscillators by K samples and write where the feet are at each.

    Parameters
    ----------
    oscillators : (3, L) array [rad, -, 1/s]
        Phases, amplitudes and their rates; overwritten.
    drive : (3, L) array [Hz, -, 1/s]
        Frequencies, target amplitudes and gains.
    cosine, sine : (L, L) arrays [rad/s]
        Of the coupling.
    period : float [s]
        Of a sample.
    walking : bool
        Else the oscillators stand still and the feet with them.
    stance : (L, 4) array [m, -]
        Each foot in the nominal stance, and 1 for a left leg, -1 for a right one.
    now, then : (10,) arrays
        Twist and shape at both ends of the period, as of ``foot_targets``.
    feet : (L, K, 3) array [m]
        Written.

    """
    legs, samples, _ = feet.shape
    phases, amplitudes = np.zeros((samples, legs)), np.zeros((samples, legs))
    if walking:
        rates = np.empty((samples, legs))
        advance_samples(
            oscillators[0], oscillators[1], oscillators[2], drive[0], drive[1], drive[2],
            cosine, sine, period, phases, amplitudes, rates,
        )  # fmt: skip
        for i in range(legs):
            oscillators[0, i] = phases[-1, i]
            oscillators[1, i] = amplitudes[-1, i]
            oscillators[2, i] = rates[-1, i]
    foot_targets(
        phases, amplitudes, stance[:, :3], stance[:, 3], now[:3], then[:3], now[3:], then[3:], feet
    )


@numba.njit(cache=True)
def follow(last, fastest, period, joints, rates):  # type: ignore[no-untyped-def]
    """
    Write the rates (K, n) to joint positions (K, n) that come one period [s] after the other.

    Where the nearest point in reach jumped, a joint follows no faster than it can: its positions
    are overwritten. The last of them become ``last``, (n,).
    """
    for i in range(len(last)):
        here, reach = last[i], fastest[i] * period
        for k in range(len(joints)):
            move = joints[k, i] - here
            if abs(move) > reach:
                move = math.copysign(reach, move)
                joints[k, i] = here + move
            here = joints[k, i]
            rates[k, i] = move / period
        last[i] = here
