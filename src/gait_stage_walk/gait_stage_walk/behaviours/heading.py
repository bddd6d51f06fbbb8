# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Heading control of a walk by twists of the legs, counted or measured."""

from __future__ import annotations

import math

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_stage_walk.behaviours.behaviour import Period
from gait_stage_walk.behaviours.turn import TWIST_JOINTS, LegTwists
from gait_stage_walk.staged.pulse import SECOND
from gait_stage_walk.staged.walk import StagedWalk

TWIST_DURATION = 0.78
"""Duration of a twist [time_scale]: it ends before touch-down."""


class Heading:
    """
    Behaviour that turns a walk to a target heading, with both legs in turn.

    The target is the sum of the parameter ``turn_deg``, the set point ``turn`` [rad] and the
    commanded yaw rate, integrated while the robot walks; positive to the left, 0 at the reset.
    With ``heading_gain`` at 0, or without an attitude, the heading is the sum of the twists. Else
    it is measured, and each step corrects the share ``heading_gain`` of the error.

    Attributes
    ----------
    target : float [rad]
    heading : float [rad]
        Measured or counted; full turns count.

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
        """Return the turns of ``joints`` in a period, (n,) [rad]."""
        self._measure(period.observation)
        self._turned_before = self._twists.turned
        params = self._walk.params
        if self._walk.mode.in_cycle:
            self._advance_target(period.command.velocity[2] * (period.end - period.begin) / SECOND)
        requested = math.radians(params.turn_deg) + period.command.set_points.get('turn', 0.0)
        self.target = requested + self._commanded_yaw
        return self._twists.step(period, TWIST_DURATION * self._walk.current.time_scale)

    def _measure(self, observation: Observation) -> None:
        """Update the heading from the attitude, or from the count of twists."""
        attitude = observation.attitude
        yaw = None if attitude is None else attitude.yaw
        if yaw is None or self._walk.params.heading_gain == 0.0:
            self.heading = self._twists.turned
        elif self._last_yaw is not None:
            self.heading += math.remainder(yaw - self._last_yaw, math.tau)
        self._last_yaw = yaw

    def _advance_target(self, angle: float) -> None:
        """Add an angle to the commanded yaw, unless the robot lags behind already."""
        # Anti-windup: the target leads the heading by at most two of the largest twists.
        lead = self.target - self.heading
        if lead * angle <= 0.0 or abs(lead) < 2.0 * self._max_twist:
            self._commanded_yaw += angle

    @property
    def _max_twist(self) -> float:
        return math.radians(self._walk.params.max_twist_deg)

    def _twist(self, leg: str) -> float:
        """Return the twist [rad] for the error that remains after the present stance."""
        # The stance leg untwists now: its turn is under way and not yet in the measured heading.
        pending = self._twists.turned - self._turned_before
        gain = self._walk.params.heading_gain or 1.0
        twist = gain * (self.target - self.heading - pending)
        return min(max(twist, -self._max_twist), self._max_twist)
