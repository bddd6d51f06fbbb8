# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Evolution in a thread, for callers that must not block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import threading
import traceback

from gait_core.contracts import Evaluator
from gait_core.errors import RunCancelled, RunStopped, describe_error
from gait_evolver.loop import Evolution, EvolutionProgress
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore


class EvolutionThread:
    """
    Evolution that runs in a thread.

    Parameters
    ----------
    open_store : callable
        Returns the store and its recorded generations; called in the thread.
    make_evaluator : callable
        Returns the evaluator; called in the thread.
    say : callable
        Prints a line for the user; called in the thread.

    Attributes
    ----------
    store : RunStore or None
        None before it is open.
    evaluator : Evaluator or None
        None before it is made.
    snapshot : EvolutionProgress or None
        Copy of the progress at the end of the last trial.
    status : str
        Empty while the thread runs, then ``completed``, ``cancelled`` or ``failed``.
    message : str
        One line on a failure.
    details : str
        Traceback of an unexpected failure.

    """

    def __init__(
        self,
        open_store: Callable[[], tuple[RunStore, Sequence[Sequence[TrialRow]]]],
        make_evaluator: Callable[[], Evaluator],
        say: Callable[[str], None],
    ) -> None:
        self._open_store, self._make_evaluator = open_store, make_evaluator
        self._say = say
        self._cancelled = threading.Event()
        self.store: RunStore | None = None
        self.evaluator: Evaluator | None = None
        self.snapshot: EvolutionProgress | None = None
        self.status = ''
        self.message = ''
        self.details = ''
        self._thread = threading.Thread(target=self._run, name='evolution')
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """True until the thread has ended."""
        return self._thread.is_alive()

    @property
    def is_cancelling(self) -> bool:
        """True after a call of ``cancel``."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop the run, also in the middle of a trial; it can be resumed."""
        self._cancelled.set()
        if self.evaluator is not None:
            self.evaluator.cancel()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the thread, at most ``timeout`` [s]."""
        self._thread.join(timeout)

    def _run(self) -> None:
        """Evolve, and keep how the run ended: its status, and the error if there was one."""
        try:
            self._evolve()
            self.status = 'completed'
        except RunCancelled:
            self.status = 'cancelled'
        except RunStopped as error:
            self.status, self.message = 'failed', str(error)
        except (Exception, SystemExit) as error:
            # An exception in a thread would be lost: keep it for the caller.
            self.status, self.message = 'failed', describe_error(error)
            self.details = traceback.format_exc()

    def _evolve(self) -> None:
        """Make the evaluator, open the store, run every generation, and close both."""
        # The evaluator first: an error in it must not leave an empty run directory.
        evaluator = self.evaluator = self._make_evaluator()
        try:
            if self._cancelled.is_set():
                raise RunCancelled
            store, recorded = self._open_store()
            self.store = store
            try:
                Evolution(store, evaluator, recorded, self._listen, say=self._say).run()
            except RunStopped as error:
                store.log_event(f'{error}; the run can be resumed')
                raise
            finally:
                store.close()
        finally:
            evaluator.close()

    def _listen(self, progress: EvolutionProgress) -> None:
        # A copy, because the other thread reads it while the run continues.
        self.snapshot = replace(
            progress,
            invalid_counts=progress.invalid_counts.copy(),
            violation_counts=progress.violation_counts.copy(),
        )
        if self._cancelled.is_set() and not progress.stop_reason:
            raise RunCancelled
