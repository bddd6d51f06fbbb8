# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The emergency stop under a flood of requests, all of which are answered, whatever is set."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core.testing.doubles import WaveController, spec_for_test
from gait_evolver.node import EvolverNode
from gait_interfaces.srv import LoadGait, RunTrial, SetBehaviour
from gait_ros.hardware.node import HardwareNode
from gait_ros.live.node import ControllerNode
from gait_ros.messages.conversions import to_spec
from gait_ros.nodes.qos import STREAM_QOS
from gait_stage_walk.node import StageWalkNode
from sim_bridge.node import SimBridgeNode

AT_ONCE = 50
ROOM = QoSProfile(depth=200)


def collect(graph, kind, topic):
    found = []
    graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    return found


def talk(graph, model):
    publisher = graph.client.create_publisher(JointState, '/joint_states', 10)
    names = list(model.joint_names)
    message = JointState(name=names, position=[0.1] * len(names))
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x = 0.1
    graph.client.create_timer(0.02, lambda: publisher.publish(message))
    graph.client.create_timer(0.02, lambda: velocity.publish(asked))


def send(graph, kind, name, count=AT_ONCE, **fields):
    """Send requests at once and return their futures."""
    client = graph.client.create_client(kind, name, qos_profile=ROOM)
    graph.until(client.service_is_ready)
    return [client.call_async(kind.Request(**fields)) for _ in range(count)]


def pose(targets):
    return np.array(targets[-1].points[0].positions)


def own_services(node):
    """Return name and type of each service that is not one of every node of rclpy."""
    common = ('parameter', 'type_description')
    return {
        service.service_name: service.srv_type
        for service in node.services
        if not any(word in service.service_name for word in common)
    }


@pytest.mark.parametrize(
    ('kind', 'given'),
    [
        (ControllerNode, {'controller': 'wave', 'robot': 'box'}),
        (StageWalkNode, {}),
        (SimBridgeNode, {'robot': 'box', 'publish_clock': False}),
        (HardwareNode, {'robot': 'box'}),
        (EvolverNode, {}),
    ],
    ids=['controller', 'stage_walk', 'sim_bridge', 'hardware', 'evolver'],
)
def test_many_requests_at_once_are_all_answered(graph, box, kind, given):
    node = graph.add(kind, **{**given, **({'robot': box} if 'robot' in given else {})})
    services = own_services(node)
    assert services
    for name, service in services.items():
        futures = send(graph, service, name)
        graph.until(lambda sent=futures: all(future.done() for future in sent))


@pytest.mark.parametrize('flood', ['load_gait', 'set_parameters'])
def test_a_stop_acts_within_a_control_period_among_many_requests(
    graph, box, box_model, tmp_path, monkeypatch, flood
):
    steps, known = [], WaveController.step
    monkeypatch.setattr(
        WaveController,
        'step',
        lambda self, *given: (steps.append(1), known(self, *given))[1],
    )
    node = graph.add(ControllerNode, robot=box, controller='wave', safety__start_speed=100.0)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    graph.until(lambda: node._safe.layer.mode == 'running')
    file = tmp_path / 'gait.yaml'
    file.write_text('/**:\n  ros__parameters:\n    gait:\n      amplitude: 0.3\n')
    value = Parameter('gait.frequency', value=1.5).to_parameter_msg()
    requests = {
        'load_gait': (LoadGait, {'file': str(file)}),
        'set_parameters': (SetParameters, {'parameters': [value]}),
    }
    service, fields = requests[flood]
    before = send(graph, service, f'/controller/{flood}', **fields)
    (stop,) = send(graph, Trigger, '/controller/emergency_stop', 1)
    after = send(graph, service, f'/controller/{flood}', **fields)
    steps.clear()
    graph.until(stop.done)
    assert stop.result().success and len(steps) <= 1
    steps.clear()
    graph.until(lambda: all(future.done() for future in (*before, *after)))
    held = pose(targets)
    graph.spin(0.1)
    assert not steps and np.array_equal(pose(targets), held)


def test_behaviours_asked_for_at_once_are_all_answered_and_a_stop_among_them(graph):
    node = graph.add(StageWalkNode)
    futures = send(graph, SetBehaviour, '/stage_walk/set_behaviour')
    futures += send(graph, Trigger, '/stage_walk/emergency_stop', 1)
    futures += send(graph, SetBehaviour, '/stage_walk/set_behaviour')
    graph.until(lambda: all(future.done() for future in futures))
    assert node._safe.stop_reason


def test_a_stop_acts_with_the_safety_layer_off_and_holds_until_it_is_ended(graph, box, box_model):
    node = graph.add(ControllerNode, robot=box, controller='wave', safety__enabled=False)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    graph.until(lambda: len(targets) > 5)
    assert graph.call(Trigger, '/controller/emergency_stop').success
    graph.spin(0.1)
    held, count = pose(targets), len(targets)
    graph.spin(0.3)
    assert len(targets) > count
    assert all(np.array_equal(message.points[0].positions, held) for message in targets[count:])
    assert node._safe.counts()['safety'] == 'stopped'
    node.trigger_deactivate()
    node.trigger_activate()
    graph.spin(0.2)
    assert node._safe.stop_reason and np.array_equal(pose(targets), held)
    assert graph.call(Trigger, '/controller/resume').success
    graph.until(lambda: not np.array_equal(pose(targets), held))


def test_a_stop_is_acted_on_while_simulated_time_stands_still(graph, box, box_model):
    graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        use_sim_time=True,
        safety__start_speed=100.0,
    )
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    graph.until(clock.get_subscription_count)
    for tick in range(40):
        clock.publish(Clock(clock=Time(sec=5, nanosec=tick * 20_000_000)))
        graph.spin(0.01)
    graph.until(lambda: targets)
    graph.spin(0.05)
    count = len(targets)
    assert graph.call(Trigger, '/controller/emergency_stop').success
    # Told at once, not in the next control period, which does not come.
    graph.until(lambda: len(targets) == count + 1)
    assert np.array_equal(pose(targets), targets[-2].points[0].positions)


def test_a_stop_in_lockstep_ends_the_trial(graph, box):
    graph.add(SimBridgeNode, mode='lockstep', publish_clock=False)
    graph.add(ControllerNode, robot=box, controller='wave', lockstep=True)
    spec = to_spec(spec_for_test(scene={'robot': box}))

    def trial(name):
        answer = graph.call(
            RunTrial, '/sim_bridge/run_trial', trial_id=name, spec=spec, external_controller=True
        )
        return answer.result.status if answer.success else answer.message

    assert trial('first') == 'ok'
    assert graph.call(Trigger, '/controller/emergency_stop').success
    assert trial('second') == 'invalid:bad_command'
    assert graph.call(Trigger, '/controller/resume').success
    assert trial('third') == 'ok'
