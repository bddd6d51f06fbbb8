"""Control periods of the walk, compiled: from oscillators to feet, and what joints can follow."""

from __future__ import annotations

import math

import numba
import numpy as np

from gait_cpg.oscillators.kernels import phase_samples
from gait_cpg.swing import foot_targets


@numba.njit(cache=True)
def _swing(  # type: ignore[no-untyped-def]
    oscillators, gain, cosine, sine, period, frequency, amplitude, phases, amplitudes
):
    """Write K samples of the oscillators, (K, L), and leave them as they are at the last."""
    legs = phases.shape[1]
    rates = np.empty(phases.shape)
    phase_samples(
        oscillators[0], oscillators[1], oscillators[2], np.full(legs, frequency),
        np.full(legs, amplitude), gain, cosine, sine, period, phases, amplitudes, rates,
    )  # fmt: skip
    for i in range(legs):
        oscillators[0, i] = phases[-1, i]
        oscillators[1, i] = amplitudes[-1, i]
        oscillators[2, i] = rates[-1, i]


@numba.njit(cache=True)
def advance_feet(  # type: ignore[no-untyped-def]
    oscillators, gain, cosine, sine, period, walking, stance, now, extra, twist, wanted,
    wanted_extra, settled, feet,
):  # fmt: skip
    """
    Advance the oscillators by K samples and write where the feet are at each.

    Parameters
    ----------
    oscillators : (3, L) array [rad, -, 1/s]
        Phases, amplitudes and their rates; overwritten.
    gain : (L,) array [1/s]
        Of the amplitudes.
    cosine, sine : (L, L) arrays [rad/s]
        Of the coupling.
    period : float [s]
        Of a sample.
    walking : bool
        Else the oscillators stand still and the feet with them.
    stance : (L, 4) array [m, -]
        Each foot in the nominal stance, and 1 for a left leg, -1 for a right one.
    now : (10,) array
        Twist and shape at the beginning, as of ``foot_targets``; overwritten with those at the
        end.
    extra : (L,) array
        By which the duty factor of each leg is more than that of the shape; overwritten likewise.
    twist : three floats
        At the end. Where all are zero the amplitudes sink to zero, else they rise to one.
    wanted : (7,) array
        Shape to which the present one settles.
    wanted_extra : (L,) array
        To which the legs' own shares settle.
    settled : float
        Share of the way that is done at the end.
    feet : (L, K, 3) array [m]
        Written.

    """
    legs, samples, _ = feet.shape
    then = np.empty(10)
    for j in range(3):
        then[j] = twist[j]
    for j in range(7):
        then[3 + j] = now[3 + j] + settled * (wanted[j] - now[3 + j])
    extra_then = np.empty(legs)
    for i in range(legs):
        extra_then[i] = extra[i] + settled * (wanted_extra[i] - extra[i])
    phases, amplitudes = np.zeros((samples, legs)), np.zeros((samples, legs))
    if walking:
        moving = twist[0] != 0.0 or twist[1] != 0.0 or twist[2] != 0.0
        _swing(
            oscillators, gain, cosine, sine, period, then[3], 1.0 if moving else 0.0,
            phases, amplitudes,
        )  # fmt: skip
    foot_targets(
        phases, amplitudes, stance[:, :3], stance[:, 3], now[:3], then[:3], now[3:], then[3:],
        extra, extra_then, feet,
    )  # fmt: skip
    for j in range(10):
        now[j] = then[j]
    for i in range(legs):
        extra[i] = extra_then[i]


@numba.njit(cache=True)
def play_feet(  # type: ignore[no-untyped-def]
    oscillators,
    start,
    gain,
    cosine,
    sine,
    period,
    walking,
    at_rest,
    stance,
    now,
    extra,
    twists,
    wanted,
    wanted_extra,
    settled,
    feet,
):
    """
    Call ``advance_feet`` for T control periods; return whether the robot walks at their end.

    A robot that is told not to move walks until its amplitudes are below ``at_rest``, and then
    stands with its oscillators at the phases ``start``, (L,) [rad]. ``twists`` is (T, 3), ``feet``
    (T, L, K, 3).
    """
    for t in range(len(twists)):
        twist = (twists[t, 0], twists[t, 1], twists[t, 2])
        moving = twist[0] != 0.0 or twist[1] != 0.0 or twist[2] != 0.0
        walking = walking or moving
        advance_feet(
            oscillators, gain, cosine, sine, period, walking, stance, now, extra, twist, wanted,
            wanted_extra, settled, feet[t],
        )  # fmt: skip
        if walking and not moving and oscillators[1].max() < at_rest:
            oscillators[:] = 0.0
            oscillators[0] = start
            walking = False
    return walking


@numba.njit(cache=True)
def follow(last, fastest, period, joints, rates):  # type: ignore[no-untyped-def]
    """
    Write the rates (N, n) to joint positions (N, n) that come one period [s] after the other.

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
