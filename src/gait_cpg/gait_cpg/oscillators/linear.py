r"""
Oscillators whose phases pull their neighbours linearly.

.. math::
    \dot\theta_i = 2\pi f_i + \sum_j w_{ij} (\theta_j - \theta_i - \varphi_{ij})

The phases are not wrapped, so that the equation is linear and solved in closed form. With stiff
weights the offsets are rigid: the master and leg oscillators of McKenna (1990), section 4.6, in
which the legs keep fixed offsets to one phase that runs at the commanded frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_cpg.oscillators import kernels
from gait_cpg.oscillators.coupling import Coupling
from gait_cpg.oscillators.network import OscillatorNetwork


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearOscillators(OscillatorNetwork):
    """
    Linear neighbour oscillators; a drive [rad/s] adds to the phases' rates.

    A state is the phase [rad], not wrapped; a signal is its cosine.

    Attributes
    ----------
    frequency : (..., n) array [Hz]
    coupling : Coupling
        Offsets are those between phases that are not wrapped.

    """

    KIND: ClassVar[int] = kernels.LINEAR
    VARIABLES: ClassVar[tuple[str, ...]] = ('phase',)

    frequency: FloatArray
    coupling: Coupling

    def _vectors(self) -> tuple[FloatArray, ...]:
        wanted = (self.coupling.weights * self.coupling.phase_bias).sum(axis=-1)
        return 2.0 * math.pi * self.frequency - wanted, self.coupling.pull

    def _matrices(self) -> tuple[FloatArray, ...]:
        return (np.swapaxes(self.coupling.weights, -1, -2),)

    def at_phases(self, phase: FloatArray) -> FloatArray:
        """Return the state at some phases, (..., 1, n)."""
        return np.asarray(phase, dtype=np.float64)[..., None, :]

    @property
    def _laplacian(self) -> FloatArray:
        weights = np.swapaxes(self._coupled[:, 0], -1, -2)
        return np.asarray(np.eye(self.size) * self._packed[:, 1, :, None] - weights)

    def oscillates(self) -> BoolArray:
        """Return which networks stay together, (...,): one oscillator reaches all others."""
        return np.asarray(self.convergence_rate() > 1e-9)

    def convergence_rate(self) -> FloatArray:
        """
        Return the rate at which the slowest offset decays, (...,) [1/s].

        The second eigenvalue of the Laplacian; infinite for an oscillator alone.
        """
        growth = np.sort(np.linalg.eigvals(self._laplacian).real, axis=-1)
        return np.asarray(growth[:, 1:2].min(axis=-1, initial=np.inf)).reshape(self.batch)

    def expected_frequency(self) -> FloatArray:
        """
        Return the common frequency of a network that stays together, (...,) [Hz].

        The mean of the rates, weighted by the left null vector of the coupling's Laplacian:
        Olfati-Saber, Fax and Murray (2007), Proc. IEEE 95(1):215-233.
        """
        weight = self._left_null()
        rate = np.sum(weight * self._packed[:, 0], axis=-1)
        return np.asarray(rate / (2.0 * math.pi)).reshape(self.batch)

    def expected_offsets(self) -> FloatArray:
        """Return the phases relative to the first once all have settled, (..., n) [rad]."""
        common = 2.0 * math.pi * np.reshape(self.expected_frequency(), -1)
        driven = self._packed[:, 0] - common[:, None]
        settled = np.einsum('bij,bj->bi', np.linalg.pinv(self._laplacian), driven)
        return np.asarray(settled - settled[:, :1]).reshape(*self.batch, self.size)

    def phases_after(self, time: float, phase: FloatArray) -> FloatArray:
        """Return the phases after a time [s] from some phases, (..., n) [rad]: exact."""
        from scipy.linalg import expm

        n = self.size
        start = np.broadcast_to(phase, (*self.batch, n)).reshape(-1, n)
        # The constant rates as a last column: one exponential solves both parts.
        system = np.zeros((len(start), n + 1, n + 1))
        system[:, :n, :n] = -self._laplacian
        system[:, :n, n] = self._packed[:, 0]
        grown = np.stack([expm(time * one) for one in system])
        ends = np.einsum('bij,bj->bi', grown[:, :n, :n], start) + grown[:, :n, n]
        return np.asarray(ends).reshape(*self.batch, n)

    def _left_null(self) -> FloatArray:
        left = np.linalg.svd(self._laplacian)[0][..., -1]
        return np.asarray(left / left.sum(axis=-1, keepdims=True))
