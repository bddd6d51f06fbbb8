# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: ranking of walks by the fitnesses, and searches with the improved one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.trial.spec import OK, TrialSpec
from gait_evolver.plan import Plan, TrialIndex, load_plan
from gait_studies.pike2003 import zmp_tracking
from gait_studies.pike2003.gaits import (
    LONG_DURATION,
    acceptance_trial,
    best_distinct_values,
    rank_correlation,
)
from gait_studies.pike2003.pictures import draw_ranking
from gait_tools.study.definition import StudyRow, row_at_least, row_near
from gait_tools.study.session import FinishedEvolution, StudySession

IMPROVED_EXPERIMENT = 'pike2003_improved'

_RANKING_SEED_KEY, _IMPROVED_SEED_KEY = 1, 2
_FINALIST_COUNT = 5


def measure_ranking(session: StudySession) -> Sequence[StudyRow]:
    """Measure how the two fitnesses rank random levelled walks by distance and survival."""
    number = 30 if session.quick else 60
    plan = load_plan(IMPROVED_EXPERIMENT)
    rng = np.random.default_rng(session.derive_seed(_RANKING_SEED_KEY))
    values = [plan.space.decode(rng.random(len(plan.space))) for _ in range(number)]
    published = _fitness_values(session, plan, values, 4.8, {'pike2003_zmp': -1.0})
    smooth = _fitness_values(session, plan, values, 4.8, {'pike2003_zmp_smooth': -1.0})
    improved = _fitness_values(
        session, plan, values, plan.trial.duration, plan.trial.fitness_terms
    )
    walks = session.run([_walk_trial(plan, candidate, LONG_DURATION, {}) for candidate in values])
    distance = np.array([walk.metrics['displacement_x_m'] for walk in walks])
    survival = np.array([walk.metrics['duration_s'] for walk in walks])
    stood = published > -0.9 * zmp_tracking.FALL_COST
    among = rank_correlation(published[stood], distance[stood])
    draw_ranking(
        session.picture('ranking'),
        distance,
        [
            (
                'published fitness (falls at -10)',
                np.maximum(published, -10.0),
                rank_correlation(published, distance),
            ),
            ('improved fitness', improved, rank_correlation(improved, distance)),
        ],
    )
    note = (
        f'published fitness {rank_correlation(published, distance):.2f}, {among:.2f} among the '
        f'{int(stood.sum())} of {number} that stood for 4.8 s; with a ZMP averaged over half a '
        f'second {rank_correlation(smooth, distance):.2f}'
    )
    gain = rank_correlation(improved, distance) - rank_correlation(published, distance)
    return [
        row_at_least(
            'rank_distance',
            f'rank correlation of the improved fitness with the distance of {LONG_DURATION:g} s',
            rank_correlation(improved, distance),
            0.7,
            note=note,
        ),
        row_at_least(
            'rank_survival',
            'rank correlation of the improved fitness with the time before a fall',
            rank_correlation(improved, survival),
            0.7,
            note=f'published fitness {rank_correlation(published, survival):.2f}',
        ),
        row_at_least(
            'rank_gain',
            'rank correlation with the distance: improved less published fitness',
            gain,
            0.0,
        ),
    ]


def _fitness_values(
    session: StudySession,
    plan: Plan,
    values: Sequence[Mapping[str, float]],
    seconds: float,
    terms: Mapping[str, float],
) -> FloatArray:
    results = session.run([_walk_trial(plan, candidate, seconds, terms) for candidate in values])
    return np.array([-np.inf if result.fitness is None else result.fitness for result in results])


def _walk_trial(
    plan: Plan, values: Mapping[str, float], seconds: float, terms: Mapping[str, float]
) -> TrialSpec:
    spec = plan.spec(values, TrialIndex())
    return replace(spec, duration=seconds, fitness_terms=terms)


def _best_finalist(session: StudySession, evolved: FinishedEvolution) -> Mapping[str, float]:
    """Return the best of a search's finalists in acceptance trials of twice the duration."""
    finalists = best_distinct_values(evolved, _FINALIST_COUNT)
    trial = evolved.plan.trial
    results = session.run(
        [
            acceptance_trial(finalist, 'levelled', 2.0 * trial.duration, trial.fitness_terms)
            for finalist in finalists
        ]
    )
    fitness = [-np.inf if result.fitness is None else result.fitness for result in results]
    return finalists[int(np.argmax(fitness))]


def measure_improved_search(session: StudySession) -> Sequence[StudyRow]:
    """Measure how often the improved search finds a longer walk than the middle of the ranges."""
    seeds = 1 if session.quick else 5
    short: dict[str, Any] = {'generations': 5, 'population': 8} if session.quick else {}
    found = []
    for number in range(seeds):
        seed = session.derive_seed(_IMPROVED_SEED_KEY, number)
        evolved = session.evolve(
            f'improved_{number}', IMPROVED_EXPERIMENT, {'seed': seed, **short}
        )
        found.append(_best_finalist(session, evolved))
    genes = evolved.plan.space.genes
    middle = {gene.name: 0.5 * (gene.lower + gene.upper) for gene in genes}
    walks = session.run(
        [acceptance_trial(values, 'levelled', LONG_DURATION, {}) for values in (middle, *found)]
    )
    distances = [walk.metrics['displacement_x_m'] for walk in walks]
    fell = sum(walk.status != OK for walk in walks[1:])
    generations = evolved.plan.experiment.generations
    return [
        row_near(
            'improved_beats_middle',
            f'of {seeds} seeds of {generations} generations, those that '
            f'walk farther in {LONG_DURATION:g} s than the middle of the ranges',
            float(sum(distance > distances[0] for distance in distances[1:])),
            float(seeds),
            0.0,
            note=f'all joints; middle {distances[0]:.2f} m, seeds '
            + ', '.join(f'{distance:.2f}' for distance in distances[1:])
            + f' m; {fell} of them fell',
        ),
    ]
