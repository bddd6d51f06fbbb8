# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ros evaluator with workers that are slow, die, hang, answer late or join in mid-run."""

from dataclasses import replace
import threading
import time

import pytest

pytest.importorskip('rclpy')

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from gait_core.errors import ConfigurationError, DeadlyTrial
from gait_core.trial.loop import run_trial
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec
from gait_evolver.evaluators import ros
from gait_evolver.evaluators.ros import RosEvaluator
from gait_interfaces.msg import WorkerStatus
from gait_interfaces.srv import CancelTrial, RunTrial
from gait_ros.messages.conversions import from_spec, to_result
from gait_ros.nodes.qos import PUBLISHER_QOS

BEAT = 0.05


class FakeWorker(Node):
    """
    Answers trials after some seconds; at its n-th trial a fault begins.

    ``die``: no heartbeat and no answer any more; ``hang``: heartbeats at one tick; ``late``: it is
    silent until told to go on, then answers and lives.
    """

    def __init__(self, context, name, seconds, fault='', at=2):
        super().__init__('sim_bridge', namespace=name, context=context, enable_rosout=False)
        self.trials, self.fault, self.at, self.seconds = 0, fault, at, seconds
        self.go_on = threading.Event()
        self.change = lambda result: result
        self._id, self._tick, self._silent, self._stuck = '', 0, False, False
        self._compiling = False
        self.deadly, self.short = None, 0
        group = ReentrantCallbackGroup()
        self.create_service(RunTrial, '~/run_trial', self._run, callback_group=group)
        self.create_service(
            CancelTrial, '~/cancel_trial', lambda request, response: response, callback_group=group
        )
        self._beat = self.create_publisher(WorkerStatus, '~/worker_status', PUBLISHER_QOS)
        self.create_timer(BEAT, self._on_beat, callback_group=group)
        self._group = group

    def _on_beat(self):
        if self._silent:
            return
        if self._id and not self._stuck:
            self._tick += 1
        state = WorkerStatus.TRIAL if self._id else WorkerStatus.LIVE
        self._beat.publish(
            WorkerStatus(
                mode='lockstep',
                state=state,
                trial_id=self._id,
                tick=self._tick,
                periods=self._tick,
                compiling=self._compiling,
            )
        )

    async def _run(self, request, response):
        if self._id:
            response.message = f"trial '{self._id}' is running"
            return response
        self.trials += 1
        self._id, self._tick = request.trial_id, 0
        if self.short:
            self.short -= 1
            self._id = ''
            response.message, response.shortage = 'MemoryError', True
            return response
        faulty = self.fault and self.trials == self.at
        if self.deadly == request.spec.seed:
            faulty, self.fault = True, 'hang'
        self._silent = faulty and self.fault in ('die', 'late')
        self._stuck = faulty and self.fault == 'hang'
        await self._until(self.go_on.is_set if faulty else self._after(self.seconds))
        self._id, self._silent = '', False
        response.success = True
        response.trial_id = request.trial_id
        response.result = to_result(self.change(run_trial(from_spec(request.spec))))
        return response

    @staticmethod
    def _after(seconds):
        end = time.monotonic() + seconds
        return lambda: time.monotonic() >= end

    async def _until(self, condition):
        done = Future(executor=self.executor)
        timer = self.create_timer(
            0.005,
            lambda: None if done.done() or not condition() else done.set_result(None),
            callback_group=self._group,
        )
        await done
        self.destroy_timer(timer)


class Farm:
    """Fake workers, spun in a thread of their own."""

    def __init__(self):
        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self.workers = []
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def add(self, name, seconds, fault='', at=2):
        worker = FakeWorker(self._context, name, seconds, fault, at)
        self.workers.append(worker)
        self._executor.add_node(worker)
        return worker

    def close(self):
        self._executor.shutdown()
        self._thread.join(5.0)
        for worker in self.workers:
            worker.destroy_node()
        rclpy.try_shutdown(context=self._context)


@pytest.fixture
def farm():
    made = Farm()
    yield made
    made.close()


@pytest.fixture
def evaluator(request):
    made = RosEvaluator(**getattr(request, 'param', {}))
    yield made
    made.close()


def trials(box, count):
    scene = Scene(robot=box, engine='kinematic')
    return [
        TrialSpec(
            scene=scene,
            controller='wave',
            parameters={'amplitude': 0.1 + 0.01 * i},
            seed=i,
            duration=0.1,
        )
        for i in range(count)
    ]


def check(specs, results):
    assert [one.trial_hash for one in results] == [run_trial(one).trial_hash for one in specs]


def all_there(evaluator, box, count):
    end = time.monotonic() + 10.0
    while len(evaluator.worker_names) < count:
        assert time.monotonic() < end
        evaluator.evaluate(trials(box, 1))


def test_work_is_shared_by_the_speed_that_workers_have_shown(farm, evaluator, box):
    fast, slow = farm.add('fast', 0.03), farm.add('slow', 1.5)
    all_there(evaluator, box, 2)
    check(trials(box, 4), evaluator.evaluate(trials(box, 4)))
    before = fast.trials, slow.trials
    began = time.monotonic()
    check(trials(box, 6), evaluator.evaluate(trials(box, 6)))
    # Six take the fast one less than one takes the slow one.
    assert (fast.trials, slow.trials) == (before[0] + 6, before[1])
    assert time.monotonic() - began < 1.5
    assert evaluator.workload.lost_trials == 0
    assert 0.0 < evaluator.workload.efficiency <= 1.0


@pytest.mark.parametrize('evaluator', [{'hang': 1.0}], indirect=True)
@pytest.mark.parametrize('fault', ['die', 'hang', 'late'])
def test_a_trial_of_a_worker_that_is_lost_is_run_by_one_that_joins(
    farm, evaluator, box, fault, monkeypatch
):
    monkeypatch.setattr(ros, 'find_overdue_worker', lambda *_: '')
    bad = farm.add('bad', 0.02, fault)
    joined = []

    def join(index, result):
        if not joined:
            joined.append(farm.add('good', 0.02))

    check(trials(box, 5), evaluator.evaluate(trials(box, 5), join))
    assert bad.trials == 2 and joined[0].trials == 4
    assert (evaluator.lost_workers, evaluator.workload.lost_trials) == (1, 1)
    if fault == 'late':
        bad.go_on.set()
        all_there(evaluator, box, 2)
        check(trials(box, 6), evaluator.evaluate(trials(box, 6)))
        assert bad.trials > 2
    else:
        all_there(evaluator, box, 1)
        assert evaluator.worker_names == ('/good/sim_bridge',)


@pytest.mark.parametrize('evaluator', [{'hang': 1.0}], indirect=True)
def test_a_worker_that_compiles_for_longer_than_the_limit_is_not_lost(farm, evaluator, box):
    worker = farm.add('compiling', 0.02, 'hang', at=1)
    worker._compiling = True
    threading.Timer(3.0, worker.go_on.set).start()
    check(trials(box, 1), evaluator.evaluate(trials(box, 1)))
    assert worker.trials == 1 and evaluator.lost_workers == 0


@pytest.mark.parametrize('evaluator', [{'hang': 0.5}], indirect=True)
def test_a_trial_that_hangs_worker_after_worker_while_others_pass_ends_the_run(
    farm, evaluator, box
):
    for name in ('one', 'two', 'three', 'four'):
        farm.add(name, 0.02).deadly = trials(box, 3)[1].seed
    all_there(evaluator, box, 4)
    losses = []
    with pytest.raises(DeadlyTrial) as caught:
        evaluator.evaluate(trials(box, 3), lost=lambda index, reason: losses.append(index))
    assert caught.value.index == 1 and losses == [1, 1, 1]


def test_a_worker_short_of_memory_is_lost_and_its_trial_run_again(farm, evaluator, box):
    worker, losses = farm.add('small', 0.02), []
    worker.short = 1
    specs = trials(box, 3)
    lost = lambda index, reason: losses.append(reason)  # noqa: E731
    check(specs, evaluator.evaluate(specs, lost=lost))
    assert len(losses) == 1 and 'MemoryError' in losses[0]


@pytest.mark.parametrize('fault', ['die', 'hang'])
def test_an_overdue_trial_does_not_hold_up_the_rest(farm, evaluator, box, fault):
    bad, good = farm.add('bad', 0.02, fault, at=3), farm.add('good', 0.02)
    all_there(evaluator, box, 2)
    bad.at = bad.trials + 2
    began = time.monotonic()
    check(trials(box, 12), evaluator.evaluate(trials(box, 12)))
    # Long before the worker counts as lost.
    assert time.monotonic() - began < 3.0
    assert evaluator.workload.lost_trials == 0 and good.trials >= 10


def test_a_worker_that_reads_another_trial_is_refused(farm, evaluator, box):
    worker = farm.add('newer', 0.0)
    worker.change = lambda result: replace(result, spec_hash='0' * 64)
    with pytest.raises(ConfigurationError, match='/newer/sim_bridge .* another version') as caught:
        evaluator.evaluate(trials(box, 2))
    assert '\n' not in str(caught.value)


def test_a_worker_on_another_platform_is_named_once(farm, evaluator, box, capfd):
    worker = farm.add('elsewhere', 0.0)
    worker.change = lambda result: replace(result, fingerprint='0' * 64)
    specs = trials(box, 3)
    check(specs, evaluator.evaluate(specs))
    assert capfd.readouterr().err.count('/elsewhere/sim_bridge runs on another platform') == 1
