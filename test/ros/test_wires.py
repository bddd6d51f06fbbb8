# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Known faults between ROS nodes do not occur: stamps, clocks, files, QoS, frames, resets."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory

from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_data
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec
from gait_interfaces.msg import FootContacts, GaitState, Stability
from gait_interfaces.srv import LoadGait, Reset, RunTrial
from gait_ros.live.node import ControllerNode
from gait_ros.messages.conversions import to_spec
from sim_bridge.node import SimBridgeNode

STREAMS = {
    'joint_states': JointState,
    'odom': Odometry,
    'imu/data': Imu,
    'foot_contacts': FootContacts,
    'zmp': PointStamped,
    'stability': Stability,
}
DEEP = QoSProfile(depth=1000)


def collect(graph, kind, topic, qos=DEEP):
    found = []
    graph.client.create_subscription(kind, topic, found.append, qos)
    return found


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def numbers(message):
    """Yield every number of a message."""
    for field in message.get_fields_and_field_types():
        value = getattr(message, field)
        if hasattr(value, 'get_fields_and_field_types'):
            yield from numbers(value)
        elif isinstance(value, float):
            yield value
        elif not isinstance(value, (str, bool, int)):
            for item in value:
                if hasattr(item, 'get_fields_and_field_types'):
                    yield from numbers(item)
                elif isinstance(item, float):
                    yield item


def test_every_stamp_is_one_of_the_clocks_increasing_and_every_number_finite(graph, box):
    graph.add(SimBridgeNode, robot=box, mode='realtime', realtime_factor=0.5)
    clock = collect(graph, Clock, '/clock')
    graph.until(lambda: clock)
    found = {topic: collect(graph, kind, topic) for topic, kind in STREAMS.items()}
    graph.until(lambda: all(len(messages) > 20 for messages in found.values()), 30.0)
    graph.spin(0.05)
    ticks = {nanoseconds(message.clock) for message in clock}
    for topic, messages in found.items():
        stamps = [nanoseconds(message.header.stamp) for message in messages[:20]]
        assert set(stamps) <= ticks and (np.diff(stamps) > 0).all(), topic
        assert all(message.header.frame_id or topic == 'joint_states' for message in messages)
        assert np.isfinite([x for message in messages for x in numbers(message)]).all(), topic


@pytest.mark.parametrize('factor', [0.2, 5.0])
def test_a_trial_is_the_same_at_every_real_time_factor(graph, box, factor):
    graph.add(
        SimBridgeNode, robot=box, mode='realtime', realtime_factor=factor, publish_clock=False
    )
    spec = TrialSpec(scene=Scene(robot=box, engine='kinematic'), controller='wave', duration=0.5)
    answer = graph.call(RunTrial, '/sim_bridge/run_trial', trial_id='t', spec=to_spec(spec))
    assert answer.success, answer.message
    assert answer.result.trial_hash == run_trial(spec).trial_hash


def test_twenty_resets_leave_one_publisher_of_every_topic(graph, box):
    graph.add(SimBridgeNode, robot=box, mode='lockstep', publish_clock=False)
    graph.until(lambda: graph.client.count_publishers('joint_states'))
    for seed in range(20):
        assert graph.call(Reset, '/sim_bridge/reset', seed=seed).success
    assert [graph.client.count_publishers(topic) for topic in STREAMS] == [1] * len(STREAMS)
    assert graph.client.count_services('/sim_bridge/reset') == 1


@pytest.mark.parametrize('robot', ['box', 'pybullet_data:laikago/laikago_toes_zup.urdf'])
def test_the_frame_of_every_link_is_there_within_two_seconds(graph, box, robot):
    file = box if robot == 'box' else str(need_data(robot))
    graph.add(SimBridgeNode, robot=file, engine='kinematic', publish_link_tf=True)
    links = {link.name for link in load_robot(file).links}
    found = collect(graph, TFMessage, '/tf')
    parents = {}

    def complete():
        for message in found:
            parents.update((t.child_frame_id, t.header.frame_id) for t in message.transforms)
        return links <= set(parents)

    graph.until(complete, 30.0)
    first, last = (nanoseconds(found[end].transforms[0].header.stamp) for end in (0, -1))
    assert last - first < 2e9
    # One tree: every frame that has a child has a parent, up to odom.
    assert set(parents.values()) <= {*parents, 'odom'} and 'odom' not in parents


def test_one_parameter_file_reaches_the_same_node_in_two_namespaces(graph, box, tmp_path):
    file = tmp_path / 'gait.yaml'
    file.write_text(
        f'/**:\n  ros__parameters:\n    robot: {box}\n    controller: wave\n'
        '    gait: {amplitude: 0.35, frequency: 2}\n'
    )
    for space in ('r1', 'r2'):
        node = graph.add(ControllerNode, remap=(f'__ns:=/{space}',), files=(file,))
        assert node.get_fully_qualified_name() == f'/{space}/controller'
        assert (node.controller.params.amplitude, node.controller.params.frequency) == (0.35, 2.0)


def test_a_best_effort_driver_is_heard_and_a_mismatch_is_said(graph, box, box_model):
    graph.add(ControllerNode, robot=box, controller='wave')
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    # A driver's own profile: a constant of the nodes would hide that they ask for more.
    best_effort = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.BEST_EFFORT)
    driver = graph.client.create_publisher(JointState, '/joint_states', best_effort)
    message = JointState(name=list(box_model.joint_names), position=[0.1] * 8)
    graph.client.create_timer(0.02, lambda: driver.publish(message))
    graph.until(lambda: targets)

    latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    silent = collect(graph, GaitState, '/gait_state', latched)
    graph.until(lambda: graph.logged('WARN', 'gait_state', 'incompatible QoS', 'DURABILITY'))
    assert not silent


@pytest.mark.parametrize(
    ('made_for', 'words'),
    [
        ('{controller: wave, scene: {robot: guroo}}', "robot 'guroo', this node runs"),
        ('{controller: staged_walk}', "controller 'staged_walk', this node runs 'wave'"),
    ],
)
def test_a_gait_of_another_robot_or_controller_is_not_loaded(
    graph, box, tmp_path, made_for, words
):
    node = graph.add(ControllerNode, robot=box, controller='wave')
    file = tmp_path / 'champion.yaml'
    file.write_text(
        '/**:\n  ros__parameters:\n    gait: {amplitude: 0.35}\n'
        f'    provenance: {{format: 1, spec: {made_for}}}\n'
    )
    answer = graph.call(LoadGait, '/controller/load_gait', file=str(file))
    assert not answer.success and words in answer.message and not answer.changed
    assert node.controller.params.amplitude == 0.2
