# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The last command of a gait is a hold, whatever ends it."""

import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_robot
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import STREAM_QOS

ROBOT = 'hexapod'
WALK = {
    'robot': ROBOT,
    'controller': 'phase_cpg',
    'safety.start_speed': 100.0,
}


@pytest.fixture(scope='module')
def model():
    need_robot(ROBOT)
    return load_robot(ROBOT)


def talk(graph, model):
    publisher = graph.client.create_publisher(JointState, '/joint_states', 10)
    message = JointState(name=list(model.joint_names), position=model.joint_stance.tolist())
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x, asked.angular.z = 0.3, 0.2
    graph.client.create_timer(0.02, lambda: publisher.publish(message))
    graph.client.create_timer(0.02, lambda: velocity.publish(asked))


def collect(graph, kind, topic):
    found = []
    graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    return found


def rates(message):
    return np.array(message.points[-1].velocities)


def moving(targets):
    """Return whether a trajectory asks for speed."""
    # Until the velocity command arrives, trajectories hold the pose and have no speeds.
    return len(targets) > 0 and np.abs(rates(targets[-1])).max(initial=0.0) > 0.1


@pytest.mark.parametrize('end', ['deactivate', 'shutdown', 'destroy'])
def test_the_last_trajectory_is_the_last_pose_at_rest(graph, model, end):
    node = graph.add(ControllerNode, **WALK)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, model)
    graph.until(lambda: moving(targets))
    before = targets[-1]
    if end == 'destroy':
        graph.remove(node)
    else:
        getattr(node, f'trigger_{end}')()
    graph.spin(0.2)
    assert not rates(targets[-1]).any()
    step = model.velocity_limit.max() * 0.02 * 20
    np.testing.assert_allclose(
        targets[-1].points[-1].positions, before.points[-1].positions, atol=step
    )
    count = len(targets)
    graph.spin(0.2)
    assert len(targets) == count


@pytest.mark.parametrize('interface', ['velocity', 'effort', 'position'])
def test_the_last_commands_are_those_of_a_hold(graph, model, interface):
    node = graph.add(ControllerNode, **WALK, output='commands', interface=interface)
    commands = collect(graph, Float64MultiArray, '/commands')
    talk(graph, model)
    graph.until(lambda: node.active and len(commands) > 60)
    positions = node._safe.layer.hold().position[-1]
    node.trigger_deactivate()
    graph.spin(0.2)
    wanted = np.zeros(len(positions)) if interface != 'position' else positions
    np.testing.assert_array_equal(commands[-1].data, wanted)


FAILING = """
import sys

from gait_ros.live.node import ControllerNode
from gait_ros.nodes.run import run_node


class Failing(ControllerNode):
    def start(self):
        super().start()
        self.create_timer(0.1, self.fail)

    def fail(self):
        if self._tick > 100:
            raise RuntimeError('a mistake of the code')


sys.exit(run_node(Failing))
"""


@pytest.mark.parametrize('end', [signal.SIGINT, signal.SIGTERM, 'a mistake'])
def test_a_process_that_ends_holds_first(graph, model, start_process, tmp_path, monkeypatch, end):
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, model)
    module = 'gait_ros.live.node'
    if end == 'a mistake':
        (tmp_path / 'failing_node.py').write_text(FAILING)
        monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=':')
        module = 'failing_node'
    process = start_process(module, **WALK)
    graph.until(lambda: moving(targets), 60.0)
    if end == 'a mistake':
        graph.until(lambda: process.popen.poll() is not None, 60.0)
    else:
        process.popen.send_signal(end)
        graph.until(lambda: process.popen.poll() is not None)
    graph.spin(0.2)
    assert process.end()[0] == (1 if end == 'a mistake' else 0)
    assert len(rates(targets[-1])) and not rates(targets[-1]).any()
