r"""
Foot trajectories: where a foot is in the base frame at a phase of its cycle.

A cycle begins with lift-off at phase 0. The foot swings until touch-down at ``2 pi (1 - beta)``
and then stands for the duty factor ``beta``. On the ground it moves exactly as the ground does
under a base that moves with a constant twist: a straight line at constant speed, or an arc where
the base turns. In the air a quintic meets that motion in position, velocity and acceleration of
the straight line, and a quartic lifts and lowers the foot without vertical speed at both ends.
"""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import BoolArray, FloatArray

_TWO_PI = 2.0 * math.pi


def in_stance(phase: FloatArray, duty_factor: float) -> BoolArray:
    """Return which phases [rad] belong to the stance; lift-off, at 0, is the first of the swing."""
    return np.asarray(np.mod(phase, _TWO_PI) >= _TWO_PI * (1.0 - duty_factor))


def ground_points(points: FloatArray, twist: FloatArray, time: FloatArray) -> FloatArray:
    r"""
    Return where points fixed to the ground are in the base frame after some time.

    A base that moves with the constant planar twist ``(v, w)`` turns by ``w t`` and is displaced
    by ``S(w t) v t`` with ``S`` the mean of the rotations in between; the ground moves inversely.

    Parameters
    ----------
    points : (n, 2) array [m]
        In the base frame at time 0.
    twist : (3,) array [m/s, m/s, rad/s]
        Forward, left and yaw rate, in the base frame.
    time : (n,) array [s]
        May be negative.

    Returns
    -------
    (n, 2) array [m]

    """
    angle = twist[2] * time
    # sin(a) / a and (1 - cos(a)) / a, both regular at zero.
    along = np.sinc(angle / math.pi)
    across = 0.5 * angle * np.sinc(0.5 * angle / math.pi) ** 2
    x = points[:, 0] - (along * twist[0] - across * twist[1]) * time
    y = points[:, 1] - (across * twist[0] + along * twist[1]) * time
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * x + s * y, c * y - s * x), axis=-1)


def ground_velocities(points: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the velocity in the base frame of ground at points (n, 2) [m], as (n, 2) [m/s]."""
    return np.stack(
        (twist[2] * points[:, 1] - twist[0], -twist[2] * points[:, 0] - twist[1]), axis=-1
    )


def foot_positions(
    phase: FloatArray,
    feet: FloatArray,
    twist: FloatArray,
    *,
    frequency: float,
    duty_factor: float,
    clearance: float,
) -> FloatArray:
    """
    Return the feet of a steady gait in the base frame.

    Continuous in phase with a continuous first derivative, periodic, and at mid-stance equal to
    ``feet``.

    Parameters
    ----------
    phase : (n,) array [rad]
        0 is lift-off.
    feet : (n, 3) array [m]
        Feet at mid-stance.
    twist : (3,) array [m/s, m/s, rad/s]
        Of the base: forward, left and yaw rate.
    frequency : float [Hz]
        Cycles per second at which the phases advance.
    duty_factor : float
        Stance share of a cycle, between 0 and 1.
    clearance : float [m]
        Height of the foot over the ground at mid-swing.

    Returns
    -------
    (n, 3) array [m]

    """
    share = np.mod(phase, _TWO_PI) / _TWO_PI
    swing_share = 1.0 - duty_factor
    half_stance = 0.5 * duty_factor / frequency
    stance = share >= swing_share
    # In the air the ground's motion is evaluated at lift-off, where the swing starts.
    time = np.where(stance, (share - swing_share) / frequency - half_stance, half_stance)
    ground = ground_points(feet[:, :2], twist, time)
    landing = ground_points(feet[:, :2], twist, np.full(len(feet), -half_stance))
    progress = np.where(stance, 0.0, share / swing_share)
    flight = _quintic(progress, ground, landing, twist, swing_share / frequency)
    result = np.empty_like(feet)
    result[:, :2] = np.where(stance[:, None], ground, flight)
    result[:, 2] = feet[:, 2] + clearance * 16.0 * (progress * (1.0 - progress)) ** 2
    return result


def _quintic(
    u: FloatArray, start: FloatArray, end: FloatArray, twist: FloatArray, duration: float
) -> FloatArray:
    # Hermite interpolation with the ground's velocity and no acceleration at both ends.
    u = u[:, None]
    u3 = u**3
    blend = u3 * (10.0 + u * (6.0 * u - 15.0))
    leave = u + u3 * (-6.0 + u * (8.0 - 3.0 * u))
    arrive = u3 * (-4.0 + u * (7.0 - 3.0 * u))
    result: FloatArray = (
        start
        + blend * (end - start)
        + duration * leave * ground_velocities(start, twist)
        + duration * arrive * ground_velocities(end, twist)
    )
    return result
