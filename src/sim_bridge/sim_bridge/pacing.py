"""How many ticks a simulation owes to wall time."""

from __future__ import annotations

_LONGEST_LAG = 0.25


class Pace:
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

    def owed(self, now: float, factor: float) -> int:
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
        excess = owed * self._dt / factor - _LONGEST_LAG
        if excess > 0.0:
            self.lag += excess
            self._start, self._done = now - _LONGEST_LAG, 0
            owed = int(_LONGEST_LAG * factor / self._dt)
        return max(0, owed)

    def ran(self, ticks: int) -> None:
        """Note ticks that were run."""
        self._done += ticks
