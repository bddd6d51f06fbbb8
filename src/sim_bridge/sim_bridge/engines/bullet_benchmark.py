"""What a trial costs beyond a straight script of the same PyBullet calls, for `gait bench`."""

from __future__ import annotations

from gait_core.benchmark import Measurement
from sim_bridge.engines.bullet_bare import bare_trial
from sim_bridge.engines.trial_benchmark import trial_rows

OVERHEAD = 1.15


def benchmark() -> list[Measurement]:
    """Return overhead and reset share of trials in the bullet engine."""
    return trial_rows('bullet', bare_trial, OVERHEAD)
