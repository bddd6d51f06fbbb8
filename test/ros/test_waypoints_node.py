# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The waypoints node: from odom to cmd_vel, to the last waypoint and a stop."""

import math

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from gait_core.errors import ConfigurationError
from gait_ros.live.waypoints_node import WaypointsNode
from gait_ros.nodes.qos import STREAM_QOS


def collect(graph):
    found = []
    graph.client.create_subscription(
        Twist, '/cmd_vel', lambda it: found.append((it.linear.x, it.angular.z)), STREAM_QOS
    )
    return found


class Robot:
    """A robot that moves exactly as cmd_vel says, many times as fast as it would."""

    def __init__(self, graph, haste=1.0):
        self.x = self.y = self.yaw = 0.0
        self.haste, self.told = haste, collect(graph)
        self._publisher = graph.client.create_publisher(Odometry, '/odom', 10)
        self._timer = graph.client.create_timer(0.01, self._on_timer)
        graph.until(self._publisher.get_subscription_count)

    def stop_talking(self):
        self._timer.cancel()

    def _on_timer(self):
        if self.told:
            forward, turning = self.told[-1]
            self.x += 0.01 * self.haste * forward * math.cos(self.yaw)
            self.y += 0.01 * self.haste * forward * math.sin(self.yaw)
            self.yaw += 0.01 * self.haste * turning
        message = Odometry()
        message.pose.pose.position.x, message.pose.pose.position.y = self.x, self.y
        message.pose.pose.orientation.z = math.sin(0.5 * self.yaw)
        message.pose.pose.orientation.w = math.cos(0.5 * self.yaw)
        self._publisher.publish(message)


def test_it_walks_a_square_stops_and_is_silent(graph):
    corners = [0.5, 0.0, 0.5, 0.5, 0.0, 0.5, 0.0, 0.0]
    graph.add(WaypointsNode, waypoints=corners, rate=100.0)
    robot = Robot(graph, haste=20.0)
    graph.until(lambda: graph.logged('waypoint 4 of 4 reached'), 20.0)
    for number in (1, 2, 3):
        assert len(graph.logged(f'waypoint {number} of 4 reached')) == 1
    graph.until(lambda: robot.told[-1] == (0.0, 0.0))
    assert math.hypot(robot.x, robot.y) < 0.15
    graph.spin(0.5)
    count = len(robot.told)
    graph.spin(0.5)
    assert len(robot.told) == count


def test_without_odom_the_robot_is_told_to_stand(graph):
    graph.add(WaypointsNode, waypoints=[1.0, 0.0], rate=50.0, odom_timeout=0.3)
    robot = Robot(graph)
    graph.until(lambda: robot.told and robot.told[-1] == (0.068, 0.0))
    robot.stop_talking()
    graph.until(lambda: robot.told[-1] == (0.0, 0.0), 3.0)
    assert graph.logged('WARN', 'waiting for odom')


def test_its_end_stops_the_robot(graph):
    node = graph.add(WaypointsNode, waypoints=[1.0, 0.0], rate=50.0)
    robot = Robot(graph)
    graph.until(lambda: robot.told and robot.told[-1] == (0.068, 0.0))
    graph.remove(node)
    assert graph.until(lambda: robot.told[-1] == (0.0, 0.0), 3.0)


@pytest.mark.parametrize(
    ('given', 'said'),
    [
        ({'waypoints': [1.0, 2.0, 3.0]}, "'waypoints' has 3 values"),
        ({'waypoints': [1.0, math.nan]}, "'waypoints' is nan"),
        ({}, "'waypoints' has 0 values"),
        ({'waypoint': [1.0, 2.0]}, 'has 0 values'),
        ({'waypoints': [1.0, 2.0], 'rate': 3.0}, "'rate' is 3 Hz.*nearest valid: 4 Hz"),
        (
            {'waypoints': [1.0, 2.0], 'command_timeout': 0.1},
            "'rate' is 10 Hz.*0.1 s.*nearest valid: 20 Hz",
        ),
        ({'waypoints': [1.0, 2.0], 'sped': 0.1}, "'sped'.*'speed'"),
    ],
)
def test_what_is_no_waypoint_is_refused(graph, given, said):
    with pytest.raises(ConfigurationError, match=said):
        graph.add(WaypointsNode, **given)


def test_as_a_process_it_says_in_one_line_what_is_wrong(start_process):
    code, output = start_process('gait_ros.live.waypoints_node', waypoints='[1.0, 2.0, 3.0]').end()
    assert code == 2
    assert [line for line in output.splitlines() if 'has 3 values' in line] == output.splitlines()
