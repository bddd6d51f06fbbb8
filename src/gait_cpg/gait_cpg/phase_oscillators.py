r"""
Networks of coupled amplitude-phase oscillators.

.. math::
    \dot\theta_i = 2\pi f_i + \sum_j r_j w_{ij} \sin(\theta_j - \theta_i - \varphi_{ij})

    \ddot r_i = a_i \left(\frac{a_i}{4} (R_i - r_i) - \dot r_i\right)

Ijspeert, Crespi, Ryczko and Cabelguen (2007), Science 315:1416-1420, without sensory input. The
amplitudes are critically damped and solved exactly; the phases take classic Runge-Kutta steps of
at most ``MAX_STEP`` that see the exact amplitudes. Such a step advances an uncoupled phase
exactly, so it only has to resolve the coupling: where offsets converge at 20 1/s, one step errs
by (20 * 0.005)^5 / 120 of an offset, below 1e-7.

Every function takes batches: leading axes broadcast, so that many parameter sets advance in one
call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math

import numba
import numpy as np

from gait_core.arrays import FloatArray, frozen

MAX_STEP = 0.005
"""Longest Runge-Kutta step [s]."""

_TWO_PI = 2.0 * math.pi


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """
    Who pulls whom in a network of n oscillators, and where to.

    Attributes
    ----------
    weights : (..., n, n) array [rad/s]
        ``weights[i, j]`` is the pull of ``j`` on ``i``; zero means no edge.
    phase_bias : (..., n, n) array [rad]
        Wanted ``phase[j] - phase[i]``; antisymmetric.
    cosine, sine : (..., n, n) arrays [rad/s]
        ``weights`` times the cosine and the sine of ``phase_bias``, derived.

    Raises
    ------
    ValueError
        If an array is not square or their sizes differ; the message names the shapes.

    """

    weights: FloatArray
    phase_bias: FloatArray
    cosine: FloatArray = field(init=False, repr=False, compare=False)
    sine: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the shapes and derive what the kernel multiplies with."""
        weights = frozen(self.weights, name='weights')
        bias = frozen(self.phase_bias, name='phase_bias')
        if weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
            raise ValueError(f'weights has shape {weights.shape}, expected (..., n, n)')
        if bias.shape[-2:] != weights.shape[-2:]:
            raise ValueError(
                f'phase_bias has shape {bias.shape}, expected (..., *{weights.shape[-2:]})'
            )
        object.__setattr__(self, 'weights', weights)
        object.__setattr__(self, 'phase_bias', bias)
        object.__setattr__(self, 'cosine', frozen(weights * np.cos(bias), name='cosine'))
        object.__setattr__(self, 'sine', frozen(weights * np.sin(bias), name='sine'))

    @property
    def size(self) -> int:
        """Number of oscillators."""
        return int(self.weights.shape[-1])


def coupling_to_lags(lags: FloatArray, convergence_rate: float) -> Coupling:
    """
    Return the all-to-all coupling that drives a network to given phase lags.

    Parameters
    ----------
    lags : (n,) array [cycles]
        Share of a cycle by which each oscillator comes after a common reference.
    convergence_rate : float [1/s]
        Rate at which small offsets from the lags decay while all amplitudes are 1: the n equal
        weights ``w`` give the eigenvalue ``-n w`` of the complete graph.

    """
    lags = np.asarray(lags, dtype=np.float64)
    n = lags.shape[0]
    return Coupling(
        weights=(convergence_rate / n) * (1.0 - np.eye(n)),
        phase_bias=_TWO_PI * (lags[:, None] - lags[None, :]),
    )


def locked_phases(lags: FloatArray, reference: float = 0.0) -> FloatArray:
    """Return phases at exactly these lags [cycles] behind a reference phase, (n,) [rad]."""
    return reference - _TWO_PI * np.asarray(lags, dtype=np.float64)


@dataclass(frozen=True)
class OscillatorState:
    """
    State of a network: three (..., n) arrays.

    ``phase`` [rad] is not wrapped; ``amplitude`` [-] and ``amplitude_rate`` [1/s] are the ``r``
    of the module's equations and its derivative.
    """

    phase: FloatArray
    amplitude: FloatArray
    amplitude_rate: FloatArray

    @classmethod
    def at_rest(cls, phase: FloatArray) -> OscillatorState:
        """Return oscillators of amplitude zero at some phases."""
        phase = np.asarray(phase, dtype=np.float64)
        return cls(phase, np.zeros_like(phase), np.zeros_like(phase))


def phase_rates(
    phase: FloatArray, amplitude: FloatArray, frequency: FloatArray, coupling: Coupling
) -> FloatArray:
    r"""
    Return the phase derivatives of a coupled amplitude-phase oscillator network.

    .. math::
        \dot\theta_i = 2\pi f_i + \sum_j r_j w_{ij} \sin(\theta_j - \theta_i - \varphi_{ij})

    Parameters
    ----------
    phase : (..., n) array [rad]
        Oscillator phases ``theta``, wrapped or not.
    amplitude : (..., n) array [-]
        Oscillator amplitudes ``r``, non-negative.
    frequency : (..., n) array [Hz]
        Intrinsic frequencies ``f``.
    coupling : Coupling
        Weights ``w`` and wanted offsets ``varphi``.

    Returns
    -------
    (..., n) array [rad/s]

    Raises
    ------
    ValueError
        If the sizes do not match.

    References
    ----------
    Ijspeert et al. (2007), Science 315:1416-1420.

    Examples
    --------
    Two oscillators already in antiphase only advance:

    >>> coupling = coupling_to_lags(np.array([0.0, 0.5]), convergence_rate=4.0)
    >>> rates = phase_rates(np.array([0.0, np.pi]), np.ones(2), np.ones(2), coupling)
    >>> bool(np.allclose(rates, 2.0 * np.pi))
    True

    """
    rates: FloatArray = _phase_rates(phase, amplitude, frequency, coupling.cosine, coupling.sine)
    return rates


def amplitude_accelerations(
    amplitude: FloatArray, amplitude_rate: FloatArray, target: FloatArray, gain: FloatArray
) -> FloatArray:
    r"""
    Return the second derivatives of the amplitudes, critically damped at rate ``gain / 2``.

    .. math::
        \ddot r_i = a_i \left(\frac{a_i}{4} (R_i - r_i) - \dot r_i\right)

    Parameters
    ----------
    amplitude, amplitude_rate : (..., n) arrays [-, 1/s]
    target : (..., n) array [-]
        ``R``, non-negative.
    gain : (..., n) array [1/s]
        ``a``, positive.

    """
    result: FloatArray = gain * (0.25 * gain * (target - amplitude) - amplitude_rate)
    return result


def amplitudes_after(
    time: float,
    amplitude: FloatArray,
    amplitude_rate: FloatArray,
    target: FloatArray,
    gain: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """
    Return amplitudes and their rates after a time [s]: ``amplitude_accelerations`` solved.

    With ``d = r - R`` and ``s = r' + a d / 2`` the solution is
    ``d(t) = (d + s t) exp(-a t / 2)``.
    """
    half = 0.5 * gain
    offset = amplitude - target
    slope = amplitude_rate + half * offset
    decay = np.exp(-half * time)
    return target + (offset + slope * time) * decay, (amplitude_rate - half * slope * time) * decay


def advance(
    state: OscillatorState,
    dt: float,
    *,
    frequency: FloatArray,
    target_amplitude: FloatArray,
    amplitude_gain: FloatArray,
    coupling: Coupling,
) -> OscillatorState:
    """
    Return the state after ``dt`` [s] of constant frequencies and target amplitudes.

    Parameters
    ----------
    state : OscillatorState
    dt : float [s]
        Not negative; longer than ``MAX_STEP`` it is cut into equal internal steps.
    frequency, target_amplitude, amplitude_gain : (..., n) arrays [Hz, -, 1/s]
        As in ``phase_rates`` and ``amplitude_accelerations``.
    coupling : Coupling

    """
    return OscillatorState(
        *_advance(
            state.phase, state.amplitude, state.amplitude_rate, frequency, target_amplitude,
            amplitude_gain, coupling.cosine, coupling.sine, dt,
        )
    )  # fmt: skip


@numba.njit(cache=True)
def _rates_into(  # type: ignore[no-untyped-def]
    phase, slope, time, amplitude, frequency, cosine, sine, room, out
):
    # Of the phases after some time at a slope. sin(a - b - c) from the sines and cosines of single
    # phases: n pairs, not n * n sines.
    n = phase.shape[0]
    for i in range(n):
        angle = phase[i] + time * slope[i]
        room[0, i], room[1, i] = math.sin(angle), math.cos(angle)
    for i in range(n):
        along, across = 0.0, 0.0
        for j in range(n):
            s, c = room[0, j], room[1, j]
            along += amplitude[j] * (cosine[i, j] * s - sine[i, j] * c)
            across += amplitude[j] * (cosine[i, j] * c + sine[i, j] * s)
        out[i] = _TWO_PI * frequency[i] + room[1, i] * along - room[0, i] * across


@numba.guvectorize(
    'void(float64[:], float64[:], float64[:], float64[:,:], float64[:,:], float64[:])',
    '(n),(n),(n),(n,n),(n,n)->(n)',
    nopython=True, cache=True,
)  # fmt: skip
def _phase_rates(phase, amplitude, frequency, cosine, sine, out):  # type: ignore[no-untyped-def]
    room = np.empty((2, phase.shape[0]))
    _rates_into(phase, phase, 0.0, amplitude, frequency, cosine, sine, room, out)


@numba.njit(cache=True)
def _amplitudes_into(time, offset, slope, target, half_gain, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = target[i] + (offset[i] + slope[i] * time) * math.exp(-half_gain[i] * time)


@numba.njit(cache=True)
def _advance_into(  # type: ignore[no-untyped-def]
    phase, amplitude, amplitude_rate, frequency, target, gain, cosine, sine, dt, room,
    new_phase, new_amplitude, new_rate,
):  # fmt: skip
    n = phase.shape[0]
    half_gain, offset, slope = room[2], room[3], room[4]
    for i in range(n):
        half_gain[i] = 0.5 * gain[i]
        offset[i] = amplitude[i] - target[i]
        slope[i] = amplitude_rate[i] + half_gain[i] * offset[i]
        new_phase[i], new_amplitude[i] = phase[i], amplitude[i]
    k1, k2, k3, k4 = room[5], room[6], room[7], room[8]
    # The margin keeps a dt that is a multiple of the step up to rounding at that multiple.
    steps = max(1, math.ceil(dt / MAX_STEP - 1e-9))
    h = dt / steps
    now, r, f = new_phase, new_amplitude, frequency
    for step in range(steps):
        _rates_into(now, now, 0.0, r, f, cosine, sine, room, k1)
        _amplitudes_into((step + 0.5) * h, offset, slope, target, half_gain, r)
        _rates_into(now, k1, 0.5 * h, r, f, cosine, sine, room, k2)
        _rates_into(now, k2, 0.5 * h, r, f, cosine, sine, room, k3)
        _amplitudes_into((step + 1.0) * h, offset, slope, target, half_gain, r)
        _rates_into(now, k3, h, r, f, cosine, sine, room, k4)
        for i in range(n):
            now[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    for i in range(n):
        new_rate[i] = (amplitude_rate[i] - half_gain[i] * slope[i] * dt) * math.exp(
            -half_gain[i] * dt
        )


@numba.guvectorize(
    'void(float64[:], float64[:], float64[:], float64[:], float64[:], float64[:], float64[:,:],'
    ' float64[:,:], float64, float64[:], float64[:], float64[:])',
    '(n),(n),(n),(n),(n),(n),(n,n),(n,n),()->(n),(n),(n)',
    nopython=True, cache=True,
)  # fmt: skip
def _advance(  # type: ignore[no-untyped-def]
    phase, amplitude, amplitude_rate, frequency, target, gain, cosine, sine, dt,
    new_phase, new_amplitude, new_rate,
):  # fmt: skip
    _advance_into(
        phase, amplitude, amplitude_rate, frequency, target, gain, cosine, sine, dt,
        np.empty((9, phase.shape[0])), new_phase, new_amplitude, new_rate,
    )  # fmt: skip


@numba.njit(cache=True)
def advance_samples(  # type: ignore[no-untyped-def]
    phase, amplitude, rate, frequency, target, gain, cosine, sine, dt, phases, amplitudes, rates
):
    """
    Write one network's phases, amplitudes and their rates, (K, n) each, after K steps of ``dt``.

    From where it stands, (n,) each; arguments as of ``advance`` without leading axes, compiled.
    """
    room = np.empty((9, phase.shape[0]))
    for k in range(phases.shape[0]):
        _advance_into(
            phase, amplitude, rate, frequency, target, gain, cosine, sine, dt, room,
            phases[k], amplitudes[k], rates[k],
        )  # fmt: skip
        phase, amplitude, rate = phases[k], amplitudes[k], rates[k]
