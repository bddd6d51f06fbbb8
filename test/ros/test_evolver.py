# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ros evaluator and the evolver node: equal results, lost workers, cancelling."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
import math
import os
from pathlib import Path
import signal
import time

import pytest
import yaml

pytest.importorskip('rclpy')

from rclpy.action import ActionClient
from std_srvs.srv import Trigger

from gait_core.errors import ConfigurationError
from gait_core.trial.champion import read_champion
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import InitialState, Scene
from gait_core.trial.spec import TrialSpec
from gait_evolver.evaluators import ros
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.evaluators.ros import RosEvaluator
from gait_evolver.node import EvolverNode
from gait_evolver.run.store import RunStore
from gait_interfaces.action import Evolve
from gait_interfaces.msg import BestGait, EvolverStatus
from gait_ros.nodes.parameters import to_parameter_values
from gait_ros.nodes.qos import LATCHED_QOS, STREAM_QOS


def trials(box, count, duration=0.5):
    scene = Scene(robot=box, engine='kinematic')
    return [
        TrialSpec(
            scene=scene,
            controller='wave',
            parameters={'amplitude': 0.1 + 0.02 * i},
            seed=i,
            duration=duration,
            fitness_terms={'distance': 1.0},
        )
        for i in range(count)
    ]


@pytest.fixture(autouse=True)
def _no_wait_for_other_evolvers(monkeypatch):
    monkeypatch.setattr('gait_evolver.node._DISCOVERY_TIME', 0.0)


@pytest.fixture(scope='module')
def two():
    evaluator = RosEvaluator(workers=2)
    yield evaluator
    evaluator.close()


@pytest.fixture
def experiment(box, tmp_path):
    """Return the path of a small experiment; 0.4 s of trial, 0.1 s of wall time."""
    file = tmp_path / 'small.yaml'
    content = {
        'robot': box,
        'controller': 'wave',
        'scene': {'engine': 'kinematic'},
        'genes': {'amplitude': {'lower': 0.05, 'upper': 0.5}, 'frequency': None},
        'duration': 0.4,
        'fitness': {'distance': 1.0},
        'population': 5,
        'generations': 3,
    }
    file.write_text(yaml.safe_dump(content))
    return str(file)


def both_ready(evaluator, box):
    """Evaluate until both workers are there, e.g. after a restart; return their names."""
    end = time.monotonic() + 120.0
    while len(names := evaluator.worker_names) < 2:
        assert time.monotonic() < end
        evaluator.evaluate(trials(box, 1))
    return names


def test_results_over_services_equal_those_of_this_process(two, box):
    specs = trials(box, 5)
    seen = []
    results = two.evaluate(specs, lambda index, result: seen.append(index))
    expected = [run_trial(spec) for spec in specs]
    assert [(r.trial_hash, r.fitness) for r in results] == [
        (r.trial_hash, r.fitness) for r in expected
    ]
    assert [r.metrics for r in results] == [dict(r.metrics) for r in expected]
    assert sorted(seen) == list(range(5))
    both_ready(two, box)
    assert len(set(two.pids)) == 2
    assert os.getpid() not in two.pids


def test_a_killed_worker_is_replaced_and_its_trial_run_again(two, box):
    specs = trials(box, 6, 4.0)
    killed = []

    def kill_one(index, result):
        if not killed:
            killed.append(two.pids[0])
            os.kill(killed[0], signal.SIGKILL)

    results = two.evaluate(specs, kill_one)
    assert [r.trial_hash for r in results] == [run_trial(s).trial_hash for s in specs]
    assert all(r.status == 'ok' for r in results)
    while killed[0] in two.pids:
        assert two.evaluate(trials(box, 1))[0].status == 'ok'
    assert len(two.pids) == 2


def test_a_worker_of_our_own_that_is_stopped_is_replaced(two, box, monkeypatch):
    # Else the other one would run its trial before it counts as lost.
    monkeypatch.setattr(ros, 'find_overdue_worker', lambda *_: '')
    both_ready(two, box)
    # A worker that had just finished when it was stopped is given the next trial, fast or not.
    monkeypatch.setattr(ros, 'is_worth_starting', lambda *_: True)
    specs = trials(box, 4, 20.0)
    before, stopped = two.lost_workers, []

    def stop_one(index, result):
        busy = [name for name, one in two._workers.items() if one.trial is not None]
        if busy and not stopped:
            stopped.append(two._workers[busy[0]].client.status.pid)
            os.kill(stopped[0], signal.SIGSTOP)

    losses = []
    results = two.evaluate(specs, stop_one, lambda index, reason: losses.append(reason))
    assert [r.trial_hash for r in results] == [run_trial(s).trial_hash for s in specs]
    # On a busy machine another may be lost, too; none silently.
    assert two.lost_workers == before + len(losses)
    # One that was stopped before the first period of its trial has no period since longer.
    ends = ('no heartbeat for 10 s', 'ran no control period for 10 s')
    assert any(reason.endswith(ends) for reason in losses), losses
    assert stopped[0] not in two.pids
    both_ready(two, box)
    again = two.evaluate(trials(box, 3))
    assert [r.trial_hash for r in again] == [run_trial(s).trial_hash for s in trials(box, 3)]


def test_an_exception_and_what_cannot_be_run_are_the_status_of_their_trial(two, box, monkeypatch):
    """As they are in a process of this machine."""
    monkeypatch.setattr(ros, 'find_overdue_worker', lambda *_: '')
    specs = trials(box, 3)
    specs[0] = replace(specs[0], parameters={'amplitude': 99.0})
    initial = InitialState(joint_positions={'nowhere': 0.0})
    specs[1] = replace(specs[1], scene=replace(specs[1].scene, initial=initial))
    local = LocalEvaluator(workers=1)
    try:
        expected = local.evaluate(specs)
    finally:
        local.close()
    results = two.evaluate(specs)
    assert [one.status for one in results] == ['invalid:exception', 'invalid:exception', 'ok']
    assert [one.reason for one in results] == [one.reason for one in expected]
    assert [one.trial_hash for one in results] == [one.trial_hash for one in expected]


def test_a_mistake_comes_back_as_one_line(two, box):
    spec = trials(box, 1)[0]
    with pytest.raises(ConfigurationError, match="unknown controller 'wav'"):
        two.evaluate([replace(spec, controller='wav')])
    assert two.evaluate([spec])[0].status == 'ok'


def test_workers_of_the_domain_are_found(two, box):
    names = both_ready(two, box)
    found = RosEvaluator()
    try:
        both_ready(found, box)
        results = found.evaluate(trials(box, 4))
        # One may still be busy with the second run of a trial that was late.
        assert both_ready(found, box) == names
        assert found.pids == ()
    finally:
        found.close()
    assert [r.trial_hash for r in results] == [run_trial(s).trial_hash for s in trials(box, 4)]


class Evolver:
    """The node and a client of its action."""

    def __init__(self, graph, **parameters):
        self.graph = graph
        self.node = graph.add(EvolverNode, **parameters)
        self.client = ActionClient(graph.client, Evolve, '/evolver/evolve')
        self.feedback = []
        graph.until(self.client.server_is_ready)

    def send(self, **fields):
        goal = Evolve.Goal(**fields)
        sent = self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback.status)
        )
        self.graph.until(sent.done)
        return sent.result()

    def result(self, handle, timeout=60.0):
        ended = handle.get_result_async()
        self.graph.until(ended.done, timeout)
        return ended.result().result


@pytest.fixture
def evolver(graph):
    made = Evolver(graph, evaluator='local')
    yield made
    made.client.destroy()


def local_log(experiment, folder):
    from gait_evolver.loop import Evolution
    from gait_evolver.plan import load_plan

    store, evaluator = RunStore.create(folder, load_plan(experiment)), None
    try:
        evaluator = LocalEvaluator(workers=1)
        Evolution(store, evaluator).run()
    finally:
        evaluator.close()
        store.close()
    return (folder / 'evaluations.csv').read_bytes()


def test_an_address_is_for_ray_alone(evolver, experiment):
    handle = evolver.send(experiment=experiment, evaluator='local', address='127.0.0.1:1')
    result = evolver.result(handle)
    assert result.status == 'failed'
    assert "goal.address is for evaluator 'ray', not for 'local'" in result.message


def test_an_address_of_nothing_fails_in_a_line(evolver, experiment):
    pytest.importorskip('ray')
    handle = evolver.send(experiment=experiment, evaluator='ray', address='127.0.0.1:1')
    result = evolver.result(handle)
    assert (result.status, result.run_directory) == ('failed', '')
    assert result.message == 'no Ray cluster answers at 127.0.0.1:1: Connection refused'


def test_an_evolution_by_action_on_workers_writes_the_log_of_a_local_one(
    evolver, experiment, tmp_path
):
    handle = evolver.send(
        experiment=experiment, evaluator='ros', workers=2, run_directory=str(tmp_path / 'run')
    )
    assert handle.accepted
    result = evolver.result(handle)
    assert (result.status, result.message) == ('completed', '')
    assert (result.generations, result.evaluations) == (3, 5 + 2 * 3)
    log = (tmp_path / 'run' / 'evaluations.csv').read_bytes()
    assert log == local_log(experiment, tmp_path / 'local')
    champion = read_champion(Path(result.best[0].champion))
    assert champion.fitness == result.best[0].result.fitness[0]
    assert champion.fitness >= result.first_generation_best[0]
    assert evolver.feedback[-1].generations == 3
    assert 0.0 < evolver.feedback[-1].efficiency <= 1.0
    assert (list(evolver.feedback[-1].time_left), evolver.feedback[-1].lost_trials) == ([0.0], 0)
    # A late subscriber gets the best gait.
    found = []
    evolver.graph.client.create_subscription(BestGait, '/evolver/best', found.append, LATCHED_QOS)
    evolver.graph.until(lambda: found)
    assert found[0].result.trial_hash == champion.trial_hashes[0]
    answer = evolver.graph.call(Trigger, '/evolver/checkpoint')
    assert answer.success and '3 finished generations' in answer.message


def run_at_start(graph, **parameters):
    """Run the experiment of an evolver's parameters; return the exit code of its node."""
    node = graph.add(EvolverNode, evaluator='local', **parameters)
    graph.until(lambda: node.exit_code is not None, 60.0)
    return node.exit_code


def test_a_run_at_the_start_is_reported_and_ends_the_node(graph, experiment, tmp_path):
    folder = tmp_path / 'run'
    assert run_at_start(graph, experiment=experiment, run_directory=str(folder)) == 0
    fitness = f'{read_champion(folder / "champion.yaml").fitness:.4g}'
    assert graph.logged('[INFO]', f'run directory: {folder}')
    assert graph.logged('[INFO]', 'generation 3 of 3: best fitness ', f'{fitness}, 11 evaluations')
    assert graph.logged('[INFO]', f'evolution completed; best fitness {fitness}; champion: ')


def test_a_run_at_the_start_that_fails_ends_the_node_with_1(graph, experiment, tmp_path):
    (tmp_path / 'file').touch()
    where = str(tmp_path / 'file' / 'run')
    assert run_at_start(graph, experiment=experiment, run_directory=where) == 1
    assert graph.logged('[ERROR]', 'evolution failed: ', where)


def test_two_evolvers_of_one_name_say_how_to_part_them(graph):
    # Started at once, so that neither hears the other before.
    nodes = [graph.add(EvolverNode, start=False) for _ in range(2)]
    graph.until(lambda: graph.logged('[ERROR]', 'both use the same workers', 'namespace:=NAME'))
    assert {node.get_fully_qualified_name() for node in nodes} == {'/evolver'}


def test_a_second_evolver_is_refused_while_the_first_is_at_work(graph, monkeypatch):
    monkeypatch.setattr('gait_evolver.node._DISCOVERY_TIME', 20.0)
    # A killed one is silent, and in the way of nobody.
    killed = graph.add(EvolverNode, start=False)
    graph.executor.remove_node(killed)
    first = graph.add(EvolverNode)
    second = EvolverNode(context=graph.context)
    with ThreadPoolExecutor() as pool:
        started = pool.submit(second.start)
        graph.until(started.done)
    second.destroy_node()
    with pytest.raises(ConfigurationError, match='another /evolver is at work.*namespace:=second'):
        started.result()
    assert first.exit_code is None


def test_names_of_workers_are_within_the_namespace_of_the_evolver(graph):
    node = graph.add(EvolverNode, workers=['worker0/sim_bridge', '/w/b'], remap=['__ns:=/b'])
    assert node._worker_names == ('/b/worker0/sim_bridge', '/w/b')


def test_cancelling_takes_one_trial_and_leaves_a_resumable_run(evolver, experiment, tmp_path):
    folder = str(tmp_path / 'run')
    handle = evolver.send(experiment=experiment, generations=1000, workers=1, run_directory=folder)
    evolver.graph.until(lambda: evolver.feedback and evolver.feedback[-1].generation >= 2, 60.0)
    second = evolver.send(experiment=experiment)
    assert not second.accepted
    began = time.monotonic()
    cancelled = handle.cancel_goal_async()
    result = evolver.result(handle)
    assert time.monotonic() - began < 5.0
    assert cancelled.done() and cancelled.result().goals_canceling
    assert result.status == 'cancelled'
    store, rows = RunStore.open_run(tmp_path / 'run')
    store.close()
    assert len(rows) == result.generations >= 2
    resumed = evolver.send(resume=True, run_directory=folder, generations=result.generations + 1)
    result = evolver.result(resumed)
    assert result.status == 'completed'
    assert result.generations == len(rows) + 1


@pytest.mark.parametrize('evaluator', ['local', 'ros', 'ray'])
def test_cancelling_ends_a_trial_that_takes_long(evolver, experiment, tmp_path, evaluator):
    if evaluator == 'ray':
        pytest.importorskip('ray', reason="extra 'ray' is not installed: make setup EXTRAS=ray")
    folder = str(tmp_path / 'run')
    hour = to_parameter_values({'duration': 3600.0})
    handle = evolver.send(
        experiment=experiment, evaluator=evaluator, workers=1, run_directory=folder, settings=hour
    )
    evolver.graph.until(lambda: evolver.feedback and evolver.feedback[-1].run_directory, 60.0)
    if evaluator != 'local':
        evolver.graph.until(lambda: evolver.feedback[-1].workers, 120.0)
    evolver.graph.spin(2.0)
    began = time.monotonic()
    handle.cancel_goal_async()
    assert evolver.result(handle).status == 'cancelled'
    # Below 5 s on an idle machine, of a trial of an hour; the end of processes waits for a core.
    assert time.monotonic() - began < 15.0
    store, rows = RunStore.open_run(tmp_path / 'run')
    store.close()
    assert not rows


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'experiment': 'guro_quick'}, "did you mean 'guroo_quick'"),
        ({'experiment': 'guroo_quick', 'engine': 'bulet'}, "did you mean 'bullet'"),
        ({'experiment': 'guroo_quick', 'evaluator': 'rso'}, "did you mean 'ros'"),
        ({'resume': True, 'run_directory': 'nowhere'}, 'not a run directory'),
        ({'resume': True}, 'goal.run_directory is empty'),
        ({'experiment': ''}, 'experiment'),
        ({'experiment': 300 * 'a'}, 50 * 'a' + '...' + 20 * 'a'),
        ({'experiment': 'guroo_quick', 'generations': -1}, 'goal.generations is -1'),
        ({'experiment': 'guroo_quick', 'seed': -2}, 'goal.seed is -2; nearest valid: -1'),
        ({'experiment': 'guroo_quick', 'workers': 2**62}, 'nearest valid: 1000'),
        (
            {
                'experiment': 'guroo_quick',
                'settings': to_parameter_values({'scene.friction': math.nan}),
            },
            'friction',
        ),
        ({'experiment': 'guroo_quick', 'run_directory': '/dev/null/run'}, '/dev/null'),
    ],
)
def test_a_bad_goal_fails_with_one_line_and_the_node_stays(evolver, fields, message):
    result = evolver.result(evolver.send(**fields))
    assert result.status == 'failed'
    assert message in result.message and 201 * 'a' not in result.message
    assert '\n' not in result.message
    assert evolver.graph.logged('ERROR', result.message[:50])
    states = []
    evolver.graph.client.create_subscription(
        EvolverStatus, '/evolver/status', states.append, STREAM_QOS
    )
    evolver.graph.until(lambda: states)
    assert not evolver.graph.call(Trigger, '/evolver/checkpoint').success
