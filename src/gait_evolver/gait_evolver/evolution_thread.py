"""An evolution in a thread of its own, for callers that must not be held up by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import threading
import traceback

from gait_core.contracts import Evaluator
from gait_core.errors import RunStopped, describe_error
from gait_evolver.loop import Evolution, EvolutionProgress
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import RunStore


class RunCancelled(Exception):
    """Raised between two trials of a run that is to stop."""


class EvolutionThread:
    """
    Runs an evolution in a thread; ``cancel`` takes effect at the end of a trial.

    Parameters
    ----------
    open_store : callable
        Returns the store and its recorded generations; called in the thread.
    make_evaluator : callable
        Likewise.
    say : callable
        Shows a line to the user; called in the thread.

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
        """Progress at the end of the last trial."""
        self.status = ''
        """``completed``, ``cancelled`` or ``failed`` at the end, empty before."""
        self.message = ''
        """One line on its failure; the traceback is in ``details``."""
        self.details = ''
        self._thread = threading.Thread(target=self._run, name='evolution')
        self._thread.start()

    @property
    def running(self) -> bool:
        """True if the thread has not ended."""
        return self._thread.is_alive()

    @property
    def is_cancelling(self) -> bool:
        """True if the run has been asked to stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop at the end of a trial; what was recorded stays and can be resumed."""
        self._cancelled.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end [s]."""
        self._thread.join(timeout)

    def _run(self) -> None:
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
        # First: a mistake in the evaluator must not leave an empty run behind.
        evaluator = self.evaluator = self._make_evaluator()
        try:
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
        # A copy: the run goes on while it is read.
        self.snapshot = replace(progress, invalid_counts=progress.invalid_counts.copy())
        if self._cancelled.is_set() and not progress.stop_reason:
            raise RunCancelled
