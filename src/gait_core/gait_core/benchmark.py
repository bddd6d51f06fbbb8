# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measurements of a benchmark, each with its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time
from typing import Any

from gait_core.verdict import FAIL, Range


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """
    One row of the benchmark table.

    Attributes
    ----------
    id, what : str
        Short name; description of the measured quantity.
    unit : str
        ``-`` for a ratio.
    measured : float
    budget : float or None
        ``None``: the row is for information only.
    at_most : bool
        Whether the budget is an upper bound; else a lower one.
    group : str
        Heading of its table.

    """

    id: str
    what: str
    unit: str
    measured: float
    budget: float | None = None
    at_most: bool = True
    group: str = ''

    @property
    def budget_range(self) -> Range | None:
        """Allowed range; ``None`` without a budget."""
        if self.budget is None:
            return None
        return Range(high=self.budget) if self.at_most else Range(low=self.budget)

    @property
    def verdict(self) -> str | None:
        """``pass`` or ``fail``; ``None`` without a budget."""
        return None if self.budget_range is None else self.budget_range.verdict(self.measured)

    @property
    def is_within_budget(self) -> bool:
        """True unless a budget is exceeded."""
        return self.verdict != FAIL


def measure_wall_time(run: Callable[[], Any]) -> float:
    """Return the wall time of one run [s]."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def shortest_times(
    *runs: Callable[[], float], repeats: int = 5, seconds: float = 0.0
) -> tuple[float, ...]:
    """
    Return the shortest time that each of several functions reports [s].

    The minimum is the time of the work itself: other load of the machine only adds to it. The
    functions are called in turn, so that a drift of the machine's speed affects all of them and
    cancels in their ratios.

    Parameters
    ----------
    *runs : callable
        Each returns the time of one run [s].
    repeats : int
        Least number of runs of each function.
    seconds : float [s]
        Least duration of the measurement: a short one easily misses the minimum.

    """
    end = time.perf_counter() + seconds
    rows: list[list[float]] = []
    while len(rows) < repeats or time.perf_counter() < end:
        rows.append([run() for run in runs])
    return tuple(min(column) for column in zip(*rows, strict=True))


def shortest_wall_time(run: Callable[[], Any]) -> float:
    """Return the shortest wall time of several runs [s]."""
    return shortest_times(lambda: measure_wall_time(run))[0]
