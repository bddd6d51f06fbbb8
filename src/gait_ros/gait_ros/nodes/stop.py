# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Flag for SIGINT, SIGTERM and SIGHUP, so that no exception interrupts a clean-up."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import signal
from traceback import walk_stack
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar('Result')
# Callback of LLVM during compilation, in which an exception would be printed and lost.
_LLVM_CALLBACK = '_raw_object_cache'


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
            """Interrupt the function, except in a callback of LLVM, which loses exceptions."""
            if not any(f.f_code.co_name.startswith(_LLVM_CALLBACK) for f, _ in walk_stack(None)):
                raise Interrupted

        self._wake = interrupt
        try:
            if self:
                raise Interrupted
            return work()
        except Exception:
            if self:
                raise Interrupted from None
            raise
        finally:
            self._wake = None

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
    for number in _SIGNALS:
        # Under nohup, SIGHUP is ignored and must stay ignored.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop.on_signal)
    return stop


def ignore_signals() -> None:
    """Ignore signals from now on, at the end of the process."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
