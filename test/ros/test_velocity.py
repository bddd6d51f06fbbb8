# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion requests: both types of cmd_vel, an unread type, and a sender that ends."""

from contextlib import contextmanager
import math

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist, TwistStamped
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core.robot.load import load_robot
from gait_core.testing.doubles import WaveController
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.publisher_checks import describe_type_mismatches
from gait_ros.nodes.qos import STREAM_QOS
from sim_bridge.node import SimBridgeNode


def forward(message, speed):
    message.linear.x = speed
    return message


def test_stamped_velocities_of_a_navigation_stack_are_followed(graph, box):
    node = graph.add(
        ControllerNode, robot=box, controller='wave', stamped_cmd_vel=True, command_timeout=60.0
    )
    publisher = graph.client.create_publisher(TwistStamped, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    message = TwistStamped()
    forward(message.twist, 0.25)
    publisher.publish(message)
    assert node._command.velocity == (0.0, 0.0, 0.0)
    graph.until(lambda: any(node._command.velocity))
    assert node._command.velocity == (0.25, 0.0, 0.0)


def test_a_robot_stands_until_it_is_asked_and_when_whoever_asked_has_ended(graph, box):
    """It holds the measured pose, walks, and then holds its last targets."""
    node = graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        safety__start_speed=100.0,
        command_timeout=0.2,
    )
    targets = []
    graph.client.create_subscription(
        JointTrajectory, '/joint_trajectory', targets.append, STREAM_QOS
    )
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    model = load_robot(box)
    measured = [0.1] * len(model.joint_names)
    message = JointState(name=list(model.joint_names), position=measured)
    graph.client.create_timer(0.02, lambda: states.publish(message))
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(lambda: len(targets) > 25 and publisher.get_subscription_count())
    assert {tuple(one.points[0].positions) for one in targets} == {tuple(measured)}
    assert graph.logged('INFO', 'hold until cmd_vel requests motion, at 10 Hz or more')
    # Neither asks for motion: no speed, and none that is meant.
    for speed in (0.0, 1e308, math.nan):
        publisher.publish(forward(Twist(), speed))
    graph.until(lambda: graph.logged('WARN', 'cmd_vel refused'))
    assert len(graph.logged('WARN', 'cmd_vel refused')) == 1
    assert node._safe.layer.mode == 'standing'

    sender = graph.client.create_timer(0.05, lambda: publisher.publish(forward(Twist(), 0.2)))
    graph.until(lambda: node._safe.layer.mode == 'running')
    graph.until(lambda: len({tuple(one.points[0].positions) for one in targets}) > 5)
    sender.cancel()
    graph.until(lambda: node._safe.layer.mode == 'standing')
    assert len(graph.logged('WARN', 'no cmd_vel for 0.2 s (command_timeout)')) == 1
    targets.clear()
    graph.until(lambda: len(targets) > 25)
    assert len({tuple(one.points[0].positions) for one in targets[2:]}) == 1
    sender.reset()
    graph.until(lambda: node._safe.layer.mode == 'running')


def test_what_ignores_velocity_is_started_and_stopped_by_its_service(graph, box, monkeypatch):
    monkeypatch.setattr(WaveController, 'velocity_limits', 'it swings', raising=False)
    node = graph.add(
        ControllerNode, robot=box, controller='wave', safety__start_speed=100.0, autostart=False
    )
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    model = load_robot(box)
    message = JointState(name=list(model.joint_names), position=[0.1] * len(model.joint_names))
    graph.client.create_timer(0.02, lambda: states.publish(message))
    answer = graph.call(SetBool, '/controller/walk', data=True)
    assert not answer.success and 'inactive' in answer.message
    node.trigger_configure()
    node.trigger_activate()
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    publisher.publish(forward(Twist(), 0.2))
    graph.until(lambda: graph.logged('WARN', '0.2 m/s forward: it swings; ~/walk starts and stop'))
    graph.until(lambda: node._safe.layer.mode == 'standing')
    graph.spin(0.1)
    assert node._safe.layer.mode == 'standing'
    assert graph.call(SetBool, '/controller/walk', data=True).success
    graph.until(lambda: node._safe.layer.mode == 'running')
    assert graph.call(SetBool, '/controller/walk', data=False).success
    graph.until(lambda: node._safe.layer.mode == 'standing')

    # A stop ends the walk for good: not even resume lets it go on unasked.
    assert graph.call(SetBool, '/controller/walk', data=True).success
    graph.until(lambda: node._safe.layer.mode == 'running')
    assert graph.call(Trigger, '/controller/emergency_stop').success
    answer = graph.call(SetBool, '/controller/walk', data=True)
    assert not answer.success and 'emergency stop' in answer.message
    assert graph.call(Trigger, '/controller/resume').success
    graph.until(lambda: node._safe.layer.mode == 'standing')
    graph.spin(0.2)
    assert node._safe.layer.mode == 'standing'


def test_what_follows_velocity_is_not_started_by_the_service(graph, box):
    graph.add(ControllerNode, robot=box, controller='wave')
    answer = graph.call(SetBool, '/controller/walk', data=True)
    assert not answer.success and 'cmd_vel, at 4 Hz or more' in answer.message


def test_a_demonstration_walks_by_itself_until_it_is_told_otherwise(graph, box):
    bridge = graph.add(SimBridgeNode, robot=box, mode='realtime', realtime_factor=5.0)
    node = graph.add(
        ControllerNode, robot=box, controller='wave', use_sim_time=True, demo=True,
        command=[0.1, 0.0, 0.0], safety__start_speed=100.0,
    )  # fmt: skip
    graph.until(lambda: node._safe.layer.mode == 'running')
    assert node._command.velocity == (0.1, 0.0, 0.0)
    assert graph.call(SetBool, '/controller/walk', data=False).success
    graph.until(lambda: node._safe.layer.mode == 'standing')
    before = bridge._live.tick
    graph.until(lambda: bridge._live.tick > before + 50)
    assert node._safe.layer.mode == 'standing'


def test_nothing_moves_unasked_where_the_safety_layer_is_off(graph, box):
    node = graph.add(ControllerNode, robot=box, controller='wave', safety__enabled=False)
    targets = []
    graph.client.create_subscription(
        JointTrajectory, '/joint_trajectory', targets.append, STREAM_QOS
    )
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    model = load_robot(box)
    message = JointState(name=list(model.joint_names), position=[0.1] * len(model.joint_names))
    graph.client.create_timer(0.02, lambda: states.publish(message))
    graph.until(lambda: node._live.observation.age() < 1.0)
    graph.spin(0.3)
    assert not targets
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    publisher.publish(forward(Twist(), 0.2))
    graph.until(lambda: len({tuple(one.points[0].positions) for one in targets}) > 5)
    graph.until(lambda: not node._live.motion.stop.moving)
    targets.clear()
    graph.until(lambda: len(targets) > 10)
    assert len({tuple(one.points[0].positions) for one in targets[2:]}) == 1


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
    monkeypatch.setattr('gait_ros.live.gait_watch._MAX_INPUT_AGE', 0.1)
    walker = graph.add(ControllerNode, robot=box, controller='wave')
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False)
    graph.until(
        lambda: not describe_type_mismatches(walker) and not describe_type_mismatches(bridge)
    )
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
