# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tables of the studies on what to delete, against the files of the tree."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob('src/gait_studies/gait_studies/*/README.md'))


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.parent.name)
def test_each_path_of_a_removal_table_exists(page):
    table = page.read_text().partition('## To remove')[2]
    rows = re.findall(r'^\|.*\|$', table, re.MULTILINE)
    words = [word for row in rows for word in re.findall(r'`([^` ]+)`', row)]
    paths = [word for word in words if '/' in word or word.endswith('.py')]
    assert paths
    # A path in the last column is one below the package of the first.
    missing = [
        path for path in paths if not ((ROOT / path).exists() or any(ROOT.glob(f'src/**/{path}')))
    ]
    assert not missing
