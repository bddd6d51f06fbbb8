# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Study cafarelli2017: energy saved by extending legs, and assumptions that decide on it.

A contest compares constant and free lengths on one ground under one assumption. It favours free
lengths. Their searches begin at a level walk, at a walk on rails, at their own best stride and,
with equal or different legs, at the best of four searches of constant lengths. Two more searches
of constant lengths begin at that stride too, so that a difference does not come from more effort.
Strides of equal legs have a third of the genes, which makes their searches reliable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pymoo.indicators.hv import HV
from scipy.stats import wilcoxon

from gait_studies.cafarelli2017.grid import SearchData, costs_or_infinity
from gait_studies.cafarelli2017.pictures import draw_fronts, draw_savings
from gait_studies.cafarelli2017.strides.leg_freedom import CONSTANT, FREE, LegFreedom
from gait_studies.cafarelli2017.strides.search_cases import (
    ASSUMPTIONS,
    FROM_BEST,
    FROM_LEVEL,
    FROM_RAIL,
    GROUNDS,
    MIN_SAVING,
    NSGA,
    STANDARD_ASSUMPTION,
    SearchCase,
    max_length_change,
    solve_case,
)
from gait_tools.study.definition import StudyRow, row_at_most, row_info
from gait_tools.study.session import StudySession

_CONTEST_SEED_KEY, _LEAD_SEED_KEY, _FRONT_SEED_KEY = 2, 3, 4
_GROUNDS = ('flat', 'up_10')
_LONGEST = 'frozen_12'


@dataclass(frozen=True, kw_only=True)
class Contest:
    """
    Lowest costs of transport on one ground under one assumption, a pair per seed.

    Attributes
    ----------
    constant, free : tuples of float
        Costs with constant and with free lengths; infinite if no search found a walk.
    length_changes : tuple of float [cm]
        Largest change of a length in each stride of free lengths.
    best_constant : tuple of search results
        Cheapest strides of constant lengths.
    """

    constant: tuple[float, ...]
    free: tuple[float, ...]
    length_changes: tuple[float, ...]
    best_constant: tuple[SearchData, ...]

    @property
    def savings(self) -> list[float]:
        """Savings by free lengths, by seed [%]."""
        return [
            100.0 * (1.0 - free / constant)
            for free, constant in zip(self.free, self.constant, strict=True)
        ]

    @property
    def p_value(self) -> float:
        """Probability of such savings without an effect; Wilcoxon's signed-rank test."""
        gains = np.array(self.constant) - np.array(self.free)
        if not np.any(gains):
            return 1.0
        return float(wilcoxon(gains, alternative='greater').pvalue)


class _Contests:
    """Searches of contests in three stages; later stages begin at the best of earlier ones."""

    def __init__(
        self,
        session: StudySession,
        where: Sequence[tuple[str, str]],
        seeds: int,
        shapes: tuple[bool, ...] = (True, False),
    ) -> None:
        self._session, self._conditions, self._shapes = session, where, shapes
        self._seeds = [session.derive_seed(_CONTEST_SEED_KEY, number) for number in range(seeds)]
        self._evaluations = 1200 if session.quick else 8000
        self._done: dict[str, SearchData] = {}

    def run(self) -> dict[tuple[str, str], Contest]:
        """Run every stage and return a contest by ground and assumption."""
        first = self._stage(lambda condition, seed: self._from_walks(condition, seed))
        second = self._stage(
            lambda condition, seed: {
                CONSTANT: self._from_best_constant(
                    condition, seed, CONSTANT, first[condition, seed]
                )
            }
        )
        known = {
            place: {CONSTANT: [*first[place][CONSTANT], *second[place][CONSTANT]]}
            for place in first
        }
        third = self._stage(
            lambda condition, seed: {
                **{
                    kind: self._from_best_constant(condition, seed, kind, known[condition, seed])
                    for kind in (CONSTANT, FREE)
                },
                'own': [self._from_best_free(condition, seed, first[condition, seed])],
            }
        )
        return {
            condition: self._contest(
                [
                    {
                        CONSTANT: [
                            *known[condition, seed][CONSTANT],
                            *third[condition, seed][CONSTANT],
                        ],
                        FREE: [
                            *first[condition, seed][FREE],
                            *third[condition, seed][FREE],
                            *third[condition, seed]['own'],
                        ],
                    }
                    for seed in self._seeds
                ]
            )
            for condition in self._conditions
        }

    def _stage(
        self, cases_of: Callable[[tuple[str, str], int], dict[str, list[SearchCase]]]
    ) -> dict[tuple[tuple[str, str], int], dict[str, list[SearchCase]]]:
        """Run the searches of one stage for all contests and seeds, and return their cases."""
        stage = {
            (condition, seed): cases_of(condition, seed)
            for condition in self._conditions
            for seed in self._seeds
        }
        cases = [case for kinds in stage.values() for group in kinds.values() for case in group]
        tasks = {case.key: case for case in cases}
        self._done |= self._session.run_tasks('contests', solve_case, tasks)
        return stage

    def _from_walks(self, condition: tuple[str, str], seed: int) -> dict[str, list[SearchCase]]:
        return {
            CONSTANT: [
                self._case(condition, seed, kind, FROM_LEVEL) for kind in (CONSTANT, _LONGEST)
            ],
            FREE: [self._case(condition, seed, FREE, begin) for begin in (FROM_LEVEL, FROM_RAIL)],
        }

    def _from_best_constant(
        self,
        condition: tuple[str, str],
        seed: int,
        kind: str,
        first: Mapping[str, Sequence[SearchCase]],
    ) -> list[SearchCase]:
        """Return searches from the best stride of constant lengths, with equal legs or not."""
        start = self._best_result(first[CONSTANT])['genes']
        begin = f'{FROM_BEST}_of_{len(first[CONSTANT])}'
        return [self._case(condition, seed, kind, begin, alike, start) for alike in self._shapes]

    def _from_best_free(
        self, condition: tuple[str, str], seed: int, first: Mapping[str, Sequence[SearchCase]]
    ) -> SearchCase:
        start = self._best_result(first[FREE])['genes']
        return self._case(condition, seed, FREE, f'{FROM_BEST}_of_free', True, start)

    def _case(
        self,
        condition: tuple[str, str],
        seed: int,
        kind: str,
        begin: str,
        alike: bool = True,
        start: Sequence[float] = (),
    ) -> SearchCase:
        """Return a search of this contest."""
        return SearchCase(
            legs=LegFreedom(kind=kind, alike=alike),
            ground=condition[0],
            assumption=condition[1],
            begin=begin,
            start=tuple(start),
            seed=seed,
            number=self._seeds.index(seed),
            evaluations=self._evaluations,
        )

    def _best_result(self, cases: Sequence[SearchCase]) -> SearchData:
        answers = [self._done[case.key] for case in cases]
        return answers[int(np.argmin(costs_or_infinity(answers)))]

    def _contest(self, seeds: Sequence[Mapping[str, Sequence[SearchCase]]]) -> Contest:
        best = {
            kind: [self._best_result(cases[kind]) for cases in seeds] for kind in (CONSTANT, FREE)
        }
        return Contest(
            constant=tuple(costs_or_infinity(best[CONSTANT])),
            free=tuple(costs_or_infinity(best[FREE])),
            length_changes=tuple(max_length_change(answer['genes']) for answer in best[FREE]),
            best_constant=tuple(best[CONSTANT]),
        )


def _contest_row(row_id: str, what: str, contest: Contest) -> StudyRow:
    """Return the row of the largest saving, which the thesis denies."""
    constant, free = np.array(contest.constant), np.array(contest.free)
    note = (
        f'constant {constant.mean():.4f} (deviation {constant.std():.4f}), free {free.mean():.4f} '
        f'({free.std():.4f}), {len(free)} seeds, mean saved {np.mean(contest.savings):.2f} %, '
        f'p = {contest.p_value:.3g}; lengths change by {np.mean(contest.length_changes):.2f} cm'
    )
    # The largest saving over the seeds is a lower bound of what can be saved.
    return row_at_most(row_id, what, max(contest.savings), MIN_SAVING, '%', note=note)


def measure_verdict(session: StudySession) -> Sequence[StudyRow]:
    """Measure the saving of free lengths on every ground."""
    grounds = _GROUNDS if session.quick else tuple(GROUNDS)
    where = [(ground, STANDARD_ASSUMPTION) for ground in grounds]
    contests = _Contests(session, where, 2 if session.quick else 3).run()
    return [
        _contest_row(
            f'verdict_{ground}',
            f'largest saving of cost of transport on {ground} by free over constant lengths',
            contests[ground, STANDARD_ASSUMPTION],
        )
        for ground in grounds
    ]


def measure_assumptions(session: StudySession) -> Sequence[StudyRow]:
    """Measure the saving on flat ground by assumption: stroke, knees, guides, screws, energy."""
    return _assumption_rows(session, 'flat')


def measure_assumptions_uphill(session: StudySession) -> Sequence[StudyRow]:
    """Measure the saving 10 degrees uphill by assumption."""
    return _assumption_rows(session, 'up_10')


def _assumption_rows(session: StudySession, ground: str) -> Sequence[StudyRow]:
    """Run the contests of all assumptions on a ground, draw their savings, return a row each."""
    names = ('knees_0', 'knees_0_rub') if session.quick else tuple(ASSUMPTIONS)
    where = [(ground, name) for name in names]
    contests = _Contests(session, where, 1 if session.quick else 3, (True,)).run()
    by_name = {name: contests[ground, name] for name in names}
    draw_savings(
        session.picture(f'assumptions_{ground}'),
        {
            ASSUMPTIONS[name].what: (contest.constant, contest.free)
            for name, contest in by_name.items()
        },
    )
    return [
        _contest_row(
            f'assumption_{name}_{ground}',
            f'largest saving by free lengths on {ground}: {ASSUMPTIONS[name].what}',
            contest,
        ).without_bound()
        for name, contest in by_name.items()
    ]


def measure_leads(session: StudySession) -> Sequence[StudyRow]:
    """Measure searches that choose the lead of the screws too, and their saving."""
    seed_count, rows = (1 if session.quick else 5), []
    friction = {STANDARD_ASSUMPTION: 0.5, 'screw_0.1': 0.1}
    for name, friction_value in friction.items():
        where = [(ground, name) for ground in _GROUNDS]
        contests = _Contests(session, where, 1 if session.quick else 3, (True,)).run()
        for ground in _GROUNDS:
            best = min(
                contests[ground, name].best_constant,
                key=lambda stride: stride['cost_of_transport'],
            )
            cases = {
                begin: [
                    SearchCase(
                        legs=LegFreedom(kind=FREE, alike=True, lead=True),
                        ground=ground,
                        assumption=name,
                        begin=begin,
                        start=tuple(best['genes']) if begin == FROM_BEST else (),
                        seed=session.derive_seed(_LEAD_SEED_KEY, index),
                        number=index,
                        evaluations=1200 if session.quick else 8000,
                    )
                    for index in range(seed_count)
                ]
                for begin in (FROM_LEVEL, FROM_BEST)
            }
            done = session.run_tasks(
                'leads', solve_case, {case.key: case for group in cases.values() for case in group}
            )
            level, again = (
                [done[case.key] for case in cases[begin]] for begin in (FROM_LEVEL, FROM_BEST)
            )
            rows.append(_lead_row(ground, friction_value, best['cost_of_transport'], level, again))
    return rows


def _lead_row(
    ground: str,
    rub: float,
    constant: float,
    level: Sequence[SearchData],
    again: Sequence[SearchData],
) -> StudyRow:
    """Return the row of the saving with a searched lead of the screws."""
    chosen = [1000.0 * result['lead'] for result in level]
    begun, continued = costs_or_infinity(level), costs_or_infinity(again)
    changes = [max_length_change(result['genes']) for result in again]
    return row_info(
        f'lead_{rub:g}_{ground}',
        f'cost of transport saved on {ground} by free lengths where the lead is searched too, '
        f'screws with a friction of {rub:g}',
        100.0 * (1.0 - float(np.mean(continued)) / constant),
        '%',
        note=f'from the best of constant lengths ({constant:.4f}): {np.mean(continued):.4f} '
        f'(deviation {np.std(continued):.4f}), lengths change by {np.mean(changes):.2f} cm; '
        f'from a level walk: {np.mean(begun):.4f} with leads of {np.min(chosen):.1f} to '
        f'{np.max(chosen):.1f} mm',
    )


def measure_fronts(session: StudySession) -> Sequence[StudyRow]:
    """Measure Pareto fronts of stroke, energy and margin, and of cost and levelness uphill."""
    kinds = (_LONGEST, CONSTANT, FREE)
    aims = {
        'stroke_energy_margin': ('flat', ('distance', 'energy', 'margin'), (-0.05, 80.0, -0.01)),
        'cost_level': ('up_10', ('cost_of_transport', 'level'), (0.6, 0.3)),
    }
    rows = []
    for name, (ground, objectives, worst) in aims.items():
        cases = {
            kind: [
                SearchCase(
                    legs=LegFreedom(kind=kind, alike=name == 'stroke_energy_margin'),
                    ground=ground,
                    method=NSGA,
                    seed=session.derive_seed(_FRONT_SEED_KEY, number),
                    number=number,
                    evaluations=2000 if session.quick else 20000,
                    objectives=objectives,
                )
                for number in range(1 if session.quick else 3)
            ]
            for kind in kinds
        }
        done = session.run_tasks(
            'fronts', solve_case, {case.key: case for group in cases.values() for case in group}
        )
        fronts_by_kind = {
            kind: [np.array(done[case.key]['front']) for case in cases[kind]] for kind in kinds
        }
        if name == 'stroke_energy_margin':
            draw_fronts(
                session.picture('fronts'), {kind: fronts_by_kind[kind][0] for kind in kinds}
            )
        rows += _front_rows(name, fronts_by_kind, worst)
    return rows


def _front_rows(
    name: str, fronts_by_kind: Mapping[str, Sequence[np.ndarray]], worst: Sequence[float]
) -> list[StudyRow]:
    """Return the rows of hypervolume and, for levelness, of the least lean."""
    volume = HV(ref_point=np.array(worst))
    volumes = {
        kind: [float(volume(-front)) for front in values]
        for kind, values in fronts_by_kind.items()
    }
    others = {kind: float(np.mean(volumes[kind])) for kind in volumes if kind != FREE}
    best = max(others, key=others.__getitem__)
    rows = [
        row_info(
            f'front_{name}',
            f'hypervolume of the front ({name.replace("_", ", ")}) of free lengths, '
            f'divided by that of {best} lengths',
            float(np.mean(volumes[FREE])) / others[best],
            note=', '.join(
                f'{kind} {np.mean(values):.4g} (deviation {np.std(values):.2g})'
                for kind, values in volumes.items()
            ),
        )
    ]
    if name == 'cost_level':
        rows += [
            row_info(
                f'level_{kind}',
                f'least tilt on a slope of 10 degrees, {kind}',
                float(np.degrees(np.mean([-front[:, 1].max() for front in values]))),
                'deg',
                note=_costs_of_levelness(values),
            )
            for kind, values in fronts_by_kind.items()
        ]
    return rows


def _costs_of_levelness(fronts: Sequence[np.ndarray]) -> str:
    level = np.mean([-front[front[:, 1].argmax(), 0] for front in fronts])
    cheapest = np.mean([-front[:, 0].max() for front in fronts])
    return f'at a cost of transport of {level:.3f}; the least on the front is {cheapest:.3f}'
