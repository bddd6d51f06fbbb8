"""The velocity that a robot is asked for over ``cmd_vel``, in either of its two message types."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from gait_core.errors import ConfigurationError
from gait_core.trial_spec import Command
from gait_core.velocity_bounds import Bounds, beyond
from gait_ros.qos import listen

TOPIC = 'cmd_vel'
_REPEAT = 10.0
_STANDING = Command()


class VelocityInput:
    """
    Subscribes to ``cmd_vel`` and says what is in force.

    Parameters
    ----------
    node : Node
    first : (float, float, float) [m/s, m/s, rad/s]
        In force until the first message.
    now : callable
        Returns the present time [ns].
    stamped : bool
        Whether messages are TwistStamped: their stamps are not looked at.
    timeout : callable
        Returns how long a message holds [s]; 0: for ever.
    bounds : callable
        Returns what of a velocity the controller follows, as of ``bounds_of``.

    Attributes
    ----------
    beyond : int
        How many messages asked for more than that.

    """

    def __init__(
        self,
        node: Node,
        first: tuple[float, float, float],
        now: Callable[[], int],
        *,
        stamped: bool,
        timeout: Callable[[], float],
        bounds: Callable[[], Bounds],
    ) -> None:
        self._node, self._now, self._timeout = node, now, timeout
        self._bounds = bounds
        self.beyond = 0
        self._command = Command(velocity=first)
        self._came: float = math.inf
        self._expired = False
        if stamped:
            listen(node, TwistStamped, TOPIC, lambda message: self._take(message.twist))
        else:
            listen(node, Twist, TOPIC, self._take)

    @property
    def command(self) -> Command:
        """What is asked for now: nothing, after the last message has expired."""
        timeout = self._timeout()
        age = (self._now() - self._came) * 1e-9
        if timeout == 0.0 or age < timeout:
            return self._command
        if not self._expired:
            self._expired = True
            self._node.get_logger().warning(
                f'no cmd_vel for {timeout:g} s (command_timeout): the robot is to stand'
            )
        return _STANDING

    def restart(self) -> None:
        """Count the last message as having come now: the clock has gone back."""
        self._came = min(self._came, self._now()) if self._came < math.inf else math.inf

    def _take(self, message: Any) -> None:
        velocity = (message.linear.x, message.linear.y, message.angular.z)
        try:
            self._command = Command(velocity=velocity)
        except ConfigurationError as error:
            self._node.get_logger().warning(
                f'{TOPIC} refused: {error}', throttle_duration_sec=_REPEAT
            )
            return
        self._came, self._expired = self._now(), False
        if text := beyond(self._bounds(), velocity):
            self.beyond += 1
            self._node.get_logger().warning(
                f'{TOPIC} is not what the robot walks: {text}', throttle_duration_sec=_REPEAT
            )
