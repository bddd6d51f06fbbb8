# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines on a second publisher and on a foreign type, from what discovery reports."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState

from gait_ros.nodes.publisher_checks import (
    describe_second_publisher,
    describe_type_mismatches,
    find_other_publishers,
)

OURS, JOINTS = '/r1/bridge', 'sensor_msgs/msg/JointState'


def discovered(*publishers):
    """Return a node, /r1/bridge, that sees publishers of joint states by name and type."""
    infos = [
        SimpleNamespace(
            node_namespace=name.rpartition('/')[0] or '/',
            node_name=name.rpartition('/')[2],
            topic_type=kind,
        )
        for name, kind in publishers
    ]
    return SimpleNamespace(
        resolve_topic_name=lambda topic: f'/r1/{topic}',
        get_publishers_info_by_topic=lambda topic: infos * (topic == '/r1/joint_states'),
        get_fully_qualified_name=lambda: OURS,
        get_name=lambda: 'bridge',
        subscriptions=[SimpleNamespace(topic_name='/r1/joint_states', msg_type=JointState)],
    )


def second(own_count, *names):
    node = discovered(*((name, JOINTS) for name in names))
    return describe_second_publisher(node, 'joint_states', 'both act', own_count)


def test_other_publishers_are_named_and_a_namesake_counts_as_one():
    node = discovered(*((name, JOINTS) for name in ('/z', OURS, '/r2/a', OURS)))
    assert find_other_publishers(node, 'joint_states') == [OURS, '/r2/a', '/z']
    assert find_other_publishers(node, 'joint_states', own_count=0) == [OURS, OURS, '/r2/a', '/z']
    assert find_other_publishers(node, 'joint_states', own_count=5) == ['/r2/a', '/z']
    assert find_other_publishers(node, 'odom') == []


def test_one_publisher_is_enough_and_two_are_named():
    assert second(1, OURS) == second(0, '/driver') == second(1) == second(0) == ''
    assert second(1, OURS, '/driver') == (
        f'joint_states is published by /driver as well as by {OURS}: both act; end one of them'
    )
    # By default a node publishes itself.
    node = discovered((OURS, JOINTS), ('/driver', JOINTS))
    assert describe_second_publisher(node, 'joint_states', 'both act') == second(
        1, OURS, '/driver'
    )
    assert describe_second_publisher(discovered((OURS, JOINTS)), 'joint_states', 'x') == ''
    node = discovered((OURS, JOINTS), ('/z', JOINTS))
    assert '/z as well as by /r1/bridge' in describe_second_publisher(node, 'joint_states', 'x')
    assert second(0, '/b', '/a') == (
        'joint_states is published by /a as well as by /b: both act; end one of them'
    )


@pytest.mark.parametrize('unknown', ['/_NODE_NAME_UNKNOWN_', '/_UNKNOWN/_NODE_NAME_UNKNOWN_'])
def test_a_publisher_without_a_name_yet_is_waited_for(unknown):
    assert second(1, OURS, unknown) == second(0, '/a', unknown) == ''


@pytest.mark.parametrize('foreign', ['sensor_msgs/msg/Imu', 'std_msgs/msg/Bool'])
def test_a_foreign_type_is_named_with_its_publisher(foreign):
    node = discovered(('/r2/driver', foreign), ('/right', JOINTS), ('/hidden', ''))
    (line,) = describe_type_mismatches(node)
    assert line == (
        f'/r1/joint_states is published as {foreign} by /r2/driver: bridge reads {JOINTS} and '
        'receives nothing'
    )
