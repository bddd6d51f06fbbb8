# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs of the published genetic algorithm over strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Evaluation
from gait_core.trial.spec import OK
from gait_studies.cafarelli2017.posture_genetic import STRIDE_DOMAIN, PostureGeneticOptimizer
from gait_studies.cafarelli2017.strides.encoding import GENES
from gait_studies.cafarelli2017.strides.rules import StrideRules, rules_with_weight
from gait_studies.cafarelli2017.strides.scoring import score_strides

Objective = Callable[[FloatArray], FloatArray]
"""Fitness (k,) of strides (k, 48) [deg, cm]."""


@dataclass(frozen=True, kw_only=True)
class BestStride:
    """
    Best stride of a search after a generation.

    Attributes
    ----------
    generation : int
        0 is the random population.
    genes : (48,) array [deg, cm]
    fitness : float [-]
    matings : int
        Number of matings so far, rejected ones included.
    """

    generation: int
    genes: FloatArray
    fitness: float
    matings: int


def run_genetic_search(
    objective: Objective, *, seed: int, count: int, **settings: Any
) -> Iterator[BestStride]:
    """
    Run the published genetic algorithm and yield the best stride after each generation.

    Parameters
    ----------
    objective : callable
        Fitness (k,) of strides (k, 48) [deg, cm].
    seed : int
    count : int
        Generations after the random population.
    **settings
        Settings of ``posture_genetic`` except its domain, which is ``stride``.

    """
    search = PostureGeneticOptimizer(dimension=GENES, seed=seed, domain=STRIDE_DOMAIN, **settings)
    best, champion = -np.inf, np.zeros(GENES)
    for generation in range(count + 1):
        candidates = search.ask()
        genes = search.genomes
        fitness = objective(genes)
        search.tell(
            [
                Evaluation(id=candidate.id, status=OK, objectives=np.array([value]))
                for candidate, value in zip(candidates, fitness, strict=True)
            ]
        )
        leader = int(np.argmax(np.where(np.isnan(fitness), -np.inf, fitness)))
        if fitness[leader] > best:
            best, champion = float(fitness[leader]), genes[leader]
        yield BestStride(
            generation=generation, genes=champion, fitness=best, matings=search.matings
        )


@dataclass(frozen=True, kw_only=True)
class PublishedSettings:
    """
    Settings of a run of the thesis; the defaults are its control settings.

    Attributes
    ----------
    generations, elites : int
    mutation : float
        Mutation probability of a gene.
    efficiency_weight : float
        Weight w0.
    intervals : int
        Intervals of the rotary sum.
    listing_compat : bool
        Draw random numbers as the Java program does.
    """

    generations: int = 200
    elites: int = 20
    mutation: float = 0.2
    efficiency_weight: float = 0.33
    intervals: int = 100
    listing_compat: bool = True

    def rules(self) -> StrideRules:
        """Return the program's rules with these weights."""
        return rules_with_weight(self.efficiency_weight, self.intervals)


FINAL_SETTINGS = PublishedSettings(generations=600, mutation=0.03, efficiency_weight=0.97)
"""Final settings of section 6.6; seed 5 gives Table 6.10."""


def run_published_search(settings: PublishedSettings, seed: int) -> list[BestStride]:
    """Repeat a run of the thesis; return the best stride after each generation."""
    rules = settings.rules()
    return list(
        run_genetic_search(
            lambda genes: score_strides(genes, rules).fitness,
            seed=seed,
            count=settings.generations,
            elite_share=settings.elites / 100.0,
            mutation_probability=settings.mutation,
            listing_compat=settings.listing_compat,
        )
    )
