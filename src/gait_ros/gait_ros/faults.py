"""Faults that do not end a node, and lines of the log that are repeated at most so often."""

from __future__ import annotations

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
    logger
        Of a node.
    is_error : bool
        Whether it is an error; else a warning.
    period : float [s]
        Of wall time.

    """

    def __init__(self, logger: Any, *, is_error: bool = True, period: float = _REPEAT) -> None:
        self._logger, self._is_error, self._period = logger, is_error, period
        self._said = -float('inf')

    def __call__(self, line: str) -> None:
        """Say a line unless one was said within the period."""
        now = time.monotonic()
        if now - self._said < self._period:
            return
        self._said = now
        # rclpy raises where one line of code logs with two severities.
        if self._is_error:
            self._logger.error(line)
        else:
            self._logger.warning(line)
