# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Handle of a worker process: start, messages, liveness and end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import multiprocessing
from multiprocessing import resource_tracker
import multiprocessing.util
import os
import signal
import socket
import sys
import threading
from typing import Any

import numpy as np

from gait_core.processes import liveness
from gait_core.processes.python_command import SAFE_ENVIRONMENT
from gait_core.processes.worker_policy import HangWatch
from gait_evolver.evaluators import worker
from gait_evolver.evaluators.channel import MessageChannel

WORKER_ENVIRONMENT = {
    **dict.fromkeys(
        ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMBA_NUM_THREADS'), '1'
    ),
    **SAFE_ENVIRONMENT,
}
"""Variables of a worker process: one thread, and nothing imported from the working folder."""
_END_TIMEOUT = 2.0
_BEGUN_STATES = (liveness.RUNNING, liveness.WORKING)
_CONTEXT = multiprocessing.get_context('spawn')
if sys.version_info < (3, 11):
    # This Python does not know PYTHONSAFEPATH: ``-I`` isolates a worker instead, and the parent
    # process sends it the import path.
    multiprocessing.util._args_from_interpreter_flags = lambda: ['-I']  # type: ignore[attr-defined]

# One start at a time, because a start changes the environment of the whole process.
_STARTING = threading.Lock()


class WorkerProcess:
    """
    A spawned process that answers one message at a time; OSError if it cannot be started.

    Parameters
    ----------
    work : callable
        See ``WorkerPool``.
    announce : bool
        Whether it prints a line before it compiles kernels.

    Attributes
    ----------
    index : int or None
        Index of its present message; None if it is idle.

    """

    def __init__(self, work: worker.Work, announce: bool) -> None:
        self.index: int | None = None
        own_end, worker_end = socket.socketpair()
        with worker_end:
            memory = _CONTEXT.RawArray('q', liveness.PULSE_SIZE)
            self._pulse = np.frombuffer(memory, dtype=np.int64)
            arguments = (worker_end, memory, os.getpid(), announce, work)
            self._process: Any = _CONTEXT.Process(target=worker.main, args=arguments, daemon=True)
            try:
                with _STARTING, _worker_environment(), _signals_blocked():
                    self._process.start()
            except BaseException:
                own_end.close()
                raise
        self.channel = MessageChannel(own_end)
        self._watch = HangWatch(self.pid)

    @property
    def pid(self) -> int:
        """Process id."""
        return int(self._process.pid)

    @property
    def sentinel(self) -> int:
        """File descriptor that becomes readable when the process ends."""
        return int(self._process.sentinel)

    @property
    def is_alive(self) -> bool:
        """True if the process runs; its children could keep the channel open after its end."""
        return bool(self._process.is_alive())

    @property
    def has_begun(self) -> bool:
        """True if its work has begun: after loading, and not while compiling."""
        return self.index is not None and int(self._pulse[1]) in _BEGUN_STATES

    def start_work(self, index: int, message: Any) -> None:
        """Send a message; if the process has ended, reading the channel raises EOFError."""
        self.index = index
        self._watch.restart(int(self._pulse[0]))
        self.channel.send((index, message))

    def idle_time(self) -> float:
        """Return the time since its last progress, or since its message was sent [s]."""
        periods, state = (int(value) for value in self._pulse)
        return self._watch.update(periods, state)

    def describe_end(self) -> str:
        """Return one line on the end of the process, after its channel was closed."""
        self._process.join(_END_TIMEOUT)
        code = self._process.exitcode
        if code is None:
            return f'worker {self.pid} closed its connection'
        if code < 0:
            names = {int(item): item.name for item in signal.Signals}
            return f'worker {self.pid} was killed by {names.get(-code, f"signal {-code}")}'
        return f'worker {self.pid} ended with exit code {code}'

    def kill(self) -> None:
        """Close the channel and kill the process."""
        self.channel.close()
        self._process.kill()

    def join(self) -> None:
        """Wait for the end of the killed process."""
        self._process.join(_END_TIMEOUT)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the environment variables of workers, and restore those of this process at the end."""
    # Python, BLAS and Numba read these variables when the process starts.
    before = {name: os.environ.get(name) for name in WORKER_ENVIRONMENT}
    os.environ.update(WORKER_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _signals_blocked() -> Iterator[None]:
    # The first start of a process also starts the resource tracker of Python, which unblocks
    # SIGINT afterwards: it has to run before the signals are blocked.
    resource_tracker.ensure_running()
    # The new process inherits the mask: Ctrl-C must not end it before its handlers are set.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
