# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exceptions that a node survives or that end its construction, and throttled log lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import time
from typing import Any

# Shortest wall time [s] between two lines.
_MIN_INTERVAL = 10.0
START_TIME = 30.0
"""Time [s] for which other nodes may import and compile: to wait for them is no fault."""
CAUGHT_EXCEPTIONS = (Exception, SystemExit)
"""Exceptions of message and service callbacks that are caught, so that the node continues."""


class ThrottledLogger:
    """
    Logger of at most one line per 10 s of wall time, for conditions that last.

    It replaces rclpy's ``throttle_duration_sec``, which takes 1 ms to walk the stack at each call.

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

    def __call__(self, line: str, *, is_info: bool = False) -> None:
        """Log a line, at most as information, unless another was logged within the last 10 s."""
        if not self.is_due:
            return
        self._last = time.monotonic()
        # Separate calls, because rclpy raises if one line of code logs with two severities.
        if is_info:
            self._logger.info(line)
        elif self._is_error:
            self._logger.error(line)
        else:
            self._logger.warning(line)


@contextmanager
def destroyed_if_refused(node: Any) -> Iterator[None]:
    """
    Destroy a node if the rest of its constructor raises an exception or is interrupted.

    Nobody holds such a node, and its topics and services would stay in the graph.
    """
    try:
        yield
    except BaseException:
        node.destroy_node()
        raise
