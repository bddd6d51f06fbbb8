# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Champions walk live as they did in their trials: same scene, start pose, distance and status."""

from dataclasses import replace
import hashlib
import io
from pathlib import Path
import shutil

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.motion.targets import JointTargets
from gait_core.parameters.declaration import declared_parameters
from gait_core.safety.layer import RUNNING
from gait_core.testing.doubles import InProcessEvaluator
from gait_core.testing.skips import need_engine
from gait_core.trial.champion import read_champion, write_champion
from gait_core.trial.fall import FallCheck
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import TerrainSpec
from gait_core.trial.spec import FELL, OK
from gait_evolver.experiment import rebuild_experiment
from gait_evolver.loop import Evolution
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.store import RunStore
from gait_interfaces.srv import LoadGait, Step
from gait_ros.live.node import ControllerNode
from gait_ros.live.node_champion import read_node_champion
from sim_bridge.node import SimBridgeNode

ROOT = Path(__file__).parents[2]
COMMITTED = sorted((ROOT / 'doc' / 'results').glob('*champion*.yaml'))
SECONDS, SEARCHED = 0.8, 0.8
SHARE = 0.1
"""Largest difference of the distance, as a share of that in process."""
SEARCHES = {
    'phase_cpg': {
        'robot': 'a1',
        'genes': {
            'frequency': {'lower': 1.3, 'upper': 1.9},
            'duty_factor.fl': {'lower': 0.55, 'upper': 0.6},
        },
        'measures': ['duty_factor.fl'],
    },
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
        while not self.live.command_count:
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
            if fall.fall_reason(self.live.observation):
                status = FELL
                break
        distance = np.linalg.norm(middle(self.live.observation) - start)
        return distance, status, soft * self.live.dt

    def _tick(self):
        """Advance one control period and wait until the gait has answered it."""
        before = self.live.command_count
        self._advance()
        self._graph.until(lambda: self.live.command_count > before)


def middle(observation):
    return observation.body_poses[:, :2].mean(axis=0)


def in_process(file, seconds, soft):
    """Return distance and status of the champion's trial, which stands during a soft start."""
    spec = read_node_champion(file).spec
    stands = spec.settle_time + soft
    spec = replace(spec, duration=seconds, settle_time=stands, gates={}, hopeless=())
    result = run_loop(spec).result()
    return result.metrics['distance_m'], result.status


def walked(graph, file, seconds):
    """Return distance and status of a champion's walk, live and in process for the same time."""
    distance, status, soft = LiveWalk(graph, file).walk(seconds)
    return (distance, status), in_process(file, seconds, soft)


@pytest.mark.parametrize('file', COMMITTED, ids=lambda file: file.stem)
def test_a_committed_champion_walks_live_as_in_process(graph, file):
    champion = read_node_champion(file)
    need_engine(champion.scene.engine)
    if missing := set(champion.spec.fitness_terms) - set(registry.names('fitness_terms')):
        pytest.skip(f'scored by terms of a study that is removed here: {sorted(missing)}')
    live, (distance, status) = walked(graph, file, SECONDS)
    assert live == (pytest.approx(distance, rel=SHARE), status)


@pytest.fixture(scope='module', params=SEARCHES)
def evolved(request, tmp_path_factory):
    """Return the champion file of a search of four individuals with a controller."""
    if request.param == 'perceptron':
        # The optimiser of networks comes with their study.
        pytest.importorskip('gait_studies')
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
    plan = resolve_experiment(rebuild_experiment(experiment, 'small', {}))
    need_engine(plan.trial.scene.engine)
    store = RunStore.create(tmp_path_factory.mktemp('run') / 'run', plan)
    try:
        Evolution(store, InProcessEvaluator()).run()
    finally:
        store.close()
    return store.champion_file


def test_an_evolved_champion_walks_live_as_in_process(graph, evolved):
    duration = read_node_champion(evolved).spec.duration
    live, (distance, status) = walked(graph, evolved, duration)
    assert live == (pytest.approx(distance, rel=SHARE), status)


def test_every_controller_that_can_be_searched_is_walked():
    searched = {
        name
        for name in registry.names('controllers')
        if name != 'wave' and declared_parameters(registry.load('controllers', name).Params)
    }
    assert searched == set(SEARCHES)


def test_load_gait_takes_the_weights_of_a_champion_softly(graph, tmp_path):
    """A live network becomes that of the file; no target moves faster than a soft start."""
    file = copied('bishop2008', tmp_path)
    need_engine('mujoco')
    walk = LiveWalk(graph, file)
    walk.walk(0.3)
    learned = read_node_champion(file).load_weights()[0]
    drawn = {name: np.ascontiguousarray(array[::-1]) for name, array in learned.items()}
    other = other_network(file, tmp_path / 'other', drawn)
    answer = graph.call(LoadGait, '/controller/load_gait', file=str(other))
    assert answer.success, answer.message
    controller = walk.node.controller
    layout = controller.array_shapes(walk.node.robot, controller.params)
    np.testing.assert_array_equal(controller._weights, layout.join_weights(drawn))
    # The targets that were on their way are still those of the network before.
    walk._tick()
    before, rates = walk.live.applied.position[-1], []
    for _ in range(10):
        walk._tick()
        rates.append(np.abs(walk.live.applied.position[-1] - before).max() / walk.live.dt)
        before = walk.live.applied.position[-1]
    assert max(rates) <= walk.node._safe.layer.params.start_speed * (1.0 + 1e-9)


@pytest.mark.parametrize('wrong', ['absent', 'hash', 'elsewhere', 'period', 'body', 'controller'])
def test_load_gait_refuses_what_it_cannot_honour_and_changes_nothing(graph, tmp_path, wrong):
    need_engine('mujoco')
    file = copied('bishop2008', tmp_path)
    node = graph.add(ControllerNode, files=[file], autostart=False)
    bad = copied('bishop2008', tmp_path / 'bad')
    text, weights = bad.read_text(), bad.with_name('bishop2008_weights.npz')
    words = wrong
    if wrong == 'absent':
        weights.unlink()
        words = f'{weights}: No such file'
    elif wrong == 'hash':
        weights.write_bytes(weights.read_bytes() + b'0')
        words = 'SHA-256'
    elif wrong == 'elsewhere':
        text = text.replace("'bishop2008_weights.npz'", f"'{file.parent}/bishop2008_weights.npz'")
        words = 'are not in its folder'
    elif wrong == 'period':
        text = text.replace('control_period: 0.012', 'control_period: 0.02')
        words = 'control_rate is 83.3333 Hz'
    elif wrong == 'body':
        text = text.replace('draw: 2134384658960969180', 'draw: 7')
        words = 'draw 7'
    else:
        text = text.replace("controller: 'perceptron'", "controller: 'hold'")
        words = "for controller 'hold', this node runs 'perceptron'"
    bad.write_text(text)
    before, weights_before = node.controller, node.controller._weights.copy()
    answer = graph.call(LoadGait, '/controller/load_gait', file=str(bad))
    assert not answer.success and words in answer.message and '\n' not in answer.message
    assert node.controller is before and not answer.changed
    np.testing.assert_array_equal(node.controller._weights, weights_before)


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'robot': 'a1'}, "for robot 'spider', this node runs 'a1'"),
        ({'controller': 'hold'}, "for controller 'perceptron', this node runs 'hold'"),
        ({'preset': 'text'}, "'preset' is 'text'"),
        ({'control_rate': 50.0}, 'control_rate is 50 Hz'),
        ({'weights_sha256': 'ab'}, "'weights_sha256' is 'ab'"),
        ({'weights': '/nowhere/w.npz'}, '/nowhere/w.npz'),
    ],
)
def test_a_parameter_that_contradicts_the_champion_is_refused_by_name(graph, given, words):
    file = ROOT / 'doc/results/bishop2008_champion.yaml'
    with pytest.raises(ConfigurationError) as caught:
        graph.add(ControllerNode, files=[file], **given)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_a_bridge_takes_the_scene_but_for_what_is_given(graph):
    need_engine('mujoco')
    file = ROOT / 'doc/results/bishop2008_champion.yaml'
    champion = read_node_champion(file)
    bridge = graph.add(SimBridgeNode, files=[file], mode='lockstep', name='one')
    assert bridge._scene == champion.scene
    given = {'mode': 'lockstep', 'publish_clock': False}
    flat = graph.add(
        SimBridgeNode,
        files=[file],
        mode='lockstep',
        terrain='flat',
        name='two',
        publish_clock=False,
    )
    assert flat._scene == replace(champion.scene, terrain=TerrainSpec())
    with pytest.raises(ConfigurationError, match='control_period'):
        graph.add(SimBridgeNode, files=[file], control_period=0.02, name='three', **given)


def test_a_bridge_waits_for_the_answer_to_its_first_tick(graph):
    """A controller that is up before the bridge steps at tick 0, and would be a step ahead."""
    need_engine('mujoco')
    file = ROOT / 'doc/results/bishop2008_champion.yaml'
    bridge = graph.add(SimBridgeNode, files=[file])
    graph.spin(0.3)
    assert bridge._live.tick == 0
    targets = bridge._live.robot
    bridge._live.command(JointTargets(names=targets.target_names, position=targets.stance))
    graph.until(lambda: bridge._live.tick)


def copied(name, folder):
    """Return a copy of a committed champion with its weights."""
    folder.mkdir(exist_ok=True)
    for end in ('champion.yaml', 'weights.npz'):
        shutil.copy(ROOT / f'doc/results/{name}_{end}', folder)
    return folder / f'{name}_champion.yaml'


def other_network(file, folder, arrays):
    """Return a champion as of a file, with other weights."""
    folder.mkdir()
    content = io.BytesIO()
    np.savez(content, **arrays)
    (folder / 'network.npz').write_bytes(content.getvalue())
    sha256 = hashlib.sha256(content.getvalue()).hexdigest()
    champion = read_champion(file)
    spec = replace(champion.spec, weights='network.npz', weights_sha256=sha256)
    write_champion(folder / 'champion.yaml', replace(champion, spec=spec))
    return folder / 'champion.yaml'
