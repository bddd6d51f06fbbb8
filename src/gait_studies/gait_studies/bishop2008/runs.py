# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study bishop2008: runs A and B, CMA-ES on as many trials, and effect of the penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from gait_core.arrays import FloatArray
from gait_studies.bishop2008.log import (
    FIELDS,
    log_lines,
    read_log,
    summarize_generations,
    write_log,
)
from gait_studies.bishop2008.model import RUN_A, RUN_B, layout_of
from gait_studies.bishop2008.pictures import draw_movement, draw_progress, draw_scores
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

PATTERN_RUN, OMNIDIRECTIONAL_RUN = 'bishop2008_pattern', 'bishop2008_omni'
CARRIED_SHARE = 0.25
_PUBLISHED_MOVEMENT = 1.75
"""Movement along x of both runs of the thesis [m]."""
_FULL_RUNS: Mapping[str, dict[str, Any]] = {
    RUN_A: {'generations': 405},
    RUN_B: {'generations': 240},
    PATTERN_RUN: {'generations': 200},
    OMNIDIRECTIONAL_RUN: {'generations': 120},
}
_QUICK_RUNS: Mapping[str, dict[str, Any]] = {
    RUN_A: {'generations': 3, 'population': 8, 'optimizer': {'settings': {'replaced': 4}}},
    RUN_B: {'generations': 2, 'population': 4, 'optimizer': {'settings': {'replaced': 2}}},
    PATTERN_RUN: {'generations': 3, 'population': 8},
}
_PENALTY_GENERATIONS = 40


def evolve_run(session: StudySession, experiment: str) -> FinishedEvolution:
    """Return a run of this study; run it, or resume it, if it is not finished."""
    changes = (_QUICK_RUNS if session.quick else _FULL_RUNS)[experiment]
    return session.evolve(experiment, experiment, {'seed': session.seed, **changes})


def measure_run_a(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 33 on run A."""
    return _run_rows(session, RUN_A, 'run_a')


def measure_run_b(session: StudySession) -> Sequence[StudyRow]:
    """Measure check 33 on run B."""
    return _run_rows(session, RUN_B, 'run_b')


def _run_rows(session: StudySession, experiment: str, name: str) -> list[StudyRow]:
    """Run or resume a run; write its log, draw it and return its rows."""
    run = evolve_run(session, experiment)
    file = session.folder / f'{name}.log'
    write_log(file, log_lines(run.generations, CARRIED_SHARE))
    lines = read_log(file)
    summaries = summarize_generations(lines)
    draw_scores(session.picture(f'{name}_scores'), summaries)
    draw_movement(session.picture(f'{name}_movement'), summaries)
    rows = [
        row_near(
            f'{name}_log',
            'numbers per candidate and generation in the log',
            float(sum(part.size for part in lines) / len(run.rows)),
            float(FIELDS),
            0.0,
            note=f'{len(run.rows)} trials in {len(lines)} generations',
        ),
        row_info(f'{name}_maximum', 'greatest score', float(summaries[-1, 2])),
    ]
    return rows if session.quick else [*rows, *_walk_rows(name, summaries)]


def _walk_rows(name: str, summaries: FloatArray) -> list[StudyRow]:
    """Return the rows of check 33 on a full run."""
    best, five, _, x, y = summaries.T
    early, late = x[:5].max(), x[-20:].mean()
    count = np.arange(len(summaries))
    gap = np.mean(best > five)
    return [
        row_between(
            f'{name}_x',
            'movement along x of the best, mean of the last 20 generations',
            float(late),
            1.2,
            3.5,
            'm',
            published=_PUBLISHED_MOVEMENT,
        ),
        row_at_least(
            f'{name}_gain',
            'the same mean, divided by the greatest movement in the first five generations',
            float(late / early),
            5.0,
        ),
        row_at_least(
            f'{name}_trend',
            'rank correlation of the mean of the best five with time',
            float(spearmanr(count, five).statistic),
            0.6,
        ),
        row_at_most(
            f'{name}_straight',
            'movement along y divided by that along x, last 50 generations',
            float(abs(y[-50:].mean()) / x[-50:].mean()),
            0.25,
        ),
        row_at_least(
            f'{name}_scatter',
            'deviation of y in the last 50 generations, divided by that in the first 50',
            float(y[-50:].std() / y[:50].std()),
            1.0,
        ),
        row_at_least(
            f'{name}_gap',
            'share of generations whose best is above the mean of five',
            float(gap),
            0.5,
        ),
    ]


def compare_runs(session: StudySession) -> Sequence[StudyRow]:
    """Compare run A and CMA-ES trial by trial, and the work of runs A and B."""
    runs = {name: evolve_run(session, name) for name in (RUN_A, PATTERN_RUN)}
    draw_progress(session.picture('reached'), {name: run.rows for name, run in runs.items()})
    turns = min(len(run.rows) for run in runs.values())
    means = {name: _last_mean(run, turns) for name, run in runs.items()}
    work = [layout.perceptrons * layout.inputs for layout in map(layout_of, (RUN_A, RUN_B))]
    note = (
        f'after {turns} trials: {means[PATTERN_RUN]:.3f} m by CMA-ES, '
        f'{means[RUN_A]:.3f} m in run A'
    )
    rows = [
        row_near(
            'work_ratio',
            'products of run B in a control period, divided by those of run A',
            work[1] / work[0],
            3.005,
            0.001,
        )
    ]
    if not session.quick:
        rows.append(
            row_info(
                'methods',
                'mean distance along the command in the last 80 trials, CMA-ES less run A',
                means[PATTERN_RUN] - means[RUN_A],
                'm',
                note=note,
            )
        )
    return rows


def _last_mean(run: FinishedEvolution, turns: int) -> float:
    """Return the mean distance along the command over the last 80 of ``turns`` turns [m]."""
    rows = run.rows[max(0, turns - 80) : turns]
    return float(np.mean([row.terms.get('bishop2008_forward', 0.0) for row in rows]))


def measure_penalty(session: StudySession) -> Sequence[StudyRow]:
    """
    Measure check 34: without the penalty more networks end upside down.

    The networks are those of the pattern search: those of run A hardly move after 40 generations
    and rarely fall over with or without the penalty.
    """
    shares = []
    for name, weight in (('with', -2.0), ('without', 0.0)):
        changes = {
            'seed': session.seed,
            'population': 40,
            'curriculum': [],
            'generations': _PENALTY_GENERATIONS,
            'fitness': {'bishop2008_inverted': weight},
        }
        run = session.evolve(f'penalty_{name}', PATTERN_RUN, changes)
        last = [row for rows in run.generations[-10:] for row in rows]
        shares.append(np.mean([row.terms.get('bishop2008_inverted', 0.0) for row in last]))
    return [
        row_above(
            'check_34',
            'share of the last trials that end upside down, without the penalty less with it',
            float(shares[1] - shares[0]),
            0.0,
            note=f'{100 * shares[1]:.1f} % without, {100 * shares[0]:.1f} % with',
        )
    ]
