# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials in lock-step with a bridge and a controller, each in its own process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import os
import shutil
import time
from types import TracebackType
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from gait_core.errors import ConfigurationError
from gait_core.files.access import temporary_folder
from gait_core.trial.record import read_record
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_ros.graph.nodes import NodeSpec, trial_graph
from gait_ros.graph.processes import NodeEnded, NodeProcesses
from gait_ros.nodes.discovery import obey_discovery_range
from gait_ros.nodes.rclpy_release import make_executor
from gait_ros.trials.worker_client import WorkerClient

# Longest wait for the nodes to be ready [s].
_START_TIMEOUT = 60.0
# Time without a heartbeat after which the bridge is lost [s]. It is long, because kernels may be
# compiled, and the end of either process is detected at once.
_HANG_TIME = 60.0
_POLL_PERIOD = 0.05
# Name of the record of the present trial.
_RECORD = 'trial'


@dataclass(frozen=True, kw_only=True)
class RosTrial:
    """
    Result of a trial over ROS.

    Attributes
    ----------
    result : TrialResult
        Its trial_hash equals that of the same trial in one process.
    pids : dict of str to int
        Process ids of ``bridge`` and ``controller``.
    wall_time : float [s]
        Wall time of the trial for the caller, without the start of the processes.
    rollout : Rollout or None
        None if it was not asked for, or the trial ended before its first tick.

    """

    result: TrialResult
    pids: dict[str, int]
    wall_time: float
    rollout: Rollout | None = None


class RosClient:
    """Client node in a context of its own, which spins only while it waits."""

    def __init__(self, name: str) -> None:
        obey_discovery_range()
        self._context = Context()
        try:
            rclpy.init(args=[], context=self._context)
            self.node = Node(
                name, context=self._context, enable_rosout=False, start_parameter_services=False
            )
        except RuntimeError as error:
            # This happens, for example, if there is no home folder for the log (ROS_LOG_DIR names
            # another folder), or if the middleware finds no keys.
            raise ConfigurationError(
                f'ROS 2 does not start: {" ".join(str(error).split())}'
            ) from error
        self._executor = make_executor(self._context)
        self._executor.add_node(self.node)

    def wait(self, poll: Callable[[], Any], timeout: float | None = None) -> Any:
        """Spin until ``poll`` returns a true value, and return it; None after ``timeout`` [s]."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            value = poll()
            if value:
                return value
            if end is not None and time.monotonic() > end:
                return None
            self._executor.spin_once(timeout_sec=_POLL_PERIOD)

    def spin_once(self) -> None:
        """Handle one waiting event, if any."""
        self._executor.spin_once(timeout_sec=0.0)

    def close(self) -> None:
        """Destroy the node and shut its context down."""
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


class TrialSession:
    """
    Context manager of a bridge and a controller, which run trials over ROS.

    The results equal those in one process. The nodes have their own namespace, so that sessions do
    not disturb each other.

    Parameters
    ----------
    spec : TrialSpec
        Robot, controller and its parameters are those of every trial of the session.
    link_transforms : bool
        Whether to publish every link on /tf, for RViz.
    delay : float [s]
        Longest random delay of the answers of the controller, for tests that results do not
        depend on it.
    sensors : str
        Names of the range sensors that the bridge simulates, or ``all``.

    """

    def __init__(
        self,
        spec: TrialSpec,
        *,
        link_transforms: bool = False,
        delay: float = 0.0,
        sensors: str = '',
    ) -> None:
        self._namespace = f'gait_{os.getpid()}'
        bridge, controller = trial_graph(spec, link_transforms=link_transforms, sensors=sensors)
        self._records = temporary_folder('gait_record_')
        bridge = replace(
            bridge, parameters={**bridge.parameters, 'record_folder': str(self._records)}
        )
        if delay:
            parameters = {**controller.parameters, 'lockstep_delay': float(delay)}
            controller = replace(controller, parameters=parameters)
        self._nodes = tuple(
            replace(node, namespace=self._namespace) for node in (bridge, controller)
        )
        self._identity = _controller_key(spec)
        self._processes = NodeProcesses(self._nodes)
        self._client: RosClient | None = None

    def __enter__(self) -> TrialSession:
        self._processes.__enter__()
        try:
            self._client = RosClient(f'gait_session_{os.getpid()}')
            self._worker = WorkerClient(self._client.node, self._nodes[0].full_name, _HANG_TIME)
            if not self._client.wait(self._is_ready, _START_TIMEOUT):
                raise NodeEnded(f'the nodes were not ready within {_START_TIMEOUT:g} s')
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        self._processes.__exit__(kind, error, traceback)
        shutil.rmtree(self._records, ignore_errors=True)

    @property
    def nodes(self) -> tuple[NodeSpec, ...]:
        """Bridge and controller, as they were started."""
        return self._nodes

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of ``bridge`` and ``controller``."""
        bridge, controller = self._processes.nodes
        return {'bridge': bridge.pid, 'controller': controller.pid}

    def run(self, spec: TrialSpec, *, keep_rollout: bool = False) -> RosTrial:
        """
        Run one trial, and keep its rollout on request.

        Raises
        ------
        ConfigurationError
            If the trial is refused, or has another robot or controller than the session.
        NodeEnded
            If a node ended.

        """
        if _controller_key(spec) != self._identity:
            raise ConfigurationError('the trial has another robot or controller than its session')
        start = time.perf_counter()
        self._worker.submit(spec, external=True, record=_RECORD if keep_rollout else '')
        result = self._client.wait(self._finished)
        wall_time = time.perf_counter() - start
        return RosTrial(
            result=result, pids=self.pids, wall_time=wall_time, rollout=self._read_rollout()
        )

    def _read_rollout(self) -> Rollout | None:
        """Return the rollout of the last trial, and remove its record."""
        folder = self._records / _RECORD
        # A trial that was not recorded, or diverged before its first tick, leaves no record.
        rollout = read_record(folder)[0] if (folder / 'trial.json').exists() else None
        shutil.rmtree(folder, ignore_errors=True)
        return rollout

    def _finished(self) -> TrialResult | None:
        self._processes.raise_if_ended()
        return self._worker.poll()

    def _is_ready(self) -> bool:
        self._processes.raise_if_ended()
        node, bridge = self._client.node, self._nodes[0].full_name
        return bool(
            self._worker.is_ready
            and node.count_subscribers(f'{bridge}/lockstep/observation')
            and node.count_publishers(f'{bridge}/lockstep/targets')
        )


def _controller_key(spec: TrialSpec) -> Any:
    """Return the parts of a trial that the node of its controller is started with."""
    return (
        spec.scene.robot,
        spec.scene.draw,
        spec.controller,
        dict(spec.parameters),
        spec.weights,
        spec.weights_sha256,
    )


def run_ros_trial(spec: TrialSpec, *, delay: float = 0.0) -> RosTrial:
    """
    Run one trial over ROS, with a bridge and a controller in two processes of their own.

    The trial_hash of the result equals that of ``gait_core.trial.loop.run_trial(spec)``.

    Raises
    ------
    ConfigurationError
        If a node refuses the trial; the message is its own.
    NodeEnded
        If a node ended before the end of the trial.

    """
    with TrialSession(spec, delay=delay) as session:
        return session.run(spec)
