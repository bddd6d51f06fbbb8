"""Export of a trial's joint targets as a table for other tools."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from gait_core.errors import ConfigurationError
from gait_core.files.access import write_atomically
from gait_core.trial.rollout import Rollout


def write_trajectory(path: Path, rollout: Rollout) -> None:
    """
    Write what the joints were told as CSV: ``time_s``, then a column per target [rad or m].

    A row holds from its time on for a control period. The numbers are whole: reading them back
    gives the targets to the last bit.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(('time_s', *rollout.robot.target_names))
    for time, row in zip(rollout.time[:-1], rollout.target_positions, strict=True):
        writer.writerow(repr(float(value)) for value in (time, *row))
    try:
        write_atomically(path, text.getvalue())
    except OSError as error:
        raise ConfigurationError(f'trajectory {path}: {error.strerror}') from error
