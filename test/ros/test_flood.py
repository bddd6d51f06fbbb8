# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes under floods of valid and hostile messages and bursts of requests."""

from collections import Counter
from itertools import islice
import math

import pytest

pytest.importorskip('rclpy')

from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from gait_core.robot.load import load_robot
from gait_interfaces.msg import FootContacts, LockstepObservation, LockstepTargets
from gait_ros.checks.flood import flood_targets, measure_flood
from gait_ros.checks.flood_messages import hostile_messages, valid_message


@pytest.mark.parametrize(
    'kind',
    [
        JointState,
        JointTrajectory,
        Float64MultiArray,
        Imu,
        Odometry,
        FootContacts,
        LockstepObservation,
        LockstepTargets,
    ],
)
def test_hostile_messages_are_of_every_sort_and_can_be_sent(kind):
    robot = load_robot('a1')
    good = valid_message(kind, robot)
    messages = list(islice(hostile_messages(kind, robot), 100))
    sizes = [len(serialize_message(message)) for message in messages]
    ((_, most),) = Counter(map(id, messages)).most_common(1)
    assert most >= 60 and max(sizes) < 1_000_000
    if kind is JointState:
        assert any(message.name == good.name[::-1] for message in messages)
        assert any(len(message.name) == len(message.position) == 5000 for message in messages)
        assert any(math.isnan(one) for message in messages for one in message.position)
        assert {message.header.stamp.sec for message in messages} == {0, 1, 2**31 - 1}
        assert any(name.endswith('_0') for message in messages for name in message.name)


# Node and number of its topics.
TOPICS = {
    'sim_bridge': 3,
    'played': 2,
    'cpg': 6,
    'stage_walk': 5,
    'hardware': 3,
    'waypoints': 1,
    'evolver': 0,
}


@pytest.mark.parametrize('victim', flood_targets(), ids=lambda victim: victim.node.name)
def test_a_node_stays_up_answers_and_does_not_grow_under_a_flood(victim):
    """`gait bench --checks --only floods` floods each for a minute."""
    name = victim.node.name
    found = {row.id.removeprefix(f'flood_{name}_'): row for row in measure_flood(victim, 2.0)}
    for key in ('up', 'memory', 'unanswered', *(('beyond',) if victim.output else ())):
        assert found[key].is_within_budget, found[key]
    received = [row for row in found.values() if row.unit == '1/s']
    assert len(received) == TOPICS[name] and all(row.measured > 0.0 for row in received)
