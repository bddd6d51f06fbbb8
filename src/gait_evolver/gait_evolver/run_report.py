# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines on the progress and the end of an evolution, for the log of a node."""

from __future__ import annotations

from collections.abc import Callable

from gait_evolver.evolution_thread import EvolutionThread
from gait_evolver.loop import EvolutionProgress


class RunReporter:
    """
    Reporter of one evolution.

    Parameters
    ----------
    say : callable
        Called with each line.

    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._has_folder = False
        self._generation = 0

    def update(self, run: EvolutionThread) -> None:
        """Report the run directory once, and each generation that has finished since."""
        if run.store is not None and not self._has_folder:
            self._has_folder, self._generation = True, run.store.generations_done
            done = f', after {self._generation} generations' if self._generation else ''
            self._say(f'run directory: {run.store.folder}{done}')
        snapshot = run.snapshot
        if snapshot is not None and snapshot.generation > self._generation:
            self._generation = snapshot.generation
            self._say(
                f'generation {snapshot.generation} of {snapshot.generations}: '
                f'{_describe_best(snapshot)}, {snapshot.evaluations} evaluations, '
                f'{snapshot.rate:.3g} per second{_describe_time_left(snapshot)}'
            )


def describe_end(run: EvolutionThread) -> str:
    """Return one line on the end of a run: reason, best fitness, losses, and the next step."""
    parts = [f'evolution {run.status}']
    if run.message:
        parts[0] += f': {run.message}'
    if run.snapshot is not None:
        parts.append(_describe_best(run.snapshot))
    evaluator = run.evaluator
    if evaluator is not None and evaluator.lost_workers:
        parts.append(
            f'lost workers: {evaluator.lost_workers}, trials begun again: '
            f'{evaluator.workload.lost_trials}'
        )
    store = run.store
    if store is not None and run.status != 'completed':
        parts.append(f'it can be resumed with resume:=true run_directory:={store.folder}')
    elif store is not None and store.champion_file.exists():
        parts.append(f'champion: {store.champion_file}')
    return '; '.join(parts)


def _describe_best(progress: EvolutionProgress) -> str:
    if progress.best is None:
        return 'no valid candidate yet'
    return f'best fitness {progress.best.fitness:.4g}'


def _describe_time_left(progress: EvolutionProgress) -> str:
    if not progress.time_left:
        return ''
    return f', {progress.time_left / 60.0:.1f} min left'
