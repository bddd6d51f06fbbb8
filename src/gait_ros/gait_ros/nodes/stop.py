# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Flag for SIGINT, SIGTERM and SIGHUP, so that no exception interrupts a clean-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar('Result')
# Time [s] after which a lost exception is raised again, and time [s] from a signal after which an
# interruptible process ends in the middle of native code.
_RETRY_TIME, _MAX_NATIVE_TIME = 0.01, 1.0


class Interrupted(BaseException):
    """Signal that interrupted work without clean-up."""


class StopFlag:
    """Flag that becomes true at the first SIGINT, SIGTERM or SIGHUP."""

    def __init__(self) -> None:
        self._requested = False
        self._wake: Callable[[], Any] | None = None

    def __bool__(self) -> bool:
        return self._requested

    def set_wake(self, wake: Callable[[], Any]) -> None:
        """Set the function that a signal calls to end a wait early."""
        self._wake = wake

    def run_interruptible(self, work: Callable[[], Result]) -> Result:
        """
        Call a function that a signal may interrupt, and return its result.

        Raises
        ------
        Interrupted
            If a signal comes during the call, or came before it.

        """

        def interrupt() -> None:
            """Interrupt the function once: a second exception would interrupt its clean-up."""
            self._wake = None
            raise Interrupted

        def retry(lost: Any) -> None:
            """Interrupt the function again after a callback of LLVM or a destructor."""
            if not self:
                report_lost(lost)
            elif isinstance(lost.exc_value, Interrupted):
                self._wake = interrupt
                signal.setitimer(signal.ITIMER_REAL, _RETRY_TIME)

        # Python prints and drops an exception in code that is called from C.
        report_lost, sys.unraisablehook = sys.unraisablehook, retry
        self._wake = interrupt
        try:
            if self:
                raise Interrupted
            with exit_after_signal(_MAX_NATIVE_TIME):
                return work()
        except Exception:
            if self:
                raise Interrupted from None
            raise
        finally:
            self._wake = None
            sys.unraisablehook = report_lost

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Set the flag; the handler of a signal."""
        self._requested = True
        if self._wake is not None:
            self._wake()


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@cache
def install_stop_flag() -> StopFlag:
    """Return the flag of this process; the first call, in the main thread, installs it."""
    stop = StopFlag()
    _handle_signals(stop.on_signal)
    # The timer of ``run_interruptible``.
    signal.signal(signal.SIGALRM, stop.on_signal)
    return stop


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let a signal end the process at once with status 0, also before ``install_stop_flag``."""
    _handle_signals(lambda number, frame: os._exit(0))
    with exit_after_signal(0.0):
        yield


@contextmanager
def exit_after_signal(delay: float, is_stuck: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """
    End the process with status 0 if the context lasts ``delay`` [s] longer than a signal.

    It ends at the first moment from then on at which ``is_stuck`` is true. Python calls handlers
    of signals after native code only, and LLVM compiles for seconds on a busy machine. A thread
    reads the signals instead.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    has_left = threading.Event()

    def watch() -> None:
        """Wait for a signal, or for the end of the context, which closes the pipe."""
        if os.read(reading, 1):
            wait = delay
            while not has_left.wait(wait):
                if is_stuck():
                    os._exit(0)
                wait = _RETRY_TIME
        os.close(reading)

    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        has_left.set()
        signal.set_wakeup_fd(before)
        os.close(writing)


def ignore_signals() -> None:
    """Ignore signals from now on, at the end of the process."""
    for number in (*_SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _handle_signals(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Install the handler of all signals that end a node."""
    for number in _SIGNALS:
        # Under nohup, SIGHUP is ignored and must stay ignored.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
