"""Trials in worker processes of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import multiprocessing
from multiprocessing.connection import Connection, wait
import os
import signal
import threading
import time
from typing import Any

from gait_core.canonical import plain, rebuild
from gait_core.contracts import Progress
from gait_core.errors import ConfigurationError
from gait_core.trial import unfinished
from gait_core.trial_spec import TrialResult, TrialSpec, invalid
from gait_evolver.evaluators import worker
from gait_evolver.evaluators.workload import Workload

ATTEMPTS = 2
"""How often a trial is run whose worker dies, before it is given up."""

_ONE_THREAD = dict.fromkeys(
    ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS'), '1'
)


class WorkerTraceback(Exception):
    """Carries the traceback of a worker as the cause of the error raised here."""

    def __str__(self) -> str:
        return f'in a worker process:\n{self.args[0]}'


# Evaluators of several threads would undo each other's environment.
_STARTING = threading.Lock()


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    trial: int | None = None


class LocalEvaluator:
    """
    Runs trials in spawned processes that keep their engines; each runs one BLAS thread.

    Parameters
    ----------
    workers : int
        Processes; 0 is one per processor of this machine.

    """

    def __init__(self, *, workers: int = 0) -> None:
        if workers < 0:
            raise ConfigurationError(f'workers is {workers}, it must not be negative')
        self._wanted = workers or os.cpu_count() or 1
        self._context = multiprocessing.get_context('spawn')
        self._workers: list[_Worker] = []
        self.workload = Workload()

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: Progress | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec, in their order.

        A trial whose worker dies is run again; if that dies too its status is
        ``invalid:worker_died``. An exception of a trial is raised here, with the traceback of
        the worker as its cause.
        """
        results: dict[int, TrialResult] = {}
        waiting, deaths = deque(range(len(specs))), [0] * len(specs)
        seen = time.monotonic()
        try:
            while len(results) < len(specs):
                self._dispatch(specs, waiting)
                for index, result in self._answers(specs, waiting, deaths):
                    results[index] = result
                    self.workload.busy += result.wall_time
                    if progress is not None:
                        progress(index, result)
                before, seen = seen, time.monotonic()
                self.workload.offered += (seen - before) * self._wanted
        except BaseException:
            # Trials under way would answer into the next call.
            self.close()
            raise
        return [results[index] for index in range(len(specs))]

    def close(self) -> None:
        """End the worker processes, also in the middle of a trial."""
        for one in self._workers:
            one.pipe.close()
            one.process.terminate()
        for one in self._workers:
            one.process.join(2.0)
            if one.process.is_alive():
                one.process.kill()
                one.process.join()
        self._workers = []

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that have been started."""
        return tuple(one.process.pid for one in self._workers)

    def _dispatch(self, specs: Sequence[TrialSpec], waiting: deque[int]) -> None:
        idle = [one for one in self._workers if one.trial is None]
        while len(idle) < len(waiting) and len(self._workers) < self._wanted:
            self._workers.append(self._started())
            idle.append(self._workers[-1])
        for one in idle[: len(waiting)]:
            one.trial = waiting.popleft()
            try:
                one.pipe.send((one.trial, plain(specs[one.trial])))
            except OSError:
                pass  # It died while idle: its pipe reports that as an end of file.

    def _answers(
        self,
        specs: Sequence[TrialSpec],
        waiting: deque[int],
        deaths: list[int],
    ) -> Iterator[tuple[int, TrialResult]]:
        by_pipe = {id(one.pipe): one for one in self._workers}
        for ready in wait([one.pipe for one in self._workers]):
            one = by_pipe[id(ready)]
            try:
                index, result, failure = one.pipe.recv()
            except (EOFError, OSError):
                lost = self._buried(one)
                if lost is None:
                    continue
                self.workload.lost_trials += 1
                deaths[lost] += 1
                if deaths[lost] < ATTEMPTS:
                    waiting.appendleft(lost)
                else:
                    yield (
                        lost,
                        unfinished(
                            specs[lost],
                            invalid('worker_died'),
                            f'{ATTEMPTS} worker processes died in this trial '
                            f'(the last with exit code {one.process.exitcode})',
                        ),
                    )
                continue
            one.trial = None
            if failure is not None:
                error, text = failure
                raise error from WorkerTraceback(text)
            yield index, rebuild(TrialResult, result)

    def _buried(self, one: _Worker) -> int | None:
        """Remove a dead worker and return the trial that it was running."""
        self._workers.remove(one)
        one.pipe.close()
        one.process.join(2.0)
        return one.trial

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        # What one compiles all compile: one word is enough.
        first = not self._workers
        process = self._context.Process(target=worker.main, args=(theirs, first), daemon=True)
        with _STARTING, _one_thread(), _interrupt_blocked():
            process.start()
        theirs.close()
        return _Worker(process, ours)


@contextmanager
def _one_thread() -> Iterator[None]:
    # Libraries read these when they are first imported: they must stand in the environment
    # that the new process inherits.
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    # The mask is inherited: Ctrl-C during the start of a worker finds it deaf until it has said
    # that it ignores the signal.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
