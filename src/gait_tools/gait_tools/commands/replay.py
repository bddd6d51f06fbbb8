# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Run a champion again and compare fitness and hash with its record.

RUN_DIR_OR_CHAMPION is a run directory, a champion.yaml or a bag. On the platform that recorded a
champion, hash and fitness must be equal; on another platform the fitness must agree within 5 %.
`--engine` runs the champion on that engine and compares it with the record of that engine, if the
run used the engine. Of a bag, the command gives the recorded observations to the controller, and
compares the targets with the recorded ones.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
import math
from pathlib import Path
import sys
from typing import TYPE_CHECKING, Any

from gait_tools.commands.common import (
    EXIT_FAILED,
    add_json,
    exit_code,
    print_json,
    print_trial,
    trial_as_json,
)
from gait_tools.commands.trials import (
    TrialOutcome,
    add_run_options,
    check_display_options,
    print_exception,
    run_trials,
    show_trial,
)

if TYPE_CHECKING:
    from gait_core.trial.champion import Champion
    from gait_core.trial.rollout import Rollout
    from gait_core.trial.spec import TrialSpec

FITNESS_TOLERANCE = 0.05
"""Largest relative difference of the fitness on another platform."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'source', metavar='RUN_DIR_OR_CHAMPION', help='run directory, champion.yaml or bag'
    )
    parser.add_argument('--engine', metavar='E', help='engine (default: the recorded one)')
    parser.add_argument(
        '--individual',
        metavar='G/I',
        help='another candidate of the run: generation and number, from 0',
    )
    parser.add_argument(
        '--export',
        metavar='FILE.csv|FILE.yaml|DIR',
        help='write the joint targets (CSV), the gait as a ROS parameter file (YAML) or a bag',
    )
    parser.add_argument(
        '--record', metavar='DIR', help='add a bag per trial, and its line in bags.csv'
    )
    add_run_options(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Replay every repeat of the champion, or a bag through its controller."""
    from gait_core.trial.setup import scene_with_engine
    from gait_tools.bags.read import is_bag

    if is_bag(Path(options.source)):
        return _replay_bag(options)
    check_display_options(options)
    champion = load_champion(Path(options.source), options.engine, options.individual)
    if options.export:
        _check_export(Path(options.export), champion)
    spec = champion.spec
    if options.engine and options.engine != spec.scene.engine:
        spec = replace(spec, scene=scene_with_engine(spec.scene, options.engine))
    outcomes = _run_repeats(options, replace(champion, spec=spec))
    if options.export:
        _export(Path(options.export), replace(champion, spec=spec), outcomes[0])
    show_trial(options, outcomes[0].rollout)
    return _compare_with_record(options, champion, spec, outcomes)


def _run_repeats(options: Namespace, champion: Champion) -> list[TrialOutcome]:
    """Run every trial of a champion; with ``--record`` write a bag of each."""
    from gait_tools.bags.folder import BagFolder

    bags = BagFolder(Path(options.record), champion) if options.record else None
    if bags is not None:
        bags.check()
    keep = bool(options.record or options.export or options.video or options.viewer)
    outcomes = run_trials(champion.specs, ros=options.ros, keep=keep)
    if bags is not None:
        for repeat, outcome in enumerate(outcomes):
            if outcome.rollout is not None:
                bags.write(repeat, outcome.rollout, outcome.result)
    return outcomes


def _compare_with_record(
    options: Namespace, champion: Champion, spec: TrialSpec, outcomes: Sequence[TrialOutcome]
) -> int:
    """Print whether hashes and fitness equal the recorded ones; return the exit status."""
    results = [outcome.result for outcome in outcomes]
    first = results[0]
    fitness = [result.fitness for result in results if result.fitness is not None]
    mean = sum(fitness) / len(fitness) if len(fitness) == len(results) else None
    recorded = champion.fitness if math.isfinite(champion.fitness) else None
    is_equal = (
        mean == recorded
        and tuple(result.trial_hash for result in results) == champion.trial_hashes
    )
    values: dict[str, Any] = trial_as_json(spec, first, outcomes[0].wall_time, outcomes[0].pids)
    values.update(fitness=mean, recorded_fitness=recorded, equal=is_equal)
    if options.json:
        print_json(values)
        print_exception(first)
    else:
        print_trial(values, first.reason)
        print(f'  {"recorded fitness:":19}{"none" if recorded is None else f"{recorded:.4f}"}')
        print(f'  {"equal:":19}{str(is_equal).lower()}')
    if is_equal:
        return exit_code(first.status)
    if spec is not champion.spec:
        print(
            f"gait: the record is of engine '{champion.spec.scene.engine}'; hash and fitness on "
            'another engine differ',
            file=sys.stderr,
        )
        return exit_code(first.status)
    return _explain_difference(champion, first.fingerprint, mean)


def _check_export(path: Path, champion: Champion) -> None:
    """Raise ConfigurationError if the file cannot be written; called before the trials."""
    from gait_core.errors import ConfigurationError
    from gait_tools.bags.write import check_bag, unused_path

    if path.suffix not in ('.csv', '.yaml'):
        check_bag(path)
        return
    if path.suffix == '.yaml' and not math.isfinite(champion.fitness):
        raise ConfigurationError(
            f"'{path}': the candidate ended as {champion.status} and is not a champion"
        )
    if not path.parent.is_dir():
        raise ConfigurationError(f"'{path}': the folder '{path.parent}' does not exist")
    files = [path]
    if path.suffix == '.yaml' and champion.spec.weights:
        files.append(path.with_suffix('.npz'))
    for file in files:
        if file.is_file() or file.is_dir():
            raise ConfigurationError(f"'{file}' exists; nearest valid: '{unused_path(path)}'")


def _export(path: Path, champion: Champion, outcome: TrialOutcome) -> None:
    """Write the champion, its targets or a bag of its trial, by the ending of the path."""
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import write_champion
    from gait_tools.bags.write import write_bag

    if path.suffix == '.yaml':
        try:
            write_champion(path, _with_copied_weights(path, _with_robot_identity(champion)))
        except OSError as error:
            raise ConfigurationError(f"'{path}': {error.strerror}") from error
    elif outcome.rollout is None:
        raise ConfigurationError(f"'{path}': the trial ended before its first tick")
    elif path.suffix == '.csv':
        write_targets_csv(path, outcome.rollout)
    else:
        write_bag(path, outcome.rollout, outcome.result, champion.run)


def write_targets_csv(path: Path, rollout: Rollout) -> None:
    """
    Write the applied joint targets as CSV: ``time_s``, then a column per target [rad or m].

    A row applies for one control period from its time. The numbers keep every bit.
    """
    from gait_core.errors import ConfigurationError
    from gait_core.files.access import write_atomically
    from gait_evolver.run.files import format_csv

    rows: list[Sequence[str]] = [('time_s', *rollout.robot.target_names)]
    for time, row in zip(rollout.time[:-1], rollout.target_positions, strict=True):
        rows.append([repr(float(value)) for value in (time, *row)])
    try:
        write_atomically(path, format_csv(rows))
    except OSError as error:
        raise ConfigurationError(f'trajectory {path}: {error.strerror}') from error


def _with_copied_weights(path: Path, champion: Champion) -> Champion:
    """
    Return the champion with a copy of its weights beside the file.

    A run removes the weights of a former champion.
    """
    from gait_core.files.access import read_bytes, write_atomically

    if not champion.spec.weights:
        return champion
    copy = path.with_suffix('.npz')
    write_atomically(copy, read_bytes(champion.spec.weights))
    return replace(champion, spec=replace(champion.spec, weights=copy.name))


def _with_robot_identity(champion: Champion) -> Champion:
    """Return the champion with the identity of its robot, which early files lack."""
    from gait_core.robot.identity import robot_identity
    from gait_core.robot.load import load_robot

    scene = champion.spec.scene
    return replace(champion, robot=robot_identity(load_robot(scene.robot, scene.draw)))


def _replay_bag(options: Namespace) -> int:
    """Compute the targets of a bag again, print how they differ, and return the exit status."""
    from gait_core.errors import ConfigurationError
    from gait_tools.bags.controller_replay import replay_through_controller
    from gait_tools.bags.read import read_bag

    for name in ('engine', 'individual', 'export', 'record', 'ros', 'video', 'viewer'):
        if getattr(options, name):
            raise ConfigurationError(
                f'--{name} is for runs and champions; the replay of a bag runs its controller '
                'without an engine'
            )
    trial = read_bag(Path(options.source))
    found = replay_through_controller(trial)
    values = {
        'bag': options.source,
        'robot': trial.spec.scene.robot,
        'controller': trial.spec.controller,
        'trial_hash': trial.result.trial_hash,
        **asdict(found),
        'equal': found.is_equal,
    }
    if options.json:
        print_json(values)
    else:
        print(f'{values["robot"]} with {values["controller"]}: {found.periods} control periods')
        if found.is_equal:
            print('  all targets are equal to the recorded ones, to the last bit')
        else:
            print(f'  {found.differing} differ, the first at tick {found.first}')
            print(f'  largest difference: {found.largest:.3g} at {found.target}')
    return 0 if found.is_equal else EXIT_FAILED


def load_champion(source: Path, engine: str | None, individual: str | None = None) -> Champion:
    """
    Return the champion of a file or run directory, or another candidate of the run.

    With an engine it is the record of that engine, if the run used it. ConfigurationError if
    there is no such champion or candidate.
    """
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import check_champion_robot, read_champion
    from gait_core.trial.setup import check_registered
    from gait_evolver.run.logged_candidates import read_logged_candidate
    from gait_evolver.run.store import engine_champion_file

    if individual:
        if not source.is_dir():
            raise ConfigurationError(f'--individual needs a run directory, {source} is not one')
        return read_logged_candidate(source, individual, engine or '')
    file = source / 'champion.yaml' if source.is_dir() else source
    if source.is_dir() and not file.exists():
        raise ConfigurationError(f'{source} has no champion.yaml: the run has no champion yet')
    champion = read_champion(file)
    check_champion_robot(file, champion)
    if engine and engine != champion.spec.scene.engine:
        beside = engine_champion_file(file, check_registered('engines', engine))
        recorded = read_champion(beside) if beside.exists() else champion
        # A copied champion file may be beside files of another run: compare the parameters.
        if recorded.spec.parameters == champion.spec.parameters:
            return recorded
    return champion


def _lacks_file_hash(spec: TrialSpec) -> bool:
    """Return whether a trial reads a file whose content it did not record."""
    from gait_core import registry
    from gait_core.parameters.declaration import make_parameters

    params = make_parameters(registry.controller(spec.controller).Params, spec.parameters)
    return params.with_file_hashes() != params


def _explain_difference(champion: Champion, fingerprint: str, fitness: float | None) -> int:
    """Print why the replay differs; return 0 if the difference is allowed."""
    from gait_core.trial.fingerprint import describe_differences
    from gait_core.trial.sources import sources_hash

    if champion.fingerprint == fingerprint:
        spec = champion.spec
        is_edited = champion.run.get('sources') not in (None, sources_hash(spec))
        file = spec.parameters.get('gait_file') if _lacks_file_hash(spec) else ''
        print(
            'gait: the result differs from the record, although the platform is the same'
            + (': code or robot were changed since' if is_edited else '')
            + (f"; the record has no hash of its gait_file '{file}'" if file else ''),
            file=sys.stderr,
        )
        return EXIT_FAILED
    is_near = fitness is not None and math.isclose(
        fitness, champion.fitness, rel_tol=FITNESS_TOLERANCE, abs_tol=FITNESS_TOLERANCE
    )
    # Early champion files have no fields of the platform.
    differences = describe_differences(champion.platform) if champion.platform else ''
    print(
        'gait: recorded on another platform'
        + (f', which differs in {differences}' if differences else '')
        + '; the fitness '
        + ('agrees within' if is_near else 'differs by more than')
        + f' {FITNESS_TOLERANCE:.0%}',
        file=sys.stderr,
    )
    return 0 if is_near else EXIT_FAILED
