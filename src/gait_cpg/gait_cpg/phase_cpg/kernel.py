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
        Twist and shape, as of ``swing.Steps``.
    extra : (L,) array
        Excess of each leg's duty factor over that of the shape.

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
        Of the amplitudes.
    cosine, sine : (L, L) arrays [rad/s]
        Of the coupling.
    shape, extra : (7,) and (L,) arrays
        As of ``swing.Steps``.

    """

    stance: FloatArray
    gain: FloatArray
    cosine: FloatArray
    sine: FloatArray
    shape: FloatArray
    duty_offsets: FloatArray


@numba.njit(cache=True)
def advance_feet(state, gait, twist, period, settled, feet):  # type: ignore[no-untyped-def]
    """
    Advance a walk by a control period of K samples; write the feet at each, (L, K, 3) [m].

    Parameters
    ----------
    state : WalkState
        Overwritten.
    gait : WalkShape
    twist : (3,) array [m/s, m/s, rad/s]
        At the end. Where all are zero the amplitudes sink to zero, else they rise to one.
    period : float [s]
        Of a sample; zero for a robot that stands: its oscillators and feet stand still.
    settled : float
        Share of the way to the gait that is covered at the end.
    feet : (L, K, 3) array [m]
        Written.

    """
    legs, samples, _ = feet.shape
    motion, duty_offsets = state.twist_and_shape, state.duty_offsets
    motion_end = np.empty(10)
    for j in range(3):
        motion_end[j] = twist[j]
    for j in range(7):
        motion_end[3 + j] = motion[3 + j] + settled * (gait.shape[j] - motion[3 + j])
    duty_offsets_end = np.empty(legs)
    for i in range(legs):
        duty_offsets_end[i] = duty_offsets[i] + settled * (gait.duty_offsets[i] - duty_offsets[i])
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
    Write K samples of the oscillators, (K, L), and leave them as they are at the last.

    The goal is a frequency [Hz] and an amplitude.
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
    Write the rates (N, n) to joint positions (N, n) that come one period [s] after the other.

    Where the nearest point in reach jumped, a joint follows no faster than it can: its positions
    are overwritten. The last of them become ``last``, (n,).
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
