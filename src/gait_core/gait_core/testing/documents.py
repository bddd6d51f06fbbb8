# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Tables of Markdown pages: generation from the documented code, and reading.

A page marks a made table by a comment in the line above it, e.g.
``<!-- table: parameters sim_bridge.settings:BridgeParams -->``. ``renew_tables`` makes each of
them anew: a test compares the result with the page, and ``tools/write_tables.py`` writes it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
import importlib
from importlib.metadata import entry_points
import importlib.util
from pathlib import Path
import re
from typing import Any

from gait_core import registry
from gait_core.errors import unknown_name_error
from gait_core.parameters.tables import parameter_table

_TABLE_MARK = re.compile(r'^(<!-- table: (\w+)(.*) -->\n)((?:\|.*\n)*)', re.MULTILINE)


def renew_tables(text: str, folder: Path) -> str:
    """
    Return a page with every marked table made anew.

    Parameters
    ----------
    text : str
        Of the page.
    folder : Path
        Of the page; the paths in its marks are relative to it.

    Raises
    ------
    ConfigurationError
        For a mark of an unknown kind.

    """

    def table(match: re.Match[str]) -> str:
        """Return the table that a mark asks for, under the mark."""
        kind, words = match[2], match[3].split()
        if kind not in TABLE_MAKERS:
            raise unknown_name_error('kind of table', kind, TABLE_MAKERS)
        return match[1] + TABLE_MAKERS[kind](folder, *words)

    return _TABLE_MARK.sub(table, text)


def table_marks(text: str) -> tuple[tuple[str, ...], ...]:
    """Return kind and arguments of every mark of a page, in order."""
    return tuple((match[2], *match[3].split()) for match in _TABLE_MARK.finditer(text))


def table_rows(text: str, heading: str) -> tuple[tuple[str, ...], ...]:
    r"""
    Return the rows of all tables with a given first heading.

    Backticks around a whole cell are removed.

    Examples
    --------
    >>> table_rows('| Topic | Type |\n|---|---|\n| `odom` | Odometry |\n', 'Topic')
    (('odom', 'Odometry'),)

    """
    found, inside = [], False
    for line in text.splitlines():
        if not line.startswith('|'):
            inside = False
            continue
        cells = tuple(
            _without_backticks(cell.strip()) for cell in line.strip().strip('|').split(' | ')
        )
        if cells[0] == heading:
            inside = True
        elif inside and not line.startswith('|--'):
            found.append(cells)
    return tuple(found)


def _without_backticks(cell: str) -> str:
    return cell[1:-1] if re.fullmatch('`[^`]+`', cell) else cell


def node_sections(root: Path) -> dict[str, str]:
    """Return the section of each node on the page of nodes, by the node's name."""
    page = (root / 'doc' / 'nodes.md').read_text(encoding='utf-8')
    found = {}
    for part in page.split('\n## The node `')[1:]:
        name, _, rest = part.partition('`')
        found[name] = rest.split('\n## ')[0]
    return found


def _parameters(folder: Path, place: str) -> str:
    """``MODULE:CLASS``: the parameters that a dataclass declares."""
    return parameter_table(_import_object(place))


def _mapping(folder: Path, place: str, heading: str) -> str:
    """``MODULE:NAME HEADING``: a mapping of names to meanings."""
    return named_table((heading, 'Meaning'), _import_object(place))


def _modules(folder: Path, source: str) -> str:
    """``FOLDER``: the modules of a package by the first line of their docstrings."""
    root = folder / source
    found = {
        '.'.join(path.relative_to(root).with_suffix('').parts): _first_line(_parse_module(path))
        for path in sorted(root.rglob('*.py'))
        if not path.name.startswith('_')
    }
    return named_table(('Module', 'Holds'), found)


def _registered(folder: Path, kind: str, package: str) -> str:
    """``KIND PACKAGE``: the registered names of a package, the only one that is imported."""
    found = {
        entry.name: summary_of(entry.module, entry.attr)
        for entry in sorted(entry_points(group=registry.GROUPS[kind]), key=lambda e: e.name)
        if entry.module.partition('.')[0] == package
    }
    return named_table(('Name', 'Meaning'), found)


def _arguments(folder: Path, place: str) -> str:
    """``MODULE:NAME``: the arguments of a launch file; ``launch`` is not needed."""
    lines = ['| Argument | Default | Meaning |', '|---|---|---|']
    for argument in _import_object(place):
        choices = f' One of {", ".join(argument.choices)}.' if argument.choices else ''
        default = f'`{argument.default}`' if argument.default else ''
        lines.append(f'| `{argument.name}` | {default} | {argument.doc}{choices} |')
    return '\n'.join(lines) + '\n'


TABLE_MAKERS: Mapping[str, Callable[..., str]] = {
    'parameters': _parameters,
    'mapping': _mapping,
    'modules': _modules,
    'registered': _registered,
    'arguments': _arguments,
}
"""Makers of tables by the first word of their mark; each gets the page's folder and the rest."""


def named_table(headings: tuple[str, str], entries: Mapping[str, str]) -> str:
    """Return a table of names and a text on each, which may quote by double backticks."""
    lines = [f'| {headings[0]} | {headings[1]} |', '|---|---|']
    for name, text in entries.items():
        cell = text.replace('``', '`').replace('|', r'\|')
        lines.append(f'| `{name}` | {cell} |')
    return '\n'.join(lines) + '\n'


def _import_object(place: str) -> Any:
    module, _, name = place.partition(':')
    return getattr(importlib.import_module(module), name)


def _parse_module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding='utf-8'), str(path))


def _first_line(node: Any) -> str:
    return (ast.get_docstring(node) or '').partition('\n')[0]


def summary_of(module: str, name: str) -> str:
    """Return the first line of the docstring of a module's function or class; no import."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f'there is no module {module}')
    for node in _parse_module(Path(spec.origin)).body:
        if getattr(node, 'name', '') == name:
            text = _first_line(node).removeprefix('Return ')
            return text[:1].upper() + text[1:]
    raise LookupError(f'{module} defines no {name}')
