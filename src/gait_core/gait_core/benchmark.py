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
        Short name; what is measured, for a person.
    unit : str
        ``-`` for a ratio.
    measured : float
    budget : float or None
        ``None``: for information.
    at_most : bool
        Whether the budget is an upper bound; else a lower one.
    group : str
        Heading of the table under which it stands.

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
        """Range that the budget leaves; ``None`` without one."""
        if self.budget is None:
            return None
        return Range(high=self.budget) if self.at_most else Range(low=self.budget)

    @property
    def verdict(self) -> str | None:
        """``pass`` or ``fail``; ``None`` without a budget."""
        return None if self.budget_range is None else self.budget_range.verdict(self.measured)

    @property
    def is_within_budget(self) -> bool:
        """True if the budget is kept, if there is one."""
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
    Return the least time that each of several runs reports [s]; they are run in turn.

    The least is what the work itself takes: whatever else the machine does only adds. In turn,
    because its speed drifts: ratios are then of runs that saw the same machine. Short runs are
    repeated until ``seconds`` are over, for their least is the most easily missed.
    """
    end = time.perf_counter() + seconds
    rows: list[list[float]] = []
    while len(rows) < repeats or time.perf_counter() < end:
        rows.append([run() for run in runs])
    return tuple(min(column) for column in zip(*rows, strict=True))


def shortest_wall_time(run: Callable[[], Any]) -> float:
    """Return the least wall time of several runs [s]."""
    return shortest_times(lambda: measure_wall_time(run))[0]
