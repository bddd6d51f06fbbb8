"""Corrections of a commanded velocity by what is seen of the robot's motion."""

from __future__ import annotations

from collections import deque
import math

from gait_core.kinematics.attitude import yaw_of
from gait_core.motion.observation import Observation
from gait_cpg.heading import HeadingHold

Velocity = tuple[float, float, float]
_MOST_SHARE, _MOST = 0.5, 0.05
"""A speed is corrected by at most this share of what is commanded, and so much more [m/s]."""


class Steering:
    """
    Holds the commanded heading and speed, each where something is seen of it.

    The heading is that of ``Observation.attitude``: the turning rate gains ``heading_gain`` times
    its error. The speed comes from the base's twist, turned into the base by its pose: its mean
    over a stride is brought to the command by an integral. Without an attitude the command passes
    unchanged.
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
        attitude = seen.attitude
        if velocity == (0.0, 0.0, 0.0) or attitude is None:
            self.reset()
            return velocity
        x, y, yaw = velocity
        if heading_gain > 0.0:
            yaw += heading_gain * self._heading.error(dt, yaw, attitude.yaw, stride)
        if speed_gain > 0.0:
            self._integrate(dt, velocity, seen, stride, speed_gain)
        return x + self._added[0], y + self._added[1], yaw

    def _integrate(
        self, dt: float, velocity: Velocity, seen: Observation, stride: float, gain: float
    ) -> None:
        if seen.body_poses is None or seen.body_twists is None:
            return
        # The twist is in odom: only the pose of the same source turns it into the base.
        yaw = yaw_of(seen.body_poses[0, 3:])
        c, s = math.cos(yaw), math.sin(yaw)
        east, north = seen.body_twists[0, :2].tolist()
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
