"""Distribution of trials among workers by the speed that each has shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_NEWEST_WEIGHT = 0.5
"""Weight of the newest trial in a worker's speed."""

_OVERDUE_FACTOR = 2.0
"""A trial that takes so many times as long as its worker should need may never end."""


class WorkerSpeeds:
    """Ticks per second of each worker, by name, from the trials that it ended."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def record(self, worker: str, ticks: int, seconds: float) -> None:
        """Count a trial of a worker, as long as it took the one who asked [s]."""
        if ticks < 1 or seconds <= 0.0:
            return
        rate = ticks / seconds
        known = self._rates.get(worker)
        self._rates[worker] = rate if known is None else known + _NEWEST_WEIGHT * (rate - known)

    def seconds(self, worker: str, ticks: int) -> float:
        """Return how long a worker will take [s]; a new one is taken for the fastest known."""
        rate = self._rates.get(worker, max(self._rates.values(), default=0.0))
        return ticks / rate if rate > 0.0 else 0.0


def is_worth_starting(
    pace: WorkerSpeeds, worker: str, waiting: Sequence[int], busy: Mapping[str, tuple[int, float]]
) -> bool:
    """
    Return whether an idle worker should take the next trial, or leave it to those at work.

    It should unless these, one trial after the other as each becomes free, would have ended all
    that wait before it ended the one.

    Parameters
    ----------
    pace : Pace
    worker : str
    waiting : sequence of int
        Ticks of each trial that waits, the next one first.
    busy : mapping of str to (int, float)
        Ticks of the trial of each worker that runs one, and how long it has been at it [s].

    """
    if not busy or not waiting:
        return bool(waiting)
    own = pace.seconds(worker, waiting[0])
    free = {
        name: max(0.0, pace.seconds(name, ticks) - elapsed)
        for name, (ticks, elapsed) in busy.items()
        # One that is far over its time may never end.
        if elapsed <= _OVERDUE_FACTOR * pace.seconds(name, ticks)
    }
    if not free:
        return True
    for ticks in waiting:
        name = min(free, key=lambda one: free[one] + pace.seconds(one, ticks))
        free[name] += pace.seconds(name, ticks)
        if free[name] >= own:
            return True
    return False


def find_overdue_worker(
    pace: WorkerSpeeds, worker: str, busy: Mapping[str, tuple[int, float]]
) -> str:
    """
    Return whose trial an idle worker should begin as well, where none waits; empty: nobody's.

    It is the one that is over twice its time by most, if this worker would have done it since
    then. Results are equal, so the first one counts.
    """
    late = {
        name: elapsed - _OVERDUE_FACTOR * pace.seconds(name, ticks) - pace.seconds(worker, ticks)
        for name, (ticks, elapsed) in busy.items()
        if pace.seconds(name, ticks) > 0.0
    }
    name = max(late, key=lambda one: late[one], default='')
    return name if name and late[name] > 0.0 else ''
