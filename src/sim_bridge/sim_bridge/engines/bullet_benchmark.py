"""What trials in the ``bullet`` engine take, for `gait bench`."""

from __future__ import annotations

from gait_core.benchmark import Measurement
from sim_bridge.engines.bullet_bare import bare_trial
from sim_bridge.engines.trial_benchmark import trial_rows


def benchmark() -> list[Measurement]:
    """Return steps, overhead and resets of trials in the bullet engine."""
    return trial_rows('bullet', bare_trial)
