"""Correction of the soles' slip about the vertical."""

from __future__ import annotations

import math

from gait_core.motion.observation import Observation


class Slip:
    """
    The turn of the body that was not planned, as measured, less what a walk turned against it.

    The plan is what a heading is held against, not the command: steps follow that late.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all."""
        self._seen: float | None = None
        self._planned = self._slipped = self._undone = 0.0

    def correction(self, dt: float, planned: float, gain: float, seen: Observation) -> float:
        """
        Return the turning rate that undoes what is left [rad/s]; 0 without an attitude.

        Parameters
        ----------
        dt : float [s]
            For which it will be turned so.
        planned : float [rad]
            Yaw of the body in the plan, by now.
        gain : float [1/s]
        seen : Observation

        """
        attitude = seen.attitude
        if attitude is None:
            return 0.0
        yaw = attitude.yaw
        if self._seen is not None:
            turned = math.remainder(yaw - self._seen, 2.0 * math.pi)
            self._slipped += turned - (planned - self._planned)
        self._seen, self._planned = yaw, planned
        rate = -gain * (self._slipped + self._undone)
        self._undone += rate * dt
        return rate
