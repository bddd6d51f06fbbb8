# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node of a gait that fails, or gets an impossible request, holds the joints and answers."""

from geometry_msgs.msg import Twist
import numpy as np
import pytest

pytest.importorskip('rclpy')

from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from gait_core.testing.doubles import WaveController
from gait_core.testing.skips import need_robot
from gait_interfaces.msg import GaitState
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import STREAM_QOS


def talk(graph, model):
    """Say where the joints are, and that motion is wanted."""
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x = 0.1
    message = JointState(name=list(model.joint_names), position=model.joint_stance.tolist())
    graph.client.create_timer(0.02, lambda: (states.publish(message), velocity.publish(asked)))


def collect(graph, kind, topic):
    found = []
    graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    return found


def failing(error):
    def fail(*given):
        raise error

    return fail


@pytest.mark.parametrize('method', ['step', 'needs'])
@pytest.mark.parametrize(
    'error', [ZeroDivisionError('no step'), KeyError('knee'), SystemExit(3)], ids=lambda e: repr(e)
)
def test_whatever_a_controller_raises_the_robot_holds_and_the_node_answers(
    graph, box, box_model, monkeypatch, method, error
):
    node = graph.add(ControllerNode, robot=box, controller='wave', safety__start_speed=100.0)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    graph.until(lambda: node._safe.layer.mode == 'running' and len(targets) > 10)
    with monkeypatch.context() as patch:
        replaced = property(failing(error)) if method == 'needs' else failing(error)
        patch.setattr(WaveController, method, replaced)
        graph.until(lambda: node._safe.layer.refusals > 3)
        graph.spin(0.1)
        held = list(targets[-1].points[0].positions)
        count = len(targets)
        graph.until(lambda: len(targets) > count + 3)
        assert all(list(one.points[0].positions) == held for one in targets[count:])
        said = ('ERROR', 'the robot holds', type(error).__name__)
        assert len(graph.until(lambda: graph.logged(*said))) == 1
        assert node._safe.is_urgent and node._watch.find_trouble().startswith('the robot holds')
        answer = graph.call(GetState, '/controller/get_state')
        assert answer.current_state.label == 'active'
    graph.until(lambda: list(targets[-1].points[0].positions) != held)
    graph.until(lambda: not node._safe.is_urgent)


def test_a_gait_whose_state_cannot_be_told_goes_on(graph, box, box_model, monkeypatch):
    monkeypatch.setattr(WaveController, 'state', failing(KeyError('phase')))
    node = graph.add(ControllerNode, robot=box, controller='wave', safety__start_speed=100.0)
    collect(graph, GaitState, '/gait_state')
    talk(graph, box_model)
    graph.until(lambda: node._tick > 10 and graph.logged('ERROR', 'gait_state', 'phase'))
    assert not node._safe.is_urgent and node._safe.layer.refusals == 0


@pytest.mark.parametrize(
    ('name', 'value'), [('gait.height', 0.12), ('gait.stroke', 0.3)], ids=['height', 'stroke']
)
def test_a_parameter_that_a_controller_refuses_is_refused_and_changes_nothing(graph, name, value):
    model = need_robot('hexapod')
    node = graph.add(ControllerNode, robot='hexapod', controller='keyframe_stride')
    talk(graph, model)
    graph.until(lambda: node._tick > 3)
    before, ticks = node.controller.params, node._tick
    change = Parameter(name, value=value).to_parameter_msg()
    answer = graph.call(SetParameters, '/controller/set_parameters', parameters=[change])
    assert not answer.results[0].successful and answer.results[0].reason
    assert node.controller.params == before
    told = graph.call(GetParameters, '/controller/get_parameters', names=[name]).values[0]
    assert told.double_value == getattr(before, name.partition('.')[2])
    graph.until(lambda: node._tick > ticks + 3)


def test_parameters_are_put_back_where_a_controller_takes_none(graph, box, monkeypatch):
    node = graph.add(ControllerNode, robot=box, controller='wave')
    known = WaveController.set_params

    def set_params(self, params):
        if params.amplitude == 0.7:
            raise RuntimeError('not this one')
        known(self, params)

    monkeypatch.setattr(WaveController, 'set_params', set_params)
    change = Parameter('gait.amplitude', value=0.7).to_parameter_msg()
    graph.call(SetParameters, '/controller/set_parameters', parameters=[change])
    told = graph.call(GetParameters, '/controller/get_parameters', names=['gait.amplitude'])
    assert told.values[0].double_value == node.controller.params.amplitude == 0.2
    assert graph.logged('ERROR', 'restored', 'not this one')


def to_seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def test_a_set_body_height_moves_a_robot_no_faster_than_its_start(graph):
    """The targets of a robot that stands, from one period to the next, at 0.3 rad/s."""
    model = need_robot('a1')
    node = graph.add(
        ControllerNode, robot='a1', controller='phase_cpg', safety__start_speed=0.3,
        gait__max_forward=0.0, gait__stride_height=0.0, gait__body_height=0.0,
    )  # fmt: skip
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    states = graph.client.create_publisher(JointState, '/joint_states', 10)
    message = JointState(name=list(model.joint_names), position=model.joint_stance.tolist())
    graph.client.create_timer(0.02, lambda: states.publish(message))
    node.requests_motion = lambda: True
    graph.until(lambda: node._safe.layer.mode == 'running' and len(targets) > 20)
    targets.clear()
    change = Parameter('gait.body_height', value=-0.08).to_parameter_msg()
    answer = graph.call(SetParameters, '/controller/set_parameters', parameters=[change])
    assert answer.results[0].successful
    graph.until(lambda: len(targets) > 10 and node._safe.layer._blend is None)
    rows = np.array([point.positions for one in targets for point in one.points])
    # Each point says when it is to be reached; on a busy machine periods are longer.
    ends = [[to_seconds(point.time_from_start) for point in one.points] for one in targets]
    times = np.concatenate([np.diff(one, prepend=0.0) for one in ends])
    assert np.abs(rows[-1] - rows[0]).max() > 0.2
    assert (np.abs(np.diff(rows, axis=0)).max(axis=1) / times[1:]).max() <= 0.3 * (1.0 + 1e-6)
