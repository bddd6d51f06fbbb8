# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study cafarelli2017: pictures of strides, energies, searches and costs of transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_studies.cafarelli2017.strides.encoding import genes_from_legs, joints_from_genes
from gait_studies.cafarelli2017.strides.measures import MeasureSettings, measure_strides
from gait_studies.cafarelli2017.strides.scoring import leg_power
from gait_tools.pictures.trial import saved_figure

_PHASES = ('start of front propel', 'start of back propel', 'start of lift', 'start of descend')

_COLOURS = {
    'frozen_6': 'tab:gray',
    'frozen_9': 'tab:green',
    'frozen_12': 'tab:blue',
    'constant': 'tab:purple',
    'free': 'tab:red',
}


def draw_stride(path: Path, genes: FloatArray) -> None:
    """
    Draw a stride (48,) [deg, cm] from the side: a column per posture, a row per leg.

    Colours are those of the thesis: joints blue, upper segments green, lower segments orange.
    Forward is to the right.
    """
    joints = joints_from_genes(genes)
    joints[..., 2:] *= 100.0
    with saved_figure(path, (10.0, 5.6)) as figure:
        grid = figure.subplots(3, 4, sharex=True, sharey=True)
        for leg in range(3):
            for posture in range(4):
                axes = grid[leg, posture]
                hip, knee, upper, lower = joints[posture, leg]
                bend = np.array([upper * np.cos(hip), -upper * np.sin(hip)])
                foot = bend + lower * np.array([np.cos(hip + knee), -np.sin(hip + knee)])
                axes.plot(*zip((0.0, 0.0), bend, strict=True), color='tab:green', linewidth=3)
                axes.plot(*zip(bend, foot, strict=True), color='tab:orange', linewidth=3)
                axes.plot(*zip((0.0, 0.0), bend, foot, strict=True), 'o', color='tab:blue')
                axes.set_title(
                    f'{np.degrees(hip):.0f}, {np.degrees(knee):.0f} deg, '
                    f'{upper:.1f}, {lower:.1f} cm',
                    fontsize='x-small',
                )
                axes.grid(alpha=0.3)
                axes.set_aspect('equal')
            grid[leg, 0].set_ylabel(f'leg {leg + 1} [cm]')
        for posture, phase in enumerate(_PHASES):
            grid[2, posture].set_xlabel(phase)
        grid[0, 0].set(xlim=(-20.0, 20.0), ylim=(-25.0, 3.0))


def draw_energy_discontinuity(path: Path) -> None:
    """Draw published and path energy of a hip swing of 60 degrees over the knee's motion."""
    knees = np.concatenate([[0.0], np.geomspace(1e-4, 60.0, 120)])
    start = np.array([45.0, 30.0, 9.0, 9.0])
    published = [
        leg_power(start, np.array([105.0, 30.0 + knee, 9.0, 9.0]), stance=True) for knee in knees
    ]
    sound = measure_strides(
        np.array([_hip_swing(knee) for knee in knees]),
        MeasureSettings(loads='equal', lift=False),
    )
    # Three legs in stance do the same work: a third of it belongs to one leg.
    path_energy = sound.rotary_absolute / 3.0
    with saved_figure(path, (7.0, 4.2)) as figure:
        axes = figure.subplots()
        axes.plot(knees[1:], published[1:], color='tab:red', label='published energy (3.37)')
        axes.plot(knees[1:], path_energy[1:], color='tab:blue', label='work along the path')
        axes.plot([1e-4], published[:1], 'o', color='tab:red', label='published, knee still')
        axes.plot([1e-4], path_energy[:1], 'o', color='tab:blue')
        axes.set(
            xscale='log',
            yscale='log',
            xlabel='motion of the knee [deg]; dots: none',
            ylabel='energy [J as labelled]',
            title='hip 45 to 105 degrees in stance, lengths 9 cm',
        )
        axes.grid(alpha=0.3)
        axes.legend(fontsize='small')


def _hip_swing(knee: float) -> FloatArray:
    """Return a stride of equal legs whose hips swing back once, in the first stance phase."""
    back = (105.0, 30.0 + knee, 9.0, 9.0)
    return genes_from_legs([[(45.0, 30.0, 9.0, 9.0), back, back, back]] * 3)


def draw_fitness_curves(
    path: Path,
    interval: int,
    fitness: Mapping[float, FloatArray],
    printed_means: Mapping[float, float],
) -> None:
    """
    Draw the fitness of runs over generations, by mutation rate, and the printed means.

    Parameters
    ----------
    path : Path
    interval : int
        Generations per column.
    fitness : mapping of float to (runs, n) array
    printed_means : mapping
        Printed mean fitness after 200 generations, by mutation rate.

    """
    colours = dict(zip(fitness, ('tab:red', 'tab:blue'), strict=True))
    with saved_figure(path, (7.0, 4.0)) as figure:
        axes = figure.subplots()
        for rate, runs in fitness.items():
            generations = interval * np.arange(1, runs.shape[1] + 1)
            axes.plot(generations, runs.T, color=colours[rate], alpha=0.3, linewidth=0.8)
            means = runs.mean(axis=0)
            axes.plot(generations, means, color=colours[rate], label=f'mean at {rate:g}, ours')
        for rate, mean in printed_means.items():
            axes.plot(200, mean, 'o', color=colours.get(rate, '0.5'))
            axes.annotate(f'printed, {rate:g}', (200, mean), (8, -3), textcoords='offset points')
        axes.set(xlabel='generation', ylabel='best fitness')
        axes.grid(alpha=0.3)
        axes.legend(fontsize='small')


def draw_grid_costs(path: Path, costs: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Draw the cost of transport by ground and kind of leg, a dot per seed."""
    with saved_figure(path, (10.0, 4.2)) as figure:
        axes = figure.subplots()
        for place, kinds in enumerate(costs.values()):
            for number, (kind, values) in enumerate(kinds.items()):
                x = place + 0.15 * (number - 2)
                axes.plot([x] * len(values), values, '.', color=_COLOURS[kind], markersize=4)
                label = kind.replace('_', ' ') if place == 0 else None
                axes.plot(
                    x, np.mean(values), '_', color=_COLOURS[kind], markersize=12, label=label
                )
        axes.set_xticks(range(len(costs)), [name.replace('_', ' ') for name in costs])
        axes.set(ylabel='cost of transport, cheapest method', xlabel='ground [deg]')
        axes.set_ylim(bottom=0.0)
        axes.grid(alpha=0.3, axis='y')
        figure.legend(fontsize='small', loc='outside right center')


def draw_savings(path: Path, costs: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Draw the saving of free over constant lengths by assumption, a dot per seed."""
    with saved_figure(path, (7.5, 0.35 * len(costs) + 1.0)) as figure:
        axes = figure.subplots()
        for row, (constant, free) in enumerate(costs.values()):
            saved = 100.0 * (1.0 - np.asarray(free) / np.asarray(constant))
            axes.plot(saved, [row] * len(saved), '.', color='tab:red', alpha=0.6)
            axes.plot(np.mean(saved), row, '|', color='black', markersize=14)
        axes.axvline(0.0, color='0.5', linewidth=0.8)
        axes.set(xlabel='saved by lengths that change [%]')
        axes.set_yticks(range(len(costs)), list(costs), fontsize='small')
        axes.grid(alpha=0.3)
        axes.invert_yaxis()


def draw_fronts(path: Path, fronts: Mapping[str, FloatArray]) -> None:
    """
    Draw Pareto fronts: stroke and energy as axes, margin as colour.

    Parameters
    ----------
    path : Path
    fronts : mapping of str to (k, 3) array
        Distance [m], minus energy [J] and margin [m] by kind of leg.

    """
    with saved_figure(path, (4.2 * len(fronts), 4.0)) as figure:
        panels = figure.subplots(1, len(fronts), sharex=True, sharey=True, squeeze=False)[0]
        most = max(float(front[:, 2].max()) for front in fronts.values() if len(front))
        for axes, (kind, front) in zip(panels, fronts.items(), strict=True):
            dots = axes.scatter(
                front[:, 0], -front[:, 1], c=100.0 * front[:, 2], s=14, vmin=0.0, vmax=100.0 * most
            )
            axes.set(xlabel='stroke [m]', title=f'{kind.replace("_", " ")} lengths')
            axes.grid(alpha=0.3)
        panels[0].set_ylabel('energy [J]')
        figure.colorbar(dots, ax=list(panels), label='margin of stability [cm]')


def draw_search_curves(
    path: Path, searches: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]
) -> None:
    """Draw the lowest cost of transport so far over trials in physics, a line per seed."""
    grounds = list(dict.fromkeys(ground for ground, _ in searches))
    colours = {'frozen': 'tab:blue', 'free': 'tab:red'}
    with saved_figure(path, (4.5 * len(grounds), 3.6)) as figure:
        panels = figure.subplots(1, len(grounds), squeeze=False)[0]
        for axes, ground in zip(panels, grounds, strict=True):
            for legs, colour in colours.items():
                for number, search in enumerate(searches[ground, legs]):
                    curve = np.array(search['curve'])
                    trials = search['trials'] / len(curve) * np.arange(1, len(curve) + 1)
                    cost = np.where(curve > 0.0, 1.0 / np.maximum(curve, 1e-9), np.nan)
                    label = f'{legs} lengths' if number == 0 else None
                    axes.plot(trials, cost, color=colour, label=label)
            axes.set(xlabel='trials', title=ground.replace('_', ' '))
            axes.set_ylim(bottom=0.0)
            axes.grid(alpha=0.3)
        panels[0].set_ylabel('least cost of transport so far')
        panels[0].legend(fontsize='small')
