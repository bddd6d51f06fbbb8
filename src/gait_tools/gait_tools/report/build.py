# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sections of a report: search of a run, trial of its champion, gates, commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
import shlex

from gait_core.contracts import Evaluation
from gait_core.errors import ConfigurationError
from gait_core.files.access import read_text
from gait_core.measures.metrics import trial_gait_diagram, trial_metrics
from gait_core.trial.champion import Champion, check_champion_robot, read_champion
from gait_core.trial.fingerprint import describe_differences
from gait_core.trial.loop import run_loop
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import FELL, TrialResult
from gait_evolver.experiment import Experiment
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import read_generations, read_run
from gait_evolver.scoring import evaluate_candidate, group_by_candidate
from gait_tools.report import charts
from gait_tools.report.page import ReportPage, command_html, figures_html, table_html
from gait_tools.report.replay import replay_data
from gait_tools.robustness import CardRow, format_spread

_SHOWN_METRICS = (
    ('distance_m', 'distance', 'm'),
    ('mean_speed_mps', 'mean speed', 'm/s'),
    ('steps', 'steps', ''),
    ('energy_j', 'positive work', 'J'),
    ('cost_of_transport', 'cost of transport', ''),
    ('zmp_margin_mean_m', 'mean ZMP margin', 'm'),
    ('duty_factor', 'duty factor', ''),
    ('tilt_max_rad', 'largest tilt', 'rad'),
)


@dataclass(frozen=True, kw_only=True)
class ReportSubject:
    """Subject of a report: a champion, a run, or a run with its champion."""

    file: Path
    champion: Champion | None
    folder: Path | None = None
    experiment: Experiment | None = None
    generations: Sequence[Sequence[TrialRow]] = ()


def load_subject(source: Path) -> ReportSubject:
    """
    Return the subject in a run directory or a champion file.

    Raises
    ------
    ConfigurationError
        If the source is neither, or is a run without a finished generation.

    """
    if not source.is_dir():
        return ReportSubject(file=source, champion=_checked_champion(source))
    _, experiment = read_run(source)
    generations = read_generations(source)
    if not generations:
        raise ConfigurationError(f'{source}: no generation is finished yet')
    file = source / 'champion.yaml'
    return ReportSubject(
        file=file,
        champion=_checked_champion(file) if file.exists() else None,
        folder=source,
        experiment=experiment,
        generations=generations,
    )


def _checked_champion(file: Path) -> Champion:
    """Return the champion of a file; ConfigurationError if its robot has changed."""
    champion = read_champion(file)
    check_champion_robot(file, champion)
    return champion


def build_report(subject: ReportSubject, card: Sequence[CardRow] = ()) -> ReportPage:
    """Run the champion's trial again for its pictures, and return the page."""
    champion = subject.champion
    name = (
        subject.experiment.name
        if subject.experiment
        else str((champion.run if champion else {}).get('experiment', subject.file.stem))
    )
    page = ReportPage(title=f'{name}: gait report')
    _add_head(page, subject, name)
    if champion is not None:
        loop = run_loop(champion.spec)
        result, rollout = loop.result(), loop.rollout()
        _add_champion_figures(page, champion, result)
        _add_player(page, champion, result, rollout)
    if subject.generations:
        _add_search(page, subject)
    if champion is not None:
        _add_trial(page, rollout)
    _add_robustness(page, card)
    _add_gates(page, subject, rollout if champion is not None else None)
    _add_commands(page, subject)
    return page


def _add_head(page: ReportPage, subject: ReportSubject, name: str) -> None:
    """Add the title, the description and a line on robot, controller and engine."""
    experiment, champion = subject.experiment, subject.champion
    words = []
    if experiment is not None:
        trials = sum(len(rows) for rows in subject.generations)
        words.append(
            f'{experiment.robot} with {experiment.controller} on {", ".join(experiment.engines)}; '
            f'seed {experiment.seed}, {len(subject.generations)} generations, {trials} trials'
        )
    elif champion is not None:
        spec = champion.spec
        words.append(f'{spec.scene.robot} with {spec.controller} on {spec.scene.engine}')
    page.add(f'<h1>{escape(name)}</h1>')
    if experiment is not None and experiment.description:
        page.add(f'<p>{escape(experiment.description)}</p>')
    page.add(f'<p class="quiet">{escape(" ".join(words))}</p>')


def _add_champion_figures(page: ReportPage, champion: Champion, result: TrialResult) -> None:
    found = [('fitness', _format_number(champion.fitness), ''), ('status', champion.status, '')]
    found += [
        (label, _format_number(result.metrics[name]), unit)
        for name, label, unit in _SHOWN_METRICS
        if name in result.metrics
    ]
    page.add(figures_html(found))


def _add_player(
    page: ReportPage, champion: Champion, result: TrialResult, rollout: Rollout
) -> None:
    """Add the replay of the best gait, and whether it equals its record."""
    page.replay = replay_data(rollout)
    is_equal = result.trial_hash == champion.trial_hashes[0]
    differences = describe_differences(champion.platform) if champion.platform else ''
    cause = f'the platform differs in {differences}' if differences else 'another version?'
    word = (
        '<span class="good">equal to its record to the last bit</span>'
        if is_equal
        else f'<span class="bad">not equal to its record</span> ({escape(cause)})'
    )
    page.add_section(
        'The best gait',
        '<div id="player"></div>'
        '<div class="controls"><button id="play">Play</button>'
        '<input id="frame" type="range" min="0" value="0" aria-label="time">'
        '<output id="clock"></output></div>',
        f'<p class="quiet">Run again for this page: {word}. Drag turns it, the wheel zooms; the '
        'red dot is the zero-moment point.</p>',
    )


def _add_search(page: ReportPage, subject: ReportSubject) -> None:
    """Add the charts of a run: fitness, repeats, quantities and parameters over generations."""
    experiment = subject.experiment
    assert experiment is not None
    units = {gene.name: gene.unit for gene in resolve_experiment(experiment).space.genes}
    rows = subject.generations
    page.add_section('Fitness', page.chart(charts.fitness_chart(rows, experiment)))
    page.add_section('Spread over the repeats', page.chart(charts.repeats_chart(rows, experiment)))
    _add_quantities(page, experiment, rows)
    small = ''.join(
        f'<div><h3>{escape(str(figure["title"]))}</h3>{page.chart(figure)}</div>'
        for figure in charts.parameter_charts(rows, units, experiment)
    )
    page.add_section('Parameters', f'<div class="small-charts">{small}</div>')


def _add_quantities(
    page: ReportPage, experiment: Experiment, generations: Sequence[Sequence[TrialRow]]
) -> None:
    """Add tables of constraints and measures: share of candidates, range and best candidate."""
    groups = [group for rows in generations for group in group_by_candidate(rows)]
    evaluations = [evaluate_candidate(group, experiment) for group in groups]
    scored = [item for item in evaluations if item.objectives is not None]
    best = max((item for item in scored if item.is_feasible), key=_fitness_of, default=None)
    limits = []
    for name, bounds in experiment.constraints.items():
        satisfied = sum(item.constraints[name] <= 0.0 for item in scored)
        words = [
            f'{word} {_format_number(bound)}'
            for word, bound in (('at least', bounds.at_least), ('at most', bounds.at_most))
            if bound is not None
        ]
        share = f'{satisfied} of {len(scored)}'
        limits.append((escape(name), ', '.join(words), share, _share_bar(satisfied, len(scored))))
    measured = []
    for name in experiment.measures:
        values = [item.measures[name] for item in scored if name in item.measures]
        own = None if best is None else best.measures.get(name)
        numbers = (min(values), max(values), own) if values else (None, None, None)
        cells = ['-' if number is None else _format_number(number) for number in numbers]
        measured.append((escape(name), *cells))
    if limits:
        headings = ('metric or term', 'bound', 'candidates that satisfy it', '')
        page.add_section('Constraints', table_html(headings, limits, '  n'))
    if measured:
        headings = ('metric', 'least', 'largest', 'best candidate')
        page.add_section('Measures', table_html(headings, measured, ' nnn'))


def _fitness_of(evaluation: Evaluation) -> float:
    return evaluation.fitness


def _add_trial(page: ReportPage, rollout: Rollout) -> None:
    """Add the charts of one trial: gait, zero-moment point and energy."""
    page.add_section('Gait diagram', page.chart(charts.gait_chart(rollout)), _legs_table(rollout))
    zmp = page.chart(charts.zmp_chart(rollout))
    page.add_section(
        'Zero-moment point',
        f'<div class="two">{zmp}{page.chart(charts.margin_chart(rollout))}</div>',
        f'<p class="quiet">{escape(_describe_steadiness(rollout))}</p>',
    )
    energy = page.chart(charts.energy_chart(rollout))
    page.add_section(
        'Energy', f'<div class="two">{energy}{page.chart(charts.joints_chart(rollout))}</div>'
    )


def _legs_table(rollout: Rollout) -> str:
    """Return the table of stance, duty factor, strides, phase lag and grazes of each leg."""
    diagram = trial_gait_diagram(rollout)
    if not diagram.stances:
        return ''

    def cell(values: Mapping[str, float], leg: str, form: str) -> str:
        """Return the cell of a leg; a dash if it has no value."""
        return format(values[leg], form) if leg in values else '-'

    rows = [
        (
            escape(leg),
            cell(diagram.stance_fraction, leg, '.2f'),
            cell(diagram.duty_factor, leg, '.2f'),
            cell(diagram.stride_frequency, leg, '.2f'),
            cell(diagram.phase_lag, leg, '.2f'),
            str(diagram.grazes[leg]),
        )
        for leg in diagram.stances
    ]
    headings = (
        *('leg', 'share of stance', 'duty factor', 'strides [Hz]', 'phase lag [rad]'),
        'grazes',
    )
    return table_html(headings, rows, ' nnnnn')


def _describe_steadiness(rollout: Rollout) -> str:
    """Return a sentence on steps, duration and margins of the zero-moment point."""
    found = trial_metrics(rollout)
    steps = f'{found["steps"]:.0f} steps in ' if 'steps' in found else ''
    words = f'{steps}{found["duration_s"]:.2f} s'
    words += ', then it fell. ' if rollout.status == FELL else ' without a fall. '
    if 'zmp_margin_min_m' in found:
        words += (
            f'Margin to the edge: {1e3 * found["zmp_margin_min_m"]:.1f} mm at least, '
            f'{1e3 * found["zmp_margin_mean_m"]:.1f} mm on average; '
        )
    if 'zmp_undefined_fraction' not in found:
        return f'{words}The engine reports no contacts.'
    return f'{words}no zero-moment point for {found["zmp_undefined_fraction"]:.0%} of the time.'


def _add_robustness(page: ReportPage, rows: Sequence[CardRow]) -> None:
    """Add the table of the robustness card, if there is one."""
    if not rows:
        return
    cells = [
        (
            escape(row.group) if i == 0 or rows[i - 1].group != row.group else '',
            escape(row.label),
            f'{row.succeeded} of {row.trials}',
            _share_bar(row.succeeded, row.trials),
            format_spread(row.distance_mean, row.distance_deviation, row.trials),
            format_spread(row.fitness_mean, row.fitness_deviation, row.trials),
        )
        for i, row in enumerate(rows)
    ]
    page.add_section(
        'Robustness',
        '<p class="quiet">Trials without a fall or an exceeded gate, under other conditions than '
        'those of the evolution. Means and deviations include falls.</p>',
        table_html(('changed', 'to', 'succeeded', '', 'distance [m]', 'fitness'), cells, '  n nn'),
    )


def _add_gates(page: ReportPage, subject: ReportSubject, rollout: Rollout | None) -> None:
    """Add how the trials of the run ended, and how near the best gait came to each gate."""
    parts = []
    if subject.generations:
        parts.append(page.chart(charts.outcome_chart(subject.generations)))
        counts: dict[str, int] = {}
        for rows in subject.generations:
            for row in rows:
                counts[row.status] = counts.get(row.status, 0) + 1
        caught = {name: n for name, n in counts.items() if name not in ('ok', 'fell')}
        total = sum(counts.values())
        parts.append(
            table_html(
                ('ended as', 'trials', 'share'),
                [
                    (escape(name), str(n), f'{n / total:.1%}')
                    for name, n in sorted(counts.items(), key=lambda pair: -pair[1])
                ],
                ' nn',
            )
        )
        if not caught:
            parts.append('<p class="quiet">No gate caught a trial.</p>')
    if rollout is not None:
        parts.append(
            '<h3 style="margin-top:18px">Gates of the best gait</h3>'
            + table_html(
                ('gate', 'measured', 'limit', ''),
                [
                    (
                        escape(row['gate'].replace('_', ' ')),
                        _format_with_unit(row['value'], row['unit']),
                        _format_with_unit(row['limit'], row['unit']),
                        _share_bar(row['value'], row['limit']),
                    )
                    for row in charts.gate_rows(rollout)
                ],
                ' nn',
            )
        )
    page.add_section('How trials ended, and the validity gates', *parts)


def _share_bar(value: float | None, limit: float) -> str:
    if value is None:
        return ''
    share = min(1.0, max(0.0, value / limit))
    over = ' class="over"' if value > limit else ''
    return f'<div class="share"><span{over} style="width:{share:.1%}"></span></div>'


def _format_with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return 'not measured'
    return _format_number(value) + ('' if unit == '-' else f' {escape(unit)}')


def _add_commands(page: ReportPage, subject: ReportSubject) -> None:
    """Add the commands that repeat the run, and where the best gait comes from."""
    parts = []
    if subject.folder is not None and subject.experiment is not None:
        folder = shlex.quote(str(subject.folder))
        again = shlex.quote(f'{subject.folder}-again')
        parts += [
            '<p>To repeat the run; on the platform below its log is equal to the last bit:</p>',
            command_html(
                f'gait evolve {folder}/experiment.yaml '
                f'--generations {len(subject.generations)} --run-dir {again}',
                'evolve',
            ),
        ]
    if subject.champion is not None:
        source = shlex.quote(str(subject.folder or subject.file))
        parts += ['<p>The best gait:</p>', command_html(f'gait replay {source}', 'replay')]
        run = subject.champion.run
        facts = [(str(key), str(value)) for key, value in run.items()]
        facts += [('platform', subject.champion.fingerprint)]
        rows = [(escape(key.replace('_', ' ')), escape(value)) for key, value in facts]
        parts.append(table_html(('provenance', ''), rows))
    if subject.folder is not None:
        text = escape(read_text(subject.folder / 'experiment.yaml'))
        parts.append(
            '<details><summary>experiment.yaml with all defaults</summary>'
            f'<pre>{text}</pre></details>'
        )
    page.add_section('Repeat it', *parts)


def _format_number(value: float) -> str:
    return f'{value:.0f}' if float(value).is_integer() and abs(value) < 1e6 else f'{value:.4g}'
