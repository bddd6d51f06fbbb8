# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Safety layer of a node: what it calls, counts, says and logs."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from std_srvs.srv import Trigger

from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.testing.doubles import legged_box
from gait_ros.live.safe_output import MOTION_STARTED, SafeOutput

ROBOT = legged_box()
DT = 0.02
REASON = 'stopped: emergency stop; call ~/resume to restart'


class Gait:
    """A controller that counts its resets, stops and steps, and may fail."""

    def __init__(self):
        self.begun = self.stopped = self.steps = 0
        self.error = None

    def begin(self):
        self.begun += 1

    def stop(self):
        self.stopped += 1

    def step(self):
        self.steps += 1
        if self.error is not None:
            raise self.error
        return JointTargets(names=ROBOT.target_names, position=np.zeros(8))


@pytest.fixture
def gait():
    return Gait()


@pytest.fixture
def output(graph, gait):
    return SafeOutput(graph.client, ROBOT, gait.begin, gait.stop)


def period(output, gait, age=0.0, moving=True):
    observation = Observation(
        tick=0, time=0.0, joint_names=ROBOT.joint_names, joint_positions=np.zeros(8)
    )
    return output.next_targets(DT, observation, age, gait.step, moving)


def test_a_controller_is_reset_once_and_stepped_while_it_is_asked_to_move(graph, output, gait):
    assert period(output, gait, age=float('inf')) is None
    assert (gait.begun, gait.steps) == (0, 0)
    assert output.trouble == 'waiting for joint_states' and not output.is_urgent
    for steps in (1, 2, 3):
        assert (period(output, gait).position == 0.0).all()
        assert (gait.begun, gait.steps) == (1, steps)
    assert output.trouble == '' and output.stop_reason == '' and not output.is_urgent
    assert len(graph.logged('INFO', MOTION_STARTED)) == 1
    period(output, gait, moving=False)
    assert gait.steps == 3 and output.trouble == '' and not output.is_urgent
    assert not graph.logged('standing')


@pytest.mark.parametrize('error', [ValueError('no foothold'), SystemExit(3)])
def test_a_controller_that_fails_is_counted_and_the_robot_holds(graph, output, gait, error):
    period(output, gait)
    gait.error = error
    for count in (1, 2):
        out = period(output, gait)
        assert (out.position == 0.0).all() and output.counts()['refused'] == count
    line = 'the robot holds, because the controller gave no valid targets: '
    assert output.fault.startswith(line) and type(error).__name__ in output.fault
    assert output.trouble == output.fault and output.is_urgent
    assert len(graph.logged('ERROR', line)) == 1
    gait.error = None
    period(output, gait)
    assert output.fault == output.trouble == '' and not output.is_urgent


def test_a_stop_is_done_at_once_told_and_ended_by_resume(graph, output, gait):
    period(output, gait)
    assert output.last_stop_reason == ''
    answer = graph.call(Trigger, '/test_client/resume')
    assert (answer.success, answer.message) == (
        False, 'nothing to resume: the robot is running',
    )  # fmt: skip
    answer = graph.call(Trigger, '/test_client/emergency_stop')
    assert (answer.success, answer.message) == (True, REASON)
    assert gait.stopped == 1 and output.is_urgent
    assert output.trouble == output.stop_reason == output.last_stop_reason == REASON
    period(output, gait)
    assert gait.steps == 1 and output.counts()['stops'] == 1
    assert output.counts()['safety'] == 'stopped'
    assert len(graph.logged('WARN', REASON)) == 1
    answer = graph.call(Trigger, '/test_client/resume')
    assert (answer.success, answer.message) == (True, '')
    # The reason is kept, though the stop is over.
    assert output.stop_reason == '' and output.last_stop_reason == REASON
    period(output, gait)
    assert gait.begun == 2


def test_a_hold_is_a_warning_and_its_end_is_told(graph, output, gait):
    period(output, gait)
    period(output, gait, age=0.7)
    assert output.is_urgent and output.trouble == 'holding: the joint states are 0.70 s old'
    assert output.last_stop_reason == output.trouble
    assert output.counts()['holds'] == 1 and graph.logged('WARN', 'are 0.70 s old')
    period(output, gait)
    assert not output.is_urgent and gait.begun == 1


def test_waiting_stops_are_answered_ahead_of_other_events(graph, output, gait):
    futures = [graph.start_call(Trigger, '/test_client/emergency_stop') for _ in range(3)]

    def stopped():
        output.handle_stops()
        return gait.stopped == 3

    graph.until(stopped)
    graph.until(lambda: all(future.done() for future in futures))
    assert all(future.result().success for future in futures)
    assert output.counts()['stops'] == 3


def test_without_the_layer_only_a_stop_is_told(graph, gait):
    from rclpy.node import Node

    class Off(Node):
        def start(self):
            """Do nothing."""

    node = graph.add(lambda **given: Off('off', **given), safety__enabled=False)
    output = SafeOutput(node, ROBOT, gait.begin, gait.stop)
    period(output, gait)
    assert output.counts()['safety'] == 'off'
    assert graph.call(Trigger, '/off/emergency_stop').success
    assert output.counts()['safety'] == 'stopped'
    assert {key for key in output.counts() if key.startswith('clamped_')} == {
        'clamped_position', 'clamped_speed', 'clamped_velocity', 'clamped_effort',
    }  # fmt: skip
