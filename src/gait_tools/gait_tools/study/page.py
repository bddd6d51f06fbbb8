# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markdown page of a study's rows, for ``doc/results``."""

from __future__ import annotations

from collections.abc import Sequence
import datetime
import os
from pathlib import Path
import platform

from gait_evolver import __version__
from gait_tools.study.definition import Study, StudyRow, count_verdicts
from gait_tools.study.session import StudySession


def study_page(study: Study, session: StudySession, rows: Sequence[StudyRow]) -> str:
    """Return the page: command, seed, date, machine, time of all runs, counts and the table."""
    found = count_verdicts(rows)
    quick = ' --quick' if session.quick else ''
    run = (
        f'`./gait study {study.name}{quick} --seed {session.seed}`, '
        f'{datetime.date.today().isoformat()}, version {__version__}, {describe_machine()}; '
        f'{session.seconds / 60.0:.0f} min.'
    )
    lines = [
        f'# Study {study.name}',
        '',
        f'{study.title} Source: {study.source}',
        '',
        run,
        '',
        ', '.join(f'{number} {name}' for name, number in found.items()) + '.',
        '',
        '| Row | What | Published | Measured | Tolerance | Verdict | Note |',
        '|---|---|---|---|---|---|---|',
    ]
    for row in rows:
        note = row.note
        if row.picture:
            note += f' ([picture](../images/{row.picture}))'
        unit = '' if row.unit == '-' else f' {row.unit}'
        cells = (
            row.id,
            row.what,
            format_value(row.published, unit),
            format_value(row.measured, unit),
            row.tolerance,
            row.verdict,
            note,
        )
        lines.append('| ' + ' | '.join(cell.replace('|', r'\|') for cell in cells) + ' |')
    return '\n'.join(lines) + '\n'


def format_value(value: float | None, unit: str = '') -> str:
    """Return a number with four digits and its unit; '' for None."""
    return '' if value is None else f'{value:.4g}{unit}'


def describe_machine() -> str:
    """Return one line on processor, cores and Python version of this machine."""
    model = platform.machine()
    try:
        for line in Path('/proc/cpuinfo').read_text().splitlines():
            if line.startswith('model name'):
                model = line.partition(':')[2].strip()
                break
    except OSError:
        pass
    return f'{model}, {os.cpu_count()} cores, Python {platform.python_version()}'
