# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The insect gait over ROS: one number sweeps it live from wave to tripod."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.robot.load import load_robot
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial
from gait_core.trial.spec import Command
from gait_cpg.insect.reflexes import REFLEXES
from gait_cpg.node import CpgNode
from gait_interfaces.msg import LockstepObservation, LockstepTargets
from gait_ros.messages.conversions import BUILDER
from gait_ros.nodes.qos import LOCKSTEP_QOS
from gait_ros.trials.session import TrialSession

ROACH = load_robot('roach')
DT = 1.0 / 300.0
STEPPING = 2.0


class Bridge:
    """The bridge's end of the channel, with a robot that ignores its targets."""

    def __init__(self, graph):
        zero = np.zeros(len(ROACH.joint_names))
        self._seen = Observation(
            tick=0,
            time=0.0,
            joint_names=ROACH.joint_names,
            joint_positions=ROACH.stance,
            joint_velocities=zero,
            joint_efforts=zero,
            imu=Imu(
                orientation=np.array([0.0, 0.0, 0.0, 1.0]),
                angular_velocity=zero[:3],
                linear_acceleration=zero[:3],
            ),
            contacts=Contacts(soles=ROACH.soles),
        )
        self._graph, self._tick, self._answers = graph, 0, []
        self._publisher = graph.client.create_publisher(
            LockstepObservation, '/sim_bridge/lockstep/observation', LOCKSTEP_QOS
        )
        graph.client.create_subscription(
            LockstepTargets, '/sim_bridge/lockstep/targets', self._answers.append, LOCKSTEP_QOS
        )
        graph.until(self._publisher.get_subscription_count)

    def ask(self) -> None:
        """Run one control period of the controller."""
        question = LockstepObservation(
            trial_id='sweep', tick=self._tick, dt=DT,
            command=BUILDER.command(Command(velocity=(0.06, 0.0, 0.0))),
            observation=BUILDER.observation(self._seen),
        )  # fmt: skip
        self._publisher.publish(question)
        self._graph.until(lambda: self._answers and self._answers[-1].tick == self._tick)
        assert self._answers[-1].error == ''
        self._tick += 1


def test_a_live_sweep_from_wave_to_tripod_neither_misses_nor_doubles_a_step(graph):
    node = graph.add(
        CpgNode, robot='roach', controller='insect_gait', lockstep=True, gait__period_scale=5.0
    )
    bridge, names = Bridge(graph), [leg.name for leg in ROACH.legs]
    states, scales = [], []

    def run(seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            bridge.ask()
            state = node.controller.state()
            states.append([state[f'state.{name}'] for name in names])
            scales.append(state['period_scale'])

    run(0.6)
    for scale in (3.0, 2.0, 1.0):
        value = Parameter('gait.period_scale', value=scale).to_parameter_msg()
        answer = graph.call(SetParameters, '/cpg/set_parameters', parameters=[value])
        assert answer.results[0].successful
        run(0.5)
    assert (scales[0], scales[-1]) == (5.0, 1.0)
    for leg, column in zip(names, (np.array(states) == STEPPING).T, strict=True):
        begun = np.flatnonzero(np.diff(column.astype(int)) > 0) + 1
        cycles = np.diff(begun) * DT
        shortest = np.array([min(scales[a:b]) for a, b in zip(begun, begun[1:], strict=False)])
        longest = np.array([max(scales[a:b]) for a, b in zip(begun, begun[1:], strict=False)])
        # A missed step would make a cycle of two, a doubled one of less than a step and a rest.
        assert (cycles < 1.5 * 0.1 * longest).all(), leg
        assert (cycles > 0.75 * 0.1 * shortest).all(), leg
        assert len(begun) >= 6
    bad = Parameter('gait.period_scale', value=0.5).to_parameter_msg()
    answer = graph.call(SetParameters, '/cpg/set_parameters', parameters=[bad])
    assert not answer.results[0].successful


def test_a_walk_with_reflexes_on_ground_that_it_sticks_to_has_the_hash_of_one_process():
    need_engine('mujoco')
    scene = {'contact_law': 'sticky', 'terrain': {'name': 'steps'}}
    spec = default_trial('roach', 0.08, scene)
    spec = replace(spec, parameters={**spec.parameters, **dict.fromkeys(REFLEXES, True)}, seed=3)
    with TrialSession(spec, delay=0.002) as session:
        over_ros = session.run(spec).result
    here = run_trial(spec)
    assert over_ros.status == here.status == 'ok'
    assert over_ros.trial_hash == here.trial_hash
