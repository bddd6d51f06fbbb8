# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint trajectories and their interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import BadCommand
from gait_core.motion.targets import JointTargets

_TIME_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """
    Points in time for the named joints; the content of a JointTrajectory message.

    Attributes
    ----------
    names : tuple of str
    times : (k,) array [s]
        Since the start of the trajectory, strictly increasing.
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
        # Repetition, length and finiteness are checked as those of any targets.
        targets = JointTargets(
            names=self.names, position=self.position, velocity=self.velocity, effort=self.effort
        )
        if self.position is None and self.velocity is None and self.effort is None:
            raise BadCommand('the trajectory has neither positions, velocities nor efforts')
        if targets.sub_samples != len(self.times):
            raise BadCommand(
                f'the targets have {targets.sub_samples} rows, expected {len(self.times)}, one '
                'per point'
            )

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def at(self, times: FloatArray, start: FloatArray) -> JointTargets:
        """
        Return the targets at given times.

        Parameters
        ----------
        times : (K,) array [s]
            Since the start of the trajectory; each becomes a sub-sample.
        start : (n,) array [rad or m]
            Targets when the trajectory arrived; positions start from them before the first point.

        Returns
        -------
        JointTargets
            Positions and velocities are interpolated linearly; efforts are those of the next
            point. At the time of a point its values are returned exactly.

        """
        # Each time lies between two points: ``index`` is the first point at or after the time.
        # Before the first point lies ``start``; after the last point its values are kept.
        index = np.minimum(
            np.searchsorted(self.times, times - _TIME_TOLERANCE), len(self.times) - 1
        )
        before = np.concatenate(([0.0], self.times))[index]
        span = self.times[index] - before
        share = np.clip((times - before) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
        share[times >= self.times[index] - _TIME_TOLERANCE] = 1.0
        fields = {}
        if self.position is not None:
            fields['position'] = _interpolate(np.vstack((start, self.position)), index, share)
        if self.velocity is not None:
            known = np.vstack((self.velocity[:1], self.velocity))
            fields['velocity'] = _interpolate(known, index, share)
        if self.effort is not None:
            fields['effort'] = self.effort[index]
        return JointTargets(names=self.names, **fields)


def _interpolate(values: FloatArray, index: IntArray, share: FloatArray) -> FloatArray:
    """Return rows ``index`` and ``index + 1``, interpolated linearly by ``share`` in [0, 1]."""
    first, second = values[index], values[index + 1]
    return np.where(share[:, None] == 1.0, second, first + share[:, None] * (second - first))
