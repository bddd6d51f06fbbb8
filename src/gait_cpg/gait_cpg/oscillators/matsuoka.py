# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

r"""
Networks of Matsuoka's neurons, with mutual inhibition and adaptation.

.. math::
    \tau_{a,i} \dot u_i = s_i + f_i - u_i - \sum_j w_{ij} y_j - \beta_i v_i

    \tau_{b,i} \dot v_i = y_i - v_i, \qquad y_i = \max(0, u_i)

Matsuoka (1985), Biol. Cybern. 52:367-376; Korbel (2013), Eqs. 7 and 8, where ``u`` is printed with
the wrong sign. A neural oscillator is a pair of neurons, extensor and flexor, that inhibit each
other; its signal is the difference of their outputs (Eq. 9).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
import math
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_cpg.oscillators.diagnosis import diagnose
from gait_cpg.oscillators.kernels import LAGGED, NEURONS, PAIRS
from gait_cpg.oscillators.network import OscillatorNetwork

INNER_START, EXTENSOR_START, FLEXOR_START = 0.3, 0.1, 0.5
"""Initial ``u`` of all neurons, ``v`` of extensors and of flexors (Korbel 2013, Table 4)."""

READOUTS = {
    'pairs': PAIRS,
    'lagged': LAGGED,
    'neurons': NEURONS,
}

_SETTLED_SPAN = 100.0
"""Duration in which a pair settles, and over which it is then measured, over tau_a + tau_b."""

_SETTLED_STEP = 0.002
"""Euler step for settled pairs, over the shorter time constant."""

MAX_ENUMERATED = 14
"""Largest number n of neurons for which equilibria are computed: 2^n sets are tried."""


class Equilibrium(NamedTuple):
    """Inner states ``u`` (n,) at rest, and the largest real part of an eigenvalue [1/s]."""

    inner: FloatArray
    growth: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MatsuokaNeurons(OscillatorNetwork):
    """
    Network of Matsuoka's neurons; a drive is the feedback ``f`` of the equations.

    The rows of a state are ``u`` and ``v``. The readout selects the signals:

    - ``pairs``: differences of the outputs of neurons 0 and 1, 2 and 3, ...
    - ``lagged``: these, followed by the differences of ``v``, which are smooth and lag behind.
    - ``neurons``: the outputs of all neurons.

    Attributes
    ----------
    weights : (..., n, n) array [-]
        ``w[i, j]`` is the inhibition of neuron i by neuron j.
    tonic : (..., n) array [-]
        Tonic input ``s``, positive.
    tau_a, tau_b : (..., n) arrays [s]
        Time constants of rise and of adaptation, positive.
    adaptation : (..., n) array [-]
        Strength of the adaptation, ``beta``.
    readout : str

    """

    KIND: ClassVar[int] = PAIRS
    VARIABLES: ClassVar[tuple[str, ...]] = ('u', 'v')

    weights: FloatArray
    tonic: FloatArray
    tau_a: FloatArray
    tau_b: FloatArray
    adaptation: FloatArray
    readout: str = 'pairs'

    def __post_init__(self) -> None:
        """Check the readout and, for signals of pairs, the even number of neurons."""
        neurons = np.shape(self.weights)[-1]
        if self.readout not in READOUTS:
            raise ValueError(f'readout {self.readout!r}, expected one of {tuple(READOUTS)}')
        if self.readout != 'neurons' and neurons % 2:
            raise ValueError(f'{neurons} paired neurons: expected an even number')
        super().__post_init__()

    def _vectors(self) -> tuple[FloatArray, ...]:
        first = _extensor_indices(self.weights)
        partner = np.zeros(self.weights.shape[:-1])
        partner[..., first] = self.weights[..., first, first + 1]
        partner[..., first + 1] = self.weights[..., first + 1, first]
        return self.tonic, self.tau_a, self.tau_b, self.adaptation, partner

    def _matrices(self) -> tuple[FloatArray, ...]:
        first = _extensor_indices(self.weights)
        others = self.weights.copy()
        others[..., first, first + 1] = others[..., first + 1, first] = 0.0
        # Order of the kernel: all extensors, then all flexors; transposed, a row per sender.
        order = np.r_[0 : self.weights.shape[-1] : 2, 1 : self.weights.shape[-1] : 2]
        return (np.swapaxes(others[..., order[:, None], order], -1, -2),)

    def _kernel_kind(self) -> int:
        return READOUTS[self.readout]

    @property
    def outputs(self) -> int:
        """Number m of signals."""
        return self.size // 2 if self.readout == 'pairs' else self.size

    def initial_state(
        self,
        inner: float = INNER_START,
        extensor: float = EXTENSOR_START,
        flexor: float = FLEXOR_START,
    ) -> FloatArray:
        """
        Return the initial state, (2, n): flexors are more adapted than extensors.

        Parameters
        ----------
        inner : float
            ``u`` of all neurons.
        extensor, flexor : float
            ``v`` of neurons 0, 2, ... and of neurons 1, 3, ...

        """
        state = np.empty((2, self.size))
        state[0] = inner
        state[1, 0::2], state[1, 1::2] = extensor, flexor
        return state

    def equilibria(self) -> tuple[Equilibrium, ...]:
        """
        Return all equilibria of one network, with their stability.

        For a fixed set of active neurons the equations are linear and have one solution. It is an
        equilibrium if exactly these neurons are active in it (Matsuoka 1985, section 3).

        Raises
        ------
        ValueError
            For a batch, or more than ``MAX_ENUMERATED`` neurons.

        """
        if self.batch or self.size > MAX_ENUMERATED:
            raise ValueError(
                f'equilibria need one network of at most {MAX_ENUMERATED} neurons, the batch of '
                f'shape {self.batch} has networks of {self.size}'
            )
        n, (tonic, _, _, adaptation, _) = self.size, self._vector_stack[0]
        active = np.array(list(product((0.0, 1.0), repeat=n)))
        # At rest v = y: u + (W + diag(beta)) y = s, with y = u for active neurons and 0 else.
        inhibition = self.weights + np.diag(adaptation)
        systems = np.eye(n) + inhibition * active[:, None, :]
        regular = np.abs(np.linalg.det(systems)) > 1e-12
        active, systems = active[regular], systems[regular]
        inner = np.linalg.solve(systems, np.broadcast_to(tonic[:, None], (len(systems), n, 1)))
        inner = inner[:, :, 0]
        is_consistent = ((inner > 0.0) == (active > 0.5)).all(axis=1)
        return tuple(
            Equilibrium(u, self._growth_rate(members))
            for u, members in zip(inner[is_consistent], active[is_consistent], strict=True)
        )

    def _growth_rate(self, active: FloatArray) -> float:
        """Return the largest real part of an eigenvalue for a set of active neurons [1/s]."""
        n, (_, tau_a, tau_b, adaptation, _) = self.size, self._vector_stack[0]
        # Jacobian of the equations in (u, v): a positive real part is growth.
        linear = np.zeros((2 * n, 2 * n))
        linear[:n, :n] = -(np.eye(n) + self.weights * active) / tau_a[:, None]
        linear[:n, n:] = -np.diag(adaptation / tau_a)
        linear[n:, :n] = np.diag(active / tau_b)
        linear[n:, n:] = -np.diag(1.0 / tau_b)
        return float(np.linalg.eigvals(linear).real.max())

    def oscillates(self, margin: float = 1e-9) -> bool:
        """
        Return whether one network keeps oscillating.

        Without negative weights the states are bounded, so that the network oscillates if every
        equilibrium is unstable: its growth [1/s] exceeds ``-margin`` (Matsuoka 1985, theorems 1
        and 2). A pair with weights w oscillates for ``1 + tau_a / tau_b <= w < 1 + beta``. A
        symmetric network can still come to rest from a symmetric start.
        """
        return all(rest.growth > -margin for rest in self.equilibria())

    def expected_frequency(self) -> FloatArray:
        """
        Return the frequency of uncoupled symmetric pairs, (..., m) [Hz]; NaN without oscillation.

        Each pair is integrated until it has settled. Also NaN if it then takes longer than
        ``50 (tau_a + tau_b)`` for a cycle, as just below ``w = 1 + beta``.

        Raises
        ------
        ValueError
            If pairs are coupled to others or their two neurons differ.

        """
        return self._settled_pairs()[0]

    def expected_amplitude(self) -> FloatArray:
        """
        Return the peak of the signals of uncoupled symmetric pairs, (..., m); NaN at rest.

        Found and limited as ``expected_frequency``.
        """
        return self._settled_pairs()[1]

    def _settled_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return frequency [Hz] and peak of the signals of uncoupled pairs, (..., m) each."""
        weight, tonic, tau_a, tau_b, beta = (part.ravel() for part in self._pair_parameters())
        frequency, peak = np.full((2, weight.size), np.nan)
        for i in np.flatnonzero(_can_oscillate(weight, tau_a, tau_b, beta)):
            # A pair's cycle scales with tau_a in time and with the tonic input in height.
            rhythm = _settled_rhythm(float(weight[i]), float(tau_b[i] / tau_a[i]), float(beta[i]))
            frequency[i], peak[i] = rhythm[0] / tau_a[i], rhythm[1] * tonic[i]
        return frequency.reshape(*self.batch, -1), peak.reshape(*self.batch, -1)

    def _pair_parameters(self) -> tuple[FloatArray, ...]:
        """Return weight, tonic, tau_a, tau_b and adaptation of the pairs, (b, m) each."""
        halves = self._vector_stack[..., 0::2], self._vector_stack[..., 1::2]
        are_alike = self.size % 2 == 0 and np.array_equal(halves[0], halves[1])
        if not are_alike or self._matrix_stack.any():
            raise ValueError('the rhythm is known for equal pairs without coupling only')
        tonic, tau_a, tau_b, beta, weight = np.moveaxis(halves[0], 1, 0)
        return weight, tonic, tau_a, tau_b, beta


def _extensor_indices(weights: FloatArray) -> IntArray:
    """Return the indices of the first neuron of each pair."""
    return np.arange(0, weights.shape[-1] - 1, 2)


def _can_oscillate(
    weight: FloatArray, tau_a: FloatArray, tau_b: FloatArray, beta: FloatArray
) -> BoolArray:
    """Return which pairs oscillate; the tolerance covers rounding on the lower boundary."""
    # Matsuoka (1985), section 3: 1 + tau_a / tau_b <= w < 1 + beta.
    low = 1.0 + tau_a / tau_b
    return np.asarray((weight >= low * (1.0 - 1e-12)) & (weight < 1.0 + beta))


def _settled_rhythm(weight: float, ratio: float, beta: float) -> tuple[float, float]:
    """Return frequency and peak of one pair with unit ``tau_a`` and tonic input; NaN if slow."""
    network = neural_oscillators(
        [], 1, tau_a=1.0, tau_ratio=ratio, pair_weight=weight, adaptation=beta, tonic=1.0
    )
    span = _SETTLED_SPAN * (1.0 + ratio)
    samples = math.ceil(span / (_SETTLED_STEP * min(1.0, ratio)))
    settled = network.euler(2.0 * network.initial_state(), span / samples, samples)
    signals = network.euler(settled.state, span / samples, samples).signals
    rhythm = diagnose(signals, span / samples)
    if rhythm.frequency[0] * span < 2.0:
        return math.nan, math.nan
    return float(rhythm.frequency[0]), float(np.abs(signals).max())


def cross_weight_count(count: int) -> int:
    """Return the number of weights between ``count`` neural oscillators: 24 for four."""
    return 2 * count * (count - 1)


def weight_matrix(
    cross_weights: npt.ArrayLike, count: int, pair_weight: float = 1.5
) -> FloatArray:
    """
    Return the weight matrix of neural oscillators, coupled extensor to extensor, flexor to flexor.

    Parameters
    ----------
    cross_weights : (..., 2 count (count - 1)) array [-]
        Weights between oscillators, ordered by receiving neuron (extensor and flexor of
        oscillator 1, of 2, ...), then by sending oscillator: the order w1, w2, ... of Korbel
        (2013), appendix B.2.
    count : int
        Number of neural oscillators.
    pair_weight : float [-]
        Weight between the two neurons of an oscillator, in both directions.

    Returns
    -------
    (..., 2 count, 2 count) array

    Raises
    ------
    ValueError
        If there are not 2 count (count - 1) weights.

    """
    values = np.asarray(cross_weights, dtype=np.float64)
    if values.shape[-1:] != (cross_weight_count(count),):
        raise ValueError(
            f'weights between {count} oscillators have shape {values.shape[-1:]}, expected '
            f'{cross_weight_count(count)}'
        )
    weights = np.zeros((*values.shape[:-1], 2 * count, 2 * count))
    extensors, flexors = np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    weights[..., extensors, flexors] = weights[..., flexors, extensors] = pair_weight
    # Order of Korbel (2013), appendix B.2: by receiver, then by sender.
    edges = [
        (2 * receiver + side, 2 * sender + side)
        for receiver, side in product(range(count), range(2))
        for sender in range(count)
        if sender != receiver
    ]
    if edges:
        receivers, senders = np.array(edges).T
        weights[..., receivers, senders] = values
    return weights


def neural_oscillators(
    cross_weights: npt.ArrayLike,
    count: int,
    *,
    tau_a: npt.ArrayLike,
    tau_ratio: npt.ArrayLike = 2.0,
    pair_weight: float = 1.5,
    adaptation: float = 2.5,
    tonic: float = 0.5,
    readout: str = 'pairs',
) -> MatsuokaNeurons:
    """
    Return a network of neural oscillators, coupled all to all, with defaults of Korbel (2013).

    Parameters
    ----------
    cross_weights : (..., 2 count (count - 1)) array [-]
        As in ``weight_matrix``.
    count : int
        Number of neural oscillators.
    tau_a : (...) array [s]
        Time constant of the rise, for all neurons.
    tau_ratio : (...) array [-]
        ``tau_b / tau_a``.
    pair_weight, adaptation, tonic : float [-]
    readout : str
        As in ``MatsuokaNeurons``.

    """
    rise = np.asarray(tau_a, dtype=np.float64)[..., None]
    return MatsuokaNeurons(
        weights=weight_matrix(cross_weights, count, pair_weight),
        tonic=np.asarray(tonic, dtype=np.float64),
        tau_a=rise,
        tau_b=rise * np.asarray(tau_ratio, dtype=np.float64)[..., None],
        adaptation=np.asarray(adaptation, dtype=np.float64),
        readout=readout,
    )


def reference_weights(count: int) -> FloatArray:
    """
    Return the weights of the reference network, whose signals are all alive.

    ``1 + 2.4 (k - 1) / 24`` for k = 1 to 24, repeated after 24; within the bounds of Korbel
    (2013), Table 5.
    """
    return np.asarray(1.0 + 0.1 * (np.arange(cross_weight_count(count)) % 24))


def alternating_weights(lags: FloatArray, inhibition: float) -> FloatArray:
    """
    Return weights between oscillators that are half a cycle apart.

    The opposite oscillators share the inhibition of a neuron evenly; oscillators of equal lag are
    not coupled and synchronise through their opposites. The synchronised network behaves as a
    single pair whose ``pair_weight`` is larger by ``inhibition``.

    Parameters
    ----------
    lags : (n,) array [cycles]
        Multiples of one half.
    inhibition : float [-]
        Sum of the weights on each neuron from other oscillators.
        Without an opposite there is no inhibition.

    Returns
    -------
    (2 n (n - 1),) array
        As in ``weight_matrix``.

    Raises
    ------
    ValueError
        If the difference of two lags is not a multiple of one half.

    """
    # 1 for two lags that are half a cycle apart, 0 for equal lags.
    opposition = np.asarray(np.sin(math.pi * (lags[:, None] - lags[None, :])) ** 2)
    if np.any(np.minimum(opposition, 1.0 - opposition) > 1e-9):
        raise ValueError(f'lags {lags.tolist()}: expected multiples of one half')
    share = np.round(opposition) / np.maximum(np.round(opposition).sum(axis=1, keepdims=True), 1.0)
    others = ~np.eye(len(lags), dtype=bool)
    return np.repeat(inhibition * share[others].reshape(len(lags), -1), 2, axis=0).ravel()
