# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Charts of a report as plain data for plotly; the page resolves the names of colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.measures.energy import is_work_reported
from gait_core.measures.metrics import (
    area_margins,
    contact_zmp,
    trial_gait_diagram,
    trial_work_by_tick,
)
from gait_core.measures.stability import support_polygon
from gait_core.trial.gates import GATES, default_gate_limits
from gait_core.trial.rollout import Rollout
from gait_evolver.experiment import Experiment
from gait_evolver.run.log import TrialRow
from gait_evolver.scoring import feasible_fitness, group_by_candidate, status_and_fitness

Chart = dict[str, Any]
_MAX_POINTS = 1500
_OUTCOME_COLOURS = (
    'series0',
    'series1',
    'series4',
    'series3',
    'series6',
    'series7',
    'series5',
    'muted',
)


def fitness_chart(generations: Sequence[Sequence[TrialRow]], experiment: Experiment) -> Chart:
    """
    Return the chart of fitness over generations: best so far, median and middle 80 %.

    The best one satisfies all constraints; median and middle are of all candidates.
    """
    found = [
        [
            fitness
            for group in group_by_candidate(rows)
            if (fitness := status_and_fitness(group)[1]) is not None
        ]
        for rows in generations
    ]
    rows_so_far = _best_row_by_generation(generations, experiment)
    best = [np.nan if row is None else fitness for row, fitness in rows_so_far]
    axis = list(range(len(found)))
    return _make_chart(
        [
            *_band_traces(axis, _quantiles(found, 0.1, 0.9), 'middle 80 %'),
            _line_trace(axis, _quantiles(found, 0.5)[0], 'median', 'muted'),
            _line_trace(axis, best, 'best so far', 'accent'),
        ],
        'generation',
        'fitness',
        height=340,
    )


def repeats_chart(
    generations: Sequence[Sequence[TrialRow]], experiment: Experiment
) -> Chart | None:
    """Return the chart of mean and deviation of each generation's best; None without repeats."""
    axis, mean, spread = [], [], []
    for generation, rows in enumerate(generations):
        judgements = [
            (feasible_fitness(group, experiment), group) for group in group_by_candidate(rows)
        ]
        scored = [(fitness, group) for fitness, group in judgements if fitness is not None]
        if not scored or len({row.repeat for row in rows}) < 2:
            continue
        _, group = max(scored, key=lambda pair: pair[0])
        values = [row.fitness for row in group if row.fitness is not None]
        axis.append(generation)
        mean.append(float(np.mean(values)))
        spread.append(float(np.std(values)))
    if not axis:
        return None
    trace = _line_trace(axis, mean, 'mean of its repeats', 'accent')
    trace['error_y'] = {'type': 'data', 'array': _plain_numbers(spread), 'color': 'var:accent'}
    return _make_chart([trace], 'generation', 'fitness of the best', height=280)


def parameter_charts(
    generations: Sequence[Sequence[TrialRow]], units: Mapping[str, str], experiment: Experiment
) -> list[Chart]:
    """Return a chart per gene: median, middle 80 % and best so far over generations."""
    charts, axis = [], list(range(len(generations)))
    best = _best_row_by_generation(generations, experiment)
    for name, unit in units.items():
        values = [[row.values[name] for row in rows if row.repeat == 0] for rows in generations]
        chart = _make_chart(
            [
                *_band_traces(axis, _quantiles(values, 0.1, 0.9), 'middle 80 %'),
                _line_trace(axis, _quantiles(values, 0.5)[0], 'median', 'muted'),
                _line_trace(
                    axis,
                    [np.nan if row is None else row.values[name] for row, _ in best],
                    'best so far',
                    'accent',
                ),
            ],
            'generation',
            f'{unit}' if unit not in ('', '-') else '',
            height=230,
        )
        chart['title'] = name
        chart['layout']['showlegend'] = False
        charts.append(chart)
    return charts


def outcome_chart(generations: Sequence[Sequence[TrialRow]]) -> Chart:
    """Return the chart of statuses of each generation's trials, as stacked bars."""
    statuses = {row.status for rows in generations for row in rows}
    caught = sorted(statuses - {'ok', 'fell'})
    traces = [
        {
            'type': 'bar',
            'name': status,
            'x': list(range(len(generations))),
            'y': [sum(row.status == status for row in rows) for rows in generations],
            'marker': {'color': f'var:{_OUTCOME_COLOURS[min(i, 7)]}'},
        }
        for i, status in enumerate(('ok', 'fell', *caught))
        if status in statuses
    ]
    chart = _make_chart(traces, 'generation', 'trials', height=280)
    chart['layout'].update(barmode='stack', bargap=0.15)
    return chart


def gait_chart(rollout: Rollout) -> Chart | None:
    """Return the gait diagram, the first leg at the top; None without legs or contacts."""
    stances = trial_gait_diagram(rollout).stances
    if not stances:
        return None
    traces = [
        {
            'type': 'bar',
            'orientation': 'h',
            'name': name,
            'y': [name] * len(spans),
            'base': _plain_numbers([start for start, _ in spans]),
            'x': _plain_numbers([end - start for start, end in spans]),
            'width': 0.65,
            'marker': {'color': f'var:series{i % 6}'},
            'hovertemplate': '%{base:.2f} s, stands %{x:.2f} s<extra>' + name + '</extra>',
        }
        for i, (name, spans) in enumerate(stances.items())
    ]
    chart = _make_chart(traces, 'time [s]', '', height=70 + 44 * len(stances))
    chart['layout'].update(barmode='overlay', showlegend=False)
    chart['layout']['yaxis'].update(
        type='category', autorange='reversed', categoryarray=list(stances), ticklabelstandoff=6
    )
    chart['layout']['xaxis']['range'] = [0.0, rollout.ticks * rollout.dt]
    return chart


def zmp_chart(rollout: Rollout) -> Chart:
    """Return the chart of ZMP, support polygons and path of the base, from above."""
    series = contact_zmp(rollout)
    path = np.where(series.defined[:, None], series.points[:, :2], np.nan)
    outline_x: list[float | None] = []
    outline_y: list[float | None] = []
    every = max(1, round(0.25 / rollout.dt), rollout.ticks // 200)
    for tick in range(0, rollout.ticks + 1, every):
        corners = support_polygon(rollout.loaded_points(tick))
        if len(corners) >= 2:
            closed = np.vstack([corners, corners[:1]])
            outline_x += [*_plain_numbers(closed[:, 0]), None]
            outline_y += [*_plain_numbers(closed[:, 1]), None]
    base = rollout.body_poses[:, :, :2].mean(axis=1)
    polygons = {
        **_line_trace(outline_x, outline_y, 'support polygon', 'muted'),
        'fill': 'toself',
        'fillcolor': 'var:band',
        'line': {'width': 1, 'color': 'var:muted'},
        'hoverinfo': 'skip',
    }
    # The ZMP jumps at touch-down: a line would pass through points that it never had.
    points = {
        **_line_trace(*_thin_out(path), 'zero-moment point', 'accent'),
        'mode': 'markers',
        'marker': {'color': 'var:accent', 'size': 4, 'opacity': 0.7},
    }
    chart = _make_chart(
        [polygons, _line_trace(*_thin_out(base), 'base', 'series2'), points],
        'x [m]',
        'y [m]',
        height=380,
    )
    chart['layout']['yaxis'].update(scaleanchor='x', scaleratio=1)
    return chart


def margin_chart(rollout: Rollout) -> Chart | None:
    """Return the histogram of the ZMP margin on areas; None if no support is an area."""
    margin = area_margins(rollout)
    if not margin.size:
        return None
    share, edges = np.histogram(1e3 * margin, bins=24)
    middle, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    trace = {
        'type': 'bar',
        'x': _plain_numbers(middle),
        'y': _plain_numbers(100.0 * share / (rollout.ticks + 1)),
        'width': float(width),
        'marker': {'color': 'var:accent'},
        'hovertemplate': '%{x:.1f} mm: %{y:.1f} % of the time<extra></extra>',
    }
    chart = _make_chart([trace], 'margin [mm]', 'share of the time [%]', height=380)
    chart['layout'].update(showlegend=False, bargap=0.05)
    return chart


def energy_chart(rollout: Rollout) -> Chart | None:
    """Return the chart of positive and signed work [J]; None where states do not report it."""
    if not is_work_reported(rollout.robot, rollout.states):
        return None
    signed, positive = trial_work_by_tick(rollout).sum(axis=2).T
    traces = [
        _line_trace(*_thin_out(np.column_stack([rollout.time, work])), name, colour)
        for name, work, colour in (
            ('positive work', positive, 'accent'),
            ('signed work', signed, 'series2'),
        )
    ]
    return _make_chart(traces, 'time [s]', 'work [J]', height=300)


def joints_chart(rollout: Rollout) -> Chart | None:
    """Return the chart of positive work of the joints [J], largest first; None without work."""
    if not (rollout.robot.joint_names and is_work_reported(rollout.robot, rollout.states)):
        return None
    work = trial_work_by_tick(rollout)[-1, 1]
    order = np.argsort(work)[::-1][:16]
    names = [rollout.robot.target_names[i] for i in order]
    trace = {
        'type': 'bar',
        'orientation': 'h',
        'y': names,
        'x': _plain_numbers(work[order]),
        'marker': {'color': 'var:accent'},
        'hovertemplate': '%{x:.2f} J<extra>%{y}</extra>',
    }
    chart = _make_chart([trace], 'positive work [J]', '', height=60 + 22 * len(names))
    chart['layout']['showlegend'] = False
    chart['layout']['yaxis'].update(autorange='reversed', type='category')
    return chart


def gate_rows(rollout: Rollout) -> list[dict[str, Any]]:
    """Return the measured value, limit and unit of each gate in a trial."""
    limits = rollout.spec.gates or default_gate_limits(rollout.robot, rollout.spec.scene)
    rows = []
    for name, limit in limits.items():
        value = GATES[name].measure(rollout)
        rows.append({'gate': name, 'value': value, 'limit': limit, 'unit': GATES[name].unit})
    return rows


def _best_row_by_generation(
    generations: Sequence[Sequence[TrialRow]], experiment: Experiment
) -> list[tuple[TrialRow | None, float]]:
    """Return the first row of the best candidate up to each generation, and its fitness."""
    best: TrialRow | None = None
    best_fitness, found = -np.inf, []
    for rows in generations:
        for group in group_by_candidate(rows):
            fitness = feasible_fitness(group, experiment)
            if fitness is not None and fitness > best_fitness:
                best, best_fitness = group[0], fitness
        found.append((best, best_fitness))
    return found


def _quantiles(values: Sequence[Sequence[float]], *shares: float) -> FloatArray:
    """Return quantiles of each list, (shares, lists); NaN for an empty list."""
    return np.array(
        [[np.quantile(row, share) if row else np.nan for row in values] for share in shares]
    )


def _band_traces(axis: Sequence[int], bounds: FloatArray, name: str) -> list[Chart]:
    """Return the traces of an area between two curves; ``bounds`` is 2 x n, lower and upper."""
    hidden = {'type': 'scatter', 'mode': 'lines', 'line': {'width': 0}, 'hoverinfo': 'skip'}
    low, high = bounds
    return [
        {**hidden, 'x': list(axis), 'y': _plain_numbers(low), 'showlegend': False},
        {
            **hidden,
            'x': list(axis),
            'y': _plain_numbers(high),
            'fill': 'tonexty',
            'fillcolor': 'var:band',
            'name': name,
        },
    ]


def _line_trace(x: Any, y: Any, name: str, colour: str) -> Chart:
    return {
        'type': 'scatter',
        # A line through one point would be invisible.
        'mode': 'lines' if len(x) > 1 else 'markers',
        'x': _plain_numbers(x),
        'y': _plain_numbers(y),
        'name': name,
        'line': {'color': f'var:{colour}', 'width': 2},
    }


def _thin_out(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    every = max(1, len(points) // _MAX_POINTS)
    return points[::every, 0], points[::every, 1]


def _plain_numbers(values: Any) -> list[float | None]:
    """Return numbers rounded to five digits, finer than a screen; undefined ones are None."""
    return [
        None if value is None or not np.isfinite(value) else float(f'{float(value):.5g}')
        for value in values
    ]


def _integer_axis(count: int) -> Chart:
    """Return an integer axis with about ten ticks at most."""
    steps = (step * 10**power for power in range(9) for step in (1, 2, 5))
    return {'dtick': next(step for step in steps if 10 * step >= count), 'tick0': 0}


def _make_chart(traces: list[Chart], x: str, y: str, height: int) -> Chart:
    ticks = _integer_axis(len(traces[0]['x'])) if x == 'generation' and traces else {}
    return {
        'traces': traces,
        'layout': {
            'height': height,
            'xaxis': {'title': {'text': x}, **ticks},
            'yaxis': {'title': {'text': y}},
        },
    }
