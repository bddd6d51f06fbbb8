# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Status and fitness of a candidate from the rows of its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gait_core.contracts import Evaluation
from gait_core.measures.metrics import is_circular
from gait_core.trial.spec import FELL, OK
from gait_evolver.experiment import Experiment
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

    The status is the worst of all trials. The fitness is None unless every trial is ``ok`` or
    ``fell`` and has a finite fitness; without a finite one the status is ``invalid:fitness``.
    """
    for row in rows:
        if row.status not in (OK, FELL):
            return row.status, None
        if row.fitness is None or not np.isfinite(row.fitness):
            return 'invalid:fitness', None
    status = FELL if any(row.status == FELL for row in rows) else OK
    return status, min(mean_fitness(group) for group in group_by_engine(rows))


def evaluate_candidate(rows: Sequence[TrialRow], experiment: Experiment) -> Evaluation:
    """
    Return the evaluation of a candidate from its trials.

    Each objective and constraint counts on its worst engine; measures count on the engine that
    decides the fitness. All use means over the repeats.

    Parameters
    ----------
    rows : sequence of TrialRow
        All its trials. The evaluation has the id of the last row: a candidate that is asked for
        again has a new id, and the optimiser expects that.
    experiment : Experiment

    """
    status, fitness = status_and_fitness(rows)
    if fitness is None:
        return Evaluation(id=rows[-1].id, status=status, objectives=None)
    engines = group_by_engine(rows)
    others = [
        min(mean_weighted_sum(group, terms) for group in engines)
        for terms in experiment.objectives.values()
    ]
    deciding = min(engines, key=mean_fitness)
    means = {name: mean_quantity(deciding, name) for name in experiment.measures}
    return Evaluation(
        id=rows[-1].id,
        status=status,
        objectives=np.array([fitness, *others]),
        measures={name: value for name, value in means.items() if value is not None},
        constraints={
            name: max(bounds.violation(mean_quantity(group, name)) for group in engines)
            for name, bounds in experiment.constraints.items()
        },
    )


def feasible_fitness(rows: Sequence[TrialRow], experiment: Experiment) -> float | None:
    """Return the fitness of a candidate; ``None`` if it cannot be the champion."""
    evaluation = evaluate_candidate(rows, experiment)
    return evaluation.fitness if evaluation.is_feasible else None


def mean_quantity(rows: Sequence[TrialRow], name: str) -> float | None:
    """
    Return the mean of a metric or fitness term over trials; ``None`` if a trial lacks it.

    The mean of an angle is circular, in [0, 2 pi).
    """
    values = [row.metrics.get(name, row.terms.get(name)) for row in rows]
    numbers = np.array([value for value in values if value is not None])
    if len(numbers) < len(values):
        return None
    if is_circular(name):
        return float(np.angle(np.exp(1j * numbers).sum()) % (2.0 * np.pi))
    return float(numbers.mean())


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
    rows: Sequence[TrialRow], evaluation: Evaluation, experiment: Experiment
) -> CandidateSummary:
    """
    Return the summary of a candidate.

    Its deviation is the standard deviation of the fitness over the trials on the engine that
    decides the fitness.
    """
    last = rows[-1]
    deviation, fitness = None, None
    others: list[float | None] = [None] * len(experiment.objectives)
    if evaluation.objectives is not None:
        fitness, *others = evaluation.objectives.tolist()
        deciding = min(group_by_engine(rows), key=mean_fitness)
        deviation = float(np.std([item.fitness for item in deciding if item.fitness is not None]))
    return CandidateSummary(
        generation=last.generation,
        individual=last.individual,
        id=last.id,
        trials=len(rows),
        status=evaluation.status,
        fitness=fitness,
        deviation=deviation,
        objectives=tuple(others),
        measures=tuple(evaluation.measures.get(name) for name in experiment.measures),
        violations=tuple(evaluation.constraints.get(name) for name in experiment.constraints),
    )
