"""Corrections of a commanded velocity by what is seen of the robot's motion."""

from __future__ import annotations

from collections import deque
import math

from gait_core.arrays import FloatArray
from gait_core.attitude import yaw_of
from gait_core.observation import Observation
from gait_cpg.heading import HeadingHold

Velocity = tuple[float, float, float]
_MOST_SHARE, _MOST = 0.5, 0.05
"""A speed is corrected by at most this share of what is commanded, and so much more [m/s]."""


class Steering:
    """
    Holds the commanded heading and speed, each where something is seen of it.

    The heading comes from the base's pose or, without one, from the IMU: the turning rate gains
    ``heading_gain`` times its error. The speed comes from the base's twist: its mean over a stride
    is brought to the command by an integral. Without any the command passes unchanged.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget heading and speeds."""
        self._heading = HeadingHold()
        self._seen: deque[tuple[float, float]] = deque()
        self._added = (0.0, 0.0)

    def corrected(
        self,
        dt: float,
        velocity: Velocity,
        seen: Observation,
        stride: float,
        heading_gain: float,
        speed_gain: float,
    ) -> Velocity:
        """
        Return the velocity that makes the robot move as commanded.

        Parameters
        ----------
        dt, stride : float [s]
            Control period and cycle time.
        velocity : (x, y, yaw) [m/s, m/s, rad/s]
            Commanded; where it is zero all is forgotten.
        seen : Observation
        heading_gain, speed_gain : float [1/s]

        """
        attitude = _attitude(seen)
        if velocity == (0.0, 0.0, 0.0) or attitude is None:
            self.reset()
            return velocity
        x, y, yaw = velocity
        if heading_gain > 0.0:
            yaw += heading_gain * self._heading.error(dt, yaw, attitude, stride)
        if speed_gain > 0.0 and seen.body_twists is not None:
            self._integrate(dt, velocity, seen.body_twists[0], attitude, stride, speed_gain)
        return x + self._added[0], y + self._added[1], yaw

    def _integrate(
        self,
        dt: float,
        velocity: Velocity,
        twist: FloatArray,
        attitude: FloatArray,
        stride: float,
        gain: float,
    ) -> None:
        yaw = yaw_of(attitude)
        c, s = math.cos(yaw), math.sin(yaw)
        east, north = twist[:2].tolist()
        self._seen.append((c * east + s * north, c * north - s * east))
        whole = max(1, round(stride / dt))
        if len(self._seen) < whole:
            return
        while len(self._seen) > whole:
            self._seen.popleft()
        most = _MOST_SHARE * math.hypot(*velocity[:2]) + _MOST
        means = (sum(one[axis] for one in self._seen) / whole for axis in (0, 1))
        x, y = (
            min(max(added + gain * dt * (wanted - mean), -most), most)
            for added, wanted, mean in zip(self._added, velocity[:2], means, strict=True)
        )
        self._added = (x, y)


def _attitude(seen: Observation) -> FloatArray | None:
    if seen.body_poses is not None:
        return seen.body_poses[0, 3:]
    return None if seen.imu is None else seen.imu.orientation
