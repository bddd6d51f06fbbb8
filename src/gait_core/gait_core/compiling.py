"""Says once that kernels are being compiled, which Numba does without a word."""

from __future__ import annotations

from collections.abc import Callable
import time

from numba.core import event

_PATIENCE = 1.0
_WORDS = 'compiling kernels for this machine, once: up to half a minute of processor time'


def announce_compiling(say: Callable[[str], None], patience: float = _PATIENCE) -> None:
    """
    Have one line said in this process as soon as kernels are not found compiled.

    Parameters
    ----------
    say : callable
        Takes the line.
    patience : float [s]
        Of compiling before it is worth a word.

    """
    event.register('numba:compile', _Compiling(say, patience))


class _Compiling(event.Listener):  # type: ignore[misc]
    """Numba tells it of each kernel that it compiles; those inside another are told within."""

    def __init__(self, say: Callable[[str], None], patience: float) -> None:
        self._say, self._patience = say, patience
        self._depth = 0
        self._began = self._spent = 0.0
        self._said = False

    def on_start(self, event: event.Event) -> None:
        """Begin a compilation, or one within another; say so once it takes long."""
        now = time.monotonic()
        if self._depth == 0:
            self._began = now
        self._depth += 1
        if not self._said and self._spent + now - self._began >= self._patience:
            self._said = True
            self._say(_WORDS)

    def on_end(self, event: event.Event) -> None:
        """Count the time of a compilation that is not within another."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._began
