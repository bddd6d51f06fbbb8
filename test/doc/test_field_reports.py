# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page on field reports has all sixty, and every test that it names is one."""

import ast
from functools import cache
from pathlib import Path
import re

import pytest

from gait_core.testing.documents import table_rows

ROOT = Path(__file__).resolve().parents[2]
ROWS = table_rows((ROOT / 'test' / 'field_reports.md').read_text(encoding='utf-8'), '#')
TEST = re.compile(r'([\w/]+\.py)::(\w+)')


@cache
def names_in(file):
    """Return the names of the tests that a module defines."""
    tree = ast.parse((ROOT / file).read_text(encoding='utf-8'))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_sixty_reports_are_there_in_order():
    assert [row[0] for row in ROWS] == [str(number) for number in range(1, 61)]


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[0])
def test_its_tests_exist(row):
    number, fault, proof = row
    named = TEST.findall(proof)
    assert fault and named
    for file, name in named:
        assert name.startswith('test_') and name in names_in(file), f'{number}: {file}::{name}'
