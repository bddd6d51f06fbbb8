"""Study mckenna1990: reflexes calibrated, then tried off and on under what disturbs a walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from gait_core import registry
from gait_core.parameters.plain_data import plain
from gait_core.parameters.schema import read_value
from gait_core.trial.champion import gait_parameters, write_parameters
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Push
from gait_core.trial.spec import OK, Command, TimedCommand, TrialSpec
from gait_studies.mckenna1990.pictures import draw_survival
from gait_studies.mckenna1990.walks import CYCLE, drift, trial
from gait_tools.calibration import (
    calibrated,
    events,
    switched,
    undisturbed,
    with_parameters,
)
from gait_tools.study.definition import Row, at_least, at_most, near
from gait_tools.study.session import Session

MARGIN = 0.1
"""By which share of its range in undisturbed walks a threshold lies beyond."""
CYCLES = 10
SEEDS = 20
STEPS_SEEDS, PARTS_SEEDS = 40, 10
"""On steps, where few walks without reflexes fall: of none and all on, and of parts of them."""
LEVEL = 0.05
STEPS = 'steps'
_FEET = ('elevator_reflex', 'retraction', 'foothold_search')
_STEPPING = ('step_reflex', 'load_reflex', 'neighbour_inhibition')
_ALL = (*_STEPPING, *_FEET, 'posture_reflex')
_SETS: Mapping[str, Mapping[str, Any]] = {
    'off': {},
    'all': dict.fromkeys(_ALL, True),
    'posture': {'posture_reflex': True},
    'the others': dict.fromkeys((*_STEPPING, *_FEET), True),
    'published': registry.controller('insect_gait').presets['published_reflexes'],
}
"""Parameters of each set of reflexes; those that its walks differ in from ones without any."""
_FORWARD, _SLOW = (0.06, 0.0, 0.0), (0.015, 0.0, 0.0)


def calibration(session: Session) -> Sequence[Row]:
    """Calibrate; measure check 20, and that the walk keeps straight meanwhile."""
    seconds = 1.0 if session.quick else 3.0
    walks = undisturbed(
        {
            'tripod': trial(seconds),
            'wave': trial(max(1.5, seconds), parameters={'period_scale': 3.0}),
        }
    )
    found = calibrated(list(walks.values()), MARGIN)
    write_parameters(session.folder / 'thresholds.yaml', found)
    cycles = 10 if session.quick else 20
    walk = with_parameters(switched(trial(CYCLE * (cycles + 1)), True), found)
    status, acted = events(walk)
    record = session.record(walk)
    _, answered = events(_pushed(walk, 0.3, 0.05))
    return [
        near(
            'check_20_calm',
            f'reflex events in {cycles} cycles that nothing disturbs',
            float(sum(acted.values())),
            0.0,
            0.0,
            note=f'all on; the walk ended {status}',
        ),
        at_least(
            'check_20_pushed',
            'reflex events after a push of 0.5 mN s to the left',
            float(sum(answered.values())),
            1.0,
            note=', '.join(f'{name} {count}' for name, count in answered.items() if count),
        ),
        at_most(
            'straight', f'heading over {cycles} cycles, held', drift(record, cycles), 10.0, 'deg'
        ),
    ]


def _pushed(spec: TrialSpec, start: float, force: float) -> TrialSpec:
    """Return a walk with a push of 10 ms to the left, followed for 0.3 s."""
    push = Push(start=start, duration=0.01, force=(0.0, force, 0.0))
    return replace(spec, scene=replace(spec.scene, pushes=(push,)), duration=start + 0.3)


# Twice the robot's own physics step walks alike, and takes half the time.
_STEP = 1.0 / 19200.0


def _on(terrain: str, seed: int, **parameters: float) -> TrialSpec:
    scene = {
        'terrain': {'name': terrain, 'seed': seed, 'parameters': parameters},
        'physics_step': _STEP,
    }
    return trial(CYCLES * CYCLE, scene)


def _steps(rng: np.random.Generator, seed: int) -> TrialSpec:
    """Return a walk over steps, up or down by the seed, that begin anywhere ahead of its feet."""
    # Two or three risers in ten cycles make but a few different ways up and down.
    return _on('steps', seed, start=float(rng.uniform(0.03, 0.06)))


def _holes(rng: np.random.Generator, seed: int) -> TrialSpec:
    return _on('bumps', seed, height=-0.003)


def _missing(rng: np.random.Generator, seed: int) -> TrialSpec:
    """Return a walk with a stump for one leg, on ground of a friction of its own."""
    spec = _level(rng)
    return replace(spec, scene=replace(spec.scene, draw=int(rng.integers(1, 7))))


def _push(rng: np.random.Generator, seed: int) -> TrialSpec:
    spec, angle = _level(rng), rng.uniform(0.0, 2.0 * np.pi)
    force = 0.06 * np.array([np.cos(angle), np.sin(angle)])
    push = Push(
        start=float(rng.uniform(0.3, 0.5)),
        duration=0.01,
        force=(float(force[0]), float(force[1]), 0.0),
    )
    return replace(spec, scene=replace(spec.scene, pushes=(push,)))


def _turn(rng: np.random.Generator, seed: int) -> TrialSpec:
    yaw = float(rng.uniform(2.0, 4.0) * rng.choice([-1.0, 1.0]))
    return _script(_level(rng), [(0.0, (0.06, 0.0, yaw))])


def _speed(rng: np.random.Generator, seed: int) -> TrialSpec:
    first, second = sorted(rng.uniform(0.2, 0.8, 2).tolist())
    return _script(_level(rng), [(0.0, _FORWARD), (first, _SLOW), (second, _FORWARD)])


def _level(rng: np.random.Generator) -> TrialSpec:
    scene = {'friction': float(rng.uniform(0.5, 0.9)), 'physics_step': _STEP}
    return trial(CYCLES * CYCLE, scene)


def _script(
    spec: TrialSpec, commands: Sequence[tuple[float, tuple[float, float, float]]]
) -> TrialSpec:
    script = tuple(
        TimedCommand(time=time, command=Command(velocity=velocity)) for time, velocity in commands
    )
    return replace(spec, script=script)


DISTURBED: Mapping[str, Callable[[np.random.Generator, int], TrialSpec]] = {
    STEPS: _steps,
    'holes': _holes,
    'missing_leg': _missing,
    'push': _push,
    'turning': _turn,
    'speed_changes': _speed,
}
"""What disturbs a walk, drawn anew with every seed."""


def last(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return status, reason, time [s] and way ahead [m] of a trial given as plain data."""
    result = run_trial(read_value(TrialSpec, spec, 'spec'))
    return {
        'status': result.status,
        'time': result.metrics.get('duration_s', 0.0),
        'way': result.metrics.get('displacement_x_m', 0.0),
        'reason': result.reason,
    }


def reflexes(session: Session, name: str) -> Sequence[Row]:
    """Compare ten cycles with reflexes off and on, seed by seed, under one disturbance."""
    thresholds = gait_parameters(session.folder / 'thresholds.yaml')
    make, key = DISTURBED[name], list(DISTURBED).index(name)
    off = dict.fromkeys(_ALL, False)
    pieces: dict[str, Any] = {}
    for one in _sets_of(name):
        for number in range(_seeds_of(name, one, session.quick)):
            seed = session.seed_of(33, key, number)
            spec = replace(make(np.random.default_rng(seed), seed), seed=seed)
            walk = with_parameters(spec, {**thresholds, **off, **_SETS[one]})
            pieces[f'{one}, {number}'] = plain(walk)
    found = session.work_off(f'reflexes_{name}', last, pieces)
    runs = {
        one: [found[key] for key in pieces if key.startswith(f'{one}, ')] for one in _sets_of(name)
    }
    lasted = {one: [run['time'] for run in of] for one, of in runs.items()}
    draw_survival(session.picture(f'reflexes_{name}'), {name: lasted})
    rows = [_no_worse(name, runs)]
    if name == STEPS and not session.quick:
        rows.append(_better(runs))
    return rows


def _sets_of(disturbance: str) -> Sequence[str]:
    return tuple(_SETS) if disturbance == STEPS else ('off', 'all')


def _seeds_of(disturbance: str, reflex_set: str, quick: bool) -> int:
    if quick:
        return 2
    if disturbance != STEPS:
        return SEEDS
    return STEPS_SEEDS if reflex_set in ('off', 'all') else PARTS_SEEDS


_Runs = Sequence[Mapping[str, Any]]


def _changed(before: _Runs, after: _Runs) -> tuple[int, int]:
    """Return how many runs of the seeds of both are saved from not finishing, and lost."""
    pairs = [(a['status'] == OK, b['status'] == OK) for a, b in zip(before, after, strict=False)]
    return sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)


def _chance(these: int, those: int) -> float:
    """Return the chance of so many of these or more, by the sign test."""
    if these + those == 0:
        return 1.0
    return float(binomtest(these, these + those, 0.5, 'greater').pvalue)


def _no_worse(name: str, runs: Mapping[str, _Runs]) -> Row:
    before, after = runs['off'], runs['all']
    saved, lost = _changed(before, after)
    done = [sum(run['status'] == OK for run in each) for each in (before, after)]
    ways = [100.0 * float(np.mean([run['way'] for run in each])) for each in (before, after)]
    return at_least(
        f'{name}_all',
        f'{name.replace("_", " ")}, all reflexes on: chance of so many more falls if they change '
        'nothing',
        _chance(lost, saved),
        LEVEL,
        note=f'ten cycles without a fall: {done[1]} of {len(after)}, {done[0]} without reflexes; '
        f'{saved} saved, {lost} lost; mean way {ways[1]:.1f} cm, {ways[0]:.1f} without',
    )


def _better(runs: Mapping[str, _Runs]) -> Row:
    """Return the row on what reflexes gain on steps, with what each set of them does."""
    saved, lost = _changed(runs['off'], runs['all'])
    parts = '; '.join(
        '{}: {} of {} finish, {} saved and {} lost'.format(
            one, sum(run['status'] == OK for run in of), len(of), *_changed(runs['off'], of)
        )
        for one, of in runs.items()
    )
    fallen = [1000.0 * run['time'] for run in runs['all'] if run['status'] != OK]
    tipped = sum('tilts' in run['reason'] for run in runs['all'])
    when = f'at {np.median(fallen):.0f} ms in the median' if fallen else 'never'
    row = at_most(
        'reflexes_gain',
        '2 mm steps: chance of so many more finished runs if reflexes changed nothing',
        _chance(saved, lost),
        LEVEL,
        note=parts,
    )
    return row.unless(
        f'with all on walks fall {when}, {tipped} of {len(fallen)} by tilting over',
        'mckenna1990_reflexes_steps.png',
    )
