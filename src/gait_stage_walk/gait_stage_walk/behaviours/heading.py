"""Heading: a walk is steered to a heading, by count or by the yaw that is measured."""

from __future__ import annotations

import math

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.behaviours.turn import TWIST_JOINTS, LegTwists
from gait_stage_walk.staged.pulse import SECOND
from gait_stage_walk.staged.walk import StagedWalk

TWIST_DURATION = 0.78
"""Of a twist [time_scale]: the leg is in the air for longer, and still before it lands."""


class Heading:
    """
    Steers a walk to a heading, with both legs in turn.

    The heading wanted is the sum of the parameter ``turn_deg``, the set point ``turn`` [rad] and
    the commanded yaw rate, integrated while the robot walks; left is positive and 0 the heading
    at the reset. With ``heading_gain`` at 0 it counts the twists that were made; above, it takes
    back that share of the measured error with each step. Without a measurement it counts.

    Attributes
    ----------
    wanted : float [rad]
        Heading to turn to.
    heading : float [rad]
        Present one, as measured or counted, over whole turns.

    """

    joints = TWIST_JOINTS
    is_finished = False

    def __init__(self, walk: StagedWalk) -> None:
        self._walk = walk
        self._twists = LegTwists(walk, self._twist)
        self._commanded_yaw = 0.0
        self._turned_before = 0.0
        self._last_yaw: float | None = None
        self.target = 0.0
        self.heading = 0.0

    def step(self, period: Period) -> FloatArray:
        """Return the turn of each of its joints in a period, (n,) [rad]."""
        self._measure(period.observation)
        self._turned_before = self._twists.turned
        params = self._walk.params
        if self._walk.phase.in_cycle:
            self._advance_target(period.command.velocity[2] * (period.end - period.begin) / SECOND)
        requested = math.radians(params.turn_deg) + period.command.set_points.get('turn', 0.0)
        self.target = requested + self._commanded_yaw
        return self._twists.step(period, TWIST_DURATION * self._walk.current.time_scale)

    def _measure(self, observation: Observation) -> None:
        attitude = observation.attitude
        yaw = None if attitude is None else attitude.yaw
        if yaw is None or self._walk.params.heading_gain == 0.0:
            self.heading = self._twists.turned
        elif self._last_yaw is not None:
            self.heading += math.remainder(yaw - self._last_yaw, math.tau)
        self._last_yaw = yaw

    def _advance_target(self, angle: float) -> None:
        """Add an angle to the wanted heading, unless the robot lags behind already."""
        lead = self.target - self.heading
        if lead * angle <= 0.0 or abs(lead) < 2.0 * self._max_twist:
            self._commanded_yaw += angle

    @property
    def _max_twist(self) -> float:
        return math.radians(self._walk.params.max_twist_deg)

    def _twist(self, leg: str) -> float:
        """Return the twist that takes back the error which the leg now standing will leave."""
        begun = self._twists.turned - self._turned_before
        gain = self._walk.params.heading_gain or 1.0
        twist = gain * (self.target - self.heading - begun)
        return min(max(twist, -self._max_twist), self._max_twist)
