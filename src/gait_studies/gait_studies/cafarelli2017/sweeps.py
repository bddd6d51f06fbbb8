# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: runs of the published program behind Tables 6.2 to 6.9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from gait_core.arrays import FloatArray
from gait_studies.cafarelli2017.strides.published_sweeps import (
    CONTROL_SETTINGS,
    SEEDS,
    RunOutcome,
    run_outcomes,
)
from gait_studies.cafarelli2017.strides.search import PublishedSettings
from gait_tools.study.session import StudySession

LONG_SETTINGS = replace(CONTROL_SETTINGS, generations=1000)
"""Control run whose beginnings are the rows of Table 6.3."""

LATE_MUTATIONS = (0.03, 0.05)
"""Mutation rates whose runs go on until the mean reaches the printed one."""

LONGER_RUNS = (
    LONG_SETTINGS,
    *(replace(CONTROL_SETTINGS, mutation=rate, generations=600) for rate in LATE_MUTATIONS),
)
"""Runs that are recorded along the way; shorter ones with the same settings are parts of them."""

INTERVAL = 100
"""Generations between two records of a longer run."""

_ROTARY_INTERVALS = 10
"""Intervals of the rotary sums; the published 100 give the same statistics five times slower."""


@dataclass(frozen=True)
class Run:
    """A run of the published program; its best is recorded every ``every`` generations."""

    settings: PublishedSettings
    seed: int
    every: int | None = None


def run_outcomes_as_data(run: Run) -> list[dict[str, float]]:
    """Return the outcomes of a run as mappings, for JSON."""
    return [asdict(outcome) for outcome in run_outcomes(run.settings, run.seed, run.every)]


class Sweeps:
    """Runs of all tables: ten seeds per setting, three in a quick study."""

    def __init__(self, session: StudySession) -> None:
        self.seeds = SEEDS[:3] if session.quick else SEEDS
        self._session = session
        self._known: dict[str, list[list[RunOutcome]]] = {}

    def run(self, settings: Sequence[PublishedSettings]) -> None:
        """Run every setting with every seed."""
        tasks = {}
        for setting in settings:
            for seed in self.seeds:
                run = self._run(setting, seed)
                tasks[repr(run)] = run
        done = self._session.run_tasks('published_runs', run_outcomes_as_data, tasks)
        for setting in settings:
            name = repr(self._run(setting, 0))
            self._known[name] = [
                [RunOutcome(**outcome) for outcome in done[repr(self._run(setting, seed))]]
                for seed in self.seeds
            ]

    def final_values(self, settings: PublishedSettings, field: str) -> FloatArray:
        """Return a field of the final outcomes of the runs of a setting, (seeds,)."""
        return np.array([getattr(outcome, field) for outcome in self.final_outcomes(settings)])

    def final_outcomes(self, settings: PublishedSettings) -> list[RunOutcome]:
        """Return the final outcomes of the runs of a setting, by seed."""
        along = self._known[repr(self._run(settings, 0))]
        if self._longer(settings) is not None:
            return [run[settings.generations // INTERVAL - 1] for run in along]
        return [run[-1] for run in along]

    def fitness_curves(self, settings: PublishedSettings) -> FloatArray:
        """Return the fitness along the longer runs of a setting, (seeds, hundreds)."""
        known = self._known[repr(self._run(settings, 0))]
        return np.array([[outcome.fitness for outcome in run] for run in known])

    def _longer(self, settings: PublishedSettings) -> PublishedSettings | None:
        """Return the longer run of which a setting's run is the beginning, if there is one."""
        return next(
            (
                longer
                for longer in LONGER_RUNS
                if settings == replace(longer, generations=settings.generations)
            ),
            None,
        )

    def _run(self, settings: PublishedSettings, seed: int) -> Run:
        longer = self._longer(settings)
        every = None if longer is None else INTERVAL
        return Run(replace(longer or settings, intervals=_ROTARY_INTERVALS), seed, every)
