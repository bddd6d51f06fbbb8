# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""QoS set by parameters: of the topic that is named and no other, and refused by name."""

import pytest

pytest.importorskip('rclpy')

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState

from gait_core.errors import ConfigurationError
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import (
    LATCHED_QOS,
    LOCKSTEP_QOS,
    PUBLISHER_QOS,
    STREAM_QOS,
    advertise,
    describe_unused_overrides,
    guard_callback,
    subscribe,
)
from gait_ros.nodes.services import SERVICE_QOS
from sim_bridge.node import SimBridgeNode

JOINTS = 'qos_overrides./joint_states'
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


def offered(graph, topic):
    """Return reliability and durability of the only publisher on a topic."""
    find = graph.client.get_publishers_info_by_topic
    (one,) = graph.until(lambda: find(topic))
    return one.qos_profile.reliability.name, one.qos_profile.durability.name


def test_an_override_holds_for_its_topic_and_for_no_other(graph, box):
    bridge = graph.add(
        SimBridgeNode,
        robot=box,
        publish_clock=False,
        **{
            f'{JOINTS}.publisher.reliability': 'best_effort',
            'qos_overrides./odom.publisher.durability': 'transient_local',
        },
    )
    assert offered(graph, '/joint_states') == ('BEST_EFFORT', 'VOLATILE')
    assert offered(graph, '/odom') == ('RELIABLE', 'TRANSIENT_LOCAL')
    assert offered(graph, '/imu/data') == ('RELIABLE', 'VOLATILE')
    # What rclpy overrides, it writes into the profile that it is given.
    assert PUBLISHER_QOS.reliability == QoSReliabilityPolicy.RELIABLE
    assert not describe_unused_overrides(bridge)


def test_a_reader_that_asks_for_more_hears_a_driver_that_offers_it(graph, box, box_model):
    node = graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        **{f'{JOINTS}.subscription.durability': 'transient_local'},
    )
    driver = graph.client.create_publisher(JointState, '/joint_states', LATCHED)
    assert node._live.observation.unmeasured_joints()
    driver.publish(JointState(name=list(box_model.joint_names), position=[0.1] * 8))
    graph.until(lambda: not node._live.observation.unmeasured_joints())
    assert driver.get_subscription_count() == 1


def test_streams_are_offered_reliably_and_read_with_best_effort(graph, box):
    """Sensor data by REP 2003: any driver is heard, and any reader hears."""
    graph.add(SimBridgeNode, robot=box, publish_clock=False)
    graph.add(ControllerNode, robot=box, controller='wave')
    for topic, reader in (('/joint_states', 'controller'), ('/joint_trajectory', 'sim_bridge')):
        assert offered(graph, topic) == ('RELIABLE', 'VOLATILE')
        profiles = [
            found.qos_profile
            for found in graph.client.get_subscriptions_info_by_topic(topic)
            if found.node_name == reader
        ]
        assert [(p.reliability.name, p.durability.name) for p in profiles] == [
            ('BEST_EFFORT', 'VOLATILE')
        ]


@pytest.mark.parametrize(
    ('policy', 'value', 'words'),
    [
        ('reliability', 'besteffort', "'besteffort': did you mean 'best_effort'"),
        ('history', 'all', "did you mean 'keep_all'"),
        ('depth', 'ten', "'ten', expected a whole number from 1 to 100000"),
        ('depth', 0, 'is 0, expected'),
        ('depth', 100_001, 'is 100001, expected'),
        ('depth', True, 'is True, expected'),
    ],
)
def test_a_policy_that_is_none_is_refused(graph, box, policy, value, words):
    with pytest.raises(ConfigurationError, match=words):
        graph.add(SimBridgeNode, robot=box, **{f'{JOINTS}.publisher.{policy}': value})


def test_an_override_of_no_topic_of_a_node_is_said(graph, box):
    node = graph.add(
        SimBridgeNode,
        robot=box,
        publish_clock=False,
        **{'qos_overrides./joint_state.publisher.depth': 3},
    )
    (line,) = describe_unused_overrides(node)
    assert f"has no effect on sim_bridge: did you mean '{JOINTS}.publisher.depth'" in line


def told(profile):
    return profile.history.name, profile.reliability.name, profile.durability.name


def test_profiles_are_those_of_the_kinds_of_topics():
    """By REP 2003 and the documentation of ROS 2 on QoS."""
    assert told(PUBLISHER_QOS) == ('KEEP_LAST', 'RELIABLE', 'VOLATILE')
    assert told(STREAM_QOS) == ('KEEP_LAST', 'BEST_EFFORT', 'VOLATILE')
    assert told(LATCHED_QOS) == ('KEEP_LAST', 'RELIABLE', 'TRANSIENT_LOCAL')
    assert told(LOCKSTEP_QOS) == ('KEEP_ALL', 'RELIABLE', 'VOLATILE')
    assert told(SERVICE_QOS)[:2] == ('KEEP_LAST', 'RELIABLE')
    depths = [one.depth for one in (PUBLISHER_QOS, STREAM_QOS, LATCHED_QOS, SERVICE_QOS)]
    assert depths == [10, 10, 1, 1000]


def test_publishers_and_readers_have_the_profile_that_they_are_given(graph):
    node = graph.client
    advertise(node, JointState, 'plain')
    advertise(node, JointState, 'latched', LATCHED_QOS)
    assert offered(graph, '/plain') == ('RELIABLE', 'VOLATILE')
    assert offered(graph, '/latched') == ('RELIABLE', 'TRANSIENT_LOCAL')
    names = set(node.get_parameters_by_prefix('qos_overrides'))
    for topic in ('/plain', '/latched'):
        for policy in ('history', 'depth', 'reliability', 'durability'):
            assert f'{topic}.publisher.{policy}' in names


@pytest.mark.parametrize(('policy', 'value'), [
    ('depth', 1), ('depth', 100_000), ('history', 'keep_all'), ('reliability', 'reliable'),
    ('durability', 'volatile'),
])  # fmt: skip
def test_a_policy_within_its_range_is_accepted(graph, policy, value):
    class Reader(Node):
        def __init__(self, **given):
            super().__init__('reader', **given)
            subscribe(self, JointState, '/joint_states', print)

        def start(self):
            """Do nothing."""

    node = graph.add(Reader, **{f'{JOINTS}.subscription.{policy}': value})
    assert node.get_parameter(f'{JOINTS}.subscription.{policy}').value == value


def test_a_callback_that_fails_is_logged_once_and_heard_again(graph):
    heard, node = [], graph.client

    def listen(*message):
        heard.append(message)
        if len(heard) < 4:
            raise ValueError(f'failure {len(heard)}')

    call = guard_callback(node, '/joint_states', listen)
    for _ in range(3):
        call('message')
    call()
    assert heard == [('message',)] * 3 + [()]
    assert call.__name__ == 'listen'
    lines = graph.logged('/joint_states is ignored')
    assert len(lines) == 1 and 'ValueError: failure 1' in lines[0]
    assert not graph.logged('Traceback')
