"""Corrections of a commanded velocity by what is seen of the robot's motion."""

from __future__ import annotations

from collections import deque
import math

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation, yaw_from_quaternion

Velocity = tuple[float, float, float]
_MAX_CORRECTION_SHARE, _MAX_CORRECTION_OFFSET = 0.5, 0.05
"""A speed is corrected by at most this share of what is commanded, and so much more [m/s]."""

LEAD_CYCLES = 4.0
"""Strides by which the error is looked ahead: strides set now turn the body a few later."""


class HeadingHold:
    """The heading that commanded turning rates add up to, from where the robot first points."""

    def __init__(self) -> None:
        self._target: float | None = None
        self._yaw = self._sum = 0.0
        self._yaw_history: deque[float] = deque()

    def update_error(self, dt: float, yaw_rate: float, yaw: float, cycle_time: float) -> float:
        """
        Return the error of the heading [rad], positive where it should turn left.

        Heading and turning rate are means over the last stride, in which every step turns the body
        to and fro, and the error is that of ``LEAD`` strides later.

        Parameters
        ----------
        dt : float [s]
        rate : float [rad/s]
            Commanded.
        yaw : float [rad]
            Measured.
        stride : float [s]
            Cycle time.

        """
        if self._target is None:
            self._target = self._yaw = yaw
        self._target += yaw_rate * dt
        self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
        history = self._yaw_history
        history.append(self._yaw)
        self._sum += self._yaw
        while len(history) > round(cycle_time / dt) + 1:
            self._sum -= history.popleft()
        mean_yaw_rate = (self._yaw - history[0]) / cycle_time
        return (
            self._target
            - self._sum / len(history)
            + LEAD_CYCLES * cycle_time * (yaw_rate - mean_yaw_rate)
        )


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
        self._speed_history: deque[tuple[float, float]] = deque()
        self._correction = (0.0, 0.0)

    def correct_velocity(
        self,
        dt: float,
        velocity: Velocity,
        observation: Observation,
        cycle_time: float,
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

        Raises
        ------
        ConfigurationError
            If what is seen is not finite.

        """
        attitude = observation.attitude
        if velocity == (0.0, 0.0, 0.0) or attitude is None:
            self.reset()
            return velocity
        x, y, yaw = velocity
        if heading_gain > 0.0:
            yaw += heading_gain * self._heading.update_error(dt, yaw, attitude.yaw, cycle_time)
        if speed_gain > 0.0:
            self._integrate(dt, velocity, observation, cycle_time, speed_gain)
        x, y = x + self._correction[0], y + self._correction[1]
        if not math.isfinite(x + y + yaw):
            raise ConfigurationError(
                f'the velocity corrected by what is seen is {(x, y, yaw)}, expected finite numbers'
            )
        return x, y, yaw

    def _integrate(
        self,
        dt: float,
        velocity: Velocity,
        observation: Observation,
        cycle_time: float,
        gain: float,
    ) -> None:
        if observation.body_poses is None or observation.body_twists is None:
            return
        # The twist is in odom: only the pose of the same source turns it into the base.
        yaw = yaw_from_quaternion(observation.body_poses[0, 3:])
        c, s = math.cos(yaw), math.sin(yaw)
        east, north = observation.body_twists[0, :2].tolist()
        self._speed_history.append((c * east + s * north, c * north - s * east))
        samples = max(1, round(cycle_time / dt))
        if len(self._speed_history) < samples:
            return
        while len(self._speed_history) > samples:
            self._speed_history.popleft()
        limit = _MAX_CORRECTION_SHARE * math.hypot(*velocity[:2]) + _MAX_CORRECTION_OFFSET
        means = (sum(speed[axis] for speed in self._speed_history) / samples for axis in (0, 1))
        x, y = (
            min(max(correction + gain * dt * (commanded - mean), -limit), limit)
            for correction, commanded, mean in zip(
                self._correction, velocity[:2], means, strict=True
            )
        )
        self._correction = (x, y)
