"""
Study cafarelli2017: whether extending legs save energy, and what the answer depends on.

A contest favours free lengths: their searches begin at a level walk, at a walk on rails, at their
own best and, with legs alike or not, at the best of four searches of constant lengths; two more of
those begin there as well, so that a stride is not called better for more effort. Legs alike have a
third of the genes: their searches end where they should.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from gait_studies.cafarelli2017.grid import Found, ranked
from gait_studies.cafarelli2017.pictures import draw_assumptions, draw_fronts
from gait_studies.cafarelli2017.strides.grid import (
    ASSUMPTIONS,
    BEST,
    ENOUGH,
    GROUNDS,
    LEVEL,
    NSGA,
    RAIL,
    STANDARD,
    Case,
    length_changes,
    solve,
)
from gait_studies.cafarelli2017.strides.legs import CONSTANT, FREE, Legs
from gait_tools.study.definition import Row, at_least, at_most
from gait_tools.study.session import Session

_CONTEST_KEY, _LEAD_KEY, _FRONT_KEY = 2, 3, 4
_GROUNDS = ('flat', 'up_10')
_LONGEST = 'frozen_12'


@dataclass(frozen=True, kw_only=True)
class Contest:
    """
    The least costs on one ground under one assumption, a pair per seed.

    Attributes
    ----------
    constant, free : tuples of float
        Infinite where no search found a walk.
    changes : tuple of float [cm]
        The largest change of a length in each free stride.
    best : tuple of found strides
        The cheapest of constant lengths.
    """

    constant: tuple[float, ...]
    free: tuple[float, ...]
    changes: tuple[float, ...]
    best: tuple[Found, ...]

    @property
    def saved(self) -> list[float]:
        """Savings by free lengths, by seed [%]."""
        return [
            100.0 * (1.0 - free / constant)
            for free, constant in zip(self.free, self.constant, strict=True)
        ]

    @property
    def chance(self) -> float:
        """Of savings like these if there is none; Wilcoxon's signed ranks of the pairs."""
        gains = np.array(self.constant) - np.array(self.free)
        if not np.any(gains):
            return 1.0
        return float(wilcoxon(gains, alternative='greater').pvalue)


class _Contests:
    """The searches of some contests: those of the second stage begin at the best of the first."""

    def __init__(
        self,
        session: Session,
        where: Sequence[tuple[str, str]],
        seeds: int,
        shapes: tuple[bool, ...] = (True, False),
    ) -> None:
        self._session, self._where, self._shapes = session, where, shapes
        self._seeds = [session.seed_of(_CONTEST_KEY, number) for number in range(seeds)]
        self._evaluations = 1200 if session.quick else 8000
        self._done: dict[str, Found] = {}

    def run(self) -> dict[tuple[str, str], Contest]:
        """Run every stage and return a contest per place."""
        first = self._stage(lambda spot, seed: self._from_walks(spot, seed))
        second = self._stage(
            lambda spot, seed: {CONSTANT: self._again(spot, seed, CONSTANT, first[spot, seed])}
        )
        known = {
            place: {CONSTANT: [*first[place][CONSTANT], *second[place][CONSTANT]]}
            for place in first
        }
        third = self._stage(
            lambda spot, seed: {
                **{
                    kind: self._again(spot, seed, kind, known[spot, seed])
                    for kind in (CONSTANT, FREE)
                },
                'own': [self._own(spot, seed, first[spot, seed])],
            }
        )
        return {
            spot: self._judged(
                [
                    {
                        CONSTANT: [*known[spot, seed][CONSTANT], *third[spot, seed][CONSTANT]],
                        FREE: [
                            *first[spot, seed][FREE],
                            *third[spot, seed][FREE],
                            *third[spot, seed]['own'],
                        ],
                    }
                    for seed in self._seeds
                ]
            )
            for spot in self._where
        }

    def _stage(
        self, cases_of: Callable[[tuple[str, str], int], dict[str, list[Case]]]
    ) -> dict[tuple[tuple[str, str], int], dict[str, list[Case]]]:
        """Work off the searches of all contests and seeds that begin at what is known."""
        stage = {
            (spot, seed): cases_of(spot, seed) for spot in self._where for seed in self._seeds
        }
        cases = [case for kinds in stage.values() for some in kinds.values() for case in some]
        pieces = {case.key: case for case in cases}
        self._done |= self._session.work_off('contests', solve, pieces)
        return stage

    def _from_walks(self, spot: tuple[str, str], seed: int) -> dict[str, list[Case]]:
        return {
            CONSTANT: [self._case(spot, seed, kind, LEVEL) for kind in (CONSTANT, _LONGEST)],
            FREE: [self._case(spot, seed, FREE, begin) for begin in (LEVEL, RAIL)],
        }

    def _again(
        self, spot: tuple[str, str], seed: int, kind: str, known: Mapping[str, Sequence[Case]]
    ) -> list[Case]:
        """Return searches that begin at the best of constant lengths: legs alike or not."""
        start = self._least(known[CONSTANT])['genes']
        begin = f'{BEST}_of_{len(known[CONSTANT])}'
        return [self._case(spot, seed, kind, begin, alike, start) for alike in self._shapes]

    def _own(self, spot: tuple[str, str], seed: int, first: Mapping[str, Sequence[Case]]) -> Case:
        start = self._least(first[FREE])['genes']
        return self._case(spot, seed, FREE, f'{BEST}_of_free', True, start)

    def _case(
        self,
        spot: tuple[str, str],
        seed: int,
        kind: str,
        begin: str,
        alike: bool = True,
        start: Sequence[float] = (),
    ) -> Case:
        return Case(
            legs=Legs(kind=kind, alike=alike),
            ground=spot[0],
            assumption=spot[1],
            begin=begin,
            start=tuple(start),
            seed=seed,
            number=self._seeds.index(seed),
            evaluations=self._evaluations,
        )

    def _least(self, cases: Sequence[Case]) -> Found:
        answers = [self._done[case.key] for case in cases]
        return answers[int(np.argmin(ranked(answers)))]

    def _judged(self, seeds: Sequence[Mapping[str, Sequence[Case]]]) -> Contest:
        best = {kind: [self._least(one[kind]) for one in seeds] for kind in (CONSTANT, FREE)}
        return Contest(
            constant=tuple(ranked(best[CONSTANT])),
            free=tuple(ranked(best[FREE])),
            changes=tuple(length_changes(one['genes']) for one in best[FREE]),
            best=tuple(best[CONSTANT]),
        )


def _contest_row(row_id: str, what: str, contest: Contest, saves: bool) -> Row:
    constant, free = np.array(contest.constant), np.array(contest.free)
    note = (
        f'constant {constant.mean():.4f} (deviation {constant.std():.4f}), free {free.mean():.4f} '
        f'({free.std():.4f}), {len(free)} seeds, mean saved {np.mean(contest.saved):.2f} %, '
        f'p = {contest.chance:.3g}; lengths change by {np.mean(contest.changes):.2f} cm'
    )
    judge = at_least if saves else at_most
    # What can be saved is at least what the best of the seeds saves: some do not find it.
    return judge(row_id, what, max(contest.saved), ENOUGH, '%', note=note)


def verdict(session: Session) -> Sequence[Row]:
    """Measure what free lengths save on every ground."""
    grounds = _GROUNDS if session.quick else tuple(GROUNDS)
    where = [(ground, STANDARD) for ground in grounds]
    contests = _Contests(session, where, 2 if session.quick else 3).run()
    return [
        _contest_row(
            f'verdict_{ground}',
            f'cost of transport on {ground} that free lengths save at most over constant ones',
            contests[ground, STANDARD],
            saves=False,
        )
        for ground in grounds
    ]


def assumptions(session: Session) -> Sequence[Row]:
    """Measure on flat ground what the answer depends on: stroke, knees, guides, screws, energy."""
    return _assumptions_on(session, 'flat')


def assumptions_uphill(session: Session) -> Sequence[Row]:
    """Measure the same 10 degrees uphill."""
    return _assumptions_on(session, 'up_10')


def _assumptions_on(session: Session, ground: str) -> Sequence[Row]:
    names = ('knees_0', 'knees_0_rub') if session.quick else tuple(ASSUMPTIONS)
    where = [(ground, name) for name in names]
    contests = _Contests(session, where, 1 if session.quick else 3, (True,)).run()
    found = {name: contests[ground, name] for name in names}
    draw_assumptions(
        session.picture(f'assumptions_{ground}'),
        {ASSUMPTIONS[name].what: (one.constant, one.free) for name, one in found.items()},
    )
    return [
        _contest_row(
            f'assumption_{name}_{ground}',
            f'saved at most by free lengths on {ground}: {ASSUMPTIONS[name].what}',
            one,
            saves=ground in ASSUMPTIONS[name].saving_on,
        )
        for name, one in found.items()
    ]


def leads(session: Session) -> Sequence[Row]:
    """Measure which lead a search chooses with the lengths, and what that saves."""
    number, rows = (1 if session.quick else 5), []
    friction = {STANDARD: 0.5, 'screw_0.1': 0.1}
    for name, rub in friction.items():
        where = [(ground, name) for ground in _GROUNDS]
        contests = _Contests(session, where, 1 if session.quick else 3, (True,)).run()
        for ground in _GROUNDS:
            best = min(contests[ground, name].best, key=lambda one: one['cost_of_transport'])
            cases = {
                begin: [
                    Case(
                        legs=Legs(kind=FREE, alike=True, lead=True),
                        ground=ground,
                        assumption=name,
                        begin=begin,
                        start=tuple(best['genes']) if begin == BEST else (),
                        seed=session.seed_of(_LEAD_KEY, one),
                        number=one,
                        evaluations=1200 if session.quick else 8000,
                    )
                    for one in range(number)
                ]
                for begin in (LEVEL, BEST)
            }
            done = session.work_off(
                'leads', solve, {case.key: case for some in cases.values() for case in some}
            )
            level, again = ([done[case.key] for case in cases[begin]] for begin in (LEVEL, BEST))
            rows.append(_lead_row(ground, rub, best['cost_of_transport'], level, again))
    return rows


def _lead_row(
    ground: str, rub: float, constant: float, level: Sequence[Found], again: Sequence[Found]
) -> Row:
    chosen = [1000.0 * one['lead'] for one in level]
    changes = [length_changes(one['genes']) for one in again]
    return at_most(
        f'lead_{rub:g}_{ground}',
        f'saved on {ground} where the lead is chosen too, screws with a friction of {rub:g}',
        100.0 * (1.0 - float(np.mean(ranked(again))) / constant),
        ENOUGH,
        '%',
        note=f'from the best of constant lengths ({constant:.4f}) to {np.mean(ranked(again)):.4f} '
        f'(deviation {np.std(ranked(again)):.4f}), lengths change by {np.mean(changes):.2f} cm; '
        f'from a level walk {np.mean(ranked(level)):.4f} with leads of {np.min(chosen):.1f} to '
        f'{np.max(chosen):.1f} mm',
    )


def fronts(session: Session) -> Sequence[Row]:
    """Measure the compromises of stroke, energy and margin, and of cost and levelness uphill."""
    kinds = (_LONGEST, CONSTANT, FREE)
    aims = {
        'stroke_energy_margin': ('flat', ('distance', 'energy', 'margin'), (-0.05, 80.0, -0.01)),
        'cost_level': ('up_10', ('cost_of_transport', 'level'), (0.6, 0.3)),
    }
    rows = []
    for name, (ground, objectives, worst) in aims.items():
        cases = {
            kind: [
                Case(
                    legs=Legs(kind=kind, alike=name == 'stroke_energy_margin'),
                    ground=ground,
                    method=NSGA,
                    seed=session.seed_of(_FRONT_KEY, number),
                    number=number,
                    evaluations=2000 if session.quick else 20000,
                    objectives=objectives,
                )
                for number in range(1 if session.quick else 3)
            ]
            for kind in kinds
        }
        done = session.work_off(
            'fronts', solve, {case.key: case for some in cases.values() for case in some}
        )
        found = {
            kind: [np.array(done[case.key]['front']) for case in cases[kind]] for kind in kinds
        }
        if name == 'stroke_energy_margin':
            draw_fronts(session.picture('fronts'), {kind: found[kind][0] for kind in kinds})
        rows += _front_rows(name, found, worst)
    return rows


def _front_rows(
    name: str, found: Mapping[str, Sequence[np.ndarray]], worst: Sequence[float]
) -> list[Row]:
    from pymoo.indicators.hv import HV

    volume = HV(ref_point=np.array(worst))
    volumes = {kind: [float(volume(-front)) for front in some] for kind, some in found.items()}
    others = {kind: float(np.mean(volumes[kind])) for kind in volumes if kind != FREE}
    best = max(others, key=others.__getitem__)
    rows = [
        at_most(
            f'front_{name}',
            f'volume below the front ({name.replace("_", ", ")}) of free by that of {best}',
            float(np.mean(volumes[FREE])) / others[best],
            1.0 + 0.01 * ENOUGH,
            note=', '.join(
                f'{kind} {np.mean(some):.4g} (deviation {np.std(some):.2g})'
                for kind, some in volumes.items()
            ),
        )
    ]
    if name == 'cost_level':
        rows += [
            at_most(
                f'level_{kind}',
                f'least lean on a slope of 10 degrees, {kind}',
                float(np.degrees(np.mean([-front[:, 1].max() for front in some]))),
                10.0,
                'deg',
                note=_costs_of_levelness(some),
            )
            for kind, some in found.items()
        ]
    return rows


def _costs_of_levelness(some: Sequence[np.ndarray]) -> str:
    level = np.mean([-front[front[:, 1].argmax(), 0] for front in some])
    cheapest = np.mean([-front[:, 0].max() for front in some])
    return f'at a cost of {level:.3f}; the cheapest of the front {cheapest:.3f}'
