r"""
Coupled van der Pol oscillators: damped where they are large, driven where they are small.

.. math::
    \ddot x_i = \mu_i (p_i^2 - x_i^2) \dot x_i - \omega_i^2 x_i
    + \sum_j w_{ij} (\dot x_{j} \cos\varphi_{ij} + \omega_i x_j \sin\varphi_{ij} - \dot x_i)

van der Pol (1926), Phil. Mag. 2(11):978-992. The coupling compares the velocity with that of the
neighbour turned back by the wanted offset, which it is while both are nearly harmonic.
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

_HARMONIC, _RELAXING = 1.0, 10.0
# Minus the largest zero of the Airy function Ai.
_AIRY_ZERO = 2.338107410459767


@dataclass(frozen=True, kw_only=True, eq=False)
class VanDerPolOscillators(OscillatorNetwork):
    """
    Van der Pol oscillators; a drive [1/s^2] adds to the acceleration of ``x``, the signal.

    Attributes
    ----------
    frequency : (..., n) array [Hz]
        Of small ``mu``: ``omega / (2 pi)``.
    damping : (..., n) array [1/s]
        ``mu``, positive.
    half_amplitude : (..., n) array [-]
        ``p``: the amplitude is about twice that.
    coupling : Coupling

    """

    KIND: ClassVar[int] = kernels.VAN_DER_POL
    VARIABLES: ClassVar[tuple[str, ...]] = ('x', 'x_rate')

    frequency: FloatArray
    damping: FloatArray
    half_amplitude: FloatArray
    coupling: Coupling

    def _vectors(self) -> tuple[FloatArray, ...]:
        rate = 2.0 * math.pi * self.frequency
        return rate, self.damping, self.half_amplitude**2, self.coupling.pull

    def _matrices(self) -> tuple[FloatArray, ...]:
        return self.coupling.cosine, self.coupling.sine

    def at_phases(self, phase: FloatArray) -> FloatArray:
        """Return states of harmonic oscillators of the expected amplitude at phases [rad]."""
        size, rate = self.expected_amplitude(), self._rows(0)
        return np.stack([size * np.cos(phase), -size * rate * np.sin(phase)], axis=-2)

    def phases(self, state: FloatArray) -> FloatArray:
        """Return the phases of a state, (..., n) [rad], as of harmonic oscillators."""
        state = np.asarray(state)
        return np.asarray(np.arctan2(-state[..., 1, :] / self._rows(0), state[..., 0, :]))

    @property
    def nonlinearity(self) -> FloatArray:
        """Return ``epsilon = mu p^2 / omega``, (..., n): 0 harmonic, above 10 relaxing."""
        return self._rows(1) * self._rows(2) / self._rows(0)

    def oscillates(self) -> BoolArray:
        """Return which oscillators run on their own, (..., n): all with positive ``mu p^2``."""
        return np.asarray(self._rows(1) * self._rows(2) > 0.0)

    def expected_amplitude(self) -> FloatArray:
        r"""
        Return the amplitude of each uncoupled oscillator, (..., n).

        :math:`p (2 + \epsilon^2/96 - 1033 \epsilon^4/552960)` to :math:`\epsilon = 1` (within
        0.01 %): Andersen and Geer (1982), SIAM J. Appl. Math. 42(3):678-693. Above, it stays
        within 1.2 % of 2 p: returned as that.
        """
        eps = self.nonlinearity
        series = 2.0 + eps**2 / 96.0 - 1033.0 * eps**4 / 552960.0
        return np.asarray(np.sqrt(self._rows(2)) * np.where(eps <= _HARMONIC, series, 2.0))

    def expected_frequency(self) -> FloatArray:
        r"""
        Return the frequency of each uncoupled oscillator, (..., n) [Hz].

        To :math:`\epsilon = 1` by the series
        :math:`\omega (1 - \epsilon^2/16 + 17 \epsilon^4/3072)` of Andersen and Geer (1982), within
        0.1 %; from :math:`\epsilon = 10` by the relaxation period
        :math:`((3 - 2 \ln 2) \epsilon + 7.0143 \epsilon^{-1/3}) / \omega` of Dorodnitsyn (1947),
        within 2 %. Between there is no closed form: NaN.
        """
        eps, rate = self.nonlinearity, self._rows(0)
        harmonic = 1.0 - eps**2 / 16.0 + 17.0 * eps**4 / 3072.0
        period = (3.0 - 2.0 * math.log(2.0)) * eps + 3.0 * _AIRY_ZERO * np.cbrt(1.0 / eps)
        relaxing = 2.0 * math.pi / period
        share = np.where(eps <= _HARMONIC, harmonic, np.where(eps >= _RELAXING, relaxing, np.nan))
        return np.asarray(rate * share / (2.0 * math.pi))

    def _rows(self, which: int) -> FloatArray:
        return self._packed[:, which].reshape(*self.batch, self.size)
