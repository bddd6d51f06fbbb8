# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: measurements of the ten evolutions and of their random populations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math
import time

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.trial.loop import run_trial
from gait_evolver.run.log import TrialRow
from gait_studies.korbel2013.pictures import (
    draw_distances,
    draw_progress,
    draw_random_distances,
)
from gait_studies.korbel2013.trials import (
    EVOLUTION_COUNT,
    best_evolution,
    best_row,
    node_travel,
    read_evolutions,
    replay_search,
    run_evolutions,
    trial_of_row,
)
from gait_tools.study.definition import (
    StudyRow,
    row_above,
    row_at_least,
    row_at_most,
    row_between,
    row_info,
    row_near,
)
from gait_tools.study.session import FinishedEvolution, StudySession

_LOW_QUARTER_END = 0.275
_GAIN_RANGE = (15.0, 200.0)
"""Mean gain of the best fitness that check 28 accepts [%]."""
_DISTANCE_RANGE = (7.0, 30.0)
"""Best distance in 15 s that check 28 accepts [in]."""
_RANDOM_RANGE = (4.0, 12.0)
"""Median of the best random gaits that check 27 accepts [in]."""
_PUBLISHED_DISTANCE = 14.34
"""Best distance of the thesis in 15 s [in]."""

_REPEATED_GAITS = 50
"""Number of gaits that are run again at half the physics step."""

_TRIALS_PER_ITERATION, _TRIALS_PER_EVOLUTION = 2, 4050
"""Trials of an evolution in an iteration, and in all."""


def measure_evolution(session: StudySession) -> Sequence[StudyRow]:
    """Run the evolutions; measure checks 24, 25 and 28, and the genes of the champions."""
    evolutions = run_evolutions(session)
    searches = [replay_search(evolution) for evolution in evolutions]
    histories = [np.array(search.history) for search in searches]
    draw_progress(session.picture('progress'), histories)
    _draw_distance_curves(session, evolutions)
    first = np.array([_fitness_of(best_row(evolution.generations[0])) for evolution in evolutions])
    last = np.array([evolution.champion.fitness for evolution in evolutions])
    gains = 100.0 * (last / first - 1.0)
    means = [history[-1] - history[0] for history in histories]
    iterations = [len(history) for history in histories]
    ends = ', '.join(str(count) for count in iterations)
    return [
        row_near(
            'check_24_run_size',
            'smallest size of a final population',
            float(min(len(search.population) for search in searches)),
            50.0,
            0.0,
        ),
        row_at_least(
            'check_24_run_mean',
            'least gain of the mean fitness in an iteration',
            float(min(np.diff(history).min() for history in histories)),
            0.0,
            'in',
        ),
        _ending_row(iterations, session.quick, ends),
        row_at_least(
            'check_28_improved',
            'evolutions whose mean and best fitness rose',
            float(np.sum((np.array(means) > 0.0) & (last > first))),
            float(len(evolutions)),
        ),
        *result_rows(evolutions, histories, gains, session.quick),
        *_gene_rows(evolutions, session.quick),
        _time_row(evolutions, session.quick),
    ]


def _fitness_of(row: TrialRow) -> float:
    return -math.inf if row.fitness is None else row.fitness


def _ending_row(iterations: Sequence[int], quick: bool, ends: str) -> StudyRow:
    """Return the row of check 25: number of iterations."""
    if quick:
        return row_info('check_25', 'iterations of a short evolution', float(iterations[0]))
    return row_between(
        'check_25',
        'iterations of the shortest evolution',
        float(min(iterations)),
        201.0,
        2000.0,
        note=f'all evolutions: {ends}; at most 2000',
    )


def result_rows(
    evolutions: Sequence[FinishedEvolution],
    histories: Sequence[FloatArray],
    gains: FloatArray,
    quick: bool,
) -> list[StudyRow]:
    """
    Return rows on gains and distances; those above the accepted range differ, with the cause.

    Parameters
    ----------
    evolutions : sequence of FinishedEvolution
    histories : sequence of (iterations,) arrays [in]
        Mean fitness of each evolution.
    gains : (evolutions,) array [%]
        Gain of the best fitness of each evolution.
    quick : bool
        The evolutions are short ones: gains and distances are shown without a bound.

    """
    gain, distance, farthest, penalties = _gain_row(gains), *_distance_rows(evolutions)
    if quick:
        return [*(row.without_bound() for row in (gain, distance, farthest)), penalties]
    goes_on, cause = _progress_cause(evolutions, histories)
    picture = 'korbel2013_progress.png'
    above = gains.mean() > _GAIN_RANGE[1], max(_best_distances(evolutions)) > _DISTANCE_RANGE[1]
    return [
        gain.differ_if_failed(goes_on and bool(above[0]), cause, picture),
        distance.differ_if_failed(goes_on and above[1], cause, picture),
        farthest,
        penalties,
    ]


def _progress_cause(
    evolutions: Sequence[FinishedEvolution], histories: Sequence[FloatArray]
) -> tuple[bool, str]:
    """Return whether the searches go on beyond the published distance, and the text."""
    random = np.median(
        [
            max(row.terms['korbel2013_travel'] for row in evolution.generations[0])
            for evolution in evolutions
        ]
    )
    trials = np.median([_trials_until(evolution, _PUBLISHED_DISTANCE) for evolution in evolutions])
    rise = np.mean([history[-1] - history[max(0, len(history) - 101)] for history in histories])
    goes_on = _RANDOM_RANGE[0] <= random <= _RANDOM_RANGE[1] and np.isfinite(trials) and rise > 0.0
    text = (
        f'from similar random gaits (median of the best {random:.1f} inches, thesis 6.6) the '
        f'searches pass {_PUBLISHED_DISTANCE} inches after a median of {trials:.0f} trials and go '
        f'on: the mean fitness rose by {rise:.2f} inches over the last 100 iterations'
    )
    return bool(goes_on), text


def _trials_until(evolution: FinishedEvolution, distance: float) -> float:
    """Return the number of trials until a distance [in] was reached; infinite if it never was."""
    distances = [row.terms.get('korbel2013_travel', -math.inf) for row in evolution.rows]
    return next(
        (number + 1.0 for number, reached in enumerate(distances) if reached >= distance),
        math.inf,
    )


def _gain_row(gains: FloatArray) -> StudyRow:
    """Return the row of check 28: mean gain of the best fitness."""
    each = ', '.join(f'{gain:.0f}' for gain in gains)
    return row_between(
        'check_28_gain',
        'mean gain of the best fitness',
        float(gains.mean()),
        *_GAIN_RANGE,
        '%',
        published=32.0,
        note=f'all evolutions: {each}; the best evolution of the thesis 51',
    )


def _draw_distance_curves(session: StudySession, evolutions: Sequence[FinishedEvolution]) -> None:
    """Draw the distance of the first and of the last best gait of each evolution over time."""
    curves = [
        tuple(
            node_travel(session.record(trial_of_row(evolution, best_row(rows))))
            for rows in (evolution.generations[0], evolution.rows)
        )
        for evolution in evolutions
    ]
    times = np.linspace(0.0, evolutions[0].plan.trial.duration, len(curves[0][0]))
    draw_distances(session.picture('distance'), times, curves)


def _best_distances(evolutions: Sequence[FinishedEvolution]) -> list[float]:
    """Return the distance of each champion in 15 s [in]."""
    return [best_row(evolution.rows).terms['korbel2013_travel'] for evolution in evolutions]


def _distance_rows(evolutions: Sequence[FinishedEvolution]) -> list[StudyRow]:
    """Return rows on the distance of the best gaits in 15 s, and on their twist and drift."""
    best = [best_row(evolution.rows) for evolution in evolutions]
    distances = _best_distances(evolutions)
    penalties = [
        (10.0 * row.terms['korbel2013_twist'] + row.terms['korbel2013_lateral']) / _fitness_of(row)
        for row in best
    ]
    return [
        row_between(
            'check_28_distance',
            'best distance in 15 s',
            max(distances),
            *_DISTANCE_RANGE,
            'in',
            published=_PUBLISHED_DISTANCE,
            note='all evolutions: ' + ', '.join(f'{value:.1f}' for value in distances),
        ),
        row_at_least(
            'best_distance',
            'best distance in 15 s; the bound is that of the thesis',
            max(distances),
            _PUBLISHED_DISTANCE,
            'in',
            published=_PUBLISHED_DISTANCE,
        ),
        row_at_most(
            'penalties',
            'largest share of twist and drift in the fitness of a champion',
            max(penalties),
            0.05,
        ),
    ]


def _gene_rows(evolutions: Sequence[FinishedEvolution], quick: bool) -> list[StudyRow]:
    """Return rows on limits of the genes and on the champions' genes."""
    genes = np.array(
        [list(row.values.values()) for evolution in evolutions for row in evolution.rows]
    )
    champions = np.array(
        [list(best_row(evolution.rows).values.values()) for evolution in evolutions]
    )
    outside = (champions[:, :-1] < 1.0) | (champions[:, :-1] > 3.4)
    runner = _two_best(best_evolution(evolutions))
    first, second = (np.array(list(row.values.values())[:-1]) for row in runner)
    differences = np.abs(first - second)
    difference = _fitness_of(runner[0]) - _fitness_of(runner[1])
    low_tau = row_at_most(
        'time_constant',
        'median tau_A of the champions',
        float(np.median(champions[:, -1])),
        _LOW_QUARTER_END,
        's',
        published=0.2,
        note='the lowest quarter of 0.2 to 0.5 ends at 0.275',
    )
    return [
        row_above(
            'check_23_run_weight',
            'least weight that was tried',
            float(genes[:, :-1].min()),
            0.0,
            note=f"{outside.mean():.0%} of the champions' weights left 1 to 3.4",
        ),
        row_at_least(
            'check_23_run_tau', 'least tau_A that was tried', float(genes[:, -1].min()), 0.2, 's'
        ),
        low_tau.without_bound() if quick else low_tau,
        row_at_least(
            'two_best_weights',
            'largest difference of a weight between the two best of the best evolution',
            float(differences.max()),
            0.1,
            published=0.3806,
            note=f'their fitness differs by {difference:.4f} inches, 0.0006 in the thesis',
        ),
    ]


def _two_best(evolution: FinishedEvolution) -> tuple[TrialRow, TrialRow]:
    rows = sorted(evolution.rows, key=lambda row: (-_fitness_of(row), row.id))
    return rows[0], rows[1]


def _time_row(evolutions: Sequence[FinishedEvolution], quick: bool) -> StudyRow:
    """Return the row of the time of ten full evolutions, estimated from that of some trials."""
    specs = [
        trial_of_row(evolution, row)
        for evolution in evolutions
        for row in evolution.generations[0][-_TRIALS_PER_ITERATION:]
    ]
    specs = (specs * _TRIALS_PER_ITERATION)[: _TRIALS_PER_ITERATION * EVOLUTION_COUNT]
    seconds = math.inf
    for _ in range(1 if quick else 3):
        began = time.process_time()
        for spec in specs:
            run_trial(spec)
        seconds = min(seconds, (time.process_time() - began) / len(specs))
    count = sum(len(evolution.rows) for evolution in evolutions)
    whole = EVOLUTION_COUNT * _TRIALS_PER_EVOLUTION
    return row_info(
        'evolution_time',
        'minutes on two idle cores for ten evolutions of 2000 iterations',
        seconds * whole / 60.0 / 2.0,
        'min',
        note=f'{whole} trials of {seconds:.3f} s of processor time each, '
        f'{evolutions[0].plan.trial.duration / seconds:.0f} times real time; this run made '
        f'{count}; the thesis says 5 to 15 hours an evolution',
    )


def measure_populations(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 27: distances of the random gaits in the first populations."""
    evolutions = read_evolutions(session)
    distances = np.array(
        [
            [row.terms['korbel2013_travel'] for row in evolution.generations[0]]
            for evolution in evolutions
        ]
    )
    draw_random_distances(session.picture('random_gaits'), distances)
    best, worst = distances.max(axis=1), distances.min(axis=1)
    each = ', '.join(f'{value:.1f}' for value in best)
    # The best of a single population has a long tail.
    low, high = (3.0, 20.0) if session.quick else _RANDOM_RANGE
    backwards = row_between(
        'check_27_backwards',
        'share of random gaits that go backwards',
        float((distances < 0.0).mean()),
        0.25,
        0.60,
        note=f'{distances.size} gaits; by population {_share_text(distances)}',
    )
    return [
        backwards.without_bound() if session.quick else backwards,
        row_between(
            'check_27_best',
            'median of the distances of the best gaits of all populations',
            float(np.median(best)),
            low,
            high,
            'in',
            published=6.6,
            note=f'all: {each}',
        ),
        row_at_least(
            'both_signs',
            'populations that go both ways',
            float(((best > 0.0) & (worst < 0.0)).sum()),
            float(len(distances)),
        ),
    ]


def _share_text(distances: FloatArray) -> str:
    return ', '.join(f'{share:.0%}' for share in (distances < 0.0).mean(axis=1))


def measure_step_size(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 31: the first population at half the physics step."""
    evolution = read_evolutions(session)[0]
    specs = [trial_of_row(evolution, row) for row in evolution.generations[0][:_REPEATED_GAITS]]
    halved = [
        replace(spec, scene=replace(spec.scene, physics_step=0.5 * spec.scene.physics_step))
        for spec in specs
    ]
    coarse, fine = (
        np.array([result.terms['korbel2013_travel'] for result in session.run(group)])
        for group in (specs, halved)
    )
    change = abs(float(np.median(fine) - np.median(coarse)))
    bound = max(0.5, 0.2 * abs(float(np.median(coarse))))
    return [
        row_at_most(
            'check_31',
            'change of the median distance at half the step',
            change,
            bound,
            'in',
            note=f'median {np.median(coarse):.3f} inches; changes: root mean square '
            f'{np.sqrt(np.mean((fine - coarse) ** 2)):.3f} inches, median '
            f'{np.median(np.abs(fine - coarse)):.3f} inches',
        )
    ]
