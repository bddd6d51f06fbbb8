# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""No motor moves by surprise: when commands reach motors, which ones, and what ends them."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core.errors import ConfigurationError
from gait_ros.hardware.motors import JOINT_COMMANDS_TOPIC, read_hardware
from gait_ros.hardware.node import HardwareNode
from gait_ros.live.node import ControllerNode

NAN, INF = math.nan, math.inf
GAIT = ('joint_trajectory:=joint_trajectory_controller/joint_trajectory',)


def pose(model, seed=0):
    low, high = np.maximum(model.lower, -1.0), np.minimum(model.upper, 1.0)
    drawn = np.random.default_rng(seed).uniform(low, high)
    return dict(zip(model.joint_names, drawn.tolist(), strict=True))


def obstacle(node):
    """Return the reason for which no command reaches the motors now."""
    return node._watch.describe_blocking_condition(node._now())


class Asked:
    """Whoever says that motion was asked for, until it is silent."""

    def __init__(self, graph, data=True):
        self._graph, self.data = graph, data
        self._publisher = graph.client.create_publisher(Bool, '/motion_requested', 10)
        self._timer = graph.client.create_timer(0.02, self._tell)

    def _tell(self):
        self._publisher.publish(Bool(data=self.data))

    def die(self):
        self._graph.client.destroy_timer(self._timer)


class Sender:
    """A stream of one command to joints, past any gait."""

    def __init__(self, graph, names, **fields):
        self._graph, self.message = graph, JointState(name=list(names), **fields)
        self._publisher = graph.client.create_publisher(JointState, f'/{JOINT_COMMANDS_TOPIC}', 1)
        self._timer = graph.client.create_timer(
            0.01, lambda: self._publisher.publish(self.message)
        )

    def die(self):
        self._graph.client.destroy_timer(self._timer)


def walk(graph, box, **more):
    """Return an active gait, and a function that requests motion."""
    node = graph.add(
        ControllerNode,
        robot=box,
        controller='wave',
        safety__start_speed=5.0,
        safety__fall_action='ignore',
        remap=GAIT,
        **more,
    )
    publisher = graph.client.create_publisher(Twist, '/cmd_vel', 10)
    command = Twist()
    command.linear.x = 0.2
    timer = graph.client.create_timer(0.05, lambda: publisher.publish(command))
    return node, timer


def test_no_command_reaches_a_motor_before_all_reported_and_a_gait_is_asked_to_move(
    graph, box, box_model, manage, motorize, monkeypatch
):
    # The gait and the test both publish motion_requested: no second sender is to be found.
    monkeypatch.setattr('gait_ros.hardware.node._WATCH_PERIOD', 600.0)
    node = graph.add(HardwareNode, robot=box)
    start = pose(box_model)
    motors, manager = motorize(start), manage(box_model.joint_names)
    motors.silent = set(box_model.joint_names)
    told = []
    graph.client.create_subscription(JointState, '/joint_states', told.append, 10)

    def cycles(count):
        for _ in range(count):
            manager.update()
            graph.spin(0.005)

    cycles(10)
    graph.until(lambda: told)
    # What nobody has measured is told as unknown, and held as unknown.
    assert all(math.isnan(value) for one in told for value in one.position[1:])
    assert np.isnan(manager.written).all()
    motors.silent = {box_model.joint_names[3]}
    graph.until(lambda: len(manager.state) == 7)
    gait = graph.add(ControllerNode, robot=box, controller='wave', start=False, remap=GAIT)
    # The trajectory controller is activated anew and holds what is known; the robot is moved.
    manager.activate()
    held = dict(start)
    start = {name: value + 0.3 for name, value in start.items()}
    motors.at.update(start)
    asked = Asked(graph)
    cycles(10)
    assert 'waiting for 1 of 8 motors' in obstacle(node)
    assert gait._live.observation.unmeasured_joints() == [box_model.joint_names[3]]
    motors.silent = set()
    asked.data = False
    graph.until(lambda: 'motion_requested is false' in obstacle(node))
    cycles(10)
    assert manager.written[-1][0] == held[manager.joints[0]] and not motors.commands
    asked.data = True
    manager.run(lambda: motors.commands)
    first = motors.commands[0]
    told = dict(zip(first.name, first.position, strict=True))
    assert told and all(abs(value - start[name]) <= 0.02 for name, value in told.items())


def test_a_gait_that_is_asked_moves_motors_and_its_end_holds_them(
    graph, box, box_model, manage, motorize
):
    node = graph.add(HardwareNode, robot=box, start_speed=5.0, hold_after=0.2)
    motors, manager = motorize(pose(box_model)), manage(box_model.joint_names)
    gait, _ = walk(graph, box)
    manager.run(lambda: len(motors.commands) > 20)
    assert gait._live.claim.is_requested and not obstacle(node)
    gait.trigger_deactivate()
    # The manager goes on to send; what reaches the motors are holds.
    manager.run(lambda: node._holding)
    # Somebody ended the gait on purpose: no error.
    assert graph.logged('INFO', 'the motors hold', 'motion_requested is false')
    assert not graph.logged('ERROR', 'the motors hold')
    last = motors.commands[-1].position
    count = len(motors.commands)
    manager.run(lambda: len(motors.commands) > count + 2)
    assert motors.commands[-1].position == last
    gait.trigger_activate()
    manager.run(lambda: gait._live.claim.is_requested and not node._holding)
    # Killed: it says nothing more.
    gait._step_clock.stop()
    manager.run(lambda: 'motion_requested has been silent' in obstacle(node))
    manager.run(lambda: node._holding)
    assert graph.logged('ERROR', 'the motors hold', 'motion_requested')


CALM = 10
"""Turns of the graph without a command to the motors, after which none is on its way."""


def test_twenty_poses_start_softly(graph, box, box_model, manage, motorize):
    """
    The first command is where the joint is, and from there none goes faster than the soft start.

    But for what a trajectory controller adds: it follows targets that come 5 ms early or late in
    20 ms each.
    """
    speed, manager = 5.0, manage(box_model.joint_names)
    motors = motorize(pose(box_model))
    node = graph.add(HardwareNode, robot=box, start_speed=speed, hold_after=5.0)
    sent, publish = [], node._to_motors.publish

    def record(message):
        if node._last_command is not None and gait._safe.layer.mode == 'starting':
            sent.append((node._last_command[0], np.array(message.position)))
        publish(message)

    node._to_motors.publish = record
    gait, _ = walk(graph, box)
    for seed in range(20):
        gait.trigger_deactivate()
        # Otherwise the next command could be the first one of a new walk.
        graph.until(lambda: not node._watch.motion_requested)
        node.trigger_deactivate()
        at = pose(box_model, seed)
        node.trigger_activate()

        calm = 0

        def placed(at=at):
            # Again and again: the last holds may still be on their way.
            nonlocal calm
            calm += 1
            if motors.at != at:
                motors.at.update(at)
                calm = 0
            seen = gait._live.observation.make_observation(0, 0.0).joint_positions
            there = seen is not None and seen.tolist() == list(at.values())
            return manager.state == at and there and calm > CALM

        # The manager goes on to hold where the last walk ended.
        manager.run(placed)
        sent.clear()
        gait.trigger_activate()
        manager.run(lambda: gait._safe.layer.mode == 'running' and sent)
        assert np.abs(sent[0][1] - list(at.values())).max() <= 0.02
        times, rows = np.array([when for when, _ in sent]), np.array([row for _, row in sent])
        spans = np.abs(times[:, None] - times)
        ways = np.abs(rows[:, None] - rows).max(axis=2)
        assert (ways <= speed * (spans + 0.04)).all()


@pytest.mark.parametrize('cause', ['commands', 'gait', 'motor'])
def test_motors_hold_when_something_falls_silent(graph, box, box_model, motorize, cause):
    node = graph.add(HardwareNode, robot=box, start_speed=100.0, hold_after=0.2)
    motors, names = motorize(pose(box_model)), list(box_model.joint_names)
    sender = Sender(graph, names, position=[0.1] * 8, velocity=[0.4] * 8, effort=[0.5] * 8)
    asked = Asked(graph)
    graph.until(lambda: motors.commands and list(motors.commands[-1].position) == [0.1] * 8)
    lost = names[2]
    if cause == 'commands':
        sender.die()
    elif cause == 'gait':
        asked.die()
    else:
        motors.silent = {lost}
    graph.until(lambda: node._holding)
    motors.commands.clear()
    graph.until(lambda: len(motors.commands) > 3)
    # A motor that is silent may still hear: it is stopped, too, but sent to no position.
    held = [math.nan if cause == 'motor' and name == lost else 0.1 for name in names]
    for one in motors.commands[1:]:
        assert list(one.name) == names
        np.testing.assert_array_equal(one.position, held)
        assert list(one.velocity) == list(one.effort) == [0.0] * 8
    words = {'commands': 'no more messages on hardware/joint_commands', 'gait': 'node of the gait',
             'motor': f"motor '{lost}' of joint '{lost}'"}[cause]  # fmt: skip
    assert graph.logged('ERROR', 'the motors hold', words)
    if cause != 'motor':
        return
    # It comes back elsewhere, and begins there.
    motors.at[lost] = -0.2
    motors.silent = set()
    motors.commands.clear()
    graph.until(lambda: not node._holding)

    def positions():
        sent = [one.position[2] for one in motors.commands]
        return [value for value in sent if not math.isnan(value)]

    assert graph.until(positions)[0] == pytest.approx(-0.2)


@pytest.mark.parametrize('left_out', ['one', 'all', 'all but an unknown one'])
def test_joints_left_out_of_a_command_stop(graph, box, box_model, motorize, left_out):
    graph.add(HardwareNode, robot=box)
    motors, names = motorize(pose(box_model)), list(box_model.joint_names)
    Asked(graph)
    sender = Sender(graph, names, velocity=[0.1] * 8)

    def velocities():
        last = motors.commands[-1] if motors.commands else JointState()
        return dict(zip(last.name, last.velocity, strict=True))

    graph.until(lambda: velocities() == dict.fromkeys(names, 0.1))
    sender.message = {
        'one': JointState(name=names[1:], velocity=[0.1] * 7),
        'all': JointState(),
        'all but an unknown one': JointState(name=['nobody'], velocity=[0.1]),
    }[left_out]
    stopped = names[:1] if left_out == 'one' else names
    expected = {**dict.fromkeys(names, 0.1), **dict.fromkeys(stopped, 0.0)}
    graph.until(lambda: velocities().get(names[0]) == 0.0)
    assert velocities() == expected


def test_the_end_of_the_node_is_a_hold(graph, box, box_model, motorize):
    node = graph.add(HardwareNode, robot=box, start_speed=100.0)
    motors = motorize(pose(box_model))
    Sender(graph, box_model.joint_names, velocity=[0.4] * 8)
    Asked(graph)
    graph.until(lambda: motors.commands and motors.commands[-1].velocity[0] == 0.4)
    graph.remove(node)
    graph.until(lambda: motors.commands[-1].velocity[0] != 0.4)
    assert list(motors.commands[-1].velocity) == [0.0] * 8


def test_commands_are_bounded_counted_and_told(graph, box, box_model, motorize):
    node = graph.add(HardwareNode, robot=box, start_speed=100.0)
    motors, names = motorize(dict.fromkeys(box_model.joint_names, 0.0)), box_model.joint_names
    position = [1e9, INF, -INF, NAN, 1.9, 0.1, 0.1, 0.1]
    Sender(graph, names, position=position, velocity=[1e3] * 8, effort=[1e5] * 8)
    Asked(graph)
    graph.until(lambda: len(motors.commands) > 50)
    low, high = box_model.lower, box_model.upper
    rows = {name: i for i, name in enumerate(names)}
    for one in motors.commands:
        for name, q, v, tau in zip(one.name, one.position, one.velocity, one.effort, strict=True):
            i = rows[name]
            assert math.isnan(q) if name == names[3] else low[i] <= q <= high[i]
            assert abs(v) <= box_model.velocity_limit[i] and v == 0.0 or i > 2
            assert abs(tau) <= box_model.effort_limit[i]
    values = node._diagnostic_values()
    for key in ('implausible commands', 'clamped_position', 'clamped_velocity', 'clamped_effort'):
        assert values[key] > 0, key
    assert node._guard.implausible_counts[[0, 1, 2]].all()
    graph.until(lambda: graph.logged('WARN', 'commands beyond joint limits were clamped'))


def test_states_that_cannot_be_true_reach_nobody(graph, box, box_model, manage, motorize):
    node = graph.add(HardwareNode, robot=box, hold_after=0.2)
    names = box_model.joint_names
    motors, manager = motorize({**pose(box_model), names[5]: 1e9}), manage(names)
    graph.until(lambda: len(manager.state) == 7)
    assert names[5] not in manager.state
    assert f"motor '{names[5]}' of joint '{names[5]}' has not" in obstacle(node)
    motors.at[names[5]] = 30.0
    graph.until(lambda: 'joint position 30.00, far beyond' in obstacle(node))
    assert node._diagnostic_values()['implausible states'] > 0
    motors.at[names[5]] = 0.2
    graph.until(lambda: 'no motion request' in obstacle(node))


def test_a_second_sender_prevents_activation_and_is_an_error(
    graph, box, box_model, motorize, monkeypatch
):
    monkeypatch.setattr('gait_ros.hardware.node._WATCH_PERIOD', 0.1)
    monkeypatch.setattr('gait_ros.live.node._WATCH_PERIOD', 0.1)
    one = graph.client.create_publisher(JointState, f'/{JOINT_COMMANDS_TOPIC}', 1)
    two = graph.client.create_publisher(JointState, f'/{JOINT_COMMANDS_TOPIC}', 1)
    node = graph.add(HardwareNode, robot=box, start=False)
    words = 'hardware/joint_commands is published by /test_client as well as by /test_client'
    graph.until(lambda: words in node._find_conflict())
    with pytest.raises(ConfigurationError, match='would follow both in turn; end one'):
        node.start()
    graph.client.destroy_publisher(two)
    graph.until(lambda: not node._find_conflict())
    assert node.trigger_activate() and node.active
    # While it is active the motors hold, whoever comes.
    motors = motorize(pose(box_model))
    Asked(graph)
    graph.client.create_timer(
        0.01, lambda: one.publish(JointState(name=list(box_model.joint_names), position=[0.1] * 8))
    )
    graph.until(lambda: motors.commands)
    past = graph.client.create_publisher(JointState, '/motors/joint_commands', 1)
    graph.until(lambda: node._holding and 'without this node' in node._watch.conflict)
    graph.client.destroy_publisher(past)
    graph.until(lambda: not node._holding)

    gait = graph.add(ControllerNode, robot=box, controller='wave', start=False, remap=GAIT)
    topic = GAIT[0].partition(':=')[2]
    other = graph.client.create_publisher(JointTrajectory, f'/{topic}', 1)

    def refused():
        gait._live.claim.update_conflict()
        return gait._live.claim.conflict

    graph.until(refused)
    with pytest.raises(ConfigurationError, match=f'/{topic} is published by /test_client, too'):
        gait.start()
    graph.client.destroy_publisher(other)
    graph.until(lambda: not refused())


def test_a_calibration_wants_every_motor_fresh_plausible_and_still(
    graph, box, box_model, motorize, tmp_path
):
    names, out = box_model.joint_names, tmp_path / 'found.yaml'
    graph.add(HardwareNode, robot=box, calibrated=str(out), hold_after=0.3)

    def answer():
        return graph.call(Trigger, '/hardware/calibrate').message

    assert f"motor '{names[0]}' of joint '{names[0]}' has no finite reading" in answer()
    motors = motorize(dict.fromkeys(names, 0.2))
    swinging = graph.client.create_timer(
        0.02, lambda: motors.at.update({names[1]: 0.3 if motors.at[names[1]] == 0.2 else 0.2})
    )
    graph.until(lambda: f"motor '{names[1]}' of joint '{names[1]}' was not at rest" in answer())
    motors.silent = {names[4]}
    graph.client.destroy_timer(swinging)
    # It may be due once more.
    graph.spin(0.1)
    motors.at[names[1]] = 0.2
    graph.until(lambda: f"motor '{names[4]}' of joint '{names[4]}' has been silent" in answer())
    assert not out.exists()
    motors.silent = set()
    graph.until(lambda: 'is written' in answer())
    found = read_hardware(str(out), box_model)
    for name, motor in found.motors.items():
        assert motor.offset == pytest.approx(0.2 - box_model.nominal_stance[name])
    written = out.read_bytes()
    assert f'{out} exists, and is not overwritten' in answer()
    assert out.read_bytes() == written
