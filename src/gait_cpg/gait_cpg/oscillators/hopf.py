r"""
Coupled Hopf oscillators: a circle in the plane that is reached from everywhere but its centre.

.. math::
    \dot z_i = \alpha_i (\mu_i - |z_i|^2) z_i + 2\pi \mathrm i f_i z_i
    + \sum_j w_{ij} (\mathrm e^{-\mathrm i \varphi_{ij}} z_j - z_i)

with :math:`z = x + \mathrm i y`; Righetti and Ijspeert (2008), Proc. ICRA, 819-824, with a
coupling that vanishes at the wanted offsets, so that it changes neither amplitude nor frequency.
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
class HopfOscillators(OscillatorNetwork):
    """
    Hopf oscillators; a drive [1/s] adds to the rates of ``x``, which is the signal.

    Attributes
    ----------
    frequency : (..., n) array [Hz]
    size_squared : (..., n) array [-]
        ``mu``: the radius squared; negative, the oscillator comes to rest.
    convergence : (..., n) array [1/s]
        ``alpha``, positive.
    coupling : Coupling

    """

    KIND: ClassVar[int] = kernels.HOPF
    VARIABLES: ClassVar[tuple[str, ...]] = ('x', 'y')

    frequency: FloatArray
    size_squared: FloatArray
    convergence: FloatArray
    coupling: Coupling

    def _vectors(self) -> tuple[FloatArray, ...]:
        rate = 2.0 * math.pi * self.frequency
        return rate, self.size_squared, self.convergence, self.coupling.pull

    def _matrices(self) -> tuple[FloatArray, ...]:
        return self.coupling.cosine, self.coupling.sine

    def at_phases(self, phase: FloatArray) -> FloatArray:
        """Return states on the circles of the uncoupled oscillators at some phases [rad]."""
        radius = self.expected_amplitude()
        return np.stack([radius * np.cos(phase), radius * np.sin(phase)], axis=-2)

    def phases(self, state: FloatArray) -> FloatArray:
        """Return the phases of a state, (..., n) [rad] in (-pi, pi]."""
        state = np.asarray(state)
        return np.asarray(np.arctan2(state[..., 1, :], state[..., 0, :]))

    def oscillates(self) -> BoolArray:
        """Return which oscillators run on their own, (..., n): where ``mu`` is positive."""
        alive: BoolArray = self._packed[:, 1] > 0.0
        return alive.reshape(*self.batch, self.size)

    def expected_amplitude(self, dt: float = 0.0) -> FloatArray:
        r"""
        Return the radius of each uncoupled circle, (..., n).

        Explicit Euler steps of ``dt`` grow it: a step multiplies ``z`` by
        :math:`1 + h (\alpha (\mu - r^2) + \mathrm i \omega)`, whose modulus is 1 at
        :math:`r^2 = \mu + (1 - \sqrt{1 - h^2 \omega^2}) / (h \alpha)`.
        """
        rate, size, gain = self._packed[:, 0], self._packed[:, 1], self._packed[:, 2]
        grown = (1.0 - np.sqrt(1.0 - (dt * rate) ** 2)) / (dt * gain) if dt else 0.0
        return np.sqrt(np.maximum(size + grown, 0.0)).reshape(*self.batch, self.size)

    def expected_frequency(self, dt: float = 0.0) -> FloatArray:
        r"""
        Return the frequency of each uncoupled oscillator, (..., n) [Hz].

        Explicit Euler steps of ``dt`` turn by :math:`\arcsin(h \omega)`, more than
        :math:`h \omega`.
        """
        rate = self._packed[:, 0]
        turned = np.arcsin(dt * rate) / dt if dt else rate
        return np.asarray(turned / (2.0 * math.pi)).reshape(*self.batch, self.size)
