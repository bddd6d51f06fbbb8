# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials per second on one and two workers and memory of a worker, for `gait bench`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
import resource

from gait_core.benchmark import Measurement, measure_wall_time, shortest_times
from gait_core.trial.setup import default_trial, usable_engines, usable_robots
from gait_core.trial.spec import TrialSpec
from gait_evolver.evaluators.local import LocalEvaluator

MIN_SPEEDUP, MAX_GROWTH_MB = 1.8, 20.0
_TRIAL_DURATION = 5.0
_REPEATS = 3
_TRIALS = 12
_MEMORY_TRIALS = 500
_WARM_UP_TRIALS = 10


def measure_evaluators() -> list[Measurement]:
    """Return the rates of one and two workers and the memory of a worker for each engine."""
    rows = [row for engine in usable_engines() for row in _measure_rates(engine)]
    return rows + [
        row for engine in usable_engines() for row in measure_memory(engine, _MEMORY_TRIALS)
    ]


def _measure_rates(engine: str) -> list[Measurement]:
    """Measure evaluations per second with one and with two workers, and their ratio."""
    spec = default_trial('guroo', _TRIAL_DURATION, {'engine': engine})
    specs = [replace(spec, seed=seed) for seed in range(_TRIALS)]
    evaluators = [LocalEvaluator(workers=count) for count in (1, 2)]
    try:
        for evaluator in evaluators:
            # Warm-up: a run starts its processes and loads its robot once.
            evaluator.evaluate(specs[:2])
        one, two = shortest_times(
            *(partial(measure_wall_time, partial(each.evaluate, specs)) for each in evaluators),
            repeats=_REPEATS,
        )
    finally:
        for evaluator in evaluators:
            evaluator.close()
    row = partial(Measurement, group='evaluation')
    return [
        *(
            row(
                id=f'evaluations_{count}_{engine}',
                what=f'trials of guroo of {_TRIAL_DURATION:g} s on {count} workers in {engine}',
                unit='1/s',
                measured=_TRIALS / seconds,
            )
            for count, seconds in ((1, one), (2, two))
        ),
        row(
            id=f'speedup_2_workers_{engine}',
            what=f'trials per second of 2 workers, divided by those of 1, in {engine}',
            unit='-',
            measured=one / two,
            budget=MIN_SPEEDUP,
            at_most=False,
        ),
    ]


def measure_memory(engine: str, trials: int) -> list[Measurement]:
    """
    Return the memory of a worker after its first trials and the growth over many short ones.

    Parameters
    ----------
    engine : str
    trials : int

    """
    robot = usable_robots('a1', 'guroo')[0]
    spec = default_trial(robot, 0.1, {'engine': engine})
    evaluator = LocalEvaluator(workers=1)
    try:
        first = _resident_memory_after(evaluator, [spec] * _WARM_UP_TRIALS)
        last = _resident_memory_after(evaluator, [spec] * trials)
    finally:
        evaluator.close()
    row = partial(Measurement, unit='MB', group='memory')
    return [
        row(
            id=f'memory_{engine}',
            what=f'memory of a worker that runs trials of {robot} in {engine}',
            measured=first / 1e6,
        ),
        row(
            id=f'memory_growth_{engine}',
            what=f'its growth over {trials} trials',
            measured=(last - first) / 1e6,
            budget=MAX_GROWTH_MB,
        ),
    ]


def _resident_memory_after(evaluator: LocalEvaluator, specs: Sequence[TrialSpec]) -> float:
    """Run trials and return the resident memory of the only worker [byte]."""
    evaluator.evaluate(specs)
    (pid,) = evaluator.pids
    return resident_memory(pid)


def resident_memory(pid: int | str) -> float:
    """Return the resident memory of a process; ``self`` is this one [byte]."""
    pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    return float(pages * resource.getpagesize())
