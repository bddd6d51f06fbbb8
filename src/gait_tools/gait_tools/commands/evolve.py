# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Search for a better gait.

EXPERIMENT is a name (`gait list experiments`) or a YAML file. After Ctrl-C, a closed terminal or
kill -9, `--run-dir DIR --resume` continues the run. `--set` changes keys of the file, such as
optimizer.settings.elites=3; gait.NAME fixes a parameter that is not searched.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
import shlex
import sys
from typing import TYPE_CHECKING, Any

from gait_tools.commands.common import (
    EXIT_FAILED,
    add_settings,
    check_set_once,
    option_words,
    print_json,
)

if TYPE_CHECKING:
    from gait_core.contracts import Evaluator
    from gait_core.errors import RunStopped
    from gait_evolver.experiment import Experiment
    from gait_evolver.plan import Plan
    from gait_evolver.run.log import TrialRow
    from gait_evolver.run.store import RunStore


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'experiment',
        metavar='EXPERIMENT',
        nargs='?',
        help='name or YAML file; none with --resume',
    )
    parser.add_argument(
        '--generations',
        type=int,
        metavar='N',
        help="number of generations in total (default: the experiment's)",
    )
    parser.add_argument(
        '--workers',
        type=int,
        default=0,
        metavar='N',
        help='number of workers; 0, the default: one per processor',
    )
    parser.add_argument('--evaluator', metavar='E', help='evaluator: local, ros or ray')
    parser.add_argument(
        '--address',
        default='',
        metavar='HOST:PORT',
        help='head of a Ray cluster, for evaluator ray (default: a Ray of this machine)',
    )
    parser.add_argument(
        '--engine', metavar='E', help="engine of all trials (default: the experiment's)"
    )
    parser.add_argument(
        '--seed', type=int, metavar='N', help="seed of the run (default: the experiment's)"
    )
    parser.add_argument(
        '--run-dir', metavar='DIR', help='run directory (default: a new one in ./runs)'
    )
    parser.add_argument('--resume', action='store_true', help='continue the run in --run-dir')
    parser.add_argument(
        '--skip-trial',
        action='append',
        default=[],
        metavar='ID',
        help='with --resume: leave out this trial, in which workers die, and record it as skipped',
    )
    add_settings(parser, 'population=30')


def run(options: Namespace) -> int:
    """Run or resume an evolution."""
    from gait_core.errors import RunStopped
    from gait_evolver.loop import Evolution, evolution_summary
    from gait_tools.progress import make_progress_display

    # The evaluator first: an error in its name must not leave an empty run directory.
    if options.resume:
        _check_resumable(options)
        evaluator = make_evaluator(options, _recorded_experiment(options))
        store, recorded = _reopen_store(options)
    else:
        _refuse_skipping(options)
        plan = plan_from_options(options)
        evaluator = make_evaluator(options, plan.experiment)
        store, recorded = _create_store(options, plan), []
        if plan.ignored_gait:
            print(f'gait: {plan.ignored_gait}', file=sys.stderr)
    stopped: KeyboardInterrupt | RunStopped | None = None
    display = make_progress_display()
    evolution = Evolution(
        store, evaluator, recorded, display, say=display.note, skipped=options.skip_trial
    )
    try:
        evolution.run()
    except (KeyboardInterrupt, RunStopped) as error:
        stopped = error
        # Before any output: the terminal may be closed.
        remedy = _record_stop(store, error, options)
    finally:
        evaluator.close()
        with suppress(OSError):
            display.close()
        store.close()
    values = evolution_summary(store, evolution.progress)
    # With a closed terminal the command that resumes is in events.log.
    with suppress(OSError) if stopped else nullcontext():
        if options.json:
            print_json(values)
        else:
            _print_summary(values, evolution.progress.stop_reason)
        if stopped:
            print(f'gait: {remedy}', file=sys.stderr, flush=True)
    if isinstance(stopped, KeyboardInterrupt):
        raise stopped
    return EXIT_FAILED if stopped or values['best_fitness'] is None else 0


def _record_stop(
    store: RunStore, error: KeyboardInterrupt | RunStopped, options: Namespace
) -> str:
    """Log why a run stopped and the command that resumes it; return that line."""
    from gait_core.errors import RunStopped

    words = ['gait', 'evolve', '--run-dir', str(store.folder), '--resume']
    done = store.generations_done
    if options.resume:
        # The experiment of the run holds those of its beginning.
        words += option_words(options, ('generations', 'evaluator'))
    words += option_words(options, ('workers', 'address'))
    left = [name for name in options.skip_trial if int(name.partition('/')[0]) >= done]
    reason = 'interrupted'
    if isinstance(error, RunStopped):
        reason = str(error)
        left += [error.trial] if error.trial else []
    for name in left:
        words += ['--skip-trial', name]
    line = f'{reason}; resume with: {shlex.join(words)}'
    store.log_event(line)
    return line


def plan_from_options(options: Namespace) -> Plan:
    """Return the plan of the experiment that the options describe."""
    from gait_core.errors import ConfigurationError
    from gait_core.robot.model_code import permit_model_code
    from gait_evolver.experiment import read_experiment
    from gait_evolver.plan import resolve_experiment

    if not options.experiment:
        raise ConfigurationError('EXPERIMENT is missing; see `gait list experiments`')
    overrides = overrides_from_options(options)
    experiment, location = read_experiment(options.experiment, overrides)
    if 'robot' in overrides:
        permit_model_code(experiment.robot)
    return resolve_experiment(experiment, location)


def _refuse_skipping(options: Namespace) -> None:
    from gait_core.errors import ConfigurationError

    if options.skip_trial:
        raise ConfigurationError('--skip-trial needs --resume and --run-dir DIR')


def _create_store(options: Namespace, plan: Plan) -> RunStore:
    from gait_evolver.loop import new_run_folder
    from gait_evolver.run.store import RunStore

    experiment = plan.experiment
    folder = (
        Path(options.run_dir)
        if options.run_dir
        else new_run_folder(experiment.name, experiment.seed)
    )
    return RunStore.create(folder, plan, overrides_from_options(options))


def _reopen_store(options: Namespace) -> tuple[RunStore, list[list[TrialRow]]]:
    """Return the store of an earlier run and its trials; warn if code or platform changed."""
    from gait_core.errors import ConfigurationError
    from gait_evolver.run.store import RunStore

    store, recorded = RunStore.open_run(Path(options.run_dir), options.generations)
    try:
        _check_skipped(options.skip_trial, store)
    except ConfigurationError:
        store.close()
        raise
    warning = store.describe_changes()
    if warning:
        print(f'gait: warning: {warning}', file=sys.stderr)
    return store, recorded


def _check_skipped(names: Sequence[str], store: RunStore) -> None:
    """Raise ConfigurationError for a skipped trial that is recorded already or cannot exist."""
    from gait_core.errors import ConfigurationError, name_hint

    following = store.generations_done
    for name in names:
        parts = name.split('/')
        if len(parts) != 4 or not all(part.isdecimal() for part in parts[:3]):
            raise ConfigurationError(
                f"--skip-trial '{name[:200]}': expected GENERATION/INDIVIDUAL/REPEAT/ENGINE, e.g. "
                f'{following}/0/0/{next(iter(store.plan.scenes))}'
            )
        if int(parts[0]) < following:
            raise ConfigurationError(
                f"--skip-trial '{name}': generation {parts[0]} is recorded; nearest valid: "
                f'{following}'
            )
        if parts[3] not in store.plan.scenes:
            raise ConfigurationError(
                f"--skip-trial '{name}': no engine '{parts[3]}' in the run: "
                f'{name_hint(parts[3], store.plan.scenes)}'
            )


def _recorded_experiment(options: Namespace) -> Experiment:
    from gait_evolver.run.store import read_run

    return read_run(Path(options.run_dir))[1]


def overrides_from_options(options: Namespace) -> dict[str, Any]:
    """Return the overrides of the experiment in the options, nested as in its file."""
    from gait_core.trial.setup import merge_settings, parse_settings
    from gait_evolver.plan import single_engine_overrides

    changes: dict[str, Any] = parse_settings(options.settings)
    for name in ('generations', 'seed', 'evaluator'):
        if getattr(options, name) is not None:
            check_set_once(changes, f'--{name}', name)
            changes[name] = getattr(options, name)
    if options.engine:
        check_set_once(changes, '--engine', 'scene.engine')
        changes = merge_settings(changes, single_engine_overrides(options.engine))
    return changes


def make_evaluator(options: Namespace, experiment: Experiment) -> Evaluator:
    """Return the evaluator named by the options, else by the experiment."""
    from gait_core import registry
    from gait_core.errors import ConfigurationError

    name = options.evaluator or experiment.evaluator
    if name == 'local':
        # Workers run here: a missing engine must not leave an empty run directory.
        for engine in experiment.engines:
            registry.engine(engine)
    settings: dict[str, Any] = {'workers': options.workers}
    if options.address and name != 'ray':
        raise ConfigurationError(f"--address is for evaluator 'ray', not for '{name}'")
    if name == 'ray':
        settings['address'] = options.address
    return registry.evaluator(name)(**settings)


def _check_resumable(options: Namespace) -> None:
    """Raise ``ConfigurationError`` for options that a resumed run cannot take."""
    from gait_core.errors import ConfigurationError

    if not options.run_dir:
        raise ConfigurationError('--resume needs --run-dir DIR')
    given = {'--seed': options.seed, '--engine': options.engine, '--set': options.settings}
    for flag, value in given.items():
        if value not in (None, []):
            raise ConfigurationError(f'{flag} cannot change a resumed run')
    if options.experiment:
        recorded = _recorded_experiment(options).name
        if Path(options.experiment).stem != recorded:
            raise ConfigurationError(
                f"{options.run_dir} is a run of '{recorded}', not of '{options.experiment}'"
            )
        _check_unchanged(options)


def _check_unchanged(options: Namespace) -> None:
    """Raise ConfigurationError if the named experiment is no longer that of the recorded run."""
    from gait_core.errors import ConfigurationError, excerpt
    from gait_core.parameters.plain_data import to_plain_data
    from gait_evolver.experiment import read_experiment
    from gait_evolver.plan import resolve_experiment
    from gait_evolver.run.store import read_run

    facts, recorded = read_run(Path(options.run_dir))
    overrides = facts.get('overrides')
    if not isinstance(overrides, dict):
        # The run of an earlier version, a node or a study: what replaced the file is not known.
        return
    if 'robot' in overrides:
        # A relative path was one of the folder in which the run began.
        overrides['robot'] = recorded.robot
    named = resolve_experiment(*read_experiment(options.experiment, overrides)).experiment
    before, now = to_plain_data(recorded), to_plain_data(named)
    if options.generations is not None:
        now['generations'] = before['generations']
    for name, old, new in _differing_values(before, now):
        raise ConfigurationError(
            f'{options.experiment}: {name} is {excerpt(new)}, in {options.run_dir} it is '
            f'{excerpt(old)}; leave EXPERIMENT out to continue that run'
        )


def _differing_values(
    before: Mapping[str, Any], now: Mapping[str, Any], group: str = ''
) -> Iterator[tuple[str, Any, Any]]:
    """Yield dotted name and both values of each difference between nested mappings."""
    for key in dict.fromkeys((*before, *now)):
        old, new = before.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _differing_values(old, new, f'{group}{key}.')
        elif old != new:
            yield f'{group}{key}', old, new


def _print_summary(values: dict[str, Any], finished: str) -> None:
    """Print the figures of a finished run for people."""
    print(
        f'{values["experiment"]}: {values["generations"]} generations, '
        f'{values["evaluations"]} trials' + (f' ({finished})' if finished else '')
    )
    for label, name, form in (
        ('first generation', 'first_generation_best', '{:.4f}'),
        ('best fitness', 'best_fitness', '{:.4f}'),
        ('trials per second', 'evaluations_per_s', '{:.2f}'),
        ('champion', 'champion', '{}'),
        ('run directory', 'run_dir', '{}'),
    ):
        if values[name] is not None:
            print(f'  {label + ":":19}{form.format(values[name])}')
    for status, count in values['invalid_counts'].items():
        print(f'  {status + ":":19}{count} trials')
    for name, count in values['violation_counts'].items():
        print(f'  {"violated:":19}{name} by {count} candidates')
