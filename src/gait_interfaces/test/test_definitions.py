# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The definitions are few, exact and say what they are for."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
FILES = sorted(path for kind in ('msg', 'srv', 'action') for path in PACKAGE.glob(f'{kind}/*'))


def test_each_definition_costs_seconds_to_build_so_there_are_at_most_25():
    assert 0 < len(FILES) <= 25


def test_no_number_loses_bits_and_every_definition_says_what_it_is_for():
    for path in FILES:
        text = path.read_text(encoding='utf-8')
        assert 'float32' not in text, path.name
        assert text.startswith('# '), path.name
        assert max(map(len, text.splitlines())) <= 99, path.name
