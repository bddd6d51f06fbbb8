# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Coupling matrices of oscillator networks."""

from __future__ import annotations

from dataclasses import dataclass, field
import math

import numpy as np

from gait_core.arrays import FloatArray, read_only_array

_TWO_PI = 2.0 * math.pi


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """
    Coupling of a network of n oscillators: weights and desired phase lags.

    Attributes
    ----------
    weights : (..., n, n) array [rad/s]
        ``weights[i, j]`` is the weight of ``j`` on ``i``; zero means no edge.
    phase_bias : (..., n, n) array [rad]
        Desired ``phase[j] - phase[i]``; antisymmetric.
    cosine, sine : (..., n, n) arrays [rad/s]
        ``weights`` times the cosine and the sine of ``phase_bias``; derived and transposed:
        ``cosine[j, i]`` belongs to the effect of ``j`` on ``i``, so that the inner loop of the
        kernel reads a row.

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
        """Check the shapes and derive ``cosine`` and ``sine``."""
        weights = read_only_array(self.weights, name='weights')
        bias = read_only_array(self.phase_bias, name='phase_bias')
        if weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
            raise ValueError(f'weights has shape {weights.shape}, expected (..., n, n)')
        if bias.shape[-2:] != weights.shape[-2:]:
            raise ValueError(
                f'phase_bias has shape {bias.shape}, expected (..., *{weights.shape[-2:]})'
            )
        object.__setattr__(self, 'weights', weights)
        object.__setattr__(self, 'phase_bias', bias)
        for name, wave in (('cosine', np.cos), ('sine', np.sin)):
            transposed = np.array(np.swapaxes(weights * wave(bias), -1, -2), order='C')
            object.__setattr__(self, name, read_only_array(transposed, name=name))

    @property
    def size(self) -> int:
        """Number of oscillators."""
        return int(self.weights.shape[-1])


def zero_coupling(count: int) -> Coupling:
    """Return the coupling of independent oscillators: all weights are zero."""
    return Coupling(weights=np.zeros((count, count)), phase_bias=np.zeros((count, count)))


def coupling_to_lags(lags: FloatArray, convergence_rate: float) -> Coupling:
    """
    Return the all-to-all coupling that drives a network to phase lags.

    Parameters
    ----------
    lags : (n,) array [cycles]
        Lag of each oscillator behind a common reference.
    convergence_rate : float [1/s]
        Rate at which small offsets from the lags decay while all amplitudes are 1. Equal weights
        ``w`` give the complete graph the eigenvalue ``-n w``, hence ``w = convergence_rate / n``.

    """
    lags = np.asarray(lags, dtype=np.float64)
    n = lags.shape[0]
    return Coupling(
        weights=(convergence_rate / n) * (1.0 - np.eye(n)),
        phase_bias=_TWO_PI * (lags[:, None] - lags[None, :]),
    )


def locked_phases(lags: FloatArray, reference: float = 0.0) -> FloatArray:
    """Return the phases that have lags [cycles] behind a reference phase, (n,) [rad]."""
    return reference - _TWO_PI * np.asarray(lags, dtype=np.float64)
