# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Genetic algorithm of Cafarelli (2017) over strides of a hexapod with extending legs.

References
----------
Cafarelli (2017), *Energy-efficient Gait Control Schema of a Hexapod Robot with Dynamic Leg
Lengths*, MSc thesis, chapter 5; class ``GeneticAlgorithm`` of its appendix B.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray, IntArray, read_only_array
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
    str_parameter,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.ranking import AskTellLedger, SortKey, sort_key
from gait_studies.cafarelli2017.strides.encoding import (
    GENES,
    LIMITS_AS_CODED,
    is_feasible,
    unit_from_genes,
)
from gait_studies.cafarelli2017.strides.java_random import JavaRandom

GENOME_PARTS = 4
BOX_DOMAIN, STRIDE_DOMAIN = 'box', 'stride'
_BLOCK_SIZE = 1 << 14
"""Random numbers fetched at a time."""


@dataclass(frozen=True, kw_only=True)
class PostureGeneticSettings(Parameters):
    """Settings of the genetic algorithm; the defaults are the published final ones."""

    population: int = int_parameter(100, low=2, high=100000, doc='Candidates per generation.')
    elite_share: float = float_parameter(
        0.2,
        low=0.0,
        high=0.99,
        unit='-',
        doc='Share of the population that survives as elites; rounded.',
    )
    mutation_probability: float = fraction_parameter(
        0.03, doc='Probability that a gene is drawn anew, uniformly.'
    )
    domain: str = str_parameter(
        BOX_DOMAIN,
        choices=(BOX_DOMAIN, STRIDE_DOMAIN),
        doc='box: every genome is feasible. stride: 48 genes of a hexapod stride; infeasible '
        'offspring are drawn again.',
    )
    listing_compat: bool = bool_parameter(
        False,
        doc='Draw from java.util.Random and leave the first population unsorted, as the published '
        'program does; with it, seed 5 gives Table 6.10.',
    )

    @property
    def elites(self) -> int:
        """Number of elites; at least one candidate of a generation is new."""
        return min(round(self.elite_share * self.population), self.population - 1)


class _Source(Protocol):
    def random(self, size: int) -> FloatArray:
        """Return uniform numbers in [0, 1), (size,)."""
        ...


class _Draws:
    """Buffer of uniform numbers of a generator, which can be read ahead of their use."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._waiting: FloatArray = np.empty(0)

    def peek(self, count: int) -> FloatArray:
        """Return the next numbers, at least ``count``, without consuming them."""
        if len(self._waiting) < count:
            fresh = self._source.random(max(count, _BLOCK_SIZE))
            self._waiting = np.concatenate([self._waiting, fresh])
        return self._waiting

    def consume(self, count: int) -> None:
        """Remove the next ``count`` numbers."""
        self._waiting = self._waiting[count:]


@dataclass(frozen=True)
class _Individual:
    id: int
    genome: FloatArray
    key: SortKey


class PostureGeneticOptimizer(Optimizer):
    """
    Genetic algorithm: roulette wheel, crossover of postures, uniform mutation, elites.

    Shares of the wheel are proportional to fitness, shifted if some is negative. So, unlike the
    other optimisers, this one is not invariant to monotone transforms of fitness.
    """

    Settings: ClassVar[type[Parameters]] = PostureGeneticSettings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        self._settings = make_parameters(PostureGeneticSettings, settings)
        if self._settings.domain == STRIDE_DOMAIN and dimension != GENES:
            raise ConfigurationError(
                f"domain 'stride' has {GENES} genes, not {dimension}; nearest valid: {GENES}"
            )
        self._dimension = dimension
        seed = check_seed(seed)
        self._draws = _Draws(
            JavaRandom(seed) if self._settings.listing_compat else np.random.default_rng(seed)
        )
        self._ledger = AskTellLedger()
        self._asked: list[Candidate] = []
        self.genomes: FloatArray = np.empty((0, dimension))
        """
        Genomes of the candidates asked last, (n, dimension), read-only.

        In domain ``stride`` the genes [deg, cm], to the last bit; candidates carry their points of
        the unit cube, which are rounded.
        """
        self._population: list[_Individual] = []
        self.matings = 0
        """Matings so far, rejected offspring included."""

    def ask(self) -> list[Candidate]:
        """Return a random population first, then the offspring that join the elites."""
        self._ledger.check_ask()
        if not self._population:
            genomes = np.array([self._random_genome() for _ in range(self._settings.population)])
            parents: list[tuple[int, ...]] = [()] * len(genomes)
        else:
            genomes, parents = self._offspring()
        self.genomes = read_only_array(genomes, name='genomes')
        if self._settings.domain == STRIDE_DOMAIN:
            genomes = unit_from_genes(genomes)
        self._asked = self._ledger.issue_candidates(list(genomes), parents)
        return self._asked

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations and form the next population of these and the elites."""
        in_order = self._ledger.match_evaluations(evaluations)
        offspring = [
            _Individual(candidate.id, genome, sort_key(evaluation))
            for candidate, genome, evaluation in zip(
                self._asked, self.genomes, in_order, strict=True
            )
        ]
        if not self._population and self._settings.listing_compat:
            # The published program sorts after a generation only: its first elite is arbitrary.
            self._population = offspring
            return
        survivors = self._population[: self._settings.elites]
        # Offspring come first: of equals they stay ahead, as in the published program.
        self._population = sorted(offspring + survivors, key=lambda individual: individual.key)

    def _random_genome(self) -> FloatArray:
        """Return a random point of the unit cube, or in domain ``stride`` feasible genes."""
        if self._settings.domain == BOX_DOMAIN:
            draws: FloatArray = self._draws.peek(self._dimension)[: self._dimension].copy()
            self._draws.consume(self._dimension)
            return draws
        genes: FloatArray = np.empty(GENES)
        found = False
        while not found:
            used, found = _first_feasible(self._draws.peek(GENES), genes)
            self._draws.consume(used)
        return genes

    def _offspring(self) -> tuple[FloatArray, list[tuple[int, ...]]]:
        """Return the genomes of offspring and the ids of their parents."""
        genomes = np.array([individual.genome for individual in self._population])
        wheel = np.cumsum(wheel_shares([individual.key for individual in self._population]))
        missing = len(genomes) - self._settings.elites
        offspring: FloatArray = np.empty((missing, self._dimension))
        origins: IntArray = np.empty((missing, 2), dtype=np.int64)
        done = 0
        while done < missing:
            draws = self._draws.peek(3 + 2 * self._dimension)
            done, used, matings = _breed(
                draws,
                genomes,
                wheel,
                self._settings.mutation_probability,
                self._settings.domain == STRIDE_DOMAIN,
                offspring,
                origins,
                done,
            )
            self._draws.consume(used)
            self.matings += matings
        ids = [individual.id for individual in self._population]
        parents: list[tuple[int, ...]] = [
            (ids[first], ids[second]) if first != second else (ids[first],)
            for first, second in origins
        ]
        return offspring, parents


def wheel_shares(keys: Sequence[SortKey]) -> FloatArray:
    """
    Return the share of each candidate on the roulette wheel, (n,).

    Shares are proportional to fitness, or to its excess over the lowest fitness if that is
    negative. Invalid candidates and those that violate a constraint get zero. If all weights are
    zero, shares are equal.

    Examples
    --------
    >>> wheel_shares([(0, 0.0, -3.0), (0, 0.0, -1.0), (2, 0.0, 0.0)]).tolist()
    [0.75, 0.25, 0.0]

    """
    sound = np.array([key[0] == 0 for key in keys])
    fitness = np.array([-key[2] for key in keys])
    if sound.any():
        fitness = fitness - min(0.0, float(fitness[sound].min()))
    weights = np.where(sound, fitness, 0.0)
    # One after the other, as the published program adds: pairwise sums differ in the last bit.
    total = float(np.cumsum(weights)[-1])
    if not 0.0 < total < np.inf:
        return np.full(len(keys), 1.0 / len(keys))
    return np.asarray(weights / total)


_LOWER = LIMITS_AS_CODED.lower
_RANGE = LIMITS_AS_CODED.upper - LIMITS_AS_CODED.lower
_LOW, _HIGH = LIMITS_AS_CODED.low, LIMITS_AS_CODED.high


@njit(cache=True)
def _first_feasible(draws: FloatArray, genes: FloatArray) -> tuple[int, bool]:
    """
    Write the first feasible stride; return the number of draws used and whether there is one.

    A stride takes 48 draws in the order of the published program: hips leg by leg, each within the
    range that the postures before leave, then all knees, upper and lower lengths.
    """
    used = 0
    while used + GENES <= len(draws):
        for leg in range(3):
            at = used + 4 * leg
            first = draws[at] * (_HIGH[0] - _LOW[0]) + _LOW[0]
            second = draws[at + 1] * (_HIGH[0] - first) + first
            third = draws[at + 2] * (_HIGH[0] - second) + second
            genes[4 * leg], genes[4 * leg + 12], genes[4 * leg + 24] = first, second, third
            genes[4 * leg + 36] = draws[at + 3] * (third - _LOW[0]) + _LOW[0]
        for kind in range(1, 4):
            for i in range(12):
                share = draws[used + 12 * kind + i]
                genes[4 * i + kind] = share * (_HIGH[kind] - _LOW[kind]) + _LOW[kind]
        used += GENES
        if is_feasible(genes):
            return used, True
    return used, False


@njit(cache=True)
def _spin_wheel(wheel: FloatArray, draw: float, excluded: int) -> int:
    """Return the first index, except ``excluded``, whose cumulative share reaches the draw."""
    for i in range(len(wheel)):
        if i != excluded and wheel[i] >= draw:
            return i
    return len(wheel) - 1


@njit(cache=True)
def _breed(
    draws: FloatArray,
    genomes: FloatArray,
    wheel: FloatArray,
    rate: float,
    stride: bool,
    offspring: FloatArray,
    origins: IntArray,
    count: int,
) -> tuple[int, int, int]:
    """
    Write offspring until they are complete or the draws run out.

    Returns the number of offspring written so far, of draws used and of matings.
    """
    dimension = genomes.shape[1]
    used = matings = 0
    while count < len(offspring) and used + 3 + 2 * dimension <= len(draws):
        # Roulette wheel: the parents differ unless both are the last of the list.
        first = _spin_wheel(wheel, draws[used], -1)
        second = _spin_wheel(wheel, draws[used + 1], first)
        cut = int(draws[used + 2] * GENOME_PARTS)
        used += 3
        matings += 1
        child = offspring[count]
        # Crossover, Fig. 5.5: postures n and n + 1 from one parent, the next two from the other.
        for part in range(GENOME_PARTS):
            giver = first if (part - cut) % GENOME_PARTS < GENOME_PARTS // 2 else second
            for i in range(
                part * dimension // GENOME_PARTS, (part + 1) * dimension // GENOME_PARTS
            ):
                child[i] = genomes[giver, i]
        if stride and not is_feasible(child):
            continue
        # Mutation, Fig. 5.6: each gene is drawn anew over its whole range with this probability.
        for i in range(dimension):
            used += 1
            if draws[used - 1] < rate:
                child[i] = draws[used] * _RANGE[i] + _LOWER[i] if stride else draws[used]
                used += 1
        if stride and not is_feasible(child):
            continue
        origins[count] = first, second
        count += 1
    return count, used, matings
