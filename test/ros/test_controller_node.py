# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The controller node: time, parameters, gait files, and what it publishes."""

from dataclasses import replace
import gc
import os

from geometry_msgs.msg import Twist
import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from gait_core.errors import ConfigurationError
from gait_core.messages.reader import to_seconds
from gait_core.motion.velocity_limits import UNLIMITED, VelocityRange
from gait_core.parameters.yaml_file import read_document
from gait_core.testing.doubles import WaveController, WaveParams
from gait_core.testing.skips import need_robot
from gait_core.trial.champion import Champion, write_champion
from gait_core.trial.loop import run_trial
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.scene import Scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec
from gait_interfaces.msg import GaitState
from gait_interfaces.srv import LoadGait
from gait_ros.live import gait_watch
from gait_ros.live.node import ControllerNode
from gait_ros.nodes.qos import STREAM_QOS
from sim_bridge.node import SimBridgeNode


@pytest.fixture
def controller(graph, box):
    def add(start=True, **parameters):
        return graph.add(
            ControllerNode, start=start, **{'robot': box, 'controller': 'wave', **parameters}
        )

    return add


def collect(graph, kind, topic):
    found = []
    graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    return found


def talk(graph, model, names=None, forward=0.1):
    """Publish joint states and a velocity at every spin; return the joint states, to be edited."""
    publisher = graph.client.create_publisher(JointState, '/joint_states', 10)
    message = JointState(name=list(names or model.joint_names))
    message.position = [0.1] * len(message.name)
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x = forward

    def publish():
        publisher.publish(message)
        if forward:
            velocity.publish(asked)

    graph.client.create_timer(0.02, publish)
    graph.until(publisher.get_subscription_count)
    return message


def test_trajectories_end_at_the_control_period_and_cover_every_joint(
    graph, controller, box_model
):
    node = controller(control_rate=100.0)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    states = collect(graph, GaitState, '/gait_state')
    talk(graph, box_model)
    graph.until(lambda: len(targets) >= 10 and states)
    for message in targets:
        assert tuple(message.joint_names) == box_model.target_names
        assert message.header.stamp == Time()
        assert [to_seconds(point.time_from_start) for point in message.points] == [0.01]
        assert np.isfinite(message.points[0].positions).all()
    assert states[0].controller == 'wave' and len(states[0].phase) == 1
    assert node.controller_name == 'wave'


@pytest.mark.parametrize('severity', ['INFO', 'WARN'])
def test_without_joint_states_it_waits_and_says_for_what(
    graph, controller, box_model, monkeypatch, severity
):
    # At first other nodes may be starting.
    monkeypatch.setattr(gait_watch, 'START_TIME', 30.0 if severity == 'INFO' else 0.0)
    targets = []
    controller()
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    graph.until(lambda: graph.logged(severity, 'waiting for joint_positions'), 5.0)
    assert not targets
    talk(graph, box_model)
    graph.until(lambda: targets)


def test_unknown_and_missing_joints_are_reported_once(graph, controller, box_model):
    controller(safety__enabled=False)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model, names=['tail', *box_model.joint_names[1:], 'head'])
    graph.until(lambda: len(targets) > 20)
    assert len(graph.logged('WARN', "unknown joint 'tail'")) == 1
    assert len(graph.logged('WARN', '1 of 8 joints are missing', "'leg0_joint0'")) == 1


def test_a_joint_that_was_never_measured_keeps_all_of_them_where_they_are(
    graph, controller, box_model
):
    node = controller()
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    message = talk(graph, box_model, names=box_model.joint_names[1:])
    graph.until(lambda: node._live.observation.unmeasured_joints() == ['leg0_joint0'])
    graph.until(lambda: graph.logged('WARN', "joint_states of 1 joints, first 'leg0_joint0'"))
    assert not targets
    message.name = list(box_model.joint_names)
    message.position = [0.1] * 8
    graph.until(lambda: targets)
    assert list(targets[0].points[0].positions) == [0.1] * 8


def test_the_robot_starts_from_its_pose_holds_when_it_is_silent_and_stops_when_told(
    graph, controller, box_model
):
    node = controller(gait__amplitude=0.3, safety__start_speed=100.0, safety__state_timeout=0.2)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    message = talk(graph, box_model)

    def pose():
        return np.array(targets[-1].points[0].positions)

    graph.until(lambda: node._safe.layer.mode == 'running' and len(targets) > 5)
    np.testing.assert_array_equal(targets[0].points[0].positions, [0.1] * 8)
    message.name, message.position = [], []
    graph.until(lambda: graph.logged('WARN', 'holding: the joint states are'))
    graph.spin(0.1)
    held = pose()
    graph.spin(0.1)
    np.testing.assert_array_equal(pose(), held)
    message.name, message.position = list(box_model.joint_names), [0.1] * 8
    graph.until(lambda: node._safe.layer.mode == 'running')
    graph.until(lambda: not np.array_equal(pose(), held))

    assert graph.call(Trigger, '/controller/emergency_stop').success
    graph.spin(0.1)
    held = pose()
    graph.spin(0.1)
    np.testing.assert_array_equal(pose(), held)
    assert graph.logged('WARN', 'stopped: emergency stop')
    assert node._watch.find_trouble().startswith('stopped') and node._safe.counts()['stops'] == 1
    assert graph.call(Trigger, '/controller/resume').success
    graph.until(lambda: node._safe.layer.mode == 'running')
    shown = collect(graph, MarkerArray, '/gait_markers')
    (text,) = (m for m in graph.until(lambda: shown)[-1].markers if m.ns == 'gait')
    assert text.text.startswith('wave\n') and 'emergency stop' in text.text
    assert not graph.call(Trigger, '/controller/resume').success


def test_a_foreign_prefix_is_named(graph, controller, box_model):
    controller()
    talk(graph, box_model, names=[f'lf_{name}' for name in box_model.joint_names])
    assert graph.until(
        lambda: graph.logged('WARN', "'lf_leg0_joint0'", "without the prefix 'lf_'")
    )


def test_forward_commands_have_every_joint_in_the_robots_order(graph, controller, box_model):
    controller(output='commands')
    commands = collect(graph, Float64MultiArray, '/commands')
    talk(graph, box_model)
    graph.until(lambda: len(commands) >= 2)
    assert all(len(message.data) == 8 for message in commands)


def test_nothing_of_a_node_that_was_ended_is_offered_any_longer(graph, controller):
    # The collector would hide what the node itself leaves behind.
    gc.disable()
    try:
        node = controller()
        kept = ('get_state', 'change_state', 'get_parameters', 'resume')
        graph.until(lambda: all(graph.client.count_services(f'/controller/{n}') for n in kept))
        graph.remove(node)
        graph.until(lambda: 'controller' not in graph.client.get_node_names(), 5.0)
        offered = {name for name, _ in graph.client.get_service_names_and_types()}
        # rclpy leaves this one of every node to the collector.
        offered.discard('/controller/get_type_description')
        assert not [name for name in offered if name.startswith('/controller/')]
    finally:
        gc.enable()


def test_simulated_time_without_a_clock_is_said_and_services_answer(graph, controller, box_model):
    node = controller(use_sim_time=True, safety__start_speed=100.0)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    graph.until(lambda: graph.logged('INFO', 'use_sim_time is true but no /clock'), 5.0)
    answer = graph.call(GetParameters, '/controller/get_parameters', names=['gait.amplitude'])
    assert answer.values[0].double_value == 0.2
    assert graph.call(GetState, '/controller/get_state').current_state.label == 'active'
    assert not targets
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    graph.until(clock.get_subscription_count)
    for tick in range(1, 40):
        clock.publish(Clock(clock=Time(sec=5, nanosec=tick * 20_000_000)))
        graph.spin(0.01)
    graph.until(lambda: targets)
    for tick in range(40, 50):
        clock.publish(Clock(clock=Time(sec=5, nanosec=tick * 20_000_000)))
        graph.spin(0.01)
    graph.until(lambda: node._watch.find_trouble() == '')


def test_a_jump_back_in_time_starts_the_controller_anew_once(
    graph, controller, box_model, monkeypatch
):
    resets = []
    known = WaveController.reset
    monkeypatch.setattr(
        WaveController, 'reset', lambda self, seed: (resets.append(seed), known(self, seed))[1]
    )
    controller(use_sim_time=True, seed=7)
    targets = collect(graph, JointTrajectory, '/joint_trajectory')
    talk(graph, box_model)
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    graph.until(clock.get_subscription_count)

    def run(start):
        count = len(targets)
        for tick in range(30):
            clock.publish(Clock(clock=Time(sec=start, nanosec=tick * 20_000_000)))
            graph.spin(0.01)
        graph.until(lambda: len(targets) > count)

    run(100)
    before = len(resets)
    run(10)
    run(11)
    assert len(resets) == before + 1 and set(resets) == {7}
    assert len(graph.logged('WARN', 'time jumped back')) == 1


class Ticks:
    """A /clock that the test moves."""

    def __init__(self, graph):
        self._graph = graph
        self._clock = graph.client.create_publisher(Clock, '/clock', 10)
        graph.until(self._clock.get_subscription_count)

    def run(self, start, ticks=20, wall=0.01):
        """Publish some control periods from a time [s] on, each after some wall time [s]."""
        for tick in range(ticks):
            now = round((start + 0.02 * tick) * 1e9)
            self._clock.publish(Clock(clock=Time(sec=now // 10**9, nanosec=now % 10**9)))
            self._graph.spin(wall)


def stepped(monkeypatch):
    """Return the list to which every step of the controller adds its dt."""
    found, known = [], WaveController.step
    monkeypatch.setattr(
        WaveController,
        'step',
        lambda self, dt, *more: (found.append(dt), known(self, dt, *more))[1],
    )
    return found


@pytest.mark.parametrize('wall', [0.002, 0.02, 0.06])
def test_a_gait_follows_simulated_time_at_any_factor(
    graph, controller, box_model, monkeypatch, wall
):
    """Simulated periods of 20 ms, ten times as fast as wall time to three times as slow."""
    steps = stepped(monkeypatch)
    node = controller(use_sim_time=True, safety__start_speed=100.0)
    talk(graph, box_model)
    clock = Ticks(graph)
    graph.until(lambda: node._live.observation.age() < np.inf)
    clock.run(50.0, 40)
    assert node._safe.layer.mode == 'running'
    graph.spin(0.05)
    steps.clear()
    clock.run(50.8, 20, wall)
    graph.spin(0.05)
    # Late steps are longer ones: none is lost, whatever the ratio.
    assert sum(steps) == pytest.approx(0.4, abs=0.09)
    assert node._safe.layer.holds == 0


def test_a_jump_ahead_is_no_step_of_the_gait(graph, controller, box_model, monkeypatch):
    steps = stepped(monkeypatch)
    controller(use_sim_time=True, safety__start_speed=100.0)
    talk(graph, box_model)
    clock = Ticks(graph)
    clock.run(50.0)
    graph.until(lambda: len(steps) > 5)
    clock.run(90.0)
    graph.until(lambda: graph.logged('WARN', 'time jumped ahead by'))
    assert max(steps) <= 0.2


def test_a_clock_that_stops_is_said_and_services_answer(graph, controller, box_model):
    controller(use_sim_time=True)
    talk(graph, box_model)
    clock = Ticks(graph)
    clock.run(50.0)
    graph.until(lambda: graph.logged('WARN', '/clock stands still at 50.38 s'), 8.0)
    assert graph.call(GetState, '/controller/get_state').current_state.label == 'active'


def test_without_simulated_time_nobody_can_set_the_gaits_clock(controller):
    node = controller()
    assert node._step_clock.clock is node._step_clock.steady
    assert not node._step_clock.is_simulated


def test_a_velocity_that_is_not_finite_is_refused_and_the_last_one_holds(
    graph, controller, box_model
):
    node = controller(command_timeout=60.0)
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    message = Twist()
    message.linear.x, message.angular.z = 0.3, 0.1
    publisher.publish(message)
    graph.until(lambda: node._command.velocity == (0.3, 0.0, 0.1))
    message.linear.x = float('nan')
    publisher.publish(message)
    graph.until(lambda: graph.logged('WARN', 'cmd_vel refused: x is nan, expected a finite'))
    assert node._command.velocity == (0.3, 0.0, 0.1)


def test_a_velocity_beyond_what_is_walked_is_said_and_counted(
    graph, controller, box_model, monkeypatch
):
    bounds = (VelocityRange.symmetric(0.6, 'gait.max_forward'), UNLIMITED, UNLIMITED)
    monkeypatch.setattr(WaveController, 'velocity_limits', bounds, raising=False)
    node = controller(command_timeout=60.0)
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    message = Twist()
    for speed in (0.6, 100.0, 2.0):
        message.linear.x = speed
        publisher.publish(message)
        graph.until(lambda wanted=speed: node._command.velocity[0] == wanted)
    line = 'cmd_vel is not followed exactly: 100 m/s forward is limited to 0.6 (gait.max_forward)'
    assert graph.logged('WARN', line)
    # The second is not said again at once, but counted, for diagnostics.
    assert not graph.logged('WARN', '2 m/s forward')
    assert node._watch.diagnostic_values()['commands beyond bounds'] == 2


def test_the_keys_of_teleop_twist_keyboard_are_followed_to_its_stop(graph, controller, box_model):
    """Keys i, u, j and k at 10 Hz with the default speeds, then the stop message of its end."""
    node = controller(command_timeout=60.0)
    talk(graph, box_model, forward=0.0)
    shown = collect(graph, MarkerArray, '/gait_markers')
    publisher = graph.client.create_publisher(Twist, 'cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    for forward, turn in ((0.5, 0.0), (0.5, 1.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0)):
        message = Twist()
        message.linear.x, message.angular.z = forward, turn
        publisher.publish(message)
        graph.spin(0.1)
        assert node._command.velocity == (forward, 0.0, turn)
    arrows = [marker for array in shown for marker in array.markers if marker.ns == 'command']
    assert {marker.points[1].x for marker in arrows if marker.points} == {0.5}
    assert graph.until(lambda: shown[-1].markers[0].action == Marker.DELETE)


def test_two_robots_in_namespaces_of_one_graph_do_not_hear_each_other(graph, box):
    """One bridge and one controller each; only the first robot gets a velocity."""
    nodes = {}
    for space in ('r1', 'r2'):
        there = (f'__ns:=/{space}',)
        graph.add(SimBridgeNode, remap=there, robot=box, mode='realtime', publish_clock=False)
        nodes[space] = graph.add(
            ControllerNode, remap=there, robot=box, controller='wave', command_timeout=60.0
        )
    states = {space: collect(graph, JointState, f'/{space}/joint_states') for space in nodes}
    graph.until(lambda: all(node._safe.layer.mode == 'standing' for node in nodes.values()))
    assert all(states.values())
    publisher = graph.client.create_publisher(Twist, '/r1/cmd_vel', 10)
    graph.until(publisher.get_subscription_count)
    message = Twist()
    message.linear.x = 0.25
    publisher.publish(message)
    graph.until(lambda: nodes['r1']._safe.layer.mode == 'running')
    assert nodes['r1']._command.velocity == (0.25, 0.0, 0.0)
    assert nodes['r2']._command.velocity == (0.0, 0.0, 0.0)
    assert graph.call(Trigger, '/r1/controller/emergency_stop').success
    graph.spin(0.1)
    assert [node._safe.layer.mode for node in nodes.values()] == ['stopped', 'standing']
    assert not graph.logged('is published by')


def test_gait_parameters_change_while_it_runs(graph, controller):
    node = controller(gait__amplitude=1)
    assert node.controller.params == WaveParams(amplitude=1.0)
    change = Parameter('gait.frequency', value=2).to_parameter_msg()
    answer = graph.call(SetParameters, '/controller/set_parameters', parameters=[change])
    assert answer.results[0].successful
    assert node.controller.params == WaveParams(amplitude=1.0, frequency=2.0)
    change = Parameter('gait.frequency', value=50.0).to_parameter_msg()
    answer = graph.call(SetParameters, '/controller/set_parameters', parameters=[change])
    assert not answer.results[0].successful and answer.results[0].reason
    assert node.controller.params == WaveParams(amplitude=1.0, frequency=2.0)


def gait_file(path, **gait):
    lines = ''.join(f'      {name}: {value}\n' for name, value in gait.items())
    path.write_text(f'/**:\n  ros__parameters:\n    gait:\n{lines}')
    return str(path)


def test_a_gait_is_loaded_whole_or_not_at_all(graph, controller, tmp_path):
    node = controller()
    load = '/controller/load_gait'
    good = gait_file(tmp_path / 'good.yaml', amplitude=0.5, frequency=1)
    answer = graph.call(LoadGait, load, file=good)
    assert answer.success and answer.changed == ['gait.amplitude']
    assert node.controller.params == WaveParams(amplitude=0.5)
    bad = gait_file(tmp_path / 'bad.yaml', amplitude=0.7, frequenzy=1.0)
    answer = graph.call(LoadGait, load, file=bad)
    assert not answer.success and "did you mean 'frequency'" in answer.message
    assert f"{bad}, line 5, column 7: unknown parameter 'frequenzy'" in answer.message
    answer = graph.call(LoadGait, load, file=str(tmp_path / 'none.yaml'))
    assert not answer.success and 'none.yaml' in answer.message
    answer = graph.call(LoadGait, load, file='')
    assert not answer.success and answer.message.startswith('file is empty')
    assert node.controller.params == WaveParams(amplitude=0.5)


@pytest.mark.parametrize(
    'kind', ['pipe', 'device', 'folder', 'itself', 'laughs', 'digits', 'bytes']
)
def test_no_file_of_a_request_ends_or_blocks_a_gait(graph, controller, tmp_path, kind):
    node, path = controller(), tmp_path / f'{kind}.yaml'
    gait = '/**: {ros__parameters: {gait: %s}}'
    contents = {
        'itself': gait % '&g {frequency: *g}',
        'laughs': gait
        % (
            '{a0: &a0 [x, x], '
            + ', '.join(f'a{i}: &a{i} [{", ".join(9 * [f"*a{i - 1}"])}]' for i in range(1, 20))
            + '}'
        ),
        'digits': gait % f'{{amplitude: {400 * "9"}}}',
        'bytes': gait % '{amplitude: \x00}',
    }
    if kind == 'pipe':
        os.mkfifo(path)
    elif kind == 'device':
        path.symlink_to('/dev/zero')
    elif kind == 'folder':
        path.mkdir()
    else:
        path.write_text(contents[kind])
    answer = graph.call(LoadGait, '/controller/load_gait', file=str(path))
    assert not answer.success and path.name in answer.message and '\n' not in answer.message
    assert graph.call(Trigger, '/controller/emergency_stop').success
    assert node.controller.params == WaveParams()


def test_a_stop_waits_for_one_reading_of_a_file(graph, controller, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        'gait_core.trial.champion.read_document',
        lambda *given: (read.append(given), read_document(*given))[1],
    )
    controller()
    file = gait_file(tmp_path / 'good.yaml', amplitude=0.5)
    assert graph.call(LoadGait, '/controller/load_gait', file=file).success
    assert len(read) == 1


def test_a_champion_is_a_parameter_file_that_starts_a_node(graph, controller, box, tmp_path):
    gait = {'amplitude': 1 / 3, 'frequency': 1.1}
    spec = TrialSpec(
        scene=Scene(robot=box, engine='kinematic'),
        controller='wave',
        parameters=gait,
        script=(TimedCommand(time=0.0, command=Command()),),
        duration=0.1,
        fitness_terms={'distance': 1.0},
    )
    result = run_trial(spec)
    file = tmp_path / 'champion.yaml'
    found = Champion(
        spec=spec,
        seeds=(spec.seed,),
        trial_hashes=(result.trial_hash,),
        fitness=result.fitness,
        status=result.status,
        fingerprint=result.fingerprint,
        metrics=result.metrics,
        terms=result.terms,
        run={'experiment': 'small', 'seed': 0, 'sources': '12e4567'},
    )
    write_champion(file, found)
    node = controller(files=[file])
    assert node.controller.params == WaveParams(**gait)
    # By what a user sees: ROS itself has read every line, the provenance too.
    names = ['gait.amplitude', 'gait.frequency']
    answer = graph.call(GetParameters, '/controller/get_parameters', names=names)
    assert [value.double_value for value in answer.values] == list(gait.values())
    write_champion(file, replace(found, spec=replace(spec, controller='hold')))
    with pytest.raises(ConfigurationError, match="'hold', this node runs 'wave'"):
        controller(name='another', files=[file])


def test_a_named_preset_lies_over_the_robots_own_gait(graph, controller):
    robot = need_robot('a1')
    node = controller(robot='a1', controller='', preset='crawl', autostart=False)
    params = node.controller.params
    assert params.gait == 'crawl' and params.heading_gain == 0.6
    assert params == node.controller.Params(**resolve_gait(robot, preset='crawl').parameters)
    assert not graph.logged('INFO', 'own gait')
    controller(robot='a1', controller='hold', name='holding', autostart=False)
    assert graph.logged('INFO', "own gait of robot 'a1' (heading_gain, speed_gain")
    bare = controller(robot='a1', controller='', preset='none', name='bare', autostart=False)
    assert bare.controller.params == node.controller.Params()


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({'robot': ''}, "'robot' is empty"),
        ({'robot': 'guro'}, "'guro'"),
        ({'controller': 'wav'}, "did you mean 'wave'"),
        ({'preset': 'waves'}, "did you mean 'wave'"),
        ({'gait__amplitud': 1.0}, "did you mean 'gait.amplitude'"),
        ({'gait__amplitude': 'big'}, "'gait.amplitude' is 'big'"),
        ({'provenance__spec__controller': 'staged_walk'}, "'staged_walk', this node runs 'wave'"),
        ({'command': [0.1, 0.2]}, "'command' has 2 values, expected 3"),
        ({'command': [0.1, 0.0, 0.0]}, "'command' is the velocity of a demonstration"),
        ({'demo': True}, "'demo' is for simulations: set use_sim_time:=true"),
        (
            {'demo': True, 'use_sim_time': True},
            "'demo': the controller does not follow the command 0",
        ),
        ({'weights_sha256': 'a'}, "'weights_sha256' is given, but 'weights' names no file"),
        ({'command_timeout': 0.0}, "'command_timeout' = 0 s is outside"),
        ({'output': 'topic'}, "'output': unknown value 'topic'"),
    ],
)
def test_a_users_mistake_is_refused_at_the_start(controller, parameters, words):
    with pytest.raises(ConfigurationError) as caught:
        controller(**parameters)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_an_empty_list_in_a_file_is_an_empty_list(controller, tmp_path):
    file = tmp_path / 'parameters.yaml'
    file.write_text('/**: {ros__parameters: {command: []}}')
    assert controller(files=[file], autostart=False)._chosen.command == ()


def test_a_file_whose_sections_name_other_nodes_is_reported(graph, controller, tmp_path):
    file = tmp_path / 'parameters.yaml'
    file.write_text('rviz: {ros__parameters: {command: [0.1]}}')
    controller(files=[file], autostart=False)
    assert graph.logged('WARN', "has no section for node '/controller', but for /rviz")


def test_without_autostart_the_lifecycle_is_the_users(graph, controller, box_model):
    node = controller(autostart=False)
    events = collect(graph, TransitionEvent, '/controller/transition_event')
    assert not node.active
    for transition, label in (
        (1, 'inactive'),
        (3, 'active'),
        (4, 'inactive'),
        (2, 'unconfigured'),
    ):
        request = ChangeState.Request()
        request.transition.id = transition
        answer = graph.call(ChangeState, '/controller/change_state', transition=request.transition)
        assert answer.success
        assert graph.call(GetState, '/controller/get_state').current_state.label == label
        assert node.active == (label == 'active')
    passed = ['configuring', 'inactive', 'activating', 'active', 'deactivating', 'inactive']
    wanted = [*passed, 'cleaningup', 'unconfigured']
    graph.until(lambda: [event.goal_state.label for event in events] == wanted)
    assert [event.start_state.label for event in events] == ['unconfigured', *wanted[:-1]]


def test_a_live_walk_moves_the_robot_through_topics(graph, controller, box):
    bridge = graph.add(SimBridgeNode, robot=box, mode='fast', publish_clock=True)
    controller(
        use_sim_time=True, demo=True, command=[0.1, 0.0, 0.0], gait__amplitude=0.4,
        safety__start_speed=100.0,
    )  # fmt: skip
    graph.until(lambda: bridge._live.observation.body_poses[0, 0] > 0.05)
    assert not graph.logged('WARN', 'refused')
