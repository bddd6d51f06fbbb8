# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pages of studies in ``doc/results`` are what `gait study` writes, and nothing else."""

from pathlib import Path
import re

import pytest

from gait_core import registry
from gait_tools.study.definition import load_study

RESULTS = Path(__file__).resolve().parents[2] / 'doc' / 'results'
HEADING = '| Row | What | Published | Measured | Tolerance | Verdict | Note |'
WORDS = {
    'passed': 'pass',
    'failed': 'fail',
    'differs': 'differs',
    'skipped': 'skip',
    'info': 'info',
}
"""Verdicts by their words in the line of counts."""


@pytest.mark.parametrize('name', registry.names('studies'))
def test_the_page_of_a_study_is_its_output(name):
    study = load_study(name)
    lines = (RESULTS / f'{name}.md').read_text(encoding='utf-8').splitlines()
    assert lines[:4] == [f'# Study {name}', '', f'{study.title} Source: {study.source}', '']
    assert re.fullmatch(
        rf'`\./gait study {name}( --quick)? --seed \d+`, \d{{4}}-\d\d-\d\d, version \S+, '
        r'.*, \d+ cores, Python \S+; \d+ min\.',
        lines[4],
    )
    assert lines[5] == lines[7] == '' and lines[8] == HEADING
    counts = {word: int(number) for number, word in re.findall(r'(\d+) (\w+)', lines[6])}
    rows = [line.split(' | ') for line in lines[10:]]
    assert {len(row) for row in rows} == {len(HEADING.split(' | '))}
    verdicts = [row[5] for row in rows]
    assert {word: verdicts.count(WORDS[word]) for word in counts} == counts
    assert sum(counts.values()) == len(rows)
