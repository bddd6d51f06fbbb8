# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion requests from ``cmd_vel``, ``~/walk`` and postures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from std_srvs.srv import SetBool

from gait_core.errors import ConfigurationError
from gait_core.motion.motion_request import GaitStop, MotionRequest
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import Velocity, VelocityLimits, describe_clipping
from gait_core.safety.layer import STANDING, STARTING, WAITING
from gait_core.trial.spec import Command
from gait_ros.live.posture_input import PostureInput
from gait_ros.nodes.faults import ThrottledLogger
from gait_ros.nodes.qos import subscribe
from gait_ros.nodes.services import offer_service

VELOCITY_TOPIC, WALK_SERVICE = 'cmd_vel', '~/walk'
_STOP_COMMAND = Command(set_points={'stop': 1.0})


class MotionInput:
    """
    Motion requests from ``cmd_vel``, ``~/walk`` and a posture, and the end of the gait.

    Parameters
    ----------
    node : Node
    now : callable
        Returns the present time of the gait [ns]. The age of a velocity is the smaller of its
        ages by this clock and by wall time.
    stamped : bool
        Whether messages are TwistStamped. Ages count from the arrival, not from the stamp.
    timeout : callable
        Returns the age [s] at which a velocity expires.
    bounds : callable
        Returns the velocity limits of the controller, ``Controller.velocity_limits``.
    demonstration : (3,) tuple [m/s, m/s, rad/s] or None
        Velocity of a walk that starts without a request.
    posture : PostureInput or None
        Set points of the body; None if the controller has none.
    refusal : callable
        Returns the reason why the robot cannot walk now; empty if it can.

    Attributes
    ----------
    request : MotionRequest
    stop : GaitStop
    gait_has_ended : bool
        Whether the last update ended a gait, so that the controller must be reset. It stays false
        while a posture is set, because a reset would first move the body to its walking height.
    clipped_count : int
        Number of velocities beyond the velocity limits.

    """

    def __init__(
        self,
        node: Node,
        now: Callable[[], int],
        *,
        stamped: bool,
        timeout: Callable[[], float],
        bounds: Callable[[], VelocityLimits],
        demonstration: Velocity | None,
        posture: PostureInput | None,
        refusal: Callable[[], str],
    ) -> None:
        self._node, self._timeout, self._bounds = node, timeout, bounds
        self._posture, self._refusal = posture, refusal
        self.request = MotionRequest(
            bounds, lambda: (now(), time.monotonic_ns()), timeout, demonstration
        )
        self.stop = GaitStop()
        self.gait_has_ended, self.clipped_count = False, 0
        self._expiry_logged, self._logged_moving = False, True
        self._warn_refused = ThrottledLogger(node.get_logger(), is_error=False)
        self._warn_beyond = ThrottledLogger(node.get_logger(), is_error=False)
        if stamped:
            subscribe(
                node, TwistStamped, VELOCITY_TOPIC, lambda message: self._on_twist(message.twist)
            )
        else:
            subscribe(node, Twist, VELOCITY_TOPIC, self._on_twist)
        offer_service(node, SetBool, WALK_SERVICE, self._on_walk)
        if demonstration is not None and not self.request.is_walking:
            x, y, yaw = demonstration
            raise ConfigurationError(
                "parameter 'demo': the controller does not follow the command "
                f"{x:g} m/s, {y:g} m/s, {yaw:g} rad/s; set another 'command'"
            )

    @property
    def command(self) -> Command:
        """Present command: velocity, or the set point ``stop`` without one, and the posture."""
        command = (
            Command(velocity=self.request.velocity) if self.request.is_walking else _STOP_COMMAND
        )
        return self._posture.add_set_points(command) if self._posture is not None else command

    def update(
        self,
        dt: float,
        other_motion: bool,
        mode: str,
        state: Callable[[], Mapping[str, float]],
        targets: JointTargets | None,
    ) -> bool:
        """
        Return whether the controller moves the robot in the coming control period.

        Parameters
        ----------
        dt : float [s]
        other_motion : bool
            Whether a motion other than the walk is requested.
        mode : str
            Mode of the safety layer in the last period.
        state : callable
            Returns the state of the controller.
        targets : JointTargets or None
            Last published targets.

        """
        self._log_expiry()
        posture, is_requested = self._posture, self.request.is_walking
        if posture is not None:
            # A sitting robot does not walk, but a new posture may move it.
            is_requested = (is_requested and not posture.requests_sit) or posture.is_requested
            # A posture needs to start the robot only once. Then its set points are part of every
            # command.
            if mode not in (WAITING, STARTING, STANDING):
                posture.is_requested = False
        position = None if targets is None or targets.position is None else targets.position[-1]
        before = self.stop.moving
        moving = self.stop.update(
            dt, is_requested or other_motion, mode == STARTING, state, position
        )
        self.gait_has_ended = before and not moving and not (posture and posture.set_points)
        if moving != self._logged_moving:
            self._logged_moving = moving
            if not moving:
                self._node.get_logger().info(self.request.hint)
        return moving

    def cancel(self) -> None:
        """End the gait at once and forget all requests, except for a demonstration."""
        self.request.cancel()
        self.stop.end()
        if self._posture is not None:
            self._posture.is_requested = False

    def forget_velocity(self) -> None:
        """End the gait at once and forget the last velocity, after a backward jump of time."""
        self.request.forget_velocity()
        self.stop.end()

    def _log_expiry(self) -> None:
        """Log once that velocities which requested motion have ceased."""
        if self.request.is_expired and self.request.follows_velocity and not self._expiry_logged:
            self._expiry_logged = True
            self._node.get_logger().warning(
                f'no cmd_vel for {self._timeout():g} s (command_timeout): the robot stops'
            )

    def _on_twist(self, message: Any) -> None:
        """Request motion by a velocity; warn if it is refused or beyond the limits."""
        velocity = (message.linear.x, message.linear.y, message.angular.z)
        try:
            self.request.receive(velocity)
        except ConfigurationError as error:
            self._warn_refused(f'message on {VELOCITY_TOPIC} refused: {error}')
            return
        # A publisher that ends after a zero velocity has stopped the robot: do not warn then.
        self._expiry_logged = not any(velocity)
        if text := describe_clipping(self._bounds(), velocity):
            self.clipped_count += 1
            hint = '' if self.request.follows_velocity else f'; {WALK_SERVICE} starts and stops it'
            self._warn_beyond(f'{VELOCITY_TOPIC} is not followed exactly: {text}{hint}')

    def _on_walk(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        refusal = self._refusal() if request.data else ''
        if refusal:
            raise ConfigurationError(f'the robot cannot walk: {refusal}')
        self.request.set_walking(request.data)
        response.success = True
        return response
