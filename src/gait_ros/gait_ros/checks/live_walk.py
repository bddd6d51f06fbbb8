# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparison of the walk of a champion over ROS with its walk in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
import os
from pathlib import Path

from nav_msgs.msg import Odometry
import numpy as np
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.trial.fall import FallCheck
from gait_core.trial.loop import run_loop
from gait_core.trial.spec import FELL, OK, TrialSpec
from gait_ros.graph.nodes import LiveWalk, walk_graph
from gait_ros.graph.processes import NodeEnded, NodeProcesses
from gait_ros.live.node_champion import NodeChampion, read_node_champion
from gait_ros.live.observation import pose_from_odometry
from gait_ros.live.safe_output import MOTION_STARTED
from gait_ros.nodes.qos import subscribe
from gait_ros.trials.session import RosClient

# Longest wait for the end of the soft start [s]; kernels may have to be compiled first.
_START = 120.0
_SILENCE = 60.0
_MAX_DIFFERENCE = 0.1
_LOG = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True, kw_only=True)
class WalkResult:
    """Distance of the root link [m], status, and duration [s] of the soft start."""

    distance: float
    status: str
    soft_start: float = 0.0


def walk_live(champion: NodeChampion, seconds: float) -> WalkResult:
    """
    Walk a champion live in its own scene.

    Parameters
    ----------
    champion : NodeChampion
    seconds : float [s]
        Simulated time from the end of the soft start.

    Raises
    ------
    NodeEnded
        If a node ends, or the robot does not walk in time.

    """
    space = f'gait_live_{os.getpid()}'
    walk = LiveWalk(
        robot=champion.scene.robot,
        controller=champion.spec.controller,
        terrain='',
        seed=None,
        namespace=space,
        champion=str(champion.file),
        motion={'demo': True},
    )
    with NodeProcesses(walk_graph(walk)) as processes:
        client = RosClient(f'gait_live_client_{os.getpid()}')
        try:
            watch = _WalkRecorder(client, champion, space)
            _wait(client, processes, lambda: watch.began is not None, _START)
            _wait(client, processes, lambda: watch.seconds >= seconds, _SILENCE + 10.0 * seconds)
            return watch.result(seconds)
        finally:
            client.close()


def walk_in_process(spec: TrialSpec, seconds: float, soft_start: float) -> WalkResult:
    """Run the trial in this process; the robot first stands for ``soft_start`` [s]."""
    settle_time = spec.settle_time + soft_start
    loop = run_loop(
        replace(spec, duration=seconds, settle_time=settle_time, gates={}, hopeless=())
    )
    positions = loop.rollout().body_poses[:, 0, :2]
    return WalkResult(
        distance=float(np.linalg.norm(positions[-1] - positions[0])), status=loop.status
    )


def compare_walks(files: Sequence[Path], seconds: float) -> list[Measurement]:
    """Measure the relative difference of distances, live and in this process, by champion."""
    rows = []
    for file in files:
        champion = read_node_champion(file)
        live = walk_live(champion, seconds)
        here = walk_in_process(champion.spec, seconds, live.soft_start)
        rows.append(
            Measurement(
                id=f'live_{file.stem}',
                what=f'{file.stem}, {seconds:g} s: {live.distance:.3f} m live, {live.status}; '
                f'{here.distance:.3f} m here, {here.status}; difference',
                unit='-',
                measured=abs(live.distance / here.distance - 1.0)
                if live.status == here.status
                else 1.0,
                budget=_MAX_DIFFERENCE,
            )
        )
    return rows


def _wait(
    client: RosClient, processes: NodeProcesses, has_ended: Callable[[], bool], timeout: float
) -> None:
    def is_over() -> bool:
        """Return whether the wait is over; raise an error if a node has ended."""
        processes.raise_if_ended()
        return has_ended()

    if not client.wait(is_over, timeout):
        raise NodeEnded(f'the robot did not walk within {timeout:g} s')


class _WalkRecorder:
    """Recorder of the poses of the base, from odometry, and of the end of the soft start."""

    def __init__(self, client: RosClient, champion: NodeChampion, space: str) -> None:
        scene = champion.scene
        self._dt = scene.control_period
        self._fall = FallCheck(load_robot(scene.robot, scene.draw), scene)
        self._poses: list[tuple[float, FloatArray]] = []
        self._space = space
        self.began: float | None = None
        subscribe(client.node, Odometry, f'/{space}/odom', self._on_odometry)
        client.node.create_subscription(Log, '/rosout', self._on_log, _LOG)

    @property
    def seconds(self) -> float:
        """Simulated time since the end of the soft start [s]."""
        return self._poses[-1][0] - self.began if self.began is not None else 0.0

    def _on_odometry(self, message: Odometry) -> None:
        pose = pose_from_odometry(message)
        if pose is not None:
            stamp = message.header.stamp
            self._poses.append((stamp.sec + 1e-9 * stamp.nanosec, pose))

    def _on_log(self, message: Log) -> None:
        # The gait logs this line one control period after its first targets.
        is_from_gait = message.name.startswith(self._space) and MOTION_STARTED in message.msg
        if is_from_gait and self.began is None and self._poses:
            self.began = self._poses[-1][0] - self._dt

    def result(self, seconds: float) -> WalkResult:
        """Return the result of the walk."""
        assert self.began is not None
        end = self.began + seconds + 0.5 * self._dt
        walk = [pose for time, pose in self._poses if self.began - 0.5 * self._dt <= time <= end]
        first_move = next(time for time, pose in self._poses if (pose != self._poses[0][1]).any())
        status = FELL if any(map(self._has_fallen, walk)) else OK
        return WalkResult(
            distance=float(np.linalg.norm(walk[-1][:2] - walk[0][:2])),
            status=status,
            soft_start=max(0.0, self.began - first_move + self._dt),
        )

    def _has_fallen(self, pose: FloatArray) -> bool:
        return bool(self._fall.fall_reason(Observation(tick=0, time=0.0, body_poses=pose[None])))
