# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""QoS set by parameters: of the topic that is named and no other, and refused by name."""

import pytest

pytest.importorskip('rclpy')

from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState

from gait_core.errors import ConfigurationError
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import PUBLISHER_QOS, describe_unused_overrides
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
