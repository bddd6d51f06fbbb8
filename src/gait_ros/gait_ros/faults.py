"""Faults that do not end a node, and lines of the log that are repeated at most so often."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

_REPEAT = 10.0
FAULTS = (Exception, SystemExit)
"""What the code behind a message or a request may raise without ending its node."""


class Repeated:
    """
    A line for the log that is said again only while it lasts, and not more often than that.

    Parameters
    ----------
    say : callable
        Takes one line for the log.
    period : float [s]
        Of wall time.

    """

    def __init__(self, say: Callable[[str], Any], period: float = _REPEAT) -> None:
        self._say, self._period = say, period
        self._said = -float('inf')

    def __call__(self, line: str) -> None:
        """Say a line unless one was said within the period."""
        now = time.monotonic()
        if now - self._said >= self._period:
            self._said = now
            self._say(line)
