# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Covariance matrix adaptation (CMA-ES) on the unit cube, by the library ``cma``.

References
----------
Hansen and Ostermeier (2001), Evolutionary Computation 9:159-195.
Auger and Hansen (2005), IEEE Congress on Evolutionary Computation 2:1769-1776 (restarts, IPOP).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, ClassVar

import cma
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    float_parameter,
    floats_parameter,
    int_parameter,
    make_parameters,
)
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.genetic import check_start_dimension
from gait_evolver.optimizers.ranking import AskTellLedger, tied_ranks

# The library also has stopping criteria on the history of costs. Here costs are ranks, whose
# minimum never improves, so only the criteria on the search distribution are meaningful.
_STOP_REASONS = {
    'tolx': 'the step size fell below the tolerance',
    'tolxstagnation': 'the mean of the search has come to rest',
    'tolfacupx': 'the search distribution diverged',
    'conditioncov': 'the covariance became ill-conditioned',
    'noeffectaxis': 'a step along a principal axis changes nothing',
    'noeffectcoord': 'a step in one gene changes nothing',
}


@dataclass(frozen=True, kw_only=True)
class CmaEsSettings(Parameters):
    """Settings of CMA-ES."""

    population: int = int_parameter(
        0,
        low=0,
        high=100000,
        doc='Candidates per generation; 0 is the default of the method, 4 + 3 ln(dimension).',
    )
    sigma: float = float_parameter(
        0.3,
        low=1e-6,
        high=1.0,
        unit='-',
        log=True,
        doc='Initial standard deviation, as a share of the range of each gene.',
    )
    tolerance: float = float_parameter(
        1e-11,
        low=0.0,
        high=0.1,
        unit='-',
        doc='Step length at which the search stops, as a share of the range.',
    )
    start: tuple[float, ...] = floats_parameter(
        (),
        low=0.0,
        high=1.0,
        unit='-',
        doc='Initial mean in the unit cube, one number per gene; empty: the centre.',
    )
    restarts: int = int_parameter(
        0,
        low=0,
        high=10,
        doc='Number of times that a search which stops, e.g. by tolerance, begins again: at a '
        'random point and with a population twice as large (IPOP).',
        added_later=True,
    )


class CmaEsOptimizer(Optimizer):
    """CMA-ES by the library cma, which keeps the bounds of the unit cube by a transformation."""

    Settings: ClassVar[type[Parameters]] = CmaEsSettings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(CmaEsSettings, settings)
        if dimension < 2:
            raise ConfigurationError(f'cma_es needs at least 2 genes, not {dimension}')
        check_start_dimension(chosen.start, dimension)
        if 0 < chosen.population < 4:
            raise ConfigurationError(
                f'cma_es needs a population of 4 or more, not {chosen.population}; '
                'nearest valid: 4'
            )
        self._settings, self._dimension = chosen, dimension
        self._rng = np.random.default_rng(check_seed(seed))
        start = np.array(chosen.start) if chosen.start else np.full(dimension, 0.5)
        self._search = self._make_search(start, chosen.population)
        self._restarts = 0
        self._ledger = AskTellLedger()
        self._asked: list[FloatArray] = []

    def _make_search(self, start: FloatArray, population: int) -> cma.CMAEvolutionStrategy:
        """Return a new search from a mean; a population of 0 is the default of the library."""
        options: dict[str, Any] = {
            'bounds': [0.0, 1.0],
            'verbose': -9,
            'verb_log': 0,
            'tolx': self._settings.tolerance,
            # seed nan: the library does not seed NumPy's global generator; `randn` draws all.
            'seed': math.nan,
            'randn': lambda *shape: self._rng.standard_normal(shape),
        }
        if population:
            options['popsize'] = population
        return cma.CMAEvolutionStrategy(start, self._settings.sigma, options)

    def ask(self) -> list[Candidate]:
        """Return a generation drawn from the search distribution N(m, sigma^2 C)."""
        self._ledger.check_ask()
        self._asked = self._search.ask()
        # Clipped for the evaluation alone: `tell` needs the points as the library asked them.
        genomes = [np.clip(point, 0.0, 1.0) for point in self._asked]
        return self._ledger.issue_candidates(genomes, [()] * len(genomes))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Adapt mean, step size and covariance to the ranks of the evaluations."""
        ordered = self._ledger.match_evaluations(evaluations)
        # Ranks as costs: the update depends on the order alone, and ranks also order candidates
        # that violate constraints or have no fitness, whose values are not comparable.
        self._search.tell(self._asked, list(tied_ranks(ordered)))
        if self._restarts < self._settings.restarts and self._stop_reason():
            # Auger and Hansen (2005): twice the population, from a point uniform in the cube.
            self._restarts += 1
            start = self._rng.random(self._dimension)
            self._search = self._make_search(start, 2 * self._search.popsize)

    @property
    def mean(self) -> FloatArray:
        """Mean of the search distribution in the unit cube, (n,); the estimate of the optimum."""
        return np.array(self._search.result.xfavorite, dtype=np.float64)

    @property
    def keeps_fitness(self) -> bool:
        """False: fitness values are compared within one generation only."""
        return False

    def stop(self) -> str:
        """Return the stopping criterion that is met after the last restart, or ''."""
        return self._stop_reason()

    def _stop_reason(self) -> str:
        """Return the stopping criterion that the present search meets, or ''."""
        met = self._search.stop()
        return next((text for name, text in _STOP_REASONS.items() if name in met), '')
