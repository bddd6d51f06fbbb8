# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: searches over kinds of legs, grounds and methods, equal evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
import math
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from gait_core.files.access import write_atomically
from gait_core.verdict import FAIL
from gait_studies.cafarelli2017.pictures import draw_grid_costs
from gait_studies.cafarelli2017.strides.leg_freedom import FREE, LEG_KINDS, LegFreedom
from gait_studies.cafarelli2017.strides.search_cases import (
    GROUNDS,
    METHODS,
    NSGA,
    SearchCase,
    max_length_change,
    solve_case,
)
from gait_tools.study.definition import StudyRow, row_info, row_p_value
from gait_tools.study.session import StudySession

SearchData = Mapping[str, Any]

_SEED_KEY = 1
_QUICK_GROUNDS = ('flat', 'up_10')


def measure_grid(session: StudySession) -> Sequence[StudyRow]:
    """Measure the cost of transport of every kind of leg on every ground by every method."""
    grounds = _QUICK_GROUNDS if session.quick else tuple(GROUNDS)
    cases = {
        (ground, kind, method): [
            _search_case(session, ground, kind, method, number)
            for number in range(2 if session.quick else 10)
        ]
        for ground in grounds
        for kind in LEG_KINDS
        for method in METHODS
    }
    done = session.run_tasks(
        'grid', solve_case, {case.key: case for group in cases.values() for case in group}
    )
    results = {where: [done[case.key] for case in group] for where, group in cases.items()}
    rows = [_cost_row(*where, answers) for where, answers in results.items()]
    rows += [_test_row(ground, method, results) for ground in grounds for method in METHODS]
    draw_grid_costs(
        session.picture('grid'),
        {
            ground: {kind: _least_by_seed(results, ground, kind) for kind in LEG_KINDS}
            for ground in grounds
        },
    )
    _write_champions(session, results, grounds)
    return rows


def _search_case(
    session: StudySession, ground: str, kind: str, method: str, number: int
) -> SearchCase:
    """Return the search of one cell of the grid and one seed."""
    # NSGA-II maximises levelness too.
    aims = ('cost_of_transport', 'level') if method == NSGA else ('cost_of_transport',)
    return SearchCase(
        legs=LegFreedom(kind=kind),
        ground=ground,
        method=method,
        seed=session.derive_seed(_SEED_KEY, number),
        number=number,
        evaluations=2000 if session.quick else 6000,
        objectives=aims,
    )


def finite_costs(results: Sequence[SearchData]) -> list[float]:
    """Return the costs of transport of searches; those that found no walk are left out."""
    return [
        result['cost_of_transport']
        for result in results
        if result['cost_of_transport'] is not None
    ]


def _least_by_seed(
    results: Mapping[tuple[str, str, str], Sequence[SearchData]], ground: str, kind: str
) -> list[float]:
    by_method = [costs_or_infinity(results[ground, kind, method]) for method in METHODS]
    return [min(costs) for costs in zip(*by_method, strict=True)]


def costs_or_infinity(results: Sequence[SearchData]) -> list[float]:
    """Return the costs of transport of searches; infinite if a search found no walk."""
    costs = [result['cost_of_transport'] for result in results]
    return [math.inf if cost is None else cost for cost in costs]


def _cost_row(ground: str, kind: str, method: str, answers: Sequence[SearchData]) -> StudyRow:
    """Return the row of the mean cost of transport of one cell of the grid."""
    costs = finite_costs(answers)
    what = f'cost of transport on {ground}, {kind}, {method}: mean of {len(answers)} searches'
    row_id = f'grid_{ground}_{kind}_{method}'
    if not costs:
        return StudyRow(id=row_id, what=what, verdict=FAIL, note='no search found a walk')
    changes = [max_length_change(answer['genes']) for answer in answers]
    leans = [math.degrees(answer['lean']) for answer in answers]
    note = f'deviation {np.std(costs):.4f}, least {min(costs):.4f}'
    if len(costs) < len(answers):
        note += f'; {len(answers) - len(costs)} found no walk'
    if kind == FREE:
        note += f'; lengths change by {np.mean(changes):.2f} cm'
    if method == NSGA:
        note += (
            f'; tilt {np.mean(leans):.1f} deg, least on the Pareto front {_level_text(answers)}'
        )
    return row_info(row_id, what, float(np.mean(costs)), note=note)


def _level_text(answers: Sequence[SearchData]) -> str:
    least = [-max(point[1] for point in answer['front']) for answer in answers if answer['front']]
    return f'{math.degrees(np.mean(least)):.1f} deg' if least else 'none'


def _test_row(
    ground: str, method: str, results: Mapping[tuple[str, str, str], Sequence[SearchData]]
) -> StudyRow:
    """Return the row of the test whether free lengths cost less than the best constant ones."""
    others = {
        kind: costs_or_infinity(results[ground, kind, method])
        for kind in LEG_KINDS
        if kind != FREE
    }
    best = min(others, key=lambda kind: float(np.mean(others[kind])))
    free = costs_or_infinity(results[ground, FREE, method])
    chance = float(mannwhitneyu(free, others[best], alternative='less').pvalue)
    return row_p_value(
        f'test_{ground}_{method}',
        f'on {ground} by {method}: chance of free lengths being as cheap if they save nothing',
        chance,
        0.05,
        1.0 / math.comb(len(free) + len(others[best]), len(free)),
        note=f'Mann-Whitney against {best}: free {np.mean(free):.4f}, {best} '
        f'{np.mean(others[best]):.4f}; equal evaluations, every search starts from a level walk',
    )


def _write_champions(
    session: StudySession,
    results: Mapping[tuple[str, str, str], Sequence[SearchData]],
    grounds: Sequence[str],
) -> None:
    """Write the best stride of each kind of leg on each ground, for trials in physics."""
    champions = {}
    for ground in grounds:
        for kind in LEG_KINDS:
            answers = [answer for method in METHODS for answer in results[ground, kind, method]]
            best = min(zip(costs_or_infinity(answers), range(len(answers)), strict=True))[1]
            names = ('cost_of_transport', 'distance', 'margin', 'clearance', 'genes')
            champions[f'{ground}/{kind}'] = {name: answers[best][name] for name in names}
    write_atomically(session.folder / 'champions.json', json.dumps(champions, indent=1) + '\n')
