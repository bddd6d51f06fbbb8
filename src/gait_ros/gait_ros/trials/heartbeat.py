# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Heartbeat of a bridge: process, state and progress."""

from __future__ import annotations

from collections.abc import Callable
import os
import socket
import threading
import time

from gait_core.processes import liveness
from gait_core.trial.loop import TrialLoop
from gait_core.trial.scene import Scene
from gait_interfaces.msg import WorkerStatus
from gait_ros.nodes.clock import to_stamp


def worker_status(
    mode: str,
    waiting_for: str,
    scene: Scene | None,
    *,
    active: bool,
    paused: bool,
    tick: int,
    trial: tuple[str, TrialLoop] | None,
) -> WorkerStatus:
    """
    Return the heartbeat of this process.

    Parameters
    ----------
    mode : str
        Mode of the bridge.
    waiting_for : str
        Reason why its robot does not move; empty: it can move.
    scene : Scene or None
        Scene of the live simulation.
    active, paused : bool
    tick : int
        Tick of the live simulation.
    trial : (str, TrialLoop) or None
        Id and loop of the running trial.

    """
    message = WorkerStatus(
        stamp=to_stamp(time.time_ns()),
        host=socket.gethostname(),
        pid=os.getpid(),
        mode=mode,
        waiting_for=waiting_for,
        periods=liveness.period_count(),
        compiling=liveness.current_activity() in (liveness.STARTING, liveness.COMPILING),
    )
    if trial is not None:
        message.trial_id, loop = trial
        message.state, scene = WorkerStatus.TRIAL, loop.spec.scene
        message.tick, message.ticks = loop.tick, loop.spec.ticks
    elif active:
        message.state, message.tick = WorkerStatus.LIVE, tick
    if paused and active:
        message.state = WorkerStatus.PAUSED
    if scene is not None:
        message.robot, message.fixed_base = scene.robot, scene.fixed_base
    return message


class HeartbeatThread:
    """
    Thread that calls a function periodically, even during a long callback of the node.

    Parameters
    ----------
    beat : callable
        Publishes a heartbeat.
    period : float [s]

    """

    def __init__(self, beat: Callable[[], None], period: float) -> None:
        self._beat, self._period = beat, period
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name='heartbeat', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for its end."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            self._beat()
