# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Foot trajectories in the base frame over the phase, and predicted footholds.

A cycle begins with lift-off at phase 0. The foot swings until touch-down at ``2 pi (1 - beta)``,
with the duty factor ``beta``. In stance the foot moves as the ground does under a base with
constant twist: on a straight line at constant speed, or on an arc if the base turns. In swing a
quintic continues that motion in position and velocity, with zero acceleration at both ends, and a
quartic lifts and lowers the foot with zero vertical velocity at both ends.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.processes.compiling import gufunc

_TWO_PI = 2.0 * math.pi


def is_stance(phase: FloatArray, duty_factor: float | FloatArray) -> BoolArray:
    """Return which phases [rad] are in stance; lift-off, at 0, is in swing."""
    return np.asarray(np.mod(phase, _TWO_PI) >= _TWO_PI * (1.0 - duty_factor))


def ground_points_after(points: FloatArray, twist: FloatArray, time: FloatArray) -> FloatArray:
    r"""
    Return points fixed to the ground in the base frame after a time.

    A base that moves with the constant planar twist ``(v, w)`` turns by ``w t`` and is displaced
    by ``S(w t) v t`` with ``S`` the mean of the rotations in between; the ground moves inversely.

    Parameters
    ----------
    points : (..., 2) array [m]
        Points in the base frame at time 0.
    twist : (..., 3) array [m/s, m/s, rad/s]
        Forward, left and yaw velocity of the base, in the base frame.
    time : (...) array or float [s]
        Can be negative.

    Returns
    -------
    (..., 2) array [m]

    """
    result: FloatArray = _ground_points(points, twist, time)
    return result


@numba.njit(cache=True)
def _ground_point(x, y, twist, time):  # type: ignore[no-untyped-def]
    """Return the point (x, y) of the ground in the base frame after a time [s]."""
    # Displacement of the base: the mean rotation over the time, times velocity and time. Its
    # entries are sin(a) / a and (1 - cos(a)) / a; near zero by series with errors below a^4 / 100.
    angle = twist[2] * time
    if abs(angle) > 1e-4:
        along, across = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle
    else:
        along, across = 1.0 - angle * angle / 6.0, 0.5 * angle
    x -= (along * twist[0] - across * twist[1]) * time
    y -= (across * twist[0] + along * twist[1]) * time
    c, s = math.cos(angle), math.sin(angle)
    return c * x + s * y, c * y - s * x


@gufunc('void(float64[:], float64[:], float64, float64[:])', '(k),(m),()->(k)')
def _ground_points(point, twist, time, out):  # type: ignore[no-untyped-def]
    out[0], out[1] = _ground_point(point[0], point[1], twist, time)


@numba.njit(cache=True)
def _quintic(u, start, end, start_rate, end_rate):  # type: ignore[no-untyped-def]
    # Quintic Hermite interpolation, u from 0 to 1, with zero acceleration at both ends.
    u3 = u * u * u
    return (
        start
        + u3 * (10.0 + u * (6.0 * u - 15.0)) * (end - start)
        + (u + u3 * (-6.0 + u * (8.0 - 3.0 * u))) * start_rate
        + u3 * (-4.0 + u * (7.0 - 3.0 * u)) * end_rate
    )


@numba.njit(cache=True)
def _foot_position(  # type: ignore[no-untyped-def]
    phase, foot, twist, frequency, duty_factor, clearance, out
):
    """Write the position of one foot at a phase [rad], (3,) [m]."""
    share = (phase % _TWO_PI) / _TWO_PI
    swing_share = 1.0 - duty_factor
    half_stance = 0.5 * duty_factor / frequency
    # Stance: the foot is fixed to the ground, at its nominal position at mid-stance.
    if share >= swing_share:
        time = (share - swing_share) / frequency - half_stance
        out[0], out[1] = _ground_point(foot[0], foot[1], twist, time)
        out[2] = foot[2]
        return
    # Swing: from lift-off, half a stance after mid-stance, to touch-down, half a stance before it.
    x0, y0 = _ground_point(foot[0], foot[1], twist, half_stance)
    x1, y1 = _ground_point(foot[0], foot[1], twist, -half_stance)
    u, duration = share / swing_share, swing_share / frequency
    # The ground under a foot at (x, y) moves with (w y - vx, -w x - vy).
    out[0] = _quintic(
        u, x0, x1, duration * (twist[2] * y0 - twist[0]), duration * (twist[2] * y1 - twist[0])
    )
    out[1] = _quintic(
        u, y0, y1, duration * (-twist[2] * x0 - twist[1]), duration * (-twist[2] * x1 - twist[1])
    )
    out[2] = foot[2] + clearance * 16.0 * (u * (1.0 - u)) ** 2


class StepParameters(NamedTuple):
    """
    Parameters of the steps of L legs at an instant.

    Attributes
    ----------
    twist : (3,) array [m/s, m/s, rad/s]
        Forward, left and yaw velocity of the base.
    shape : (7,) array
        Frequency [Hz], duty factor, clearance, height of the body relative to the nominal stance,
        forward shift of the body, outward shift of the feet, and sway [m].
    duty_offsets : (L,) array
        Duty factor of each leg minus that of the shape.

    """

    twist: FloatArray
    shape: FloatArray
    duty_offsets: FloatArray


@numba.njit(cache=True)
def write_foot_targets(phases, amplitudes, stance, first, last, out):  # type: ignore[no-untyped-def]
    """
    Write the feet in the base frame at K equidistant samples of a control period.

    Parameters
    ----------
    phases, amplitudes : (K, L) arrays [rad, -]
        An amplitude scales the motion of a foot from standing (0) to walking (1).
    stance : (L, 4) array [m, -]
        Each foot in the nominal stance, and 1 for a left leg, -1 for a right one.
    first, last : StepParameters
        Parameters at the start and at the end of the period; linear in between.
    out : (L, K, 3) array [m]
        Written.

    """
    feet, outward = stance[:, :3], stance[:, 3]
    first_twist, first_shape, first_offsets = first
    last_twist, last_shape, last_offsets = last
    samples, legs = phases.shape
    foot = np.empty(3)
    for k in range(samples):
        share = (k + 1.0) / samples
        twist = first_twist + share * (last_twist - first_twist)
        shape = first_shape + share * (last_shape - first_shape)
        frequency, duty_factor, clearance = shape[0], shape[1], shape[2]
        height, shift, width, sway = shape[3], shape[4], shape[5], shape[6]
        # Sway: the cosine is 1 at mid-swing of a leg and shifts the body away from that leg;
        # legs that swing on both sides at once cancel.
        sway_shift = 0.0
        for i in range(legs):
            duty = duty_factor + (first_offsets[i] + share * (last_offsets[i] - first_offsets[i]))
            sway_shift += outward[i] * math.cos(phases[k, i] - math.pi * (1.0 - duty))
        sway_shift *= sway / legs
        for i in range(legs):
            foot[0] = feet[i, 0] - shift
            foot[1] = feet[i, 1] + width * outward[i]
            foot[2] = feet[i, 2] - height
            path = out[i, k]
            duty = duty_factor + (first_offsets[i] + share * (last_offsets[i] - first_offsets[i]))
            _foot_position(phases[k, i], foot, twist, frequency, duty, clearance, path)
            path[1] += sway_shift
            # The amplitude scales the whole trajectory about the standing foot.
            for j in range(3):
                path[j] = foot[j] + amplitudes[k, i] * (path[j] - foot[j])


def predict_footholds(
    oscillators: FloatArray, feet: FloatArray, motion: FloatArray, duty_offsets: FloatArray
) -> FloatArray:
    """
    Predict the footholds of swinging feet in the present base frame.

    Parameters
    ----------
    oscillators : (3, L) array
        Phases [rad] and amplitudes in the first rows.
    feet : (L, 4) array [m]
        Each foot in the nominal stance, and 1 for a left leg, -1 for a right one.
    motion : (10,) array
        Twist and shape, as in ``StepParameters``.
    duty_offsets : (L,) array
        Duty factor of each leg minus that of the shape.

    Returns
    -------
    (L, 3) array [m]
        For feet in stance, the foothold if they were at touch-down.

    """
    (phases, amplitudes), twist = oscillators[:2], motion[:3]
    frequency, duty_factor, _, height, shift, width, sway = motion[3:].tolist()
    duty_factors = duty_factor + duty_offsets
    outward = feet[:, 3]
    stance_feet = feet[:, :3] + np.outer(outward, (0.0, width, 0.0)) - (shift, 0.0, height)
    # The stance feet push the base by the twist times the amplitude. In the frame of the base the
    # ground moves the other way until touch-down, and each foothold with it.
    twists = np.outer(amplitudes, twist)
    share = np.mod(phases, _TWO_PI) / _TWO_PI
    time_left = np.clip(1.0 - duty_factors - share, 0.0, None) / frequency
    half_stance = -0.5 * duty_factors / frequency
    points: FloatArray = stance_feet.copy()
    points[:, :2] = ground_points_after(
        points[:, :2]
        + amplitudes[:, None]
        * (
            ground_points_after(points[:, :2], np.tile(twist, (len(feet), 1)), half_stance)
            - points[:, :2]
        ),
        twists,
        -time_left,
    )
    sway_shift = (
        float(outward @ np.cos(phases - math.pi * (1.0 - duty_factors))) * sway / len(feet)
    )
    points[:, 1] += amplitudes * sway_shift
    return points
