"""Commands at 200 Hz: how many arrive, and how evenly, for `gait bench`."""

from __future__ import annotations

from dataclasses import replace
import os
import time

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement
from gait_core.robot.load import load_robot
from gait_ros.graph.nodes import controller_node
from gait_ros.graph.processes import NodeEnded, NodeProcesses
from gait_ros.nodes.qos import PUBLISHED, STREAM
from gait_ros.trials.session import RosClient

RATE = 200.0
_ROBOT = 'guroo'
_START = 60.0
_SETTLE = 1.0
LOSS_BUDGET = 0.005
SPREAD_BUDGET = 2.0


def arrivals(seconds: float) -> FloatArray:
    """
    Return when commands of a node at 200 Hz arrived here [s], while it is sent joint states.

    The node is a process of its own, this one sends 200 joint states a second; the two share
    what cores there are.

    Raises
    ------
    NodeEnded
        If the node ended, or gave no command within a minute.

    """
    robot = load_robot(_ROBOT)
    node = controller_node('hold', {'robot': _ROBOT, 'control_rate': RATE, 'output': 'commands'})
    with NodeProcesses((replace(node, namespace=f'gait_stream_{os.getpid()}'),)) as processes:
        client = RosClient(f'gait_stream_{os.getpid()}')
        try:
            space = processes.nodes[0].spec.namespace
            publisher = client.node.create_publisher(
                JointState, f'/{space}/joint_states', PUBLISHED
            )
            state = JointState(name=list(robot.joint_names), position=robot.joint_stance.tolist())
            client.node.create_timer(1.0 / RATE, lambda: publisher.publish(state))
            times: list[float] = []
            client.node.create_subscription(
                Float64MultiArray,
                f'/{space}/commands',
                lambda message: times.append(time.perf_counter()),
                STREAM,
            )

            def came() -> bool:
                """Tell whether a command has come."""
                processes.check()
                return bool(times)

            if not client.wait(came, _START):
                raise NodeEnded(f'no command came within {_START:g} s')
            client.wait(lambda: False, _SETTLE)
            begin = time.perf_counter()
            client.wait(lambda: False, seconds)
            processes.check()
        finally:
            client.close()
    found = np.array(times)
    return found[(found >= begin) & (found < begin + seconds)]


def rows(seconds: float = 20.0) -> list[Measurement]:
    """Return how many commands were lost, and how their periods spread."""
    times = arrivals(seconds)
    what = f'commands of a node at {RATE:.0f} Hz for {seconds:g} s'
    return [
        Measurement(
            id='stream_loss',
            what=f'{what}: share that did not arrive',
            unit='-',
            measured=max(0.0, 1.0 - len(times) / (RATE * seconds)),
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
