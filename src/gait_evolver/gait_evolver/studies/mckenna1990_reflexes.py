"""Study mckenna1990: reflexes calibrated, then tried off and on under what disturbs a walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from gait_core.canonical import plain, rebuild
from gait_core.champion import gait_parameters, write_parameters
from gait_core.scene import Push
from gait_core.trial import run_trial
from gait_core.trial_spec import OK, Command, TimedCommand, TrialSpec
from gait_evolver.calibration import (
    calibrated,
    events,
    switched,
    undisturbed,
    with_parameters,
)
from gait_evolver.studies.mckenna1990_pictures import draw_survival
from gait_evolver.studies.mckenna1990_walks import CYCLE, drift, trial
from gait_evolver.study import Row, at_least, at_most, near
from gait_evolver.study_session import Session

MARGIN = 0.1
"""By which share of its range in undisturbed walks a threshold lies beyond."""
CYCLES = 10
SEEDS = 20
LEVEL = 0.05
STEPS = 'steps'
_SETS: Mapping[str, Sequence[str]] = {
    'off': (),
    'all': (
        'step_reflex',
        'load_reflex',
        'neighbour_inhibition',
        'elevator_reflex',
        'retraction',
        'foothold_search',
    ),
    'feet': ('elevator_reflex', 'retraction', 'foothold_search'),
    'stepping': ('step_reflex', 'load_reflex', 'neighbour_inhibition'),
}
"""Which reflexes are on, by the name of the set."""
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
        near('check_20_calm', f'reflex events in {cycles} cycles that nothing disturbs',
             float(sum(acted.values())), 0.0, 0.0, note=f'all six on; the walk ended {status}'),
        at_least('check_20_pushed', 'reflex events after a push of 0.5 mN s to the left',
                 float(sum(answered.values())), 1.0,
                 note=', '.join(f'{name} {count}' for name, count in answered.items() if count)),
        at_most('straight', f'heading over {cycles} cycles, held', drift(record, cycles), 10.0,
                'deg'),
    ]  # fmt: skip


def _pushed(spec: TrialSpec, start: float, force: float) -> TrialSpec:
    """Return a walk with a push of 10 ms to the left, followed for 0.3 s."""
    push = Push(start=start, duration=0.01, force=(0.0, force, 0.0))
    return replace(spec, scene=replace(spec.scene, pushes=(push,)), duration=start + 0.3)


def _on(terrain: str, seed: int, **parameters: float) -> TrialSpec:
    scene = {'terrain': {'name': terrain, 'seed': seed, 'parameters': parameters}}
    return trial(CYCLES * CYCLE, scene)


def _steps(rng: np.random.Generator, seed: int) -> TrialSpec:
    return _on('steps', seed)


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
    # On level ground twice the robot's own physics step walks alike, and takes half the time.
    scene = {'friction': float(rng.uniform(0.5, 0.9)), 'physics_step': 1.0 / 19200.0}
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
    result = run_trial(rebuild(TrialSpec, spec, 'spec'))
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
    pieces: dict[str, Any] = {}
    for number in range(2 if session.quick else SEEDS):
        seed = session.seed_of(33, key, number)
        spec = replace(make(np.random.default_rng(seed), seed), seed=seed)
        off = dict.fromkeys(_SETS['all'], False)
        for one in _sets_of(name):
            on = dict.fromkeys(_SETS[one], True)
            walk = with_parameters(spec, {**thresholds, **off, **on})
            pieces[f'{one}, {number}'] = plain(walk)
    found = session.work_off(f'reflexes_{name}', last, pieces)
    runs = {
        one: [found[key] for key in pieces if key.startswith(f'{one}, ')] for one in _sets_of(name)
    }
    lasted = {one: [run['time'] for run in of] for one, of in runs.items()}
    draw_survival(session.picture(f'reflexes_{name}'), {name: lasted})
    rows = [_no_worse(name, one, runs['off'], runs[one]) for one in runs if one != 'off']
    if name == STEPS and not session.quick:
        rows.append(_better(runs))
    return rows


def _sets_of(disturbance: str) -> Sequence[str]:
    return tuple(_SETS) if disturbance == STEPS else ('off', 'all')


_Runs = Sequence[Mapping[str, Any]]


def _changed(before: _Runs, after: _Runs) -> tuple[int, int]:
    """Return how many runs reflexes save from not finishing, and how many they cost."""
    pairs = [(a['status'] == OK, b['status'] == OK) for a, b in zip(before, after, strict=True)]
    return sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)


def _chance(these: int, those: int) -> float:
    """Return the chance of so many of these or more, by the sign test."""
    if these + those == 0:
        return 1.0
    return float(binomtest(these, these + those, 0.5, 'greater').pvalue)


def _no_worse(name: str, reflex_set: str, before: _Runs, after: _Runs) -> Row:
    saved, lost = _changed(before, after)
    done = [sum(run['status'] == OK for run in each) for each in (before, after)]
    ways = [100.0 * float(np.mean([run['way'] for run in each])) for each in (before, after)]
    return at_least(
        f'{name}_{reflex_set}',
        f'{name.replace("_", " ")}, reflexes {reflex_set}: chance of so many more falls if they '
        'change nothing',
        _chance(lost, saved),
        LEVEL,
        note=f'ten cycles without a fall: {done[1]} of {len(after)}, {done[0]} without reflexes; '
        f'{saved} saved, {lost} lost; mean way {ways[1]:.1f} cm, {ways[0]:.1f} without',
    )


def _better(runs: Mapping[str, _Runs]) -> Row:
    """Return the row on what reflexes gain on steps, differing with what was measured of each."""
    saved, lost = _changed(runs['off'], runs['all'])
    parts = ', '.join(
        '{}: {} saved and {} lost'.format(one, *_changed(runs['off'], runs[one]))
        for one in runs
        if one not in ('off', 'all')
    )
    fallen = [1000.0 * run['time'] for run in runs['all'] if run['status'] != OK]
    tipped = sum('tilts' in run['reason'] for run in runs['all'])
    when = f'{np.median(fallen):.0f} ms' if fallen else 'none'
    row = at_most(
        'reflexes_gain',
        '2 mm steps: chance of so many more finished runs if reflexes changed nothing',
        _chance(saved, lost),
        LEVEL,
    )
    return row.unless(
        f'{saved} runs saved, {lost} lost; apart: {parts}; with all on the falls come at {when} '
        f'in the median, {tipped} of {len(fallen)} by tilting over: no reflex acts on the posture',
        'mckenna1990_reflexes_steps.png',
    )
