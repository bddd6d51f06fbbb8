"""Joint targets over time, as trajectory controllers take them, and their interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand
from gait_core.targets import JointTargets

_ALMOST = 1e-9


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """
    Points in time for the named joints, as a JointTrajectory has them.

    Attributes
    ----------
    names : tuple of str
    times : (k,) array [s]
        Since its start, strictly increasing.
    position, velocity, effort : (k, n) arrays or None

    """

    names: tuple[str, ...]
    times: FloatArray
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check names, sizes, times and finiteness; raise BadCommand naming the fault."""
        if len(self.times) == 0:
            raise BadCommand('the trajectory has no points')
        if not np.isfinite(self.times).all() or self.times[0] < 0.0:
            raise BadCommand('time_from_start is negative or not finite')
        if not (np.diff(self.times) > 0.0).all():
            raise BadCommand('time_from_start does not increase from point to point')
        # The checks of repetition, length and finiteness are those of any targets.
        targets = JointTargets(
            names=self.names, position=self.position, velocity=self.velocity, effort=self.effort
        )
        if self.position is None and self.velocity is None and self.effort is None:
            raise BadCommand('the trajectory names neither positions, velocities nor efforts')
        if targets.sub_samples != len(self.times):
            raise BadCommand(f'{targets.sub_samples} rows for {len(self.times)} points')

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def at(self, time: float, start: FloatArray) -> JointTargets:
        """
        Return the targets at a time [s] since the trajectory's start.

        Positions and velocities are interpolated; before the first point, positions begin at
        ``start`` (n,), the targets when the trajectory came. Efforts are those of the next point.
        """
        index = min(int(np.searchsorted(self.times, time - _ALMOST)), len(self.times) - 1)
        before = self.times[index - 1] if index else 0.0
        span = self.times[index] - before
        share = 1.0 if span <= 0.0 else min(1.0, max(0.0, (time - before) / span))
        fields = {}
        if self.position is not None:
            last = self.position[index - 1] if index else start
            fields['position'] = _between(last, self.position[index], share)
        if self.velocity is not None:
            last = self.velocity[max(0, index - 1)]
            fields['velocity'] = _between(last, self.velocity[index], share)
        if self.effort is not None:
            fields['effort'] = self.effort[index]
        return JointTargets(names=self.names, **fields)


def _between(first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    # At the end exactly the second: a point that is reached is applied to the last bit.
    return second if share == 1.0 else first + share * (second - first)
