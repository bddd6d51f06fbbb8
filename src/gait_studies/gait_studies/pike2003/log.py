# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Log files in the format of Pike (2003): scores of all trials, and the four best values.

The variables file holds the best candidate. The original held the last one and had to be edited by
hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_text, write_atomically
from gait_evolver.run.log import TrialRow
from gait_studies.pike2003.zmp_tracking import FALL_COST

SCORES_FILE, VARIABLES_FILE = 'scores.csv', 'nwgavars.cfg'

SCORES_HEADER = 'scores, knee, ankle place, ankle move, hip move'
"""First line of the scores file (Figure 6.21)."""

VARIABLES = ('knee_bend_deg', 'ankle_place_deg', 'ankle_move_deg', 'hip_move_deg')
"""Parameters of the walk in the order of the files' columns and lines."""


def write_scores(path: Path, rows: Sequence[TrialRow]) -> None:
    """
    Write a line per trial: the score to be minimised and the four values.

    Parameters
    ----------
    path : Path
    rows : sequence of TrialRow
        Trials of a run whose fitness is the published score; without fitness a trial has failed.

    Raises
    ------
    ConfigurationError
        If the run did not search the four values.

    """
    lines = [SCORES_HEADER]
    for row in rows:
        score = FALL_COST if row.fitness is None else -row.fitness
        lines.append(
            ', '.join(
                _single_precision_text(value) for value in (score, *_searched_values(row.values))
            )
        )
    write_atomically(path, '\n'.join(lines) + '\n')


def write_variables(path: Path, values: Mapping[str, float]) -> None:
    """Write the four values, one per line, as the original walk reads them."""
    write_atomically(
        path, ''.join(f'{_single_precision_text(value)}\n' for value in _searched_values(values))
    )


def read_variables(path: Path) -> dict[str, float]:
    """Return the four values of a variables file; ConfigurationError if it is not one."""
    try:
        numbers = [float(line) for line in read_text(path).splitlines() if line.strip()]
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(f'{path} is not a variables file: {error}') from error
    if len(numbers) != len(VARIABLES):
        raise ConfigurationError(f'{path} has {len(numbers)} values, expected {len(VARIABLES)}')
    return dict(zip(VARIABLES, numbers, strict=True))


def _searched_values(values: Mapping[str, float]) -> list[float]:
    for name in VARIABLES:
        if name not in values:
            raise ConfigurationError(
                f"the log of Pike (2003) needs the gene '{name}'; genes of this run: "
                f'{", ".join(values)}'
            )
    return [values[name] for name in VARIABLES]


def _single_precision_text(value: float) -> str:
    # The original held single precision.
    return f'{np.float32(value):.6f}'
