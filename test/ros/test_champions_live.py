"""Champions walk live as they did in their trials: same scene, start pose, distance and status."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gait_core import registry
from gait_core.fall import FallCheck
from gait_core.parameters import describe
from gait_core.safety import RUNNING
from gait_core.testing_skips import need_engine
from gait_core.trial import run_loop
from gait_core.trial_spec import FELL, OK
from gait_evolver.evolve import Evolution
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.plan import resolve
from gait_evolver.run_store import RunStore
from gait_interfaces.srv import Step
from gait_ros.controller_node import ControllerNode
from gait_ros.node_champion import read_node_champion
from sim_bridge.node import SimBridgeNode

ROOT = Path(__file__).parents[2]
COMMITTED = sorted((ROOT / 'doc' / 'results').glob('*champion*.yaml'))
SECONDS, SEARCHED = 1.5, 0.8
SHARE = 0.1
"""Largest difference of the distance, as a share of that in process."""
SEARCHES = {
    'phase_cpg': {'robot': 'a1', 'genes': {'frequency': {'lower': 1.3, 'upper': 1.9}}},
    'staged_walk': {'robot': 'guroo', 'genes': {'step_size_deg': {'lower': 15.0, 'upper': 22.0}}},
    'zmp_walk': {'robot': 'guroo', 'genes': {'step_time': {'lower': 0.6, 'upper': 0.9}}},
    'matsuoka': {'robot': 'tetraspine', 'genes': {'tau_a': {'lower': 0.1, 'upper': 0.3}}},
    'keyframe_stride': {'robot': 'hexapod', 'genes': {'stroke': {'lower': 0.06, 'upper': 0.12}}},
    'insect_gait': {
        'robot': 'roach',
        'genes': {'front_step_lift': {'lower': 0.15, 'upper': 0.55}},
        'settle_time': 0.1,
        'duration': 0.15,
    },
    'perceptron': {
        'robot': 'spider',
        'parameters': {'spare': 'one'},
        'optimizer': {'name': 'pattern_cma'},
        'bodies': 'turn',
    },
}
"""One small search per controller that has something to search."""


class LiveWalk:
    """A bridge that is stepped tick by tick, and a gait's node that answers each by itself."""

    def __init__(self, graph, file, **parameters):
        self._graph = graph
        self.bridge = graph.add(SimBridgeNode, files=[file], mode='lockstep')
        self.node = graph.add(
            ControllerNode, files=[file], use_sim_time=True, demo=True, **parameters
        )
        self._step = graph.client.create_client(Step, '/sim_bridge/step')
        graph.until(self._step.service_is_ready)
        graph.until(lambda: self.bridge.count_subscribers('/joint_states'))
        graph.until(lambda: self.node.count_subscribers('/joint_trajectory'))

    @property
    def live(self):
        return self.bridge._live

    def _advance(self):
        future = self._step.call_async(Step.Request(ticks=1))
        self._graph.until(future.done)
        assert future.result().success, future.result().message

    def walk(self, seconds):
        """Return distance and status for a time from the end of the soft start, and its length."""
        while not self.live.commands:
            self._advance()
            self._graph.spin(0.02)
        soft = 0
        while self.node._safe.layer.mode != RUNNING:
            self._tick()
            soft += 1
        fall = FallCheck(self.live.robot, self.live.scene)
        start, status = middle(self.live.observation), OK
        for _ in range(round(seconds / self.live.dt)):
            self._tick()
            if fall.reason(self.live.observation):
                status = FELL
                break
        distance = np.linalg.norm(middle(self.live.observation) - start)
        return distance, status, soft * self.live.dt

    def _tick(self):
        """Advance one control period and wait until the gait has answered it."""
        before = self.live.commands
        self._advance()
        self._graph.until(lambda: self.live.commands > before)


def middle(observation):
    return observation.body_poses[:, :2].mean(axis=0)


def in_process(file, seconds, soft):
    """Return distance and status of the champion's trial, which stands during a soft start."""
    spec = read_node_champion(file).spec
    stands = spec.settle_time + soft
    spec = replace(spec, duration=seconds, settle_time=stands, gates={}, hopeless=())
    result = run_loop(spec).result()
    return result.metrics['distance_m'], result.status


def check(graph, file, seconds):
    """Walk a champion live and in process for the same time, and compare."""
    distance, status, soft = LiveWalk(graph, file).walk(seconds)
    expected, ended = in_process(file, seconds, soft)
    assert (status, distance) == (ended, pytest.approx(expected, rel=SHARE))


@pytest.mark.parametrize('file', COMMITTED, ids=lambda file: file.stem)
def test_a_committed_champion_walks_live_as_in_process(graph, file):
    need_engine(read_node_champion(file).scene.engine)
    check(graph, file, SECONDS)


@pytest.fixture(scope='module', params=SEARCHES)
def evolved(request, tmp_path_factory):
    """Return the champion file of a search of four individuals with a controller."""
    asked = SEARCHES[request.param]
    experiment = {
        'controller': request.param,
        'fitness': {'distance': 1.0},
        'optimizer': {'name': 'genetic'},
        'population': 4,
        'generations': 1,
        'duration': SEARCHED,
        'seed': 1,
        **asked,
    }
    plan = resolve(rebuild_experiment(experiment, 'small', {}))
    need_engine(plan.trial.scene.engine)
    store = RunStore.create(tmp_path_factory.mktemp('run') / 'run', plan)
    try:
        Evolution(store, Here()).run()
    finally:
        store.close()
    return store.champion_file


class Here:
    """Runs trials in this process."""

    def evaluate(self, specs, progress=None):
        """Return the results of trials."""
        return [run_loop(spec).result() for spec in specs]

    def close(self):
        """There is nothing to release."""


def test_an_evolved_champion_walks_live_as_in_process(graph, evolved):
    check(graph, evolved, read_node_champion(evolved).spec.duration)


def test_every_controller_that_can_be_searched_is_walked():
    searched = {
        name
        for name in registry.names('controllers')
        if name != 'wave' and describe(registry.load('controllers', name).Params)
    }
    assert searched == set(SEARCHES)
