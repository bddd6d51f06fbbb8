"""Evaluation of an individual from its trials: status, fitness and measures."""

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
    The best individual seen.

    ``rows`` are those of all its trials and ``deciding`` those of the engine on which it is
    worst, in order of the repeats; ``fitness`` is the mean of these.
    """

    rows: tuple[TrialRow, ...]
    fitness: float

    @property
    def deciding_rows(self) -> tuple[TrialRow, ...]:
        """The rows whose mean is the fitness."""
        return min((tuple(group) for group in group_by_engine(self.rows)), key=mean_fitness)


def status_and_fitness(rows: Sequence[TrialRow]) -> tuple[str, float | None]:
    """
    Return status and fitness of an individual from its trials.

    The fitness is the mean over the repeats on one engine, and of several engines the least of
    their means: a champion must work on all of them, and a mean would let a gait win that lives
    on the errors of one. The status is the worst: a trial that may not win, or has no finite
    fitness, decides for all; else a fall in any of them counts.
    """
    for row in rows:
        if row.status not in (OK, FELL):
            return row.status, None
        if row.fitness is None or not np.isfinite(row.fitness):
            return 'invalid:fitness', None
    status = FELL if any(row.status == FELL for row in rows) else OK
    return status, min(mean_fitness(group) for group in group_by_engine(rows))


def make_evaluation(
    number: int, status: str, fitness: float | None, others: Sequence[float] = ()
) -> Evaluation:
    """Return what an optimiser is told of a candidate; objectives only if it may win."""
    objectives = None if fitness is None else np.array([fitness, *others])
    return Evaluation(id=number, status=status, objectives=objectives)


def group_by_engine(rows: Sequence[TrialRow]) -> list[list[TrialRow]]:
    """Return an individual's rows by engine, in the order in which these were run."""
    groups: dict[str, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(row.engine, []).append(row)
    return list(groups.values())


def mean_weighted_sum(rows: Sequence[TrialRow], weights: Mapping[str, float]) -> float:
    """Return the mean of a weighted sum of terms over trials."""
    sums = [sum(weight * row.terms[name] for name, weight in weights.items()) for row in rows]
    return float(np.mean(sums))


def mean_fitness(rows: Sequence[TrialRow]) -> float:
    """Return the mean fitness of trials that may all win."""
    return float(np.mean([row.fitness for row in rows]))


def group_by_candidate(rows: Sequence[TrialRow]) -> list[list[TrialRow]]:
    """Return the rows of a generation by individual, in the order in which these were asked."""
    groups: dict[int, list[TrialRow]] = {}
    for row in rows:
        groups.setdefault(row.individual, []).append(row)
    return list(groups.values())


def make_summary(
    row: TrialRow,
    known: Sequence[TrialRow],
    status: str,
    fitness: float | None,
    others: tuple[float, ...],
) -> CandidateSummary:
    """Return how an individual stands; its deviation is that on the engine that decides."""
    deviation = None
    if fitness is not None:
        deciding = min(group_by_engine(known), key=mean_fitness)
        deviation = float(np.std([one.fitness for one in deciding if one.fitness is not None]))
    return CandidateSummary(
        generation=row.generation,
        individual=row.individual,
        id=row.id,
        trials=len(known),
        status=status,
        fitness=fitness,
        deviation=deviation,
        objectives=others,
    )
