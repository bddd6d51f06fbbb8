# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Time from an emergency stop to constant targets under load, for `gait bench --checks`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
import os
import time
from typing import Any

from geometry_msgs.msg import Twist
import numpy as np
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from gait_core.benchmark import Measurement
from gait_core.robot.load import load_robot
from gait_ros.graph.nodes import controller_node
from gait_ros.graph.processes import NodeEnded, NodeProcesses
from gait_ros.nodes.qos import PUBLISHER_QOS, STREAM_QOS
from gait_ros.trials.session import RosClient

STOP_COUNT = 20
MESSAGE_RATE = 1000.0
"""Messages per second on `joint_states` and on `imu/data`."""
CONTROL_PERIOD = 0.02
"""Control period of the gait [s]."""
_ROBOT = 'a1'
_START_TIMEOUT = 120.0
_PATIENCE = 10.0
_HOLD_TIME = 0.5


class _Traffic:
    """Publisher of joint states, IMU readings and velocities, and recorder of targets."""

    def __init__(self, namespace: str) -> None:
        self.client = RosClient(f'stop_check_{os.getpid()}')
        self.sent, self.began = 0, time.perf_counter()
        robot = load_robot(_ROBOT)
        state = JointState(name=list(robot.joint_names), position=robot.joint_stance.tolist())
        imu, velocity = Imu(), Twist()
        imu.orientation.w, velocity.linear.x = 1.0, 0.2
        node = self.client.node
        for kind, topic, message, rate in (
            (JointState, 'joint_states', state, MESSAGE_RATE),
            (Imu, 'imu/data', imu, MESSAGE_RATE),
            (Twist, 'cmd_vel', velocity, 20.0),
        ):
            publisher = node.create_publisher(kind, f'/{namespace}/{topic}', PUBLISHER_QOS)
            node.create_timer(1.0 / rate, partial(self._send, publisher, message))
        self.targets: list[tuple[float, Any]] = []
        node.create_subscription(
            JointTrajectory, f'/{namespace}/joint_trajectory', self._on_targets, STREAM_QOS
        )
        self._stop, self._resume = (
            node.create_client(Trigger, f'/{namespace}/cpg/{name}')
            for name in ('emergency_stop', 'resume')
        )

    def _send(self, publisher: Any, message: Any) -> None:
        publisher.publish(message)
        self.sent += 1

    def _on_targets(self, message: JointTrajectory) -> None:
        self.targets.append((time.perf_counter(), np.array(message.points[-1].positions)))

    def is_walking(self) -> bool:
        """Return whether the targets of the last second change."""
        recent = [pose for _, pose in self.targets[-round(1.0 / CONTROL_PERIOD) :]]
        return len(recent) * CONTROL_PERIOD >= 1.0 and bool(np.ptp(recent, axis=0).max() > 0.1)

    def call_service(self, client: Any) -> None:
        """Call a service and wait for its answer."""
        answer = client.call_async(Trigger.Request())
        if not self.client.wait(answer.done, _PATIENCE):
            raise NodeEnded(f'no answer from {client.srv_name} within {_PATIENCE:g} s')

    def measure_stop(self, rng: np.random.Generator) -> float:
        """Stop the walk at a random time; return the time [s] to the last changed target."""
        self.targets.clear()
        if not self.client.wait(self.is_walking, _START_TIMEOUT):
            raise NodeEnded(f'the gait does not walk within {_START_TIMEOUT:g} s')
        self.client.wait(lambda: False, float(rng.uniform(0.0, 0.5)))
        request_time = time.perf_counter()
        self.call_service(self._stop)
        self.client.wait(lambda: False, _HOLD_TIME)
        held = self.targets[-1][1]
        move_times = [
            at for at, pose in self.targets if at > request_time and (pose != held).any()
        ]
        self.call_service(self._resume)
        return max(move_times, default=request_time) - request_time


def measure_stops(count: int = STOP_COUNT) -> list[Measurement]:
    """Measure the longest time until a walking a1 holds, over stops at random times (seed 1)."""
    namespace = f'gait_stop_{os.getpid()}'
    node = replace(controller_node('phase_cpg', {'robot': _ROBOT}), namespace=namespace)
    with NodeProcesses((node,)):
        traffic = _Traffic(namespace)
        try:
            rng = np.random.default_rng(1)
            times = [traffic.measure_stop(rng) for _ in range(count)]
            rate = traffic.sent / (time.perf_counter() - traffic.began)
        finally:
            traffic.client.close()
    what = (
        f'{count} emergency stops of a walk at {MESSAGE_RATE:g} joint states and IMU readings a '
        'second'
    )
    return [
        Measurement(
            id='stop_longest',
            what=f'{what}: longest time from the request to the last target that moved',
            unit='control periods',
            measured=max(times) / CONTROL_PERIOD,
            # Tests with fewer stops run beside other processes, and have no budget.
            budget=1.0 if count >= STOP_COUNT else None,
            group='stops',
        ),
        Measurement(
            id='stop_traffic',
            what='messages sent to the gait during the stops, over all topics',
            unit='1/s',
            measured=rate,
            group='stops',
        ),
    ]
