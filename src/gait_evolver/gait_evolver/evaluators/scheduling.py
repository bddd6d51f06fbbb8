# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distribution of trials among workers by their measured speeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TypeVar

Worker = TypeVar('Worker')

_NEWEST_WEIGHT = 0.5
"""Weight of the newest trial in the moving average of a worker's speed."""

_OVERDUE_FACTOR = 2.0
"""Multiple of its expected time after which a trial counts as overdue: it may never end."""


class WorkerSpeeds:
    """Speed [ticks/s] of each worker by name, as a moving average over its finished trials."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def record(self, worker: str, ticks: int, seconds: float) -> None:
        """Update the speed of a worker by a trial and its time as seen by the evaluator [s]."""
        if ticks < 1 or seconds <= 0.0:
            return
        rate = ticks / seconds
        known = self._rates.get(worker)
        self._rates[worker] = rate if known is None else known + _NEWEST_WEIGHT * (rate - known)

    def expected_time(self, worker: str, ticks: int) -> float:
        """
        Return the expected time of a trial on a worker [s]; 0 while no speed is known.

        A worker without a finished trial counts as fast as the fastest one.
        """
        rate = self._rates.get(worker)
        if rate is None:
            rate = max(self._rates.values(), default=0.0)
        return ticks / rate if rate > 0.0 else 0.0


def is_worth_starting(
    speeds: WorkerSpeeds,
    worker: str,
    waiting: Iterable[int],
    busy: Mapping[str, tuple[int, float]],
) -> bool:
    """
    Return whether an idle worker should start the next trial.

    It should not if the busy workers are expected to finish all waiting trials before this worker
    finishes one: a slow worker would only delay the end of the generation.

    Parameters
    ----------
    speeds : WorkerSpeeds
    worker : str
    waiting : iterable of int
        Ticks of each waiting trial, the next one first.
    busy : mapping of str to (int, float)
        Ticks of each busy worker's trial, and the time since its start [s].

    """
    following = iter(waiting)
    first = next(following, None)
    if first is None or not busy:
        return first is not None
    own_end = speeds.expected_time(worker, first)
    # Time [s] until each busy worker is free; an overdue one may never be.
    free_at = {
        name: max(0.0, speeds.expected_time(name, ticks) - elapsed)
        for name, (ticks, elapsed) in busy.items()
        if elapsed <= _OVERDUE_FACTOR * speeds.expected_time(name, ticks)
    }
    if not free_at:
        return True
    # List scheduling: each waiting trial goes to the busy worker that would finish it first. If
    # one of these trials then ends later than the next trial would on this worker, start here.
    for ticks in chain((first,), following):
        ends = {name: free_at[name] + speeds.expected_time(name, ticks) for name in free_at}
        name = min(ends, key=ends.__getitem__)
        free_at[name] = ends[name]
        if free_at[name] >= own_end:
            return True
    return False


def select_lone_workers(trials: Mapping[Worker, int]) -> set[Worker]:
    """Return the workers that alone run their trial, from the trial that each worker runs."""
    counts = Counter(trials.values())
    return {worker for worker, trial in trials.items() if counts[trial] == 1}


def find_overdue_worker(
    speeds: WorkerSpeeds, worker: str, busy: Mapping[str, tuple[int, float]]
) -> str:
    """
    Return the busy worker whose trial an idle worker should also start; empty: none of them.

    It is the worker whose trial is overdue by the longest time, if the idle worker would have
    finished that trial since it became overdue. Both results are equal, so the first one counts.
    """
    late = {
        name: elapsed
        - _OVERDUE_FACTOR * speeds.expected_time(name, ticks)
        - speeds.expected_time(worker, ticks)
        for name, (ticks, elapsed) in busy.items()
        if speeds.expected_time(name, ticks) > 0.0
    }
    name = max(late, key=late.__getitem__, default='')
    return name if name and late[name] > 0.0 else ''
