# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Log of a run, one row per trial, and the checkpoint that counts its finished generations.

A generation is first appended to the log and flushed to the disk; then a checkpoint that counts
it replaces the old checkpoint atomically. When the run is resumed, rows beyond the checkpoint are
cut off. The checkpoint itself is not flushed: after a power cut it may be an older one, or empty,
and the generations that it does not count are run again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
import csv
from dataclasses import dataclass
import hashlib
import io
import json
import math
from operator import attrgetter
import os
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError, excerpt
from gait_core.files.access import (
    MEBIBYTE,
    check_format,
    parse_json,
    read_bytes,
    read_text,
    write_atomically,
)
from gait_core.trial.spec import TrialResult
from gait_evolver.plan import Plan, TrialIndex
from gait_evolver.run.files import append_to_file, format_csv

RUN_FORMAT = 1

MAX_LOG_SIZE = 1024 * MEBIBYTE
"""Largest size of a log [bytes], about a million trials."""

_FIXED_COLUMNS = (
    'generation',
    'individual',
    'id',
    'repeat',
    'engine',
    'parents',
    'seed',
    'status',
    'fitness',
    'ticks',
    'trial_hash',
)

_GENE_PREFIX, _TERM_PREFIX, _METRIC_PREFIX = 'gait.', 'term.', 'metric.'
"""Prefixes of columns."""

_WEIGHTS_COLUMN = 'weights'
"""Column of runs that search networks."""

_STAGE_COLUMN = 'stage'
"""Column of runs with a curriculum."""


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """Logged trial of a candidate on one engine; its fields are columns of the log."""

    generation: int
    individual: int
    id: int
    repeat: int
    engine: str
    parents: tuple[int, ...]
    seed: int
    status: str
    fitness: float | None
    ticks: int
    trial_hash: str
    values: Mapping[str, float]
    terms: Mapping[str, float]
    metrics: Mapping[str, float]
    weights: str = ''
    """SHA-256 of the weights file; empty in a run that searches genes."""
    stage: int = 0
    """Stage of the curriculum; 0 without one."""

    @classmethod
    def from_result(
        cls, result: TrialResult, trial_index: TrialIndex, logged: Collection[str], **others: Any
    ) -> TrialRow:
        """
        Return the row of a result.

        Parameters
        ----------
        result : TrialResult
        trial_index : TrialIndex
        logged : collection of str
            Metrics of the log (``Plan.logged_metrics``); others are left out.
        others
            Fields missing in result and index.

        """
        return cls(
            generation=trial_index.generation,
            individual=trial_index.individual,
            id=trial_index.candidate_id,
            repeat=trial_index.repeat,
            engine=trial_index.engine,
            stage=trial_index.stage,
            status=result.status,
            fitness=result.fitness,
            ticks=result.ticks,
            trial_hash=result.trial_hash,
            terms=result.terms,
            metrics={name: x for name, x in result.metrics.items() if name in logged},
            **others,
        )

    @property
    def trial_index(self) -> TrialIndex:
        """Index of the trial within its run."""
        return TrialIndex(
            generation=self.generation,
            individual=self.individual,
            repeat=self.repeat,
            engine=self.engine,
            candidate_id=self.id,
            stage=self.stage,
        )

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> TrialRow:
        """Return the row of a CSV record; ValueError if it is invalid."""
        if None in record or None in record.values():
            raise ValueError('its number of cells differs from that of the header')

        def group(prefix: str) -> dict[str, float]:
            """Return the numbers of the columns with a prefix."""
            found = {
                name: text for name, text in record.items() if name.startswith(prefix) and text
            }
            numbers = {name: float(text) for name, text in found.items()}
            # Terms may be infinite or NaN: such a trial has no fitness.
            wrong = [name for name in numbers if not math.isfinite(numbers[name])]
            if wrong and prefix != _TERM_PREFIX:
                name = wrong[0]
                raise ValueError(f'{name} is {excerpt(found[name])}, expected a finite number')
            return {name[len(prefix) :]: number for name, number in numbers.items()}

        if not all(text for name, text in record.items() if name.startswith(_GENE_PREFIX)):
            raise ValueError('it lacks the value of a gene')
        terms = {name for name in record if name.startswith(_TERM_PREFIX)}
        if record['fitness'] and not all(record[name] for name in terms):
            raise ValueError('it has a fitness without its terms')
        return cls(
            **{
                name: int(record[name])
                for name in ('generation', 'individual', 'id', 'repeat', 'seed', 'ticks')
            },
            parents=tuple(int(parent) for parent in record['parents'].split()),
            engine=record['engine'],
            status=record['status'],
            fitness=float(record['fitness']) if record['fitness'] else None,
            trial_hash=record['trial_hash'],
            weights=record.get(_WEIGHTS_COLUMN, ''),
            stage=int(record.get(_STAGE_COLUMN) or 0),
            values=group(_GENE_PREFIX),
            terms=group(_TERM_PREFIX),
            metrics=group(_METRIC_PREFIX),
        )


@dataclass(frozen=True, kw_only=True)
class CandidateSummary:
    """Candidate after a generation: number, mean and deviation of all its trials so far."""

    generation: int
    individual: int
    id: int
    trials: int
    status: str
    fitness: float | None
    deviation: float | None
    objectives: tuple[float | None, ...] = ()
    """Objectives besides the fitness; None without a fitness."""
    measures: tuple[float | None, ...] = ()
    """Measures of the experiment; None: undefined."""
    violations: tuple[float | None, ...] = ()
    """Violation of each constraint; None without a fitness."""


class RunLog:
    """
    Open log of a run.

    Parameters
    ----------
    folder : Path
        Run directory.
    plan : Plan
        Determines the columns.

    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        self._file = _log_file(folder)
        # Hash of the log so far, updated by each generation: reading the log again would take
        # time that grows with the run.
        self._digest = hashlib.sha256()
        self._length = 0
        self._genes = plan.space.names
        self._terms = tuple(plan.trial.fitness_terms)
        self._metrics = plan.logged_metrics
        self._own = (
            *_FIXED_COLUMNS,
            *((_WEIGHTS_COLUMN,) if plan.array_shapes else ()),
            *((_STAGE_COLUMN,) if plan.experiment.curriculum else ()),
        )
        self._own_of = attrgetter(*self._own)
        header = (
            *self._own,
            *(_GENE_PREFIX + name for name in self._genes),
            *(_TERM_PREFIX + name for name in self._terms),
            *(_METRIC_PREFIX + name for name in self._metrics),
        )
        self._header = format_csv([header]).encode()

    def begin(self) -> None:
        """Write the header of a new log."""
        write_atomically(self._file, self._header)
        self._count(self._header)

    def append(self, rows: Sequence[TrialRow]) -> None:
        """Add rows and flush them to the disk; the next checkpoint counts them."""
        content = format_csv([self._cells(row) for row in rows]).encode()
        append_to_file(self._file, content, durable=True)
        self._count(content)

    def checkpoint(self, generations: int) -> None:
        """Record that the log holds a number of finished generations."""
        state = {
            'format': RUN_FORMAT,
            'generations': generations,
            'log_bytes': self._length,
            'log_sha256': self._digest.hexdigest(),
        }
        content = json.dumps(state, indent=2) + '\n'
        write_atomically(_checkpoint_file(self._folder), content, durable=False)

    def recover(self) -> list[list[TrialRow]]:
        """
        Return the finished generations, and cut off the rows beyond them.

        Raises
        ------
        ConfigurationError
            If log or checkpoint were changed, or the log has other columns than the
            experiment requires.

        """
        content, count = _read_finished_part(self._folder)
        if not content.startswith(self._header):
            raise ConfigurationError(
                f'{self._file} has other columns than its experiment requires; the run cannot be '
                'resumed'
            )
        generations = _group_by_generation(content, count, self._folder)
        if len(content) < self._file.stat().st_size:
            os.truncate(self._file, len(content))
        self._count(content)
        return generations

    def _count(self, content: bytes) -> None:
        self._digest.update(content)
        self._length += len(content)

    def _cells(self, row: TrialRow) -> list[str]:
        return [
            *map(format_cell, self._own_of(row)),
            *(format_cell(row.values.get(name)) for name in self._genes),
            *(format_cell(row.terms.get(name)) for name in self._terms),
            *(format_cell(row.metrics.get(name)) for name in self._metrics),
        ]


def read_log(folder: Path, genes: Collection[str], terms: Collection[str]) -> list[list[TrialRow]]:
    """
    Return the finished generations of a run.

    Raises
    ------
    ConfigurationError
        If its log was changed, or lacks the column of a gene or of a term of the fitness.

    """
    content, count = _read_finished_part(folder)
    columns = next(csv.reader([content.partition(b'\n')[0].decode(errors='replace')]))
    required = [*(_GENE_PREFIX + name for name in genes), *(_TERM_PREFIX + name for name in terms)]
    for column in required:
        if column not in columns:
            raise ConfigurationError(
                f"{_log_file(folder)} was changed: the column '{column}' is missing"
            )
    return _group_by_generation(content, count, folder)


def format_cell(value: Any) -> str:
    """Return the CSV cell of a value; a float keeps every bit, None is empty."""
    if value is None:
        return ''
    if isinstance(value, float):
        # The repr of a NumPy float names its type.
        return repr(float(value))
    return ' '.join(map(str, value)) if isinstance(value, tuple) else str(value)


def _log_file(folder: Path) -> Path:
    return folder / 'evaluations.csv'


def _checkpoint_file(folder: Path) -> Path:
    return folder / 'checkpoint.json'


def _read_finished_part(folder: Path) -> tuple[bytes, int]:
    """Return the part of the log that holds finished generations, and their number."""
    # The checkpoint is read first: the log then holds at least what it counts.
    state = _read_checkpoint(_checkpoint_file(folder))
    file = _log_file(folder)
    if not file.exists():
        raise ConfigurationError(f'{file} is gone; the run cannot be resumed')
    log = read_bytes(file, MAX_LOG_SIZE)
    if b'\n' not in log:
        raise ConfigurationError(f'{file} has no header; the run cannot be resumed')
    if state is None:
        return _complete_generations(log, file)
    content = log[: state['log_bytes']]
    if hashlib.sha256(content).hexdigest() != state.get('log_sha256'):
        raise ConfigurationError(f'{file} was changed; the run cannot be resumed')
    return content, int(state['generations'])


def _complete_generations(log: bytes, file: Path) -> tuple[bytes, int]:
    """
    Return all generations but the last of a log without a checkpoint, and their number.

    The last one may be incomplete.
    """
    header, *rows = log[: log.rindex(b'\n') + 1].splitlines(keepends=True)
    numbers: list[int] = []
    for line, row in enumerate(rows, 2):
        text = row.partition(b',')[0]
        if not text.isdigit() or len(text) > 9 or int(text) < (numbers[-1] if numbers else 0):
            raise ConfigurationError(
                f'{file}, line {line} was changed: it does not begin with its generation'
            )
        numbers.append(int(text))
    last = numbers[-1] if numbers else 0
    complete = rows[: bisect_left(numbers, last)]
    return b''.join([header, *complete]), last


def _group_by_generation(content: bytes, count: int, folder: Path) -> list[list[TrialRow]]:
    """Return the rows of each generation; ConfigurationError if the count does not match."""
    rows = _parse_rows(content, _log_file(folder))
    numbers = {row.generation for row in rows}
    # Checked before the lists are made: a damaged checkpoint may claim any number.
    if len(numbers) != count or (numbers and (min(numbers), max(numbers)) != (0, count - 1)):
        raise ConfigurationError(
            f'{_checkpoint_file(folder)} was changed: it states {count} generations, but its part '
            f'of the log has {len(numbers)}'
        )
    generations: list[list[TrialRow]] = [[] for _ in range(count)]
    for row in rows:
        generations[row.generation].append(row)
    return generations


def _parse_rows(content: bytes, file: Path) -> list[TrialRow]:
    """Return the rows of a part of the log; errors name file and line."""
    line, rows = 1, []
    try:
        records = csv.DictReader(io.StringIO(content.decode(), newline=''))
        for record in records:
            line = records.line_num
            rows.append(TrialRow.from_record(record))
    except KeyError as error:
        raise ConfigurationError(f'{file} was changed: the column {error} is missing') from error
    except (ValueError, csv.Error) as error:
        raise ConfigurationError(f'{file}, line {line} was changed: {error}') from error
    return rows


def _read_checkpoint(file: Path) -> dict[str, Any] | None:
    """Return the checkpoint; ``None`` if it is missing, or empty after a power cut."""
    if not file.exists():
        return None
    text = read_text(file)
    if not text:
        return None
    state = check_format(parse_json(text, str(file)), RUN_FORMAT, str(file))
    for name in ('generations', 'log_bytes'):
        if type(state.get(name)) is not int or state[name] < 0:
            raise ConfigurationError(f'{file} was changed: {name} is {excerpt(state.get(name))}')
    return state
