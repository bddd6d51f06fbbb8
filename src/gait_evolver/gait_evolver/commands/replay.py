"""
Run a champion again and say whether fitness and hash equal its record.

RUN_DIR_OR_CHAMPION is the folder of a run or a champion.yaml. Hashes are comparable on the
platform that recorded them only; on another one the fitness must agree within a tolerance.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
import math
from pathlib import Path
import sys
from typing import TYPE_CHECKING, Any

from gait_evolver.commands.common import (
    FAILED,
    add_json,
    exit_code,
    print_json,
    print_trial,
    trial_object,
)

if TYPE_CHECKING:
    from gait_core.champion import Champion

TOLERANCE = 0.05
"""Relative difference of the fitness that another platform may make."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('source', metavar='RUN_DIR_OR_CHAMPION')
    parser.add_argument('--engine', metavar='E', help='another engine: nothing can then be equal')
    add_json(parser)


def run(options: Namespace) -> int:
    """Replay every repeat of the champion."""
    from gait_core.trial import run_trial

    champion = load(Path(options.source))
    spec = champion.spec
    if options.engine and options.engine != spec.scene.engine:
        spec = _on_engine(spec, options.engine)
    results = [run_trial(replace(spec, seed=seed)) for seed in champion.seeds]
    first = results[0]
    fitness = [result.fitness for result in results if result.fitness is not None]
    mean = sum(fitness) / len(fitness) if len(fitness) == len(results) else None
    equal = (
        mean == champion.fitness
        and tuple(result.trial_hash for result in results) == champion.trial_hashes
    )
    values: dict[str, Any] = trial_object(spec, first, first.wall_time)
    values.update(fitness=mean, recorded_fitness=champion.fitness, equal=equal)
    if options.json:
        print_json(values)
    else:
        print_trial(values, first.reason)
        print(f'  {"recorded fitness:":19}{champion.fitness:.4f}')
        print(f'  {"equal:":19}{str(equal).lower()}')
    if equal:
        return exit_code(first.status)
    return _explain(champion, first.fingerprint, mean, spec is not champion.spec)


def load(source: Path) -> Champion:
    """Return the champion of a file or run directory; ConfigurationError if there is none."""
    from gait_core.champion import read_champion
    from gait_core.errors import ConfigurationError

    if source.is_dir():
        file = source / 'champion.yaml'
        if not file.exists():
            raise ConfigurationError(f'{source} has no champion.yaml: no individual won yet')
        return read_champion(file)
    return read_champion(source)


def _on_engine(spec: Any, engine: str) -> Any:
    from gait_core.canonical import plain
    from gait_core.trial_setup import make_scene

    scene = {
        key: value
        for key, value in plain(spec.scene).items()
        if key not in ('robot', 'engine_options')
    }
    return replace(spec, scene=make_scene(spec.scene.robot, {**scene, 'engine': engine}))


def _explain(champion: Champion, fingerprint: str, fitness: float | None, changed: bool) -> int:
    """Say why the replay differs; return 0 where it may."""
    from gait_core.sources import sources_hash

    if changed:
        print('gait: another engine than the recorded one', file=sys.stderr)
        return 0
    if champion.fingerprint == fingerprint:
        spec = champion.spec
        now = sources_hash(spec.scene.robot, spec.controller, spec.scene.engine)
        edited = champion.run.get('sources') not in (None, now)
        print(
            'gait: not equal, on the platform that recorded it'
            + (': code or robot were changed since' if edited else ''),
            file=sys.stderr,
        )
        return FAILED
    near = fitness is not None and math.isclose(
        fitness, champion.fitness, rel_tol=TOLERANCE, abs_tol=TOLERANCE
    )
    print(
        'gait: recorded on another platform; the fitness '
        + ('agrees within' if near else 'differs by more than')
        + f' {TOLERANCE:.0%}',
        file=sys.stderr,
    )
    return 0 if near else FAILED
