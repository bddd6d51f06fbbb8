"""Trials on sim_bridge workers, asked for through their services."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
import os
import time
from typing import Any

from gait_core.canonical import sha256_of
from gait_core.contracts import Progress
from gait_core.errors import ConfigurationError
from gait_core.fingerprint import fingerprint
from gait_core.trial import unfinished
from gait_core.trial_spec import TrialResult, TrialSpec, invalid
from gait_evolver.evaluators.balance import Pace, backup, worth
from gait_evolver.evaluators.workload import Workload
from gait_interfaces.msg import WorkerStatus
from gait_ros.graph import NodeSpec, worker_nodes
from gait_ros.processes import NodeEnded, NodeProcesses
from gait_ros.session import RosClient, run_ros_trial
from gait_ros.worker_client import SILENCE, STANDSTILL, WorkerClient, WorkerLost

ATTEMPTS = 3
"""How often a trial is run whose worker is lost, before it is given up."""

_STATUS_TYPE = 'gait_interfaces/msg/WorkerStatus'
_STATUS_TOPIC = '/worker_status'
_TRIAL_MODE = 'lockstep'
_LOOK_PERIOD = 1.0
_PATIENCE = 30.0
_START = 60.0
_SPIN = 0.2
_RESTARTS = 3


@dataclass
class _Worker:
    client: WorkerClient
    trial: int | None = None
    trial_id: str = ''
    began: float = 0.0
    lost: Any = None
    """The last heartbeat before it was lost; another one brings it back."""


class RosEvaluator:
    """
    Runs trials on any number of sim_bridge workers, each one trial at a time.

    A worker is lost after 5 s without heartbeat or 10 s at one tick. Its trial goes to another
    worker, a late answer is dropped, and the worker counts again once it is heard again. Trials
    are given out by the speed that each worker has shown: a slow one is left idle where the
    others are done sooner without it, and where none is left to be begun one that is overdue is
    begun on an idle worker as well; the first answer counts.

    Parameters
    ----------
    workers : int
        Workers to start on this machine and to use alone; one that ends is started again. 0:
        use those that run on the domain, as they come and go.
    names : sequence of str
        Full names of running workers to use alone, e.g. ``/worker0/sim_bridge``.
    silence, standstill : float [s]
        After which a worker is lost.

    """

    def __init__(
        self,
        *,
        workers: int = 0,
        names: Sequence[str] = (),
        silence: float = SILENCE,
        standstill: float = STANDSTILL,
    ) -> None:
        if workers < 0:
            raise ConfigurationError(f'workers is {workers}, it must not be negative')
        prefix = f'evolver_{os.getpid()}'
        self._specs = tuple(
            replace(node, namespace=f'{prefix}/{node.namespace}') for node in worker_nodes(workers)
        )
        self._named = tuple(names) + tuple(spec.full_name for spec in self._specs)
        self._client: RosClient | None = None
        self._processes: dict[str, NodeProcesses] = {}
        self._ends = 0
        self._workers: dict[str, _Worker] = {}
        self._dead: set[str] = set()
        self._foreign: set[str] = set()
        self._looked = 0.0
        self._limits = silence, standstill
        self._pace = Pace()
        self.workload = Workload()
        self.lost_workers = 0

    def evaluate(
        self, specs: Sequence[TrialSpec], progress: Progress | None = None
    ) -> list[TrialResult]:
        """
        Return one result per spec, in their order.

        Raises
        ------
        ConfigurationError
            If a worker refuses a trial (the message is its own), or none is to be found.

        """
        client = self._open()
        results: dict[int, TrialResult] = {}
        waiting, losses = deque(range(len(specs))), [0] * len(specs)
        self._heard = seen = time.monotonic()
        try:
            while len(results) < len(specs):
                self._look(client)
                self._dispatch(specs, waiting)
                ended = client.wait(lambda: self._ended(specs, waiting, losses), _SPIN) or ()
                before, seen = seen, time.monotonic()
                self.workload.offered += (seen - before) * len(self.alive)
                for index, result in ended:
                    if index in results:
                        continue  # Both that ran it have answered at once.
                    results[index] = result
                    self._recall(index)
                    self.workload.busy += result.wall_time
                    if progress is not None:
                        progress(index, result)
        except BaseException:
            self._cancel()
            raise
        return [results[index] for index in range(len(specs))]

    def close(self) -> None:
        """Cancel what runs, and end the workers that were started here."""
        self._cancel()
        for one in self._workers.values():
            one.client.close()
        self._workers = {}
        if self._client is not None:
            self._client.close()
            self._client = None
        for process in self._processes.values():
            process.__exit__(None, None, None)
        self._processes = {}

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that were started here."""
        return tuple(
            node.pid for processes in self._processes.values() for node in processes.nodes
        )

    @property
    def alive(self) -> tuple[str, ...]:
        """Names of the workers that can be given a trial, or run one."""
        return tuple(
            name
            for name, one in sorted(self._workers.items())
            if one.trial is not None or _available(one)
        )

    def _open(self) -> RosClient:
        if self._client is None:
            for spec in self._specs:
                self._start(spec)
            self._client = RosClient(f'evaluator_{os.getpid()}')
            patience = _START if self._named else _PATIENCE
            self._client.wait(self._found, patience)
            if not self.alive:
                raise ConfigurationError(self._none_found())
        return self._client

    def _found(self) -> tuple[str, ...]:
        self._look(self._client)
        return self.alive

    def _none_found(self) -> str:
        if self._named:
            return f'the worker {self._named[0]} does not answer'
        return (
            'no sim_bridge worker is to be found on this domain: start some, e.g. '
            '`gait evolve ... --evaluator ros --workers 2` starts its own'
        )

    def _start(self, spec: NodeSpec) -> None:
        processes = NodeProcesses((spec,))
        processes.__enter__()
        self._processes[spec.full_name] = processes

    def _look(self, client: Any) -> None:
        """Find workers, and start again those of our own that have ended."""
        now = time.monotonic()
        if now - self._looked < _LOOK_PERIOD:
            return
        self._looked = now
        for name in self._named or _on_domain(client.node):
            if name not in self._workers:
                self._workers[name] = _Worker(WorkerClient(client.node, name, *self._limits))
        for spec in self._specs:
            self._revive(spec)
        if self.alive:
            self._heard = now
        elif self._workers and now - getattr(self, '_heard', now) > _PATIENCE:
            raise ConfigurationError(
                f'no worker has been heard for {_PATIENCE:g} s; the run can be resumed'
            )

    def _revive(self, spec: NodeSpec) -> None:
        try:
            self._processes[spec.full_name].check()
        except NodeEnded:
            self._ends += 1
            if self._ends > _RESTARTS * len(self._specs):
                raise
            self._processes.pop(spec.full_name).__exit__(None, None, None)
            self._start(spec)
            one = self._workers.get(spec.full_name)
            if one is not None:
                # Its last heartbeat is that of the dead process.
                one.lost = one.client.status
                if one.trial is not None:
                    self._dead.add(spec.full_name)

    def _dispatch(self, specs: Sequence[TrialSpec], waiting: deque[int]) -> None:
        idle = [
            name
            for name, one in sorted(self._workers.items())
            if one.trial is None and _available(one)
        ]
        for name in sorted(idle, key=lambda one: self._pace.seconds(one, 1000)):
            busy = self._busy(specs)
            if not waiting:
                late = backup(self._pace, name, busy)
                index = self._workers[late].trial if late else None
                if index is not None and self._runners(index) == 1:
                    self._submit(name, specs, index)
            elif worth(self._pace, name, [specs[i].ticks for i in waiting], busy):
                self._submit(name, specs, waiting.popleft())

    def _submit(self, name: str, specs: Sequence[TrialSpec], index: int) -> None:
        one = self._workers[name]
        one.lost, one.trial, one.began = None, index, time.monotonic()
        one.trial_id = one.client.submit(specs[index])

    def _busy(self, specs: Sequence[TrialSpec]) -> dict[str, tuple[int, float]]:
        """Return the ticks of the trial of each busy worker, and how long it has been at it."""
        now = time.monotonic()
        return {
            name: (specs[one.trial].ticks, now - one.began)
            for name, one in self._workers.items()
            if one.trial is not None
        }

    def _runners(self, index: int) -> int:
        """Return how many workers are running a trial."""
        return sum(one.trial == index for one in self._workers.values())

    def _recall(self, index: int) -> None:
        """Cancel a trial whose result has come from another worker."""
        for one in self._workers.values():
            if one.trial == index:
                one.client.cancel()
                one.client.drop()
                one.trial, one.lost = None, one.client.status

    def _ended(
        self, specs: Sequence[TrialSpec], waiting: deque[int], losses: list[int]
    ) -> list[tuple[int, TrialResult]]:
        """Return the trials that have ended since the last call."""
        ended = []
        for name, one in self._workers.items():
            index = one.trial
            if index is None:
                continue
            try:
                result = self._polled(one)
            except WorkerLost as loss:
                one.trial, one.lost = None, one.client.status
                one.client.cancel()
                self.lost_workers += 1
                self.workload.lost_trials += 1
                losses[index] += 1
                result = None
                if not self._runners(index):
                    result = self._after_loss(specs[index], index, losses, waiting, str(loss))
            except ConfigurationError as error:
                one.trial = result = None
                self._after_refusal(one, index, waiting, error)
            if result is not None:
                if one.trial is not None:
                    self._examine(name, specs[index], result)
                    self._pace.note(name, result.ticks, time.monotonic() - one.began)
                one.trial = None
                ended.append((index, result))
        return ended

    def _polled(self, one: _Worker) -> TrialResult | None:
        name = one.client.name
        if name in self._dead:
            # Its process is known to have ended: no need to wait for its silence.
            self._dead.remove(name)
            one.client.drop()
            raise WorkerLost(f'{name} is lost: its process ended')
        return one.client.poll()

    def _examine(self, name: str, spec: TrialSpec, result: TrialResult) -> None:
        """Refuse a worker that read another trial; warn of one whose bits may differ."""
        if result.spec_hash != sha256_of(spec):
            raise ConfigurationError(
                f'{name} read a trial as another than was sent: it runs another version'
            )
        if result.fingerprint != fingerprint() and name not in self._foreign:
            self._foreign.add(name)
            self._open().node.get_logger().warning(
                f'{name} runs on another platform: its results need not be equal to the last bit'
            )

    @staticmethod
    def _after_loss(
        spec: TrialSpec, index: int, losses: list[int], waiting: deque[int], reason: str
    ) -> TrialResult | None:
        if losses[index] < ATTEMPTS:
            waiting.appendleft(index)
            return None
        return unfinished(spec, invalid('worker_lost'), f'{ATTEMPTS} workers were lost; {reason}')

    @staticmethod
    def _after_refusal(
        one: _Worker, index: int, waiting: deque[int], error: ConfigurationError
    ) -> None:
        message = str(error)
        if message.startswith('internal error'):
            raise RuntimeError(f'{one.client.name}: {message}') from error
        if 'is running' not in message and 'not active' not in message:
            raise error
        # Somebody else was faster.
        one.lost = one.client.status
        waiting.appendleft(index)

    def _cancel(self) -> None:
        for one in self._workers.values():
            if one.trial is not None:
                one.client.cancel()
                one.client.drop()
                one.trial = None


def _available(one: _Worker) -> bool:
    status = one.client.status
    if status is None or status is one.lost or status.mode != _TRIAL_MODE:
        return False
    if one.client.silent or not one.client.ready:
        return False
    # The heartbeat may still tell of our own trial that has just ended.
    return bool(status.state != WorkerStatus.TRIAL or status.trial_id == one.trial_id)


def _on_domain(node: Any) -> list[str]:
    """Return the full names of all workers that can be seen, sorted."""
    return sorted(
        topic.removesuffix(_STATUS_TOPIC)
        for topic, types in node.get_topic_names_and_types()
        if topic.endswith(_STATUS_TOPIC) and _STATUS_TYPE in types
    )


def run_in_lockstep(spec: TrialSpec, delay: float = 0.0) -> TrialResult:
    """
    Run one trial with bridge and controller as two processes in lock-step.

    ``delay`` [s] is the longest random delay of the controller's answers.
    """
    result: TrialResult = run_ros_trial(spec, delay=delay).result
    return result
