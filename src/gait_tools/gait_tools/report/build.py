"""Sections of a report: the search of a run, the trial of its champion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
import shlex

from gait_core.errors import ConfigurationError
from gait_core.files.access import read_text
from gait_core.measures.metrics import trial_metrics
from gait_core.trial.champion import Champion, check_champion_robot, read_champion
from gait_core.trial.loop import run_loop
from gait_core.trial.rollout import Rollout
from gait_core.trial.spec import FELL, TrialResult
from gait_evolver.experiment import Experiment
from gait_evolver.plan import resolve_experiment
from gait_evolver.run.log import TrialRow
from gait_evolver.run.store import read_generations, read_run
from gait_tools.report import charts
from gait_tools.report.page import Page, command, figures, table
from gait_tools.report.replay import replay
from gait_tools.robustness import CardRow, spread

_FIGURES = (
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
class Subject:
    """Subject of a report: a champion, and the run that it came from if that is at hand."""

    file: Path
    champion: Champion | None
    folder: Path | None = None
    experiment: Experiment | None = None
    generations: Sequence[Sequence[TrialRow]] = ()


def load_subject(source: Path) -> Subject:
    """
    Return what stands in a run directory or a champion file.

    Raises
    ------
    ConfigurationError
        If it is neither, or a run without a finished generation.

    """
    if not source.is_dir():
        return Subject(file=source, champion=_checked_champion(source))
    _, experiment = read_run(source)
    generations = read_generations(source)
    if not generations:
        raise ConfigurationError(f'{source}: no generation is finished yet')
    file = source / 'champion.yaml'
    return Subject(
        file=file,
        champion=_checked_champion(file) if file.exists() else None,
        folder=source,
        experiment=experiment,
        generations=generations,
    )


def _checked_champion(file: Path) -> Champion:
    """Return the champion of a file; ConfigurationError if its robot is another one by now."""
    champion = read_champion(file)
    check_champion_robot(file, champion)
    return champion


def build_page(subject: Subject, card: Sequence[CardRow] = ()) -> Page:
    """Return the page; the champion's trial is run again for its pictures."""
    champion = subject.champion
    name = (
        subject.experiment.name
        if subject.experiment
        else str((champion.run if champion else {}).get('experiment', subject.file.stem))
    )
    page = Page(title=f'{name}: gait report')
    _head(page, subject, name)
    if champion is not None:
        loop = run_loop(champion.spec)
        result, rollout = loop.result(), loop.rollout()
        _champion_figures(page, champion, result)
        _player(page, champion, result, rollout)
    if subject.generations:
        _search(page, subject)
    if champion is not None:
        _trial(page, rollout)
    _card(page, card)
    _gates(page, subject, rollout if champion is not None else None)
    _repeat(page, subject)
    return page


def _head(page: Page, subject: Subject, name: str) -> None:
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


def _champion_figures(page: Page, champion: Champion, result: TrialResult) -> None:
    found = [('fitness', _short(champion.fitness), ''), ('status', champion.status, '')]
    found += [
        (label, _short(result.metrics[name]), unit)
        for name, label, unit in _FIGURES
        if name in result.metrics
    ]
    page.add(figures(found))


def _player(page: Page, champion: Champion, result: TrialResult, rollout: Rollout) -> None:
    page.replay = replay(rollout)
    same = result.trial_hash == champion.trial_hashes[0]
    word = (
        '<span class="good">equal to its record to the last bit</span>'
        if same
        else '<span class="bad">not equal to its record</span> (another platform or version?)'
    )
    page.card(
        'The best gait',
        '<div id="player"></div>'
        '<div class="controls"><button id="play">Play</button>'
        '<input id="frame" type="range" min="0" value="0" aria-label="time">'
        '<output id="clock"></output></div>',
        f'<p class="quiet">Run again for this page: {word}. Drag turns it, the wheel zooms; the '
        'red dot is the zero-moment point.</p>',
    )


def _search(page: Page, subject: Subject) -> None:
    experiment = subject.experiment
    assert experiment is not None
    units = {gene.name: gene.unit for gene in resolve_experiment(experiment).space.genes}
    rows = subject.generations
    page.card('Fitness', page.chart(charts.fitness_chart(rows)))
    page.card('Spread over the repeats', page.chart(charts.repeats_chart(rows)))
    small = ''.join(
        f'<div><h3>{escape(str(figure["title"]))}</h3>{page.chart(figure)}</div>'
        for figure in charts.parameter_charts(rows, units)
    )
    page.card('Parameters', f'<div class="small-charts">{small}</div>')


def _trial(page: Page, rollout: Rollout) -> None:
    page.card('Gait diagram', page.chart(charts.gait_chart(rollout)))
    zmp = page.chart(charts.zmp_chart(rollout))
    page.card(
        'Zero-moment point',
        f'<div class="two">{zmp}{page.chart(charts.margin_chart(rollout))}</div>',
        f'<p class="quiet">{escape(_steadiness(rollout))}</p>',
    )
    energy = page.chart(charts.energy_chart(rollout))
    page.card(
        'Energy', f'<div class="two">{energy}{page.chart(charts.joints_chart(rollout))}</div>'
    )


def _steadiness(rollout: Rollout) -> str:
    """Return in words how long it walked and how near the zero-moment point came to an edge."""
    found = trial_metrics(rollout)
    words = f'{found.get("steps", 0.0):.0f} steps in {found["duration_s"]:.2f} s'
    words += ', then it fell. ' if rollout.status == FELL else ' without a fall. '
    if 'zmp_margin_min_m' in found:
        words += (
            f'Margin to the edge: {1e3 * found["zmp_margin_min_m"]:.1f} mm at least, '
            f'{1e3 * found["zmp_margin_mean_m"]:.1f} mm on average; '
        )
    return f'{words}no zero-moment point for {found["zmp_undefined_fraction"]:.0%} of the time.'


def _card(page: Page, rows: Sequence[CardRow]) -> None:
    if not rows:
        return
    cells = [
        (
            escape(row.group) if i == 0 or rows[i - 1].group != row.group else '',
            escape(row.label),
            f'{row.succeeded} of {row.trials}',
            _share(row.succeeded, row.trials),
            spread(row.distance_mean, row.distance_deviation, row.trials),
            spread(row.fitness_mean, row.fitness_deviation, row.trials),
        )
        for i, row in enumerate(rows)
    ]
    page.card(
        'Robustness',
        '<p class="quiet">Trials that neither fell nor exceeded a gate, beside what the gait was '
        'chosen in. Means and deviations count those that fell, too.</p>',
        table(('changed', 'to', 'succeeded', '', 'distance [m]', 'fitness'), cells, '  n nn'),
    )


def _gates(page: Page, subject: Subject, rollout: Rollout | None) -> None:
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
            table(
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
            '<h3 style="margin-top:18px">What the best gait reached</h3>'
            + table(
                ('gate', 'reached', 'limit', ''),
                [
                    (
                        escape(row['gate'].replace('_', ' ')),
                        _with_unit(row['value'], row['unit']),
                        _with_unit(row['limit'], row['unit']),
                        _share(row['value'], row['limit']),
                    )
                    for row in charts.gates_table(rollout)
                ],
                ' nn',
            )
        )
    page.card('How trials ended, and the validity gates', *parts)


def _share(value: float | None, limit: float) -> str:
    if value is None:
        return ''
    share = min(1.0, max(0.0, value / limit))
    over = ' class="over"' if value > limit else ''
    return f'<div class="share"><span{over} style="width:{share:.1%}"></span></div>'


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return 'not told'
    return _short(value) + ('' if unit == '-' else f' {escape(unit)}')


def _repeat(page: Page, subject: Subject) -> None:
    parts = []
    if subject.folder is not None and subject.experiment is not None:
        folder = shlex.quote(str(subject.folder))
        again = shlex.quote(f'{subject.folder}-again')
        parts += [
            '<p>The run, whose log is then equal to the last bit on the platform below:</p>',
            command(
                f'gait evolve {folder}/experiment.yaml '
                f'--generations {len(subject.generations)} --run-dir {again}',
                'evolve',
            ),
        ]
    if subject.champion is not None:
        source = shlex.quote(str(subject.folder or subject.file))
        parts += ['<p>The best gait alone:</p>', command(f'gait replay {source}', 'replay')]
        run = subject.champion.run
        facts = [(str(key), str(value)) for key, value in run.items()]
        facts += [('platform', subject.champion.fingerprint)]
        rows = [(escape(key.replace('_', ' ')), escape(value)) for key, value in facts]
        parts.append(table(('provenance', ''), rows))
    if subject.folder is not None:
        text = escape(read_text(subject.folder / 'experiment.yaml'))
        parts.append(
            '<details><summary>experiment.yaml, every default written out</summary>'
            f'<pre>{text}</pre></details>'
        )
    page.card('Repeat it', *parts)


def _short(value: float) -> str:
    return f'{value:.0f}' if float(value).is_integer() and abs(value) < 1e6 else f'{value:.4g}'
