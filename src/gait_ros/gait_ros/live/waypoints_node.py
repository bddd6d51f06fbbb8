# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node that walks a robot along waypoints by velocities on ``cmd_vel``."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_ros.executables import waypoints_node

    sys.exit(waypoints_node())

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.motion.motion_request import MESSAGES_PER_TIMEOUT
from gait_core.motion.velocity_limits import ZERO_VELOCITY
from gait_core.motion.waypoints import WaypointFollower, WaypointParams
from gait_core.parameters.declaration import float_parameter
from gait_ros.live.observation import pose_from_odometry
from gait_ros.nodes.clock import ClockWatch
from gait_ros.nodes.faults import ThrottledLogger, destroyed_if_refused
from gait_ros.nodes.parameter_files import check_parameter_files
from gait_ros.nodes.parameters import DeclaredParameters, refuse_unknown_overrides
from gait_ros.nodes.qos import advertise, subscribe
from gait_ros.nodes.run import run_node

# Zero velocities at the end: subscribers with best effort may lose some.
_STOP_MESSAGES = 10


@dataclass(frozen=True, kw_only=True)
class WaypointsNodeParams(WaypointParams):
    """Parameters of the waypoints node: path, speed and rate."""

    rate: float = float_parameter(
        10.0,
        low=0.1,
        high=1000.0,
        unit='Hz',
        doc='Rate of cmd_vel; at least two messages per command_timeout.',
        read_only=True,
    )
    command_timeout: float = float_parameter(
        0.5,
        low=0.05,
        high=60.0,
        unit='s',
        doc='Parameter command_timeout of the controller: age at which a cmd_vel expires.',
        read_only=True,
    )
    odom_timeout: float = float_parameter(
        1.0,
        low=0.01,
        high=60.0,
        unit='s',
        doc='Age of the last odom at which the robot is stopped.',
    )

    def __post_init__(self) -> None:
        """Check that velocities come often enough that one may be lost before the last expires."""
        super().__post_init__()
        if self.rate * self.command_timeout < MESSAGES_PER_TIMEOUT:
            raise ConfigurationError(
                f"parameter 'rate' is {self.rate:g} Hz, but velocities expire after "
                f'{self.command_timeout:g} s (command_timeout); nearest valid: '
                f'{MESSAGES_PER_TIMEOUT / self.command_timeout:g} Hz'
            )


class WaypointsNode(Node):
    """Publisher of the velocity to the next waypoint; it stops the robot at the last one."""

    def __init__(self, name: str = 'waypoints', **kwargs: Any) -> None:
        # Set first: `destroy_node` reads it even if the parameters are refused below.
        self._publisher: Any = None
        super().__init__(name, **kwargs)
        with destroyed_if_refused(self):
            check_parameter_files(self, sys.argv)
            self._declared = DeclaredParameters(
                self, WaypointsNodeParams, on_change=self._on_change
            )
            refuse_unknown_overrides(self)
            self._follower = WaypointFollower(self._declared.value)
            self._pose: FloatArray | None = None
            self._last_pose_time = self.get_clock().now().nanoseconds
            self._stop_count = 0
            logger = self.get_logger()
            self._warn_pose, self._warn_wait, self._warn_clock = (
                ThrottledLogger(logger, is_error=False) for _ in range(3)
            )
            self._publisher = advertise(self, Twist, 'cmd_vel')
            subscribe(self, Odometry, 'odom', self._on_odom)

    def start(self) -> None:
        """Start publishing velocities."""
        self.create_timer(1.0 / self._declared.value.rate, self._on_timer)
        if self.get_parameter('use_sim_time').value:
            self._clock_watch = ClockWatch('No velocity is commanded')
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.create_timer(1.0, self._on_watch, clock=steady)

    def _on_watch(self) -> None:
        trouble = self._clock_watch.find_trouble(self.get_clock().now().nanoseconds)
        if trouble:
            self._warn_clock(trouble)

    def _on_change(self, params: WaypointsNodeParams) -> None:
        self._follower.params = params

    def _on_odom(self, message: Odometry) -> None:
        pose = pose_from_odometry(message)
        if pose is None:
            self._warn_pose(
                'odom: a value is not finite, or the norm of the quaternion is not 1; ignored'
            )
            return
        self._pose = pose
        self._last_pose_time = self.get_clock().now().nanoseconds

    def _on_timer(self) -> None:
        if self._stop_count >= _STOP_MESSAGES:
            return
        age = (self.get_clock().now().nanoseconds - self._last_pose_time) * 1e-9
        # A clock that has jumped back since tells no age.
        if not 0.0 <= age <= self._declared.value.odom_timeout:
            self._warn_wait('waiting for odom')
            self._publish_velocity(ZERO_VELOCITY)
        elif self._pose is not None:
            self._walk(self._pose)

    def _walk(self, pose: FloatArray) -> None:
        before = self._follower.reached
        self._publish_velocity(self._follower.velocity(pose))
        reached, count = self._follower.reached, len(self._declared.value.waypoints) // 2
        if reached > before:
            self.get_logger().info(f'waypoint {reached} of {count} reached')
        if self._follower.is_done:
            self._stop_count += 1

    def _publish_velocity(self, velocity: tuple[float, float, float]) -> None:
        message = Twist()
        message.linear.x, message.linear.y, message.angular.z = velocity
        self._publisher.publish(message)

    def destroy_node(self) -> None:
        """Stop the robot and destroy the node."""
        if self._publisher is not None and not self._follower.is_done and self.context.ok():
            self._publish_velocity(ZERO_VELOCITY)
        self._publisher = None
        super().destroy_node()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit code."""
    return run_node(WaypointsNode, args)
