"""What a benchmark measures: numbers with the budget that each is held to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time
from typing import Any


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

    """

    id: str
    what: str
    unit: str
    measured: float
    budget: float | None = None
    at_most: bool = True

    @property
    def within(self) -> bool:
        """Whether the budget is kept."""
        if self.budget is None:
            return True
        if self.at_most:
            return self.measured <= self.budget
        return self.measured >= self.budget


def least_time(run: Callable[[], Any], repeats: int = 5) -> float:
    """
    Return the least wall time of several runs [s].

    The least is what the work itself takes: whatever else the machine does only adds.
    """
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)
