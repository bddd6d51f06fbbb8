# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: calibration of reflexes, and disturbed walks with and without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from gait_core import registry
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.trial.champion import read_gait_parameters, write_gait_parameters
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Push
from gait_core.trial.spec import OK, Command, TimedCommand, TrialSpec
from gait_studies.mckenna1990.pictures import draw_survival
from gait_studies.mckenna1990.walks import TRIPOD_CYCLE, heading_drift, roach_trial
from gait_tools.calibration import (
    calibrate_thresholds,
    run_and_count_reflexes,
    unique_walks_without_reflexes,
    with_parameters,
    with_reflexes,
)
from gait_tools.study.definition import (
    StudyRow,
    row_at_least,
    row_at_most,
    row_near,
    row_p_value,
)
from gait_tools.study.session import StudySession

THRESHOLD_MARGIN = 0.1
"""Distance of a threshold beyond the range of undisturbed walks, as a share of that range."""
CYCLE_COUNT = 10
SEED_COUNT = 20
STEPS_SEED_COUNT, PARTS_SEED_COUNT = 40, 10
"""Seeds on steps, where few walks fall: with all reflexes on or off, and with some of them."""
SIGNIFICANCE_LEVEL = 0.05
STEPS_DISTURBANCE = 'steps'
_FOOT_REFLEXES = ('elevator_reflex', 'retraction', 'foothold_search')
_STEP_REFLEXES = ('step_reflex', 'load_reflex', 'neighbour_inhibition')
_ALL_REFLEXES = (*_STEP_REFLEXES, *_FOOT_REFLEXES, 'posture_reflex')
_REFLEX_SETS: Mapping[str, Mapping[str, Any]] = {
    'off': {},
    'all': dict.fromkeys(_ALL_REFLEXES, True),
    'posture': {'posture_reflex': True},
    'the others': dict.fromkeys((*_STEP_REFLEXES, *_FOOT_REFLEXES), True),
    'published': registry.controller('insect_gait').presets['published_reflexes'],
}
"""Parameters of each set of reflexes, in addition to those of a walk without reflexes."""
_FORWARD_VELOCITY, _SLOW_VELOCITY = (0.06, 0.0, 0.0), (0.015, 0.0, 0.0)


def measure_calibration(session: StudySession) -> Sequence[StudyRow]:
    """Calibrate thresholds; measure check 20 and the heading of a walk with all reflexes."""
    seconds = 1.0 if session.quick else 3.0
    walks = unique_walks_without_reflexes(
        {
            'tripod': roach_trial(seconds),
            'wave': roach_trial(max(1.5, seconds), parameters={'period_scale': 3.0}),
        }
    )
    thresholds = calibrate_thresholds(list(walks.values()), THRESHOLD_MARGIN)
    write_gait_parameters(session.folder / 'thresholds.yaml', thresholds)
    cycles = 10 if session.quick else 20
    walk = with_parameters(
        with_reflexes(roach_trial(TRIPOD_CYCLE * (cycles + 1)), True), thresholds
    )
    status, acted = run_and_count_reflexes(walk)
    record = session.record(walk)
    _, answered = run_and_count_reflexes(_with_push(walk, 0.3, 0.05))
    return [
        row_near(
            'check_20_calm',
            f'reflex events in {cycles} cycles that nothing disturbs',
            float(sum(acted.values())),
            0.0,
            0.0,
            note=f'all on; the walk ended {status}',
        ),
        row_at_least(
            'check_20_pushed',
            'reflex events after a push of 0.5 mN s to the left',
            float(sum(answered.values())),
            1.0,
            note=', '.join(f'{name} {count}' for name, count in answered.items() if count),
        ),
        row_at_most(
            'straight',
            f'drift of a held heading over {cycles} cycles',
            heading_drift(record, cycles),
            10.0,
            'deg',
        ),
    ]


def _with_push(spec: TrialSpec, start: float, force: float) -> TrialSpec:
    """Return a walk with a push of 10 ms to the left that ends 0.3 s after it."""
    push = Push(start=start, duration=0.01, force=(0.0, force, 0.0))
    return replace(spec, scene=replace(spec.scene, pushes=(push,)), duration=start + 0.3)


# Twice the robot's default physics step gives similar walks in half the time.
_PHYSICS_STEP = 1.0 / 19200.0


def _terrain_trial(terrain: str, seed: int, **parameters: float) -> TrialSpec:
    scene = {
        'terrain': {'name': terrain, 'seed': seed, 'parameters': parameters},
        'physics_step': _PHYSICS_STEP,
    }
    return roach_trial(CYCLE_COUNT * TRIPOD_CYCLE, scene)


def _steps_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    """Return a walk over steps, up or down by the seed, that begin at a random distance."""
    # Ten cycles cross two or three risers only: the random start makes the walks differ.
    return _terrain_trial('steps', seed, start=float(rng.uniform(0.03, 0.06)))


def _holes_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    return _terrain_trial('bumps', seed, height=-0.003)


def _missing_leg_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    """Return a walk with one leg replaced by a stump, at a random friction."""
    spec = _level_trial(rng)
    return replace(spec, scene=replace(spec.scene, draw=int(rng.integers(1, 7))))


def _push_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    spec, angle = _level_trial(rng), rng.uniform(0.0, 2.0 * np.pi)
    force = 0.06 * np.array([np.cos(angle), np.sin(angle)])
    push = Push(
        start=float(rng.uniform(0.3, 0.5)),
        duration=0.01,
        force=(float(force[0]), float(force[1]), 0.0),
    )
    return replace(spec, scene=replace(spec.scene, pushes=(push,)))


def _turning_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    yaw = float(rng.uniform(2.0, 4.0) * rng.choice([-1.0, 1.0]))
    return _with_script(_level_trial(rng), [(0.0, (0.06, 0.0, yaw))])


def _speed_change_trial(rng: np.random.Generator, seed: int) -> TrialSpec:
    first, second = sorted(rng.uniform(0.2, 0.8, 2).tolist())
    return _with_script(
        _level_trial(rng),
        [(0.0, _FORWARD_VELOCITY), (first, _SLOW_VELOCITY), (second, _FORWARD_VELOCITY)],
    )


def _level_trial(rng: np.random.Generator) -> TrialSpec:
    scene = {'friction': float(rng.uniform(0.5, 0.9)), 'physics_step': _PHYSICS_STEP}
    return roach_trial(CYCLE_COUNT * TRIPOD_CYCLE, scene)


def _with_script(
    spec: TrialSpec, commands: Sequence[tuple[float, tuple[float, float, float]]]
) -> TrialSpec:
    script = tuple(
        TimedCommand(time=time, command=Command(velocity=velocity)) for time, velocity in commands
    )
    return replace(spec, script=script)


DISTURBANCES: Mapping[str, Callable[[np.random.Generator, int], TrialSpec]] = {
    STEPS_DISTURBANCE: _steps_trial,
    'holes': _holes_trial,
    'missing_leg': _missing_leg_trial,
    'push': _push_trial,
    'turning': _turning_trial,
    'speed_changes': _speed_change_trial,
}
"""Disturbances of a walk by name; each draws its values from the seed."""


def run_plain_trial(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Run a trial given as plain data; return status, reason, time [s], distance ahead [m]."""
    result = run_trial(read_value(TrialSpec, spec, 'spec'))
    return {
        'status': result.status,
        'time': result.metrics.get('duration_s', 0.0),
        'way': result.metrics.get('displacement_x_m', 0.0),
        'reason': result.reason,
    }


def measure_reflexes(session: StudySession, name: str) -> Sequence[StudyRow]:
    """Measure ten cycles with and without reflexes, seed by seed, under one disturbance."""
    thresholds = read_gait_parameters(session.folder / 'thresholds.yaml')
    make, key = DISTURBANCES[name], list(DISTURBANCES).index(name)
    off = dict.fromkeys(_ALL_REFLEXES, False)
    tasks: dict[str, Any] = {}
    for reflex_set in _reflex_sets(name):
        for number in range(_count_seeds(name, reflex_set, session.quick)):
            seed = session.derive_seed(33, key, number)
            spec = replace(make(np.random.default_rng(seed), seed), seed=seed)
            walk = with_parameters(spec, {**thresholds, **off, **_REFLEX_SETS[reflex_set]})
            tasks[f'{reflex_set}, {number}'] = to_plain_data(walk)
    results = session.run_tasks(f'reflexes_{name}', run_plain_trial, tasks)
    runs = {
        reflex_set: [results[key] for key in tasks if key.startswith(f'{reflex_set}, ')]
        for reflex_set in _reflex_sets(name)
    }
    durations = {
        reflex_set: [run['time'] for run in set_runs] for reflex_set, set_runs in runs.items()
    }
    draw_survival(session.picture(f'reflexes_{name}'), {name: durations})
    rows = [no_worse_row(name, runs)]
    if name == STEPS_DISTURBANCE and not session.quick:
        rows.append(gain_row(runs))
    return rows


def _reflex_sets(disturbance: str) -> Sequence[str]:
    return tuple(_REFLEX_SETS) if disturbance == STEPS_DISTURBANCE else ('off', 'all')


def _count_seeds(disturbance: str, reflex_set: str, quick: bool) -> int:
    if quick:
        return 2
    if disturbance != STEPS_DISTURBANCE:
        return SEED_COUNT
    return STEPS_SEED_COUNT if reflex_set in ('off', 'all') else PARTS_SEED_COUNT


_PlainResults = Sequence[Mapping[str, Any]]


def _count_saved_and_lost(before: _PlainResults, after: _PlainResults) -> tuple[int, int]:
    """Return how many seeds finish only after, and how many finish only before a change."""
    pairs = [(a['status'] == OK, b['status'] == OK) for a, b in zip(before, after, strict=False)]
    return sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)


def _sign_test(successes: int, failures: int) -> float:
    """Return the p-value of a one-sided sign test: so many successes or more, by chance."""
    if successes + failures == 0:
        return 1.0
    return float(binomtest(successes, successes + failures, 0.5, 'greater').pvalue)


def no_worse_row(name: str, runs: Mapping[str, _PlainResults]) -> StudyRow:
    """Return the row of the test that all reflexes together do not cause more falls."""
    before, after = runs['off'], runs['all']
    saved, lost = _count_saved_and_lost(before, after)
    done = [sum(run['status'] == OK for run in each) for each in (before, after)]
    distances = [100.0 * float(np.mean([run['way'] for run in each])) for each in (before, after)]
    return row_p_value(
        f'{name}_all',
        f'{name.replace("_", " ")}: p-value of the additional falls with all reflexes on',
        _sign_test(lost, saved),
        SIGNIFICANCE_LEVEL,
        _sign_test(len(after), 0),
        note=f'ten cycles without a fall: {done[1]} of {len(after)}, {done[0]} without reflexes; '
        f'{saved} saved, {lost} lost; mean distance {distances[1]:.1f} cm, '
        f'{distances[0]:.1f} without',
    )


def gain_row(runs: Mapping[str, _PlainResults]) -> StudyRow:
    """
    Return the row of the gain by reflexes on steps; its note has the result of each set.

    Without a gain it differs if most of the falls with all reflexes are by tilting over.
    """
    saved, lost = _count_saved_and_lost(runs['off'], runs['all'])
    parts = '; '.join(
        '{}: {} of {} finish, {} saved and {} lost'.format(
            reflex_set,
            sum(run['status'] == OK for run in set_runs),
            len(set_runs),
            *_count_saved_and_lost(runs['off'], set_runs),
        )
        for reflex_set, set_runs in runs.items()
    )
    fallen = [1000.0 * run['time'] for run in runs['all'] if run['status'] != OK]
    tipped = sum('tilts' in run['reason'] for run in runs['all'])
    when = f'at {np.median(fallen):.0f} ms in the median' if fallen else 'never'
    row = row_at_most(
        'reflexes_gain',
        '2 mm steps: p-value of the additional runs that finish with all reflexes on',
        _sign_test(saved, lost),
        SIGNIFICANCE_LEVEL,
        note=parts,
    )
    return row.differ_if_failed(
        2 * tipped > len(fallen),
        f'with all on walks fall {when}, {tipped} of {len(fallen)} by tilting over',
        'mckenna1990_reflexes_steps.png',
    )
