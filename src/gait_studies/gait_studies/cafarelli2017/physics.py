# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017 in physics: preset walks, replays of strides, frozen and free legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
import math
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_json
from gait_core.trial.spec import OK
from gait_studies.cafarelli2017.pictures import draw_search_curves
from gait_studies.cafarelli2017.stride_search import (
    EXTENSION_GENES,
    Replay,
    StrideSearch,
    replay_outcome,
    search_stride,
)
from gait_studies.cafarelli2017.stride_trials import run_stride, stride_trial
from gait_studies.cafarelli2017.strides.search_cases import MIN_SAVING
from gait_tools.study.definition import StudyRow, row_at_least, row_at_most, row_info, row_near
from gait_tools.study.session import StudySession

SearchData = Mapping[str, Any]

_SEED_KEY = 5
_PRESET_SPEEDS = {'fixed': 0.12 / 0.55 / 2.0, 'extending': 0.12 / 0.55 / 3.2}
"""Expected speed of each preset: stroke over duty factor and period [m/s]."""
_WALK_DISTANCE = 5.2
_SEARCH_GROUNDS = ('flat', 'up_10')
_FROZEN_BY_NAME = {'frozen': True, 'free': False}


def measure_walks(session: StudySession) -> Sequence[StudyRow]:
    """Measure the walks of both presets over 5 m of flat ground."""
    done = session.run_tasks('walks', _run_preset, {preset: preset for preset in _PRESET_SPEEDS})
    rows = []
    for preset, speed in _PRESET_SPEEDS.items():
        walk = done[preset]
        note = '' if walk['status'] == OK else walk['status']
        rows += [
            row_at_least(
                f'walk_{preset}_distance',
                f'distance with preset {preset} in {_WALK_DISTANCE / speed:.0f} s on flat ground',
                walk['distance'] if walk['status'] == OK else None,
                5.0,
                'm',
                note=note,
            ),
            row_near(
                f'walk_{preset}_speed',
                f'speed in physics with preset {preset}; published: by kinematics',
                walk['speed'],
                speed,
                0.1 * speed,
                'm/s',
            ),
            row_at_most(
                f'walk_{preset}_drag',
                f'distance that feet drag ahead, divided by that walked, preset {preset}',
                walk['drag'],
                0.01,
                note=f'slip {100.0 * walk["slip"]:.2f} %, something else than feet on the ground '
                f'in {100.0 * walk["knees"]:.1f} % of the time',
            ),
            row_info(
                f'walk_{preset}_cost',
                f'cost of transport in physics with preset {preset}',
                walk['cost_of_transport'],
            ),
        ]
    return rows


def _run_preset(preset: str) -> dict[str, Any]:
    trial = stride_trial({}, duration=_WALK_DISTANCE / _PRESET_SPEEDS[preset], preset=preset)
    return asdict(run_stride(trial))


def measure_replays(session: StudySession) -> Sequence[StudyRow]:
    """Measure the best stride of the grid for each kind of legs and ground, in physics."""
    champions = _read_champions(session)
    cases = {
        (where, joined): Replay(
            genes=tuple(champion['genes']), ground=where.split('/')[0], joined=joined
        )
        for where, champion in champions.items()
        for joined in ('joints', 'feet')
    }
    done = session.run_tasks(
        'replays', replay_outcome, {repr(case): case for case in cases.values()}
    )
    return [
        _replay_row(where, joined, champions[where]['cost_of_transport'], done[repr(case)])
        for (where, joined), case in cases.items()
    ]


def _read_champions(session: StudySession) -> Mapping[str, SearchData]:
    """Return the best strides that part ``grid`` wrote, without those that do not walk."""
    file = session.folder / 'champions.json'
    try:
        champions = read_json(file)
        return {
            where: champion
            for where, champion in champions.items()
            if champion['cost_of_transport'] is not None
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f'{file} (written by part grid) is invalid: {error}') from error


def _replay_row(where: str, joined: str, analytic: float, outcome: SearchData) -> StudyRow:
    """Return the row of a stride replayed in physics."""
    ground, kind = where.split('/')
    walk = outcome['walk']
    return row_info(
        f'replay_{ground}_{kind}_{joined}',
        f'cost of transport in physics: best stride of {kind} lengths on {ground}, '
        f'{joined} interpolated',
        walk['cost_of_transport'] if walk['status'] == OK else None,
        note=f'analytic {analytic:.4f}; {walk["speed"]:.4f} m/s of {outcome["foreseen"]:.4f} '
        f'foreseen, slip {100.0 * walk["slip"]:.1f} %, drag {100.0 * walk["drag"]:.1f} %'
        + ('' if walk['status'] == OK else f'; {walk["status"]} after {walk["fell_at"]} s'),
    )


def measure_searches(session: StudySession) -> Sequence[StudyRow]:
    """Measure searches in physics with frozen and with free lengths."""
    trials, seeds = (20, 1) if session.quick else (300, 3)
    cases = {
        (ground, legs): [
            StrideSearch(
                frozen=frozen,
                ground=ground,
                seed=session.derive_seed(_SEED_KEY, number),
                trials=trials,
            )
            for number in range(seeds)
        ]
        for ground in _SEARCH_GROUNDS
        for legs, frozen in _FROZEN_BY_NAME.items()
    }
    results = _run_searches(session, cases)
    draw_search_curves(session.picture('physics'), results)
    return _search_rows('search', 'from a level walk', results)


def _run_searches(
    session: StudySession, cases: Mapping[tuple[str, str], Sequence[StrideSearch]]
) -> dict[tuple[str, str], list[SearchData]]:
    done = session.run_tasks(
        'searches',
        search_stride,
        {search.key: search for group in cases.values() for search in group},
    )
    return {where: [done[search.key] for search in group] for where, group in cases.items()}


def _search_rows(
    name: str, begin: str, results: Mapping[tuple[str, str], Sequence[SearchData]]
) -> list[StudyRow]:
    """Return a row per search, and a row of the saving per ground."""
    rows = [
        row_info(
            f'{name}_{ground}_{legs}_{number}',
            f'cost of transport in physics of the best stride on {ground}, {legs}, {begin}, '
            f'seed {number}',
            _cost_or_none(result),
            note=_search_note(result),
        )
        for (ground, legs), group in results.items()
        for number, result in enumerate(group)
    ]
    return rows + [_saved_row(name, ground, begin, results) for ground in _SEARCH_GROUNDS]


def _cost_or_none(result: SearchData) -> float | None:
    walk = result['walk']
    return walk['cost_of_transport'] if walk['status'] == OK else None


def _search_note(result: SearchData) -> str:
    """Return the note of a search: trials, speed, slip, lengths and its frozen twin."""
    best, walk, twin = result['best'], result['walk'], result['twin']
    note = (
        f'{result["trials"]} trials, {result["fell"]} fell; {walk["speed"]:.4f} m/s, slip '
        f'{100.0 * walk["slip"]:.1f} %, lengths {100.0 * best["upper"]:.1f} and '
        f'{100.0 * best["lower"]:.1f} cm'
    )
    if twin is None:
        return note
    extended = ' and '.join(f'{best[gene]:.2f}' for gene in EXTENSION_GENES)
    frozen = 'none' if twin['cost_of_transport'] is None else f'{twin["cost_of_transport"]:.3f}'
    return f'{note}, extension {extended}; the same with its lengths frozen {frozen}'


def _saved_row(
    name: str, ground: str, begin: str, results: Mapping[tuple[str, str], Sequence[SearchData]]
) -> StudyRow:
    """Return the row of the mean saving of free over frozen lengths on a ground."""
    costs = {
        legs: np.array(
            [
                math.inf if (c := _cost_or_none(result)) is None else c
                for result in results[ground, legs]
            ]
        )
        for legs in _FROZEN_BY_NAME
    }
    frozen, free = costs['frozen'], costs['free']
    chance = float(mannwhitneyu(free, frozen, alternative='less').pvalue)
    return row_at_most(
        f'{name}_{ground}_saved',
        f'cost of transport in physics on {ground} that free lengths save, {begin}',
        100.0 * (1.0 - float(free.mean() / frozen.mean())),
        MIN_SAVING,
        '%',
        note=f'frozen {frozen.mean():.4f} (deviation {frozen.std():.4f}), free {free.mean():.4f} '
        f'({free.std():.4f}), {len(free)} seeds, p = {chance:.3g}',
    )
