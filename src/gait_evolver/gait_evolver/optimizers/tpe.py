# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Tree-structured Parzen estimator (TPE) of the library ``optuna``.

References
----------
Bergstra, Bardenet, Bengio and Kegl (2011), Advances in Neural Information Processing Systems
24:2546-2554.
Falkner, Klein and Hutter (2018), International Conference on Machine Learning 35:1437-1446
(dependent genes).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, ClassVar

import numpy as np
import optuna

from gait_core.contracts import Candidate, Evaluation, Optimizer
from gait_core.parameters.declaration import Parameters, int_parameter, make_parameters
from gait_core.trial.seeding import check_seed
from gait_evolver.optimizers.ranking import EXCLUDED_RANK, AskTellLedger, sort_key

# A line for each trial would bury the progress of a run.
optuna.logging.set_verbosity(optuna.logging.ERROR)


@dataclass(frozen=True, kw_only=True)
class TpeSettings(Parameters):
    """Settings of the tree-structured Parzen estimator."""

    population: int = int_parameter(10, low=1, high=1000, doc='Candidates per generation.')
    startup: int = int_parameter(
        10, low=1, high=1000, doc='Number of evaluated candidates before which all are random.'
    )


class TpeOptimizer(Optimizer):
    """Tree-structured Parzen estimator of optuna, over all genes together; for few trials."""

    Settings: ClassVar[type[Parameters]] = TpeSettings
    ranks_constraints: ClassVar[bool] = True

    def __init__(self, *, dimension: int, seed: int, **settings: Any) -> None:
        chosen = make_parameters(TpeSettings, settings)
        # The library takes seeds of 32 bits.
        (state,) = np.random.SeedSequence(check_seed(seed)).generate_state(1)
        sampler = optuna.samplers.TPESampler(
            seed=int(state),
            n_startup_trials=chosen.startup,
            multivariate=True,
            constant_liar=True,
        )
        # Optuna keeps the trials in memory only: the log of the run restores them.
        self._study = optuna.create_study(direction='maximize', sampler=sampler)
        unit = optuna.distributions.FloatDistribution(0.0, 1.0)
        self._space: dict[str, Any] = {f'{i:04d}': unit for i in range(dimension)}
        self._population = chosen.population
        self._asked: list[optuna.Trial] = []
        self._ledger = AskTellLedger()

    def ask(self) -> list[Candidate]:
        """Return points that are likely among the best and unlikely among the others."""
        self._ledger.check_ask()
        self._asked = [self._study.ask(self._space) for _ in range(self._population)]
        genomes = [np.array([trial.params[name] for name in self._space]) for trial in self._asked]
        return self._ledger.issue_candidates(genomes, [()] * len(genomes))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Add the evaluations; a candidate without a fitness has no part in the estimate."""
        for trial, evaluation in zip(
            self._asked, self._ledger.match_evaluations(evaluations), strict=True
        ):
            rank, violation, _ = sort_key(evaluation)
            if rank == EXCLUDED_RANK:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                trial.set_constraint('violation', violation)
                self._study.tell(trial, evaluation.fitness)

    @property
    def max_candidates(self) -> int:
        """Number of candidates that are restored in 50 s; the more genes, the fewer."""
        # Measured: (1.8 + 1.1 n) s for 1000 candidates of n genes; twice as many take four times
        # as long.
        return int(6000.0 / math.sqrt(len(self._space) + 2))
