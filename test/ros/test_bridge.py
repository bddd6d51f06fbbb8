# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bridge: whole trials in slices, services, validated commands, and refusals it survives."""

import math
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.messages.reader import read_observation
from gait_core.terrains import load_terrain
from gait_core.testing.doubles import KinematicEngine
from gait_core.trial import parts as trial_parts
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Scene, TerrainSpec
from gait_core.trial.setup import default_trial, make_scene
from gait_core.trial.spec import TrialSpec
from gait_interfaces.msg import Energy, FootContacts, Stability, WorkerStatus
from gait_interfaces.msg import Scene as SceneMessage
from gait_interfaces.msg import TrialSpec as TrialSpecMessage
from gait_interfaces.srv import CancelTrial, QueryTerrain, Reset, RunTrial, Step
from gait_ros.messages.conversions import BUILDER, from_result, to_scene, to_spec
from gait_ros.nodes import clock
from gait_ros.nodes.qos import STREAM_QOS
from sim_bridge import node as node_module
from sim_bridge.node import SimBridgeNode

RUN = '/sim_bridge/run_trial'


def trial(box, duration=0.5, controller='wave', **changes):
    scene = Scene(robot=box, engine='kinematic')
    return TrialSpec(scene=scene, controller=controller, duration=duration, **changes)


def worker(graph):
    return graph.add(SimBridgeNode, mode='lockstep', publish_clock=False)


def collect(graph, kind, topic):
    """Subscribe and return the list that messages come into."""
    found = []
    graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    return found


# ----------------------------------------------------------------------------------------- trials


@pytest.mark.parametrize('graph', ['events', 'single'], indirect=True)
def test_a_trial_by_service_equals_the_trial_in_process(graph, box):
    worker(graph)
    spec = trial(box)
    response = graph.call(RunTrial, RUN, trial_id='t', spec=to_spec(spec))
    assert response.success and response.trial_id == 't'
    result, here = from_result(response.result), run_trial(spec)
    assert result.trial_hash == here.trial_hash and result.status == 'ok'
    assert dict(result.metrics) == dict(here.metrics)


@pytest.mark.parametrize('graph', ['events', 'single'], indirect=True)
def test_while_a_trial_runs_all_else_stays_alive_until_it_is_cancelled(graph, box):
    worker(graph)
    beats = collect(graph, WorkerStatus, '/sim_bridge/worker_status')
    running = graph.start_call(RunTrial, RUN, trial_id='long', spec=to_spec(trial(box, 20000.0)))
    graph.until(lambda: any(beat.trial_id == 'long' for beat in beats))
    began = time.monotonic()
    answer = graph.call(GetParameters, '/sim_bridge/get_parameters', names=['answer_timeout'])
    assert answer.values[0].double_value == 5.0
    change = Parameter('answer_timeout', value=7.0).to_parameter_msg()
    answer = graph.call(SetParameters, '/sim_bridge/set_parameters', parameters=[change])
    assert answer.results[0].successful
    second = graph.call(RunTrial, RUN, trial_id='long', spec=to_spec(trial(box)))
    assert not second.success and 'trial long is running' in second.message
    refused = graph.call(Reset, '/sim_bridge/reset', seed=0)
    assert not refused.success and 'trial long is running' in refused.message
    assert time.monotonic() - began < 3.0
    before = len(beats)
    graph.spin(1.6)
    later = [beat for beat in beats[before:] if beat.state == WorkerStatus.TRIAL]
    assert len(later) >= 2 and later[-1].tick > later[0].tick > 0
    assert later[-1].ticks == 1_000_000 and not running.done()
    wrong = graph.call(CancelTrial, '/sim_bridge/cancel_trial', trial_id='other')
    assert not wrong.success
    assert graph.call(CancelTrial, '/sim_bridge/cancel_trial', trial_id='long').success
    graph.until(running.done, 2.0)
    result = running.result()
    assert result.success and result.result.status == 'invalid:cancelled'
    assert 0 < result.result.ticks < 1_000_000
    assert graph.call(RunTrial, RUN, trial_id='next', spec=to_spec(trial(box))).success


def test_a_paused_trial_stands_still_and_ends_as_if_it_had_not(graph, box):
    worker(graph)
    beats = collect(graph, WorkerStatus, '/sim_bridge/worker_status')
    spec = trial(box, 20.0)
    running = graph.start_call(RunTrial, RUN, trial_id='t', spec=to_spec(spec))
    assert graph.call(SetBool, '/sim_bridge/pause', data=True).success
    graph.until(lambda: beats and beats[-1].state == WorkerStatus.PAUSED)
    tick = beats[-1].tick
    beats.clear()
    graph.until(lambda: len(beats) >= 2)
    assert {beat.tick for beat in beats} == {tick} and not running.done()
    assert graph.call(SetBool, '/sim_bridge/pause', data=False).success
    graph.until(running.done)
    assert running.result().result.trial_hash == run_trial(spec).trial_hash


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'controller': 'wav'}, "did you mean 'wave'"),
        ({'parameters': {'amplitud': 1.0}}, "did you mean 'amplitude'"),
        ({'parameters': {'amplitude': 9.0}}, 'nearest valid: 1'),
        ({'fitness_terms': {'none_such': 1.0}}, "'none_such'"),
    ],
)
def test_a_trial_that_cannot_run_is_refused_by_name_and_the_bridge_stays(
    graph, box, changes, words
):
    worker(graph)
    spec = to_spec(trial(box, **changes))
    response = graph.call(RunTrial, RUN, trial_id='t', spec=spec)
    assert not response.success and words in response.message
    assert graph.call(RunTrial, RUN, trial_id='u', spec=to_spec(trial(box))).success


def test_a_trial_that_diverges_while_it_settles_is_a_result_as_in_process(graph, box, monkeypatch):
    class Exploding(KinematicEngine):
        def reset(self, scene, seed, *, settle_ticks=0):
            raise SimulationDiverged('far away')

    worker(graph)
    spec = trial(box)
    with monkeypatch.context() as patch:
        patch.setitem(trial_parts._engine_cache, 'kinematic', Exploding())
        response = graph.call(RunTrial, RUN, trial_id='t', spec=to_spec(spec))
        expected = run_trial(spec)
    assert response.success and expected.status == 'diverged'
    assert from_result(response.result) == expected
    assert graph.call(RunTrial, RUN, trial_id='u', spec=to_spec(spec)).success


def test_a_spec_with_an_unknown_engine_or_no_id_is_refused(graph, box):
    worker(graph)
    spec = to_spec(trial(box))
    assert 'trial_id is empty' in graph.call(RunTrial, RUN, spec=spec).message
    for wait in (math.nan, math.inf, -1.0, 1e308):
        answer = graph.call(RunTrial, RUN, trial_id='t', spec=spec, answer_timeout=wait)
        assert f'answer_timeout is {wait:g} s' in answer.message
    spec.scene.engine = 'bulet'
    assert "did you mean 'bullet'" in graph.call(RunTrial, RUN, trial_id='t', spec=spec).message


# ------------------------------------------------------------------------------------------- live


def live(graph, box, **parameters):
    given = {'robot': box, 'publish_clock': False, 'mode': 'fast', **parameters}
    return graph.add(SimBridgeNode, **given)


def trajectory(names, *rows, seconds=0.02, **fields):
    message = JointTrajectory(joint_names=list(names))
    for number, row in enumerate(rows):
        message.points.append(
            JointTrajectoryPoint(
                positions=[float(value) for value in row],
                time_from_start=BUILDER.time(round(seconds * (number + 1) * 1e9), 'Duration'),
            )
        )
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def stepped(graph, bridge, publisher, message):
    """Publish to a paused bridge, step it to where its targets have acted, and look."""
    taken = len(graph.log)
    publisher.publish(message)
    graph.until(lambda: bridge._live.is_commanded or len(graph.log) > taken, 1.0, fail=False)
    answer = graph.call(Step, '/sim_bridge/step', ticks=20)
    assert answer.success, answer.message
    seen = read_observation(answer.observation)
    return dict(zip(seen.joint_names, seen.joint_positions, strict=True))


def paused(graph, box):
    bridge = live(graph, box, mode='lockstep')
    publisher = graph.client.create_publisher(JointTrajectory, '/joint_trajectory', 10)
    graph.until(lambda: publisher.get_subscription_count())
    return bridge, publisher


def test_named_joints_move_in_any_order_and_the_others_hold(graph, box, box_model):
    bridge, publisher = paused(graph, box)
    message = trajectory(['leg2_joint1', 'leg0_joint0'], [-0.7, 0.6])
    positions = stepped(graph, bridge, publisher, message)
    expected = dict(zip(box_model.joint_names, box_model.stance, strict=True))
    assert positions == {**expected, 'leg2_joint1': -0.7, 'leg0_joint0': 0.6}


def test_unknown_joints_are_ignored_with_one_warning(graph, box):
    bridge, publisher = paused(graph, box)
    for value in (0.5, 0.6):
        message = trajectory(['tail', 'leg0_joint0'], [1.0, value])
        positions = stepped(graph, bridge, publisher, message)
        assert positions['leg0_joint0'] == value
    assert len(graph.logged('WARN', 'unknown joints', 'tail')) == 1


@pytest.mark.parametrize(
    ('names', 'row', 'words'),
    [
        (['leg0_joint0', 'leg0_joint0'], [0.1, 0.2], "'leg0_joint0' is commanded twice"),
        (['leg0_joint0', 'leg0_joint1'], [0.1], '1 positions for 2 joint names'),
        (['leg0_joint0'], [float('nan')], 'not finite'),
        (['leg0_joint0'], [float('inf')], 'not finite'),
    ],
)
def test_a_bad_trajectory_is_refused_and_the_last_good_one_holds(graph, box, names, row, words):
    bridge, publisher = paused(graph, box)
    good = stepped(graph, bridge, publisher, trajectory(['leg0_joint0'], [0.6]))
    after = stepped(graph, bridge, publisher, trajectory(names, row))
    assert graph.until(lambda: graph.logged('WARN', 'joint_trajectory refused', words))
    assert after == good and after['leg0_joint0'] == 0.6


def test_a_forward_command_of_the_wrong_size_is_refused_with_both_sizes(graph, box):
    bridge = live(graph, box, mode='lockstep')
    publisher = graph.client.create_publisher(Float64MultiArray, '/commands', 10)
    graph.until(lambda: publisher.get_subscription_count())
    good = stepped(graph, bridge, publisher, Float64MultiArray(data=[0.1] * 8))
    assert set(good.values()) == {0.1}
    after = stepped(graph, bridge, publisher, Float64MultiArray(data=[0.2] * 7))
    assert graph.until(lambda: graph.logged('WARN', 'commands has 7 values, expected 8'))
    assert after == good


def test_a_reset_is_exact_stamps_go_on_and_a_controller_in_mid_gait_is_not_followed(graph, box):
    bridge, publisher = paused(graph, box)
    states = collect(graph, JointState, '/joint_states')
    graph.until(lambda: bridge._states._publishers['joint_states'].get_subscription_count())
    first = graph.call(Reset, '/sim_bridge/reset', seed=0)
    stepped(graph, bridge, publisher, trajectory(['leg0_joint0'], [0.9]))
    again = graph.call(Reset, '/sim_bridge/reset', seed=0)
    assert again.observation == first.observation and again.observation.tick == 0
    publisher.publish(trajectory(['leg0_joint0'], [0.9]))
    graph.until(lambda: bridge._live.is_commanded)
    answer = graph.call(Step, '/sim_bridge/step', ticks=5)
    moved = np.array(answer.observation.joint_positions) - first.observation.joint_positions
    assert np.abs(moved).max() == 0.0
    graph.until(lambda: len(states) >= 10)
    stamps = [state.header.stamp.sec * 10**9 + state.header.stamp.nanosec for state in states]
    assert min(stamps) > 0 and (np.diff(stamps) > 0).all()


def test_a_scene_sent_with_a_reset_replaces_the_old_one_or_changes_nothing(graph, box):
    live(graph, box, mode='lockstep')
    rough = Scene(robot=box, engine='kinematic', terrain=TerrainSpec(name='rough', seed=3))
    assert graph.call(Reset, '/sim_bridge/reset', scene=[to_scene(rough)]).success
    x, y = [0.3, -1.0], [0.2, 2.0]
    answer = graph.call(QueryTerrain, '/sim_bridge/query_terrain', x=x, y=y)
    surface = load_terrain(rough.terrain)
    np.testing.assert_array_equal(answer.heights, surface.height(np.array(x), np.array(y)))
    assert answer.success and answer.terrain_hash == surface.hash
    wrong = to_scene(rough)
    wrong.robot = 'guro'
    refused = graph.call(Reset, '/sim_bridge/reset', scene=[wrong])
    assert not refused.success and "'guro'" in refused.message
    after = graph.call(QueryTerrain, '/sim_bridge/query_terrain', x=x, y=y)
    assert after.terrain_hash == surface.hash
    short = graph.call(QueryTerrain, '/sim_bridge/query_terrain', x=x, y=[])
    assert not short.success and 'y has 0 values, expected 2' in short.message
    nowhere = graph.call(QueryTerrain, '/sim_bridge/query_terrain', x=[float('nan')], y=[0.0])
    assert not nowhere.success and 'not finite' in nowhere.message
    refused = graph.call(Reset, '/sim_bridge/reset', seed=-1)
    assert not refused.success and 'seed -1' in refused.message


def test_services_are_called_by_hand_with_the_name_of_a_robot(graph, box):
    """As by ros2 service call, where a field that is not written is as in a new message."""
    node = live(graph, box, mode='lockstep')
    by_name = SceneMessage(robot='hexapod')
    assert graph.call(Reset, '/sim_bridge/reset', scene=[by_name]).success
    assert node._scene == make_scene('hexapod', {})
    spec = TrialSpecMessage(scene=by_name, duration=0.1)
    answer = graph.call(RunTrial, RUN, trial_id='t', spec=spec)
    assert answer.success, answer.message
    assert answer.result.trial_hash == run_trial(default_trial('hexapod', 0.1)).trial_hash


def test_the_ground_is_shown_and_goes_with_its_scene(graph, box):
    live(graph, box, mode='realtime')
    shown = collect(graph, MarkerArray, '/markers')
    for name, action in (('rough', Marker.ADD), ('flat', Marker.DELETE)):
        scene = Scene(robot=box, engine='kinematic', terrain=TerrainSpec(name=name))
        assert graph.call(Reset, '/sim_bridge/reset', scene=[to_scene(scene)]).success
        graph.until(
            lambda action=action: any(
                (one.ns, one.action, one.header.frame_id) == ('terrain', action, 'odom')
                for message in shown
                for one in message.markers
            ),
            5.0,
        )
        shown.clear()


def test_a_step_is_refused_while_the_simulation_runs_by_itself(graph, box):
    live(graph, box)
    refused = graph.call(Step, '/sim_bridge/step', ticks=1)
    assert not refused.success and '~/pause' in refused.message
    assert graph.call(SetBool, '/sim_bridge/pause', data=True).success
    before = graph.call(Step, '/sim_bridge/step', ticks=1)
    after = graph.call(Step, '/sim_bridge/step', ticks=0)
    assert before.success and after.observation.tick == before.observation.tick + 1


def test_real_time_is_kept_at_a_factor(graph, box):
    bridge = live(graph, box, mode='realtime', realtime_factor=5.0)
    graph.spin(0.2)
    tick, began = bridge._live.tick, time.monotonic()
    graph.spin(1.0)
    simulated = (bridge._live.tick - tick) * bridge._live.dt
    assert simulated / (time.monotonic() - began) == pytest.approx(5.0, rel=0.2)


def test_every_stream_has_frame_and_stamp_and_is_finite(graph, box):
    bridge = live(graph, box)
    topics = {
        'joint_states': JointState,
        'odom': Odometry,
        'imu/data': Imu,
        'foot_contacts': FootContacts,
        'zmp': PointStamped,
        'stability': Stability,
        'energy': Energy,
        'markers': MarkerArray,
        'tf': TFMessage,
    }
    found = {topic: collect(graph, kind, f'/{topic}') for topic, kind in topics.items()}
    graph.until(lambda: all(found.values()))
    assert found['joint_states'][0].name == list(bridge._live.robot.joint_names)
    assert {found[topic][0].header.frame_id for topic in ('odom', 'zmp', 'stability')} == {'odom'}
    transform = found['tf'][0].transforms[0]
    assert transform.header.frame_id == 'odom' and transform.child_frame_id == 'base_link'
    assert found['odom'][0].child_frame_id == 'base_link'
    assert found['imu/data'][0].header.frame_id == 'base'
    stability = found['stability'][0]
    assert stability.status == Stability.DEFINED and len(stability.support_polygon) == 4
    weight = sum(force.z for force in found['foot_contacts'][0].forces)
    assert weight == pytest.approx(6.0 * 9.81, rel=1e-6)
    assert all(found['foot_contacts'][0].in_contact)


def test_the_user_is_told_that_no_command_comes_and_that_the_base_is_fixed(graph, box):
    began = time.monotonic()
    live(graph, box, mode='realtime', fixed_base=True)
    # Not as a warning: the controller may be starting.
    graph.until(lambda: graph.logged('INFO', 'no joint command received'), 5.0)
    assert time.monotonic() - began < 5.0
    assert graph.logged('WARN', 'fixed_base is true')
    reports = collect(graph, DiagnosticArray, '/diagnostics')
    graph.until(lambda: reports)
    (status,) = reports[0].status
    assert status.level == DiagnosticStatus.WARN and 'no joint command' in status.message
    assert {pair.key: pair.value for pair in status.values}['mode'] == 'realtime'


def test_commands_that_are_held_back_before_motion_is_asked_for_are_no_trouble(
    graph, box, monkeypatch
):
    """ros2_control is up and sends nothing to motors until a gait is asked to move."""
    monkeypatch.setattr(node_module, '_PATIENCE', 0.0)
    monkeypatch.setattr(node_module, 'START_TIME', 0.0)
    bridge = graph.add(SimBridgeNode, robot=box, mode='realtime', hardware=True)
    graph.until(lambda: graph.logged('WARN', 'no joint command received'), 5.0)
    graph.client.create_publisher(JointState, '/hardware/joint_commands', 10)
    graph.until(lambda: bridge.count_publishers('/hardware/joint_commands'))
    assert not bridge._describe_trouble()
    graph.until(lambda: 'before motion is requested' in bridge._waiting_for)


def test_a_second_publisher_of_joint_states_is_named_with_the_first(graph, box):
    live(graph, box, mode='realtime')
    other = Node('joint_state_publisher', context=graph.context, enable_rosout=False)
    other.create_publisher(JointState, 'joint_states', 10)
    try:
        assert graph.until(
            lambda: graph.logged('WARN', 'joint_states', '/joint_state_publisher', '/sim_bridge')
        )
    finally:
        other.destroy_node()


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({}, "'robot' is empty"),
        ({'robot': 'guro'}, "'guro'"),
        ({'robot': 'BOX', 'engine': 'kinematics'}, "did you mean 'kinematic'"),
        ({'robot': 'BOX', 'terrain': 'rouhg'}, "did you mean 'rough'"),
        ({'robot': 'BOX', 'physics_step': 0.003}, 'not a whole multiple'),
    ],
)
def test_what_cannot_be_simulated_is_refused_at_the_start(graph, box, parameters, words):
    given = {name: box if value == 'BOX' else value for name, value in parameters.items()}
    with pytest.raises(ConfigurationError, match=words):
        graph.add(SimBridgeNode, publish_clock=False, **given)


def test_a_second_clock_is_refused_by_the_name_of_the_first(graph, box):
    live(graph, box, publish_clock=True)
    with pytest.raises(ConfigurationError, match='/clock is published by /sim_bridge already'):
        graph.add(SimBridgeNode, robot=box, mode='fast')


def test_of_two_clocks_started_at_once_one_gives_way(graph, box, monkeypatch):
    monkeypatch.setattr(clock, '_DISCOVERY_TIME', 0.0)
    live(graph, box, publish_clock=True, name='first')
    live(graph, box, publish_clock=True, name='second')
    words = '/clock is also published by /first; /second stops publishing it'
    graph.until(lambda: graph.logged('ERROR', words))
    graph.until(lambda: graph.client.count_publishers('/clock') == 1)
    graph.spin(1.1)
    assert graph.client.count_publishers('/clock') == 1
