# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled kernels of the oscillators: rates, explicit Euler steps and exact phase steps.

All models share one file, because Numba compares cached code with this file alone.

A network of n oscillators has a state (s, n) and ``Equations``; a drive (n,) is added to them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray

NEURONS, PAIRS, LAGGED, PHASE = range(4)
"""
Models by number; branches on them stay outside the loops over oscillators.

The first three are Matsuoka's neurons with different signals: the outputs of all neurons; the
differences within pairs; these, followed by the differences of adaptation within pairs.
"""

MAX_STEP = 0.005
"""Longest Runge-Kutta step of the phase oscillators [s]."""

_TWO_PI = 2.0 * math.pi
_WORK_ROWS = 11


class Equations(NamedTuple):
    """
    Equations of a network, or of b networks.

    Attributes
    ----------
    kind : int
        Number of the model.
    vectors, matrices : (p, n) and (q, n, n) arrays, or (b, p, n) and (b, q, n, n)
        Coefficients; the class of the model defines their order. Matrices are transposed: row j
        holds the effects of oscillator j on all others.

    """

    kind: int
    vectors: FloatArray
    matrices: FloatArray


# A division that may raise keeps loops from being vectorised.
_compiled = numba.njit(cache=True, error_model='numpy')


@_compiled
def _rectify(u):  # type: ignore[no-untyped-def]
    # Output y = max(0, u): Matsuoka (1985); Korbel (2013), Eq. 8. Written as a comparison,
    # because max() would turn NaN into 0 and hide a diverged network.
    return 0.0 if u <= 0.0 else u


@_compiled
def _pairwise_index(i, n):  # type: ignore[no-untyped-def]
    # Index of neuron i in the kernel's order: all extensors (even numbers), then all flexors.
    # Loops over pairs then run over adjacent memory and are vectorised.
    return i // 2 if i % 2 == 0 else n - n // 2 + i // 2


@numba.njit(cache=True, error_model='numpy', inline='always')
def _write_membrane_sum(u, v, y, source, adaptation, partner, columns, out):  # type: ignore[no-untyped-def]
    """Write the right-hand side of the membrane equation, (n,), before the division by tau_a."""
    # Right-hand side of the membrane equation, Matsuoka (1985); Korbel (2013), Eq. 7 (printed
    # there with +u):
    #     tau_a du/dt = s + f - u - beta v - sum_j w_ij y_j
    # ``source`` is s + f, ``adaptation`` beta, ``columns[j]`` the weights of neuron j on all.
    # The partner in a pair is subtracted before all others: equal oscillators are then summed in
    # the same order and stay equal to the last bit.
    n = u.shape[0]
    half, rest = n // 2, n - n // 2
    for i in range(n):
        out[i] = source[i] - u[i] - adaptation[i] * v[i]
    for i in range(half):
        out[i] -= partner[i] * y[rest + i]
    for i in range(half):
        out[rest + i] -= partner[rest + i] * y[i]
    for j in range(n):
        # A silent neuron inhibits nobody; about half of the neurons are silent at any time.
        output = y[j]
        if output != 0.0:
            for i in range(n):
                out[i] -= columns[j, i] * output


@_compiled
def _load_matsuoka(state, vectors, work):  # type: ignore[no-untyped-def]
    """Copy a state and its coefficients into ``work``, in the kernel's order."""
    n = state.shape[1]
    for i in range(n):
        k = _pairwise_index(i, n)
        work[0, k], work[1, k], work[2, k] = state[0, i], state[1, i], _rectify(state[0, i])
        work[3, k], work[4, k] = vectors[3, i], vectors[4, i]


@_compiled
def _write_matsuoka_rates(equations, state, drive, work, out):  # type: ignore[no-untyped-def]
    """Write the time derivatives of Matsuoka's neurons, (2, n)."""
    n, vectors = state.shape[1], equations.vectors
    u, v, y, source, membrane_sum = work[0], work[1], work[2], work[5], work[6]
    _load_matsuoka(state, vectors, work)
    for i in range(n):
        source[_pairwise_index(i, n)] = vectors[0, i] + drive[i]
    _write_membrane_sum(u, v, y, source, work[3], work[4], equations.matrices[0], membrane_sum)
    # Korbel (2013), Eq. 7: du/dt, and tau_b dv/dt = y - v.
    for i in range(n):
        k = _pairwise_index(i, n)
        out[0, i] = membrane_sum[k] / vectors[1, i]
        out[1, i] = (y[k] - v[k]) / vectors[2, i]


@_compiled
def _integrate_matsuoka(equations, state, drives, dt, steps_per_sample, signals):  # type: ignore[no-untyped-def]
    """Advance one network of Matsuoka's neurons by Euler steps; write its signals, (T, m)."""
    kind, vectors, matrix = equations.kind, equations.vectors, equations.matrices[0]
    n, last = state.shape[1], drives.shape[0] - 1
    work = np.empty((_WORK_ROWS, n))
    # One array per quantity, copied out of the batch: the inner loops index one axis only.
    u, v, y, adaptation, partner = work[0], work[1], work[2], work[3], work[4]
    source, membrane_sum, membrane_rate, adaptation_rate = work[5], work[6], work[7], work[8]
    _load_matsuoka(state, vectors, work)
    for i in range(n):
        k = _pairwise_index(i, n)
        membrane_rate[k], adaptation_rate[k] = dt / vectors[1, i], dt / vectors[2, i]
        source[k] = vectors[0, i] + drives[0, i]
    for sample in range(signals.shape[0]):
        if last > 0:
            for i in range(n):
                source[_pairwise_index(i, n)] = vectors[0, i] + drives[min(sample, last), i]
        for _ in range(steps_per_sample):
            _write_membrane_sum(u, v, y, source, adaptation, partner, matrix, membrane_sum)
            # Explicit Euler, Korbel (2013), appendix B: u and v from the old outputs, then y.
            for i in range(n):
                u[i] += membrane_rate[i] * membrane_sum[i]
                v[i] += adaptation_rate[i] * (y[i] - v[i])
            for i in range(n):
                y[i] = _rectify(u[i])
        if kind == NEURONS:
            for i in range(n):
                signals[sample, i] = y[_pairwise_index(i, n)]
        else:
            # Korbel (2013), Eq. 9: S = y_e - y_f.
            for i in range(n // 2):
                signals[sample, i] = y[i] - y[n // 2 + i]
        if kind == LAGGED:
            for i in range(n // 2):
                signals[sample, n // 2 + i] = v[i] - v[n // 2 + i]
    for i in range(n):
        k = _pairwise_index(i, n)
        state[0, i], state[1, i] = u[k], v[k]


@_compiled
def _write_phase_rates(stage, amplitude, frequency, coupling, work, out):  # type: ignore[no-untyped-def]
    """Write the rates of the phases, (n,) [rad/s], at a Runge-Kutta stage."""
    # Ijspeert et al. (2007), phase equation:
    #     theta_i' = 2 pi f_i + sum_j r_j w_ij sin(theta_j - theta_i - phi_ij)
    # at the Runge-Kutta stage theta + time * slope. The angle-difference formula takes n sines
    # and cosines instead of n * n sines; ``cosine`` is w cos(phi), ``sine`` is w sin(phi).
    phase, slope, time = stage
    cosine, sine = coupling
    n = phase.shape[0]
    for i in range(n):
        angle = phase[i] + time * slope[i]
        work[0, i], work[1, i] = math.sin(angle), math.cos(angle)
        work[2, i], work[3, i] = 0.0, 0.0
    along, across = work[2], work[3]
    for j in range(n):
        s, c, r = work[0, j], work[1, j], amplitude[j]
        for i in range(n):
            along[i] += r * (cosine[j, i] * s - sine[j, i] * c)
            across[i] += r * (cosine[j, i] * c + sine[j, i] * s)
    for i in range(n):
        out[i] = _TWO_PI * frequency[i] + work[1, i] * along[i] - work[0, i] * across[i]


@_compiled
def _write_amplitude_phase_rates(equations, state, drive, work, out):  # type: ignore[no-untyped-def]
    """Write the time derivatives of amplitude-phase oscillators, (3, n)."""
    frequency, target, gain = equations.vectors[0], equations.vectors[1], equations.vectors[2]
    phase, amplitude, rate = state[0], state[1], state[2]
    coupling = (equations.matrices[0], equations.matrices[1])
    _write_phase_rates((phase, phase, 0.0), amplitude, frequency, coupling, work, out[0])
    # Ijspeert et al. (2007), amplitude equation, critically damped: r'' = a (a/4 (R - r) - r').
    for i in range(phase.shape[0]):
        out[0, i] += drive[i]
        out[1, i] = rate[i]
        out[2, i] = gain[i] * (0.25 * gain[i] * (target[i] - amplitude[i]) - rate[i])


@_compiled
def _write_network_rates(equations, state, drive, work, out):  # type: ignore[no-untyped-def]
    if equations.kind <= LAGGED:
        _write_matsuoka_rates(equations, state, drive, work, out)
    else:
        _write_amplitude_phase_rates(equations, state, drive, work, out)


@_compiled
def _write_network_signals(kind, state, signals):  # type: ignore[no-untyped-def]
    """Write the signals, (m,), of the state of one network."""
    m = signals.shape[0]
    if kind == NEURONS:
        for i in range(m):
            signals[i] = _rectify(state[0, i])
    elif kind <= LAGGED:
        # Korbel (2013), Eq. 9: S = y_e - y_f; then the adaptation v_e - v_f.
        for i in range(state.shape[1] // 2):
            signals[i] = _rectify(state[0, 2 * i]) - _rectify(state[0, 2 * i + 1])
        for i in range(state.shape[1] // 2, m):
            k = 2 * i - state.shape[1]
            signals[i] = state[1, k] - state[1, k + 1]
    else:
        for i in range(m):
            signals[i] = state[1, i] * math.cos(state[0, i])


@_compiled
def _select_network(equations, b):  # type: ignore[no-untyped-def]
    return Equations(equations.kind, equations.vectors[b], equations.matrices[b])


@_compiled
def write_rates(equations, states, drives, out):  # type: ignore[no-untyped-def]
    """Write the time derivatives, (b, s, n), of b networks with drives (b, n)."""
    work = np.empty((_WORK_ROWS, states.shape[2]))
    for b in range(states.shape[0]):
        _write_network_rates(_select_network(equations, b), states[b], drives[b], work, out[b])


@_compiled
def write_signals(kind, states, signals):  # type: ignore[no-untyped-def]
    """Write the signals, (b, m), of b states."""
    for b in range(states.shape[0]):
        _write_network_signals(kind, states[b], signals[b])


@_compiled
def _integrate_euler(equations, state, drives, dt, steps_per_sample, signals):  # type: ignore[no-untyped-def]
    """Advance one network of any model by Euler steps; write its signals, (T, m)."""
    work, slope = np.empty((_WORK_ROWS, state.shape[1])), np.empty(state.shape)
    last = drives.shape[0] - 1
    for k in range(signals.shape[0]):
        drive = drives[min(k, last)]
        for _ in range(steps_per_sample):
            _write_network_rates(equations, state, drive, work, slope)
            for row in range(state.shape[0]):
                for i in range(state.shape[1]):
                    state[row, i] += dt * slope[row, i]
        _write_network_signals(equations.kind, state, signals[k])


@_compiled
def integrate_euler(equations, states, drives, dt, steps_per_sample, signals):  # type: ignore[no-untyped-def]
    """
    Advance b networks by explicit Euler and write their signals.

    Parameters
    ----------
    equations : Equations
        Equations of b networks.
    states : (b, s, n) array
        Overwritten by the states at the end.
    drives : (b, d, n) array
        One drive for each of the T samples, or one for all (d = 1).
    dt : float [s]
        Euler step.
    steps_per_sample : int
    signals : (b, T, m) array
        Written: the signals after the last step of each sample.

    """
    for b in range(states.shape[0]):
        network = _select_network(equations, b)
        if equations.kind <= LAGGED:
            _integrate_matsuoka(network, states[b], drives[b], dt, steps_per_sample, signals[b])
        else:
            _integrate_euler(network, states[b], drives[b], dt, steps_per_sample, signals[b])


@_compiled
def _write_amplitudes(time, offset, slope, target, half_gain, out):  # type: ignore[no-untyped-def]
    # Exact solution of the amplitude equation: r(t) = R + (d + s t) exp(-a t / 2), with d = r - R
    # and s = r' + a d / 2 at time 0.
    for i in range(out.shape[0]):
        out[i] = target[i] + (offset[i] + slope[i] * time) * math.exp(-half_gain[i] * time)


@_compiled
def _step_phase_network(state, network, dt, work, new):  # type: ignore[no-untyped-def]
    """Write phases, amplitudes and rates after ``dt``; see ``sample_phase_oscillators``."""
    phase, amplitude, rate = state
    frequency, target, gain, cosine, sine = network
    new_phase, new_amplitude, new_rate = new
    n = phase.shape[0]
    half_gain, offset, slope = work[4], work[5], work[6]
    for i in range(n):
        half_gain[i] = 0.5 * gain[i]
        offset[i] = amplitude[i] - target[i]
        slope[i] = rate[i] + half_gain[i] * offset[i]
        new_phase[i], new_amplitude[i] = phase[i], amplitude[i]
    k1, k2, k3, k4 = work[7], work[8], work[9], work[10]
    # The margin keeps rounding from adding a step to a dt that is a multiple of MAX_STEP.
    steps = max(1, math.ceil(dt / MAX_STEP - 1e-9))
    h = dt / steps
    # Classic Runge-Kutta for the phases; the amplitudes at each stage are exact.
    now, r, f, coupling = new_phase, new_amplitude, frequency, (cosine, sine)
    for step in range(steps):
        _write_phase_rates((now, now, 0.0), r, f, coupling, work, k1)
        _write_amplitudes((step + 0.5) * h, offset, slope, target, half_gain, r)
        _write_phase_rates((now, k1, 0.5 * h), r, f, coupling, work, k2)
        _write_phase_rates((now, k2, 0.5 * h), r, f, coupling, work, k3)
        _write_amplitudes((step + 1.0) * h, offset, slope, target, half_gain, r)
        _write_phase_rates((now, k3, h), r, f, coupling, work, k4)
        for i in range(n):
            now[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    # Derivative of the exact amplitude: r'(t) = (r' - (a / 2) s t) exp(-a t / 2).
    for i in range(n):
        new_rate[i] = (rate[i] - half_gain[i] * slope[i] * dt) * math.exp(-half_gain[i] * dt)


@_compiled
def sample_phase_oscillators(state, network, dt, samples):  # type: ignore[no-untyped-def]
    """
    Advance a network of phase oscillators by K steps of ``dt`` [s]; write the state after each.

    Amplitudes are exact; phases take Runge-Kutta steps of at most ``MAX_STEP``.

    Parameters
    ----------
    state : three (n,) arrays [rad, -, 1/s]
        Phases, amplitudes and their rates at the start.
    network : (n,), (n,), (n,), (n, n) and (n, n) arrays [Hz, -, 1/s, rad/s]
        Frequencies, target amplitudes, amplitude gains, cosine and sine of ``Coupling``.
    dt : float [s]
    samples : three (K, n) arrays
        Written: phases, amplitudes and their rates after each step.

    """
    phases, amplitudes, rates = samples
    work = np.empty((_WORK_ROWS, phases.shape[1]))
    for k in range(phases.shape[0]):
        new = (phases[k], amplitudes[k], rates[k])
        _step_phase_network(state, network, dt, work, new)
        state = new


@_compiled
def step_phase_oscillators(states, vectors, matrices, dt, out):  # type: ignore[no-untyped-def]
    """Write the states, (b, 3, n), of b networks of phase oscillators after ``dt``."""
    work = np.empty((_WORK_ROWS, states.shape[2]))
    for b in range(states.shape[0]):
        state = (states[b, 0], states[b, 1], states[b, 2])
        network = (
            vectors[b, 0],
            vectors[b, 1],
            vectors[b, 2],
            matrices[b, 0],
            matrices[b, 1],
        )
        _step_phase_network(state, network, dt, work, (out[b, 0], out[b, 1], out[b, 2]))
