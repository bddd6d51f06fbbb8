# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A walk in physics whose step, lift, heading, behaviours and stop are changed live over ROS."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core.messages.reader import read_observation
from gait_interfaces.msg import GaitState
from gait_interfaces.srv import SetBehaviour, Step
from gait_ros.nodes.parameters import to_parameter_values
from gait_ros.nodes.qos import STREAM_QOS
from gait_stage_walk.node import StageWalkNode
from gait_stage_walk.staged.parameters import StagedWalkParams
from gait_stage_walk.staged.pulse import pulse_progress
from gait_stage_walk.staged.walk import WalkMode
from sim_bridge.node import SimBridgeNode


class Walk:
    """
    A walking robot, its commands and its reports.

    The bridge is stepped as soon as it has targets for the next period: on a loaded machine it
    waits, where a simulation that runs by itself would get them late and fall.
    """

    def __init__(self, graph, **parameters):
        self._graph = graph
        graph.add(SimBridgeNode, robot='guroo', engine='mujoco')
        self._step = graph.client.create_client(Step, '/sim_bridge/step')
        graph.until(self._step.service_is_ready)
        assert graph.call(SetBool, '/sim_bridge/pause', data=True).success
        self.node = graph.add(StageWalkNode, use_sim_time=True, **parameters)
        self._behave = graph.client.create_client(SetBehaviour, '/stage_walk/set_behaviour')
        graph.until(self._behave.service_is_ready)
        self.state, self.angles, self.yaw, self.rows, self._told = {}, {}, 0.0, [], 0
        for kind, topic, callback in (
            (JointTrajectory, '/joint_trajectory', self._on_targets),
            (GaitState, '/gait_state', self._on_state),
        ):
            graph.client.create_subscription(kind, topic, callback, STREAM_QOS)

    def _on_targets(self, message):
        angles = np.degrees(message.points[-1].positions).tolist()
        self.angles = dict(zip(message.joint_names, angles, strict=True))
        self._told += 1

    def _on_state(self, message):
        self.state = {item.name: item.value for item in message.values}
        self.behaviour = message.behaviour
        self.rows.append((self.state, self.angles))

    def _advance(self):
        before, future = self._told, self._step.call_async(Step.Request())
        self._graph.until(future.done)
        pose = read_observation(future.result().observation).body_poses[0]
        self.yaw = 2.0 * math.degrees(math.atan2(pose[5], pose[6]))
        assert pose[2] > 0.55, 'the robot has fallen'
        self._graph.until(lambda: self._told > before, 0.2, fail=False)

    def until(self, done, seconds=20.0):
        """Step until something is true, at most for a simulated time [s]."""
        for _ in range(round(seconds / 0.02)):
            if self.state and done(self.state):
                return
            self._advance()
        raise AssertionError(f'nothing came within {seconds} s; {self.state}')

    def until_cycles(self, more):
        last = self.state['cycle'] + more
        self.until(lambda state: state['cycle'] >= last)

    def set(self, **values):
        given = [
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()
        ]
        answer = self._graph.call(SetParameters, '/stage_walk/set_parameters', parameters=given)
        return [result.reason for result in answer.results if not result.successful]

    def behave(self, request='', parameters=None, **fields):
        asked = SetBehaviour.Request(
            request=request, parameters=to_parameter_values(parameters or {}), **fields
        )
        future = self._behave.call_async(asked)
        self._graph.until(future.done)
        return future.result()

    def parameters(self):
        answer = self._graph.call(
            ListParameters, '/stage_walk/list_parameters',
        )  # fmt: skip
        return [name for name in answer.result.names if name.startswith('behaviour.')]

    def rear_ankle(self):
        """Return the most that the right ankle turned while the left leg stepped [deg]."""
        return max(
            angles['right_ankle_fwd']
            for state, angles in self.rows
            if state['stage'] in (3.0, 4.0) and 0.5 < state['phase'] < math.pi
        )


def ankle_bend(params, step_deg):
    """Return that in closed form (Pike 2003, recovered as E5)."""
    move = 4.0 / 3.0 * params.ankle_move_deg * step_deg / 20.0
    lift = params.leg_lift_deg / 2.0
    return max(
        move * pulse_progress(tau / 1.25) + (lift - move) * pulse_progress(tau - 1.0)
        for tau in np.linspace(0.0, 1.7, 400)
    )


@pytest.fixture
def walk(graph):
    return Walk(graph, gait__time_scale=0.7, demo=True)


def test_step_lift_turn_and_stop_change_while_it_walks(walk):
    params = StagedWalkParams()
    walk.until(lambda state: state['cycle'] >= 2.0 and state['phase'] > 0.5)
    assert walk.rear_ankle() == pytest.approx(ankle_bend(params, 20.0), abs=0.8)

    assert not walk.set(gait__step_size_deg=15.0, gait__leg_lift_deg=18.0)
    assert math.degrees(walk.state['step_size']) == pytest.approx(20.0)
    walk.until_cycles(1)
    assert math.degrees(walk.state['step_size']) == pytest.approx(15.0)
    assert math.degrees(walk.state['leg_lift']) == pytest.approx(18.0)
    walk.until(lambda state: state['phase'] > 0.5)
    walk.rows.clear()
    walk.until(lambda state: state['phase'] > math.pi)
    assert walk.rear_ankle() == pytest.approx(ankle_bend(params, 15.0), abs=0.8)

    yaw = walk.yaw
    assert not walk.set(gait__turn_deg=20.0)
    walk.until(lambda state: state['heading'] == pytest.approx(math.radians(20.0)))
    walk.until_cycles(1)
    assert walk.yaw - yaw == pytest.approx(20.0, abs=7.0)
    assert walk.angles['left_leg_twist'] == pytest.approx(0.0, abs=1e-6)

    assert not walk.set(gait__stop=True)
    walk.until(lambda state: state['stage'] == WalkMode.EXIT.value)
    # What the exit lowers is the leg as it was lifted last.
    assert walk.angles['left_knee'] == pytest.approx(18.0, abs=0.5)
    walk.until(lambda state: state['stage'] == WalkMode.IDLE.value)
    assert max(map(abs, walk.angles.values())) < 1e-6
    assert walk.node.robot.name == 'guroo'


def test_behaviours_start_stop_and_change_beside_the_walk(walk):
    walk.until(lambda state: state['cycle'] >= 1.0)
    listed = walk.behave()
    residents = listed.names
    assert listed.success and residents[:3] == ['walk', 'levelling', 'heading']
    assert listed.available == ['pulse', 'turn', 'walk']

    nod = {'joint': 'neck_fwd', 'angle_deg': 20, 'period': 1.0}
    for name, action in (('nod', 'add'), ('again', ''), ('less', 'subtract')):
        answer = walk.behave('start', nod, kind='pulse', name=name, action=action)
        assert answer.success, answer.message
    assert answer.names == [*residents, 'nod', 'again', 'less']
    assert answer.actions[-3:] == ['add', 'add', 'subtract']
    assert 'behaviour.nod.angle_deg' in walk.parameters()
    assert not walk.set(behaviour__again__angle_deg=20.0)
    walk.until(lambda _: walk.behaviour.endswith('nod,again,less'))
    walk.until(lambda _: walk.behaviour == ','.join(residents))
    # Of 20 + 20 - 20 degrees.
    walk.until(lambda _: walk.angles['neck_fwd'] == pytest.approx(20.0, abs=1e-6))
    assert walk.behave().names == residents
    assert not walk.parameters()

    answer = walk.behave('start', {'angle_deg': 60.0, 'share': 0.1, 'legs': 'both'}, kind='turn')
    assert answer.names[-1] == 'turn'
    assert walk.behave('set', {'angle_deg': -12.0}, name='turn').success
    given = walk._graph.call(
        GetParameters, '/stage_walk/get_parameters', names=['behaviour.turn.angle_deg']
    )
    assert given.values[0].double_value == -12.0
    walk.rows.clear()
    walk.until(lambda _: walk.angles['left_leg_twist'] < -1.0)
    assert walk.behave('stop', name='turn').success
    walk.until(lambda _: 'turn' not in walk.behaviour)
    # A twist that has begun was completed by its return.
    for leg in ('left', 'right'):
        assert walk.angles[f'{leg}_leg_twist'] == pytest.approx(0.0, abs=1e-6)

    assert walk.behave('stop', name='walk').success
    walk.until(lambda state: state['stage'] == WalkMode.IDLE.value)
    assert walk.behave('start', kind='walk').success
    walk.until(lambda state: state['stage'] == WalkMode.LEAN.value)


def test_mistakes_are_refused_in_one_line_and_change_nothing(walk):
    walk.until(lambda state: True)
    knee = {'joint': 'left_knee', 'period': 50.0}
    assert walk.behave('start', knee, kind='pulse').success
    before = walk.behave()
    for request, parameters, fields, words in (
        ('strat', {}, {}, "unknown request 'strat': did you mean 'start'"),
        (
            'start',
            {},
            {'kind': 'pluse'},
            "unknown kind of behaviour 'pluse': did you mean 'pulse'",
        ),
        ('start', knee, {'kind': 'pulse'}, "behaviour 'pulse' is registered already"),
        ('start', {}, {'kind': 'walk'}, "behaviour 'walk' is registered already"),
        ('start', knee, {'kind': 'pulse', 'name': 'p', 'action': 'ad'}, "did you mean 'add'"),
        ('start', knee, {'kind': 'pulse', 'name': 'a b'}, "'a b' cannot name a behaviour"),
        ('start', {'joint': 'left_kne'}, {'kind': 'pulse', 'name': 'p'}, "mean 'left_knee'"),
        ('start', {'angel_deg': 1}, {'kind': 'turn'}, "did you mean 'angle_deg'"),
        ('start', {'share': 2.0}, {'kind': 'turn'}, 'nearest valid: 1'),
        ('stop', {}, {'name': 'puls'}, "unknown behaviour 'puls': did you mean 'pulse'"),
        ('stop', {}, {'name': 'levelling'}, "belongs to the walk: set it by parameters of 'walk'"),
        ('set', {'joint': 'right_knee'}, {'name': 'pulse'}, "nearest valid: 'left_knee'"),
        ('set', {'step_size': 9.0}, {'name': 'walk'}, "did you mean 'step_size_deg'"),
    ):
        answer = walk.behave(request, parameters, **fields)
        assert not answer.success and words in answer.message, answer.message
        assert '\n' not in answer.message
        assert (answer.names, answer.actions) == (before.names, before.actions)
    assert 'fixed at the start' in walk.set(behaviour__pulse__joint='neck_fwd')[0]
    for number in range(10 - len(before.names)):
        assert walk.behave('start', knee, kind='pulse', name=f'p{number}').success
    answer = walk.behave('start', knee, kind='pulse', name='more')
    assert "'more' is one too many: at most 10 run at a time" in answer.message


def test_a_behaviour_is_motion_asked_for_and_needs_no_walk(graph):
    walk = Walk(graph)
    mode = walk.node._safe.layer
    walk.until(lambda _: mode.mode == 'standing')
    nod = {'joint': 'neck_fwd', 'angle_deg': 20, 'period': 0.5}
    assert walk.behave('start', nod, kind='pulse').success
    walk.until(lambda _: walk.angles['neck_fwd'] > 19.9)
    walk.until(lambda _: mode.mode == 'standing')
    # Then the neck holds, and no leg has taken a step.
    assert walk.angles.pop('neck_fwd') == pytest.approx(20.0, abs=1e-6)
    assert max(map(abs, walk.angles.values())) < 0.5
    assert walk.state['cycle'] == 0.0


def test_a_behaviour_is_refused_while_the_robot_cannot_move(graph):
    node = graph.add(StageWalkNode, autostart=False)
    node.trigger_configure()
    client = graph.client.create_client(SetBehaviour, '/stage_walk/set_behaviour')
    graph.until(client.service_is_ready)

    def start():
        neck = to_parameter_values({'joint': 'neck_fwd'})
        request = SetBehaviour.Request(request='start', kind='pulse', parameters=neck)
        future = client.call_async(request)
        graph.until(future.done)
        return future.result()

    answer = start()
    assert not answer.success and 'the node is inactive' in answer.message
    node.trigger_activate()
    assert graph.call(Trigger, '/stage_walk/emergency_stop').success
    answer = start()
    assert not answer.success and 'the robot cannot move' in answer.message
    assert 'pulse' not in node.behaviour()
