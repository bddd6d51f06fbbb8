# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Feedback of heading and speed into the commanded velocity."""

from __future__ import annotations

from collections import deque
import math

from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation, yaw_from_quaternion

Velocity = tuple[float, float, float]
_MAX_CORRECTION_SHARE, _MAX_CORRECTION_OFFSET = 0.5, 0.05
"""
Limit of a speed correction: a share of the commanded speed, plus an offset [m/s].

The offset lets a slow walk be corrected too.
"""

LEAD_CYCLES = 4.0
"""Gait cycles by which the heading error is predicted ahead: a stride turns the body later."""


class HeadingHold:
    """Target heading: the integral of the commanded yaw rate from the first measured yaw."""

    def __init__(self) -> None:
        self._target: float | None = None
        self._yaw = self._sum = 0.0
        self._yaw_history: deque[float] = deque()

    def update_error(self, dt: float, yaw_rate: float, yaw: float, cycle_time: float) -> float:
        """
        Advance by a control period; return the predicted heading error [rad].

        A positive error asks for a turn to the left. The error is predicted ``LEAD_CYCLES`` gait
        cycles ahead.

        Parameters
        ----------
        dt : float [s]
            Control period.
        yaw_rate : float [rad/s]
            Commanded.
        yaw : float [rad]
            Measured.
        cycle_time : float [s]

        """
        if self._target is None:
            self._target = self._yaw = yaw
        self._target += yaw_rate * dt
        # Unwrap the measured yaw, so that full turns count.
        self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
        # Running mean over the last gait cycle, in which every step turns the body to and fro.
        history = self._yaw_history
        history.append(self._yaw)
        self._sum += self._yaw
        while len(history) > round(cycle_time / dt) + 1:
            self._sum -= history.popleft()
        mean_yaw_rate = (self._yaw - history[0]) / cycle_time
        # Heading error now, plus the growth of the error until the lead time.
        return (
            self._target
            - self._sum / len(history)
            + LEAD_CYCLES * cycle_time * (yaw_rate - mean_yaw_rate)
        )


class Steering:
    """
    Feedback that holds the commanded heading and speed.

    Heading: ``heading_gain`` times the heading error, measured by ``Observation.attitude``, is
    added to the yaw rate. Speed: an integral brings the mean speed of the base over a gait cycle
    to the command; without pose and twist of the base the last correction stays. Without an
    attitude the command is returned unchanged.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the target heading, the measurements and the speed correction."""
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
        Return the commanded velocity, corrected for the errors of heading and speed.

        Parameters
        ----------
        dt, cycle_time : float [s]
            Control period and duration of a gait cycle.
        velocity : (x, y, yaw) [m/s, m/s, rad/s]
            Commanded; a velocity of zero resets the feedback.
        observation : Observation
        heading_gain, speed_gain : float [1/s]
            0 switches a feedback off.

        Raises
        ------
        ConfigurationError
            If the corrected velocity is not finite.

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
                f'the velocity with feedback of heading and speed is {(x, y, yaw)}, expected '
                'finite numbers: the observation holds a value that is not finite'
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
        """Advance the integral of the speed error by a control period."""
        if observation.body_poses is None or observation.body_twists is None:
            return
        # The twist is in the frame odom. The pose rotates it into the base: both have one source,
        # while the attitude can come from another sensor with another heading.
        yaw = yaw_from_quaternion(observation.body_poses[0, 3:])
        c, s = math.cos(yaw), math.sin(yaw)
        east, north = observation.body_twists[0, :2].tolist()
        self._speed_history.append((c * east + s * north, c * north - s * east))
        # Mean over one whole gait cycle: within a cycle the speed ripples with every step.
        samples = max(1, round(cycle_time / dt))
        if len(self._speed_history) < samples:
            return
        while len(self._speed_history) > samples:
            self._speed_history.popleft()
        # Integral of the speed error, clamped so that a blocked robot does not wind it up.
        limit = _MAX_CORRECTION_SHARE * math.hypot(*velocity[:2]) + _MAX_CORRECTION_OFFSET
        means = (sum(speed[axis] for speed in self._speed_history) / samples for axis in (0, 1))
        x, y = (
            min(max(correction + gain * dt * (commanded - mean), -limit), limit)
            for correction, commanded, mean in zip(
                self._correction, velocity[:2], means, strict=True
            )
        )
        self._correction = (x, y)
