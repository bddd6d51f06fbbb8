"""By how much a walk points elsewhere than the commanded turning rates add up to."""

from __future__ import annotations

import math

from gait_core.observation import Observation

_SMOOTH = 0.5
"""Time constant of the mean [s], as every step turns the body to and fro."""


class HeadingError:
    """The heading wanted, from where the robot first points, less the one seen by the IMU."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget where it points."""
        self._last: float | None = None
        self._error = self._mean = 0.0

    def error(self, dt: float, rate: float, seen: Observation) -> float:
        """
        Return the error [rad], positive where it should turn left; 0 without an IMU.

        Parameters
        ----------
        dt : float [s]
        rate : float [rad/s]
            Commanded.
        seen : Observation

        """
        if seen.imu is None:
            return 0.0
        x, y, z, w = seen.imu.orientation.tolist()
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        if self._last is not None:
            self._error += rate * dt - math.remainder(yaw - self._last, 2.0 * math.pi)
        self._last = yaw
        self._mean += min(1.0, dt / _SMOOTH) * (self._error - self._mean)
        return self._mean
