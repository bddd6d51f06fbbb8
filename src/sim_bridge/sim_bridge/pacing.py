"""Number of ticks that a simulation owes to wall time."""

from __future__ import annotations

import math

_MAX_LAG = 0.25
_MIN_POLL_PERIOD = 0.001
_MAX_POLL_PERIOD = 0.01
_MAX_WAIT = 0.05
_MAX_CHAMPION_WAIT, _FIRST_COMMAND_WAIT = 2.0, 1.0
_REGULAR_TICKS = 5


def poll_schedule(dt: float, factor: float) -> tuple[float, int]:
    """
    Return how often to ask what is owed [s of wall time], and how many ticks to run at most then.

    Ticks come one by one where a timer can be as fast: of two in one go the second would run
    before a controller could answer the first.

    Parameters
    ----------
    dt : float [s]
        Control period.
    factor : float
        Simulated over wall time.

    """
    tick = dt / factor
    period = min(_MAX_POLL_PERIOD, max(_MIN_POLL_PERIOD, 0.5 * tick))
    return period, max(1, math.ceil(period / tick))


class RealTimePace:
    """
    Counts ticks against a clock that somebody else reads.

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
        """Wall time by which the simulation was too slow, and which was let go [s]."""

    def restart(self) -> None:
        """Owe nothing from now on."""
        self._start = None

    def due_ticks(self, now: float, factor: float) -> int:
        """
        Return the ticks due at a wall time [s] for a ratio of simulated to wall time.

        A lag of more than a quarter of a second is let go: a robot that was stopped for long does
        not race to catch up.
        """
        if self._start is None:
            self._start, self._done, self._factor = now, 0, factor
        if factor != self._factor:
            # What was owed at the old ratio stays done; the new one counts from here.
            self._start, self._done, self._factor = now, 0, factor
        owed = int((now - self._start) * factor / self._dt) - self._done
        excess = owed * self._dt / factor - _MAX_LAG
        if excess > 0.0:
            self.lag += excess
            self._start, self._done = now - _MAX_LAG, 0
            owed = int(_MAX_LAG * factor / self._dt)
        return max(0, owed)

    def count_ticks(self, ticks: int) -> None:
        """Note ticks that were run."""
        self._done += ticks


class CommandWait:
    """
    Whether to wait for targets that are late, so that a busy machine slows the robot's time down.

    Else it would hold where its controller wants it to move, and a walk would fall. Who commanded
    in each of the last ticks is waited for, up to a twentieth of a second of wall time; in vain
    once, and no more until it has been regular again.

    Parameters
    ----------
    commands_every_tick : bool
        Whether the controller is known to command every tick: it is waited for from its first
        command on, ten times as long, and until then ticks come slowly.

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
        """Note a tick that was run at a wall time [s]."""
        self._since = now

    def may_step(self, now: float, commands: int) -> bool:
        """
        Return whether the next tick may run.

        Parameters
        ----------
        now : float [s]
            Wall time.
        commands : int
            How many have come so far.

        """
        if self._since is None:
            return True
        if commands != self._seen:
            first = self._seen == 0
            self._seen, self._since = commands, None
            self._answered = (
                _REGULAR_TICKS if first and self._commands_every_tick else self._answered + 1
            )
            return True
        if self._commands_every_tick and not commands:
            # A controller whose answer is on its way must not be asked again: it would make a
            # second step without physics in between.
            return now - self._since >= _FIRST_COMMAND_WAIT
        if self._answered >= _REGULAR_TICKS and now - self._since < self._longest:
            return False
        self._answered, self._since = 0, None
        return True
