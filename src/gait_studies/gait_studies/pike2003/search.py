# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: the published fitness and its genetic algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.files.access import DATA_LIMIT, read_text
from gait_core.trial.spec import OK, TrialResult
from gait_evolver.plan import load_plan
from gait_studies.pike2003 import zmp_tracking
from gait_studies.pike2003.bitstring import unit_from_integers
from gait_studies.pike2003.gaits import (
    LONG_DURATION,
    MIDDLE_VALUES,
    PUBLISHED_INTEGERS,
    PUBLISHED_VALUES,
    acceptance_trial,
    best_distinct_values,
    rank_correlation,
)
from gait_studies.pike2003.log import (
    SCORES_FILE,
    SCORES_HEADER,
    VARIABLES,
    VARIABLES_FILE,
    read_variables,
    write_scores,
    write_variables,
)
from gait_studies.pike2003.pictures import draw_scores
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_near
from gait_tools.study.session import FinishedEvolution, StudySession

EXPERIMENT = 'pike2003'

_FINALIST_COUNT = 20


def measure_read_back(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 22 and 23: decoded genes and settings of the experiment."""
    plan = load_plan(EXPERIMENT)
    values = plan.space.decode(unit_from_integers(np.array(PUBLISHED_INTEGERS), 16))
    rows = [
        row_near(
            f'check_22_{name}',
            f'{name} of the integer {number}, in single precision',
            round(float(np.float32(values[name])), 6),
            PUBLISHED_VALUES[name],
            5e-7,
            'deg',
        )
        for name, number in zip(VARIABLES, PUBLISHED_INTEGERS, strict=True)
    ]
    settings = plan.experiment.optimizer.settings
    compared: dict[str, tuple[float, float]] = {
        'bits': (float(settings['bits'] * len(plan.space)), 64.0),
        'population': (float(settings['population']), 150.0),
        'generations': (float(plan.experiment.generations - 1), 75.0),
        'crossover': (float(settings['crossover_probability']), 0.6),
        'mutation': (float(settings['mutation_probability']), 0.005),
        'elitist': (float(settings['elitist']), 1.0),
        'ticks': (float(plan.trial.ticks), 240.0),
        'weight': (float(plan.experiment.fitness['pike2003_zmp']), -1.0),
    }
    rows += [
        row_near(f'check_23_{name}', f'{name} of the experiment', measured, published, 0.0)
        for name, (measured, published) in compared.items()
    ]
    return rows


def measure_fitness(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 24 to 26: the score of constructed ZMPs, and of a fall."""
    time = np.arange(zmp_tracking.TRIAL_TICKS + 1, dtype=np.float64) * 0.02
    ideal = zmp_tracking.IdealZmp(amplitude=0.085, speed=0.053, period=3.15).at(time)
    aside = ideal + np.array([0.0, 0.1])
    early = ideal.copy()
    early[: zmp_tracking.UNSCORED_TICKS] += 1.0
    fall = session.record(acceptance_trial(MIDDLE_VALUES, 'published', LONG_DURATION, {}))
    return [
        row_near(
            'check_24_ideal',
            'score of the ideal',
            zmp_tracking.mean_deviation_change(ideal, ideal),
            0.0,
            0.0,
        ),
        row_near(
            'check_24_offset',
            'score of a ZMP 0.1 m beside the ideal',
            zmp_tracking.mean_deviation_change(ideal, aside),
            0.0362,
            1e-4,
        ),
        row_near(
            'check_24_still',
            'score of a ZMP that does not move',
            zmp_tracking.mean_deviation_change(ideal, np.zeros_like(ideal)),
            0.19,
            0.005,
            note='less than any walk: a score for walks that move',
        ),
        row_near(
            'check_25',
            'score of a ZMP one metre beside the ideal in the first 102 ticks',
            zmp_tracking.mean_deviation_change(ideal, early),
            0.0,
            0.0,
        ),
        row_at_least(
            'check_26',
            'score of a walk that fell',
            zmp_tracking.pike2003_zmp(fall),
            zmp_tracking.FALL_COST,
            note=f'it ended as {fall.status}',
        ),
    ]


def measure_published_search(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 27 and 28: the published search, its logs, its best with all joints."""
    short: dict[str, Any] = {'population': 30, 'generations': 6} if session.quick else {}
    evolved = session.evolve('published', EXPERIMENT, {'seed': session.seed, **short})
    draw_scores(session.picture('scores'), evolved.generations)
    finalists = best_distinct_values(evolved, _FINALIST_COUNT)
    fit = {'pike2003_zmp': -1.0}
    candidates = [MIDDLE_VALUES, PUBLISHED_VALUES, *finalists]
    scored = session.run(
        [acceptance_trial(candidate, 'published', 4.8, fit) for candidate in candidates]
    )
    walked = session.run(
        [
            acceptance_trial(candidate, 'published', LONG_DURATION, {})
            for candidate in candidates[:2]
        ]
    )
    scores = [-result.fitness if result.fitness is not None else math.inf for result in scored]
    return [
        *_progress_rows(evolved, session.quick),
        *_log_rows(session, evolved),
        row_at_least(
            'finalists_stand',
            f'of the best {_FINALIST_COUNT}, those that stand 4.8 s with all joints',
            float(sum(result.status == OK for result in scored[2:])),
            1.0,
        ),
        row_at_most(
            'check_28_search',
            'score of the best of them with all joints',
            min(scores[2:]),
            scores[0],
            note='at most that of the middle of the ranges',
        ).differ_if_failed(_transfer_cause(finalists, evolved, scores[2:]), 'pike2003_scores.png'),
        *_published_best_rows(session, scores, walked),
    ]


def _progress_rows(evolved: FinishedEvolution, quick: bool) -> list[StudyRow]:
    """Return the rows of gain, repeated genomes and time of the search."""
    bests = [
        max((row.fitness for row in rows if row.fitness is not None), default=-np.inf)
        for rows in evolved.generations
    ]
    standing = [
        [-row.fitness for row in rows if row.status == OK and row.fitness is not None]
        for rows in evolved.generations
    ]
    means = [float(np.mean(scores)) for scores in standing if scores]
    trials, settings = evolved.rows, evolved.plan.experiment.optimizer.settings
    asked = settings['population'] * evolved.plan.experiment.generations
    genomes = {tuple(row.values.values()) for row in trials}
    size = f'{settings["population"]} x {evolved.plan.experiment.generations - 1}'
    hours = sum(_trial_times(evolved.folder)) / 2.0 / 60.0
    return [
        row_at_least(
            'search_gain',
            'gain of the best score over that of the first generation',
            max(bests) - bests[0],
            0.0,
            note=f'search of {size}',
        ),
        row_at_least(
            'search_mean',
            'decrease of the mean score of the walks that stood',
            means[0] - means[-1],
            0.0,
        ),
        row_near(
            'search_once',
            'genomes evaluated more than once',
            float(len(trials) - len(genomes)),
            0.0,
            0.0,
            note=f'{len(trials)} trials for {asked} individuals',
        ),
        row_at_most(
            'search_time',
            'minutes on two cores',
            hours,
            5.0 if quick else 75.0,
            'min',
            note='the publication says 12 to 72 hours',
        ),
    ]


def _trial_times(folder: Path) -> list[float]:
    lines = read_text(folder / 'times.csv', DATA_LIMIT).splitlines()[1:]
    return [float(line.rsplit(',', 1)[1]) for line in lines]


def _log_rows(session: StudySession, evolved: FinishedEvolution) -> list[StudyRow]:
    """Write both log files and return the rows of check 27."""
    scores, variables = session.folder / SCORES_FILE, session.folder / VARIABLES_FILE
    write_scores(scores, evolved.rows)
    write_variables(variables, evolved.champion.spec.parameters)
    header, *lines = read_text(scores, DATA_LIMIT).splitlines()
    columns = {len(line.split(',')) for line in (header, *lines)}
    best = min(float(line.split(',')[0]) for line in lines)
    held = read_variables(variables)
    error = max(abs(held[name] - evolved.champion.spec.parameters[name]) for name in VARIABLES)
    return [
        row_near(
            'check_27_header',
            'scores.csv begins with the published header',
            float(header == SCORES_HEADER),
            1.0,
            0.0,
        ),
        row_near(
            'check_27_rows',
            'rows of scores.csv less the evaluations',
            float(len(lines) - len(evolved.rows)),
            0.0,
            0.0,
        ),
        row_near('check_27_columns', 'columns of scores.csv', float(max(columns)), 5.0, 0.0),
        row_near(
            'check_27_best',
            'least score of scores.csv less the best of the run',
            best + evolved.champion.fitness,
            0.0,
            1e-6,
        ),
        row_near(
            'check_27_variables',
            'largest error of the four variables in their file',
            error,
            0.0,
            2e-6,
            'deg',
            note='the best individual, not the last one tried',
        ),
    ]


def _transfer_cause(
    finalists: Sequence[Mapping[str, float]], evolved: FinishedEvolution, scores: Sequence[float]
) -> str:
    """Return the measured cause why scores of the search do not carry over to acceptance."""
    before = {tuple(row.values.values()): -float(row.fitness or 0.0) for row in evolved.rows}
    searched = np.array([before[tuple(finalist.values())] for finalist in finalists])
    finite = np.isfinite(scores)
    rank = rank_correlation(searched[finite], np.asarray(scores)[finite])
    return (
        f'scores of the search ({searched.min():.2f} to {searched.max():.2f}, 13 joints, 30 '
        f'iterations) are not those of acceptance ({np.min(scores):.2f} to '
        f'{np.max(np.asarray(scores)[finite]):.2f}, rank correlation {rank:.2f}): they measure '
        'how a foot meets the ground, which the solver decides'
    )


def _published_best_rows(
    session: StudySession, scores: Sequence[float], walked: Sequence[TrialResult]
) -> list[StudyRow]:
    """Return the rows of check 28 on the published values."""
    rollout = session.record(acceptance_trial(PUBLISHED_VALUES, 'published', 4.8, {}))
    terms = np.sort(
        zmp_tracking.deviation_changes(
            zmp_tracking.ideal_zmp(rollout).at(rollout.time), zmp_tracking.filtered_zmp(rollout)
        ).sum(axis=1)
    )[::-1]
    few = int(np.searchsorted(np.cumsum(terms), 0.5 * terms.sum())) + 1
    cause = (
        f'half of the score of the published values comes from {few} of {len(terms)} ticks, when '
        'a foot lands: it measures contact more than gait'
    )
    fell = ' and '.join(
        f'{result.fell_at:.1f} s' if result.fell_at is not None else 'never' for result in walked
    )
    middle, tuned = (result.metrics['displacement_x_m'] for result in walked)
    what = 'of the published values, against the middle of the ranges'
    return [
        row_at_most('check_28_score', f'score {what}', scores[1], scores[0]).differ_if_failed(
            cause, 'pike2003_zmp.png'
        ),
        row_at_least(
            'check_28_distance',
            f'distance in {LONG_DURATION:g} s {what}',
            tuned,
            middle,
            'm',
            note=f'middle and published fell after {fell}',
        ).differ_if_failed(
            'the printed timetable tips the robot over its longer landing leg whatever the values '
            '(levelled they walk on)',
            'pike2003_zmp.png',
        ),
    ]
