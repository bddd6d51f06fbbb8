# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pool of worker processes that repeats the work of a lost worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
import os
import select
import time
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.processes.worker_policy import HANG_TIME, PATIENCE, LossCallback, LossCounter
from gait_evolver.evaluators.worker import RAISED, REFUSED, SHORTAGE, Work
from gait_evolver.evaluators.worker_process import WorkerProcess

_POLL_TIME = 0.25


class WorkerPool:
    """
    Spawned processes of one BLAS thread that each answer one message at a time.

    A process starts when there is a message for it, and keeps what it has loaded. It ends with
    the thread that started it, or with this process.

    Parameters
    ----------
    work : callable
        A function defined at module level, or a ``partial`` of one: it is pickled. It calls
        ``liveness.set_activity(WORKING)`` when the work itself begins.
    workers : int
        Number of processes; 0: one per processor.
    hang : float [s]
        Time without progress (``HangWatch``) after which a worker counts as lost.
    patience : float [s]
        See ``LossCounter``.

    Attributes
    ----------
    size : int
        Number of processes when all are running.

    """

    def __init__(
        self,
        work: Work,
        workers: int = 0,
        *,
        hang: float = HANG_TIME,
        patience: float = PATIENCE,
    ) -> None:
        self.size = workers or os.cpu_count() or 1
        self._work, self._hang = work, hang
        self._workers: list[WorkerProcess] = []
        self._losses = LossCounter(patience=patience)
        self._resume_at = 0.0

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the started workers."""
        return tuple(worker.pid for worker in self._workers)

    def run(
        self,
        count: int,
        make_message: Callable[[int], Any],
        lost: LossCallback,
        check: Callable[[], None] = lambda: None,
    ) -> Generator[tuple[int, Any], None, None]:
        """
        Yield index and answer of each message, in order of completion; close it to stop early.

        Parameters
        ----------
        count : int
            Number of messages.
        make_message : callable
            Returns the message of an index below ``count``; called when a worker is idle.
        lost : callable
            Called with the index, or None, and the reason for each lost worker.
        check : callable
            Called several times per second; an exception from it ends the work.

        Raises
        ------
        ConfigurationError
            If the work raises it.
        RuntimeError
            If the work raises anything else; its text is that of ``describe_exception``.
        DeadlyTrial, NoWorkers
            See ``LossCounter``.

        """
        waiting, unanswered = deque(range(count)), count
        self._losses.begin(lost)
        try:
            while unanswered:
                self._dispatch(make_message, waiting)
                self._wait()
                check()
                for answer in self._read_answers(waiting):
                    unanswered -= 1
                    yield answer
        except BaseException:
            # Answers to these messages would arrive in the next call.
            self.close()
            raise

    def close(self) -> None:
        """End the worker processes, even in the middle of their work."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.join()
        self._workers = []

    def _dispatch(self, make_message: Callable[[int], Any], waiting: deque[int]) -> None:
        """Start missing workers and send messages to idle ones."""
        idle = [worker for worker in self._workers if worker.index is None]
        while len(idle) < len(waiting) and len(self._workers) < self.size:
            if time.monotonic() < self._resume_at:
                break
            try:
                # All workers compile the same kernels: only the first one prints that.
                self._workers.append(WorkerProcess(self._work, announce=not self._workers))
            except OSError as error:
                self._count_loss(None, f'a worker cannot be started: {error.strerror}')
                break
            idle.append(self._workers[-1])
        for worker in idle[: len(waiting)]:
            index = waiting.popleft()
            worker.start_work(index, make_message(index))

    def _wait(self) -> None:
        """Wait until a worker answers, can take more bytes or ends, at most ``_POLL_TIME``."""
        poll = select.poll()
        for worker in self._workers:
            writing = select.POLLOUT if worker.channel.is_writing else 0
            poll.register(worker.channel.fileno(), select.POLLIN | writing)
            poll.register(worker.sentinel, select.POLLIN)
        poll.poll(1000.0 * _POLL_TIME)

    def _read_answers(self, waiting: deque[int]) -> Generator[tuple[int, Any], None, None]:
        """Yield the answers that have arrived; discard lost workers and requeue their work."""
        for worker in tuple(self._workers):
            worker.channel.flush()
            # Asked before reading, so that all answers of a dead worker are read below.
            is_alive = worker.is_alive
            try:
                received = worker.channel.read_messages()
            except EOFError:
                self._discard_worker(worker, worker.describe_end(), waiting)
                continue
            for index, kind, content in received:
                if kind == REFUSED:
                    raise ConfigurationError(content)
                if kind == RAISED:
                    raise RuntimeError(content)
                if kind == SHORTAGE:
                    self._discard_worker(worker, f'worker {worker.pid}: {content}', waiting)
                    break
                worker.index = None
                self._losses.count_result()
                yield index, content
            if received:
                continue
            if not is_alive:
                self._discard_worker(worker, worker.describe_end(), waiting)
            elif worker.index is not None and worker.idle_time() > self._hang:
                reason = f'worker {worker.pid} ran no control period for {self._hang:g} s'
                self._discard_worker(worker, reason, waiting)

    def _discard_worker(self, worker: WorkerProcess, reason: str, waiting: deque[int]) -> None:
        """Kill and remove a worker, and put its message at the end of the queue."""
        # Read before the kill: a loss while loading is not the fault of the message.
        began = worker.has_begun
        self._workers.remove(worker)
        worker.kill()
        worker.join()
        if worker.index is not None:
            waiting.append(worker.index)
        self._count_loss(worker.index, reason, began)

    def _count_loss(self, index: int | None, reason: str, began: bool = False) -> None:
        """Count a loss; no worker starts before the delay that ``LossCounter`` sets."""
        self._losses.count_loss(index, reason, by_trial=began)
        self._resume_at = time.monotonic() + self._losses.start_delay
