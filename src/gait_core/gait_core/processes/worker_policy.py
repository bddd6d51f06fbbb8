# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Policy for lost workers, common to all evaluators: detection, repetition of trials, end of a run.

The trial of a lost worker is run again, and its loss is never a score. A run ends, and can be
resumed, if one trial ends several workers while other trials finish, or if workers are lost and no
trial finishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import os
import sys
import time

from gait_core.errors import DeadlyTrial, NoWorkers
from gait_core.processes import liveness

MAX_LOSSES_PER_TRIAL = 3
"""Number of workers lost in the same trial, while other trials finish, that ends the run."""

HANG_TIME = 10.0
"""Time [s] without a control period or a sign of life after which a worker counts as lost."""

PATIENCE = 30.0
"""Time [s] without a finished trial after which lost workers end the run."""

_MAX_INTERVAL = 0.5
"""Longest time [s] between two samples that counts; after more the watcher itself was stopped."""

_MAX_START_DELAY = 5.0

LossCallback = Callable[[int | None, str], None]
"""Callback for a lost worker: the index of its trial, or None if it ran none, and the reason."""


def print_loss(index: int | None, reason: str) -> None:
    """Print on standard error that a worker was lost."""
    trial = '' if index is None else f' in trial {index}'
    print(f'gait: {reason}{trial}', file=sys.stderr, flush=True)


@dataclass
class Workload:
    """
    Sums over the lifetime of an evaluator.

    Attributes
    ----------
    busy : float [s]
        Time in trials whose result was used, measured by the workers.
    offered : float [s]
        Wall time of calls times the number of workers.
    lost_trials : int
        Trials begun on a worker that was lost.

    """

    busy: float = 0.0
    offered: float = 0.0
    lost_trials: int = 0

    @property
    def efficiency(self) -> float:
        """Share of the offered time that was spent in trials, in [0, 1]; 0 before any."""
        return min(1.0, self.busy / self.offered) if self.offered > 0.0 else 0.0


class LossCounter:
    """
    Counter of an evaluator's lost workers and finished trials, which decides when a run must end.

    Parameters
    ----------
    patience : float [s]
        See ``PATIENCE``.

    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._since_pass = 0
        self._passed: float | None = None
        self.begin(None)

    def begin(self, lost: LossCallback | None) -> None:
        """Begin a batch of trials, which has indices of its own."""
        self._report = lost or print_loss
        self._reasons: dict[int, list[str]] = {}
        self._first: dict[int, float] = {}
        self._began = time.monotonic()

    @property
    def start_delay(self) -> float:
        """Time [s] to wait before a worker is started; doubles with each loss without a result."""
        # Workers that die at once would otherwise keep the machine busy with starting.
        excess = self._since_pass - MAX_LOSSES_PER_TRIAL
        return 0.0 if excess < 0 else min(_MAX_START_DELAY, 0.1 * 2.0 ** min(excess, 10))

    def count_result(self) -> None:
        """Count a finished trial."""
        self._passed, self._since_pass = time.monotonic(), 0

    def count_loss(self, index: int | None, reason: str, *, by_trial: bool = True) -> None:
        """
        Count a lost worker.

        Parameters
        ----------
        index : int or None
            Its trial; None if it had none.
        reason : str
        by_trial : bool
            Whether the trial had begun, and may have caused the loss.

        Raises
        ------
        DeadlyTrial
            If ``MAX_LOSSES_PER_TRIAL`` workers were lost in this trial and other trials finish.
        NoWorkers
            If workers were lost and no trial finished for ``patience``.

        """
        now = time.monotonic()
        self._since_pass += 1
        self._report(index, reason)
        if index is not None and by_trial:
            reasons = self._reasons.setdefault(index, [])
            reasons.append(reason)
            first = self._first.setdefault(index, now)
            # Where no other trial finishes either, the machine is at fault and not this trial.
            others_finish = self._passed is not None and self._passed > first - self._patience
            if len(reasons) >= MAX_LOSSES_PER_TRIAL and others_finish:
                raise DeadlyTrial(index, reasons)
        # Time before this batch does not count: there may have been no trials to run.
        since = self._began if self._passed is None else max(self._began, self._passed)
        if self._since_pass >= 2 * MAX_LOSSES_PER_TRIAL and now - since > self._patience:
            raise NoWorkers(
                f'no worker can be kept alive: {self._since_pass} were lost in '
                f'{now - since:.0f} s without a finished trial, the last one: {reason}'
            )


class WatchClock:
    """
    Clock that stops while its own process is stopped.

    A watcher that was suspended, with a laptop or in a debugger, must not conclude that the
    process it watches hung meanwhile. Read it more often than every 0.5 s: longer intervals count
    as 0.5 s.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._seconds = 0.0

    def now(self) -> float:
        """Return the time [s] since the clock was made."""
        now = time.monotonic()
        self._seconds += min(now - self._last, _MAX_INTERVAL)
        self._last = now
        return self._seconds


class HangWatch:
    """
    Time that a process could have spent on a control period and did not.

    That is wall time without the time in which the process waited for a processor or the watcher
    itself did not run, so that no trial counts as hanging on a busy or suspended machine. A
    process that loads, compiles or works makes no control periods: then only its idle time counts.

    Parameters
    ----------
    process : int or str
        Process id, or a path below /proc, such as ``self/task/12`` for a thread.

    """

    def __init__(self, process: int | str) -> None:
        self._process = process
        self.restart(-1)

    def restart(self, periods: int) -> None:
        """Set the time to zero, at a count of control periods."""
        self._periods = periods
        self._clock = WatchClock()
        self._last = 0.0
        self._busy = _processor_time(self._process)[0]
        self.seconds = 0.0

    def update(self, periods: int, state: int) -> float:
        """
        Return the time [s] without a control period.

        Parameters
        ----------
        periods : int
            Count of the process's control periods.
        state : int
            Activity of the process: a constant of ``gait_core.processes.liveness``.

        """
        if periods != self._periods:
            self.restart(periods)
            return 0.0
        now = self._clock.now()
        busy, runnable = _processor_time(self._process)
        elapsed, worked = now - self._last, max(busy - self._busy, 0.0)
        self._last, self._busy = now, busy
        if state in _ACTIVITIES_WITHOUT_PERIODS:
            # Work is progress here, however long it takes.
            if runnable or worked:
                self.seconds = 0.0
            else:
                self.seconds += elapsed
        else:
            # A runnable process may have waited for a processor: only its processor time counts.
            # One that sleeps could have run: all of the time counts.
            self.seconds += min(elapsed, worked) if runnable else elapsed
        return self.seconds


_ACTIVITIES_WITHOUT_PERIODS = (liveness.STARTING, liveness.COMPILING, liveness.WORKING)
_CLOCK_RATE = os.sysconf('SC_CLK_TCK')


def _processor_time(process: int | str) -> tuple[float, bool]:
    """Return the processor time [s] of a process, and whether it runs or waits for a processor."""
    try:
        with open(f'/proc/{process}/stat', encoding='utf-8', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        # No /proc, or the process has ended: wall time counts.
        return 0.0, False
    return (int(fields[11]) + int(fields[12])) / _CLOCK_RATE, fields[0] == 'R'
