# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Simple genetic algorithm on bit strings, as GALib ran it for Pike (2003).

References
----------
Pike (2003), section 6.7.2 and Figure 6.21: settings. Wall (1996), *GALib: A C++ Library of Genetic
Algorithm Components*: what the settings mean. Goldberg (1989), *Genetic Algorithms in Search,
Optimization, and Machine Learning*, chapter 3 (simple GA), section 4.4 (sigma truncation).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_core.trial.spec import OK
from gait_evolver.optimizers.ranking import AskTellLedger, sort_key


@dataclass(frozen=True, kw_only=True)
class BitstringSettings(Parameters):
    """Settings of the genetic algorithm on bit strings; the defaults are the published ones."""

    population: int = int_parameter(150, low=2, high=100000, doc='Candidates per generation.')
    bits: int = int_parameter(16, low=1, high=52, doc='Bits per gene, plain binary.')
    crossover_probability: float = fraction_parameter(
        0.6, doc='Probability that a pair crosses at one point.'
    )
    mutation_probability: float = fraction_parameter(0.005, doc='Probability that a bit flips.')
    truncation: float = float_parameter(
        2.0,
        low=0.0,
        high=100.0,
        unit='-',
        doc='Sigma truncation: costs lower than the mean by this many standard deviations or more '
        'count as equal.',
    )
    elitist: bool = bool_parameter(
        True,
        doc='Replace the worst offspring by the best parent if no offspring is as good.',
    )
    survivors_only: bool = bool_parameter(
        True,
        doc='Candidates that fell become parents only if all fell: their large cost would give '
        'all others nearly equal chances.',
    )


@dataclass(frozen=True)
class _Individual:
    bits: IntArray
    id: int
    evaluation: Evaluation


def read_integers(bits: IntArray, per_gene: int) -> IntArray:
    """
    Return the integers that the genes of a bit string encode, most significant bit first.

    Examples
    --------
    >>> read_integers(np.array([0, 1, 1, 1, 0, 0]), 3).tolist()
    [3, 4]

    """
    weights = 2 ** np.arange(per_gene - 1, -1, -1, dtype=np.int64)
    return np.asarray(bits.reshape(-1, per_gene) @ weights, dtype=np.int64)


def unit_from_integers(integers: IntArray, bits: int) -> FloatArray:
    """
    Return the genes in the unit cube; all bits set are the upper bound.

    The published best values decode from 9928, 63078, 28170 and 57796 with the divisor 65535.

    """
    # value = low + (high - low) n / 65535, which the best values of Figure 6.23 confirm.
    return np.asarray(integers / (2.0**bits - 1.0))


def wheel_shares(costs: FloatArray, truncation: float) -> FloatArray:
    r"""
    Return the share of each candidate on the roulette wheel, (n,).

    Scaled cost, and weight under minimisation as in GALib:

    .. math::
        f_i = \max(0,\; c_i - \bar c + k \sigma), \qquad w_i = \max f + \min f - f_i

    Equal costs get equal shares. The deviation is that of a sample, with divisor ``n - 1``.

    Parameters
    ----------
    costs : (n,) array
        Finite.
    truncation : float
        k.

    """
    # Goldberg (1989), section 4.4: sigma truncation; then the wheel for minimisation.
    spread = float(np.std(costs, ddof=1)) if len(costs) > 1 else 0.0
    scaled = np.maximum(0.0, costs - costs.mean() + truncation * spread)
    weights = scaled.max() + scaled.min() - scaled
    if not weights.sum() > 0.0 or np.ptp(scaled) == 0.0:
        return np.full(len(costs), 1.0 / len(costs))
    return np.asarray(weights / weights.sum())


class BitstringOptimizer(Optimizer):
    """
    Genetic algorithm on bit strings: roulette wheel, one-point crossover, bit flips (Pike 2003).

    A genome that has been evaluated is not asked again. In the original an offspring that neither
    crossed nor mutated kept its evaluation, too. So a generation can ask for fewer candidates than
    its population, or for none.
    """

    Settings: ClassVar[type[Parameters]] = BitstringSettings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        self._settings = make_parameters(BitstringSettings, settings)
        self._length = dimension * self._settings.bits
        self._rng = np.random.default_rng(check_seed(seed))
        self._ledger = AskTellLedger()
        self._known: dict[bytes, _Individual] = {}
        self._population: list[_Individual] = []
        self._offspring_bits: list[IntArray] = []
        self._asked: list[tuple[Candidate, IntArray]] = []

    def ask(self) -> list[Candidate]:
        """Return the new genomes of a random population first, then those of the offspring."""
        self._ledger.check_ask()
        size = self._settings.population
        if not self._population:
            self._offspring_bits = list(
                self._rng.integers(0, 2, (size, self._length), dtype=np.int64)
            )
            parents: list[tuple[int, ...]] = [()] * size
        else:
            self._offspring_bits, parents = self._offspring(size)
        new: dict[bytes, tuple[IntArray, tuple[int, ...]]] = {}
        for bits, origin in zip(self._offspring_bits, parents, strict=True):
            if bits.tobytes() not in self._known:
                new.setdefault(bits.tobytes(), (bits, origin))
        candidates = self._ledger.issue_candidates(
            [self._decode(bits) for bits, _ in new.values()],
            [origin for _, origin in new.values()],
        )
        self._asked = list(zip(candidates, (bits for bits, _ in new.values()), strict=True))
        return candidates

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations; with those known before, they form the next population."""
        in_order = self._ledger.match_evaluations(evaluations)
        for (candidate, bits), evaluation in zip(self._asked, in_order, strict=True):
            self._known[bits.tobytes()] = _Individual(bits, candidate.id, evaluation)
        population = [self._known[bits.tobytes()] for bits in self._offspring_bits]
        if self._settings.elitist and self._population:
            best_before = min(self._population, key=_sort_key)
            if _sort_key(best_before) < _sort_key(min(population, key=_sort_key)):
                worst = max(range(len(population)), key=lambda i: _sort_key(population[i]))
                population[worst] = best_before
        self._population = population

    def _decode(self, bits: IntArray) -> FloatArray:
        return unit_from_integers(read_integers(bits, self._settings.bits), self._settings.bits)

    def _offspring(self, size: int) -> tuple[list[IntArray], list[tuple[int, ...]]]:
        """Return the bit strings of ``size`` offspring and the ids of their parents."""
        shares = self._shares()
        born: list[IntArray] = []
        parents: list[tuple[int, ...]] = []
        while len(born) < size:
            mother, father = (
                self._population[i] for i in self._rng.choice(len(shares), 2, p=shares)
            )
            pair = (mother.bits.copy(), father.bits.copy())
            origins: tuple[tuple[int, ...], ...] = ((mother.id,), (father.id,))
            if self._rng.random() < self._settings.crossover_probability:
                # Sites 0 and length are allowed: they swap the pair or leave it as it is.
                site = int(self._rng.integers(0, self._length + 1))
                pair[0][site:], pair[1][site:] = father.bits[site:], mother.bits[site:]
                if mother.id != father.id:
                    origins = ((mother.id, father.id), (father.id, mother.id))
            born += [self._flip_bits(bits) for bits in pair]
            parents += origins
        return born[:size], parents[:size]

    def _shares(self) -> FloatArray:
        """Return the selection probability of each candidate; 0 without a valid cost."""
        evaluations = [individual.evaluation for individual in self._population]
        eligible = np.array([sort_key(evaluation)[0] == 0 for evaluation in evaluations])
        survived = eligible & np.array([evaluation.status == OK for evaluation in evaluations])
        if self._settings.survivors_only and survived.any():
            eligible = survived
        if not eligible.any():
            return np.full(len(evaluations), 1.0 / len(evaluations))
        shares = np.zeros(len(evaluations))
        # Fitness is maximised here, the original minimised a score: the sign is turned here only.
        costs = -np.array(
            [
                evaluation.fitness
                for evaluation, is_eligible in zip(evaluations, eligible, strict=True)
                if is_eligible
            ]
        )
        shares[eligible] = wheel_shares(costs, self._settings.truncation)
        return shares

    def _flip_bits(self, bits: IntArray) -> IntArray:
        flips = self._rng.random(self._length) < self._settings.mutation_probability
        return np.bitwise_xor(bits, flips.astype(np.int64))


def _sort_key(individual: _Individual) -> tuple[tuple[int, float, float], int]:
    return sort_key(individual.evaluation), individual.id
