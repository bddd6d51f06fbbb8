# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the study cafarelli2017 hold; those of searches in small."""

from pathlib import Path
import re

import pytest

from gait_core.registry import load
from gait_studies.cafarelli2017.strides.published import published_runs, published_table
from gait_studies.cafarelli2017.strides.search_cases import MIN_SAVING
from gait_tools.study.session import StudySession

ROOT = Path(__file__).resolve().parents[3]
PARTS = {part.name: part for part in load('studies', 'cafarelli2017')().parts}


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    made = StudySession.create(
        tmp_path_factory.mktemp('study') / 'run', 'cafarelli2017', quick=True, seed=1, workers=1
    )
    yield made
    made.close()


@pytest.mark.parametrize('name', ['single_leg', 'model', 'robot', 'flaw', 'published_best'])
def test_the_published_model_gives_what_was_published(name, session):
    rows = PARTS[name].measure(session)
    assert rows
    assert [row for row in rows if row.verdict not in ('pass', 'info')] == []
    if name == 'flaw':
        assert session.picture('flaw').read_bytes().startswith(b'\x89PNG')


def test_the_answer_depends_on_rails_that_do_not_rub(session):
    """The small contest: free lengths save where a segment may lie on the ground, else not."""
    rows = PARTS['assumptions'].measure(session)
    saved = {row.id: row.measured for row in rows}
    assert set(saved) == {'assumption_knees_0_flat', 'assumption_knees_0_rub_flat'}
    assert saved['assumption_knees_0_flat'] > MIN_SAVING > saved['assumption_knees_0_rub_flat']
    again = PARTS['assumptions'].measure(session)
    assert again == rows


def test_every_published_table_has_rows():
    """Named by the tables of the thesis; the parts are too long to run here."""
    sources = (ROOT / 'src/gait_studies/gait_studies/cafarelli2017').glob('*.py')
    text = '\n'.join(file.read_text() for file in sources)
    for number in ('4_1', '4_2', '4_3', '6_10', *(f'6_{n}' for n in range(2, 10))):
        assert re.search(rf'table_{number}\b|range\(2, 10\)', text), number
    for number in range(1, 8):
        assert f'table_a_{number}' in text
        assert published_runs(f'table_a_{number}')
    assert len(published_table('table_6_10')) == 12
