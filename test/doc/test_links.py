"""Links between pages lead to files, and their anchors to headings, that exist."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('*/*.md'), *ROOT.glob('src/*/*.md')])
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
