"""
The log of Bishop (2008) from a run: seven numbers a line, a line for every member of a generation.

They are its place (0 is the best score), the retained share of its last score, touches of the
ground, points of rule 1, movement along x and y, and the fresh score (sec. 5.2 of the thesis).
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
    generations : sequence of sequences of Row
        Of a run with the terms ``bishop2008_*``; a turn that may not win has no points.
    carry : float
        Share of a score that adds to the next one of the same member.

    """
    scores: dict[int, float] = {}
    found = []
    for rows in generations:
        retained = np.array([carried_share * scores.get(row.id, 0.0) for row in rows])
        fresh = np.array([row.fitness or 0.0 for row in rows])
        terms = [
            [row.terms.get(f'bishop2008_{name}', 0.0) for name in ('hits', 'net', 'x', 'y')]
            for row in rows
        ]
        order = np.argsort(-(fresh + retained), kind='stable')
        lines = np.column_stack([retained, np.array(terms), fresh])[order]
        found.append(np.column_stack([np.arange(len(rows)), lines]))
        scores = {
            row.id: score for row, score in zip(rows, (fresh + retained).tolist(), strict=True)
        }
    return found


def write_log(path: Path, generations: Sequence[FloatArray]) -> None:
    """Write the lines of all generations, one after the other, with spaces between."""
    lines = [
        f'{int(line[RANK])} ' + ' '.join(f'{value:.6g}' for value in line[1:])
        for generation in generations
        for line in generation.tolist()
    ]
    write_atomically(path, '\n'.join(lines) + '\n')


def read_log(path: Path) -> list[FloatArray]:
    """Return the lines of a log by generation; ConfigurationError if it is none."""
    try:
        table = np.loadtxt(read_text(path, DATA_LIMIT).splitlines(), ndmin=2)
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(f'{path} is no log of seven numbers a line: {error}') from error
    if table.shape[1] != FIELDS:
        raise ConfigurationError(f'{path} has {table.shape[1]} numbers a line, expected {FIELDS}')
    begins = np.flatnonzero(table[:, RANK] == 0.0)
    return [part for part in np.split(table, begins) if len(part)]


def summarize_generations(generations: Sequence[FloatArray]) -> FloatArray:
    """
    Return what the post-processor tells of each generation, (g, 5).

    Best fresh score, mean of the best five, greatest score so far, and movement along x and y of
    the best one. Scores are fresh: what a member retained is no merit of its turn.
    """
    found = np.zeros((len(generations), 5))
    for row, lines in zip(found, generations, strict=True):
        best = lines[np.argsort(-lines[:, FRESH], kind='stable')]
        row[:2] = best[0, FRESH], best[:5, FRESH].mean()
        row[3:] = best[0, [X, Y]]
    found[:, 2] = np.maximum.accumulate(found[:, 0]) if len(found) else []
    return found
