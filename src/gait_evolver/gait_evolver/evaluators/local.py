# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evaluator that runs trials in worker processes of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
import time
from typing import Any

from gait_core.contracts import Evaluator, ProgressCallback
from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.processes import liveness
from gait_core.processes.worker_policy import HANG_TIME, PATIENCE, LossCallback, print_loss
from gait_core.trial.failures import exception_result, is_resource_shortage
from gait_core.trial.loop import run_trial
from gait_core.trial.parts import load_trial_parts
from gait_core.trial.spec import TrialResult, TrialSpec
from gait_evolver.evaluators.pool import WorkerPool


class LocalEvaluator(Evaluator):
    """
    Runs trials in worker processes of this machine, which keep their engines loaded.

    Parameters
    ----------
    workers : int
        Number of processes; 0: one per processor.
    hang : float [s]
        Time without a finished control period after which a busy worker counts as lost.
    patience : float [s]
        See ``LossCounter``.

    """

    def __init__(
        self, *, workers: int = 0, hang: float = HANG_TIME, patience: float = PATIENCE
    ) -> None:
        super().__init__(workers=workers)
        self._pool = WorkerPool(run_trial_from_data, workers, hang=hang, patience=patience)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the started workers."""
        return self._pool.pids

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
            If a trial names something that does not exist or is not usable here.
        DeadlyTrial, NoWorkers
            See ``LossCounter``.
        RunCancelled
            After a call of ``cancel``, also in the middle of a trial.

        """

        def count(index: int | None, reason: str) -> None:
            """Count a lost worker, and its trial if it had one."""
            self.lost_workers += 1
            self.workload.lost_trials += index is not None
            (lost or print_loss)(index, reason)

        results: dict[int, TrialResult] = {}
        last_time = time.monotonic()
        answers = self._pool.run(
            len(specs),
            lambda index: to_plain_data(specs[index]),
            count,
            self.raise_if_cancelled,
        )
        with closing(answers):
            for index, answer in answers:
                results[index] = result = read_value(TrialResult, answer)
                self.workload.busy += result.wall_time
                if progress is not None:
                    progress(index, result)
                before, last_time = last_time, time.monotonic()
                self.workload.offered += (last_time - before) * self._pool.size
        return [results[index] for index in range(len(specs))]

    def close(self) -> None:
        """End the worker processes, even in the middle of a trial."""
        self._pool.close()


def run_trial_from_data(plain_spec: Any) -> Any:
    """
    Run a trial, given as plain data, in a worker process; return its result as plain data.

    Raises ConfigurationError if a part of the trial cannot be loaded, and a shortage of the
    machine as it is. Any other exception becomes a result of status ``exception``.
    """
    spec = read_value(TrialSpec, plain_spec)
    # BaseException: a user's code may also call sys.exit.
    try:
        load_trial_parts(spec)
        liveness.set_activity(liveness.RUNNING)
        result = run_trial(spec)
    except BaseException as error:
        is_refused = (
            isinstance(error, ConfigurationError)
            and liveness.current_activity() != liveness.RUNNING
        )
        if is_refused or is_resource_shortage(error):
            raise
        result = exception_result(spec, error)
    return to_plain_data(result)
