# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Acceptance checks of runs: overhead of workers and ROS, and a run of ten thousand trials.

Ratios of wall times are meaningful on an idle machine only. They have bounds only if a check runs
at its full size (share 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
import importlib.util
from pathlib import Path
import tempfile
import time
from typing import Any

from gait_core import registry
from gait_core.benchmark import Measurement, measure_wall_time, shortest_times
from gait_core.contracts import Evaluator
from gait_core.trial.setup import default_trial
from gait_core.trial.spec import TrialSpec
from gait_evolver.benchmark import resident_memory
from gait_evolver.evaluators.local import LocalEvaluator
from gait_evolver.loop import Evolution, EvolutionProgress
from gait_evolver.plan import load_plan
from gait_evolver.run.store import RunStore

_TRIAL_DURATION, _TRIALS, _REPEATS = 2.0, 16, 3
_LONG_RUN_TRIALS, _SHORT_DURATION = 10_000, 0.2
_POPULATION = 200
_MIN_EFFICIENCY, _MAX_OVERHEAD = 0.9, 0.05
_DISTRIBUTED = (('ros', 'rclpy', 'over ROS', 0.85), ('ray', 'ray', 'of Ray', 0.9))
"""Evaluator, module that it needs, words for it in a row, and smallest rate over ``local``."""
_MAX_GROWTH_MB, _MAX_STORE_SHARE = 50.0, 0.01


def check_worker_costs(share: float = 1.0) -> list[Measurement]:
    """
    Measure trials per second with one and two workers, and with two over ROS and of Ray.

    Parameters
    ----------
    share : float
        Size of the check as a share of its full size; below 1 nothing has a bound, and ROS and
        Ray are left out.

    """
    spec = default_trial('guroo', _TRIAL_DURATION)
    specs = [replace(spec, seed=seed) for seed in range(max(4, round(_TRIALS * share)))]
    one, two = LocalEvaluator(workers=1), LocalEvaluator(workers=2)
    others: dict[str, Any] = {
        name: registry.evaluator(name)(workers=2)
        for name, module, *_ in _DISTRIBUTED
        if share >= 1.0 and importlib.util.find_spec(module) is not None
    }
    try:
        return _cost_rows((one, two), others, specs, share >= 1.0)
    finally:
        for evaluator in (one, two, *others.values()):
            evaluator.close()


def _cost_rows(
    local: tuple[LocalEvaluator, LocalEvaluator],
    others: Mapping[str, Any],
    specs: Sequence[TrialSpec],
    bounded: bool,
) -> list[Measurement]:
    """Measure all evaluators with the same trials: return efficiency and ratios of rates."""
    one, evaluators = local[0], [*local, *others.values()]
    for evaluator in evaluators:
        _warm_up(evaluator, specs)
    busy, offered = one.workload.busy, one.workload.offered
    times = shortest_times(
        *(partial(measure_wall_time, partial(each.evaluate, specs)) for each in evaluators),
        repeats=_REPEATS if bounded else 1,
    )
    outside = 1.0 - (one.workload.busy - busy) / (one.workload.offered - offered)
    row = partial(Measurement, unit='-')
    rows = [
        row(
            id='efficiency_2_workers',
            what=f'trials of {_TRIAL_DURATION:g} s per second: 2 workers over twice 1 worker',
            measured=times[0] / times[1] / 2.0,
            budget=_MIN_EFFICIENCY if bounded else None,
            at_most=False,
        ),
        row(
            id='outside_trials',
            what="share of a worker's time outside its trials",
            measured=outside,
            budget=_MAX_OVERHEAD if bounded else None,
        ),
    ]
    described = {name: (words, least) for name, _, words, least in _DISTRIBUTED}
    for name, seconds in zip(others, times[2:], strict=True):
        words, least = described[name]
        rows.append(
            row(
                id=f'{name}_over_local',
                what=f'trials per second of 2 workers {words}, divided by those of 2 local ones',
                measured=times[1] / seconds,
                budget=least if bounded else None,
                at_most=False,
            )
        )
    return rows


def _warm_up(evaluator: Evaluator, specs: Sequence[TrialSpec]) -> None:
    """Start every worker and let it load its robot, which a run does once."""
    evaluator.evaluate(specs[:4])


class _TimedStore(RunStore):
    """Run store that measures the time spent on its files."""

    seconds = 0.0

    def append(self, *given: Any) -> None:
        """Append trials, timed."""
        began = time.perf_counter()
        super().append(*given)
        self.seconds += time.perf_counter() - began

    def append_summaries(self, *given: Any) -> None:
        """Append summaries, timed."""
        began = time.perf_counter()
        super().append_summaries(*given)
        self.seconds += time.perf_counter() - began


def check_long_run(share: float = 1.0) -> list[Measurement]:
    """
    Measure the growth of memory and the time of files in a run of ten thousand trials.

    Parameters
    ----------
    share : float
        Factor on the population and on the number of generations; their product, the number of
        trials, falls with its square.

    """
    population = max(20, round(_POPULATION * share))
    generations = max(4, round(_LONG_RUN_TRIALS * share**2 / population))
    changes = {'population': population, 'generations': generations, 'duration': _SHORT_DURATION}
    plan = load_plan('guroo_quick', {**changes, 'settle_time': 0.0})
    memory: list[float] = []

    def listen(progress: EvolutionProgress) -> None:
        """Note the memory of all processes after each generation."""
        if progress.trials_done == 0 or progress.stop_reason:
            return
        if progress.trials_done == progress.trials_total:
            memory.append(
                resident_memory('self') + sum(resident_memory(pid) for pid in evaluator.pids)
            )

    evaluator = LocalEvaluator()
    with tempfile.TemporaryDirectory(prefix='gait_checks_') as name:
        store: Any = _TimedStore.create(Path(name) / 'run', plan)
        began = time.perf_counter()
        try:
            progress = Evolution(store, evaluator, (), listen).run()
        finally:
            evaluator.close()
            store.close()
        seconds = time.perf_counter() - began
    first = memory[max(1, len(memory) // 10)]
    return [
        Measurement(
            id='long_run_memory',
            what=f'growth of the memory of a run and its workers in {progress.evaluations} trials',
            unit='MB',
            measured=(memory[-1] - first) / 1e6,
            budget=_MAX_GROWTH_MB,
        ),
        Measurement(
            id='long_run_files',
            what='share of that run spent on log, checkpoint and champions',
            unit='-',
            measured=store.seconds / seconds,
            budget=_MAX_STORE_SHARE if share >= 1.0 else None,
        ),
    ]
