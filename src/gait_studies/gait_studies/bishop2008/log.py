# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Log in the format of Bishop (2008, section 5.2): one line of seven numbers per candidate.

Columns: rank (0 is the best score), retained share of the last score, ground contacts of the
base, points of rule 1, displacement along x and y [m], and fresh score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.files.access import DATA_LIMIT, read_text, write_atomically
from gait_evolver.run.log import TrialRow

FIELDS = 7
RANK, RETAINED, HITS, NET, X, Y, FRESH = range(FIELDS)


def log_lines(generations: Sequence[Sequence[TrialRow]], carried_share: float) -> list[FloatArray]:
    """
    Return the lines of each generation, (members, 7), best score first.

    Parameters
    ----------
    generations : sequence of sequences of TrialRow
        Trials of a run with the terms ``bishop2008_*``; a trial without fitness scores 0.
    carried_share : float
        Share of a score that adds to the next score of the same candidate.

    """
    scores: dict[int, float] = {}
    lines_by_generation = []
    for rows in generations:
        retained = np.array([carried_share * scores.get(row.id, 0.0) for row in rows])
        fresh = np.array([row.fitness or 0.0 for row in rows])
        terms = [
            [row.terms.get(f'bishop2008_{name}', 0.0) for name in ('hits', 'net', 'x', 'y')]
            for row in rows
        ]
        order = np.argsort(-(fresh + retained), kind='stable')
        lines = np.column_stack([retained, np.array(terms), fresh])[order]
        lines_by_generation.append(np.column_stack([np.arange(len(rows)), lines]))
        scores = {
            row.id: score for row, score in zip(rows, (fresh + retained).tolist(), strict=True)
        }
    return lines_by_generation


def write_log(path: Path, generations: Sequence[FloatArray]) -> None:
    """Write the lines of all generations, one after the other, with spaces between."""
    lines = [
        f'{int(line[RANK])} ' + ' '.join(f'{value:.6g}' for value in line[1:])
        for generation in generations
        for line in generation.tolist()
    ]
    write_atomically(path, '\n'.join(lines) + '\n')


def read_log(path: Path) -> list[FloatArray]:
    """Return the lines of a log by generation; ConfigurationError for another file."""
    try:
        table = np.loadtxt(read_text(path, DATA_LIMIT).splitlines(), ndmin=2)
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(
            f'{path} is not a log of seven numbers per line: {error}'
        ) from error
    if table.shape[1] != FIELDS:
        raise ConfigurationError(f'{path} has {table.shape[1]} values per line, expected {FIELDS}')
    begins = np.flatnonzero(table[:, RANK] == 0.0)
    return [part for part in np.split(table, begins) if len(part)]


def summarize_generations(generations: Sequence[FloatArray]) -> FloatArray:
    """
    Return the summary of each generation that the thesis plots, (g, 5).

    Columns: best score, mean of the best five, greatest score so far, displacement of the best
    along x and y [m]. Scores are fresh ones, without the retained share of earlier turns.
    """
    summaries = np.zeros((len(generations), 5))
    for row, lines in zip(summaries, generations, strict=True):
        best = lines[np.argsort(-lines[:, FRESH], kind='stable')]
        row[:2] = best[0, FRESH], best[:5, FRESH].mean()
        row[3:] = best[0, [X, Y]]
    summaries[:, 2] = np.maximum.accumulate(summaries[:, 0]) if len(summaries) else []
    return summaries
