"""Holding a heading: the error between where a robot should point by now and where it points."""

from __future__ import annotations

import math

from gait_core.arrays import FloatArray


class HeadingHold:
    """The heading that commanded turning rates add up to, from where the robot first points."""

    def __init__(self) -> None:
        self._wanted: float | None = None
        self._smooth = 0.0

    def error(self, dt: float, rate: float, attitude: FloatArray, smoothing: float) -> float:
        """
        Return by how much the robot should turn [rad], positive to the left.

        Parameters
        ----------
        dt : float [s]
        rate : float [rad/s]
            Commanded.
        attitude : (4,) array
            Quaternion x, y, z, w.
        smoothing : float [s]
            Time constant: that of a stride leaves out what each step turns to and fro.

        """
        x, y, z, w = attitude.tolist()
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        if self._wanted is None:
            self._wanted = yaw
        self._wanted += rate * dt
        error = math.remainder(self._wanted - yaw, 2.0 * math.pi)
        self._smooth += (error - self._smooth) * min(dt / smoothing, 1.0)
        return self._smooth
