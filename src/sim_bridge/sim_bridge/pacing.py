# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pace of a live simulation: ticks due by wall time, and the wait for late commands."""

from __future__ import annotations

import math

# All times in s of wall time.
_MAX_LAG = 0.25
_MIN_POLL_PERIOD = 0.001
_MAX_POLL_PERIOD = 0.01
_MAX_WAIT = 0.05
_MAX_CHAMPION_WAIT, _FIRST_COMMAND_WAIT = 2.0, 1.0
# Ticks in a row with a command, after which the next command is waited for.
_REGULAR_TICKS = 5


def poll_schedule(dt: float, factor: float) -> tuple[float, int]:
    """
    Return the period of the timer [s of wall time], and the most ticks to run at each call of it.

    The timer is at least twice as fast as the ticks, if a timer can be, so that ticks run one by
    one: the second of two in one call would run before a controller could answer the first.

    Parameters
    ----------
    dt : float [s]
        Control period.
    factor : float
        Simulated time over wall time.

    """
    tick = dt / factor
    period = min(_MAX_POLL_PERIOD, max(_MIN_POLL_PERIOD, 0.5 * tick))
    return period, max(1, math.ceil(period / tick))


class RealTimePace:
    """
    Count of the ticks that are due by wall time and of those that have run.

    It reads no clock: callers pass the wall time.

    Parameters
    ----------
    dt : float [s]
        Control period.

    """

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._start: float | None = None
        self._done = 0
        self.lag = 0.0
        """Wall time that the simulation fell behind and does not catch up [s]."""

    def restart(self) -> None:
        """Count from the next call of ``due_ticks``; no tick is due until then."""
        self._start = None

    def due_ticks(self, now: float, factor: float) -> int:
        """
        Return the ticks due at a wall time [s] for a ratio of simulated to wall time.

        Of a lag only the last 0.25 s are caught up: after a long stop a robot does not race.
        """
        if self._start is None:
            self._start, self._done, self._factor = now, 0, factor
        if factor != self._factor:
            # A new ratio counts from now: applied to the past it would make ticks due at once.
            self._start, self._done, self._factor = now, 0, factor
        owed = int((now - self._start) * factor / self._dt) - self._done
        excess = owed * self._dt / factor - _MAX_LAG
        if excess > 0.0:
            self.lag += excess
            self._start, self._done = now - _MAX_LAG, 0
            owed = int(_MAX_LAG * factor / self._dt)
        return max(0, owed)

    def count_ticks(self, ticks: int) -> None:
        """Count ticks that have run."""
        self._done += ticks


class CommandWait:
    """
    Decision to wait for late commands, which slows simulated time down on a busy machine.

    Without the wait the robot would hold its last targets while its controller computes the next,
    and a walk would fall. A controller that commanded in each of the last 5 ticks is waited for,
    up to 0.05 s of wall time. After one wait in vain there is no other until it has commanded in 5
    ticks again.

    Parameters
    ----------
    commands_every_tick : bool
        Whether the controller is known to command in every tick, as that of a champion. It is
        waited for from its first command on, up to 2 s; until then ticks run at 1 s of wall time.

    """

    def __init__(self, commands_every_tick: bool = False) -> None:
        self._commands_every_tick, self._longest = (
            commands_every_tick,
            _MAX_CHAMPION_WAIT if commands_every_tick else _MAX_WAIT,
        )
        self._answered = 0
        self._seen = 0
        self._since: float | None = None

    def note_tick(self, now: float) -> None:
        """Note a tick that has run at a wall time [s]."""
        self._since = now

    def may_step(self, now: float, commands: int) -> bool:
        """
        Return whether the next tick may run.

        Parameters
        ----------
        now : float [s]
            Wall time.
        commands : int
            Number of commands received so far.

        """
        if self._since is None:
            return True
        if commands != self._seen:
            is_first = self._seen == 0
            self._seen, self._since = commands, None
            self._answered = (
                _REGULAR_TICKS if is_first and self._commands_every_tick else self._answered + 1
            )
            return True
        if self._commands_every_tick and not commands:
            # The answer to the last tick may be under way. A further tick would make the
            # controller take a second step before the robot has made the first.
            return now - self._since >= _FIRST_COMMAND_WAIT
        if self._answered >= _REGULAR_TICKS and now - self._since < self._longest:
            return False
        self._answered, self._since = 0, None
        return True
