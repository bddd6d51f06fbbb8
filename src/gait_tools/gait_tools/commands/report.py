# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Write one self-contained page about a run or a champion.

Any browser opens the page without a network. It shows a replay in three dimensions, fitness and
parameters over the generations, gait diagram, zero-moment point, energy, trials that the gates
rejected, and the commands that repeat the run. `--card` also tries the champion with other
starts, friction, mass, terrain and engine, which takes minutes.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from gait_tools.commands.common import add_json, begins_with, check_output, print_json

if TYPE_CHECKING:
    from gait_core.trial.champion import Champion
    from gait_tools.robustness import CardRow


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        'source', metavar='RUN_DIR_OR_CHAMPION', help='run directory or champion.yaml'
    )
    parser.add_argument(
        '--out',
        metavar='FILE',
        help='page (default: report.html in the run directory or beside the champion)',
    )
    parser.add_argument(
        '--card',
        action='store_true',
        help='add the robustness card: trials with other starts, friction, mass, '
        'terrain and engines',
    )
    parser.add_argument(
        '--markdown', metavar='FILE', help='also write the robustness card as a Markdown table'
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the page and print its path."""
    from gait_core.errors import ConfigurationError
    from gait_core.files.access import write_atomically
    from gait_tools.report.build import build_report, load_subject
    from gait_tools.report.page import PAGE_START, plotly_source
    from gait_tools.robustness import CARD_START

    source = Path(options.source)
    subject = load_subject(source)
    beside = source / 'report.html' if source.is_dir() else source.with_suffix('.html')
    file = Path(options.out) if options.out else beside
    markdown = Path(options.markdown) if options.markdown else None
    check_output('--out', file, lambda path: begins_with(path, PAGE_START), '.html')
    if markdown is not None:
        check_output('--markdown', markdown, lambda path: begins_with(path, CARD_START), '.md')
    if markdown is not None and not options.card:
        raise ConfigurationError('--markdown needs --card')
    # Report a missing library now, not after trials that take minutes.
    plotly_source()
    rows = _robustness_rows(subject.champion, markdown) if options.card else []
    html = build_report(subject, rows).html()
    write_atomically(file, html)
    values = {'report': str(file), 'bytes': len(html.encode())}
    if options.json:
        print_json({**values, 'card': [asdict(row) for row in rows]} if options.card else values)
    else:
        for row in rows:
            print(f'{row.group:14} {row.label:45.45} {row.succeeded} of {row.trials}')
        print(f'{file} ({len(html.encode()) / 1e6:.1f} MB)')
    return 0


def _robustness_rows(champion: Champion | None, markdown: Path | None) -> list[CardRow]:
    """Return the robustness card of a champion, and write it as Markdown if a path is given."""
    from gait_core.errors import ConfigurationError
    from gait_core.files.access import write_atomically
    from gait_tools.robustness import card_markdown, robustness_card

    if champion is None:
        raise ConfigurationError('--card needs a champion: the run has none yet')
    rows = robustness_card(
        champion, lambda text: print(f'gait: {text} ...', file=sys.stderr, flush=True)
    )
    if markdown is not None:
        write_atomically(markdown, card_markdown(rows))
    return rows
