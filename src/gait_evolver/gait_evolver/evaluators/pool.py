"""Pool of worker processes, which runs work again whose worker was lost."""

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
    Spawned processes that answer messages, one at a time each; they run one BLAS thread.

    A process starts with the first message for it and keeps what it has loaded. It ends with the
    thread that started it, or with this process.

    Parameters
    ----------
    work : callable
        A function of a module, or a partial of one. It enters a state of ``liveness`` when the
        work itself begins.
    workers : int
        Number of processes; 0 is one per processor of this machine.
    hang : float [s]
        Time without progress (``HangWatch``) after which a worker counts as lost.
    patience : float [s]
        See ``Losses``.

    Attributes
    ----------
    size : int
        Number of processes wanted.

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
        """Process ids of the workers that have been started."""
        return tuple(one.pid for one in self._workers)

    def run(
        self, count: int, message: Callable[[int], Any], lost: LossCallback
    ) -> Generator[tuple[int, Any], None, None]:
        """
        Yield the index and the answer of each message as they come; close it to stop early.

        Parameters
        ----------
        count : int
        message : callable
            Returns the message of an index below the count, when a worker is there for it.
        lost : callable
            Told of each lost worker.

        Raises
        ------
        ConfigurationError
            If the work raises it.
        RuntimeError
            If the work raises anything else, with what ``describe_exception`` says of it.
        DeadlyTrial, NoWorkers
            See ``Losses``.

        """
        waiting, left = deque(range(count)), count
        self._losses.begin(lost)
        try:
            while left:
                self._dispatch(message, waiting)
                self._wait()
                for answer in self._read_answers(waiting):
                    left -= 1
                    yield answer
        except BaseException:
            # Answers to these messages would arrive in the next call.
            self.close()
            raise

    def close(self) -> None:
        """End the worker processes, also in the middle of their work."""
        for one in self._workers:
            one.kill()
        for one in self._workers:
            one.join()
        self._workers = []

    def _dispatch(self, message: Callable[[int], Any], waiting: deque[int]) -> None:
        """Give messages to idle workers, and start missing workers."""
        idle = [one for one in self._workers if one.index is None]
        while len(idle) < len(waiting) and len(self._workers) < self.size:
            if time.monotonic() < self._resume_at:
                break
            try:
                # All workers compile the same kernels: one of them announces it.
                self._workers.append(WorkerProcess(self._work, announce=not self._workers))
            except OSError as error:
                self._count_loss(None, f'a worker cannot be started: {error.strerror}')
                break
            idle.append(self._workers[-1])
        for one in idle[: len(waiting)]:
            index = waiting.popleft()
            one.start_work(index, message(index))

    def _wait(self) -> None:
        """Wait until a worker answers, has room for more bytes or ends, 0.25 s at most."""
        poll = select.poll()
        for one in self._workers:
            writing = select.POLLOUT if one.channel.is_writing else 0
            poll.register(one.channel.fileno(), select.POLLIN | writing)
            poll.register(one.sentinel, select.POLLIN)
        poll.poll(1000.0 * _POLL_TIME)

    def _read_answers(self, waiting: deque[int]) -> Generator[tuple[int, Any], None, None]:
        """Yield the answers that have come; put what lost workers had back into the queue."""
        for one in tuple(self._workers):
            one.channel.flush()
            alive = one.alive
            try:
                received = one.channel.read_messages()
            except EOFError:
                self._discard_worker(one, one.describe_end(), waiting)
                continue
            for index, kind, content in received:
                if kind == REFUSED:
                    raise ConfigurationError(content)
                if kind == RAISED:
                    raise RuntimeError(content)
                if kind == SHORTAGE:
                    self._discard_worker(one, f'worker {one.pid}: {content}', waiting)
                    break
                one.index = None
                self._losses.count_result()
                yield index, content
            if received:
                continue
            if not alive:
                self._discard_worker(one, one.describe_end(), waiting)
            elif one.index is not None and one.idle_time() > self._hang:
                reason = f'worker {one.pid} ran no control period for {self._hang:g} s'
                self._discard_worker(one, reason, waiting)

    def _discard_worker(self, one: WorkerProcess, reason: str, waiting: deque[int]) -> None:
        """Kill and remove a worker, and put its message at the end of the queue."""
        began = one.began
        self._workers.remove(one)
        one.kill()
        one.join()
        if one.index is not None:
            waiting.append(one.index)
        self._count_loss(one.index, reason, began)

    def _count_loss(self, index: int | None, reason: str, began: bool = False) -> None:
        self._losses.count_loss(index, reason, by_trial=began)
        self._resume_at = time.monotonic() + self._losses.start_delay
