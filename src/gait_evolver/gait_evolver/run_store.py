"""
The folder of a run: configuration, log, checkpoint and champion, safe against any kill.

- ``experiment.yaml``: the resolved experiment; ``run.yaml``: run id, seed, platform, versions.
- ``evaluations.csv``: one row per trial, in order, without wall times: runs compare by it.
- ``individuals.csv``: mean and spread of each individual, as it stood after each generation;
  ``front.csv``: of several objectives, the best compromises. Both follow from the log.
- ``times.csv``: wall time per trial; not compared.
- ``checkpoint.json``: how much of the log belongs to finished generations.
- ``champion.yaml``: the best individual ever seen; of several engines, on the one where it is
  worst. ``champion.<engine>.yaml``: the same individual on each of them.

A generation is appended to the log and flushed to the disk before the checkpoint that counts it
replaces the last one in one step. What a kill leaves beyond the checkpoint is cut off on resume.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import csv
from dataclasses import asdict, dataclass
import fcntl
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import yaml

from gait_core.canonical import plain
from gait_core.champion import Champion, write_atomically, write_champion
from gait_core.errors import ConfigurationError
from gait_core.fingerprint import difference, fingerprint_fields
from gait_core.metrics import METRICS
from gait_core.trial_spec import TrialResult
from gait_evolver import __version__
from gait_evolver.experiment import Experiment, read_yaml, rebuild_experiment
from gait_evolver.front import Member
from gait_evolver.plan import Plan, resolve

FORMAT = 1

_FIXED = (
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

_WEIGHTS = 'weights'
"""Column of runs that search networks."""

_STAGE = 'stage'
"""Column of runs with a curriculum."""

_STANDING = ('generation', 'individual', 'id', 'trials', 'status', 'fitness', 'deviation')

_TIMES = ('generation', 'individual', 'repeat', 'engine', 'wall_time_s')


class StoreError(ConfigurationError):
    """The run directory cannot be written; what stands in it is whole."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One trial of one individual on one engine, as logged."""

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
    """SHA-256 of the weights of a network; empty where none is searched."""
    stage: int = 0
    """Of the curriculum; 0 where there is none."""

    @classmethod
    def of(cls, result: TrialResult, **place: Any) -> Row:
        """Return the row of a result; ``place`` gives the fields that a result does not know."""
        return cls(
            status=result.status,
            fitness=result.fitness,
            ticks=result.ticks,
            trial_hash=result.trial_hash,
            terms=result.terms,
            metrics=result.metrics,
            **place,
        )

    @classmethod
    def read(cls, record: Mapping[str, str]) -> Row:
        """Return the row of a record of the log."""

        def group(prefix: str) -> dict[str, float]:
            return {
                name[len(prefix) :]: float(text)
                for name, text in record.items()
                if name.startswith(prefix) and text
            }

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
            weights=record.get(_WEIGHTS, ''),
            stage=int(record.get(_STAGE) or 0),
            values=group('gait.'),
            terms=group('term.'),
            metrics=group('metric.'),
        )


@dataclass(frozen=True, kw_only=True)
class Standing:
    """An individual after a generation: all its trials so far, their mean and deviation."""

    generation: int
    individual: int
    id: int
    trials: int
    status: str
    fitness: float | None
    deviation: float | None
    objectives: tuple[float, ...] = ()
    """Beside the fitness; empty where it may not win or there are none."""


class RunStore:
    """
    An open run directory; one process at a time holds it.

    Made by ``create`` and ``open_run``.
    """

    def __init__(self, folder: Path, plan: Plan, lock: int) -> None:
        self.folder = folder
        self.plan = plan
        self.generations_done = 0
        self._lock = lock
        self._log = folder / 'evaluations.csv'
        # Of the log so far; to read it whole at every generation takes long in long runs.
        self._digest = hashlib.sha256()
        self._length = 0
        genes = plan.space.names
        self._columns = (
            *_FIXED,
            *((_WEIGHTS,) if plan.layout else ()),
            *((_STAGE,) if plan.experiment.curriculum else ()),
            *(f'gait.{name}' for name in genes),
            *(f'term.{name}' for name in plan.trial.fitness_terms),
            *(f'metric.{name}' for name in METRICS),
        )

    @property
    def champion_file(self) -> Path:
        """Where the champion stands, once there is one."""
        return self.folder / 'champion.yaml'

    @property
    def run_id(self) -> str:
        """Name of the run; equal experiments with equal seeds are the same run."""
        experiment = self.plan.experiment
        return f'{experiment.name}-{experiment.seed}-{self.plan.config_hash[:12]}'

    @classmethod
    def create(cls, folder: Path, plan: Plan) -> RunStore:
        """
        Return the store of a new run.

        Raises
        ------
        StoreError
            If the folder holds a run already or cannot be written.

        """
        with _named(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / 'run.yaml').exists():
                raise StoreError(f'{folder} holds a run already: resume it, or choose another')
            store = cls(folder, plan, _locked(folder))
            with store._held():
                store._begin()
        return store

    @classmethod
    def open_run(cls, folder: Path, generations: int = 0) -> tuple[RunStore, list[list[Row]]]:
        """
        Return the store of an earlier run and its finished generations.

        Parameters
        ----------
        folder : Path
        generations : int
            New length of the run; 0 keeps the recorded one.

        Raises
        ------
        ConfigurationError
            If there is no run, another process holds it, its files were changed, or this
            version resolves its experiment differently.

        """
        facts, experiment = read_run(folder)
        if generations:
            experiment = rebuild_experiment(
                plain(experiment), experiment.name, {'generations': generations}
            )
        plan = resolve(experiment)
        if plan.config_hash != facts['config_hash']:
            raise ConfigurationError(
                f'{folder}: its experiment means something else in this version; '
                'the run cannot be resumed'
            )
        with _named(folder):
            store = cls(folder, plan, _locked(folder))
            with store._held():
                rows = store._recover()
        return store, rows

    def warning(self) -> str:
        """Return a line on what differs from the beginning of the run, or nothing."""
        facts = read_yaml(self.folder / 'run.yaml')
        changed = difference(facts.get('platform', {}), fingerprint_fields())
        texts = []
        if changed:
            texts.append(f'this platform differs from that of the run in {", ".join(changed)}')
        if facts.get('sources') != self.plan.sources_hash:
            texts.append('code or robot were changed since the run began')
        return '; '.join(texts)

    def append(
        self,
        generation: int,
        rows: Sequence[Row],
        wall_times: Sequence[float],
        champions: Sequence[Champion],
    ) -> None:
        """Record a finished generation, and the new champion of each engine if there is one."""
        written = _csv([self._cells(row) for row in rows]).encode()
        times = _csv(
            [
                (row.generation, row.individual, row.repeat, row.engine, f'{wall:.6f}')
                for row, wall in zip(rows, wall_times, strict=True)
            ]
        )
        with _named(self.folder):
            _extend(self._log, written)
            self._count(written)
            for file, champion in self._champion_files(champions).items():
                write_champion(file, champion)
            _extend(self.folder / 'times.csv', times.encode())
            self._checkpoint(generation + 1)
        self.generations_done = generation + 1

    def stand(self, standings: Sequence[Standing]) -> None:
        """Add how the individuals of a generation stand; lost at worst, as it can be renewed."""
        with _named(self.folder), (self.folder / 'individuals.csv').open('a') as file:
            file.write(_csv([_standing_cells(one) for one in standings]))

    def renew(self, standings: Sequence[Standing]) -> None:
        """Write the standings of a run that is resumed, whatever a kill left of them."""
        with _named(self.folder):
            self._write_standings(standings)

    def write_front(self, members: Sequence[Member]) -> None:
        """Write the best compromises between several objectives."""
        genes, others = self.plan.space.names, tuple(self.plan.experiment.objectives)
        header = ('generation', 'individual', 'id', 'fitness', *others)
        rows = [
            [
                *(one.generation, one.individual, one.id),
                *(_cell(float(value)) for value in one.objectives),
                *(_cell(one.values[name]) for name in genes),
            ]
            for one in members
        ]
        with _named(self.folder):
            write_atomically(
                self.folder / 'front.csv',
                _csv([(*header, *(f'gait.{name}' for name in genes)), *rows]),
            )

    def _write_standings(self, standings: Sequence[Standing]) -> None:
        header = (*_STANDING, *self.plan.experiment.objectives)
        write_atomically(
            self.folder / 'individuals.csv',
            _csv([header, *(_standing_cells(one) for one in standings)]),
        )

    def restore(self, champions: Sequence[Champion]) -> None:
        """Write the champions of a run that is resumed whose files are gone."""
        with _named(self.folder):
            for file, champion in self._champion_files(champions).items():
                if not file.exists():
                    write_champion(file, champion)

    def close(self) -> None:
        """Let another process open the run."""
        os.close(self._lock)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Let go of the run where it cannot be begun or read."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        write_atomically(self.folder / 'experiment.yaml', _yaml(plain(self.plan.experiment)))
        header = _csv([self._columns])
        write_atomically(self._log, header)
        self._count(header.encode())
        write_atomically(self.folder / 'times.csv', _csv([_TIMES]))
        self._write_standings(())
        # Last: a folder with run.yaml is a whole run.
        write_atomically(self.folder / 'run.yaml', _yaml(self._run_facts()))

    def _champion_files(self, champions: Sequence[Champion]) -> dict[Path, Champion]:
        """Return what stands where; the first champion is the one of the whole run."""
        files = {}
        if len(champions) > 1:
            for champion in champions:
                files[champion_on(self.champion_file, champion.spec.scene.engine)] = champion
        if champions:
            files[self.champion_file] = champions[0]
        return files

    def _run_facts(self) -> dict[str, Any]:
        return {
            'format': FORMAT,
            'run_id': self.run_id,
            'seed': self.plan.experiment.seed,
            'config_hash': self.plan.config_hash,
            'version': __version__,
            'sources': self.plan.sources_hash,
            'platform': fingerprint_fields(),
        }

    def _count(self, written: bytes) -> None:
        self._digest.update(written)
        self._length += len(written)

    def _checkpoint(self, generations: int) -> None:
        state = {
            'format': FORMAT,
            'generations': generations,
            'log_bytes': self._length,
            'log_sha256': self._digest.hexdigest(),
        }
        write_atomically(self.folder / 'checkpoint.json', json.dumps(state, indent=2) + '\n')

    def _recover(self) -> list[list[Row]]:
        """Return the generations that the checkpoint counts; cut off what lies beyond."""
        kept, self.generations_done = _counted(self.folder)
        if len(kept) < self._log.stat().st_size:
            os.truncate(self._log, len(kept))
        self._count(kept)
        return _generations(kept, self.generations_done)

    def _cells(self, row: Row) -> list[str]:
        named = {f'gait.{name}': value for name, value in row.values.items()}
        named.update({f'term.{name}': value for name, value in row.terms.items()})
        named.update({f'metric.{name}': value for name, value in row.metrics.items()})
        own = {*_FIXED, _WEIGHTS, _STAGE}
        fixed = {**asdict(row), 'parents': ' '.join(str(parent) for parent in row.parents)}
        return [_cell(fixed[name] if name in own else named.get(name)) for name in self._columns]


def champion_on(champion_file: Path, engine: str) -> Path:
    """Return where the champion of a file stands as it did on one of several engines."""
    return champion_file.with_suffix(f'.{engine}.yaml')


def read_run(folder: Path) -> tuple[dict[str, Any], Experiment]:
    """Return the facts and the experiment of a run directory; ConfigurationError if it is none."""
    if not (folder / 'run.yaml').is_file():
        raise ConfigurationError(f'{folder} is no run directory: it has no run.yaml')
    facts = read_yaml(folder / 'run.yaml')
    if not isinstance(facts, dict) or facts.get('format') != FORMAT:
        raise ConfigurationError(f'{folder / "run.yaml"}: expected format {FORMAT}')
    content = read_yaml(folder / 'experiment.yaml')
    return facts, rebuild_experiment(content, folder.name, {})


def read_rows(folder: Path) -> list[list[Row]]:
    """
    Return the finished generations of a run, which another process may be going on with.

    Raises
    ------
    ConfigurationError
        If the log was changed since it was counted.

    """
    with _named(folder):
        return _generations(*_counted(folder))


def _counted(folder: Path) -> tuple[bytes, int]:
    """Return the part of the log that the checkpoint counts, and its generations."""
    checkpoint, file = folder / 'checkpoint.json', folder / 'evaluations.csv'
    # First the checkpoint: the log has by then what it counts, and may only grow.
    state = _read_checkpoint(checkpoint) if checkpoint.exists() else None
    log = file.read_bytes()
    if state is None:
        return log[: log.index(b'\n') + 1], 0
    kept = log[: state['log_bytes']]
    if hashlib.sha256(kept).hexdigest() != state['log_sha256']:
        raise ConfigurationError(f'{file} was changed; the run cannot be resumed')
    return kept, int(state['generations'])


def _generations(kept: bytes, count: int) -> list[list[Row]]:
    generations: list[list[Row]] = [[] for _ in range(count)]
    for record in csv.DictReader(io.StringIO(kept.decode(), newline='')):
        row = Row.read(record)
        generations[row.generation].append(row)
    return generations


def _read_checkpoint(file: Path) -> dict[str, Any]:
    try:
        state = json.loads(file.read_text())
    except ValueError as error:
        raise ConfigurationError(f'{file} is no JSON: {error}') from error
    if not isinstance(state, dict) or state.get('format') != FORMAT:
        raise ConfigurationError(f'{file}: expected format {FORMAT}')
    return state


def _cell(value: Any) -> str:
    if value is None:
        return ''
    # repr keeps every bit of a float, whatever its type in NumPy.
    return repr(float(value)) if isinstance(value, float) else str(value)


def _standing_cells(one: Standing) -> list[str]:
    return [*(_cell(getattr(one, name)) for name in _STANDING), *map(_cell, one.objectives)]


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows(rows)
    return text.getvalue()


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, width=99, default_flow_style=None)


def _extend(path: Path, content: bytes) -> None:
    """Append and flush to the disk; on failure the file is as long as before."""
    before = path.stat().st_size
    try:
        with path.open('ab') as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.truncate(path, before)
        raise


def _locked(folder: Path) -> int:
    handle = os.open(folder / 'run.lock', os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreError(f'{folder} is in use by another process') from error
    return handle


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Turn a failure of the file system into one line that says what became of the run."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f'run directory {folder}: {error.strerror}; what was recorded before stays whole'
        ) from error
