r"""
Networks of Matsuoka's neurons: they inhibit each other and tire.

.. math::
    \tau_{a,i} \dot u_i = s_i + f_i - u_i - \sum_j w_{ij} y_j - \beta_i v_i

    \tau_{b,i} \dot v_i = y_i - v_i, \qquad y_i = \max(0, u_i)

Matsuoka (1985), Biol. Cybern. 52:367-376; Korbel (2013), Eqs. 7 and 8, whose first term is
printed with the wrong sign. A neural oscillator is a pair of neurons, extensor and flexor, that
inhibit each other; its signal is the difference of their outputs (Eq. 9).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
import math
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_cpg.oscillators.kernels import LAGGED, NEURONS, PAIRS
from gait_cpg.oscillators.network import OscillatorNetwork

INNER_START, EXTENSOR_START, FLEXOR_START = 0.3, 0.1, 0.5
"""Initial ``u`` of all neurons and ``v`` of the two of a pair (Korbel 2013, Table 4)."""

READOUTS = {
    'pairs': PAIRS,
    'lagged': LAGGED,
    'neurons': NEURONS,
}

MAX_ENUMERATED = 14
"""Neurons up to which equilibria are found: each of 2^n sets of active ones is tried."""


class Equilibrium(NamedTuple):
    """Inner states (n,) at rest, and the largest real part of an eigenvalue there [1/s]."""

    inner: FloatArray
    growth: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MatsuokaNeurons(OscillatorNetwork):
    """
    Matsuoka's neurons in any network; a drive is the feedback ``f`` of the equations.

    A state is ``u`` and ``v``. What the signals are, the readout says:

    - ``pairs``: the outputs' differences of neurons 0 and 1, 2 and 3, ...
    - ``lagged``: these, and after them the differences of ``v``: smooth, they lag behind.
    - ``neurons``: the outputs of all.

    Attributes
    ----------
    weights : (..., n, n) array [-]
        ``w[i, j]``: by how much ``j`` inhibits ``i``.
    tonic : (..., n) array [-]
        ``s``, positive.
    tau_a, tau_b : (..., n) arrays [s]
        Time constants of rise and of adaptation, positive.
    adaptation : (..., n) array [-]
        ``beta``, the self-inhibition.
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
        """Check the readout, and that paired neurons come in pairs."""
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
        # The kernel's order: the first of all pairs, then the second ones, and by sender.
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
        """Return the state of alternating extensors and flexors from which runs begin, (2, n)."""
        state = np.empty((2, self.size))
        state[0] = inner
        state[1, 0::2], state[1, 1::2] = extensor, flexor
        return state

    def equilibria(self) -> tuple[Equilibrium, ...]:
        """
        Return every state of rest of one network, with its stability.

        Between thresholds the equations are linear: each set of active neurons has one candidate,
        which is a state of rest if just these neurons are active in it (Matsuoka 1985, section 3).

        Raises
        ------
        ValueError
            For a batch, or more than ``MAX_ENUMERATED`` neurons.

        """
        if self.batch or self.size > MAX_ENUMERATED:
            raise ValueError(
                f'a batch of shape {self.batch} of {self.size} neurons; equilibria are of one '
                f'network of at most {MAX_ENUMERATED}'
            )
        n, (tonic, _, _, adaptation, _) = self.size, self._vector_stack[0]
        active = np.array(list(product((0.0, 1.0), repeat=n)))
        # At rest v = y, so (1 + W + diag(beta)) u = s on the set of active neurons.
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
        """Return the largest real part of an eigenvalue where some neurons are active [1/s]."""
        n, (_, tau_a, tau_b, adaptation, _) = self.size, self._vector_stack[0]
        # Jacobian of the equations of the module in (u, v): eigenvalues tell growth and decay.
        linear = np.zeros((2 * n, 2 * n))
        linear[:n, :n] = -(np.eye(n) + self.weights * active) / tau_a[:, None]
        linear[:n, n:] = -np.diag(adaptation / tau_a)
        linear[n:, :n] = np.diag(active / tau_b)
        linear[n:, n:] = -np.diag(1.0 / tau_b)
        return float(np.linalg.eigvals(linear).real.max())

    def oscillates(self, margin: float = 1e-9) -> bool:
        """
        Return whether one network cannot come to rest.

        Its states stay bounded where no weight is negative, so that it keeps moving if every
        state of rest is unstable, by a growth [1/s] above ``-margin`` (Matsuoka 1985, theorems 1
        and 2). For a pair of weights w that is ``1 + tau_a / tau_b <= w < 1 + beta``. From a
        start that is as symmetric as the network it may still come to rest: where all weights are
        equal and all oscillators begin alike, they stay alike.
        """
        return all(rest.growth > -margin for rest in self.equilibria())

    def expected_frequency(self) -> FloatArray:
        r"""
        Return the frequency of uncoupled symmetric pairs, (..., m) [Hz]; NaN for those at rest.

        .. math::
            \frac{1}{2\pi\tau_b} \sqrt{\frac{(\tau_a + \tau_b) \beta}{\tau_a w} - 1}

        By harmonic balance, Matsuoka (2011), Biol. Cybern. 104:297-304, Eq. 25: exact on the
        boundary ``w = 1 + tau_a / tau_b``, within 2 % near it.

        Raises
        ------
        ValueError
            If pairs are coupled to others or their two neurons differ.

        """
        weight, tonic, tau_a, tau_b, beta = self._pair_parameters()
        # Matsuoka (2011), Eq. 25.
        square = (tau_a + tau_b) * beta / (tau_a * weight) - 1.0
        moving = _can_oscillate(weight, tau_a, tau_b, beta)
        frequency = np.sqrt(np.where(moving, square, np.nan)) / (2.0 * math.pi * tau_b)
        return np.asarray(frequency).reshape(*self.batch, -1)

    def expected_amplitude(self) -> FloatArray:
        """
        Return the peak of the signals of uncoupled symmetric pairs, (..., m); NaN at rest.

        By harmonic balance: the rectifier of ``A (r + cos)`` passes the share ``K(r)`` of the
        first harmonic and the mean ``A L(r)``; ``K = (tau_a + tau_b) / (w tau_b)`` keeps the
        oscillation, and the mean gives ``A = s / (r + (w + beta) L(r))`` (Matsuoka 2011, Eqs. 26
        to 30). The peak is ``A (1 + r)``, within 10 % for sine-like signals.
        """
        weight, tonic, tau_a, tau_b, beta = self._pair_parameters()
        target = np.where(
            _can_oscillate(weight, tau_a, tau_b, beta), (tau_a + tau_b) / (weight * tau_b), np.nan
        )
        # Bisection for the bias r with K(r) = (tau_a + tau_b) / (w tau_b).
        low, high = np.full_like(target, -1.0), np.ones_like(target)
        for _ in range(60):
            bias = 0.5 * (low + high)
            is_below = _rectified_first_harmonic(bias) < target
            low, high = np.where(is_below, bias, low), np.where(is_below, high, bias)
        bias = 0.5 * (low + high)
        amplitude = tonic / (bias + (weight + beta) * _rectified_mean(bias))
        peak = np.where(np.isnan(target), np.nan, amplitude * (1.0 + bias))
        return np.asarray(peak).reshape(*self.batch, -1)

    def _pair_parameters(self) -> tuple[FloatArray, ...]:
        """Return weight, tonic, tau_a, tau_b and adaptation of the pairs, (b, m) each."""
        halves = self._vector_stack[..., 0::2], self._vector_stack[..., 1::2]
        are_alike = self.size % 2 == 0 and np.array_equal(halves[0], halves[1])
        if not are_alike or self._matrix_stack.any():
            raise ValueError('the closed form is of pairs that are alike and not coupled')
        tonic, tau_a, tau_b, beta, weight = np.moveaxis(halves[0], 1, 0)
        return weight, tonic, tau_a, tau_b, beta


def _extensor_indices(weights: FloatArray) -> IntArray:
    """Return the first neuron of each pair."""
    return np.arange(0, weights.shape[-1] - 1, 2)


def _can_oscillate(
    weight: FloatArray, tau_a: FloatArray, tau_b: FloatArray, beta: FloatArray
) -> BoolArray:
    """Return which pairs cannot come to rest; rounding does not decide on the boundary."""
    # Matsuoka (1985), section 3: 1 + tau_a / tau_b <= w < 1 + beta.
    low = 1.0 + tau_a / tau_b
    return np.asarray((weight >= low * (1.0 - 1e-12)) & (weight < 1.0 + beta))


def _rectified_first_harmonic(bias: FloatArray) -> FloatArray:
    """Return the first harmonic of ``max(0, bias + cos)``, for a bias in [-1, 1]."""
    edge = np.arccos(-bias)
    return np.asarray((edge + bias * np.sin(edge)) / math.pi)


def _rectified_mean(bias: FloatArray) -> FloatArray:
    """Return the mean of ``max(0, bias + cos)``, for a bias in [-1, 1]."""
    edge = np.arccos(-bias)
    return np.asarray((bias * edge + np.sin(edge)) / math.pi)


def cross_weight_count(count: int) -> int:
    """Return the number of weights between some neural oscillators: 24 for four."""
    return 2 * count * (count - 1)


def weight_matrix(
    cross_weights: npt.ArrayLike, count: int, pair_weight: float = 1.5
) -> FloatArray:
    """
    Return the weights of oscillators whose extensors inhibit all others, and flexors alike.

    Parameters
    ----------
    between : (..., 2 count (count - 1)) array [-]
        By receiving neuron (extensor and flexor of oscillator 1, of 2, ...), and for each by the
        other oscillator: the order w1, w2, ... of Korbel (2013), appendix B.2, for any number.
    count : int
        Neural oscillators.
    within : float [-]
        Of the two neurons of each on one another.

    Returns
    -------
    (..., 2 count, 2 count) array

    Raises
    ------
    ValueError
        If the number of weights is another one.

    """
    values = np.asarray(cross_weights, dtype=np.float64)
    if values.shape[-1:] != (cross_weight_count(count),):
        raise ValueError(
            f'{values.shape[-1:]} weights between {count} oscillators, expected '
            f'{cross_weight_count(count)}'
        )
    weights = np.zeros((*values.shape[:-1], 2 * count, 2 * count))
    extensors, flexors = np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    weights[..., extensors, flexors] = weights[..., flexors, extensors] = pair_weight
    # The order of Korbel (2013), appendix B.2: receiver by receiver, the others ascending.
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
    Return a network of neural oscillators, all to all; the defaults are those of Korbel (2013).

    Parameters
    ----------
    between : (..., 2 count (count - 1)) array [-]
        As of ``pair_weights``.
    count : int
    tau_a : (...) array [s]
        Of all neurons.
    tau_ratio : (...) array [-]
        ``tau_b / tau_a``.
    within, adaptation, tonic : float [-]
    readout : str
        As of ``MatsuokaNeurons``.

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
    Return weights that climb from 1 by 0.1, and begin anew after 24: a network that is alive.

    ``1 + 2.4 (k - 1) / 24`` for k = 1 to 24 within the bounds of Korbel (2013), Table 5.
    """
    return np.asarray(1.0 + 0.1 * (np.arange(cross_weight_count(count)) % 24))


def alternating_weights(lags: FloatArray, inhibition: float) -> FloatArray:
    """
    Return weights by which oscillators that are half a cycle apart inhibit each other.

    Each gets the same inhibition, shared evenly by its opposites; those of its own lag do not
    touch it, and fall in step through them. A network in its rhythm is then a single pair whose
    neurons inhibit each other by that much more: extensors see the flexors of others in their
    opposites.

    Parameters
    ----------
    lags : (n,) array [cycles]
        Multiples of one half.
    inhibition : float [-]
        Sum of the weights on each neuron from other oscillators.

    Returns
    -------
    (2 n (n - 1),) array
        As of ``pair_weights``.

    Raises
    ------
    ValueError
        If a lag is no multiple of one half.

    """
    opposition = np.asarray(np.sin(math.pi * (lags[:, None] - lags[None, :])) ** 2)
    if np.any(np.minimum(opposition, 1.0 - opposition) > 1e-9):
        raise ValueError(f'lags {lags.tolist()}: expected multiples of one half')
    share = np.round(opposition) / np.maximum(np.round(opposition).sum(axis=1, keepdims=True), 1.0)
    others = ~np.eye(len(lags), dtype=bool)
    return np.repeat(inhibition * share[others].reshape(len(lags), -1), 2, axis=0).ravel()
