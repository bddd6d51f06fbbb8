"""
Signs of life of a process that runs trials: its count of control periods, and its activity.

Both are integers in memory that a watching process may share. Counting is one addition, also in
compiled loops, so that it does not slow a trial down.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import IntArray

STARTING, IDLE, RUNNING, COMPILING, WORKING = range(5)
"""Activities: loading code and robots, waiting for a trial, running one, compiling kernels, and
work that need not make control periods."""

SIZE = 2
"""Number of integers of a pulse: the count, then the activity."""

_memory: IntArray = np.zeros(SIZE, dtype=np.int64)


def share(memory: IntArray) -> None:
    """Move this process's pulse to shared memory, (SIZE,)."""
    global _memory
    # The count goes on: a watcher compares counts and must not mistake a reset for a period.
    memory[:] = _memory
    _memory = memory


def counter() -> IntArray:
    """Return the count of control periods, (1,), for compiled loops to add to."""
    return _memory[:1]


def beat() -> None:
    """Count a control period."""
    _memory[0] += 1


def periods() -> int:
    """Return how many control periods this process has run, settling included."""
    return int(_memory[0])


def state() -> int:
    """Return the activity of this process."""
    return int(_memory[1])


def enter(state: int) -> int:
    """Set the activity of this process and return the previous one."""
    before = int(_memory[1])
    _memory[1] = state
    return before
