"""Exceptions that do not end a node, and log lines with a limit on their repetition."""

from __future__ import annotations

import time
from typing import Any

_MIN_INTERVAL = 10.0
CAUGHT_EXCEPTIONS = (Exception, SystemExit)
"""Exceptions of message and service callbacks that do not end their node."""


class ThrottledLogger:
    """
    Logger of a condition that may last: at most one line in 10 s of wall time.

    The ``throttle_duration_sec`` of rclpy walks the stack at every call, which takes 1 ms.

    Parameters
    ----------
    logger
        Logger of a node.
    is_error : bool
        Whether lines are errors; else warnings.

    """

    def __init__(self, logger: Any, *, is_error: bool = True) -> None:
        self._logger, self._is_error = logger, is_error
        self._last = -float('inf')

    @property
    def is_due(self) -> bool:
        """True if a line would be logged now."""
        return time.monotonic() - self._last >= _MIN_INTERVAL

    def __call__(self, line: str) -> None:
        """Log a line unless one was logged shortly before."""
        if not self.is_due:
            return
        self._last = time.monotonic()
        # Two calls, because rclpy raises if one line of code logs with two severities.
        if self._is_error:
            self._logger.error(line)
        else:
            self._logger.warning(line)
