# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled control period of the phase-oscillator walk: from oscillators to feet and joints."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_cpg.oscillators.kernels import sample_phase_oscillators
from gait_cpg.phase_cpg.swing import StepParameters, write_foot_targets


class WalkState(NamedTuple):
    """
    State of the walk of L legs at the end of a control period; overwritten by the next one.

    Attributes
    ----------
    oscillators : (3, L) array [rad, -, 1/s]
        Phases, amplitudes and their rates.
    twist_and_shape : (10,) array
        Twist and shape, as in ``swing.StepParameters``.
    duty_offsets : (L,) array
        Duty factor of each leg minus that of the shape.

    """

    oscillators: FloatArray
    twist_and_shape: FloatArray
    duty_offsets: FloatArray


class WalkShape(NamedTuple):
    """
    Gait to which the walk settles.

    Attributes
    ----------
    stance : (L, 4) array [m, -]
        Each foot in the nominal stance, and 1 for a left leg, -1 for a right one.
    gain : (L,) array [1/s]
        Gain of the amplitudes.
    cosine, sine : (L, L) arrays [rad/s]
        As in ``oscillators.Coupling``.
    shape, duty_offsets : (7,) and (L,) arrays
        As in ``swing.StepParameters``.

    """

    stance: FloatArray
    gain: FloatArray
    cosine: FloatArray
    sine: FloatArray
    shape: FloatArray
    duty_offsets: FloatArray


@numba.njit(cache=True)
def advance_feet(state, gait, twist, period, convergence, feet):  # type: ignore[no-untyped-def]
    """
    Advance a walk by a control period of K samples; write the feet at each sample.

    Parameters
    ----------
    state : WalkState
        Overwritten.
    gait : WalkShape
    twist : (3,) array [m/s, m/s, rad/s]
        Twist at the end of the period. The target of the amplitudes is 0 for a twist of zero,
        else 1.
    period : float [s]
        Time between samples; zero for a robot that stands: its oscillators do not move.
    convergence : float
        Share of the difference to the gait by which the shape converges in this period.
    feet : (L, K, 3) array [m]
        Written, in the base frame.

    """
    legs, samples, _ = feet.shape
    motion, duty_offsets = state.twist_and_shape, state.duty_offsets
    # Twist and shape at the end of the period: the commanded twist, and a first-order convergence
    # to the gait.
    motion_end = np.empty(10)
    for j in range(3):
        motion_end[j] = twist[j]
    for j in range(7):
        motion_end[3 + j] = motion[3 + j] + convergence * (gait.shape[j] - motion[3 + j])
    duty_offsets_end = np.empty(legs)
    for i in range(legs):
        duty_offsets_end[i] = duty_offsets[i] + convergence * (
            gait.duty_offsets[i] - duty_offsets[i]
        )
    # Oscillators at each sample, then the feet at their phases. A standing robot keeps amplitude
    # zero, at which the feet do not depend on the phase.
    phases, amplitudes = np.zeros((samples, legs)), np.zeros((samples, legs))
    if period > 0.0:
        is_moving = twist[0] != 0.0 or twist[1] != 0.0 or twist[2] != 0.0
        _advance_oscillators(
            state.oscillators,
            gait,
            (motion_end[3], 1.0 if is_moving else 0.0),
            period,
            phases,
            amplitudes,
        )
    first, last = (
        StepParameters(motion[:3], motion[3:], duty_offsets),
        StepParameters(motion_end[:3], motion_end[3:], duty_offsets_end),
    )
    write_foot_targets(phases, amplitudes, gait.stance, first, last, feet)
    for j in range(10):
        motion[j] = motion_end[j]
    for i in range(legs):
        duty_offsets[i] = duty_offsets_end[i]


@numba.njit(cache=True)
def _advance_oscillators(oscillators, gait, goal, period, phases, amplitudes):  # type: ignore[no-untyped-def]
    """
    Advance the oscillators by K samples; write phases and amplitudes, (K, L) each.

    ``goal`` is the frequency [Hz] and the target amplitude of all oscillators.
    """
    legs = phases.shape[1]
    rates = np.empty(phases.shape)
    network = (
        np.full(legs, goal[0]),
        np.full(legs, goal[1]),
        gait.gain,
        gait.cosine,
        gait.sine,
    )
    state = (oscillators[0], oscillators[1], oscillators[2])
    sample_phase_oscillators(state, network, period, (phases, amplitudes, rates))
    for i in range(legs):
        oscillators[0, i] = phases[-1, i]
        oscillators[1, i] = amplitudes[-1, i]
        oscillators[2, i] = rates[-1, i]


@numba.njit(cache=True)
def limit_joint_rates(last_joints, max_rates, period, joints, rates):  # type: ignore[no-untyped-def]
    """
    Write the rates that lead to successive joint positions, within the velocity limits.

    Positions that a joint cannot reach in time are overwritten: inverse kinematics can jump where
    a foot is out of reach.

    Parameters
    ----------
    last_joints : (n,) array [rad or m]
        Positions before the first sample; overwritten by the last sample.
    max_rates : (n,) array [rad/s or m/s]
        Velocity limits.
    period : float [s]
        Time between samples.
    joints, rates : (N, n) arrays
        Positions, limited, and rates, written.
    """
    for i in range(len(last_joints)):
        position, max_change = last_joints[i], max_rates[i] * period
        for k in range(len(joints)):
            change = joints[k, i] - position
            if abs(change) > max_change:
                change = math.copysign(max_change, change)
                joints[k, i] = position + change
            position = joints[k, i]
            rates[k, i] = change / period
        last_joints[i] = position
