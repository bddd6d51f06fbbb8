# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tables of declared parameters, and their values and ranges as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from gait_core.parameters.declaration import ParameterInfo, Parameters, declared_parameters

_ROS_TYPES = {
    'float': 'double',
    'int': 'integer',
    'bool': 'bool',
    'str': 'string',
    'floats': 'double array',
    'legs': 'double',
}
# Numbers that six digits would misstate.
_SYMBOLIC_BOUNDS: Mapping[float, str] = {2**63 - 1: '2^63 - 1'}


def parameter_table(
    cls: type[Parameters], prefix: str = '', with_ros_columns: bool = False
) -> str:
    """
    Return a Markdown table of the parameters that a dataclass declares.

    Numbered parameters that differ in number and default alone share a row.

    Parameters
    ----------
    cls : type of Parameters
    prefix : str
        In front of each name, e.g. ``gait.``.
    with_ros_columns : bool
        Whether to add type and mutability, as of ROS parameters.

    """
    headings = ['Parameter', 'Default', 'Range', 'Unit', 'Meaning']
    if with_ros_columns:
        headings[1:1], headings[5:5] = ['Type'], ['Live']
    lines = [_table_row(headings), '|' + '---|' * len(headings)]
    for _, group in groupby(declared_parameters(cls), key=_row_properties):
        alike = list(group)
        first, last = alike[0], alike[-1]
        names, default = f'`{prefix}{first.public_name}`', format_value(first.default)
        if len(alike) > 1:
            names += f' to `{prefix}{last.name}`'
            lowest, highest = (pick(info.default for info in alike) for pick in (min, max))
            default = (
                default
                if lowest == highest
                else f'{format_value(lowest)} to {format_value(highest)}'
            )
        cells = [names, default, format_range(first), first.unit, first.doc]
        if with_ros_columns:
            cells[1:1], cells[5:5] = [_ROS_TYPES[first.kind]], ['no' if first.read_only else 'yes']
        lines.append(_table_row(cell.replace('|', r'\|') for cell in cells))
    return '\n'.join(lines) + '\n'


def _table_row(cells: Iterable[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _row_properties(info: ParameterInfo) -> tuple[Any, ...]:
    """Return the properties that parameters of one row share: all but number and default."""
    stem = info.public_name.rstrip('0123456789')
    return stem, info.kind, info.low, info.high, info.unit, info.doc, info.choices, info.log


def format_value(value: Any) -> str:
    """Return the value of a parameter as pages and lists write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ', '.join(format_value(item) for item in value)
    return f'{value:g}' if isinstance(value, float) else str(value)


def format_range(info: ParameterInfo) -> str:
    """Return the choices or bounds of a parameter, or '' if it has none."""
    if info.choices:
        return ', '.join(info.choices)
    if info.low is None or info.high is None:
        return ''
    return f'{info.low:g} to {_SYMBOLIC_BOUNDS.get(info.high, f"{info.high:g}")}'
