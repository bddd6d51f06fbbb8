"""
Signs of life of a process that runs trials: a count of control periods, and what it is doing.

Both are whole numbers in memory that another process may share. Counting is one addition, also in
compiled loops, so that it costs a trial nothing.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import IntArray

STARTING, IDLE, RUNNING, COMPILING = range(4)
"""What a process does: it loads code and robots, waits, runs a trial, compiles kernels."""

SIZE = 2
"""Whole numbers that a pulse takes: the count, then the state."""

_memory: IntArray = np.zeros(SIZE, dtype=np.int64)


def share(memory: IntArray) -> None:
    """Keep this process's pulse in other memory, (SIZE,), from now on."""
    global _memory
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
    """Return what this process is doing."""
    return int(_memory[1])


def enter(state: int) -> int:
    """Say what this process is doing from now on; return what it did before."""
    before = int(_memory[1])
    _memory[1] = state
    return before
