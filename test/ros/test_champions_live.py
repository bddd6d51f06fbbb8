"""Champions walk live as they did in their trials: same scene, start pose, distance and status."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gait_core.fall import FallCheck
from gait_core.safety import RUNNING
from gait_core.testing_skips import need_engine
from gait_core.trial import run_loop
from gait_core.trial_spec import FELL, OK
from gait_interfaces.srv import Step
from gait_ros.controller_node import ControllerNode
from gait_ros.node_champion import read_node_champion
from sim_bridge.node import SimBridgeNode

ROOT = Path(__file__).parents[2]
COMMITTED = sorted((ROOT / 'doc' / 'results').glob('*champion*.yaml'))
SECONDS = 3.0
SHARE = 0.1
"""Largest difference of the distance, as a share of that in process."""


class LiveWalk:
    """A bridge that is stepped tick by tick, and a gait's node that answers each by itself."""

    def __init__(self, graph, file, **parameters):
        self._graph = graph
        self.bridge = graph.add(SimBridgeNode, files=[file], mode='lockstep')
        self.node = graph.add(ControllerNode, files=[file], use_sim_time=True, **parameters)
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
        """Return distance and status over a time from the end of the soft start."""
        while not self.live.commands:
            self._advance()
            self._graph.spin(0.02)
        while self.node._safe.layer.mode != RUNNING:
            self._tick()
        fall = FallCheck(self.live.robot, self.live.scene)
        start = middle(self.live.observation)
        for _ in range(round(seconds / self.live.dt)):
            self._tick()
            if fall.reason(self.live.observation):
                return np.linalg.norm(middle(self.live.observation) - start), FELL
        return np.linalg.norm(middle(self.live.observation) - start), OK

    def _tick(self):
        """Advance one control period and wait until the gait has answered it."""
        before = self.live.commands
        self._advance()
        self._graph.until(lambda: self.live.commands > before)


def middle(observation):
    return observation.body_poses[:, :2].mean(axis=0)


def in_process(file, seconds):
    """Return distance and status of the champion's own trial, cut to a time."""
    spec = read_node_champion(file).spec
    result = run_loop(replace(spec, duration=seconds, gates={}, hopeless=())).result()
    return result.metrics['distance_m'], result.status


@pytest.mark.parametrize('file', COMMITTED, ids=lambda file: file.stem)
def test_a_committed_champion_walks_live_as_in_process(graph, file):
    need_engine(read_node_champion(file).scene.engine)
    walk = LiveWalk(graph, file)
    distance, status = walk.walk(SECONDS)
    here = in_process(file, SECONDS)
    assert status == here[1] and distance == pytest.approx(here[0], rel=SHARE)
