# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the study pike2003 that need no search hold; what may differ has its picture."""

from pathlib import Path
import re

import pytest

from gait_core.registry import load
from gait_core.testing.skips import need_engine
from gait_tools.study.session import StudySession

ROOT = Path(__file__).resolve().parents[3]
PARTS = {part.name: part for part in load('studies', 'pike2003')().parts}


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    made = StudySession.create(
        tmp_path_factory.mktemp('study') / 'run', 'pike2003', quick=True, seed=1, workers=1
    )
    yield made
    made.close()


@pytest.mark.parametrize('name', ['superposition', 'schedule', 'read_back'])
def test_commanded_angles_and_settings_are_the_published_ones(name, session):
    rows = PARTS[name].measure(session)
    assert rows
    assert [row for row in rows if row.verdict not in ('pass', 'info')] == []
    if name == 'schedule':
        assert session.picture('timetable').read_bytes().startswith(b'\x89PNG')


@pytest.mark.physics
def test_the_published_fitness_has_its_closed_forms_and_a_fall_the_worst_score(session):
    pytest.importorskip('pybullet', reason='the walk that falls is one of the bullet engine')
    rows = PARTS['fitness'].measure(session)
    assert [row for row in rows if row.verdict not in ('pass', 'info')] == []


@pytest.mark.physics
def test_the_landing_leg_is_too_long_and_levelling_alone_decides_on_the_fall(session):
    pytest.importorskip('pybullet', reason='the walks are those of both engines')
    rows = PARTS['why_it_falls'].measure(session)
    assert [row for row in rows if row.verdict not in ('pass', 'info')] == []
    assert session.picture('fall').read_bytes().startswith(b'\x89PNG')


@pytest.mark.physics
@pytest.mark.parametrize('name', ['straight', 'square', 'uneven'])
def test_the_walk_with_feedback_keeps_its_bounds(name, session):
    need_engine('mujoco')
    rows = PARTS[name].measure(session)
    assert [row for row in rows if row.verdict not in ('pass', 'info')] == []


def test_every_picture_of_a_row_that_may_differ_is_in_the_documentation():
    sources = (ROOT / 'src/gait_studies/gait_studies').rglob('*.py')
    named = {name for file in sources for name in re.findall(r"'(\w+\.png)'", file.read_text())}
    assert named
    assert {name for name in named if not (ROOT / 'doc/images' / name).is_file()} == set()
