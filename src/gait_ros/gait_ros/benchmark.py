"""What lock-step over ROS costs, for `gait bench`."""

from __future__ import annotations

from gait_core.benchmark import Measurement, least_time
from gait_core.trial import run_trial
from gait_core.trial_setup import default_trial
from gait_ros.session import TrialSession

BUDGET = 1.4
_SECONDS = 5.0
_REPEATS = 3


def benchmark() -> list[Measurement]:
    """Return the time of a trial of 5 s over ROS in lock-step over that of the same here."""
    spec = default_trial('guroo', _SECONDS)
    here, there = [], []
    with TrialSession(spec) as session:
        for _ in range(_REPEATS):
            # In turn: both see the same machine.
            here.append(least_time(lambda: run_trial(spec), 1))
            there.append(session.run(spec).wall_time)
    return [
        Measurement(
            id='lockstep',
            what='a trial of guroo over ROS in lock-step over the same in process',
            unit='-',
            measured=min(there) / min(here),
            budget=BUDGET,
        )
    ]
