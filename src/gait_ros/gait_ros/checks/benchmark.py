# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Benchmark of lock-step and of streams over ROS, for `gait bench`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import os
import time

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement, measure_wall_time, shortest_times
from gait_core.robot.load import load_robot
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial, usable_engines
from gait_ros.graph.nodes import controller_node
from gait_ros.graph.processes import NodeEnded, NodeProcesses
from gait_ros.nodes.qos import PUBLISHER_QOS, STREAM_QOS
from gait_ros.trials.session import RosClient, TrialSession

BUDGETS = {'bullet': 1.4}
_ROBOT = 'guroo'
_SECONDS = 5.0
_REPEATS = 3

STREAM_RATE = 200.0
"""Messages per second of the streams."""
LOSS_BUDGET = 0.005
SPREAD_BUDGET = 2.0
_STREAM_SECONDS = 20.0
_START_TIMEOUT = 60.0
_SETTLE = 1.0


def benchmark() -> list[Measurement]:
    """Measure trials in lock-step against trials in process, and lost messages of streams."""
    lockstep = [row for engine in usable_engines() for row in _measure_lockstep(engine)]
    return [*lockstep, *measure_streams(_STREAM_SECONDS)]


def _measure_lockstep(engine: str) -> list[Measurement]:
    """Measure the ratio and the difference per tick of trials over ROS and in process."""
    spec = default_trial(_ROBOT, _SECONDS, {'engine': engine})
    run_trial(spec)
    with TrialSession(spec) as session:
        session.run(spec)
        in_process, over_ros = shortest_times(
            partial(measure_wall_time, partial(run_trial, spec)),
            lambda: session.run(spec).wall_time,
            repeats=_REPEATS,
        )
    row = partial(Measurement, group='lock-step')
    return [
        row(
            id=f'lockstep_{engine}',
            what='time of a trial of guroo over ROS in lock-step, divided by that in process, '
            f'{engine}',
            unit='-',
            measured=over_ros / in_process,
            budget=BUDGETS.get(engine),
        ),
        row(
            id=f'lockstep_period_{engine}',
            what='additional time per control period over ROS',
            unit='ms',
            measured=1e3 * (over_ros - in_process) / spec.ticks,
        ),
    ]


def command_arrival_times(seconds: float) -> FloatArray:
    """
    Return the arrival times [s] of the commands of a controller node at 200 Hz.

    The node is a process of its own. This process sends 200 joint states per second to it.

    Raises
    ------
    NodeEnded
        If the node ended, or sent no command within a minute.

    """
    robot = load_robot(_ROBOT)
    node = controller_node(
        'hold', {'robot': _ROBOT, 'control_rate': STREAM_RATE, 'output': 'commands'}
    )
    with NodeProcesses((replace(node, namespace=f'gait_stream_{os.getpid()}'),)) as processes:
        client = RosClient(f'gait_stream_{os.getpid()}')
        try:
            namespace = processes.nodes[0].spec.namespace
            publisher = client.node.create_publisher(
                JointState, f'/{namespace}/joint_states', PUBLISHER_QOS
            )
            state = JointState(name=list(robot.joint_names), position=robot.joint_stance.tolist())
            client.node.create_timer(1.0 / STREAM_RATE, lambda: publisher.publish(state))
            times: list[float] = []
            client.node.create_subscription(
                Float64MultiArray,
                f'/{namespace}/commands',
                lambda message: times.append(time.perf_counter()),
                STREAM_QOS,
            )

            def came() -> bool:
                """Return whether a command has come."""
                processes.raise_if_ended()
                return bool(times)

            if not client.wait(came, _START_TIMEOUT):
                raise NodeEnded(f'no command came within {_START_TIMEOUT:g} s')
            client.wait(lambda: False, _SETTLE)
            begin = time.perf_counter()
            client.wait(lambda: False, seconds)
            processes.raise_if_ended()
        finally:
            client.close()
    found = np.array(times)
    return found[(found >= begin) & (found < begin + seconds)]


def measure_streams(seconds: float) -> list[Measurement]:
    """Measure the share of lost commands, and the standard deviation of their period."""
    times = command_arrival_times(seconds)
    what = f'commands of a node at {STREAM_RATE:.0f} Hz for {seconds:g} s'
    return [
        Measurement(
            id='stream_loss',
            what=f'{what}: share that was lost',
            unit='-',
            measured=max(0.0, 1.0 - len(times) / (STREAM_RATE * seconds)),
            budget=LOSS_BUDGET,
            group='streams',
        ),
        Measurement(
            id='stream_spread',
            what=f'{what}: standard deviation of the period',
            unit='ms',
            measured=1e3 * float(np.std(np.diff(times))),
            budget=SPREAD_BUDGET,
            group='streams',
        ),
    ]
