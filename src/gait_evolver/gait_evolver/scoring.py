"""Evaluation of an individual from its trials: status, fitness and measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.trial.spec import FELL, OK
from gait_evolver.run.log import Row, Standing


@dataclass(frozen=True, kw_only=True)
class Best:
    """
    The best individual seen.

    ``rows`` are those of all its trials and ``deciding`` those of the engine on which it is
    worst, in order of the repeats; ``fitness`` is the mean of these.
    """

    rows: tuple[Row, ...]
    fitness: float

    @property
    def deciding(self) -> tuple[Row, ...]:
        """The rows whose mean is the fitness."""
        return min((tuple(group) for group in on_engines(self.rows)), key=mean)


def judged(rows: Sequence[Row]) -> tuple[str, float | None]:
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
    return status, min(mean(group) for group in on_engines(rows))


def evaluation(
    number: int, status: str, fitness: float | None, others: Sequence[float] = ()
) -> Evaluation:
    """Return what an optimiser is told of a candidate; objectives only if it may win."""
    objectives = None if fitness is None else np.array([fitness, *others])
    return Evaluation(id=number, status=status, objectives=objectives)


def on_engines(rows: Sequence[Row]) -> list[list[Row]]:
    """Return an individual's rows by engine, in the order in which these were run."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.engine, []).append(row)
    return list(groups.values())


def weighted(rows: Sequence[Row], weights: Mapping[str, float]) -> float:
    """Return the mean of a weighted sum of terms over trials."""
    sums = [sum(weight * row.terms[name] for name, weight in weights.items()) for row in rows]
    return float(np.mean(sums))


def mean(rows: Sequence[Row]) -> float:
    """Return the mean fitness of trials that may all win."""
    return float(np.mean([row.fitness for row in rows]))


def by_individual(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of a generation by individual, in the order in which these were asked."""
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.individual, []).append(row)
    return list(groups.values())


def standing_of(
    row: Row, known: Sequence[Row], status: str, fitness: float | None, others: tuple[float, ...]
) -> Standing:
    """Return how an individual stands; its deviation is that on the engine that decides."""
    deviation = None
    if fitness is not None:
        deciding = min(on_engines(known), key=mean)
        deviation = float(np.std([one.fitness for one in deciding if one.fitness is not None]))
    return Standing(
        generation=row.generation,
        individual=row.individual,
        id=row.id,
        trials=len(known),
        status=status,
        fitness=fitness,
        deviation=deviation,
        objectives=others,
    )
