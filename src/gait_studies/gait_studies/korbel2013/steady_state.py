# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Steady-state evolutionary algorithm of Korbel (2013).

References
----------
Korbel (2013), *Central Pattern Generator Gait Evolution of a Robotic Modular Tetrahedral
Tensegrity*, MSc thesis, University of Idaho: section 2.3, Table 6 and the listings of appendix A.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
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


@dataclass(frozen=True, kw_only=True)
class SteadyStateSettings(Parameters):
    """Settings of the steady-state algorithm; the defaults are the published ones."""

    population: int = int_parameter(50, low=2, high=100000, doc='Candidates in the population.')
    tournament: int = int_parameter(
        5,
        low=1,
        high=1000,
        doc='Candidates drawn, with replacement, to choose a parent or one to be replaced.',
    )
    crossover_probability: float = fraction_parameter(
        0.2, doc='Probability that the parents swap a gene.'
    )
    mutation_probability: float = fraction_parameter(
        0.7, doc='Probability that a gene of an offspring takes a step.'
    )
    steps: tuple[float, ...] = floats_parameter(
        (),
        low=0.0,
        high=1.0,
        unit='-',
        doc='Largest step of each gene as a share of its range. Empty: 0.1. An experiment gives '
        'it as `step` of its genes, in their units.',
    )
    initial_low: tuple[float, ...] = floats_parameter(
        (),
        low=0.0,
        high=1.0,
        unit='-',
        doc='Lower end of the first draws of each gene, in the unit cube. Empty: 0. An experiment '
        'gives both ends as `initial` of its genes, in their units.',
    )
    initial_high: tuple[float, ...] = floats_parameter(
        (),
        low=0.0,
        high=1.0,
        unit='-',
        doc='Upper end of the first draws of each gene. Empty: 1. Offspring may leave this range.',
    )
    grid: int = int_parameter(
        2000,
        low=0,
        high=10**9,
        doc='Number of equally spaced values per gene, without the upper end, from which the '
        'first population is drawn; 0: any value.',
    )
    iterations: int = int_parameter(
        2000, low=1, high=10**9, doc='Iterations after which the search ends.'
    )
    patience: int = int_parameter(
        100,
        low=1,
        high=10**9,
        doc='Iterations over which the gain of the mean fitness is measured.',
    )
    least_gain: float = float_parameter(
        0.03,
        low=0.0,
        high=1e9,
        unit='fitness',
        doc='Gain of the mean fitness in `patience` iterations below which the search ends; 0: '
        'never.',
    )
    unstopped: int = int_parameter(
        200,
        low=0,
        high=10**9,
        doc='Iterations that the search runs at least, before a small gain can end it.',
    )
    listing_compat: bool = bool_parameter(
        False,
        doc='Follow the published program: both offspring of an iteration take the same steps, '
        'the last gene never takes one, and a small gain does not end the search.',
    )


@dataclass(frozen=True)
class Member:
    """Candidate in the population."""

    id: int
    genome: FloatArray
    fitness: float
    key: SortKey


class SteadyStateOptimizer(Optimizer):
    """
    Evolutionary algorithm of two offspring per iteration; each replaces a worse candidate, if any.

    Attributes
    ----------
    population : list of Member
        A better offspring takes the index of the candidate it replaces; empty before the first
        ``tell``.
    history : list of float
        Mean fitness after each iteration; minus infinity while a member has no fitness.

    """

    Settings: ClassVar[type[Parameters]] = SteadyStateSettings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(SteadyStateSettings, settings)
        for name in ('steps', 'initial_low', 'initial_high'):
            count = len(getattr(chosen, name))
            if count not in (0, dimension):
                raise ConfigurationError(
                    f'steady_state {name} has {count} values, expected {dimension} or none'
                )
        self._settings = chosen
        self._steps = np.array(chosen.steps or (0.1,) * dimension)
        self._low = np.array(chosen.initial_low or (0.0,) * dimension)
        self._high = np.array(chosen.initial_high or (1.0,) * dimension)
        if not (self._low < self._high).all():
            gene = int(np.argmin(self._low < self._high))
            raise ConfigurationError(
                f'steady_state draws gene {gene} from [{self._low[gene]:g}, '
                f'{self._high[gene]:g}]; the first must be below the second'
            )
        self._rng = np.random.default_rng(check_seed(seed))
        self._ledger = AskTellLedger()
        self._asked: list[Candidate] = []
        self.population: list[Member] = []
        self.history: list[float] = []

    def ask(self) -> list[Candidate]:
        """Return the random population first, then the two offspring of an iteration."""
        self._ledger.check_ask()
        if not self.population:
            count = self._settings.population
            self._asked = self._ledger.issue_candidates(
                list(self._draw_genomes(count)), [()] * count
            )
        else:
            first, second = self._select_parent(), self._select_parent()
            ids = (first.id,) if first.id == second.id else (first.id, second.id)
            self._asked = self._ledger.issue_candidates(
                self._cross_and_mutate(first.genome, second.genome), [ids, ids[::-1]]
            )
        return self._asked

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations; offspring enter the population one after the other."""
        in_order = self._ledger.match_evaluations(evaluations)
        offspring = [
            Member(candidate.id, candidate.values, evaluation.fitness, sort_key(evaluation))
            for candidate, evaluation in zip(self._asked, in_order, strict=True)
        ]
        if not self.population:
            self.population = offspring
            return
        for child in offspring:
            self._insert(child)
        with np.errstate(invalid='ignore'):
            mean = float(np.mean([member.fitness for member in self.population]))
        # Members without a fitness are replaced first: the mean counts once all have a fitness.
        self.history.append(
            mean if all(member.key[0] < 2 for member in self.population) else -np.inf
        )

    def stop(self) -> str:
        """Return the reason to stop: all iterations done, or too small a gain; '' to go on."""
        chosen, done = self._settings, len(self.history)
        if done >= chosen.iterations:
            return f'all {chosen.iterations} iterations done'
        if chosen.listing_compat or done <= max(chosen.unstopped, chosen.patience):
            return ''
        now, before = self.history[-1], self.history[-1 - chosen.patience]
        if np.isfinite(before) and now - before < chosen.least_gain:
            return (
                f'the mean fitness gained less than {chosen.least_gain:g} in {chosen.patience} '
                'iterations'
            )
        return ''

    def _draw_genomes(self, count: int) -> FloatArray:
        size = (count, len(self._steps))
        if self._settings.grid:
            shares = self._rng.integers(self._settings.grid, size=size) / self._settings.grid
        else:
            shares = self._rng.random(size)
        return np.asarray(self._low + (self._high - self._low) * shares)

    def _draw_tournament(self) -> list[int]:
        indices = self._rng.integers(len(self.population), size=self._settings.tournament)
        return [int(place) for place in indices]

    def _select_parent(self) -> Member:
        return min(
            (self.population[i] for i in self._draw_tournament()), key=lambda member: member.key
        )

    def _cross_and_mutate(self, first: FloatArray, second: FloatArray) -> list[FloatArray]:
        n = len(self._steps)
        # Uniform crossover (Table 6): genes of the same index are swapped.
        swapped = self._rng.random(n) < self._settings.crossover_probability
        child_1, child_2 = np.where(swapped, second, first), np.where(swapped, first, second)
        moves = self._draw_steps()
        other_moves = moves if self._settings.listing_compat else self._draw_steps()
        return [_apply_steps(child_1, *moves), _apply_steps(child_2, *other_moves)]

    def _draw_steps(self) -> tuple[BoolArray, FloatArray]:
        """Return a mask of the genes that take a step, (n,), and the steps, (n,)."""
        n = len(self._steps)
        # Mutation (Table 6): a uniform step, up or down with equal chance.
        chosen = self._rng.random(n) < self._settings.mutation_probability
        signs = np.where(self._rng.random(n) < 0.5, -1.0, 1.0)
        sizes = self._rng.random(n) * self._steps
        if self._settings.listing_compat:
            chosen[-1] = False
        return chosen, signs * sizes

    def _insert(self, child: Member) -> None:
        """
        Replace the worst of a tournament by a better offspring, else the worst of all.

        For the second replacement the published text requires that the mean improves, the program
        that the offspring is better: both are equivalent.
        """
        index = max(self._draw_tournament(), key=lambda i: self.population[i].key)
        if not child.key < self.population[index].key:
            index = max(range(len(self.population)), key=lambda i: self.population[i].key)
        if child.key < self.population[index].key:
            self.population[index] = child


def _apply_steps(genome: FloatArray, has_step: BoolArray, moves: FloatArray) -> FloatArray:
    """Return a genome after its steps; a step that would reach or cross a bound is left out."""
    moved = genome + moves
    allowed = has_step & (moved > 0.0) & (moved < 1.0)
    return np.asarray(np.where(allowed, moved, genome))
