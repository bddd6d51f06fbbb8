# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""HTML page of a report with texts, tables, charts and all scripts inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
import json
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError, describe_import_error

PAGE_START = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    # Without an icon a browser requests one over the network.
    '<link rel="icon" href="data:,">\n'
)
"""Text that every page begins with."""

_HERE = Path(__file__).parent


@dataclass(kw_only=True)
class ReportPage:
    """
    Page that is built from top to bottom.

    ``charts`` and ``replay`` are the data of the page's script.
    """

    title: str
    body: list[str] = field(default_factory=list)
    charts: list[Mapping[str, Any]] = field(default_factory=list)
    replay: Mapping[str, Any] | None = None

    def add(self, html: str) -> None:
        """Append HTML."""
        self.body.append(html)

    def add_section(self, title: str, *parts: str) -> None:
        """Append a section with parts; do nothing if all are empty."""
        if any(parts):
            self.add(f'<section class="card"><h2>{escape(title)}</h2>{"".join(parts)}</section>')

    def chart(self, figure: Mapping[str, Any] | None) -> str:
        """Add a chart and return the HTML element that shows it; '' without a chart."""
        if figure is None:
            return ''
        self.charts.append({'traces': figure['traces'], 'layout': figure['layout']})
        return f'<div class="chart" data-chart="{len(self.charts) - 1}"></div>'

    def html(self) -> str:
        """Return the page as text; ConfigurationError if plotly is not installed."""
        data = json.dumps({'charts': self.charts, 'replay': self.replay}, allow_nan=False)
        # An end tag in the data would end the script element.
        data = data.replace('</', '<\\/')
        return (
            f'{PAGE_START}<title>{escape(self.title)}</title>\n<style>\n{_read_text("page.css")}</style>\n'
            f'</head>\n<body>\n<main>\n{"".join(self.body)}\n</main>\n'
            f'<script id="data" type="application/json">{data}</script>\n'
            f'<script>{plotly_source()}</script>\n<script>\n{_read_text("page.js")}</script>\n'
            '</body>\n</html>\n'
        )


def figures_html(values: Sequence[tuple[str, str, str]]) -> str:
    """Return a row of numbers as HTML, each with name, value and unit."""
    cells = (
        f'<div><dt>{escape(name)}</dt><dd>{escape(value)} <small>{escape(unit)}</small></dd></div>'
        for name, value, unit in values
    )
    return f'<dl class="figures">{"".join(cells)}</dl>'


def table_html(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: str = '') -> str:
    """
    Return a table as HTML.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str
        HTML.
    numbers : str
        One letter per column: ``n`` aligns it to the right.

    """
    kinds = [' class="number"' if letter == 'n' else '' for letter in numbers.ljust(len(headings))]

    def line(tag: str, cells: Sequence[str]) -> str:
        """Return a row of cells."""
        inside = (f'<{tag}{kind}>{cell}</{tag}>' for kind, cell in zip(kinds, cells, strict=True))
        return f'<tr>{"".join(inside)}</tr>'

    head = line('th', [escape(heading) for heading in headings])
    lines = ''.join(line('td', row) for row in rows)
    return f'<div class="scroll"><table>{head}{lines}</table></div>'


def command_html(text: str, name: str) -> str:
    """Return a command as HTML with a button that copies it."""
    return (
        f'<div class="command"><pre id="{name}">{escape(text)}</pre>'
        f'<button data-copy="{name}">Copy</button></div>'
    )


def _read_text(name: str) -> str:
    return (_HERE / name).read_text()


@cache
def plotly_source() -> str:
    """Return the script of plotly; ConfigurationError if it is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        reason = describe_import_error(error)
        raise ConfigurationError(f'a report needs plotly: {reason}') from error
    library: str = get_plotlyjs()
    return library
