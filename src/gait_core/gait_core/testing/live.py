# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A live gait without ROS: request, stop, safety layer and controller, as a node composes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gait_core.motion.motion_request import GaitStop, MotionRequest
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import Velocity
from gait_core.robot.model import RobotModel
from gait_core.safety.layer import RESET, STARTING, STEP, SafetyLayer
from gait_core.safety.parameters import SafetyParams
from gait_core.trial.spec import Command

STOP_COMMAND = Command(set_points={'stop': 1.0})
"""Command of a gait without a motion request."""


class LiveGait:
    """
    A controller that steps while motion is requested by ``request_motion``, and then stops.

    Parameters
    ----------
    robot : RobotModel
    controller : Controller
    dt : float [s]
        Control period.
    velocity : (3,) tuple [m/s, m/s, rad/s]
        Asked for of a controller that follows velocities.
    send : callable
        Applies the targets of a period, if there are any, and returns the next observation.
    start_speed : float [rad/s]
        Greatest speed of the soft start.

    """

    def __init__(
        self,
        robot: RobotModel,
        controller: Any,
        dt: float,
        velocity: Velocity,
        send: Callable[[JointTargets | None], Observation],
        start_speed: float = 1.0,
    ) -> None:
        self._controller, self._dt, self._velocity, self._send = controller, dt, velocity, send
        self.layer = SafetyLayer(robot, SafetyParams(start_speed=start_speed))
        self.request = MotionRequest(
            lambda: controller.velocity_limits, lambda: (self._now,), lambda: 0.5
        )
        self.stop = GaitStop()
        self.sent: JointTargets | None = None
        self._now = 0
        controller.reset(0)

    def request_motion(self) -> None:
        """Request motion; the request expires and has to be repeated."""
        if self.request.follows_velocity:
            self.request.receive(self._velocity)
        else:
            self.request.set_walking(True)

    def end_motion(self) -> None:
        """End the motion request."""
        self.request.set_walking(False)

    def step(self, observation: Observation) -> Observation:
        """Run a control period and return the observation after it."""
        position = None if self.sent is None else self.sent.position
        before, starting = self.stop.moving, self.layer.mode == STARTING
        moving = self.stop.update(
            self._dt,
            self.request.is_walking,
            starting,
            self._controller.state,
            None if position is None else position[-1],
        )
        action = self.layer.next_action(self._dt, observation, 0.0, moving)
        if action == RESET or (before and not moving):
            self._controller.reset(0)
        command = (
            Command(velocity=self.request.velocity) if self.request.is_walking else STOP_COMMAND
        )
        targets = None
        if action in (STEP, RESET):
            targets = self._controller.step(self._dt, command, observation)
        self.sent = self.layer.output(self._dt, targets)
        self._now += round(self._dt * 1e9)
        return self._send(self.sent)
