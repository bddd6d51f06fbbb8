# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Reproduce a published study and compare its numbers with those measured here.

NAME is one of `gait list studies`. The run directory keeps every finished part, the pictures and
the table as a page; `--run-dir DIR --resume` continues it. `--quick` takes less than 5 minutes.
The exit status is 1 if a row fails. A row that differs names a cause measured in the same run. A
row for which neither the publication nor this project has a bound is `info`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
import shlex
import sys
from typing import TYPE_CHECKING

from gait_tools.commands.common import EXIT_FAILED, add_json, option_words, print_json

if TYPE_CHECKING:
    from gait_tools.study.definition import StudyPart, StudyRow
    from gait_tools.study.session import StudySession


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('name', metavar='NAME', help='one of `gait list studies`')
    parser.add_argument('--quick', action='store_true', help='fewer and shorter trials')
    parser.add_argument('--seed', type=int, metavar='N', help='seed of every search (default: 1)')
    parser.add_argument(
        '--workers',
        type=int,
        default=0,
        metavar='N',
        help='number of workers; 0, the default: one per processor',
    )
    parser.add_argument(
        '--run-dir', metavar='DIR', help='run directory (default: a new one in ./runs)'
    )
    parser.add_argument('--resume', action='store_true', help='continue the run in --run-dir')
    add_json(parser)


def run(options: Namespace) -> int:
    """Run or resume a study; return 1 if a row fails."""
    from gait_core.files.access import write_atomically
    from gait_core.verdict import FAIL
    from gait_tools.study.definition import count_verdicts, load_study, run_study, study_as_json
    from gait_tools.study.page import study_page

    study = load_study(options.name)
    session = _open_session(options)
    try:
        rows = run_study(study, session, _print_part)
    except KeyboardInterrupt:
        words = ['gait', 'study', study.name, '--run-dir', str(session.folder), '--resume']
        words += option_words(options, ('workers',))
        print(f'gait: interrupted; resume with: {shlex.join(words)}', file=sys.stderr)
        raise
    finally:
        session.close()
    page = study_page(study, session, rows)
    write_atomically(session.folder / f'{study.name}.md', page)
    if options.json:
        print_json(study_as_json(study, session, rows))
    else:
        _print_rows(rows)
        print(', '.join(f'{number} {name}' for name, number in count_verdicts(rows).items()))
        print(f'page and pictures: {session.folder}')
    return EXIT_FAILED if any(row.verdict == FAIL for row in rows) else 0


def _open_session(options: Namespace) -> StudySession:
    """Return the study to run: a new one, or with ``--resume`` the recorded one."""
    from gait_core.errors import ConfigurationError
    from gait_evolver.loop import new_run_folder
    from gait_tools.study.session import StudySession

    if options.resume:
        if not options.run_dir:
            raise ConfigurationError('--resume needs --run-dir DIR')
        if options.seed is not None or options.quick:
            flag = '--quick' if options.quick else '--seed'
            raise ConfigurationError(f'{flag} cannot change a resumed study')
        return StudySession.resume(Path(options.run_dir), options.name, options.workers)
    seed = 1 if options.seed is None else options.seed
    folder = Path(options.run_dir) if options.run_dir else new_run_folder(options.name, seed)
    return StudySession.create(folder, options.name, options.quick, seed, options.workers)


def _print_part(part: StudyPart, rows: Sequence[StudyRow]) -> None:
    from gait_tools.study.definition import count_verdicts

    found = ', '.join(
        f'{number} {name}' for name, number in count_verdicts(rows).items() if number
    )
    print(f'gait: {part.name}: {found}', file=sys.stderr, flush=True)


def _print_rows(rows: Sequence[StudyRow]) -> None:
    """Print a line for every row; under a row that did not pass also its note."""
    from gait_tools.study.page import format_value

    width = max((len(row.id) for row in rows), default=0)
    for row in rows:
        unit = '' if row.unit == '-' else f' {row.unit}'
        published = (
            f', published {format_value(row.published, unit)}' if row.published is not None else ''
        )
        value = f': {format_value(row.measured, unit)}' if row.measured is not None else ''
        bound = f' ({row.tolerance}{published})' if row.tolerance else ''
        print(f'{row.verdict:8}{row.id:{width}}  {row.what}{value}{bound}')
        if row.note and row.verdict != 'pass':
            print(f'{"":8}{"":{width}}  {row.note}')
