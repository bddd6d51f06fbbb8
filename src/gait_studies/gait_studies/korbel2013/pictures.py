# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: pictures of evolutions, distances, tensions and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gait_core.arrays import FloatArray
from gait_tools.pictures.trial import saved_figure


def draw_progress(path: Path, histories: Sequence[FloatArray]) -> None:
    """Draw the mean fitness of every evolution, and the best one beside the mean of all."""
    ends = [history[-1] for history in histories]
    with saved_figure(path, (10.0, 4.2)) as figure:
        every, summed = figure.subplots(1, 2, sharey=True)
        for number, history in enumerate(histories):
            every.plot(np.arange(1, len(history) + 1), history, linewidth=0.9, label=number + 1)
        every.set(xlabel='iteration', ylabel='mean fitness [in]', title='mean of the population')
        every.legend(fontsize='x-small', ncols=2, title='evolution', title_fontsize='x-small')
        # An evolution that has stopped keeps its last value.
        longest = max(len(history) for history in histories)
        extended = np.array(
            [
                np.append(history, np.full(longest - len(history), history[-1]))
                for history in histories
            ]
        )
        iterations = np.arange(1, longest + 1)
        mean, deviation = extended.mean(axis=0), extended.std(axis=0)
        summed.fill_between(iterations, mean - deviation, mean + deviation, color='0.85')
        summed.plot(iterations, mean, color='0.3', label='mean and deviation of all evolutions')
        summed.plot(
            iterations, extended[int(np.argmax(ends))], color='tab:red', label='best evolution'
        )
        summed.set(xlabel='iteration', title='best evolution and all')
        summed.legend(fontsize='small', loc='lower right')


def draw_distances(path: Path, time: FloatArray, curves: Sequence[tuple[FloatArray, ...]]) -> None:
    """Draw the distance of the best random and of the best evolved gait of each evolution."""
    best = int(np.argmax([last[-1] for _, last in curves]))
    with saved_figure(path, (7.0, 4.2)) as figure:
        axes = figure.subplots()
        for number, (first, last) in enumerate(curves):
            width = 2.0 if number == best else 0.7
            axes.plot(time, first, color='tab:gray', linewidth=width)
            axes.plot(time, last, color='tab:red', linewidth=width)
        axes.plot([], [], color='tab:gray', label='best of a random population')
        axes.plot([], [], color='tab:red', label='best of its evolution')
        axes.axvline(3.0, color='0.8', linewidth=0.8, zorder=0)
        axes.set(xlabel='time [s]', ylabel='distance of node 1 [in]', xlim=(0.0, time[-1]))
        axes.set_title('thick: the best evolution; scored from 3 s', fontsize='medium')
        axes.legend(fontsize='small', loc='upper left')


def draw_random_distances(path: Path, distances: FloatArray) -> None:
    """Draw the distances of random gaits, (populations, candidates) [in]."""
    with saved_figure(path, (9.0, 3.6)) as figure:
        extremes, counts = figure.subplots(1, 2)
        numbers = np.arange(1, len(distances) + 1)
        extremes.bar(numbers, distances.max(axis=1), color='tab:blue', label='best')
        extremes.bar(numbers, distances.min(axis=1), color='tab:orange', label='worst')
        extremes.axhline(0.0, color='0.3', linewidth=0.8)
        extremes.set(xlabel='population', ylabel='distance in 15 s [in]')
        extremes.legend(fontsize='small')
        counts.hist(distances.ravel(), bins=40, color='tab:gray')
        counts.axvline(0.0, color='0.3', linewidth=0.8)
        counts.set(
            xlabel='distance in 15 s [in]', ylabel='gaits', title=f'{distances.size} random gaits'
        )


def draw_tensions(
    path: Path, time: FloatArray, signals: FloatArray, tensions: FloatArray, labels: Sequence[str]
) -> None:
    """
    Draw signals and the tensions of cables that they drive, both (T, gaps) [lb].

    Each gap between two adjacent bodies has a signal, which adds to the tension of the springs of
    its driven cables; one of these is drawn.
    """
    with saved_figure(path, (9.0, 1.6 * len(labels) + 0.8)) as figure:
        for axes, label, signal, tension in zip(
            figure.subplots(len(labels), 1, sharex=True),
            labels,
            signals.T,
            tensions.T,
            strict=True,
        ):
            axes.plot(time, signal, color='tab:blue', linewidth=0.9, label='signal')
            axes.plot(time, tension, color='tab:red', linewidth=0.9, label='tension')
            axes.set_ylabel(f'{label} [lb]')
        axes.set(xlabel='time [s]', xlim=(time[0], time[-1]))
        figure.axes[0].legend(fontsize='small', loc='upper right', ncols=2)


def draw_normal_forces(
    path: Path, time: FloatArray, forces: FloatArray, heights: FloatArray, names: Sequence[str]
) -> None:
    """Draw the normal force on every body [lb] and the height of its lower corners [in]."""
    with saved_figure(path, (9.0, 1.5 * len(names) + 0.8)) as figure:
        for axes, name, force, height in zip(
            figure.subplots(len(names), 1, sharex=True), names, forces.T, heights.T, strict=True
        ):
            axes.fill_between(time, force, color='tab:blue', alpha=0.6, linewidth=0.0)
            axes.set_ylabel(f'{name} [lb]')
            beside = axes.twinx()
            beside.plot(time, height, color='tab:red', linewidth=0.9)
            beside.set_ylabel('height [in]', fontsize='small')
        axes.set(xlabel='time [s]', xlim=(time[0], time[-1]))
        figure.suptitle('normal force (filled) and height of the lower corners', fontsize='medium')


def draw_relative_positions(
    path: Path, time: FloatArray, positions: FloatArray, names: Sequence[str]
) -> None:
    """Draw the positions of the other bodies ahead of the rear one, (T, bodies) [in]."""
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        for name, distance in zip(names, positions.T, strict=True):
            axes.plot(time, distance, linewidth=0.9, label=name)
        axes.set(xlabel='time [s]', ylabel='ahead of T1 [in]', xlim=(time[0], time[-1]))
        axes.legend(fontsize='small', ncols=len(names))


def draw_searches(path: Path, best: Mapping[str, FloatArray]) -> None:
    """Draw the best fitness so far of searches, by name, over their trials [in]."""
    with saved_figure(path, (10.0, 4.5)) as figure:
        axes = figure.subplots()
        for name, fitness in best.items():
            finite = np.where(np.isfinite(fitness), fitness, np.nan)
            axes.plot(np.arange(1, len(fitness) + 1), finite, linewidth=1.0, label=name)
        axes.set(xlabel='trials', ylabel='best fitness so far [in]')
        axes.legend(fontsize='x-small', loc='upper left', bbox_to_anchor=(1.01, 1.0))
