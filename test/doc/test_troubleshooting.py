# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The lines that the pages on troubleshooting quote are printed by the source."""

import ast
from pathlib import Path

import pytest

from gait_core.testing.documents import table_rows

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob('doc/troubleshooting*.md'))
QUOTES = sorted(
    {row[0] for page in PAGES for row in table_rows(page.read_text('utf-8'), 'Printed')}
)


def text_of(node):
    """Return the text of a string with … for each filled-in value; empty for other nodes."""
    if isinstance(node, ast.JoinedStr):
        parts = (text_of(part) or '…' for part in node.values)
        return ''.join(parts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ''


@pytest.fixture(scope='module')
def texts():
    """Return every text of the packages, launch files and tools, and the script that starts."""
    sources = [*ROOT.glob('src/*/*/**/*.py'), *ROOT.glob('tools/*.py'), *ROOT.glob('launch/*.py')]
    found = {
        text_of(node)
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
    }
    return [*found, (ROOT / 'gait').read_text(encoding='utf-8')]


@pytest.mark.parametrize('quote', QUOTES)
def test_the_line_is_printed_by_the_source(texts, quote):
    assert any(quote in text for text in texts)


def test_a_line_that_nobody_prints_is_told(texts):
    assert len(QUOTES) > 50
    assert not any('the robot is out of … today' in text for text in texts)
