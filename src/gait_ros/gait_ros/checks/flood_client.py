# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Flood of a node with messages, requests and parameters, and its measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import importlib
import json
import math
import os
from pathlib import Path
import subprocess
import time
from typing import Any

from rcl_interfaces.srv import ListParameters, SetParameters
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from gait_core.processes.python_command import python_module_command
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_ros.checks.flood_messages import change_fields, hostile_messages
from gait_ros.checks.flood_node import COUNTS_VARIABLE, TARGET_VARIABLE
from gait_ros.graph.nodes import NodeSpec
from gait_ros.graph.processes import (
    NodeEnded,
    node_entry_point,
    parameter_file_text,
    ros_arguments,
)
from gait_ros.nodes.qos import STREAM_QOS
from gait_ros.nodes.services import SERVICE_QOS
from gait_ros.trials.session import RosClient

MESSAGE_RATE = 1000.0
"""Messages per second to each topic."""
_REQUESTS = 50
_MAX_SETS = 500
_START = 300.0
_GRACE = 10.0
# Messages to each topic, and events of the client, in one turn.
_BATCH, _EVENTS = 4, 20
# Share of the duration after which memory is first measured, so that starting does not count.
_WARM_UP = 0.25
_TOLERANCE = 1e-6
# Time [s] without a new topic or service after which a node has started.
_SETTLE_TIME = 2.0
# Services that ROS adds to every node; this project's code does not answer them.
_ROS_SERVICES = ('rcl_interfaces/', 'lifecycle_msgs/', 'type_description_interfaces/')


@dataclass(frozen=True, kw_only=True)
class FloodTarget:
    """Node to flood, its robot, and the topic and type of its commands to motors, if any."""

    node: NodeSpec
    robot: str
    output: str = ''
    kind: Any = None


@dataclass(kw_only=True)
class FloodOutcome:
    """Measurements of a flood: rates by topic [1/s], memory growth [MB], answers, commands."""

    sent: dict[str, float] = field(default_factory=dict)
    received: dict[str, float] = field(default_factory=dict)
    memory_growth: float = 0.0
    requests: int = 0
    answers: int = 0
    longest_wait: float = 0.0
    """Longest wait for an answer [s]."""
    commands: int = 0
    beyond_limits: int = 0
    """Number of commands with an infinite position or one beyond a joint's limits."""
    ended: str = ''
    """Last lines of output of a node that has ended."""


class Flood:
    """
    Node in a process of its own, and the client that floods it.

    Parameters
    ----------
    target : FloodTarget
    folder : Path
        Working directory of the node.

    """

    def __init__(self, target: FloodTarget, folder: Path) -> None:
        node = replace(target.node, namespace=f'flood_{os.getpid()}')
        self._target, self._node = target, node
        self._robot = load_robot(target.robot)
        self._limits = _limits(self._robot)
        self._counts, self._output = folder / 'counts.json', folder / 'output'
        parameters = folder / 'parameters.yaml'
        parameters.write_text(parameter_file_text(node.parameters))
        command = [*python_module_command('gait_ros.graph.child'), str(os.getpid())]
        arguments = ros_arguments(node, str(parameters) if node.parameters else '')
        with self._output.open('wb') as output:
            self._process = subprocess.Popen(
                [*command, 'gait_ros.checks.flood_node:main', *arguments],
                env={
                    **os.environ,
                    TARGET_VARIABLE: node_entry_point(node),
                    COUNTS_VARIABLE: str(self._counts),
                },
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._client = RosClient(f'flood_{os.getpid()}')
        self._shown = 0, time.monotonic()
        self._clients: dict[str, Any] = {}
        self._unsent: Counter[str] = Counter()
        self.outcome = FloodOutcome()

    def close(self) -> None:
        """End the client and the node."""
        self._client.close()
        self._process.terminate()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def run(self, seconds: float) -> FloodOutcome:
        """
        Flood the node for a time [s] and return the measurements.

        Raises
        ------
        NodeEnded
            If it ended before the flood.

        """
        if not self._client.wait(self._is_settled, _START):
            raise NodeEnded(f'{self._node.full_name} does not start: {self._last_output()}')
        # Waits until the node answers; it may have to compile kernels first.
        self._names = self._parameters()
        topics, outcome = self._topics(), self.outcome
        if self._target.kind is not None:
            topic = f'/{self._node.namespace}/{self._target.output}'
            self._client.node.create_subscription(
                self._target.kind, topic, self._on_command, STREAM_QOS
            )
        senders = {
            topic: (
                self._client.node.create_publisher(kind, topic, 10),
                hostile_messages(kind, self._robot),
            )
            for topic, kind in topics.items()
        }
        before = self._received()
        sent, passed = self._send(seconds, list(senders.values()))
        # Answers may still be on their way.
        self._client.wait(lambda: outcome.answers == outcome.requests, _GRACE)
        after = self._received()
        for topic in topics:
            short = topic.removeprefix(f'/{self._node.namespace}/')
            outcome.sent[short] = (sent - self._unsent[topic]) / passed
            outcome.received[short] = (after.get(topic, 0) - before.get(topic, 0)) / passed
        if self._process.poll() is not None:
            outcome.ended = self._last_output()
        return outcome

    def _send(self, seconds: float, senders: Sequence[tuple[Any, Any]]) -> tuple[int, float]:
        """Send to every topic at the rate; return the count per topic and the time taken [s]."""
        begin = time.monotonic()
        sent, memory, now = 0, math.nan, begin
        turns = [
            (0.3, self._set_parameters),
            (0.5, self._send_requests),
            (0.8, self._send_requests),
        ]
        while now - begin < seconds and self._process.poll() is None:
            share = (now - begin) / seconds
            if math.isnan(memory) and share > _WARM_UP:
                memory = self._memory()
            if turns and share > turns[0][0]:
                turns.pop(0)[1]()
            due = int((now - begin) * MESSAGE_RATE) - sent
            for _ in range(min(due, _BATCH)):
                for publisher, messages in senders:
                    try:
                        publisher.publish(next(messages))
                    except RuntimeError:
                        # The queue to a reliable subscriber is full: this message is not sent.
                        self._unsent[publisher.topic_name] += 1
            sent += min(due, _BATCH)
            for _ in range(_EVENTS):
                self._client.spin_once()
            now = time.monotonic()
        if self._process.poll() is None:
            self.outcome.memory_growth = max(0.0, self._memory() - memory)
        return sent, now - begin

    def _is_settled(self) -> bool:
        """Return whether the node has ended, or has started and shows no new topic or service."""
        if self._process.poll() is not None:
            return True
        try:
            shown = len(self._topics()) + len(self._services())
        except NodeNameNonExistentError:
            shown = 0
        if shown != self._shown[0]:
            self._shown = shown, time.monotonic()
        is_settled = time.monotonic() - self._shown[1] > _SETTLE_TIME
        return shown > 0 and is_settled and self._counts.exists()

    def _topics(self) -> dict[str, Any]:
        """Return the type of each topic to which the node subscribes."""
        found = self._client.node.get_subscriber_names_and_types_by_node(
            self._node.name, f'/{self._node.namespace}'
        )
        own = f'/{self._node.namespace}/'
        return {topic: _import_type(kinds[0]) for topic, kinds in found if topic.startswith(own)}

    def _services(self) -> list[tuple[str, str]]:
        """Return names and types of the services that are the node's own."""
        found = self._client.node.get_service_names_and_types_by_node(
            self._node.name, f'/{self._node.namespace}'
        )
        return [
            (name, kinds[0]) for name, kinds in found if not kinds[0].startswith(_ROS_SERVICES)
        ]

    def _send_requests(self) -> None:
        """Send a burst of requests to each service, half of them with NaN for every number."""
        for name, kind in self._services():
            if '/action/' in kind:
                continue
            service = _import_type(kind)
            bad = change_fields(service.Request(), lambda name, value: _nan_for_number(value))
            requests = [service.Request(), bad] * (_REQUESTS // 2)
            self._call(service, name, requests)
        if self._node.name == 'evolver':
            self._send_goals()

    def _parameters(self) -> list[str]:
        """Wait for the node to answer and return the names of its parameters."""
        client = self._client.node.create_client(
            ListParameters, f'{self._node.full_name}/list_parameters'
        )
        self._client.wait(client.service_is_ready, _START)
        answer = client.call_async(ListParameters.Request())
        if not self._client.wait(answer.done, _START):
            raise NodeEnded(f'{self._node.full_name} does not answer: {self._last_output()}')
        return list(answer.result().result.names)

    def _set_parameters(self) -> None:
        """Set every parameter to invalid and valid values."""
        requests = [
            SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
            for name in self._names
            for value in (math.nan, 1e308, -1e308, 2**62, -1, 0.0, 'a' * 1000)
            if not name.startswith('qos_overrides.')
        ]
        self._call(SetParameters, f'{self._node.full_name}/set_parameters', requests[:_MAX_SETS])

    def _send_goals(self) -> None:
        """Send a burst of goals with an unknown experiment to the action of the evolver."""
        from rclpy.action import ActionClient

        from gait_interfaces.action import Evolve

        name = f'{self._node.full_name}/evolve'
        if name not in self._clients:
            self._clients[name] = ActionClient(
                self._client.node, Evolve, name, goal_service_qos_profile=SERVICE_QOS
            )
        client = self._clients[name]
        self._client.wait(client.server_is_ready, _GRACE)
        for _ in range(_REQUESTS):
            self._count_answer(client.send_goal_async(Evolve.Goal(experiment='nope')))

    def _call(self, kind: Any, name: str, requests: Sequence[Any]) -> None:
        # One client per service: several would each receive the answers to the others.
        if name not in self._clients:
            self._clients[name] = self._client.node.create_client(
                kind, name, qos_profile=SERVICE_QOS
            )
        client = self._clients[name]
        self._client.wait(client.service_is_ready, _GRACE)
        for request in requests:
            self._count_answer(client.call_async(request))

    def _count_answer(self, future: Any) -> None:
        """Count a request, and its answer with the time that it took."""
        outcome, began = self.outcome, time.monotonic()
        outcome.requests += 1

        def _on_answer(_: Any) -> None:
            outcome.answers += 1
            outcome.longest_wait = max(outcome.longest_wait, time.monotonic() - began)

        future.add_done_callback(_on_answer)

    def _on_command(self, message: Any) -> None:
        """Count a command, and whether it is beyond a joint's limits."""
        self.outcome.commands += 1
        if isinstance(message, JointState):
            pairs = list(zip(message.name, message.position, strict=False))
        else:
            pairs = [
                pair
                for point in message.points
                for pair in zip(message.joint_names, point.positions, strict=False)
            ]
        for name, value in pairs:
            low, high = self._limits.get(name, (-math.inf, math.inf))
            # NaN is valid: ros2_control writes it for interfaces that no controller claims.
            if value < low or value > high or math.isinf(value):
                self.outcome.beyond_limits += 1
                return

    def _received(self) -> dict[str, int]:
        """Return the number of messages that the node has received, by topic."""
        space, name = f'/{self._node.namespace}/', f'{self._node.full_name}/'
        found: dict[str, int] = json.loads(self._counts.read_text())
        return {
            name + topic[2:] if topic.startswith('~/') else space + topic: count
            for topic, count in found.items()
        }

    def _memory(self) -> float:
        pages = int(Path(f'/proc/{self._process.pid}/statm').read_text().split()[1])
        return pages * os.sysconf('SC_PAGE_SIZE') / 1e6

    def _last_output(self) -> str:
        return ' / '.join(self._output.read_text(errors='replace').splitlines()[-3:])


def _import_type(kind: str) -> Any:
    package, folder, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.{folder}'), name)


def _nan_for_number(value: Any) -> Any:
    return math.nan if isinstance(value, float) else value


def _limits(robot: RobotModel) -> dict[str, tuple[float, float]]:
    count = len(robot.joint_names)
    bounds = zip(robot.lower[:count] - _TOLERANCE, robot.upper[:count] + _TOLERANCE, strict=True)
    return {
        name: (float(low), float(high))
        for name, (low, high) in zip(robot.joint_names, bounds, strict=True)
    }
