"""
Run a champion again and say whether fitness and hash equal its record.

RUN_DIR_OR_CHAMPION is the folder of a run or a champion.yaml. Hashes are comparable on the
platform that recorded them only; on another one the fitness must agree within a tolerance. With
`--engine` it runs on another engine, where nothing can be equal, unless the run was spread over
several engines: what it did on that one is then its record. `--export` writes the trial for other
tools: FILE.csv the joint trajectory, any other name a rosbag2 directory (MCAP).
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
    from gait_core.trial_spec import TrialSpec

TOLERANCE = 0.05
"""Relative difference of the fitness that another platform may make."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('source', metavar='RUN_DIR_OR_CHAMPION')
    parser.add_argument('--engine', metavar='E', help='run it on this one')
    parser.add_argument(
        '--export', metavar='FILE.csv|DIR', help='joint trajectory as CSV, or a rosbag2 directory'
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Replay every repeat of the champion."""
    from gait_core.trial import run_trial
    from gait_evolver.plan import scene_on

    champion = load(Path(options.source), options.engine)
    spec = champion.spec
    if options.engine and options.engine != spec.scene.engine:
        spec = replace(spec, scene=scene_on(spec.scene, options.engine))
    results = [run_trial(replace(spec, seed=seed)) for seed in champion.seeds]
    if options.export:
        _export(Path(options.export), replace(spec, seed=champion.seeds[0]))
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
    if spec is not champion.spec:
        print(
            f"gait: the record is of '{champion.spec.scene.engine}': on another engine equality "
            'is not to be expected',
            file=sys.stderr,
        )
        return exit_code(first.status)
    return _explain(champion, first.fingerprint, mean)


def _export(path: Path, spec: TrialSpec) -> None:
    from gait_core.trial import run_loop
    from gait_evolver.export import write_bag, write_trajectory

    write = write_trajectory if path.suffix == '.csv' else write_bag
    write(path, run_loop(spec).rollout())


def load(source: Path, engine: str | None) -> Champion:
    """
    Return the champion of a file or run directory, as recorded on an engine if it was.

    ConfigurationError if there is none.
    """
    from gait_core.champion import read_champion
    from gait_core.errors import ConfigurationError
    from gait_core.trial_setup import check_registered
    from gait_evolver.run_store import champion_on

    file = source / 'champion.yaml' if source.is_dir() else source
    if source.is_dir() and not file.exists():
        raise ConfigurationError(f'{source} has no champion.yaml: no individual won yet')
    champion = read_champion(file)
    if engine and engine != champion.spec.scene.engine:
        beside = champion_on(file, check_registered('engines', engine))
        recorded = read_champion(beside) if beside.exists() else champion
        # A file that was copied here may stand beside those of another run.
        if recorded.spec.parameters == champion.spec.parameters:
            return recorded
    return champion


def _explain(champion: Champion, fingerprint: str, fitness: float | None) -> int:
    """Say why the replay differs; return 0 where it may."""
    from gait_core.sources import sources_hash

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
