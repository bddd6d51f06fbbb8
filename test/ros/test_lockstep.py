# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A trial over topics equals the trial in one process, and a bad controller only ends it."""

import os

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gait_core.messages.reader import read_observation
from gait_core.motion.targets import JointTargets
from gait_core.testing.doubles import WaveController, WaveParams
from gait_core.testing.skips import need_robot
from gait_core.testing.workspace import workspace
from gait_core.trial.loop import run_trial
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.scene import Scene
from gait_core.trial.setup import make_scene
from gait_core.trial.spec import Command, TimedCommand, TrialSpec
from gait_interfaces.msg import LockstepObservation, LockstepTargets
from gait_interfaces.srv import RunTrial
from gait_ros.messages.conversions import from_result, to_spec, to_targets
from gait_ros.nodes.qos import LOCKSTEP_QOS
from gait_ros.trials.session import TrialSession
from sim_bridge.node import SimBridgeNode

WALK = (TimedCommand(time=0.1, command=Command(velocity=(0.3, 0.0, 0.1))),)


def trial(box, **changes):
    fields = {'parameters': {'amplitude': 0.3}, 'script': WALK, 'duration': 0.5, **changes}
    fields.setdefault('scene', Scene(robot=box, engine='kinematic'))
    return TrialSpec(controller='wave', **fields)


def test_two_processes_with_random_delays_give_the_hash_of_one(box):
    spec = trial(box)
    with TrialSession(spec, delay=0.02) as session:
        trials = [session.run(spec) for _ in range(2)]
    here = run_trial(spec)
    for over_ros in trials:
        assert over_ros.result.trial_hash == here.trial_hash
        assert over_ros.result.spec_hash == here.spec_hash
        assert dict(over_ros.result.metrics) == dict(here.metrics)
        assert here.status == over_ros.result.status == 'ok'
    pids = trials[0].pids
    assert len({os.getpid(), *pids.values()}) == 3
    for pid in pids.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


COMPILING = """
import time

from gait_core.testing.folders import SceneKinematicEngine


class CompilingEngine(SceneKinematicEngine):
    def reset(self, *given, **named):
        time.sleep(6.0)
        return super().reset(*given, **named)
"""


def test_a_bridge_that_compiles_for_longer_than_a_heartbeat_is_waited_for(box, tmp_path):
    """Numba compiles in one piece, and without a heartbeat: that is no lost worker."""
    with workspace(tmp_path, engines='compiling = compiling_engine:CompilingEngine'):
        (tmp_path / 'packages' / 'compiling_engine.py').write_text(COMPILING)
        spec = trial(box, scene=Scene(robot=box, engine='compiling'), duration=0.1)
        with TrialSession(spec) as session:
            assert session.run(spec).result.status == 'ok'


@pytest.mark.parametrize(
    ('robot', 'wanted', 'settings', 'duration'),
    [
        ('guroo', '', {}, 0.6),
        # Begins to shift its weight after 0.5 s; at the end a foot is in the air.
        ('guroo', 'zmp_walk', {'step_time': 0.25, 'heading_gain': 0.5, 'capture_gain': 0.5}, 1.2),
        ('a1', '', {}, 0.6),
        ('tetraspine', 'matsuoka', {'blanking': 0.1}, 0.6),
        ('tetraspine', 'matsuoka', {'feedback': 'stretch', 'feedback_gain': 1.0}, 0.6),
    ],
)
def test_robots_on_physics_give_the_hash_of_one_process(robot, wanted, settings, duration):
    gait = resolve_gait(need_robot(robot), wanted, parameters=settings)
    spec = TrialSpec(
        scene=make_scene(robot, {}),
        controller=gait.controller,
        parameters=gait.parameters,
        script=WALK,
        duration=duration,
        seed=5,
    )
    with TrialSession(spec, delay=0.02) as session:
        over_ros = session.run(spec).result
    assert over_ros.trial_hash == run_trial(spec).trial_hash


class Puppet:
    """The controller's end of the channel, which answers by a function of the test."""

    def __init__(self, graph, robot, answer):
        self.seen = []
        self._robot, self._answer = robot, answer
        self._controller = WaveController(robot, WaveParams(amplitude=0.3))
        self._publisher = graph.client.create_publisher(
            LockstepTargets, '/sim_bridge/lockstep/targets', LOCKSTEP_QOS
        )
        graph.client.create_subscription(
            LockstepObservation,
            '/sim_bridge/lockstep/observation',
            self._on_question,
            LOCKSTEP_QOS,
        )

    def _on_question(self, question):
        if self.seen and (question.trial_id, question.tick) == self.seen[-1]:
            return
        self.seen.append((question.trial_id, question.tick))
        if question.tick == 0:
            self._controller.reset(question.seed)
        observation = read_observation(question.observation)
        right = self._controller.step(question.dt, Command(), observation)
        for answer in self._answer(question, right):
            self._publisher.publish(answer)


def told(question, targets, **changes):
    message = LockstepTargets(
        trial_id=question.trial_id, tick=question.tick, targets=to_targets(targets)
    )
    for name, value in changes.items():
        place = message.targets if hasattr(message.targets, name) else message
        setattr(place, name, value)
    return message


def run_puppet(graph, box, box_model, answer, **changes):
    graph.add(SimBridgeNode, mode='lockstep', publish_clock=False)
    puppet = Puppet(graph, box_model, answer)
    response = graph.call(
        RunTrial,
        '/sim_bridge/run_trial',
        trial_id='t',
        spec=to_spec(trial(box, **changes)),
        external_controller=True,
        answer_timeout=0.5,
    )
    assert response.success, response.message
    return from_result(response.result), puppet


def permuted(question, right):
    order = np.random.default_rng(question.tick).permutation(len(right.names))
    names = tuple(right.names[i] for i in order)
    return [told(question, JointTargets(names=names, position=right.position[:, order]))]


def with_unknown(question, right):
    position = np.concatenate((right.position, [[9.0]]), axis=1)
    return [told(question, JointTargets(names=(*right.names, 'tail'), position=position))]


def with_late_answers(question, right):
    wrong = JointTargets(names=right.names, position=right.position + 1.0)
    return [
        told(question, wrong, trial_id='an earlier one'),
        told(question, wrong, tick=question.tick - 1),
        told(question, right),
        told(question, wrong),
    ]


@pytest.mark.parametrize('answer', [permuted, with_unknown, with_late_answers])
def test_order_unknown_joints_and_late_answers_change_nothing(graph, box, box_model, answer):
    result, _ = run_puppet(graph, box, box_model, answer)
    assert result.trial_hash == run_trial(trial(box)).trial_hash
    warnings = graph.logged('WARN', 'unknown joints', 'tail')
    assert len(warnings) == (1 if answer is with_unknown else 0)


def test_joints_that_are_not_named_hold(graph, box, box_model, tmp_path):
    def two_of_eight(question, right):
        return [
            told(question, JointTargets(names=right.names[:2], position=right.position[:, :2]))
        ]

    folder = str(tmp_path)
    graph.add(SimBridgeNode, mode='lockstep', publish_clock=False, record_folder=folder)
    Puppet(graph, box_model, two_of_eight)
    response = graph.call(
        RunTrial,
        '/sim_bridge/run_trial',
        trial_id='t',
        spec=to_spec(trial(box)),
        external_controller=True,
        record='record',
    )
    assert response.success, response.message
    from gait_core.trial.record import read_record

    rollout, _ = read_record(tmp_path / 'record')
    others = rollout.joint_positions[:, 2:]
    np.testing.assert_array_equal(others, np.broadcast_to(box_model.stance[2:], others.shape))
    assert np.ptp(rollout.joint_positions[:, 0]) > 0.05


def at_tick_3(**changes):
    def answer(question, right):
        return [told(question, right, **(changes if question.tick == 3 else {}))]

    return answer


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'position': [float('nan')] * 8}, 'not finite'),
        ({'position': [float('inf')] * 8}, 'not finite'),
        ({'position': [0.0] * 7}, '7 values, expected 1 x 8'),
        ({'names': ['leg0_joint0'] * 8}, "'leg0_joint0' is commanded twice"),
        ({'error': 'my knee hurts'}, 'my knee hurts'),
    ],
)
def test_bad_targets_end_the_trial_and_leave_the_bridge_up(graph, box, box_model, changes, words):
    result, _ = run_puppet(graph, box, box_model, at_tick_3(**changes))
    assert result.status == 'invalid:bad_command' and result.ticks == 3
    assert words in result.reason and result.fitness is None
    again = graph.call(RunTrial, '/sim_bridge/run_trial', trial_id='u', spec=to_spec(trial(box)))
    assert again.result.trial_hash == run_trial(trial(box)).trial_hash


def test_a_silent_controller_ends_the_trial_as_no_command(graph, box, box_model):
    result, puppet = run_puppet(
        graph, box, box_model, lambda question, right: [told(question, right)][question.tick > 4 :]
    )
    assert result.status == 'invalid:no_command' and result.ticks == 5
    assert 'tick 5' in result.reason and '0.5 s' in result.reason
    assert [tick for _, tick in puppet.seen] == list(range(6))
