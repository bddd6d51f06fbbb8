# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study pike2003: pictures of the timetable, ZMP, scores and rankings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.measures.stability import support_polygon
from gait_core.trial.rollout import Rollout
from gait_evolver.run.log import TrialRow
from gait_studies.pike2003.zmp_tracking import FALL_COST, filtered_zmp, ideal_zmp
from gait_tools.pictures.trial import saved_figure

_TIME_SCALE, _START_TIME = 0.9, 2.0

TIMETABLE = (
    ('lean to the right', 0.0, 1.0, 'tab:gray'),
    ('raise left', 1.0, 1.0, 'tab:gray'),
    ('extend left', _START_TIME, 1.0 * _TIME_SCALE, 'tab:blue'),
    ('lower right', _START_TIME, 1.25 * _TIME_SCALE, 'tab:orange'),
    ('straighten over left', _START_TIME, 1.25 * _TIME_SCALE, 'tab:green'),
    ('sway to the left', _START_TIME, 2.0 * _TIME_SCALE, 'tab:purple'),
    ('right forward', _START_TIME + 1.0 * _TIME_SCALE, 1.0 * _TIME_SCALE, 'tab:red'),
    ('extend right', _START_TIME + 1.75 * _TIME_SCALE, 1.0 * _TIME_SCALE, 'tab:blue'),
    ('lower left', _START_TIME + 1.75 * _TIME_SCALE, 1.25 * _TIME_SCALE, 'tab:orange'),
    ('straighten over right', _START_TIME + 1.75 * _TIME_SCALE, 1.25 * _TIME_SCALE, 'tab:green'),
    ('sway to the right', _START_TIME + 1.75 * _TIME_SCALE, 2.0 * _TIME_SCALE, 'tab:purple'),
    ('left forward', _START_TIME + 2.75 * _TIME_SCALE, 1.0 * _TIME_SCALE, 'tab:red'),
)
"""Stage, start [s], duration [s] and colour of start-up and first cycle (Figure 6.2)."""

_JOINTS = ('hip_fwd', 'knee', 'ankle_fwd')


def draw_timetable(path: Path, names: Sequence[str], angles: FloatArray, dt: float) -> None:
    """
    Draw the stages of start-up and first cycle, and the joint angles below.

    Parameters
    ----------
    path : Path
    names : sequence of str
    angles : (T + 1, n) array [deg]
    dt : float [s]

    """
    end = _START_TIME + 3.75 * _TIME_SCALE
    ticks = np.arange(round(end / dt) + 1)
    with saved_figure(path, (9.0, 7.5)) as figure:
        bars, *legs = figure.subplots(3, 1, sharex=True, height_ratios=(1.4, 1.0, 1.0))
        for row, (_, start, duration, colour) in enumerate(TIMETABLE):
            bars.broken_barh([(start, duration)], (row - 0.4, 0.8), facecolor=colour)
        bars.set_yticks(range(len(TIMETABLE)), [stage[0] for stage in TIMETABLE], fontsize='small')
        bars.invert_yaxis()
        bars.set(title='stages of the start and the first cycle', xlim=(0.0, end))
        for axes, leg in zip(legs, ('left', 'right'), strict=True):
            for joint in (*_JOINTS, 'ankle_side'):
                column = list(names).index(f'{leg}_{joint}')
                axes.plot(ticks * dt, angles[ticks, column], label=joint)
            axes.set(ylabel=f'{leg} leg [deg]')
            axes.grid(alpha=0.3)
        legs[0].legend(fontsize='small', ncols=4, loc='upper right')
        legs[1].set(xlabel='time [s]')


def draw_zmp_tracking(path: Path, rollouts: Sequence[tuple[str, Rollout]]) -> None:
    """Draw the ZMP of walks over their support polygons, and with the ideal over time."""
    with saved_figure(path, (11.0, 3.6 * len(rollouts))) as figure:
        grid = figure.subplots(len(rollouts), 2, width_ratios=(1.0, 1.2), squeeze=False)
        for (above, along), (title, rollout) in zip(grid, rollouts, strict=True):
            time, filtered = rollout.time, filtered_zmp(rollout)
            ideal = ideal_zmp(rollout).at(time)
            _fill_support_polygons(above, rollout)
            above.plot(*filtered.T, color='tab:red', linewidth=0.7, label='ZMP')
            above.plot(*ideal.T, color='tab:green', linewidth=0.9, label='ideal')
            above.set(xlabel='forward [m]', ylabel='left [m]', title=title)
            above.set_ylim(-0.3, 0.3)
            above.legend(fontsize='small', loc='lower right')
            for column, label, colour in ((1, 'left', 'tab:purple'), (0, 'forward', 'tab:blue')):
                along.plot(time, filtered[:, column], linewidth=0.7, color=colour, label=label)
                along.plot(time, ideal[:, column], '--', linewidth=0.9, color=colour)
            along.set(xlabel='time [s]', ylabel='ZMP, ideal dashed [m]')
            along.set_ylim(-0.4, max(0.8, 1.2 * float(ideal[:, 0].max())))
            along.legend(fontsize='small', loc='upper left')


def _fill_support_polygons(axes: object, rollout: Rollout) -> None:
    origin = rollout.body_poses[0, 0, :2]
    every = max(1, round(0.3 / rollout.dt))
    for tick in range(0, rollout.ticks + 1, every):
        corners = support_polygon(rollout.loaded_points(tick))
        if len(corners) >= 3:
            axes.fill(  # type: ignore[attr-defined]
                *(corners - origin).T, facecolor='0.85', edgecolor='0.6', linewidth=0.5
            )


def draw_scores(path: Path, generations: Sequence[Sequence[TrialRow]]) -> None:
    """Draw best, mean and 90 % quantile of the scores by generation, falls left out."""
    numbers, least, mean, most = [], [], [], []
    for number, rows in enumerate(generations):
        scores = [-row.fitness for row in rows if row.fitness is not None]
        standing = [score for score in scores if score < 0.9 * FALL_COST]
        if standing:
            numbers.append(number)
            least.append(min(standing))
            mean.append(float(np.mean(standing)))
            most.append(float(np.quantile(standing, 0.9)))
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        axes.plot(numbers, most, color='0.7', label='90 % of those that stood')
        axes.plot(numbers, mean, color='tab:blue', label='mean of those that stood')
        axes.plot(numbers, np.minimum.accumulate(least), color='tab:red', label='best so far')
        axes.set(xlabel='generation', ylabel='ZMP score (less is better)')
        axes.set_ylim(bottom=0.0)
        axes.legend(fontsize='small')


def draw_ranking(
    path: Path, distance: FloatArray, panels: Sequence[tuple[str, FloatArray, float]]
) -> None:
    """
    Draw the distances of walks over their fitness, a panel per fitness.

    Parameters
    ----------
    path : Path
    distance : (n,) array [m]
    panels : sequence of (title, (n,) array, float)
        Name, values and rank correlation with the distance.

    """
    with saved_figure(path, (5.0 * len(panels), 4.0)) as figure:
        for axes, (title, values, correlation) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            axes.plot(values, distance, 'o', markersize=4)
            axes.set(
                xlabel=title, ylabel='walked [m]', title=f'rank correlation {correlation:.2f}'
            )
