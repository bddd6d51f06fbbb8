"""Benchmark of lock-step and streams over ROS, for `gait bench`."""

from __future__ import annotations

from functools import partial

from gait_core.benchmark import Measurement, in_turn, timed
from gait_core.trial.loop import run_trial
from gait_core.trial.setup import default_trial, usable_engines
from gait_ros.checks.stream_benchmark import rows
from gait_ros.trials.session import TrialSession

BUDGETS = {'bullet': 1.4}
_SECONDS = 5.0
_REPEATS = 3


def benchmark() -> list[Measurement]:
    """Return the time of trials over ROS in lock-step beside that here, and what streams lose."""
    return [*(row for engine in usable_engines() for row in _rows(engine)), *rows()]


def _rows(engine: str) -> list[Measurement]:
    spec = default_trial('guroo', _SECONDS, {'engine': engine})
    run_trial(spec)
    with TrialSession(spec) as session:
        session.run(spec)
        here, there = in_turn(
            partial(timed, partial(run_trial, spec)),
            lambda: session.run(spec).wall_time,
            repeats=_REPEATS,
        )
    row = partial(Measurement, group='lock-step')
    return [
        row(
            id=f'lockstep_{engine}',
            what=f'a trial of guroo over ROS in lock-step over the same in process in {engine}',
            unit='-',
            measured=there / here,
            budget=BUDGETS.get(engine),
        ),
        row(
            id=f'lockstep_period_{engine}',
            what='what it takes longer, a control period',
            unit='ms',
            measured=1e3 * (there - here) / spec.ticks,
        ),
    ]
