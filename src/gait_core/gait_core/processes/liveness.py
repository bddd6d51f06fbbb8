# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Signs of life of a process that runs trials: its count of control periods, and its activity.

Both are integers in memory that a watching process can share. Counting is a single addition, in
compiled loops too, and costs a trial no time.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import IntArray

STARTING, IDLE, RUNNING, COMPILING, WORKING = range(5)
"""Activities: loading code and robots, waiting for a trial, running one, compiling kernels, and
work that need not make control periods."""

PULSE_SIZE = 2
"""Number of integers of a pulse: the count, then the activity."""

_pulse: IntArray = np.zeros(PULSE_SIZE, dtype=np.int64)


def use_shared_memory(memory: IntArray) -> None:
    """Move this process's pulse to shared memory, (PULSE_SIZE,)."""
    global _pulse
    # The count goes on: a watcher compares counts and must not mistake a reset for a period.
    memory[:] = _pulse
    _pulse = memory


def period_counter() -> IntArray:
    """Return the count of control periods, (1,), for compiled loops to add to."""
    return _pulse[:1]


def count_period() -> None:
    """Count a control period."""
    _pulse[0] += 1


def period_count() -> int:
    """Return how many control periods this process has run, settling included."""
    return int(_pulse[0])


def current_activity() -> int:
    """Return the activity of this process."""
    return int(_pulse[1])


def set_activity(activity: int) -> int:
    """Set the activity of this process and return the previous one."""
    before = int(_pulse[1])
    _pulse[1] = activity
    return before
