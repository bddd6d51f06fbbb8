"""What a second worker gains, and whether memory grows, for `gait bench`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
import resource
import time

from gait_core.benchmark import Measurement
from gait_core.contracts import Evaluator
from gait_core.trial import run_trial
from gait_core.trial_setup import default_trial
from gait_core.trial_spec import TrialSpec
from gait_evolver.evaluators.local import LocalEvaluator

SPEEDUP, GROWTH_MB = 1.8, 20.0
_SECONDS = 5.0
_REPEATS = 3
_TRIALS = 100
_WARM = 10


def benchmark() -> list[Measurement]:
    """Return the gain of a second worker and the growth of memory."""
    return [_speedup(), memory_growth(_TRIALS)]


def _speedup() -> Measurement:
    specs = [replace(default_trial('guroo', _SECONDS), seed=seed) for seed in range(8)]
    times = {}
    for workers in (1, 2):
        evaluator = LocalEvaluator(workers=workers)
        try:
            # Starting processes and loading the robot is paid once a run.
            evaluator.evaluate(specs[:workers])
            times[workers] = min(_timed(evaluator, specs) for _ in range(_REPEATS))
        finally:
            evaluator.close()
    return Measurement(
        id='speedup_2_workers',
        what='trials per second of 2 workers over those of 1',
        unit='-',
        measured=times[1] / times[2],
        budget=SPEEDUP,
        at_most=False,
    )


def _timed(evaluator: Evaluator, specs: Sequence[TrialSpec]) -> float:
    began = time.perf_counter()
    evaluator.evaluate(specs)
    return time.perf_counter() - began


def memory_growth(trials: int) -> Measurement:
    """Return by how much the memory of this process grows over a number of short trials."""
    spec = default_trial('a1', 0.1)
    for _ in range(_WARM):
        run_trial(spec)
    before = _resident()
    for _ in range(trials):
        run_trial(spec)
    return Measurement(
        id='memory_growth',
        what=f'growth of the memory over {trials} trials',
        unit='MB',
        measured=(_resident() - before) / 1e6,
        budget=GROWTH_MB,
    )


def _resident() -> float:
    """Return the resident memory of this process [byte]."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return float(pages * resource.getpagesize())
