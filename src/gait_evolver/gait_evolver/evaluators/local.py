"""Evaluator that runs trials in worker processes of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
import os
import select
import time

from gait_core.contracts import Evaluator, Progress
from gait_core.errors import ConfigurationError
from gait_core.parameters.schema import read_value
from gait_core.processes.worker_policy import HANG, PATIENCE, Losses, Lost
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_evolver.evaluators.worker import REFUSED, SHORTAGE
from gait_evolver.evaluators.worker_process import WorkerProcess

_POLL_TIME = 0.25


class LocalEvaluator(Evaluator):
    """
    Runs trials in spawned processes that keep their engines; each runs one BLAS thread.

    The processes end with the thread that started them, or with this process.

    Parameters
    ----------
    workers : int
        Number of processes; 0 is one per processor of this machine.
    hang : float [s]
        Time without a control period of its trial after which a worker counts as lost.
    patience : float [s]
        See ``Losses``.

    """

    def __init__(
        self, *, workers: int = 0, hang: float = HANG, patience: float = PATIENCE
    ) -> None:
        super().__init__(workers=workers)
        self._wanted = workers or os.cpu_count() or 1
        self._hang = hang
        self._workers: list[WorkerProcess] = []
        self._losses = Losses(patience=patience)
        self._resume_at = 0.0

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: Progress | None = None,
        lost: Lost | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec, in their order.

        An exception in a trial becomes its status. A trial whose worker is lost is run again.

        Raises
        ------
        ConfigurationError
            If a trial names something that does not exist or cannot be used here.
        DeadlyTrial, NoWorkers
            See ``Losses``.

        """
        results: dict[int, TrialResult] = {}
        waiting = deque(range(len(specs)))
        self._losses.begin(lost)
        seen = time.monotonic()
        try:
            while len(results) < len(specs):
                self._dispatch(specs, waiting)
                self._wait()
                for index, result in self._answers(waiting):
                    results[index] = result
                    self.workload.busy += result.wall_time
                    if progress is not None:
                        progress(index, result)
                before, seen = seen, time.monotonic()
                self.workload.offered += (seen - before) * self._wanted
        except BaseException:
            # Answers to these trials would arrive in the next call.
            self.close()
            raise
        return [results[index] for index in range(len(specs))]

    def close(self) -> None:
        """End the worker processes, also in the middle of a trial."""
        for one in self._workers:
            one.kill()
        for one in self._workers:
            one.join()
        self._workers = []

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that have been started."""
        return tuple(one.pid for one in self._workers)

    def _dispatch(self, specs: Sequence[TrialSpec], waiting: deque[int]) -> None:
        """Give trials to idle workers, and start missing workers."""
        idle = [one for one in self._workers if one.trial is None]
        while len(idle) < len(waiting) and len(self._workers) < self._wanted:
            if time.monotonic() < self._resume_at:
                break
            try:
                # All workers compile the same kernels: one of them announces it.
                self._workers.append(WorkerProcess(announce=not self._workers))
            except OSError as error:
                self._count(None, f'a worker cannot be started: {error.strerror}')
                break
            idle.append(self._workers[-1])
        for one in idle[: len(waiting)]:
            index = waiting.popleft()
            one.give(index, specs[index])

    def _wait(self) -> None:
        """Wait until a worker answers, has room for more bytes or ends, 0.25 s at most."""
        poll = select.poll()
        for one in self._workers:
            writing = select.POLLOUT if one.channel.writing else 0
            poll.register(one.channel.fileno(), select.POLLIN | writing)
            poll.register(one.sentinel, select.POLLIN)
        poll.poll(1000.0 * _POLL_TIME)

    def _answers(self, waiting: deque[int]) -> Iterator[tuple[int, TrialResult]]:
        """Yield the results that have come; put trials of lost workers back into the queue."""
        for one in tuple(self._workers):
            one.channel.flush()
            alive = one.alive
            try:
                messages = one.channel.received()
            except EOFError:
                self._lose(one, one.ended(), waiting)
                continue
            for index, kind, content in messages:
                if kind == REFUSED:
                    raise ConfigurationError(content)
                if kind == SHORTAGE:
                    self._lose(one, f'worker {one.pid}: {content}', waiting)
                    break
                one.trial = None
                self._losses.passed()
                yield index, read_value(TrialResult, content)
            if messages:
                continue
            if not alive:
                self._lose(one, one.ended(), waiting)
            elif one.trial is not None and one.idle_time() > self._hang:
                reason = f'worker {one.pid} ran no control period for {self._hang:g} s'
                self._lose(one, reason, waiting)

    def _lose(self, one: WorkerProcess, reason: str, waiting: deque[int]) -> None:
        """Kill and remove a worker, and put its trial at the end of the queue."""
        began = one.began
        self._workers.remove(one)
        one.kill()
        one.join()
        if one.trial is not None:
            self.workload.lost_trials += 1
            waiting.append(one.trial)
        self._count(one.trial, reason, began)

    def _count(self, index: int | None, reason: str, began: bool = False) -> None:
        self.lost_workers += 1
        self._losses.lost(index, reason, by_trial=began)
        self._resume_at = time.monotonic() + self._losses.delay
