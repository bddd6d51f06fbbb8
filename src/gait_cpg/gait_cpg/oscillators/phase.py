# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Networks of coupled amplitude-phase oscillators.

.. math::
    \dot\theta_i = 2\pi f_i + \sum_j r_j w_{ij} \sin(\theta_j - \theta_i - \varphi_{ij})

    \ddot r_i = a_i \left(\frac{a_i}{4} (R_i - r_i) - \dot r_i\right)

Ijspeert, Crespi, Ryczko and Cabelguen (2007), Science 315:1416-1420, without sensory input. With
constant amplitudes these are the oscillators of Kuramoto (1984).
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gait_core.arrays import BoolArray, FloatArray
from gait_cpg.oscillators.coupling import Coupling
from gait_cpg.oscillators.kernels import PHASE, step_phase_oscillators
from gait_cpg.oscillators.network import OscillatorNetwork


@dataclass(frozen=True, kw_only=True, eq=False)
class PhaseOscillators(OscillatorNetwork):
    """
    Network of amplitude-phase oscillators; a drive [rad/s] is added to the rates of the phases.

    The rows of a state are phase [rad], not wrapped, amplitude ``r`` [-] and its rate [1/s]; a
    signal is ``r cos(theta)``. ``advance`` is exact in the amplitudes and of fourth order in the
    phases.

    Attributes
    ----------
    frequency : (..., n) array [Hz]
        Intrinsic frequencies ``f``.
    target_amplitude : (..., n) array [-]
        ``R``, not negative.
    amplitude_gain : (..., n) array [1/s]
        ``a``, positive: amplitudes are critically damped at rate ``a / 2``.
    coupling : Coupling
        Weights ``w`` and desired phase differences ``varphi``.

    References
    ----------
    Ijspeert et al. (2007), Science 315:1416-1420.

    Examples
    --------
    Two oscillators already in antiphase only advance:

    >>> from gait_cpg.oscillators.coupling import coupling_to_lags
    >>> pair = PhaseOscillators(frequency=1.0, target_amplitude=1.0, amplitude_gain=10.0,
    ...                         coupling=coupling_to_lags(np.array([0.0, 0.5]), 4.0))
    >>> rates = pair.rates([[0.0, np.pi], [1.0, 1.0], [0.0, 0.0]])
    >>> bool(np.allclose(rates[0], 2.0 * np.pi))
    True

    """

    KIND: ClassVar[int] = PHASE
    VARIABLES: ClassVar[tuple[str, ...]] = ('phase', 'amplitude', 'amplitude_rate')

    frequency: FloatArray
    target_amplitude: FloatArray
    amplitude_gain: FloatArray
    coupling: Coupling

    def _vectors(self) -> tuple[FloatArray, ...]:
        return self.frequency, self.target_amplitude, self.amplitude_gain

    def _matrices(self) -> tuple[FloatArray, ...]:
        return self.coupling.cosine, self.coupling.sine

    def rest_state(self, phase: npt.ArrayLike) -> FloatArray:
        """Return the state with given phases [rad] and amplitude zero at rest, (..., 3, n)."""
        phase = np.asarray(phase, dtype=np.float64)
        return np.stack([phase, np.zeros_like(phase), np.zeros_like(phase)], axis=-2)

    def advance(self, state: npt.ArrayLike, dt: float) -> FloatArray:
        """
        Return the state after ``dt`` [s], without a drive.

        Amplitudes are exact. Phases take classic Runge-Kutta steps of at most
        ``kernels.MAX_STEP`` with the exact amplitudes. A step advances an uncoupled phase
        exactly and only has to resolve the coupling: at a convergence rate of 20 1/s the error
        of a step is (20 * 0.005)^5 / 120 of the phase error, below 1e-7.
        """
        states = self._batched_states(state)
        out = np.empty_like(states)
        step_phase_oscillators(states, self._vector_stack, self._matrix_stack, dt, out)
        return self._unbatched(out)

    def oscillates(self) -> BoolArray:
        """Return whether all target amplitudes are above zero, (...,)."""
        alive: BoolArray = (self._vector_stack[:, 1] > 0.0).all(axis=-1).reshape(self.batch)
        return alive

    def expected_frequency(self) -> FloatArray:
        """
        Return the frequency of the locked network at full amplitude, (...,) [Hz].

        Symmetric coupling terms ``w_ij R_j`` cancel in the sum over the network: the phases
        advance at the mean of the intrinsic frequencies.

        Raises
        ------
        ValueError
            If the frequencies differ and ``w_ij R_j`` is not symmetric.

        """
        frequency, target = self._vector_stack[:, 0], self._vector_stack[:, 1]
        pulls = self.coupling.weights * target.reshape(*self.batch, 1, self.size)
        are_equal = np.ptp(frequency, axis=-1).max() <= 1e-12 * np.abs(frequency).max()
        if not are_equal and not np.allclose(pulls, np.swapaxes(pulls, -1, -2)):
            raise ValueError('the coupling w_ij R_j is not symmetric: there is no closed form')
        return np.asarray(frequency.mean(axis=-1)).reshape(self.batch)

    def locks(self) -> BoolArray:
        """
        Return whether a network of two locks at full amplitude, (...,).

        Condition: the detuning is at most the total coupling. Pikovsky, Rosenblum and Kurths
        (2001), Synchronization, section 8.1.
        """
        detuning, pull = self._detuning_and_pull()
        return np.asarray(np.abs(detuning) <= pull)

    def expected_offset(self) -> FloatArray:
        """
        Return ``phase[1] - phase[0]`` of two locked oscillators at full amplitude, (...,) [rad].

        It solves ``2 pi (f_1 - f_0) = (w_01 R_1 + w_10 R_0) sin(offset - varphi)``; NaN if the
        network does not lock.
        """
        detuning, pull = self._detuning_and_pull()
        ratio = np.divide(detuning, pull, out=np.full_like(pull, np.nan), where=pull > 0.0)
        with np.errstate(invalid='ignore'):
            return np.asarray(np.arcsin(ratio) + self.coupling.phase_bias[..., 0, 1])

    def _detuning_and_pull(self) -> tuple[FloatArray, FloatArray]:
        """Return detuning and total coupling of two oscillators, (...,) each [rad/s]."""
        if self.size != 2:
            raise ValueError(
                f'the closed form holds for 2 oscillators, this network has {self.size}'
            )
        frequency, target = self._vector_stack[:, 0], self._vector_stack[:, 1]
        weights, targets = self.coupling.weights, target.reshape(*self.batch, 2)
        pull = weights[..., 0, 1] * targets[..., 1] + weights[..., 1, 0] * targets[..., 0]
        detuning = 2.0 * math.pi * (frequency[:, 1] - frequency[:, 0])
        return detuning.reshape(self.batch), np.asarray(pull)


def amplitudes_after(
    time: float,
    amplitude: FloatArray,
    amplitude_rate: FloatArray,
    target: FloatArray,
    gain: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """
    Return amplitudes and their rates after a time [s], by the exact solution.

    With ``d = r - R`` and ``s = r' + a d / 2`` the solution is
    ``d(t) = (d + s t) exp(-a t / 2)``.
    """
    half = 0.5 * gain
    offset = amplitude - target
    slope = amplitude_rate + half * offset
    decay = np.exp(-half * time)
    return target + (offset + slope * time) * decay, (amplitude_rate - half * slope * time) * decay
