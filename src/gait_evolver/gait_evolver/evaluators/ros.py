# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluator that runs trials on sim_bridge workers by their services."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import math
import os
import time
from typing import Any

from gait_core.contracts import Evaluator, ProgressCallback
from gait_core.errors import ConfigurationError, NoWorkers
from gait_core.processes.worker_policy import HANG_TIME, PATIENCE, LossCallback, LossCounter
from gait_core.trial.fingerprint import fingerprint
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_evolver.evaluators.scheduling import (
    WorkerSpeeds,
    find_overdue_worker,
    is_worth_starting,
    select_lone_workers,
)
from gait_interfaces.msg import WorkerStatus
from gait_ros.trials.session import RosClient
from gait_ros.trials.worker_client import TrialRefused, WorkerClient, WorkerLost
from gait_ros.trials.worker_processes import WorkerProcesses

_STATUS_TYPE = 'gait_interfaces/msg/WorkerStatus'
_STATUS_TOPIC = '/worker_status'
_TRIAL_MODE = 'lockstep'
_DISCOVERY_PERIOD = 1.0
_SPIN_TIME = 0.2


@dataclass
class _Worker:
    """Client of a worker and the trial that it runs."""

    client: WorkerClient
    trial: int | None = None
    trial_id: str = ''
    began: float = 0.0
    lost_status: WorkerStatus | None = None
    """Last heartbeat before the loss; a later one makes the worker available again."""


class RosEvaluator(Evaluator):
    """
    Runs trials on bridges in mode ``lockstep``, one trial at a time on each.

    A worker counts as lost after 10 s without a heartbeat, or without a control period in a trial.
    Its trial goes to another worker, and a late answer is dropped. The lost worker is used again
    after its next heartbeat; one that was started here is started again.

    Trials are distributed by the measured speeds of the workers. A slow worker stays idle if the
    others finish sooner without it. If no trial is left to start, an overdue one is also started
    on an idle worker, and the first answer counts.

    Parameters
    ----------
    workers : int
        Number of workers to start on this machine; only these are used. 0: all workers on the
        domain, which may come and go.
    names : sequence of str
        Full names of running workers, e.g. ``/worker0/sim_bridge``; only these are used.
    hang : float [s]
        Time without a heartbeat or a control period after which a worker counts as lost.
    patience : float [s]
        See ``LossCounter``; also the longest time without a heartbeat from any worker.

    """

    def __init__(
        self,
        *,
        workers: int = 0,
        names: Sequence[str] = (),
        hang: float = HANG_TIME,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(workers=workers)
        self._own = WorkerProcesses(workers, hang)
        self._named = tuple(names) + self._own.names
        self._client: RosClient | None = None
        self._workers: dict[str, _Worker] = {}
        self._waiting: deque[int] = deque()
        self._losses = LossCounter(patience=patience)
        self._resume_at = 0.0
        self._foreign_workers: set[str] = set()
        self._discovery_time = 0.0
        self._hang, self._patience = hang, patience
        self._speeds = WorkerSpeeds()
        self._heartbeat_time = math.inf

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: ProgressCallback | None = None,
        lost: LossCallback | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec, in their order.

        An exception in a trial becomes its status. A trial whose worker is lost is run again.

        Raises
        ------
        ConfigurationError
            If a worker refuses a trial (with the worker's message), or there is no worker.
        DeadlyTrial, NoWorkers
            See ``LossCounter``.
        RunCancelled
            After a call of ``cancel``, also in the middle of a trial.

        """
        self._losses.begin(lost)
        client = self._connect()
        results: dict[int, TrialResult] = {}
        waiting = self._waiting = deque(range(len(specs)))
        self._heartbeat_time = last_time = time.monotonic()
        try:
            while len(results) < len(specs):
                self.raise_if_cancelled()
                self._discover_workers(client)
                self._dispatch(specs, waiting)
                ended = client.wait(self._collect_results, _SPIN_TIME) or ()
                before, last_time = last_time, time.monotonic()
                self.workload.offered += (last_time - before) * len(self.worker_names)
                for index, result in ended:
                    if index in results:
                        continue  # Two workers ran this trial and both have answered.
                    results[index] = result
                    self._losses.count_result()
                    self._cancel_trial(index)
                    self.workload.busy += result.wall_time
                    if progress is not None:
                        progress(index, result)
        except BaseException:
            self._cancel_all()
            raise
        return [results[index] for index in range(len(specs))]

    def close(self) -> None:
        """Cancel running trials and end the workers that were started here."""
        self._cancel_all()
        for worker in self._workers.values():
            worker.client.close()
        self._workers = {}
        if self._client is not None:
            self._client.close()
            self._client = None
        self._own.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that were started here."""
        return self._own.pids

    @property
    def worker_names(self) -> tuple[str, ...]:
        """Names of the workers that run a trial or are available for one."""
        return tuple(
            name
            for name, worker in sorted(self._workers.items())
            if worker.trial is not None or _is_available(worker)
        )

    def _connect(self) -> RosClient:
        """Return the client; make it at the first call and wait for a worker."""
        if self._client is None:
            self._client = RosClient(f'evaluator_{os.getpid()}')
            # No time limit for workers that were started here: they may have to compile kernels,
            # and whether one of them hangs is seen by watching its process.
            self._client.wait(self._find_workers, None if self._own.names else self._patience)
            if not self.worker_names:
                raise ConfigurationError(self._no_worker_message())
        return self._client

    def _find_workers(self) -> tuple[str, ...]:
        assert self._client is not None
        self.raise_if_cancelled()
        self._discover_workers(self._client)
        return self.worker_names

    def _no_worker_message(self) -> str:
        if self._named:
            return f'the worker {self._named[0]} does not answer'
        return (
            'no sim_bridge worker found on this ROS domain; start some, or let '
            '`gait evolve ... --evaluator ros --workers 2` start its own'
        )

    def _discover_workers(self, client: RosClient) -> None:
        """Discover workers on the domain, and start own workers that are missing or lost."""
        now = time.monotonic()
        if now - self._discovery_time < _DISCOVERY_PERIOD:
            return
        self._discovery_time = now
        for name in self._own.names:
            self._maintain_own_worker(name)
        for name in self._named or _worker_names_on_domain(client.node):
            if name not in self._workers:
                self._workers[name] = _Worker(WorkerClient(client.node, name, self._hang))
        if self.worker_names or self._own.names:
            self._heartbeat_time = now
        elif self._workers and now - self._heartbeat_time > self._patience:
            raise NoWorkers(
                f'no heartbeat from any worker for {self._patience:g} s; the run can be resumed'
            )

    def _maintain_own_worker(self, name: str) -> None:
        """End an own worker that is lost; start it if it does not run."""
        if name not in self._own.missing:
            worker = self._workers.get(name)
            has_heartbeat = worker is not None and worker.client.status is not None
            reason = self._own.find_trouble(name, has_heartbeat)
            if (
                not reason
                and worker is not None
                and has_heartbeat
                and worker.trial is None
                and worker.client.is_silent
            ):
                reason = f'{name} is lost: no heartbeat for {self._hang:g} s'
            if reason:
                self._discard_worker(name, reason)
        if name in self._own.missing and time.monotonic() >= self._resume_at:
            try:
                self._own.start(name)
            except OSError as error:
                self._count_loss(None, f'a worker cannot be started: {error.strerror}')

    def _dispatch(self, specs: Sequence[TrialSpec], waiting: deque[int]) -> None:
        """Start waiting or overdue trials on idle workers, the fastest worker first."""
        idle = [
            name
            for name, worker in sorted(self._workers.items())
            if worker.trial is None and _is_available(worker)
        ]
        for name in sorted(idle, key=lambda worker: self._speeds.expected_time(worker, 1000)):
            busy = self._busy_workers(specs)
            if not waiting:
                # At most two workers run one trial.
                running = self._running_trials()
                alone = {lone: busy[lone] for lone in select_lone_workers(running)}
                if late := find_overdue_worker(self._speeds, name, alone):
                    self._submit(name, specs, running[late])
            elif is_worth_starting(self._speeds, name, [specs[i].ticks for i in waiting], busy):
                self._submit(name, specs, waiting.popleft())

    def _submit(self, name: str, specs: Sequence[TrialSpec], index: int) -> None:
        worker = self._workers[name]
        worker.lost_status, worker.trial, worker.began = None, index, time.monotonic()
        worker.trial_id = worker.client.submit(specs[index])

    def _busy_workers(self, specs: Sequence[TrialSpec]) -> dict[str, tuple[int, float]]:
        """Return the ticks of each busy worker's trial and the time since its start [s]."""
        now = time.monotonic()
        return {
            name: (specs[index].ticks, now - self._workers[name].began)
            for name, index in self._running_trials().items()
        }

    def _running_trials(self) -> dict[str, int]:
        """Return the index of the trial that each busy worker runs."""
        trials = {name: worker.trial for name, worker in self._workers.items()}
        return {name: index for name, index in trials.items() if index is not None}

    def _cancel_trial(self, index: int) -> None:
        """Cancel a trial on the other workers after its first result."""
        for worker in self._workers.values():
            if worker.trial == index:
                worker.client.cancel()
                worker.trial, worker.lost_status = None, worker.client.status

    def _collect_results(self) -> list[tuple[int, TrialResult]]:
        """Return the trials that have ended since the last call."""
        ended = []
        for name, worker in tuple(self._workers.items()):
            index = worker.trial
            if index is None:
                continue
            try:
                result = worker.client.poll()
            except WorkerLost as loss:
                self._discard_worker(name, str(loss))
                continue
            except TrialRefused as refusal:
                worker.trial = None
                result = self._after_refusal(worker, index, refusal)
                if result is not None:
                    ended.append((index, result))
                continue
            if result is not None:
                self._warn_of_platform(name, result)
                self._speeds.record(name, result.ticks, time.monotonic() - worker.began)
                worker.trial = None
                ended.append((index, result))
        return ended

    def _discard_worker(self, name: str, reason: str) -> None:
        """Requeue the trial of a lost worker; end an own worker, which is then restarted."""
        worker = self._workers.get(name)
        index = None if worker is None else worker.trial
        has_begun = index is not None and worker is not None and not worker.client.is_loading
        if worker is not None:
            worker.trial, worker.lost_status = None, worker.client.status
            worker.client.cancel()
        if name in self._own.names:
            self._own.end(name)
            if worker is not None:
                # A new client, so that no old heartbeat counts for the process that follows.
                worker.client.close()
                del self._workers[name]
        if index is not None:
            self.workload.lost_trials += 1
            if index not in self._running_trials().values():
                # The trial goes to the end of the queue. If it is the trial that ends workers, all
                # other trials have finished before it ends the next one.
                self._waiting.append(index)
        self._count_loss(index, reason, has_begun)

    def _count_loss(self, index: int | None, reason: str, begun: bool = False) -> None:
        self.lost_workers += 1
        self._losses.count_loss(index, reason, by_trial=begun)
        self._resume_at = time.monotonic() + self._losses.start_delay

    def _warn_of_platform(self, name: str, result: TrialResult) -> None:
        """Warn once of a worker on another platform."""
        if result.fingerprint != fingerprint() and name not in self._foreign_workers:
            self._foreign_workers.add(name)
            self._connect().node.get_logger().warning(
                f'{name} runs on another platform: its results may differ in the last bits'
            )

    def _after_refusal(
        self, worker: _Worker, index: int, refusal: TrialRefused
    ) -> TrialResult | None:
        """
        Return the result that a refusal holds, or None after the trial was requeued.

        Raises ConfigurationError if no worker could run the trial.
        """
        message = str(refusal)
        if refusal.result is not None:
            return refusal.result
        if refusal.shortage:
            worker.trial = index
            self._discard_worker(worker.client.name, f'{worker.client.name}: {message}')
            return None
        if 'is running' not in message and 'not active' not in message:
            raise ConfigurationError(message)
        # Another evaluator uses this worker: try again on any worker.
        worker.lost_status = worker.client.status
        self._waiting.appendleft(index)
        return None

    def _cancel_all(self) -> None:
        for worker in self._workers.values():
            if worker.trial is not None:
                worker.client.cancel()
                worker.trial = None


def _is_available(worker: _Worker) -> bool:
    """Return whether a worker is alive, ready and runs no trial of another evaluator."""
    status = worker.client.status
    if status is None or status is worker.lost_status or status.mode != _TRIAL_MODE:
        return False
    if worker.client.is_silent or not worker.client.is_ready:
        return False
    # The last heartbeat may still name our own trial, which has just ended.
    return bool(status.state != WorkerStatus.TRIAL or status.trial_id == worker.trial_id)


def _worker_names_on_domain(node: Any) -> list[str]:
    """Return the full names of all discovered workers, sorted."""
    return sorted(
        topic.removesuffix(_STATUS_TOPIC)
        for topic, types in node.get_topic_names_and_types()
        if topic.endswith(_STATUS_TOPIC) and _STATUS_TYPE in types
    )
