# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Status and fitness of a candidate from the rows of its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.trial.spec import FELL, OK
from gait_evolver.run.log import CandidateSummary, TrialRow


@dataclass(frozen=True, kw_only=True)
class BestCandidate:
    """
    Best candidate so far.

    Attributes
    ----------
    rows : tuple of TrialRow
        All its trials, in order of the repeats.
    fitness : float
        Mean over ``deciding_rows``.

    """

    rows: tuple[TrialRow, ...]
    fitness: float

    @property
    def deciding_rows(self) -> tuple[TrialRow, ...]:
        """Rows of the engine with the lowest mean fitness."""
        return min((tuple(group) for group in group_by_engine(self.rows)), key=mean_fitness)


def status_and_fitness(rows: Sequence[TrialRow]) -> tuple[str, float | None]:
    """
    Return status and fitness of a candidate from its trials.

    The fitness is the mean over the repeats on one engine. With several engines it is the lowest
    of these means: a champion must walk on all of them, and a mean over engines would favour gaits
    that exploit the errors of one engine.

    The status is the worst of all trials. The fitness is None if the status of a trial may not
    win, or if its fitness is not finite (status ``invalid:fitness``).
    """
    for row in rows:
        if row.status not in (OK, FELL):
            return row.status, None
        if row.fitness is None or not np.isfinite(row.fitness):
            return 'invalid:fitness', None
    status = FELL if any(row.status == FELL for row in rows) else OK
    return status, min(mean_fitness(group) for group in group_by_engine(rows))


def make_evaluation(
    candidate_id: int, status: str, fitness: float | None, other_objectives: Sequence[float] = ()
) -> Evaluation:
    """Return the evaluation of a candidate; its objectives are None without a fitness."""
    objectives = None if fitness is None else np.array([fitness, *other_objectives])
    return Evaluation(id=candidate_id, status=status, objectives=objectives)


def group_by_engine(rows: Sequence[TrialRow]) -> list[list[TrialRow]]:
    """Return a candidate's rows grouped by engine, in the order of the engines' first rows."""
    groups: dict[str, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(row.engine, []).append(row)
    return list(groups.values())


def mean_weighted_sum(rows: Sequence[TrialRow], weights: Mapping[str, float]) -> float:
    """Return the mean over trials of the weighted sum of their fitness terms."""
    sums = [sum(weight * row.terms[name] for name, weight in weights.items()) for row in rows]
    return float(np.mean(sums))


def mean_fitness(rows: Sequence[TrialRow]) -> float:
    """Return the mean fitness of trials; every row must have a fitness."""
    return float(np.mean([row.fitness for row in rows]))


def group_by_candidate(rows: Sequence[TrialRow]) -> list[list[TrialRow]]:
    """Return the rows of a generation grouped by candidate, in the order of the ask."""
    groups: dict[int, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(row.individual, []).append(row)
    return list(groups.values())


def make_summary(
    row: TrialRow,
    rows: Sequence[TrialRow],
    status: str,
    fitness: float | None,
    other_objectives: tuple[float, ...],
) -> CandidateSummary:
    """Return the summary of a candidate; its deviation is over the repeats that decide."""
    deviation = None
    if fitness is not None:
        deciding = min(group_by_engine(rows), key=mean_fitness)
        deviation = float(np.std([item.fitness for item in deciding if item.fitness is not None]))
    return CandidateSummary(
        generation=row.generation,
        individual=row.individual,
        id=row.id,
        trials=len(rows),
        status=status,
        fitness=fitness,
        deviation=deviation,
        objectives=other_objectives,
    )
