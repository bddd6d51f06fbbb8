"""What a trial costs beyond bare MuJoCo calls, and against the same trial in Bullet."""

from __future__ import annotations

from gait_core import registry
from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError
from gait_core.trial_setup import default_trial
from sim_bridge.engines.mujoco_bare import bare_trial
from sim_bridge.engines.trial_benchmark import ROBOTS, SECONDS, trial_rows, trial_time


def benchmark() -> list[Measurement]:
    """Return overhead, reset share and trial rate over Bullet's of trials in MuJoCo."""
    # No budget: a control period takes MuJoCo less time than controller, hash and record.
    return trial_rows('mujoco', bare_trial, None) + _rates()


def _rates() -> list[Measurement]:
    try:
        registry.load('engines', 'bullet')
    except ConfigurationError:
        return []
    rows = []
    for robot in ROBOTS:
        bullet, mujoco = (
            trial_time(default_trial(robot, SECONDS, {'engine': engine}))
            for engine in ('bullet', 'mujoco')
        )
        rows.append(
            Measurement(
                id=f'rate_{robot}',
                what=f'trials of {robot} in mujoco for one in bullet',
                unit='-',
                measured=bullet / mujoco,
            )
        )
    return rows
