"""Trials of several evolutions that run side by side, tried together where the engine can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
import threading

from gait_core.contracts import Evaluator, Progress
from gait_core.trial_batch import run_together
from gait_core.trial_spec import TrialResult, TrialSpec
from gait_core.worker_policy import Lost


@dataclass
class _Call:
    specs: Sequence[TrialSpec]
    results: list[TrialResult] = field(default_factory=list)
    error: BaseException | None = None
    done: bool = False


class Together:
    """
    Gathers what all its members ask for, then runs it at once in this process.

    Every member is an evaluator for a thread of its own. A call waits until all members that are
    open have called; results are those of single trials to the last bit.

    Parameters
    ----------
    members : int
    threads : int
        That the engine may use.

    """

    def __init__(self, members: int, threads: int) -> None:
        self._open, self._threads = members, threads
        self._calls: list[_Call] = []
        self._changed = threading.Condition()

    def member(self) -> Member:
        """Return the evaluator of one evolution."""
        return Member(self)

    def run(self, specs: Sequence[TrialSpec]) -> list[TrialResult]:
        """Return the results of a member's trials."""
        call = _Call(specs)
        with self._changed:
            self._calls.append(call)
            self._run_if_complete()
            while not call.done:
                self._changed.wait()
        if call.error is not None:
            raise call.error
        return call.results

    def leave(self) -> None:
        """Let the others go on without a member."""
        with self._changed:
            self._open -= 1
            self._run_if_complete()

    def _run_if_complete(self) -> None:
        """Run what was called for if nobody is missing; the lock is held, all others wait."""
        if not self._calls or len(self._calls) < self._open:
            return
        calls, self._calls = self._calls, []
        try:
            every = run_together([spec for one in calls for spec in one.specs], self._threads)
            for one in calls:
                one.results, every = every[: len(one.specs)], every[len(one.specs) :]
        except BaseException as error:
            for one in calls:
                one.error = error
        for one in calls:
            one.done = True
        self._changed.notify_all()


class Member(Evaluator):
    """The evaluator of one evolution among several."""

    def __init__(self, group: Together) -> None:
        super().__init__()
        self._group = group
        self._left = False

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: Progress | None = None,
        lost: Lost | None = None,
    ) -> list[TrialResult]:
        """Return one result per spec, in their order, when all members have called."""
        results = self._group.run(specs)
        for index, result in enumerate(results):
            if progress is not None:
                progress(index, result)
        return results

    def close(self) -> None:
        """Let the others go on alone."""
        if not self._left:
            self._left = True
            self._group.leave()
