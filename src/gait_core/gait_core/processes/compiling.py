# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compilation of Numba kernels by one process at a time, with a message to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
import fcntl
import os
from pathlib import Path
import tempfile
import time
from typing import Any

import numba
from numba.core import event

from gait_core.processes import liveness

_ANNOUNCE_DELAY = 1.0
_POLL_INTERVAL = 0.05
_MESSAGE = 'compiling kernels for this machine, once: up to half a minute of processor time'


def gufunc(types: str, layout: str) -> Callable[[Callable[..., None]], Any]:
    """
    Return the decorator of a kernel over the leading axes of arrays, which broadcast.

    It is ``numba.guvectorize`` with one process at a time filling the cache. Numba keeps a kernel
    and its loop in two files, and the loop calls the kernel by a name that contains a number of
    the process. If two processes each save one of the files, the loop calls a kernel that does
    not exist, and every later process crashes.

    Parameters
    ----------
    types : str
        Signature in Numba's types, such as ``'void(float64[:], float64[:])'``.
    layout : str
        Core dimensions, such as ``'(k)->(k)'``; the outputs are the last arguments.

    """
    vectorized = numba.guvectorize(types, layout, nopython=True, cache=True)

    def compiled(kernel: Callable[..., None]) -> Any:
        """Return the kernel over leading axes, compiled or read under the lock."""
        with _kernel_lock():
            return vectorized(kernel)

    return compiled


@contextmanager
def _kernel_lock() -> Iterator[None]:
    """Hold the lock file of the user; without a writable folder, go on without it."""
    lock = Path(tempfile.gettempdir()) / f'gait-kernels-{os.getuid()}.lock'
    with ExitStack() as held:
        held.callback(liveness.set_activity, liveness.set_activity(liveness.COMPILING))
        with suppress(OSError):
            _wait_for(held.enter_context(lock.open('w')).fileno())
        yield


def _wait_for(lock: int) -> None:
    """Wait for a lock, with signs of life meanwhile: its holder may compile for long."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            liveness.count_period()
            time.sleep(_POLL_INTERVAL)
        else:
            return


def announce_compiling(report: Callable[[str], None], patience: float = _ANNOUNCE_DELAY) -> None:
    """
    Report once in this process that kernels are being compiled.

    Parameters
    ----------
    report : callable
        Called with one line.
    patience : float [s]
        Time of compiling before the report.

    """
    event.register('numba:compile', _AnnouncingListener(report, patience))


def is_compiling() -> bool:
    """Return whether kernels are being compiled, in a process that called ``mark_compiling``."""
    return liveness.current_activity() == liveness.COMPILING


def mark_compiling() -> None:
    """Set the activity that ``liveness`` reports to COMPILING while kernels are compiled."""
    event.register('numba:compile', _ActivityListener())


class _ActivityListener(event.Listener):  # type: ignore[misc]
    """Listener that sets the activity COMPILING, and afterwards the previous one."""

    def __init__(self) -> None:
        self._before: list[int] = []

    def on_start(self, event: event.Event) -> None:
        """Begin a compilation, or one within another."""
        self._before.append(liveness.set_activity(liveness.COMPILING))

    def on_end(self, event: event.Event) -> None:
        """End a compilation."""
        liveness.set_activity(self._before.pop())


class _AnnouncingListener(event.Listener):  # type: ignore[misc]
    """Listener that reports once when compiling, nested compilations included, takes long."""

    def __init__(self, report: Callable[[str], None], patience: float) -> None:
        self._report, self._patience = report, patience
        self._depth = 0
        self._began = self._spent = 0.0
        self._said = False

    def on_start(self, event: event.Event) -> None:
        """Begin a compilation, or one within another; report it if the time is up."""
        now = time.monotonic()
        if self._depth == 0:
            self._began = now
        self._depth += 1
        if not self._said and self._spent + now - self._began >= self._patience:
            self._said = True
            self._report(_MESSAGE)

    def on_end(self, event: event.Event) -> None:
        """Count the time of a compilation that is not within another."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._began
