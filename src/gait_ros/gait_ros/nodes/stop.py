"""SIGINT, SIGTERM and SIGHUP as a flag, so that no exception interrupts a clean-up."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import signal
from traceback import walk_stack
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar('Result')
# What LLVM calls while it compiles: an exception in there is printed and lost.
_LLVM_CALLBACK = '_raw_object_cache'


class Interrupted(BaseException):
    """A signal during work that needs no clean-up."""


class StopFlag:
    """Flag that becomes true at the first SIGINT, SIGTERM or SIGHUP."""

    def __init__(self) -> None:
        self._requested = False
        self._wake: Callable[[], Any] | None = None

    def __bool__(self) -> bool:
        return self._requested

    def set_wake(self, wake: Callable[[], Any]) -> None:
        """Call this when a signal comes, to end a wait early."""
        self._wake = wake

    def run_interruptible(self, work: Callable[[], Result]) -> Result:
        """
        Return what a function returns.

        Raises
        ------
        Interrupted
            At once if a signal comes during the function, or has come before.

        """

        def interrupt() -> None:
            """End the work, unless it would only be spoilt: then at the next signal."""
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
        """Take a signal."""
        self._requested = True
        if self._wake is not None:
            self._wake()


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@cache
def install_stop_flag() -> StopFlag:
    """Return the process's one flag; the first call, in the main thread, installs it."""
    stop = StopFlag()
    for number in _SIGNALS:
        # Under nohup SIGHUP is ignored, and must stay so.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop.on_signal)
    return stop


def ignore_signals() -> None:
    """Let nothing disturb the end of the process."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
