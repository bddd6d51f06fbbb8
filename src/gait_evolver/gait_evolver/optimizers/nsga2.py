# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Search with several objectives by NSGA-II of the library ``pymoo``.

References
----------
Deb, Pratap, Agarwal and Meyarivan (2002), IEEE Transactions on Evolutionary Computation 6:182-197.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
from pymoo.config import Config
from pymoo.core.problem import Problem
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.selection.tournament import TournamentSelection
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    floats_parameter,
    fraction_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.genetic import SPREAD_DOC, START_DOC, draw_first_population
from gait_evolver.optimizers.ranking import EXCLUDED_RANK, AskTellLedger, sort_key

# The hint on standard output would corrupt the single object of `--json`.
Config.show_compile_hint = False


@dataclass(frozen=True, kw_only=True)
class Nsga2Settings(Parameters):
    """Settings of NSGA-II."""

    population: int = int_parameter(100, low=4, high=100000, doc='Candidates per generation.')
    objectives: int = int_parameter(
        1,
        low=1,
        high=20,
        doc='Number of objectives of an evaluation; 1 is a plain genetic algorithm.',
    )
    crossover_probability: float = fraction_parameter(
        0.9, doc='Share of matings that cross their parents.'
    )
    crossover_index: float = float_parameter(
        15.0,
        low=0.0,
        high=1000.0,
        unit='-',
        doc='Distribution index of simulated binary crossover; a larger one keeps offspring '
        'closer to a parent.',
    )
    mutation_index: float = float_parameter(
        20.0,
        low=0.0,
        high=1000.0,
        unit='-',
        doc='Distribution index of polynomial mutation, which changes one gene on average; a '
        'larger one changes it less.',
    )
    start: tuple[float, ...] = floats_parameter((), low=0.0, high=1.0, unit='-', doc=START_DOC)
    spread: float = fraction_parameter(0.1, doc=SPREAD_DOC)


class Nsga2Optimizer(Optimizer):
    """
    NSGA-II of several objectives by the library pymoo; its operators keep the bounds.

    Candidates that violate constraints rank below all feasible ones, by the sum of their
    violations. Candidates without a fitness, or with an objective that is not finite, rank last.
    """

    Settings: ClassVar[type[Parameters]] = Nsga2Settings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(Nsga2Settings, settings)
        self._objectives = chosen.objectives
        rng = np.random.default_rng(check_seed(seed))
        first = draw_first_population(
            rng, (chosen.population, dimension), chosen.start, chosen.spread
        )
        # New operators, because the default ones of the library are shared by all searches.
        self._search = NSGA2(
            pop_size=chosen.population,
            sampling=first,
            selection=TournamentSelection(func_comp=binary_tournament),
            crossover=SBX(eta=chosen.crossover_index, prob=chosen.crossover_probability),
            mutation=PM(eta=chosen.mutation_index),
            survival=RankAndCrowding(),
            seed=rng,
        )
        space = Problem(n_var=dimension, n_obj=chosen.objectives, n_ieq_constr=1, xl=0.0, xu=1.0)
        self._search.setup(space, termination=NoTermination(), output=None)
        self._ledger = AskTellLedger()
        self._asked = self._search.ask()

    def ask(self) -> list[Candidate]:
        """Return the first population, then the offspring of each generation."""
        self._ledger.check_ask()
        genomes = [np.clip(individual.X, 0.0, 1.0) for individual in self._asked]
        return self._ledger.issue_candidates(genomes, [()] * len(genomes))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Select the survivors of parents and offspring by rank and crowding distance."""
        ordered = self._ledger.match_evaluations(evaluations)
        # F and G are pymoo's names of costs and constraint violations of an individual.
        for individual, evaluation in zip(self._asked, ordered, strict=True):
            costs, violation = self._costs_and_violation(evaluation)
            individual.F, individual.G = costs, np.array([violation])
            individual.evaluated.update(('F', 'G'))
        self._search.tell(infills=self._asked)
        self._asked = self._search.ask()

    def stop(self) -> str:
        """Return the reason to stop: no offspring differs from the population."""
        return 'the population has no new offspring' if self._asked is None else ''

    def pareto_front(self) -> FloatArray:
        """Return the objectives of the first front, (k, m); empty without a feasible candidate."""
        if self._search.opt is None or not self._search.opt.get('FEAS').all():
            return np.empty((0, self._objectives))
        return -np.asarray(self._search.opt.get('F'), dtype=np.float64)

    def _costs_and_violation(self, evaluation: Evaluation) -> tuple[FloatArray, float]:
        """Return the costs, (m,), and the constraint violation; infinite without a fitness."""
        rank, violation, _ = sort_key(evaluation)
        objectives = evaluation.objectives
        if rank == EXCLUDED_RANK or objectives is None or not np.isfinite(objectives).all():
            return np.zeros(self._objectives), np.inf
        if len(objectives) != self._objectives:
            raise ConfigurationError(
                f"nsga2: its setting 'objectives' is {self._objectives}, but an evaluation has "
                f'{len(objectives)} objectives; nearest valid: {len(objectives)}'
            )
        return -objectives, violation
