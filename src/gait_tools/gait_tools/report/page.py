"""The page itself: text, tables and places for charts, with everything it needs inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
import json
from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError

_HERE = Path(__file__).parent


@dataclass(kw_only=True)
class ReportPage:
    """
    A page that grows from top to bottom.

    ``charts`` and ``replay`` are handed to the script of the page as they are.
    """

    title: str
    body: list[str] = field(default_factory=list)
    charts: list[Mapping[str, Any]] = field(default_factory=list)
    replay: Mapping[str, Any] | None = None

    def add(self, html: str) -> None:
        """Add a piece of HTML."""
        self.body.append(html)

    def add_section(self, title: str, *parts: str) -> None:
        """Add a section of parts; nothing if all are empty."""
        if any(parts):
            self.add(f'<section class="card"><h2>{escape(title)}</h2>{"".join(parts)}</section>')

    def chart(self, figure: Mapping[str, Any] | None) -> str:
        """Return the place of a chart, or nothing where there is none."""
        if figure is None:
            return ''
        self.charts.append({'traces': figure['traces'], 'layout': figure['layout']})
        return f'<div class="chart" data-chart="{len(self.charts) - 1}"></div>'

    def html(self) -> str:
        """Return the whole page; ConfigurationError where plotly is not installed."""
        data = json.dumps({'charts': self.charts, 'replay': self.replay}, allow_nan=False)
        # No end tag may stand inside a script, also not in its text.
        data = data.replace('</', '<\\/')
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            # Without an icon of its own a browser asks the network for one.
            '<link rel="icon" href="data:,">\n'
            f'<title>{escape(self.title)}</title>\n<style>\n{_read_text("page.css")}</style>\n'
            f'</head>\n<body>\n<main>\n{"".join(self.body)}\n</main>\n'
            f'<script id="data" type="application/json">{data}</script>\n'
            f'<script>{_plotly_source()}</script>\n<script>\n{_read_text("page.js")}</script>\n'
            '</body>\n</html>\n'
        )


def figures_html(values: Sequence[tuple[str, str, str]]) -> str:
    """Return a row of figures: name, value and unit of each."""
    cells = (
        f'<div><dt>{escape(name)}</dt><dd>{escape(value)} <small>{escape(unit)}</small></dd></div>'
        for name, value, unit in values
    )
    return f'<dl class="figures">{"".join(cells)}</dl>'


def table_html(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: str = '') -> str:
    """
    Return a table of HTML cells.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequences of str
        HTML.
    numbers : str
        One letter per column: ``n`` is set to the right.

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
    """Return a command with a button that copies it."""
    return (
        f'<div class="command"><pre id="{name}">{escape(text)}</pre>'
        f'<button data-copy="{name}">Copy</button></div>'
    )


def _read_text(name: str) -> str:
    return (_HERE / name).read_text()


def _plotly_source() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ConfigurationError(f'a report needs plotly: {error}') from error
    library: str = get_plotlyjs()
    return library
