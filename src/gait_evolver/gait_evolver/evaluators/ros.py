"""Trials on sim_bridge workers, asked for through their services."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import time
from typing import Any

from gait_core.benchmark import Measurement
from gait_core.canonical import sha256_of
from gait_core.contracts import Progress
from gait_core.errors import ConfigurationError, NoWorkers
from gait_core.fingerprint import fingerprint
from gait_core.trial_spec import TrialResult, TrialSpec
from gait_core.worker_policy import HANG, PATIENCE, Losses, Lost
from gait_evolver.evaluators.balance import Pace, backup, worth
from gait_evolver.evaluators.workload import Workload
from gait_interfaces.msg import WorkerStatus
from gait_ros.session import RosClient, run_ros_trial
from gait_ros.worker_client import TrialRefused, WorkerClient, WorkerLost
from gait_ros.worker_processes import WorkerProcesses

_STATUS_TYPE = 'gait_interfaces/msg/WorkerStatus'
_STATUS_TOPIC = '/worker_status'
_TRIAL_MODE = 'lockstep'
_LOOK_PERIOD = 1.0
_SPIN = 0.2


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

    A worker is lost after 10 s without a heartbeat, or without a control period in a trial. Its
    trial goes to another worker and a late answer is dropped; the worker counts again once it is
    heard again, and one that was started here is started again. Trials are given out by the speed
    that each worker has shown: a slow one is left idle where the others are done sooner without
    it, and where none is left to be begun one that is overdue is begun on an idle worker as well;
    the first answer counts.

    Parameters
    ----------
    workers : int
        Workers to start on this machine and to use alone; one that ends is started again. 0:
        use those that run on the domain, as they come and go.
    names : sequence of str
        Full names of running workers to use alone, e.g. ``/worker0/sim_bridge``.
    hang : float [s]
        After which a worker is lost.
    patience : float [s]
        As of ``Losses``; also for how long no worker at all may be heard.

    """

    def __init__(
        self,
        *,
        workers: int = 0,
        names: Sequence[str] = (),
        hang: float = HANG,
        patience: float = PATIENCE,
    ) -> None:
        if workers < 0:
            raise ConfigurationError(f'workers is {workers}, it must not be negative')
        self._own = WorkerProcesses(workers, hang)
        self._named = tuple(names) + self._own.names
        self._client: RosClient | None = None
        self._workers: dict[str, _Worker] = {}
        self._waiting: deque[int] = deque()
        self._losses = Losses(patience=patience)
        self._resume_at = 0.0
        self._foreign: set[str] = set()
        self._looked = 0.0
        self._hang, self._patience = hang, patience
        self._pace = Pace()
        self.workload = Workload()
        self.lost_workers = 0

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: Progress | None = None,
        lost: Lost | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec, in their order.

        An exception in a trial is its status. A trial whose worker is lost is run again.

        Raises
        ------
        ConfigurationError
            If a worker refuses a trial (the message is its own), or none is to be found.
        DeadlyTrial, NoWorkers
            As of ``Losses``.

        """
        self._losses.begin(lost)
        client = self._open()
        results: dict[int, TrialResult] = {}
        waiting = self._waiting = deque(range(len(specs)))
        self._heard = seen = time.monotonic()
        try:
            while len(results) < len(specs):
                self._look(client)
                self._dispatch(specs, waiting)
                ended = client.wait(lambda: self._ended(specs), _SPIN) or ()
                before, seen = seen, time.monotonic()
                self.workload.offered += (seen - before) * len(self.alive)
                for index, result in ended:
                    if index in results:
                        continue  # Both that ran it have answered at once.
                    results[index] = result
                    self._losses.passed()
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
        self._own.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that were started here."""
        return self._own.pids

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
            self._client = RosClient(f'evaluator_{os.getpid()}')
            # Those of our own are watched while they start: that may take long where kernels are
            # compiled.
            self._client.wait(self._found, None if self._own.names else self._patience)
            if not self.alive:
                raise ConfigurationError(self._none_found())
        return self._client

    def _found(self) -> tuple[str, ...]:
        assert self._client is not None
        self._look(self._client)
        return self.alive

    def _none_found(self) -> str:
        if self._named:
            return f'the worker {self._named[0]} does not answer'
        return (
            'no sim_bridge worker is to be found on this domain: start some, e.g. '
            '`gait evolve ... --evaluator ros --workers 2` starts its own'
        )

    def _look(self, client: RosClient) -> None:
        """Find workers, and start those of our own that are missing, or lost."""
        now = time.monotonic()
        if now - self._looked < _LOOK_PERIOD:
            return
        self._looked = now
        for name in self._own.names:
            self._tend(name)
        for name in self._named or _on_domain(client.node):
            if name not in self._workers:
                self._workers[name] = _Worker(WorkerClient(client.node, name, self._hang))
        if self.alive or self._own.names:
            self._heard = now
        elif self._workers and now - getattr(self, '_heard', now) > self._patience:
            raise NoWorkers(
                f'no worker has been heard for {self._patience:g} s; the run can be resumed'
            )

    def _tend(self, name: str) -> None:
        """Replace a worker of our own that is lost; start one that does not run."""
        if name not in self._own.missing:
            one = self._workers.get(name)
            heard = one is not None and one.client.status is not None
            reason = self._own.trouble(name, heard)
            if (
                not reason
                and one is not None
                and heard
                and one.trial is None
                and one.client.silent
            ):
                reason = f'{name} is lost: no heartbeat for {self._hang:g} s'
            if reason:
                self._lose(name, reason)
        if name in self._own.missing and time.monotonic() >= self._resume_at:
            try:
                self._own.start(name)
            except OSError as error:
                self._count(None, f'a worker cannot be started: {error.strerror}')

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

    def _ended(self, specs: Sequence[TrialSpec]) -> list[tuple[int, TrialResult]]:
        """Return the trials that have ended since the last call."""
        ended = []
        for name, one in tuple(self._workers.items()):
            index = one.trial
            if index is None:
                continue
            try:
                result = one.client.poll()
            except WorkerLost as loss:
                self._lose(name, str(loss))
                continue
            except TrialRefused as refusal:
                one.trial = None
                result = self._after_refusal(one, index, refusal)
                if result is not None:
                    ended.append((index, result))
                continue
            if result is not None:
                self._examine(name, specs[index], result)
                self._pace.note(name, result.ticks, time.monotonic() - one.began)
                one.trial = None
                ended.append((index, result))
        return ended

    def _lose(self, name: str, reason: str) -> None:
        """Take its trial from a worker; end one of our own, to be started again."""
        one = self._workers.get(name)
        index = None if one is None else one.trial
        begun = index is not None and one is not None and not one.client.loading
        if one is not None:
            one.trial, one.lost = None, one.client.status
            one.client.cancel()
            one.client.drop()
        if name in self._own.names:
            self._own.end(name)
            if one is not None:
                # What it said last is no word of the process that takes its place.
                one.client.close()
                del self._workers[name]
        if index is not None:
            self.workload.lost_trials += 1
            if not self._runners(index):
                # Behind the others: these show whether it is the trial that ends workers.
                self._waiting.append(index)
        self._count(index, reason, begun)

    def _count(self, index: int | None, reason: str, begun: bool = False) -> None:
        self.lost_workers += 1
        self._losses.lost(index, reason, by_trial=begun)
        self._resume_at = time.monotonic() + self._losses.delay

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

    def _after_refusal(
        self, one: _Worker, index: int, refusal: TrialRefused
    ) -> TrialResult | None:
        """Return the result of a trial that could not be run; raise what concerns all of them."""
        message = str(refusal)
        if refusal.result is not None:
            return refusal.result
        if refusal.shortage:
            one.trial = index
            self._lose(one.client.name, f'{one.client.name}: {message}')
            return None
        if 'is running' not in message and 'not active' not in message:
            raise ConfigurationError(message)
        # Somebody else was faster.
        one.lost = one.client.status
        self._waiting.appendleft(index)
        return None

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


def walk_champions(folder: Path, seconds: float) -> list[Measurement]:
    """Return how far the champions of a folder walk live, over how far in this process."""
    from gait_ros.live_walk import compare_walks

    return compare_walks(sorted(folder.glob('*champion*.yaml')), seconds)


def flood_nodes(share: float = 1.0) -> list[Measurement]:
    """Return what becomes of every node under a flood of that share of a minute."""
    from gait_ros.flood import SECONDS, flooded

    return flooded(SECONDS * share)
