"""The definitions are few, exact and listed in the README."""

from pathlib import Path
import re

PACKAGE = Path(__file__).parents[1]
FILES = sorted(path for kind in ('msg', 'srv', 'action') for path in PACKAGE.glob(f'{kind}/*'))


def test_each_definition_costs_seconds_to_build_so_there_are_at_most_25():
    assert 0 < len(FILES) <= 25


def test_the_readme_lists_every_definition_and_no_other():
    readme = (PACKAGE / 'README.md').read_text(encoding='utf-8')
    named = set(re.findall(r'`((?:msg|srv|action)/\w+)`', readme))
    assert named == {f'{path.parent.name}/{path.stem}' for path in FILES}


def test_no_number_loses_bits_and_every_definition_says_what_it_is_for():
    for path in FILES:
        text = path.read_text(encoding='utf-8')
        assert 'float32' not in text, path.name
        assert text.startswith('# '), path.name
        assert max(map(len, text.splitlines())) <= 99, path.name
