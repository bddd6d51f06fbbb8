# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Handling of lost workers, exceptions in trials and trials that end their workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
import sys

from gait_core.contracts import Evaluator
from gait_core.errors import ConfigurationError, DeadlyTrial, RunStopped, name_hint
from gait_core.trial.loop import result_without_ticks
from gait_core.trial.spec import EXCEPTION, SKIPPED, TrialResult, TrialSpec
from gait_evolver.run.store import RunStore

_MAX_EXCEPTION_SHARE = 0.5
"""Share of a generation's trials above which exceptions end the run."""

_MAX_REASONS = 100
"""Largest number of different exceptions that are reported; each is reported once."""

LinePrinter = Callable[[str], None]
"""Prints a line for the user."""


def print_line(text: str) -> None:
    """Print a line on standard error."""
    print(f'gait: {text}', file=sys.stderr, flush=True)


class IncidentHandler:
    """
    Evaluates generations, reports every incident and ends the run after too many of them.

    Parameters
    ----------
    store : RunStore
        Its ``events.log`` gets every line.
    say : callable
        Prints a line for the user.
    skipped : collection of str
        Names of trials to leave out.

    """

    def __init__(self, store: RunStore, say: LinePrinter, skipped: Collection[str] = ()) -> None:
        self._store, self._say = store, say
        self._skipped = frozenset(skipped)
        self._reported_reasons: set[str] = set()

    def evaluate(
        self,
        evaluator: Evaluator,
        specs: Sequence[TrialSpec],
        names: Sequence[str],
        count: Callable[[], None],
    ) -> list[TrialResult]:
        """
        Return one result per spec; ``count`` is called after each trial.

        Raises
        ------
        RunStopped
            If most trials raise an exception, one trial ends several workers, or workers are lost
            and no trial finishes.

        """
        results: dict[int, TrialResult] = {}
        for index, name in enumerate(names):
            if name in self._skipped:
                results[index] = result_without_ticks(specs[index], SKIPPED, 'left out on request')
                self._report(f'trial {name} is left out and recorded as {SKIPPED}')
                count()
        # The evaluator gets the other trials; ``positions`` maps an index of these to ``specs``.
        positions = [index for index in range(len(specs)) if index not in results]
        failed: dict[int, str] = {}

        def on_result(position: int, result: TrialResult) -> None:
            """Count a finished trial, and report its exception."""
            if result.status == EXCEPTION:
                self._report_exception(names[positions[position]], result.reason)
                failed[positions[position]] = result.reason
                _check_exceptions(failed, len(specs))
            count()

        def on_loss(position: int | None, reason: str) -> None:
            """Report a lost worker, and its trial if it ran one."""
            trial = (
                ''
                if position is None
                else f' in trial {names[positions[position]]}, which is run again'
            )
            self._report(f'{reason}{trial}')

        try:
            evaluated = evaluator.evaluate(
                [specs[index] for index in positions], on_result, on_loss
            )
        except DeadlyTrial as error:
            raise self._deadly_trial_error(error, positions[error.index], specs, names) from error
        results.update(zip(positions, evaluated, strict=True))
        return [results[index] for index in range(len(specs))]

    def check_skipped(self, generation: int, names: Sequence[str]) -> None:
        """Raise ConfigurationError if a generation lacks a trial that should be left out."""
        for name in self._skipped:
            if name.partition('/')[0] == str(generation) and name not in names:
                raise ConfigurationError(f"no trial '{name}' in the run: {name_hint(name, names)}")

    def _report_exception(self, name: str, reason: str) -> None:
        """Report the exception of a trial unless an equal one was reported."""
        if reason not in self._reported_reasons and len(self._reported_reasons) < _MAX_REASONS:
            self._reported_reasons.add(reason)
            self._report(f'trial {name} raised an exception: {reason}')

    def _deadly_trial_error(
        self, error: DeadlyTrial, index: int, specs: Sequence[TrialSpec], names: Sequence[str]
    ) -> RunStopped:
        """Return the error of a trial in which several workers died; its spec is saved."""
        name = names[index]
        file = self._store.save_trial(name, specs[index], error.reasons)
        stopped = RunStopped(
            f'{len(error.reasons)} workers died in trial {name} although other trials finish, the '
            f'last one: {error.reasons[-1]}; the spec of the trial is {file}'
        )
        stopped.trial = name
        return stopped

    def _report(self, text: str) -> None:
        self._store.log_event(text)
        # A closed terminal must not end the run.
        with suppress(OSError):
            self._say(text)


def _check_exceptions(failed: dict[int, str], count: int) -> None:
    """Raise RunStopped if too many of a generation's trials raised an exception."""
    if len(failed) > _MAX_EXCEPTION_SHARE * count:
        raise RunStopped(
            f'{len(failed)} of the {count} trials of a generation raised an exception, the first: '
            f'{failed[min(failed)]}'
        )
