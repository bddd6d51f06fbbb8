"""What the parts of a study share: how to run, where to write, and what was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import json
import os
from pathlib import Path
import sys
import threading
from typing import Any

from gait_core.champion import Champion, read_champion, write_atomically
from gait_core.errors import ConfigurationError
from gait_core.rollout import Rollout
from gait_core.scene import NOTHING
from gait_core.seeding import check_seed, derived_seed
from gait_core.trial import run_loop
from gait_core.trial_spec import TrialResult, TrialSpec
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.evolve import Evolution, Listener, Progress
from gait_evolver.experiment import Plan, load_experiment, resolve
from gait_evolver.progress import make_display
from gait_evolver.run_store import Row, RunStore

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Evolved:
    """A finished evolution of a study: its plan, its rows by generation and its champion."""

    plan: Plan
    folder: Path
    generations: Sequence[Sequence[Row]]
    champion: Champion

    @property
    def rows(self) -> list[Row]:
        """Every trial, in order."""
        return [row for rows in self.generations for row in rows]


class Session:
    """
    A run of a study in a folder of its own.

    Made by ``create`` and ``resume``; to be closed.

    Parameters
    ----------
    folder : Path
    study : str
    quick : bool
        Under five minutes: fewer and shorter trials.
    seed : int
    workers : int
        Of the local evaluator; 0 is one per processor.

    """

    def __init__(self, folder: Path, study: str, quick: bool, seed: int, workers: int) -> None:
        self.folder, self.study, self.quick = folder, study, quick
        self.seed = check_seed(seed)
        self._workers = workers or os.cpu_count() or 1
        self._evaluator = LocalEvaluator(workers=workers)

    @classmethod
    def create(cls, folder: Path, study: str, quick: bool, seed: int, workers: int) -> Session:
        """Return the session of a new folder; ConfigurationError if it holds a study already."""
        session = cls(folder, study, quick, seed, workers)
        if (folder / 'study.json').exists():
            raise ConfigurationError(
                f'{folder} holds a study already: --resume goes on with it, or choose another'
            )
        facts = {'format': FORMAT, 'study': study, 'quick': quick, 'seed': seed}
        try:
            (folder / 'pictures').mkdir(parents=True, exist_ok=True)
            write_atomically(folder / 'study.json', json.dumps(facts, indent=1) + '\n')
        except OSError as error:
            raise ConfigurationError(f'{folder}: {error.strerror}') from error
        return session

    @classmethod
    def resume(cls, folder: Path, study: str, workers: int) -> Session:
        """Return the session of an earlier run; ConfigurationError if there is none of it."""
        try:
            facts = json.loads((folder / 'study.json').read_text())
        except OSError as error:
            raise ConfigurationError(
                f'{folder} holds no study: study.json: {error.strerror}'
            ) from error
        except ValueError as error:
            raise ConfigurationError(f'{folder / "study.json"} is no JSON: {error}') from error
        if not isinstance(facts, dict) or facts.get('format') != FORMAT:
            raise ConfigurationError(f'{folder / "study.json"}: expected format {FORMAT}')
        if facts['study'] != study:
            raise ConfigurationError(f"{folder} is a run of '{facts['study']}', not of '{study}'")
        return cls(folder, study, bool(facts['quick']), int(facts['seed']), workers)

    def seed_of(self, *key: int) -> int:
        """Return the seed of one item of the study."""
        return derived_seed(self.seed, *key)

    def picture(self, name: str) -> Path:
        """Return where a picture of this study belongs."""
        return self.folder / 'pictures' / f'{name}.png'

    def run(self, specs: Sequence[TrialSpec]) -> list[TrialResult]:
        """Return the results of trials, in order, run on all workers."""
        return self._evaluator.evaluate(specs)

    def record(self, spec: TrialSpec) -> Rollout:
        """Return the record of a trial that is run in this process."""
        return run_loop(spec).rollout()

    def evolve(
        self, name: str, experiment: str, overrides: Mapping[str, Any] = NOTHING
    ) -> Evolved:
        """
        Return an evolution of this study, run or resumed in ``runs/<name>`` of its folder.

        Parameters
        ----------
        name : str
        experiment : str
            Name or file.
        overrides : mapping
            As of ``load_experiment``.

        Raises
        ------
        ConfigurationError
            Also where no trial of it may win.

        """
        display = make_display()
        try:
            return self._evolved(name, experiment, overrides, self._evaluator, display)
        finally:
            display.close()

    def evolve_all(self, wanted: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[Evolved]:
        """
        Return several evolutions side by side, each on a worker process of its own.

        So all processors are busy also where a generation has fewer trials than there are
        processors. The results are those of ``evolve``.

        Parameters
        ----------
        wanted : mapping of str to (str, mapping)
            Experiment and overrides by name, as of ``evolve``.

        """
        stopped = threading.Event()

        def run(name: str) -> Evolved:
            evaluator = LocalEvaluator(workers=1)
            try:
                return self._evolved(name, *wanted[name], evaluator, _Marks(name, stopped))
            finally:
                evaluator.close()

        with ThreadPoolExecutor(min(self._workers, len(wanted))) as pool:
            futures = [pool.submit(run, name) for name in wanted]
            try:
                return [future.result() for future in futures]
            except BaseException:
                stopped.set()
                for future in futures:
                    future.cancel()
                raise

    def _evolved(
        self,
        name: str,
        experiment: str,
        overrides: Mapping[str, Any],
        evaluator: LocalEvaluator,
        listener: Listener,
    ) -> Evolved:
        folder = self.folder / 'runs' / name
        if (folder / 'run.yaml').exists():
            store, recorded = RunStore.open_run(folder)
        else:
            plan = resolve(load_experiment(experiment, overrides))
            store, recorded = RunStore.create(folder, plan), []
        try:
            Evolution(store, evaluator, recorded, listener).run()
        finally:
            store.close()
        return read_evolved(folder)

    def close(self) -> None:
        """End the worker processes."""
        self._evaluator.close()


class _Marks:
    """Tells of every hundredth generation of one evolution among several; ends it when asked."""

    def __init__(self, name: str, stopped: threading.Event) -> None:
        self._name, self._stopped, self._next = name, stopped, 100

    def __call__(self, progress: Progress) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        if progress.generation < self._next and not progress.finished:
            return
        self._next = progress.generation + 100
        best = 'none' if progress.best is None else f'{progress.best.fitness:.4f}'
        print(
            f'gait: {self._name}: generation {progress.generation}/{progress.generations}, '
            f'best {best} {progress.finished}',
            file=sys.stderr,
            flush=True,
        )


def read_evolved(folder: Path) -> Evolved:
    """Return a finished evolution from its run directory; ConfigurationError without a winner."""
    store, recorded = RunStore.open_run(folder)
    store.close()
    if not store.champion_file.exists():
        raise ConfigurationError(f'{folder}: no trial of this evolution may win')
    return Evolved(
        plan=store.plan,
        folder=folder,
        generations=recorded,
        champion=read_champion(store.champion_file),
    )
