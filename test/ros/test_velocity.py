"""What a robot is asked for: either type of cmd_vel, a type not read, a sender that ends."""

from contextlib import contextmanager

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist, TwistStamped
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from gait_ros.controller_node import ControllerNode
from gait_ros.wiring import mistyped
from sim_bridge.node import SimBridgeNode


def forward(message, speed):
    message.linear.x = speed
    return message


def test_stamped_velocities_of_a_navigation_stack_are_followed(graph, box):
    node = graph.add(ControllerNode, robot=box, controller='wave', stamped_cmd_vel=True)
    publisher = graph.client.create_publisher(TwistStamped, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    message = TwistStamped()
    forward(message.twist, 0.25)
    publisher.publish(message)
    assert node._command.velocity == (0.0, 0.0, 0.0)
    graph.until(lambda: any(node._command.velocity))
    assert node._command.velocity == (0.25, 0.0, 0.0)


def test_a_robot_stands_when_whoever_sent_velocities_has_ended(graph, box):
    node = graph.add(
        ControllerNode, robot=box, controller='wave', command=[0.1, 0.0, 0.0], command_timeout=0.2
    )
    # What holds before the first message is the user's own, and does not expire.
    graph.spin(0.3)
    assert node._command.velocity == (0.1, 0.0, 0.0)
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    publisher.publish(forward(Twist(), 0.2))
    graph.until(lambda: node._command.velocity == (0.2, 0.0, 0.0))
    graph.until(lambda: node._command.velocity == (0.0, 0.0, 0.0))
    assert len(graph.logged('WARN', 'no cmd_vel for 0.2 s (command_timeout)')) == 1
    publisher.publish(forward(Twist(), 0.3))
    graph.until(lambda: node._command.velocity == (0.3, 0.0, 0.0))


@contextmanager
def stranger(domain):
    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    node = Node('stranger', context=context)
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_a_publisher_of_another_type_is_named_with_what_is_read(graph, box, domain, monkeypatch):
    monkeypatch.setattr('gait_ros.controller_node._PATIENCE', 0.1)
    walker = graph.add(ControllerNode, robot=box, controller='wave')
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False)
    graph.until(lambda: not mistyped(walker) and not mistyped(bridge))
    # One participant refuses two types of a topic: the stranger is one of its own.
    with stranger(domain) as node:
        node.create_publisher(TwistStamped, '/cmd_vel', 10)
        node.create_publisher(Float64MultiArray, '/joint_trajectory', 10)
        for topic, wrong, right in (
            ('/cmd_vel', 'geometry_msgs/msg/TwistStamped', 'geometry_msgs/msg/Twist '),
            ('/joint_trajectory', 'std_msgs/msg/Float64MultiArray', 'trajectory_msgs/msg/Joint'),
        ):
            words = f'{topic} is published as {wrong} by /stranger'
            graph.until(lambda words=words: graph.logged('WARN', words))
            assert all(f'reads {right}' in line for line in graph.logged('WARN', words))
