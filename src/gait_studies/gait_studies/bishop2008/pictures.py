# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study bishop2008: plots of the thesis, and progress of the searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gait_core.arrays import FloatArray
from gait_evolver.run.log import TrialRow
from gait_tools.pictures.trial import saved_figure

_MEAN_WINDOW = 80
"""Turns over which a curve is a mean."""


def draw_scores(path: Path, summaries: FloatArray) -> None:
    """Draw the best score, the mean of five and the greatest so far (Figs. 5.1 and 5.3)."""
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        names = ('best of the generation', 'mean of the best five', 'greatest so far')
        for column, (name, width) in enumerate(zip(names, (0.8, 1.2, 1.6), strict=True)):
            axes.plot(summaries[:, column], linewidth=width, label=name)
        axes.set(xlabel='generation', ylabel='fresh score')
        axes.legend(fontsize='small')


def draw_movement(path: Path, summaries: FloatArray) -> None:
    """Draw the movement of the best along x and y (Figs. 5.2 and 5.4)."""
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        for column, name in ((3, 'x'), (4, 'y')):
            axes.plot(summaries[:, column], linewidth=0.9, label=name)
        axes.axhline(0.0, color='0.8', linewidth=0.8, zorder=0)
        axes.set(xlabel='generation', ylabel='movement of the best [m]')
        axes.legend(fontsize='small')


def draw_progress(path: Path, runs: Mapping[str, Sequence[TrialRow]]) -> None:
    """Draw the distance along the command over turns: running mean and greatest so far."""
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        for number, (name, rows) in enumerate(runs.items()):
            distances = np.array([row.terms.get('bishop2008_forward', 0.0) for row in rows])
            turns, colour = np.arange(1, len(distances) + 1), f'C{number}'
            axes.plot(turns, np.maximum.accumulate(distances), '--', color=colour, linewidth=0.9)
            window = min(_MEAN_WINDOW, len(distances))
            mean = np.convolve(distances, np.full(window, 1.0 / window), 'valid')
            axes.plot(turns[window - 1 :], mean, color=colour, label=name)
        axes.axhline(1.75, color='0.7', linewidth=0.8, zorder=0)
        axes.set(xlabel='turns', ylabel='distance along the command [m]')
        axes.set_title(f'mean of {_MEAN_WINDOW} turns; dashed: greatest so far', fontsize='medium')
        axes.legend(fontsize='small')
