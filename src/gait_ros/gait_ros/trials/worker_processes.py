# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Worker processes of an evaluator on this machine."""

from __future__ import annotations

from dataclasses import replace
import os
import signal

from gait_core.processes import liveness
from gait_core.processes.worker_policy import HangWatch
from gait_ros.graph.nodes import NodeSpec, worker_nodes
from gait_ros.graph.processes import NodeEnded, NodeProcesses


class WorkerProcesses:
    """
    Worker processes by the full names of their nodes. Each can be ended and started again.

    Parameters
    ----------
    count : int
        Number of workers.
    hang : float [s]
        Idle time after which a starting worker is lost.

    """

    def __init__(self, count: int, hang: float) -> None:
        prefix = f'evolver_{os.getpid()}'
        specs = [
            replace(spec, namespace=f'{prefix}/{spec.namespace}') for spec in worker_nodes(count)
        ]
        self._specs: dict[str, NodeSpec] = {spec.full_name: spec for spec in specs}
        self._hang = hang
        self._running: dict[str, NodeProcesses] = {}
        self._watches: dict[str, HangWatch] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of the workers, running or not."""
        return tuple(self._specs)

    @property
    def missing(self) -> tuple[str, ...]:
        """Full names of the workers that do not run."""
        return tuple(name for name in self._specs if name not in self._running)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the running workers."""
        return tuple(node.pid for processes in self._running.values() for node in processes.nodes)

    def start(self, name: str) -> None:
        """Start a worker; raise OSError if that fails."""
        processes = NodeProcesses((self._specs[name],))
        processes.__enter__()
        self._running[name] = processes
        self._watches[name] = HangWatch(processes.nodes[0].pid)

    def find_trouble(self, name: str, has_heartbeat: bool) -> str:
        """
        Return one line if a started worker is lost; empty otherwise.

        Parameters
        ----------
        name : str
        has_heartbeat : bool
            Whether a heartbeat has come. Before the first, the processor time of the process shows
            whether the worker proceeds.

        Raises
        ------
        ConfigurationError
            If the worker refused its configuration; the message is that of the worker.

        """
        try:
            self._running[name].raise_if_ended()
        except NodeEnded as error:
            first, *output = str(error).splitlines()
            last = output[-1].strip()[:200] if output else ''
            return f'{first.rstrip(":")}{f" ({last})" if last else ""}'
        if not has_heartbeat and self._watches[name].update(0, liveness.STARTING) > self._hang:
            return f'{name} does not start: it did nothing for {self._hang:g} s'
        return ''

    def end(self, name: str) -> None:
        """Kill a worker."""
        processes = self._running.pop(name)
        for node in processes.nodes:
            node.signal(signal.SIGKILL)
        processes.__exit__(None, None, None)

    def close(self) -> None:
        """End all workers, with time for their clean-up."""
        # All at once, so that they end together.
        for processes in self._running.values():
            for node in processes.nodes:
                node.signal(signal.SIGINT)
        for processes in self._running.values():
            processes.__exit__(None, None, None)
        self._running = {}
