"""
When a worker counts as lost, and what becomes of its trial: one policy for every evaluator.

A lost worker's trial is run again and never scored. A trial that ends worker after worker while
others pass, or workers that cannot be kept alive, end the run, which can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable
import os
import sys
import time

from gait_core import pulse
from gait_core.errors import DeadlyTrial, NoWorkers

ATTEMPTS = 3
"""Workers that a trial may end while others pass before it ends the run."""

HANG = 10.0
"""Time [s] without a control period, or without a sign of life, after which a worker is lost."""

PATIENCE = 30.0
"""Time [s] without a finished trial, in which workers are lost, after which the run ends."""

_LOOK = 0.5
"""Longest time [s] between two looks that counts: more means that the watcher itself slept."""

_LONGEST_DELAY = 5.0

Lost = Callable[[int | None, str], None]
"""Called for each lost worker with the index of its trial, None if it ran none, and the reason."""


def print_loss(index: int | None, reason: str) -> None:
    """Say on standard error that a worker was lost."""
    trial = '' if index is None else f' in trial {index}'
    print(f'gait: {reason}{trial}', file=sys.stderr, flush=True)


class Losses:
    """
    Counts lost workers and finished trials of an evaluator and decides when a run must end.

    Parameters
    ----------
    attempts : int
        As ``ATTEMPTS``.
    patience : float [s]
        As ``PATIENCE``.

    """

    def __init__(self, attempts: int = ATTEMPTS, patience: float = PATIENCE) -> None:
        self._attempts, self._patience = attempts, patience
        self._since_pass = 0
        self._passed: float | None = None
        self.begin(None)

    def begin(self, lost: Lost | None) -> None:
        """Begin a call of the evaluator: indices of trials mean others than before."""
        self._tell = lost or print_loss
        self._reasons: dict[int, list[str]] = {}
        self._first: dict[int, float] = {}
        self._began = time.monotonic()

    @property
    def delay(self) -> float:
        """For how long [s] the next worker should not be started: longer after each in vain."""
        vain = self._since_pass - self._attempts
        return 0.0 if vain < 0 else min(_LONGEST_DELAY, 0.1 * 2.0 ** min(vain, 10))

    def passed(self) -> None:
        """Count a finished trial."""
        self._passed, self._since_pass = time.monotonic(), 0

    def lost(self, index: int | None, reason: str, *, by_trial: bool = True) -> None:
        """
        Count a lost worker.

        Parameters
        ----------
        index : int or None
            Its trial; None if it had none.
        reason : str
        by_trial : bool
            Whether the trial may have caused it: it had begun.

        Raises
        ------
        DeadlyTrial
            If this trial has ended ``attempts`` workers and others pass.
        NoWorkers
            If for ``patience`` workers were lost and no trial was finished.

        """
        now = time.monotonic()
        self._since_pass += 1
        self._tell(index, reason)
        if index is not None and by_trial:
            reasons = self._reasons.setdefault(index, [])
            reasons.append(reason)
            first = self._first.setdefault(index, now)
            others = self._passed is not None and self._passed > first - self._patience
            if len(reasons) >= self._attempts and others:
                raise DeadlyTrial(index, reasons)
        since = self._began if self._passed is None else max(self._began, self._passed)
        if self._since_pass >= 2 * self._attempts and now - since > self._patience:
            raise NoWorkers(
                f'no worker can be kept alive: {self._since_pass} were lost in '
                f'{now - since:.0f} s without a finished trial, the last: {reason}'
            )


class WatchClock:
    """Seconds that a watcher has been looking: those count no more in which it was stopped."""

    def __init__(self) -> None:
        self._seen = time.monotonic()
        self._seconds = 0.0

    def now(self) -> float:
        """Return the time [s] since the clock was made."""
        seen = time.monotonic()
        self._seconds += min(seen - self._seen, _LOOK)
        self._seen = seen
        return self._seconds


class HangWatch:
    """
    Time that a process could have spent on a control period and did not.

    Wall time counts, but for that in which the process waited for a processor, or in which the
    watcher itself did not run: a busy machine, or one that slept, hangs nobody. While a process
    loads or compiles, only time counts in which it is idle.

    Parameters
    ----------
    pid : int

    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.restart(-1)

    def restart(self, periods: int) -> None:
        """Begin anew, from so many control periods on."""
        self._periods = periods
        self._clock = WatchClock()
        self._seen = 0.0
        self._busy = _processor_time(self._pid)[0]
        self.seconds = 0.0

    def look(self, periods: int, state: int) -> float:
        """
        Return the time [s] without a control period.

        Parameters
        ----------
        periods : int
            Count of the process's control periods.
        state : int
            What it does, as of ``gait_core.pulse``.

        """
        if periods != self._periods:
            self.restart(periods)
            return 0.0
        now = self._clock.now()
        busy, runnable = _processor_time(self._pid)
        passed, worked = now - self._seen, max(busy - self._busy, 0.0)
        self._seen, self._busy = now, busy
        if state in (pulse.STARTING, pulse.COMPILING):
            if runnable or worked:
                self.seconds = 0.0
            else:
                self.seconds += passed
        else:
            self.seconds += min(passed, worked) if runnable else passed
        return self.seconds


_TICK = os.sysconf('SC_CLK_TCK')


def _processor_time(pid: int) -> tuple[float, bool]:
    """Return the processor time [s] of a process, and whether it runs or waits for a processor."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        # No such system, or no such process: wall time counts.
        return 0.0, False
    return (int(fields[11]) + int(fields[12])) / _TICK, fields[0] == 'R'
