# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Real-coded genetic algorithm with elites on the unit cube.

References
----------
Eshelman and Schaffer (1993), Foundations of Genetic Algorithms 2:187-202 (BLX-alpha).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    floats_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.ranking import AskTellLedger, SortKey, sort_key

MIN_SPREAD = 1e-12
"""Range of the population in every gene below which the search stops."""

START_DOC = (
    'Centre of the first population, one number per gene. Empty: uniform over the whole range.'
)
SPREAD_DOC = 'Standard deviation of the first population about its centre.'


@dataclass(frozen=True, kw_only=True)
class GeneticSettings(Parameters):
    """Settings of the genetic algorithm."""

    population: int = int_parameter(20, low=2, high=100000, doc='Candidates per generation.')
    elites: int = int_parameter(
        2,
        low=0,
        high=1000,
        doc='Number of best candidates that stay in the population, without a second evaluation.',
    )
    reevaluate: bool = bool_parameter(
        False,
        doc='Evaluate the elites again in each generation, for noisy trials. Their fitness is '
        'then the mean of all their trials.',
    )
    tournament: int = int_parameter(
        3,
        low=1,
        high=1000,
        doc='Number of candidates drawn for one parent; the best of them becomes the parent.',
    )
    crossover_probability: float = fraction_parameter(
        0.9, doc='Share of offspring with two parents.'
    )
    blend: float = float_parameter(
        0.5,
        low=0.0,
        high=2.0,
        unit='-',
        doc='Alpha of BLX-alpha crossover: distance of a gene beyond its parents, as a share of '
        'their distance.',
    )
    mutations: float = float_parameter(
        1.0, low=0.0, high=1000.0, unit='-', doc='Expected number of mutated genes per offspring.'
    )
    mutation_deviation: float = float_parameter(
        0.1,
        low=1e-9,
        high=1.0,
        unit='-',
        log=True,
        doc='Standard deviation of a mutation, as a share of the range of the gene.',
    )
    mutation_decay: float = float_parameter(
        1.0,
        low=0.5,
        high=1.0,
        unit='-',
        doc='Factor on mutation_deviation after each generation.',
    )
    start: tuple[float, ...] = floats_parameter((), low=0.0, high=1.0, unit='-', doc=START_DOC)
    spread: float = fraction_parameter(0.1, doc=SPREAD_DOC)

    def __post_init__(self) -> None:
        """Check that each generation has offspring."""
        super().__post_init__()
        if self.elites >= self.population:
            raise ConfigurationError(
                f'elites = {self.elites} leaves no room for offspring in a population of '
                f'{self.population}; nearest valid: {self.population - 1}'
            )


@dataclass(frozen=True)
class _EvaluatedCandidate:
    """Candidate with the sort key of its evaluation."""

    id: int
    genome: FloatArray
    key: SortKey


def reflect_into_cube(points: FloatArray) -> FloatArray:
    """
    Return points mirrored at the faces of the unit cube until they are inside.

    Clipping would accumulate genes on the faces; mirroring keeps them spread.

    Examples
    --------
    >>> reflect_into_cube(np.array([-0.25, 0.5, 1.125, 2.25])).tolist()
    [0.25, 0.5, 0.875, 0.25]

    """
    # Mirroring at 0 and 1 again and again is the triangle wave of period 2.
    folded = np.mod(points, 2.0)
    return np.minimum(folded, 2.0 - folded)


def check_start_dimension(start: tuple[float, ...], dimension: int) -> None:
    """Raise ConfigurationError if the start point has another dimension; empty is no start."""
    if start and len(start) != dimension:
        raise ConfigurationError(
            f'optimizer.settings.start has {len(start)} numbers for {dimension} genes'
        )


def draw_first_population(
    rng: np.random.Generator,
    shape: tuple[int, int],
    start: tuple[float, ...],
    spread: float,
) -> FloatArray:
    """
    Return the genomes of the first population, (population, dimension).

    Without a start they are uniform in the unit cube. With one, the first genome is the start and
    the others are normally distributed about it, mirrored into the cube.

    Raises
    ------
    ConfigurationError
        If the start has another dimension.

    """
    check_start_dimension(start, shape[1])
    if not start:
        return rng.random(shape)
    genomes = reflect_into_cube(np.array(start) + rng.normal(0.0, spread, shape))
    genomes[0] = start
    return genomes


class GeneticOptimizer(Optimizer):
    """Genetic algorithm: tournaments, BLX-alpha crossover, mirrored Gaussian mutation, elites."""

    Settings: ClassVar[type[Parameters]] = GeneticSettings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        self._settings = make_parameters(GeneticSettings, settings)
        self._dimension = dimension
        self._rng = np.random.default_rng(check_seed(seed))
        self._first = draw_first_population(
            self._rng,
            (self._settings.population, dimension),
            self._settings.start,
            self._settings.spread,
        )
        self._ledger = AskTellLedger()
        self._asked: list[Candidate] = []
        self._population: list[_EvaluatedCandidate] = []
        self._deviation = self._settings.mutation_deviation

    @property
    def reevaluates(self) -> bool:
        """True if elites are asked again; their fitness is the mean over all their trials."""
        return self._settings.reevaluate

    @property
    def keeps_fitness(self) -> bool:
        """True if a fitness is used after its own generation: by elites that keep it."""
        return self._settings.elites > 0 and not self.reevaluates

    def ask(self) -> list[Candidate]:
        """Return the first population, then in each generation the offspring of the population."""
        self._ledger.check_ask()
        if not self._population:
            genomes = list(self._first)
            parents: list[tuple[int, ...]] = [()] * len(genomes)
        else:
            offspring = [
                self._make_offspring()
                for _ in range(self._settings.population - self._settings.elites)
            ]
            # Re-evaluated elites get new ids; their parent is their former self.
            elites = self._population[: self._settings.elites] if self.reevaluates else []
            genomes = [elite.genome for elite in elites] + [genome for genome, _ in offspring]
            parents = [(elite.id,) for elite in elites] + [origin for _, origin in offspring]
        self._asked = self._ledger.issue_candidates(genomes, parents)
        return self._asked

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Form the next population from the elites and the evaluated candidates."""
        ordered = self._ledger.match_evaluations(evaluations)
        evaluated = [
            _EvaluatedCandidate(candidate.id, candidate.values, sort_key(evaluation))
            for candidate, evaluation in zip(self._asked, ordered, strict=True)
        ]
        if self._population:
            self._deviation *= self._settings.mutation_decay
        elites = [] if self.reevaluates else self._population[: self._settings.elites]
        # Of equal keys the older candidate comes first: on a plateau the elites stay.
        self._population = sorted(elites + evaluated, key=lambda item: (item.key, item.id))

    def stop(self) -> str:
        """Return the reason to stop: all candidates are the same point."""
        if not self._population:
            return ''
        genomes = np.array([candidate.genome for candidate in self._population])
        spread = float(np.max(np.ptp(genomes, axis=0)))
        return 'the population has become one point' if spread < MIN_SPREAD else ''

    def _make_offspring(self) -> tuple[FloatArray, tuple[int, ...]]:
        """Return the genome of an offspring and the ids of its parents."""
        mother = self._select_parent()
        origin: tuple[int, ...] = (mother.id,)
        genome = mother.genome.copy()
        if self._rng.random() < self._settings.crossover_probability:
            father = self._select_parent()
            if father.id != mother.id:
                origin = (mother.id, father.id)
                genome = self._cross_over(mother.genome, father.genome)
        return self._mutate(genome), origin

    def _select_parent(self) -> _EvaluatedCandidate:
        """Return the best of ``tournament`` candidates drawn with replacement."""
        # The population is sorted, best first: the lowest drawn index wins the tournament.
        indices = self._rng.integers(len(self._population), size=self._settings.tournament)
        return self._population[int(indices.min())]

    def _cross_over(self, mother: FloatArray, father: FloatArray) -> FloatArray:
        """Return a genome by blend crossover, BLX-alpha."""
        # Eshelman and Schaffer (1993): each gene is uniform in the interval of its parents,
        # extended at both ends by alpha times its width I.
        low, high = np.minimum(mother, father), np.maximum(mother, father)
        extension = self._settings.blend * (high - low)
        return reflect_into_cube(self._rng.uniform(low - extension, high + extension))

    def _mutate(self, genome: FloatArray) -> FloatArray:
        """Return a genome with normal steps added to some of its genes."""
        probability = min(1.0, self._settings.mutations / self._dimension)
        is_mutated = self._rng.random(self._dimension) < probability
        # A step is drawn for every gene: the number of draws does not depend on their values.
        steps = self._rng.normal(0.0, self._deviation, self._dimension)
        return reflect_into_cube(genome + np.where(is_mutated, steps, 0.0))
