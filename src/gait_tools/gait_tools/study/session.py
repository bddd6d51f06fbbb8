# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Session of a study: evaluator, run directory and options shared by its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
import json
import math
import os
from pathlib import Path
import sys
import threading
import time
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import check_format, read_json, write_atomically
from gait_core.trial.champion import Champion, read_champion
from gait_core.trial.loop import run_loop
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.seeding import check_seed, derived_seed
from gait_core.trial.spec import EXCEPTION, TrialResult, TrialSpec
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.loop import Evolution, EvolutionProgress
from gait_evolver.plan import Plan, load_plan
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore
from gait_tools.progress import make_progress_display
from gait_tools.study.tasks import run_tasks

SESSION_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class FinishedEvolution:
    """A finished evolution of a study: its plan, its rows by generation and its champion."""

    plan: Plan
    folder: Path
    generations: Sequence[Sequence[TrialRow]]
    champion: Champion

    @property
    def rows(self) -> list[TrialRow]:
        """Every trial, in order."""
        return [row for rows in self.generations for row in rows]


class StudySession:
    """
    Run of a study in a folder of its own.

    Made by ``create`` and ``resume``; ``close`` ends its worker processes.

    Parameters
    ----------
    folder : Path
    study : str
    quick : bool
        Fewer and shorter trials, in under five minutes.
    seed : int
    workers : int
        Number of worker processes; 0: one per processor.

    """

    def __init__(self, folder: Path, study: str, quick: bool, seed: int, workers: int) -> None:
        self.folder, self.study, self.quick = folder, study, quick
        self.seed = check_seed(seed)
        self._workers = workers or os.cpu_count() or 1
        self._evaluator = LocalEvaluator(workers=workers)
        self._earlier_seconds, self._began = 0.0, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time of this run and of earlier ones that were closed [s]."""
        return self._earlier_seconds + time.perf_counter() - self._began

    @classmethod
    def create(
        cls, folder: Path, study: str, quick: bool, seed: int, workers: int
    ) -> StudySession:
        """Return the session of a new folder; ConfigurationError if it holds a study already."""
        session = cls(folder, study, quick, seed, workers)
        if (folder / 'study.json').exists():
            raise ConfigurationError(
                f'{folder} holds a study already: resume it, or choose another folder'
            )
        try:
            (folder / 'pictures').mkdir(parents=True, exist_ok=True)
            session._write_facts()
        except OSError as error:
            raise ConfigurationError(f'{folder}: {error.strerror}') from error
        return session

    @classmethod
    def resume(cls, folder: Path, study: str, workers: int) -> StudySession:
        """Return the session of an earlier run; ConfigurationError if there is none of it."""
        file = folder / 'study.json'
        if not file.exists():
            raise ConfigurationError(f'{folder} holds no study: it has no study.json')
        facts = check_format(read_json(file), SESSION_FORMAT, str(file))
        if facts.get('study') != study:
            raise ConfigurationError(
                f"{folder} is a run of '{facts.get('study')}', not of '{study}'"
            )
        quick, seed = facts.get('quick'), facts.get('seed')
        if type(quick) is not bool or type(seed) is not int:
            raise ConfigurationError(
                f'{file} was changed: quick is {quick!r} and seed {seed!r}, expected true or '
                'false and a whole number'
            )
        seconds = facts.get('seconds', 0.0)
        if type(seconds) is not float or not math.isfinite(seconds):
            raise ConfigurationError(
                f'{file} was changed: seconds is {seconds!r}, expected a number'
            )
        session = cls(folder, study, quick, seed, workers)
        session._earlier_seconds = seconds
        return session

    def _write_facts(self) -> None:
        facts = {
            'format': SESSION_FORMAT,
            'study': self.study,
            'quick': self.quick,
            'seed': self.seed,
            'seconds': self.seconds,
        }
        write_atomically(self.folder / 'study.json', json.dumps(facts, indent=1) + '\n')

    def derive_seed(self, *key: int) -> int:
        """Return a seed derived from the study's seed and a key."""
        return derived_seed(self.seed, *key)

    def picture(self, name: str) -> Path:
        """Return the path of a picture of this study."""
        return self.folder / 'pictures' / f'{name}.png'

    def run(self, specs: Sequence[TrialSpec]) -> list[TrialResult]:
        """Run trials on all workers and return their results in order."""
        results = self._evaluator.evaluate(specs)
        for result in results:
            if result.status == EXCEPTION:
                raise RuntimeError(f'a trial of the study raised an exception: {result.reason}')
        return results

    def record(self, spec: TrialSpec) -> Rollout:
        """Run a trial in this process and return its rollout."""
        return run_loop(spec).rollout()

    def evolve(
        self, name: str, experiment: str, overrides: Mapping[str, Any] = EMPTY_MAPPING
    ) -> FinishedEvolution:
        """
        Run or resume an evolution in ``runs/<name>`` of the study's folder, and return it.

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
            Also if none of its trials has a fitness.

        """
        store, recorded = self._open_store(name, experiment, overrides)
        display = make_progress_display()
        try:
            Evolution(store, self._evaluator, recorded, display, say=display.note).run()
        finally:
            display.close()
            store.close()
        return read_finished_evolution(store.folder)

    def evolve_in_parallel(
        self, evolutions: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> list[FinishedEvolution]:
        """
        Run or resume several evolutions in parallel, each on one worker process.

        This uses all processors even if a generation has few trials. The results are equal to
        those of ``evolve``.

        Parameters
        ----------
        evolutions : mapping of str to (str, mapping)
            Experiment and overrides by name, as of ``evolve``.

        """
        stopped = threading.Event()
        with ExitStack() as stack:
            opened = {}
            for name, (experiment, overrides) in evolutions.items():
                store, recorded = self._open_store(name, experiment, overrides)
                stack.callback(store.close)
                opened[name] = store, recorded

            def run(name: str) -> None:
                """Run one evolution to its end."""
                evaluator, marks = LocalEvaluator(workers=1), _GenerationPrinter(name, stopped)
                try:
                    Evolution(opened[name][0], evaluator, opened[name][1], marks).run()
                finally:
                    evaluator.close()

            with ThreadPoolExecutor(min(self._workers, len(evolutions))) as pool:
                futures = [pool.submit(run, name) for name in evolutions]
                try:
                    for future in futures:
                        future.result()
                except BaseException:
                    stopped.set()
                    for future in futures:
                        future.cancel()
                    raise
        return [read_finished_evolution(self.folder / 'runs' / name) for name in evolutions]

    def run_tasks(
        self, name: str, function: Callable[[Any], Any], tasks: Mapping[str, Any]
    ) -> dict[str, Any]:
        """
        Run independent tasks on all workers, resumed from a file, and return their results.

        Parameters
        ----------
        name : str
            Name of the file.
        function : callable
        tasks : mapping
            See ``tasks.run_tasks``.

        """
        return run_tasks(function, tasks, self.folder / f'{name}.jsonl', self._workers)

    def _open_store(
        self, name: str, experiment: str, overrides: Mapping[str, Any]
    ) -> tuple[RunStore, list[list[TrialRow]]]:
        """Return the store of an evolution of this study and its recorded generations."""
        folder = self.folder / 'runs' / name
        if (folder / 'run.yaml').exists():
            return RunStore.open_run(folder)
        plan = load_plan(experiment, overrides)
        return RunStore.create(folder, plan), []

    def close(self) -> None:
        """End the worker processes and record the time of this run."""
        self._evaluator.close()
        self._write_facts()


class _GenerationPrinter:
    """Listener that prints every hundredth generation, and stops the evolution on an event."""

    def __init__(self, name: str, stopped: threading.Event) -> None:
        self._name, self._stopped, self._next = name, stopped, 100

    def __call__(self, progress: EvolutionProgress) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        if progress.generation < self._next and not progress.stop_reason:
            return
        self._next = progress.generation + 100
        best = 'none' if progress.best is None else f'{progress.best.fitness:.4f}'
        print(
            f'gait: {self._name}: generation {progress.generation}/{progress.generations}, '
            f'best {best} {progress.stop_reason}',
            file=sys.stderr,
            flush=True,
        )


def read_finished_evolution(folder: Path) -> FinishedEvolution:
    """Return the finished evolution of a run directory; ConfigurationError without a champion."""
    store, recorded = RunStore.open_run(folder)
    store.close()
    if not store.champion_file.exists():
        raise ConfigurationError(f'{folder}: no trial of this evolution has a fitness')
    return FinishedEvolution(
        plan=store.plan,
        folder=folder,
        generations=recorded,
        champion=read_champion(store.champion_file),
    )
