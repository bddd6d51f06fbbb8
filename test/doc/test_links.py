# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links between pages lead to files and headings that exist, pictures too; the index has all."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ('*.md', '*/*.md', 'src/*/*.md', 'doc/results/*.md')
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')


def anchors(page):
    """Return the anchors that a forge makes of the headings of a page."""
    headings = re.findall(r'^#+ (.*)$', page.read_text(encoding='utf-8'), re.MULTILINE)
    return {
        re.sub(r'[^\w\- ]', '', heading).strip().lower().replace(' ', '-') for heading in headings
    }


@pytest.mark.parametrize('page', PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding='utf-8')):
        if link.startswith(('http:', 'https:')):
            continue
        place, _, anchor = link.partition('#')
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_of_the_documentation_lists_every_page():
    index = ROOT / 'doc' / 'README.md'
    found = {link.partition('#')[0] for link in LINK.findall(index.read_text(encoding='utf-8'))}
    pages = {path.relative_to(ROOT / 'doc').as_posix() for path in ROOT.glob('doc/**/*.md')}
    assert pages - {'README.md'} <= found


def test_every_picture_is_shown_somewhere():
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding='utf-8'))
    }
    assert not set(ROOT.glob('doc/images/*')) - shown


@pytest.mark.parametrize('page', PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_are_named_exist(page):
    text = re.sub('```.*?```', '', page.read_text(encoding='utf-8'), flags=re.DOTALL)
    places = [ROOT, page.parent, *ROOT.glob('src/*'), *ROOT.glob('src/*/*')]
    for name in re.findall(r'`([\w./-]+/[\w.-]+\.(?:py|yaml|md|xml))`', text):
        # Studies can be removed.
        is_removed = 'gait_studies' in name and not (ROOT / 'src/gait_studies').exists()
        assert is_removed or any((place / name).exists() for place in places), name
