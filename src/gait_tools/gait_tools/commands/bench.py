# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Measure the speed of this installation and compare it with its budgets.

Most budgets are ratios of times of one run, so that they hold on any idle machine. `--checks` runs
the long acceptance checks instead, which take half an hour. All checks run, even if one fails;
`--only` selects some.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
import sys
import time
import traceback
from typing import TYPE_CHECKING

from gait_tools.commands.common import EXIT_FAILED, add_json, print_json

if TYPE_CHECKING:
    from gait_core.benchmark import Measurement

_Measure = Callable[[], 'Sequence[Measurement]']


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('--checks', action='store_true', help='run the long acceptance checks')
    parser.add_argument(
        '--only',
        action='append',
        metavar='NAME',
        help='part of the budgets or checks to run; may be repeated',
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the table; return 1 if a budget is exceeded."""
    rows: list[Measurement] = []
    for name, measure in _select_parts(
        _measurement_functions(options.checks), options.only
    ).items():
        print(f'gait: {name} ...', file=sys.stderr, flush=True)
        began = time.monotonic()
        found = _measure_part(name, measure)
        kept = 'kept' if all(row.is_within_budget for row in found) else 'NOT KEPT'
        seconds = time.monotonic() - began
        print(f'gait: {name}: {kept}, {seconds:.0f} s', file=sys.stderr, flush=True)
        rows += [replace(row, group=row.group or name) for row in found]
    groups = list(dict.fromkeys(row.group for row in rows))
    rows.sort(key=lambda row: groups.index(row.group))
    failed = [row for row in rows if not row.is_within_budget]
    if options.json:
        print_json(
            {
                'rows': [{**asdict(row), 'verdict': row.verdict} for row in rows],
                'passed': len(rows) - len(failed),
                'failed': len(failed),
            }
        )
    else:
        _print_table(rows)
    return EXIT_FAILED if failed else 0


def _measurement_functions(checks: bool) -> dict[str, _Measure]:
    """Return the functions that measure, by name; parts that are not installed are left out."""
    from functools import partial

    from gait_core import registry
    from gait_core.errors import ConfigurationError
    from gait_tools.checks.acceptance import CHECKS

    if checks:
        return {name: partial(check, 1.0) for name, check in CHECKS.items()}
    sources: dict[str, _Measure] = {}
    for name in registry.names('benchmarks'):
        try:
            sources[name] = registry.benchmark(name)
        except ConfigurationError as error:
            # Without ROS or an engine the other parts can still be measured.
            print(f'gait: skipped: {error}', file=sys.stderr)
    return sources


def _select_parts(sources: dict[str, _Measure], only: list[str] | None) -> dict[str, _Measure]:
    from gait_core.errors import unknown_name_error

    for name in only or ():
        if name not in sources:
            raise unknown_name_error('measurement', name, sources)
    return {name: sources[name] for name in only or sources}


def _measure_part(name: str, measure: _Measure) -> Sequence[Measurement]:
    """Return the rows of a part; an exception in it becomes a failed row."""
    from gait_core.benchmark import Measurement

    try:
        return measure()
    except Exception:
        traceback.print_exc()
        return [
            Measurement(
                id=f'{name}_ends',
                what='whether it finished',
                unit='-',
                measured=0.0,
                budget=1.0,
                at_most=False,
            )
        ]


def _print_table(rows: list[Measurement]) -> None:
    """Print the measurements under headings of their groups."""
    width = max(len(row.what) for row in rows)
    group = ''
    for row in rows:
        if row.group != group:
            group = row.group
            print(group)
        bound = '' if row.budget_range is None else str(row.budget_range)
        unit = '' if row.unit == '-' else row.unit
        value = f'{row.measured:10.3f}' if row.measured < 1000.0 else f'{row.measured:10.0f}'
        line = f'  {row.what:{width}}  {value} {unit:6} {bound:15} {row.verdict or ""}'
        print(line.rstrip())
