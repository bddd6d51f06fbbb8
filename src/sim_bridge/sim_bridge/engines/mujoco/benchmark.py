# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Benchmark of trials in the engine ``mujoco``, alone and relative to ``bullet``."""

from __future__ import annotations

from gait_core.benchmark import Measurement, shortest_times
from gait_core.trial.setup import default_trial, usable_engines, usable_robots
from sim_bridge.engines.mujoco.bare_trial import bare_trial
from sim_bridge.engines.shared.trial_benchmark import (
    BENCHMARK_ROBOTS,
    TRIAL_DURATION,
    measure_trials,
    remove_feedback,
    trial_timer,
)

MIN_RATE_RATIOS = {'a1': 3.0}
"""Smallest ratio of trials per second in mujoco to those in bullet, by robot."""


def benchmark() -> list[Measurement]:
    """Measure steps, overhead and resets of trials in MuJoCo, and their rate over Bullet's."""
    rows = measure_trials('mujoco', bare_trial)
    if 'bullet' in usable_engines():
        rows += [_rate_over_bullet(robot) for robot in usable_robots(*BENCHMARK_ROBOTS)]
    return rows


def _rate_over_bullet(robot: str) -> Measurement:
    """Compare the rate of trials of a robot in mujoco to that in bullet."""
    bullet, mujoco = shortest_times(
        *(
            trial_timer(remove_feedback(default_trial(robot, TRIAL_DURATION, {'engine': engine})))
            for engine in ('bullet', 'mujoco')
        )
    )
    return Measurement(
        id=f'rate_{robot}',
        what=f'trials per second of {robot} in mujoco, divided by those in bullet',
        unit='-',
        measured=bullet / mujoco,
        budget=MIN_RATE_RATIOS.get(robot),
        at_most=False,
        group='trial',
    )
