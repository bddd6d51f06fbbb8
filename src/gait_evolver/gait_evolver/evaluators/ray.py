# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluator that runs trials on a Ray cluster: an own one of this machine, or a running one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
import itertools
import os
import time
from typing import Any

from gait_core.contracts import Evaluator, ProgressCallback
from gait_core.errors import ConfigurationError, NoWorkers
from gait_core.parameters.plain_data import sha256_of
from gait_core.parameters.schema import read_value
from gait_core.processes import liveness
from gait_core.processes.worker_policy import (
    HANG_TIME,
    PATIENCE,
    LossCallback,
    LossCounter,
    WatchClock,
    print_loss,
)
from gait_core.trial.fingerprint import fingerprint, fingerprint_fields
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_evolver.evaluators import shipping
from gait_evolver.evaluators.ray_process import RayProcess, check_cluster, token_file
from gait_evolver.evaluators.ray_state import RayWorker, TrialBatch
from gait_evolver.evaluators.scheduling import (
    WorkerSpeeds,
    find_overdue_worker,
    is_worth_starting,
    select_lone_workers,
)
from gait_evolver.evaluators.worker import RAISED, REFUSED, SHORTAGE

if find_spec('ray') is None:
    # Only another process imports it.
    raise ModuleNotFoundError("No module named 'ray'", name='ray')

LOG_NAME = 'ray.log'
"""File in the run directory for the output of Ray and of its workers."""

_POLL_TIME = 0.25
_START_TIME, _CONNECT_TIME = 120.0, 40.0
"""Times [s] for an own Ray to start, and for a cluster to admit us."""
_REFUSAL_PATIENCE = 30.0
_START_PATIENCE = 600.0
"""Time [s] without any worker after which a run ends: an autoscaler may have to start machines."""
_LOADING = (liveness.STARTING, liveness.COMPILING)


class RayEvaluator(Evaluator):
    """
    Runs trials in actors of Ray, which keep their engines loaded.

    Results, losses and scheduling are as in ``RosEvaluator``. A worker counts as lost after 10 s
    without a pulse, or without a control period in a trial; Ray's own verdict takes minutes.
    Losses by the end of a machine, for want of memory or between trials do not count against a
    trial.

    Parameters
    ----------
    workers : int
        Number of workers; 0: one per processor of this machine or of the cluster.
    address : str
        ``HOST:PORT`` of the head of a running cluster of which this machine is a node. Empty: an
        own Ray on the loopback address of this machine.
    hang : float [s]
        Time without a pulse or a control period after which a worker counts as lost.
    patience : float [s]
        See ``LossCounter``.

    Raises
    ------
    ConfigurationError
        If nothing answers at the address, or there is no token for it.

    """

    def __init__(
        self,
        *,
        workers: int = 0,
        address: str = '',
        hang: float = HANG_TIME,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(workers=workers)
        if address:
            check_cluster(address)
        self._count, self._address, self._hang = workers, address, hang
        self._place = f'the Ray cluster at {address}' if address else 'Ray'
        self._ray: RayProcess | None = None
        self._size = 0
        self._workers: dict[int, RayWorker] = {}
        self._numbers = itertools.count()
        self._batch = TrialBatch(-1, (), deque())
        self._parts: dict[shipping.Part, shipping.PackedPart] = {}
        self._report: LossCallback = print_loss
        self._losses = LossCounter(patience=patience)
        self._resume_at = 0.0
        self._speeds = WorkerSpeeds()
        self._clock = WatchClock()
        self._ready_at = 0.0

    @property
    def worker_names(self) -> tuple[str, ...]:
        """Hosts and processes of the workers that run a trial or are available for one."""
        return tuple(sorted(worker.name for worker in self._workers.values() if worker.is_ready))

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
            If Ray cannot be started or refuses us, or every worker lacks a part of a trial.
        DeadlyTrial, NoWorkers
            See ``LossCounter``; NoWorkers also if Ray ends.
        RunCancelled
            After a call of ``cancel``, also in the middle of a trial.

        """
        self._report = lost or print_loss
        self._losses.begin(self._report)
        batch = self._batch = TrialBatch(self._batch.number + 1, specs, deque(range(len(specs))))
        try:
            ray = self._connect()
            self._check_parts(ray)
            last_time = self._ready_at = time.monotonic()
            while len(batch.results) < len(specs):
                self.raise_if_cancelled()
                self._start_workers(ray)
                self._dispatch(ray)
                done = self._receive(ray)
                before, last_time = last_time, time.monotonic()
                self.workload.offered += (last_time - before) * len(self.worker_names)
                for index in done:
                    if progress is not None:
                        progress(index, batch.results[index])
        except BaseException:
            # Answers to these trials would arrive in the next call.
            self.close()
            raise
        return [batch.results[index] for index in range(len(specs))]

    def close(self) -> None:
        """End the workers, even in the middle of a trial, and an own Ray."""
        self._workers = {}
        if self._ray is not None:
            self._ray.close()
            self._ray = None

    # ------------------------------------------------------------------------- Ray and workers

    def _connect(self) -> RayProcess:
        """Return the process that talks to Ray; start it at the first call and wait for Ray."""
        if self._ray is not None:
            return self._ray
        wanted = self._count or os.cpu_count() or 1
        log = None if self.log_folder is None else self.log_folder / LOG_NAME
        ray = self._ray = RayProcess(wanted, self._address, log)
        deadline = time.monotonic() + (_CONNECT_TIME if self._address else _START_TIME)
        while time.monotonic() < deadline:
            self.raise_if_cancelled()
            try:
                for kind, content in ray.read(_POLL_TIME):
                    if kind == 'refused':
                        raise ConfigurationError(self._describe_refusal(ray, content))
                    self._size = self._fit_workers(wanted, content)
                    return ray
            except EOFError:
                raise ConfigurationError(self._describe_no_start(ray)) from None
        raise ConfigurationError(self._describe_silence())

    def _describe_refusal(self, ray: RayProcess, error: str) -> str:
        if 'InvalidAuthToken' in ray.last_line():
            return f'{self._place} has another token than {token_file()}'
        if error.startswith('ConnectionError'):
            return self._describe_silence()
        return f'{self._place} refuses: {error}'

    def _describe_silence(self) -> str:
        if not self._address:
            return f'Ray did not start within {_START_TIME:g} s'
        return f'what answers at {self._address} is no head of a Ray cluster'

    def _describe_no_start(self, ray: RayProcess) -> str:
        if not self._address:
            return f'Ray ended at its start: {ray.last_line()}'
        return (
            f'this machine is no node of {self._place}; make it one by '
            f'`ray start --address {self._address} --num-cpus 0`'
        )

    def _fit_workers(self, wanted: int, room: int) -> int:
        """Return the number of workers to start; say if some have to wait for a node."""
        if not self._address:
            return wanted
        if not self._count:
            return max(1, room)
        if wanted > room:
            self._report(
                None,
                f'{self._place} has room for {room} of {wanted} workers; the others start when a '
                'node joins',
            )
        return wanted

    def _check_parts(self, ray: RayProcess) -> None:
        """Check the workers again if a trial names a robot or a plugin that they do not know."""
        known = len(self._parts)
        for spec in self._batch.specs:
            for part in shipping.list_parts(spec):
                if part not in self._parts:
                    self._parts[part] = shipping.pack_part(*part)
        if len(self._parts) > known:
            for number, worker in self._workers.items():
                worker.is_ready = False
                self._check_worker(ray, number)

    def _check_worker(self, ray: RayProcess, number: int) -> None:
        expected = {
            'fingerprint': fingerprint(),
            'platform': fingerprint_fields(),
            'suite': shipping.hash_suite(),
            'parts': [part for part, _ in self._parts.values()],
        }
        ray.send('check', number, expected, [files for _, files in self._parts.values()])

    def _start_workers(self, ray: RayProcess) -> None:
        """Start missing workers, and end the run if none can be had."""
        now = time.monotonic()
        while len(self._workers) < self._size and now >= self._resume_at:
            number = next(self._numbers)
            self._workers[number] = RayWorker()
            ray.send('start', number)
        if self.worker_names:
            self._ready_at = now
            return
        refusals = [each.refusal for each in self._workers.values() if each.refusal]
        if refusals and (len(refusals) == self._size or now > self._ready_at + _REFUSAL_PATIENCE):
            raise ConfigurationError(refusals[0])
        if now > self._ready_at + _START_PATIENCE:
            raise NoWorkers(f'{self._place} started no worker in {_START_PATIENCE:g} s')

    # ---------------------------------------------------------------------------------- trials

    def _dispatch(self, ray: RayProcess) -> None:
        """Start waiting or overdue trials on idle workers, the fastest worker first."""
        specs, waiting, speeds = self._batch.specs, self._batch.waiting, self._speeds
        idle = [number for number, worker in self._workers.items() if worker.is_idle]
        if not idle:
            return
        running, now = self._running_trials(), time.monotonic()
        busy = {
            str(number): (specs[index].ticks, now - self._workers[number].began)
            for number, index in running.items()
        }
        # At most two workers run one trial.
        alone = {str(number): busy[str(number)] for number in select_lone_workers(running)}
        for number in sorted(idle, key=lambda key: speeds.expected_time(str(key), 1000)):
            ticks = (specs[index].ticks for index in waiting)
            if is_worth_starting(speeds, str(number), ticks, busy):
                index = waiting.popleft()
            elif not waiting and (late := find_overdue_worker(speeds, str(number), alone)):
                index = running[int(late)]
                del alone[late]
            else:
                # Slower workers should start nothing either.
                break
            self._submit(ray, number, index)
            busy[str(number)] = specs[index].ticks, 0.0

    def _submit(self, ray: RayProcess, number: int, index: int) -> None:
        worker, spec = self._workers[number], self._batch.specs[index]
        worker.trial, worker.began = (self._batch.number, index), time.monotonic()
        worker.activity = liveness.RUNNING
        plain, files = shipping.pack_spec(spec)
        ray.send('run', number, worker.trial, plain, spec.weights, files)

    def _running_trials(self) -> dict[int, int]:
        """Return the trial of this batch that each worker runs."""
        trials = {number: worker.trial for number, worker in self._workers.items()}
        return {
            number: trial[1]
            for number, trial in trials.items()
            if trial is not None and trial[0] == self._batch.number
        }

    def _receive(self, ray: RayProcess) -> list[int]:
        """Handle the messages that arrive within a moment; return the trials that have ended."""
        done: list[int] = []
        try:
            for kind, *content in ray.read(_POLL_TIME):
                if kind == 'head':
                    raise NoWorkers(f'the head of {self._place} is gone: {content[0]}')
                number = content[0]
                if number in self._workers:
                    done += self._handle(ray, kind, *content)
        except EOFError:
            raise NoWorkers(
                f'the process that talks to {self._place} ended: {ray.last_line()}'
            ) from None
        now = self._clock.now()
        for number, worker in tuple(self._workers.items()):
            if worker.name and now - worker.heard > self._hang:
                self._discard(ray, number, f'gave no sign of life for {self._hang:g} s', False)
        return done

    def _handle(self, ray: RayProcess, kind: str, number: int, *content: Any) -> list[int]:
        """Handle the message of a worker; return the trial that it ends, if any."""
        worker = self._workers[number]
        worker.heard = self._clock.now()
        if kind == 'started':
            (worker.name,) = content
            self._check_worker(ray, number)
        elif kind == 'checked':
            self._admit(worker, *content)
        elif kind == 'pulse':
            worker.activity, idle_time = content
            if worker.trial is not None and idle_time > self._hang:
                reason = f'ran no control period for {self._hang:g} s'
                self._discard(ray, number, reason, True)
        elif kind == 'lost':
            self._discard(ray, number, *content)
        else:
            return self._take_answer(ray, number, *content)
        return []

    def _admit(self, worker: RayWorker, refusal: str) -> None:
        """Use a worker that was checked, or report why it is not used."""
        worker.is_ready = not refusal
        if not refusal:
            return
        worker.refusal = f'worker {worker.name} is not used: {refusal}'
        if worker.trial is not None:
            self._requeue(worker)
        self._report(None, worker.refusal)

    def _take_answer(
        self, ray: RayProcess, number: int, trial: list[int], kind: str, content: Any
    ) -> list[int]:
        """Keep the result of a trial, if it is the first one, or requeue it after a shortage."""
        worker, (batch, index) = self._workers[number], trial
        if kind == SHORTAGE:
            self._discard(ray, number, content, False)
            return []
        worker.trial = None
        if batch != self._batch.number or index in self._batch.results:
            return []
        if kind == REFUSED:
            raise ConfigurationError(content)
        if kind == RAISED:
            raise RuntimeError(content)
        result = read_value(TrialResult, content)
        # The spec was changed on its way.
        spec_hash = sha256_of(self._batch.specs[index])
        self._batch.results[index] = replace(result, spec_hash=spec_hash)
        self._speeds.record(str(number), result.ticks, time.monotonic() - worker.began)
        self._losses.count_result()
        self.workload.busy += result.wall_time
        return [index]

    def _discard(self, ray: RayProcess, number: int, reason: str, by_trial: bool) -> None:
        """End a lost worker and requeue its trial."""
        worker = self._workers.pop(number)
        ray.send('stop', number)
        index = self._requeue(worker)
        counts = index is not None and by_trial and worker.activity not in _LOADING
        self.lost_workers += 1
        self._losses.count_loss(index, f'worker {worker.name}: {reason}', by_trial=counts)
        self._resume_at = time.monotonic() + self._losses.start_delay

    def _requeue(self, worker: RayWorker) -> int | None:
        """Return the trial of a worker, if it is of this batch, and queue it again."""
        trial, worker.trial = worker.trial, None
        if trial is None or trial[0] != self._batch.number:
            return None
        index = trial[1]
        self.workload.lost_trials += 1
        if index not in (*self._batch.results, *self._running_trials().values()):
            # Last in the queue: if it ends its workers, the other trials are done by then.
            self._batch.waiting.append(index)
        return index
