"""Requests for motion over ``cmd_vel``, in either of its two message types, and ``~/walk``."""

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
from gait_core.safety.layer import STANDING, STARTING
from gait_core.trial.spec import Command
from gait_ros.live.posture_input import PostureInput
from gait_ros.nodes.faults import ThrottledLogger
from gait_ros.nodes.qos import subscribe
from gait_ros.nodes.services import offer_service

VELOCITY_TOPIC, WALK_SERVICE = 'cmd_vel', '~/walk'
_STOP_COMMAND = Command(set_points={'stop': 1.0})


class MotionInput:
    """
    Request for motion from ``cmd_vel``, ``~/walk`` and a posture, and the end of the gait.

    Parameters
    ----------
    node : Node
    now : callable
        Returns the present time of the gait [ns]. The age of a velocity is the smaller of its
        ages by this time and by wall time.
    stamped : bool
        Whether messages are TwistStamped. Their stamps are ignored: the time of arrival counts.
    timeout : callable
        Returns the age [s] at which a velocity expires.
    bounds : callable
        Returns the velocity limits of the controller, ``Controller.velocity_bounds``.
    demonstration : (3,) tuple [m/s, m/s, rad/s] or None
        Velocity of a walk that starts without a request.
    posture : PostureInput or None
        Set points of the body; None if the controller takes none.
    refusal : callable
        Returns the reason for which the robot cannot walk now; empty if it can.

    Attributes
    ----------
    request : MotionRequest
    stop : GaitStop
    came_to_stand : bool
        Whether the last update ended a gait, after which the controller must be reset. Never while
        a posture is set: after a reset the body would move to the height of the walk first.
    clipped_count : int
        Number of velocities beyond the limits.

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
        """Command in force: velocity, or the set point ``stop`` without one, and the posture."""
        command = (
            Command(velocity=self.request.velocity) if self.request.is_walking else _STOP_COMMAND
        )
        return self._posture.add_set_points(command) if self._posture is not None else command

    def update(
        self,
        dt: float,
        beside: bool,
        mode: str,
        state: Callable[[], Mapping[str, float]],
        targets: JointTargets | None,
    ) -> bool:
        """
        Return whether the controller moves the robot in the coming control period.

        Parameters
        ----------
        dt : float [s]
        beside : bool
            Whether motion beside the walk is requested.
        mode : str
            Mode of the safety layer in the last period.
        state : callable
            Returns the state of the controller.
        targets : JointTargets or None
            Last targets sent.

        """
        self._log_expiry()
        posture, asked = self._posture, self.request.is_walking
        if posture is not None:
            asked = (asked and not posture.requests_sit) or posture.is_requested
            # A posture starts the robot once; while it runs, its set points are part of every
            # command.
            if mode not in (STARTING, STANDING):
                posture.is_requested = False
        position = None if targets is None or targets.position is None else targets.position[-1]
        before = self.stop.moving
        moving = self.stop.update(dt, asked or beside, mode == STARTING, state, position)
        self.gait_has_ended = before and not moving and not (posture and posture.set_points)
        if moving != self._logged_moving:
            self._logged_moving = moving
            if not moving:
                self._node.get_logger().info(self.request.hint)
        return moving

    def cancel(self) -> None:
        """End the gait at once and forget all requests; only a demonstration starts again."""
        self.request.cancel()
        self.stop.end()

    def forget_velocity(self) -> None:
        """End the gait at once and forget the last velocity, after time has gone back."""
        self.request.forget_velocity()
        self.stop.end()

    def _log_expiry(self) -> None:
        """Log once that velocities have ceased while they asked for motion."""
        if self.request.is_expired and self.request.follows_velocity and not self._expiry_logged:
            self._expiry_logged = True
            self._node.get_logger().warning(
                f'no cmd_vel for {self._timeout():g} s (command_timeout): the robot stops'
            )

    def _on_twist(self, message: Any) -> None:
        velocity = (message.linear.x, message.linear.y, message.angular.z)
        try:
            self.request.receive(velocity)
        except ConfigurationError as error:
            self._warn_refused(f'{VELOCITY_TOPIC} refused: {error}')
            return
        # A sender that ends after a zero velocity has stopped the robot: no warning is due.
        self._expiry_logged = not any(velocity)
        if text := describe_clipping(self._bounds(), velocity):
            self.clipped_count += 1
            how = '' if self.request.follows_velocity else f'; {WALK_SERVICE} starts and stops it'
            self._warn_beyond(f'{VELOCITY_TOPIC} is not followed exactly: {text}{how}')

    def _on_walk(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        refusal = self._refusal() if request.data else ''
        if refusal:
            raise ConfigurationError(f'the robot cannot walk: {refusal}')
        self.request.set_walking(request.data)
        response.success = True
        return response
