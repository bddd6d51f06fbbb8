# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study mckenna1990: pictures of step patterns, paths, spectra and survival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_tools.pictures.trial import saved_figure


def draw_step_pattern(
    path: Path, stepping: BoolArray, legs: Sequence[str], dt: float, seconds: float
) -> None:
    """Draw the step pattern as in the thesis: stance black, swing white, a row per leg."""
    ticks = min(len(stepping), round(seconds / dt))
    with saved_figure(path, (8.0, 2.6)) as figure:
        axes = figure.subplots()
        axes.set_facecolor('white')
        for row, column in enumerate((~stepping[:ticks]).T):
            padded = np.concatenate([[False], column, [False]])
            edges = np.flatnonzero(np.diff(padded)).reshape(-1, 2)
            spans = [(start * dt, (end - start) * dt) for start, end in edges]
            axes.broken_barh(spans, (row - 0.35, 0.7), facecolor='black')
        axes.set_yticks(range(len(legs)), [leg.upper()[::-1] for leg in legs])
        axes.invert_yaxis()
        axes.set(xlabel='time [s]', xlim=(0.0, ticks * dt), title='stance black, step white')


def draw_tracks(path: Path, paths: Mapping[str, FloatArray]) -> None:
    """Draw the paths of the base from above, (T, 2) [m] each, by name."""
    with saved_figure(path, (8.0, 4.0)) as figure:
        axes = figure.subplots()
        for name, track in paths.items():
            axes.plot(*(100.0 * (track - track[0])).T, linewidth=0.9, label=name)
        axes.set(xlabel='x [cm]', ylabel='y [cm]', title='path of the abdomen from above')
        axes.set_aspect('equal', adjustable='datalim')
        axes.legend(fontsize='small')


def draw_yaw_spectrum(
    path: Path, frequency: FloatArray, size: FloatArray, step_frequency: float
) -> None:
    """Draw the spectrum of the yaw rate and the step frequency [Hz]."""
    with saved_figure(path, (6.0, 3.4)) as figure:
        axes = figure.subplots()
        shown = frequency < 6.0 * step_frequency
        axes.plot(frequency[shown], size[shown] / size.max(), color='tab:blue')
        axes.axvline(step_frequency, color='tab:red', linewidth=0.8, label='1 / cycle')
        axes.set(xlabel='frequency [Hz]', ylabel='yaw rate / its peak')
        axes.legend(fontsize='small')


def draw_survival(path: Path, durations: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Draw the times until a fall or the end [s], by disturbance and set of reflexes."""
    with saved_figure(path, (9.0, 0.5 * sum(map(len, durations.values())) + 1.2)) as figure:
        axes = figure.subplots()
        labels, row = [], 0
        for disturbance, sets in durations.items():
            for name, times in sets.items():
                colour = 'tab:gray' if name == 'off' else 'tab:blue'
                axes.plot(
                    sorted(times), np.full(len(times), row), '|', color=colour, markersize=14
                )
                axes.plot(np.mean(times), row, 'o', color=colour, markersize=4)
                labels.append(f'{disturbance}, {name}')
                row += 1
        axes.set_yticks(range(row), labels)
        axes.invert_yaxis()
        axes.set(xlabel='time until the fall or the end [s]', title='line: a run; dot: the mean')
