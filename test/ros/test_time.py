# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes handle clocks that are missing, end, begin anew or belong to another bridge."""

from functools import partial

import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState

from gait_ros.graph.nodes import CLOCK_REMAPPINGS
from gait_ros.live.node import ControllerNode
from gait_ros.live.waypoints_node import WaypointsNode
from gait_ros.nodes.clock import SimulatedTime
from sim_bridge.node import SimBridgeNode


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Let nodes report after half a second in place of three seconds."""
    monkeypatch.setattr('gait_ros.nodes.clock._STANDSTILL_TIME', 0.5)
    monkeypatch.setattr('gait_ros.live.gait_watch._MAX_INPUT_AGE', 0.5)


def collect(graph, kind, topic):
    found = []
    graph.client.create_subscription(kind, topic, found.append, 10)
    return found


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def test_a_bridge_started_again_is_walked_on_by_the_same_controller(graph, box, monkeypatch):
    """The simulator crashes and restarts: /clock begins anew, and the gait is not restarted."""
    monkeypatch.setattr('gait_ros.nodes.clock._DISCOVERY_TIME', 0.2)
    walker = graph.add(
        ControllerNode, robot=box, controller='wave', use_sim_time=True, demo=True,
        command=[0.1, 0.0, 0.0],
    )  # fmt: skip
    fast = {'mode': 'realtime', 'realtime_factor': 5.0}
    first = graph.add(SimBridgeNode, robot=box, **fast)
    graph.until(lambda: first._live.tick > 100 and walker._safe.layer.mode == 'running')
    graph.remove(first)
    graph.until(lambda: graph.logged('WARN', '/clock stands still'), 10.0)
    second = graph.add(SimBridgeNode, robot=box, name='again', **fast)
    states = collect(graph, JointState, '/joint_states')
    graph.until(lambda: graph.logged('WARN', 'time jumped back: the controller is reset'))
    graph.until(lambda: walker._safe.layer.mode == 'running' and second._live.tick > 100)
    assert (
        len(graph.logged('WARN', 'time jumped back')) == 1 and walker._watch.find_trouble() == ''
    )
    # Softly: no joint has moved faster than it may.
    limit = dict(zip(walker.robot.joint_names, walker.robot.velocity_limit, strict=True))
    for before, after in zip(states, states[1:], strict=False):
        dt = seconds(after.header.stamp) - seconds(before.header.stamp)
        moved = zip(after.name, before.position, after.position, strict=True)
        assert all(abs(b - a) <= limit[name] * dt + 1e-6 for name, a, b in moved)
    assert second._live.is_commanded


def test_waypoints_without_a_clock_are_said_to_wait_for_it(graph):
    graph.add(WaypointsNode, waypoints=[1.0, 0.0], use_sim_time=True)
    velocities = collect(graph, Twist, '/cmd_vel')
    graph.until(lambda: graph.logged('WARN', 'no /clock has come', 'No velocity'), 6.0)
    assert not velocities


def test_a_bridge_that_follows_a_clock_says_when_there_is_none_and_goes_on(graph, box):
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False, use_sim_time=True)
    graph.until(lambda: graph.logged('INFO', 'no /clock has come', 'The simulation goes on'), 6.0)
    assert bridge._live.tick > 10


def test_the_stamps_of_a_bridge_follow_the_clock_of_another(graph, box):
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False, use_sim_time=True)
    states = collect(graph, JointState, '/joint_states')
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    graph.until(clock.get_subscription_count)
    for begin in (1000, 200):
        clock.publish(Clock(clock=Time(sec=begin)))
        graph.until(lambda begin=begin: states and abs(_last(states) - begin) < 1.0)
    assert bridge._live.tick > 0


def test_a_tick_is_seen_before_its_time_comes(graph, box):
    """A node that steps by /clock must not use data of the last period: a g1 fell after 15 s."""
    heard = []

    def listen(kind, topic, stamp):
        def hear(message):
            heard.append((topic, seconds(stamp(message))))

        graph.client.create_subscription(kind, topic, hear, 10)

    listen(JointState, '/joint_states', lambda message: message.header.stamp)
    listen(Imu, '/imu/data', lambda message: message.header.stamp)
    listen(Clock, '/clock', lambda message: message.clock)
    graph.add(SimBridgeNode, robot=box)
    clocks = graph.until(lambda: [at for at, (topic, _) in enumerate(heard) if topic == '/clock'])
    graph.until(lambda: len(heard) > clocks[0] + 60)
    late = heard[clocks[0] + 1 :]
    for at, (topic, time) in enumerate(late):
        if topic == '/clock' and at >= 2:
            assert {('/joint_states', time), ('/imu/data', time)} <= set(late[at - 2 : at])


def test_a_bridge_ahead_of_the_clock_it_follows_waits_for_it(graph, box):
    """Else its robot's transforms would lie ever further in the future of everybody's time."""
    bridge = graph.add(SimBridgeNode, robot=box, publish_clock=False, use_sim_time=True)
    states = collect(graph, JointState, '/joint_states')
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    graph.until(clock.get_subscription_count)
    # It had a time of its own before, and takes up the clock's.
    graph.until(lambda: states and _last(states) > 0.1)
    for now in (0.05, 2.0):
        clock.publish(Clock(clock=Time(sec=int(now), nanosec=round(now % 1.0 * 1e9))))
        graph.until(lambda now=now: _last(states) > now + 0.5 and _last(states) < now + 1.0)
        tick = bridge._live.tick
        graph.spin(0.5)
        assert bridge._live.tick <= tick + 1 and _last(states) < now + 0.55
    graph.until(lambda: graph.logged('INFO', '/clock stands still', 'The simulation waits'), 6.0)


def test_a_gait_steps_with_the_bridge_that_moves_its_robot_not_with_the_clock_of_another(
    graph, box
):
    """The second robot of a launch file fell where its bridge was slower than the first."""
    (rule,) = CLOCK_REMAPPINGS
    space = {'name': '', 'robot': box, 'use_sim_time': True}
    graph.add(SimBridgeNode, robot=box, remap=['__ns:=/r1'])
    second = graph.add(
        SimBridgeNode,
        publish_clock=False,
        realtime_factor=0.2,
        remap=['__ns:=/r2'],
        **space,
    )
    gait = graph.add(
        ControllerNode,
        controller='wave',
        demo=True,
        command=[0.1, 0.0, 0.0],
        remap=['__ns:=/r2', ':='.join(rule)],
        **space,
    )
    graph.until(lambda: gait._tick > 3)
    ticks, steps = second._live.tick, gait._tick
    graph.until(lambda: second._live.tick > ticks + 40)
    assert gait._tick - steps == pytest.approx(second._live.tick - ticks, abs=3)
    assert graph.client.count_publishers('/clock') == 1


def _last(states):
    return seconds(states[-1].header.stamp)


def test_followed_time_keeps_the_pace_of_its_ticks_and_falls_behind_by_half_a_second_at_most():
    time = SimulatedTime()
    time.restart(0.02)
    heard, stamps = 100 * 10**9, []
    for tick in range(1, 200):
        # The clock of the other goes twice as fast.
        heard += 40_000_000
        time.follow(heard)
        stamps.append(seconds(time.advance_to(tick)))
        assert -0.021 <= heard * 1e-9 - stamps[-1] <= 0.5 + 1e-9
    steps = [after - before for before, after in zip(stamps, stamps[1:], strict=False)]
    assert min(steps) == pytest.approx(0.02)
    assert sum(step > 0.021 for step in steps) < 10
    time.follow(5 * 10**9)
    assert seconds(time.advance_to(200)) == pytest.approx(5.02)
    # Ahead of it, half a second at most: then it is waited for, unless it has gone back.
    for tick in range(201, 240):
        time.follow(5 * 10**9)
        ahead = time.nanoseconds - 5 * 10**9
        assert time.is_ahead(5 * 10**9) == (ahead > 500_000_000) and not time.is_ahead(4 * 10**9)
        time.advance_to(tick)
    assert ahead > 500_000_000


def test_a_negative_time_ends_no_node_and_waypoints_trust_no_pose_of_another_time(graph):
    node = graph.add(WaypointsNode, waypoints=[100.0, 0.0], use_sim_time=True, odom_timeout=1.0)
    velocities, clock = (
        collect(graph, Twist, '/cmd_vel'),
        graph.client.create_publisher(Clock, '/clock', 10),
    )
    odom = graph.client.create_publisher(Odometry, '/odom', 10)
    graph.until(lambda: clock.get_subscription_count() and odom.get_subscription_count())
    begin, now, pose = 1000, 0, Odometry()
    pose.pose.pose.orientation.w = 1.0

    def tick():
        nonlocal now
        now += 20_000_000
        clock.publish(Clock(clock=Time(sec=begin + now // 10**9, nanosec=now % 10**9)))
        if begin == 1000:
            odom.publish(pose)

    graph.client.create_timer(0.02, tick)
    graph.until(lambda: velocities and velocities[-1].linear.x > 0.0)
    clock.publish(Clock(clock=Time(sec=-5)))
    graph.spin(0.2)
    assert node.get_clock().now().nanoseconds > 0
    # The clock begins anew, and no pose comes any more.
    begin, now = 10, 0
    graph.until(lambda: velocities[-1].linear.x == 0.0)


def test_two_clocks_are_named(graph, box):
    node = graph.add(ControllerNode, robot=box, controller='wave', use_sim_time=True)
    other = graph.add(partial(Node, 'other_clock'), start=False)
    old, young = (sender.create_publisher(Clock, '/clock', 10) for sender in (graph.client, other))
    graph.client.create_timer(0.02, lambda: old.publish(Clock(clock=Time(sec=100))))
    other.create_timer(0.02, lambda: young.publish(Clock(clock=Time(sec=5000))))
    graph.until(
        lambda: '/clock is published by /other_clock as well' in node._watch.find_trouble()
    )
    graph.spin(2.0)
    assert len(graph.logged('WARN', 'time jumped back')) <= 1
