# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Evolutionary algorithms of the library ``pymoo``, for one objective or several.

Its CMA-ES is not offered: it draws from NumPy's global generator.

References
----------
Deb, Pratap, Agarwal and Meyarivan (2002), IEEE Transactions on Evolutionary Computation 6:182-197
(NSGA-II).
Deb and Jain (2014), IEEE Transactions on Evolutionary Computation 18:577-601 (NSGA-III).
Storn and Price (1997), Journal of Global Optimization 11:341-359 (differential evolution).
Kennedy and Eberhart (1995), IEEE International Conference on Neural Networks 4:1942-1948; Zhan,
Zhang, Li and Chung (2009), IEEE Transactions on Systems, Man, and Cybernetics B 39:1362-1381
(adaptive particle swarm).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
import warnings

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.soo.nonconvex.de import DE, Variant
from pymoo.algorithms.soo.nonconvex.pso import PSO
from pymoo.config import Config
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.termination import NoTermination
from pymoo.operators.control import NoParameterControl
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.selection.tournament import TournamentSelection, compare
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.util.ref_dirs import get_reference_directions
from pymoo.util.reference_direction import get_partition_closest_to_points

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
    str_parameter,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.genetic import SPREAD_DOC, START_DOC, draw_first_population
from gait_evolver.optimizers.ranking import EXCLUDED_RANK, AskTellLedger, sort_key

# The hint on standard output would corrupt the single object of `--json`.
Config.show_compile_hint = False

_MATING_DOC = 'Share of matings that cross their parents.'
_CROSSOVER_DOC = (
    'Distribution index of simulated binary crossover; a larger one keeps offspring closer to a '
    'parent.'
)


class PymooOptimizer(Optimizer):
    """
    Search by an algorithm of pymoo that begins with a given population.

    Candidates that violate constraints rank below all feasible ones, by the sum of their
    violations. Candidates without a fitness, or with an objective that is not finite, rank last.

    Parameters
    ----------
    search : Algorithm
        New, with operators of its own: the default ones of the library are shared.
    rng : Generator
        Source of all its random numbers.
    dimension, objectives : int
    name : str
        Registered name, for messages.

    """

    ranks_constraints: ClassVar[bool] = True

    def __init__(
        self,
        search: Algorithm,
        rng: np.random.Generator,
        *,
        dimension: int,
        objectives: int,
        name: str,
    ) -> None:
        self._search, self._objectives, self._name = search, objectives, name
        space = Problem(n_var=dimension, n_obj=objectives, n_ieq_constr=1, xl=0.0, xu=1.0)
        search.setup(space, seed=rng, termination=NoTermination(), output=None)
        self._ledger = AskTellLedger()
        self._asked = search.ask()

    def ask(self) -> list[Candidate]:
        """Return the first population, then the offspring of each generation."""
        self._ledger.check_ask()
        genomes = [np.clip(individual.X, 0.0, 1.0) for individual in self._asked]
        return self._ledger.issue_candidates(genomes, [()] * len(genomes))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Select the survivors of parents and offspring, by costs and constraint violations."""
        ordered = self._ledger.match_evaluations(evaluations)
        # F and G are pymoo's names of costs and constraint violations of an individual.
        for individual, evaluation in zip(self._asked, ordered, strict=True):
            costs, violation = self._costs_and_violation(evaluation)
            individual.F, individual.G = costs, np.array([violation])
            individual.evaluated.update(('F', 'G'))
        # NSGA-III switches all warnings of the process off.
        with warnings.catch_warnings():
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
                f"{self._name}: its setting 'objectives' is {self._objectives}, but an evaluation "
                f'has {len(objectives)} objectives; nearest valid: {len(objectives)}'
            )
        return -objectives, violation


@dataclass(frozen=True, kw_only=True)
class _PopulationSettings(Parameters):
    """Settings of the first population."""

    population: int = int_parameter(100, low=4, high=100000, doc='Candidates per generation.')
    start: tuple[float, ...] = floats_parameter((), low=0.0, high=1.0, unit='-', doc=START_DOC)
    spread: float = fraction_parameter(0.1, doc=SPREAD_DOC)


def _first_population(
    settings: _PopulationSettings, dimension: int, seed: int
) -> tuple[np.random.Generator, FloatArray]:
    """Return the generator of a search and the first population that it drew."""
    rng = np.random.default_rng(check_seed(seed))
    shape = settings.population, dimension
    return rng, draw_first_population(rng, shape, settings.start, settings.spread)


@dataclass(frozen=True, kw_only=True)
class Nsga2Settings(_PopulationSettings):
    """Settings of NSGA-II."""

    objectives: int = int_parameter(
        1,
        low=1,
        high=20,
        doc='Number of objectives of an evaluation; 1 is a plain genetic algorithm.',
    )
    crossover_probability: float = fraction_parameter(0.9, doc=_MATING_DOC)
    crossover_index: float = float_parameter(
        15.0,
        low=0.0,
        high=1000.0,
        unit='-',
        doc=_CROSSOVER_DOC,
    )
    mutation_index: float = float_parameter(
        20.0,
        low=0.0,
        high=1000.0,
        unit='-',
        doc='Distribution index of polynomial mutation, which changes one gene on average; a '
        'larger one changes it less.',
    )


class Nsga2Optimizer(PymooOptimizer):
    """NSGA-II of several objectives by the library pymoo; its operators keep the bounds."""

    Settings: ClassVar[type[Parameters]] = Nsga2Settings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(Nsga2Settings, settings)
        rng, first = _first_population(chosen, dimension, seed)
        search = NSGA2(
            pop_size=chosen.population,
            sampling=first,
            selection=TournamentSelection(func_comp=binary_tournament),
            crossover=SBX(eta=chosen.crossover_index, prob=chosen.crossover_probability),
            mutation=PM(eta=chosen.mutation_index),
            survival=RankAndCrowding(),
        )
        super().__init__(
            search, rng, dimension=dimension, objectives=chosen.objectives, name='nsga2'
        )


@dataclass(frozen=True, kw_only=True)
class Nsga3Settings(Nsga2Settings):
    """Settings of NSGA-III."""

    crossover_probability: float = fraction_parameter(1.0, doc=_MATING_DOC)
    crossover_index: float = float_parameter(
        30.0,
        low=0.0,
        high=1000.0,
        unit='-',
        doc=_CROSSOVER_DOC,
    )


class Nsga3Optimizer(PymooOptimizer):
    """
    NSGA-III by the library pymoo, for three objectives or more.

    Reference directions in the space of objectives keep the candidates spread over the front.
    """

    Settings: ClassVar[type[Parameters]] = Nsga3Settings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(Nsga3Settings, settings)
        if chosen.population < chosen.objectives:
            raise ConfigurationError(
                f'nsga3 needs a candidate for each of {chosen.objectives} objectives, its '
                f'population is {chosen.population}; nearest valid: {chosen.objectives}'
            )
        rng, first = _first_population(chosen, dimension, seed)
        # Directions spread evenly over the simplex of objectives (Das and Dennis), about one per
        # candidate.
        partitions = get_partition_closest_to_points(chosen.population, chosen.objectives)
        search = NSGA3(
            get_reference_directions('das-dennis', chosen.objectives, n_partitions=partitions),
            pop_size=chosen.population,
            sampling=first,
            selection=TournamentSelection(func_comp=_least_violations),
            crossover=SBX(eta=chosen.crossover_index, prob=chosen.crossover_probability),
            mutation=PM(eta=chosen.mutation_index),
        )
        super().__init__(
            search, rng, dimension=dimension, objectives=chosen.objectives, name='nsga3'
        )


def _least_violations(
    population: Population, pairs: Any, random_state: np.random.Generator, **_: Any
) -> Any:
    """Return the index of the winner of each pair, (k, 1): less violation, else at random."""
    # The function of the library breaks ties by an unseeded generator.
    winners = [
        compare(
            a,
            population[a].CV[0],
            b,
            population[b].CV[0],
            method='smaller_is_better',
            return_random_if_equal=True,
            random_state=random_state,
        )
        for a, b in pairs
    ]
    return np.array(winners)[:, None]


@dataclass(frozen=True, kw_only=True)
class DifferentialEvolutionSettings(_PopulationSettings):
    """Settings of differential evolution."""

    population: int = int_parameter(40, low=4, high=100000, doc='Candidates per generation.')
    base: str = str_parameter(
        'rand',
        choices=('rand', 'best', 'target-to-best'),
        doc='Vector to which a difference is added: a random candidate, the best one, or the '
        'parent moved towards the best.',
    )
    weight: float = float_parameter(
        0.5, low=0.0, high=2.0, unit='-', doc='Factor F on differences of two candidates.'
    )
    crossover_rate: float = fraction_parameter(
        0.9, doc='Probability CR that a gene comes from the mutant instead of the parent.'
    )


class DifferentialEvolution(PymooOptimizer):
    """Differential evolution with binomial crossover by the library pymoo."""

    Settings: ClassVar[type[Parameters]] = DifferentialEvolutionSettings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(DifferentialEvolutionSettings, settings)
        rng, first = _first_population(chosen, dimension, seed)
        variant = Variant(
            selection=chosen.base,
            F=chosen.weight,
            CR=chosen.crossover_rate,
            control=NoParameterControl,
        )
        search = DE(pop_size=chosen.population, sampling=first, variant=variant)
        name = 'differential_evolution'
        super().__init__(search, rng, dimension=dimension, objectives=1, name=name)


@dataclass(frozen=True, kw_only=True)
class ParticleSwarmSettings(_PopulationSettings):
    """Settings of particle swarm optimisation."""

    population: int = int_parameter(25, low=4, high=100000, doc='Candidates per generation.')
    adaptive: bool = bool_parameter(
        True,
        doc='Whether inertia and pulls change with the spread of the swarm, from their first '
        'values.',
    )
    inertia: float = float_parameter(
        0.9, low=0.0, high=2.0, unit='-', doc='Share of its velocity that a particle keeps.'
    )
    own_pull: float = float_parameter(
        2.0, low=0.0, high=4.0, unit='-', doc='Pull to the best point of the particle, c1.'
    )
    common_pull: float = float_parameter(
        2.0, low=0.0, high=4.0, unit='-', doc='Pull to the best point of the swarm, c2.'
    )
    largest_step: float = float_parameter(
        0.2,
        low=1e-6,
        high=1.0,
        unit='-',
        doc='Largest change of a gene in one generation, as a share of its range.',
    )


class ParticleSwarmOptimizer(PymooOptimizer):
    """Particle swarm optimisation by the library pymoo; the best particle is also mutated."""

    Settings: ClassVar[type[Parameters]] = ParticleSwarmSettings

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(ParticleSwarmSettings, settings)
        rng, first = _first_population(chosen, dimension, seed)
        search = PSO(
            pop_size=chosen.population,
            sampling=first,
            w=chosen.inertia,
            c1=chosen.own_pull,
            c2=chosen.common_pull,
            adaptive=chosen.adaptive,
            max_velocity_rate=chosen.largest_step,
        )
        name = 'particle_swarm'
        super().__init__(search, rng, dimension=dimension, objectives=1, name=name)
