# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Study korbel2013_beyond: more signals, other grounds, feedback and another search.

Every search has the same number of trials as the published one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.trial.spec import TrialSpec
from gait_evolver.plan import load_plan
from gait_evolver.scoring import status_and_fitness
from gait_studies.korbel2013.pictures import draw_searches
from gait_studies.korbel2013.trials import EXPERIMENT, best_row, node_travel
from gait_tools.study.definition import Study, StudyPart, StudyRow, row_at_least, row_info
from gait_tools.study.session import FinishedEvolution, StudySession


@dataclass(frozen=True, kw_only=True)
class ExperimentCase:
    """Experiment of this study; ``other_ground``: its ground is not the published one."""

    name: str
    what: str
    other_ground: bool = False

    @property
    def experiment(self) -> str:
        """Name of the experiment file."""
        return f'{EXPERIMENT}_{self.name}' if self.name != 'published' else EXPERIMENT


EXPERIMENT_CASES = (
    ExperimentCase(name='published', what='as published'),
    ExperimentCase(name='listing', what='the search as listed, tau_A never mutated'),
    ExperimentCase(name='free_time', what='both time constants free'),
    ExperimentCase(name='undulation', what='eight oscillators, one per lower cable'),
    ExperimentCase(name='feedback', what='cable tension fed back into the oscillators'),
    ExperimentCase(
        name='one_way', what='friction that is less against forward motion', other_ground=True
    ),
    ExperimentCase(name='incline', what='uphill', other_ground=True),
    ExperimentCase(name='step', what='over a step', other_ground=True),
    ExperimentCase(name='cma', what='CMA-ES in place of the published search'),
)

TRIAL_BUDGET, QUICK_TRIAL_BUDGET = 450, 150
"""Trials of every search; the published one runs 50, then two in each iteration."""


def _evolution_settings(session: StudySession) -> dict[str, tuple[str, Mapping[str, Any]]]:
    budget = QUICK_TRIAL_BUDGET if session.quick else TRIAL_BUDGET
    return {
        case.name: (case.experiment, _budget_changes(case, session, budget))
        for case in EXPERIMENT_CASES
    }


def _budget_changes(case: ExperimentCase, session: StudySession, budget: int) -> dict[str, Any]:
    changes: dict[str, Any] = {'seed': session.derive_seed(0)}
    settings = load_plan(case.experiment).experiment.optimizer.settings
    if 'iterations' in settings:
        changes['generations'] = 1 + (budget - int(settings['population'])) // 2
    else:
        changes['generations'] = budget // int(settings['population'])
    return changes


def measure_searches(session: StudySession) -> Sequence[StudyRow]:
    """Measure every experiment at the same budget, and the published champion on its ground."""
    evolutions = dict(
        zip(
            (case.name for case in EXPERIMENT_CASES),
            session.evolve_in_parallel(_evolution_settings(session)),
            strict=True,
        )
    )
    draw_searches(
        session.picture('beyond'),
        {case.what: _best_so_far(evolutions[case.name]) for case in EXPERIMENT_CASES},
    )
    published = evolutions['published']
    rows = []
    for case in EXPERIMENT_CASES:
        evolution = evolutions[case.name]
        best = best_row(evolution.rows)
        first = best_row(evolution.rows[: len(published.generations[0])])
        rows.append(
            row_info(
                case.name,
                f'gain of the best fitness over that of the first {len(published.generations[0])} '
                f'trials, {case.what}',
                evolution.champion.fitness - float(first.fitness or 0.0),
                'in',
                note=_search_note(
                    session, case, evolution, published, best.terms['korbel2013_travel']
                ),
            )
        )
    return [*rows, _farthest_row(evolutions), _time_constant_row(evolutions)]


def _best_so_far(evolution: FinishedEvolution) -> FloatArray:
    fitness = [status_and_fitness([row])[1] for row in evolution.rows]
    return np.asarray(
        np.maximum.accumulate([-np.inf if value is None else value for value in fitness])
    )


def _search_note(
    session: StudySession,
    case: ExperimentCase,
    evolution: FinishedEvolution,
    published: FinishedEvolution,
    distance: float,
) -> str:
    """Return the note of a search: fitness, distance and the published champion's."""
    note = (
        f'fitness {evolution.champion.fitness:.2f} inches after {len(evolution.rows)} trials, '
        f'{distance:.2f} inches in 15 s'
    )
    if case.name != 'published':
        note += f'; as published {published.champion.fitness:.2f} inches'
    if case.other_ground:
        there = session.record(_trial_on_ground_of(evolution, published))
        note += f'; the champion of the flat ground goes {node_travel(there)[-1]:.2f} inches there'
    return note


def _trial_on_ground_of(evolution: FinishedEvolution, published: FinishedEvolution) -> TrialSpec:
    return replace(published.champion.spec, scene=evolution.champion.spec.scene)


def _farthest_row(evolutions: Mapping[str, FinishedEvolution]) -> StudyRow:
    """Return the row of the longest distance of a champion."""
    distances = {
        name: best_row(evolution.rows).terms['korbel2013_travel']
        for name, evolution in evolutions.items()
    }
    best = max(distances, key=lambda name: distances[name])
    return row_at_least(
        'farthest',
        'longest distance of a champion in 15 s',
        distances[best],
        14.34,
        'in',
        published=14.34,
        note=f'search {best}; this project aims at 25 inches',
    )


def _time_constant_row(evolutions: Mapping[str, FinishedEvolution]) -> StudyRow:
    """Return the row of the larger tau_A of two champions: it becomes small in both searches."""
    taus = {
        name: best_row(evolutions[name].rows).values['tau_a'] for name in ('published', 'listing')
    }
    return row_info(
        'tau_of_both_modes',
        'greater tau_A of the champions as published and as listed',
        max(taus.values()),
        's',
        published=0.2,
        note=', '.join(f'{name} {tau:.4f} s' for name, tau in taus.items()),
    )


def study() -> Study:
    """Return the study of nine searches beyond Korbel (2013), at equal numbers of trials."""
    return Study(
        name='korbel2013_beyond',
        title='The tensegrity spine beyond its thesis: signals, grounds, feedback, CMA-ES.',
        source='Future work of Korbel (2013), section 4.',
        parts=(StudyPart(name='searches', measure=measure_searches),),
    )
