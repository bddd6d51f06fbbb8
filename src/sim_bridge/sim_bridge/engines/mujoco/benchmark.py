"""Benchmark of trials in the ``mujoco`` engine, also against the same in ``bullet``."""

from __future__ import annotations

from gait_core.benchmark import Measurement, shortest_times
from gait_core.trial.setup import default_trial, usable_engines, usable_robots
from sim_bridge.engines.mujoco.bare import bare_trial
from sim_bridge.engines.shared.trial_benchmark import (
    ROBOTS,
    SECONDS,
    open_loop,
    trial_rows,
    trial_time,
)

RATES = {'a1': 3.0}
"""The least trials in mujoco for one in bullet."""


def benchmark() -> list[Measurement]:
    """Return steps, overhead and resets of trials in MuJoCo, and their rate over Bullet."""
    rows = trial_rows('mujoco', bare_trial)
    if 'bullet' in usable_engines():
        rows += [_rate(robot) for robot in usable_robots(*ROBOTS)]
    return rows


def _rate(robot: str) -> Measurement:
    bullet, mujoco = shortest_times(
        *(
            trial_time(open_loop(default_trial(robot, SECONDS, {'engine': engine})))
            for engine in ('bullet', 'mujoco')
        )
    )
    return Measurement(
        id=f'rate_{robot}',
        what=f'trials of {robot} in mujoco for one in bullet',
        unit='-',
        measured=bullet / mujoco,
        budget=RATES.get(robot),
        at_most=False,
        group='trial',
    )
