# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Run directory: experiment, log, checkpoint and champion, consistent after any kill.

- ``experiment.yaml``: the resolved experiment; ``run.yaml``: run id, seed, platform, versions.
- ``evaluations.csv``: one row per trial, in order, without wall times: equal runs have equal logs.
- ``individuals.csv``: mean and deviation of each candidate after each generation; ``front.csv``:
  the Pareto front of several objectives. Both are computed from the log.
- ``times.csv``: wall time per trial.
- ``checkpoint.json``: length and hash of the part of the log that holds finished generations.
- ``events.log``: lost workers, exceptions in trials and the command that resumes, with the time.
- ``trial-<name>.yaml``: the spec of a trial that ended several workers.
- ``champion.yaml``: the best candidate; with several engines, on the engine of its lowest
  fitness. ``champion.<engine>.yaml``: the same candidate on each engine.

In each generation only the log and a new champion are flushed to the disk. All other files can be
computed from the log, or are rewritten when the run is resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
import os
from pathlib import Path
from typing import Any

import yaml

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import DATA_LIMIT, check_format, read_text, write_atomically
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.yaml_file import read_document
from gait_core.trial.champion import Champion, read_champion, write_champion
from gait_core.trial.fingerprint import describe_differences, fingerprint_fields
from gait_core.trial.spec import TrialSpec
from gait_evolver import __version__
from gait_evolver.experiment import Experiment, experiment_location, rebuild_experiment
from gait_evolver.genes import check_generators
from gait_evolver.pareto_front import FrontMember
from gait_evolver.plan import Plan, resolve_experiment
from gait_evolver.run.files import (
    StoreError,
    append_to_file,
    format_csv,
    lock_folder,
    store_errors,
)
from gait_evolver.run.log import (
    RUN_FORMAT,
    CandidateSummary,
    RunLog,
    TrialRow,
    format_cell,
    read_log,
)

_SUMMARY_COLUMNS = ('generation', 'individual', 'id', 'trials', 'status', 'fitness', 'deviation')

_RUN_FILES = (
    *('experiment.yaml', 'evaluations.csv', 'individuals.csv', 'times.csv', 'front.csv'),
    *('checkpoint.json', 'champion*.yaml', 'weights/*.npz'),
)
"""Patterns of the files that a run replaces or removes."""

_TIME_COLUMNS = ('generation', 'individual', 'repeat', 'engine', 'wall_time_s')


class RunStore:
    """
    Open run directory, locked against other processes.

    Made by ``create`` and ``open_run``.
    """

    def __init__(self, folder: Path, plan: Plan, lock: int) -> None:
        self.folder = folder
        self.plan = plan
        self.generations_done = 0
        self._lock = lock
        self._log = RunLog(folder, plan)

    @property
    def champion_file(self) -> Path:
        """Path of the champion; the file exists once a candidate has a fitness."""
        return self.folder / 'champion.yaml'

    @property
    def run_id(self) -> str:
        """Name of the run; equal experiments with equal seeds have the same name."""
        experiment = self.plan.experiment
        return f'{experiment.name}-{experiment.seed}-{self.plan.config_hash[:12]}'

    @classmethod
    def create(
        cls, folder: Path, plan: Plan, overrides: Mapping[str, Any] | None = None
    ) -> RunStore:
        """
        Return the store of a new run.

        Parameters
        ----------
        folder : Path
        plan : Plan
        overrides : mapping or None
            Values that replaced those of the experiment's file, to be recorded; None: not known.

        Raises
        ------
        StoreError
            If the folder already holds a run or files that a run would replace, or cannot be
            written.
        ConfigurationError
            If the optimiser draws from a global generator.

        """
        check_generators(plan.experiment.optimizer.name, plan.make_optimizer)
        if folder.exists() and not folder.is_dir():
            raise StoreError(f'run directory {folder} is a file, expected a folder')
        with store_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _check_unused(folder, plan)
            store = cls(folder, plan, lock_folder(folder))
            with store._close_on_failure():
                # Again: another process may have begun a run before the lock.
                _check_unused(folder, plan)
                store._begin(overrides)
        return store

    @classmethod
    def open_run(
        cls, folder: Path, generations: int | None = None
    ) -> tuple[RunStore, list[list[TrialRow]]]:
        """
        Return the store of an earlier run and its finished generations.

        Parameters
        ----------
        folder : Path
        generations : int, optional
            New length of the run; ``None``: the recorded length.

        Raises
        ------
        ConfigurationError
            If there is no run, another process has it locked, its files were changed, or this
            version resolves its experiment differently.

        """
        facts, experiment = read_run(folder)
        if generations is not None:
            experiment = rebuild_experiment(
                to_plain_data(experiment), experiment.name, {'generations': generations}
            )
        try:
            plan = resolve_experiment(experiment)
        except ConfigurationError as error:
            raise ConfigurationError(f'{folder / "experiment.yaml"}: {error}') from error
        if plan.config_hash != facts['config_hash']:
            raise ConfigurationError(
                f'{folder}: this version resolves its experiment differently; '
                'the run cannot be resumed'
            )
        with store_errors(folder):
            store = cls(folder, plan, lock_folder(folder))
            with store._close_on_failure():
                rows = store._log.recover()
                store.generations_done = len(rows)
        return store, rows

    def describe_changes(self) -> str:
        """Return a line on differences from the start of the run: platform, code, robot; or ''."""
        facts = read_run(self.folder)[0]
        changed = describe_differences(facts.get('platform', {}))
        texts = []
        if changed:
            texts.append(f'this platform differs from that of the run in {changed}')
        if facts.get('sources') != self.plan.sources_hash:
            texts.append('code or robot were changed since the run began')
        return '; '.join(texts)

    def append(
        self,
        generation: int,
        rows: Sequence[TrialRow],
        wall_times: Sequence[float],
        champions: Sequence[Champion],
    ) -> None:
        """Record a finished generation, and the new champion of each engine if there is one."""
        times = format_csv(
            [
                (row.generation, row.individual, row.repeat, row.engine, f'{wall:.6f}')
                for row, wall in zip(rows, wall_times, strict=True)
            ]
        )
        with store_errors(self.folder):
            self._log.append(rows)
            for file, champion in self._champion_files(champions).items():
                write_champion(file, champion)
            append_to_file(self._times, times.encode(), durable=False)
            self._log.checkpoint(generation + 1)
        self.generations_done = generation + 1

    def append_summaries(self, summaries: Sequence[CandidateSummary]) -> None:
        """Add the summaries of a generation; not flushed, because the log determines them."""
        with store_errors(self.folder), (self.folder / 'individuals.csv').open('a') as file:
            file.write(format_csv([_summary_cells(summary) for summary in summaries]))

    def rewrite_derived_files(self, summaries: Sequence[CandidateSummary]) -> None:
        """Rewrite the files of a resumed run that its log determines."""
        with store_errors(self.folder):
            self._write_summaries(summaries)
            if not self._times.exists():
                self._begin_times()

    def write_front(self, members: Sequence[FrontMember]) -> None:
        """Write the Pareto front of several objectives."""
        genes, others = self.plan.space.names, tuple(self.plan.experiment.objectives)
        header = ('generation', 'individual', 'id', 'fitness', *others)
        rows = [
            [
                *(member.generation, member.individual, member.id),
                *(format_cell(float(value)) for value in member.objectives),
                *(format_cell(member.values[name]) for name in genes),
            ]
            for member in members
        ]
        with store_errors(self.folder):
            write_atomically(
                self.folder / 'front.csv',
                format_csv([(*header, *(f'gait.{name}' for name in genes)), *rows]),
                durable=False,
            )

    def _write_summaries(self, summaries: Sequence[CandidateSummary]) -> None:
        """Write the table ``individuals.csv``: a line of figures for every candidate."""
        experiment = self.plan.experiment
        header = (
            *_SUMMARY_COLUMNS,
            *experiment.objectives,
            *(f'measure.{name}' for name in experiment.measures),
            *(f'violation.{name}' for name in experiment.constraints),
        )
        write_atomically(
            self.folder / 'individuals.csv',
            format_csv([header, *(_summary_cells(summary) for summary in summaries)]),
            durable=False,
        )

    def restore(self, champions: Sequence[Champion]) -> None:
        """Write champion files of a resumed run that are missing or damaged."""
        with store_errors(self.folder):
            for file, champion in self._champion_files(champions).items():
                try:
                    read_champion(file)
                except ConfigurationError:
                    write_champion(file, champion)

    def log_event(self, text: str) -> None:
        """Add a line with the time to ``events.log``; errors are ignored, as of a full disk."""
        line = f'{datetime.now().astimezone().isoformat(timespec="seconds")} {text}\n'
        with suppress(OSError):
            # A file name in another encoding than UTF-8 may be in the text.
            with (self.folder / 'events.log').open('a', errors='backslashreplace') as file:
                file.write(line)

    def save_trial(self, name: str, spec: TrialSpec, reasons: Sequence[str]) -> Path:
        """Write the spec of a trial that ended workers, with the reasons; return the file."""
        file = self.folder / f'trial-{name.replace("/", "-")}.yaml'
        content = {'trial': name, 'lost_workers': list(reasons), 'spec': to_plain_data(spec)}
        with store_errors(self.folder):
            write_atomically(file, _format_yaml(content))
        return file

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock)

    @contextmanager
    def _close_on_failure(self) -> Iterator[None]:
        """Release the lock if the block raises."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _begin(self, overrides: Mapping[str, Any] | None) -> None:
        write_atomically(self.folder / 'experiment.yaml', _format_experiment(self.plan))
        self._log.begin()
        self._begin_times()
        self._write_summaries(())
        # Last: run.yaml marks a complete run directory.
        facts = self._run_facts()
        if overrides is not None:
            facts['overrides'] = to_plain_data(overrides)
        write_atomically(self.folder / 'run.yaml', _format_yaml(facts))

    @property
    def _times(self) -> Path:
        return self.folder / 'times.csv'

    def _begin_times(self) -> None:
        write_atomically(self._times, format_csv([_TIME_COLUMNS]))

    def _champion_files(self, champions: Sequence[Champion]) -> dict[Path, Champion]:
        """Return the champions by file; the first one is the champion of the run."""
        files = {}
        if len(champions) > 1:
            for champion in champions:
                files[engine_champion_file(self.champion_file, champion.spec.scene.engine)] = (
                    champion
                )
        if champions:
            files[self.champion_file] = champions[0]
        return files

    def _run_facts(self) -> dict[str, Any]:
        return {
            'format': RUN_FORMAT,
            'run_id': self.run_id,
            'seed': self.plan.experiment.seed,
            'config_hash': self.plan.config_hash,
            'version': __version__,
            'sources': self.plan.sources_hash,
            'platform': fingerprint_fields(),
        }


def _check_unused(folder: Path, plan: Plan) -> None:
    """Raise StoreError if a folder holds a run, or files that a run would replace."""
    if (folder / 'run.yaml').exists():
        raise StoreError(f'{folder} holds a run already: resume it, or choose another folder')
    files = [file for pattern in _RUN_FILES for file in sorted(folder.glob(pattern))]
    if files and not _is_first_part(files, plan):
        names = ', '.join(str(file.relative_to(folder)) for file in files[:3])
        raise StoreError(
            f'{folder} holds {names}, which a run would replace: remove '
            f'{"them" if len(files) > 1 else "it"}, or choose another folder'
        )


def _is_first_part(files: Sequence[Path], plan: Plan) -> bool:
    """Return whether files are those of a run of the plan that was killed while it began."""
    first, *tables = files
    return (
        first.name == 'experiment.yaml'
        and read_text(first) == _format_experiment(plan)
        # Tables without a row.
        and all(file.suffix == '.csv' for file in tables)
        and all(read_text(file, DATA_LIMIT).count('\n') == 1 for file in tables)
    )


def engine_champion_file(champion_file: Path, engine: str) -> Path:
    """Return the path of a champion's record on one of several engines."""
    return champion_file.with_suffix(f'.{engine}.yaml')


def read_run(folder: Path) -> tuple[dict[str, Any], Experiment]:
    """Return run.yaml and the experiment of a run directory; ConfigurationError for others."""
    if not (folder / 'run.yaml').is_file():
        raise ConfigurationError(f'{folder} is not a run directory: it has no run.yaml')
    content = read_document(folder / 'run.yaml').content
    facts = check_format(content, RUN_FORMAT, str(folder / 'run.yaml'))
    if 'config_hash' not in facts:
        raise ConfigurationError(f'{folder / "run.yaml"} was changed: config_hash is missing')
    platform = facts.get('platform', {})
    if not (isinstance(platform, dict) and all(isinstance(key, str) for key in platform)):
        raise ConfigurationError(
            f'{folder / "run.yaml"} was changed: platform is {excerpt(platform)}, '
            'expected named values'
        )
    document = read_document(folder / 'experiment.yaml')
    return facts, rebuild_experiment(
        document.content, folder.name, {}, experiment_location(document)
    )


def read_generations(folder: Path) -> list[list[TrialRow]]:
    """
    Return the finished generations of a run, even while another process continues it.

    Raises
    ------
    ConfigurationError
        If the log was changed since it was counted, or lacks a column of the experiment.

    """
    _, experiment = read_run(folder)
    terms = set().union(experiment.fitness, *experiment.objectives.values())
    with store_errors(folder):
        return read_log(folder, experiment.genes, sorted(terms))


def _summary_cells(summary: CandidateSummary) -> list[str]:
    return [
        *(format_cell(getattr(summary, name)) for name in _SUMMARY_COLUMNS),
        *map(format_cell, (*summary.objectives, *summary.measures, *summary.violations)),
    ]


def _format_experiment(plan: Plan) -> str:
    return _format_yaml(to_plain_data(plan.experiment))


def _format_yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, width=99, default_flow_style=None)
