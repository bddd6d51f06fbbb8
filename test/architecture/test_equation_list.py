# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mentions of equations are found, with their source and line."""

import importlib
from pathlib import Path
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='module')
def mentions():
    folder = str(ROOT / 'tools')
    sys.path.insert(0, folder)
    yield importlib.import_module('equation_list').mentions
    sys.path.remove(folder)


def test_a_mention_has_the_source_named_before_it(mentions, tmp_path):
    module = tmp_path / 'kernel.py'
    module.write_text(
        '"""Oscillator of Matsuoka (1985)."""\n\n'
        'u = 0.0  # Eqs. 7 and 8\n\n'
        '# McKenna (1990), Eq. 8; see\n'
        '# section 4.4.1 too.\n'
    )
    assert list(mentions(module)) == [
        ('Matsuoka (1985)', 'eqs. 7 and 8', 3),
        ('McKenna (1990)', 'eq. 8', 5),
        ('McKenna (1990)', 'section 4.4.1', 6),
    ]


def test_the_notice_of_a_file_is_no_source(mentions, tmp_path):
    module = tmp_path / 'kernel.py'
    module.write_text('# Copyright 2026 Gait suite maintainers\n\nu = 0.0  # Eq. 7\n')
    assert list(mentions(module)) == [('No source', 'eq. 7', 3)]


def test_what_a_study_names_without_a_source_is_its_own(mentions, tmp_path):
    folder = tmp_path / 'mckenna1990'
    folder.mkdir()
    (folder / 'model.py').write_text('a = 1  # Table 4.1, the table of all\n')
    assert list(mentions(folder / 'model.py')) == [('McKenna (1990)', 'table 4.1', 1)]
