"""
Write one self-contained page about a run or a champion.

The page opens in any browser without network: a replay to turn with the mouse, fitness and
parameters over the generations, gait diagram, zero moment point, energy, what the validity gates
caught, and the command that repeats the run.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gait_evolver.commands.common import add_json, print_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('source', metavar='RUN_DIR_OR_CHAMPION')
    parser.add_argument(
        '--out', metavar='FILE', help='default: report.html in the run, or beside the champion'
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the page and say where."""
    from gait_core.champion import write_atomically
    from gait_core.errors import ConfigurationError
    from gait_evolver.report.build import build_page, load_subject

    source = Path(options.source)
    subject = load_subject(source)
    beside = source / 'report.html' if source.is_dir() else source.with_suffix('.html')
    file = Path(options.out) if options.out else beside
    if not file.parent.is_dir():
        raise ConfigurationError(f"--out '{file}': the folder '{file.parent}' does not exist")
    html = build_page(subject).html()
    write_atomically(file, html)
    if options.json:
        print_json({'report': str(file), 'bytes': len(html.encode())})
    else:
        print(f'{file} ({len(html.encode()) / 1e6:.1f} MB)')
    return 0
