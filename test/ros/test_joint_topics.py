# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Topics of a bridge by what it simulates, and what becomes of their messages."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from gait_core.errors import ConfigurationError
from gait_ros.live import joint_topics
from gait_ros.live.joint_topics import JointTopics

NAMES = ('leg0_joint0', 'leg0_joint1')


class Simulation:
    """A simulation that keeps what it is told."""

    robot = SimpleNamespace(target_names=NAMES)

    def __init__(self):
        self.commands, self.trajectories = [], []

    def command(self, *targets):
        self.commands.append(targets)

    def follow(self, trajectory, delay=0.0):
        self.trajectories.append((trajectory, delay))


class Node:
    """A node with publishers on some topics."""

    def __init__(self, *topics):
        self.topics, self.lines = topics, []

    def get_logger(self):
        return SimpleNamespace(warning=self.lines.append)

    def count_publishers(self, topic):
        return self.topics.count(topic)

    def resolve_topic_name(self, topic):
        return topic

    def get_fully_qualified_name(self):
        return '/bridge'

    def get_publishers_info_by_topic(self, topic):
        return [
            SimpleNamespace(node_namespace='/', node_name=f'driver{i}', topic_type='')
            for i in range(self.topics.count(topic))
        ]


@pytest.fixture
def make(monkeypatch):
    """Return a function that makes topics of a node, their callbacks and their simulation."""

    def made(*topics, live=True, hardware=False, calibration='', robot='', interface='position'):
        callbacks, node, simulation = {}, Node(*topics), Simulation()
        monkeypatch.setattr(
            joint_topics,
            'subscribe',
            lambda node, kind, topic, callback: callbacks.update({topic: callback}),
        )
        params = SimpleNamespace(
            hardware=hardware, calibration=calibration, robot=robot, interface=interface
        )
        found = JointTopics(
            node, params, lambda: simulation if live else None, lambda: 5_000_000_000
        )
        return found, callbacks, simulation

    return made


def state(*position):
    return JointState(name=list(NAMES), position=list(position))


def test_a_robot_is_commanded_by_trajectory_or_by_numbers(make):
    topics, callbacks, simulation = make(interface='velocity')
    assert topics.commands == 'joint_trajectory or commands' and topics.states == 'joint_states'
    callbacks['commands'](Float64MultiArray(data=[0.1, 0.2]))
    ((targets,),) = simulation.commands
    assert targets.names == NAMES and targets.position is None
    np.testing.assert_array_equal(np.ravel(targets.velocity), [0.1, 0.2])
    point = JointTrajectoryPoint(positions=[0.3, 0.4])
    point.time_from_start.sec = 1
    message = JointTrajectory(joint_names=list(NAMES), points=[point])
    message.header.stamp.sec = 6
    callbacks['joint_trajectory'](message)
    ((_, delay),) = simulation.trajectories
    # Stamped a second ahead of the simulated time.
    assert delay == pytest.approx(1.0)
    message = state(0.0, 0.0)
    assert topics.refused == 0 and topics.convert_states(message) is message


def test_hardware_is_commanded_by_joint_states_and_nan_is_no_command(make):
    topics, callbacks, simulation = make(hardware=True)
    assert (topics.commands, topics.states) == ('hardware/joint_commands', 'hardware/joint_states')
    callbacks['hardware/joint_commands'](state(float('nan'), 0.2))
    ((targets,),) = simulation.commands
    assert targets.names == NAMES[1:]
    callbacks['hardware/joint_commands'](state(float('nan'), float('nan')))
    assert len(simulation.commands) == 1 and topics.refused == 0


def test_motors_are_commanded_and_told_in_their_own_numbers(make, box, tmp_path):
    file = tmp_path / 'hardware.yaml'
    file.write_text('joints:\n  leg0_joint1: {sign: -1, ratio: 2.0, offset: 0.5}\n')
    topics, callbacks, simulation = make(hardware=True, calibration=str(file), robot=box)
    assert (topics.commands, topics.states) == ('motors/joint_commands', 'motors/joint_states')
    told = topics.convert_states(state(0.3, 0.1))
    assert list(told.name) == list(NAMES) and list(told.position) == pytest.approx([0.3, 0.3])
    callbacks['motors/joint_commands'](told)
    ((targets,),) = simulation.commands
    np.testing.assert_allclose(np.ravel(targets.position), [0.3, 0.1])


@pytest.mark.parametrize('missing', [{'hardware': False}, {'robot': ''}])
def test_a_calibration_needs_a_robot_and_its_hardware(make, box, missing):
    with pytest.raises(ConfigurationError, match='needs a robot and hardware:=true'):
        make(**{'hardware': True, 'calibration': 'hardware.yaml', 'robot': box, **missing})


def test_a_message_that_is_refused_is_counted_and_said_and_the_next_one_counts(make):
    topics, callbacks, simulation = make()
    for _ in range(3):
        callbacks['commands'](Float64MultiArray(data=[0.1]))
    assert topics.refused == 3 and not simulation.commands
    (line,) = topics._node.lines
    assert line.startswith('message on commands refused, the last valid one stays: commands has 1')
    callbacks['commands'](Float64MultiArray(data=[0.1, 0.2]))
    assert topics.refused == 3 and len(simulation.commands) == 1


def test_without_a_simulation_nothing_is_refused(make):
    topics, callbacks, _ = make(live=False)
    callbacks['commands'](Float64MultiArray(data=[0.1]))
    assert topics.refused == 0


def test_the_end_of_a_stream_is_said_after_three_seconds_and_that_of_a_few_is_not(
    make, monkeypatch
):
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(joint_topics, 'time', SimpleNamespace(monotonic=lambda: clock.now))
    topics, callbacks, _ = make()
    for count in range(1, 101):
        callbacks['commands'](Float64MultiArray(data=[0.1, 0.2]))
        clock.now += 10.0
        assert bool(topics.describe_ended_commands()) == (count == 100)
    assert topics.describe_ended_commands().startswith(
        'no more joint commands on joint_trajectory or commands for 10 s'
    )
    callbacks['commands'](Float64MultiArray(data=[0.1, 0.2]))
    clock.now += 2.9
    assert topics.describe_ended_commands() == ''
    clock.now += 0.1
    assert topics.describe_ended_commands()


def test_a_second_publisher_of_commands_or_of_states_is_named(make):
    assert make('commands', 'joint_trajectory', 'joint_states')[0].find_conflict() == (
        'joint_states is published by /driver0 as well as by /bridge: its subscribers receive '
        'both; end one of them'
    )
    assert make('commands', 'joint_trajectory')[0].find_conflict() == ''
    assert make('commands', 'commands')[0].find_conflict() == (
        'commands is published by /driver0 as well as by /driver1: the robot follows both in '
        'turn; end one of them'
    )


def test_hardware_that_is_not_commanded_yet_is_said_once_somebody_may(make):
    line = 'no command on hardware/joint_commands before motion is requested'
    topic = 'hardware/joint_commands'
    assert make(topic, hardware=True)[0].describe_withheld_commands() == line
    assert make(hardware=True)[0].describe_withheld_commands() == ''
    assert make('commands', 'joint_trajectory')[0].describe_withheld_commands() == ''
