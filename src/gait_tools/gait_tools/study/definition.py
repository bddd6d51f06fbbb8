# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Studies: published numbers compared with those measured here, row by row.

A study is a list of parts, each a function that returns rows. A finished part is a file of the
run directory, so that an interrupted study can be resumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
import json
import math
from pathlib import Path
from typing import Any, cast

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.files.access import check_format, read_json, write_atomically
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import read_value
from gait_core.verdict import FAIL, PASS, Range
from gait_tools.study.session import StudySession

PART_FORMAT = 1
SKIP, DIFFERS, INFO = 'skip', 'differs', 'info'


@dataclass(frozen=True, kw_only=True)
class StudyRow:
    """
    One row of a study.

    Attributes
    ----------
    id, what, unit : str
        ``-`` for a number without a unit.
    published : float or None
        Value in the publication or from its equations; ``None``: a requirement of this suite.
    measured : float or None
        ``None`` if skipped or undefined.
    tolerance : str
        As text, e.g. ``+-0.1`` or ``at least 2``; empty without a bound.
    verdict : str
        ``pass``, ``fail``, ``skip``, ``differs`` or ``info``: a number for which neither the
        publication nor this project has a bound.
    note : str
        Conditions; for a row that differs, the measured cause.
    picture : str
        File in ``doc/images`` that shows the cause of a difference.

    """

    id: str
    what: str
    unit: str = '-'
    published: float | None = None
    measured: float | None = None
    tolerance: str = ''
    verdict: str
    note: str = ''
    picture: str = ''

    def __post_init__(self) -> None:
        """Check the verdict, require the cause of a difference, and replace NaN by None."""
        if self.verdict not in (PASS, FAIL, SKIP, DIFFERS, INFO):
            raise ValueError(
                f"row '{self.id}': unknown verdict '{self.verdict}', expected '{PASS}', '{FAIL}', "
                f"'{SKIP}', '{DIFFERS}' or '{INFO}'"
            )
        if self.verdict == DIFFERS and not (self.note and self.picture):
            raise ValueError(f"row '{self.id}' differs without a cause and a picture")
        if self.measured is not None and not math.isfinite(self.measured):
            object.__setattr__(self, 'measured', None)

    def without_bound(self) -> StudyRow:
        """Return the row as ``info``, where its bound does not hold: in a short run, say."""
        return replace(self, verdict=INFO, tolerance='')

    def differ_if_failed(self, is_cause: bool, cause: str, picture: str) -> StudyRow:
        """
        Return the row; a failed one whose cause was measured gets the verdict ``differs``.

        Parameters
        ----------
        is_cause : bool
            True if numbers of the same run show what ``cause`` states; else the row still fails.
        cause, picture : str
            Text for the note, and file in ``doc/images``.

        """
        if self.verdict != FAIL or not is_cause:
            return self
        note = f'{self.note}; {cause}' if self.note else cause
        return replace(self, verdict=DIFFERS, note=note, picture=picture)


def row_near(
    row_id: str,
    what: str,
    measured: float | None,
    published: float,
    within: float,
    unit: str = '-',
    **rest: Any,
) -> StudyRow:
    """Return a row that passes if measured and published value differ by at most ``within``."""
    return StudyRow(
        id=row_id,
        what=what,
        unit=unit,
        published=published,
        measured=measured,
        tolerance=f'+-{within:g}',
        verdict=Range(high=within).verdict(
            None if measured is None else abs(measured - published)
        ),
        **rest,
    )


def row_at_least(
    row_id: str, what: str, measured: float | None, bound: float, unit: str = '-', **rest: Any
) -> StudyRow:
    """Return a row that passes if the measured value is at least ``bound``."""
    return _row_in_range(row_id, what, measured, Range(low=bound), unit, rest)


def row_at_most(
    row_id: str, what: str, measured: float | None, bound: float, unit: str = '-', **rest: Any
) -> StudyRow:
    """Return a row that passes if the measured value is at most ``bound``."""
    return _row_in_range(row_id, what, measured, Range(high=bound), unit, rest)


def row_above(
    row_id: str, what: str, measured: float | None, bound: float, unit: str = '-', **rest: Any
) -> StudyRow:
    """Return a row that passes if the measured value is greater than ``bound``."""
    row = row_at_least(row_id, what, measured, math.nextafter(bound, math.inf), unit, **rest)
    return replace(row, tolerance=f'above {bound:g}')


def row_below(
    row_id: str, what: str, measured: float | None, bound: float, unit: str = '-', **rest: Any
) -> StudyRow:
    """Return a row that passes if the measured value is less than ``bound``."""
    row = row_at_most(row_id, what, measured, math.nextafter(bound, -math.inf), unit, **rest)
    return replace(row, tolerance=f'below {bound:g}')


def row_between(
    row_id: str,
    what: str,
    measured: float | None,
    low: float,
    high: float,
    unit: str = '-',
    **rest: Any,
) -> StudyRow:
    """Return a row that passes if the measured value is in [low, high]."""
    return _row_in_range(row_id, what, measured, Range(low=low, high=high), unit, rest)


def _row_in_range(
    row_id: str,
    what: str,
    measured: float | None,
    tolerance: Range,
    unit: str,
    rest: Mapping[str, Any],
) -> StudyRow:
    """Return a row with the verdict of a range; ``rest`` are further fields, such as its note."""
    return StudyRow(
        id=row_id,
        what=what,
        unit=unit,
        measured=measured,
        tolerance=str(tolerance),
        verdict=tolerance.verdict(measured),
        **rest,
    )


def row_info(
    row_id: str, what: str, measured: float | None, unit: str = '-', **rest: Any
) -> StudyRow:
    """Return a row that shows a number without a bound."""
    return StudyRow(id=row_id, what=what, unit=unit, measured=measured, verdict=INFO, **rest)


def row_p_value(
    row_id: str, what: str, p_value: float, level: float, least: float, **rest: Any
) -> StudyRow:
    """
    Return a row that passes if the p-value of a statistical test is at least ``level``.

    The row has no bound if its samples are too few to fail the test: if ``least``, the smallest
    p-value that so many samples can give, is not below ``level``.
    """
    if least >= level:
        few = f'too few samples for a test: p is at least {least:.2g} whatever is measured'
        rest['note'] = f'{rest["note"]}; {few}' if rest.get('note') else few
        return row_info(row_id, what, p_value, **rest)
    return row_at_least(row_id, what, p_value, level, **rest)


def skipped_row(row_id: str, what: str, why: str) -> StudyRow:
    """Return a row that was not measured."""
    return StudyRow(id=row_id, what=what, verdict=SKIP, note=why)


@dataclass(frozen=True, kw_only=True)
class StudyPart:
    """
    Rows that are measured together.

    ``measure`` takes the session. ``skipped_when_quick`` is the reason for which `--quick` skips
    the part; empty if it does not.
    """

    name: str
    measure: Callable[[StudySession], Sequence[StudyRow]]
    skipped_when_quick: str = ''


@dataclass(frozen=True, kw_only=True)
class Study:
    """Study: title in one line, publication, parts in order."""

    name: str
    title: str
    source: str
    parts: tuple[StudyPart, ...]


PartListener = Callable[[StudyPart, Sequence[StudyRow]], None]


def load_study(name: str) -> Study:
    """Return a study registered in the group ``gait.studies``."""
    make = cast(Callable[[], Study], registry.load('studies', name))
    return make()


def run_study(study: Study, session: StudySession, listener: PartListener) -> list[StudyRow]:
    """
    Run a study and return its rows; finished parts are read from the session's folder.

    Parameters
    ----------
    study : Study
    session : StudySession
    listener : callable
        Called with every part and its rows.

    """
    rows: list[StudyRow] = []
    for part in study.parts:
        file = session.folder / 'parts' / f'{part.name}.json'
        if file.exists():
            found = _read_part(file)
        elif session.quick and part.skipped_when_quick:
            found = [skipped_row(part.name, part.name.replace('_', ' '), part.skipped_when_quick)]
        else:
            found = list(part.measure(session))
            content = {'format': PART_FORMAT, 'rows': to_plain_data(found)}
            file.parent.mkdir(exist_ok=True)
            write_atomically(file, json.dumps(content, indent=1, allow_nan=False) + '\n')
        listener(part, found)
        rows += found
    return rows


def count_verdicts(rows: Sequence[StudyRow]) -> dict[str, int]:
    """Return the number of rows with each verdict, by the keys of the JSON object."""
    verdicts = Counter(row.verdict for row in rows)
    names = {PASS: 'passed', FAIL: 'failed', DIFFERS: 'differs', SKIP: 'skipped', INFO: 'info'}
    return {name: verdicts[verdict] for verdict, name in names.items()}


def study_as_json(study: Study, session: StudySession, rows: Sequence[StudyRow]) -> dict[str, Any]:
    """Return the JSON object of a study."""
    return {
        'study': study.name,
        'quick': session.quick,
        'seed': session.seed,
        'run_dir': str(session.folder),
        'rows': to_plain_data(list(rows)),
        **count_verdicts(rows),
    }


def _read_part(file: Path) -> list[StudyRow]:
    content = check_format(read_json(file), PART_FORMAT, str(file))
    try:
        return [read_value(StudyRow, item, 'row') for item in content['rows']]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f'{file} was changed: {error}') from error
