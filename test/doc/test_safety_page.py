# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every guarantee of the page on safety names a test that exists."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'doc' / 'safety.md').read_text(encoding='utf-8')
ROWS = [
    [cell.strip() for cell in line.strip('|').split('|')]
    for line in PAGE.splitlines()
    if line.startswith('| ') and not line.startswith('| Guaranteed')
]
TEST = re.compile(r'`([\w/]+/test_\w+\.py)`')


def test_the_page_has_guarantees():
    assert len(ROWS) > 20


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[0][:40])
def test_a_guarantee_names_tests_that_exist(row):
    guarantee, held_by, _ = row
    files = TEST.findall(held_by)
    assert guarantee and files
    for file in files:
        assert 'def test_' in (ROOT / file).read_text(encoding='utf-8'), file
