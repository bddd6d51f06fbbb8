# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the study mckenna1990 that need no walk on the ground hold, and where it differs."""

from pathlib import Path
import re

import pytest

from gait_core.registry import load
from gait_core.testing.skips import need_engine
from gait_evolver.plan import load_plan
from gait_tools.study.session import StudySession

need_engine('mujoco')
ROOT = Path(__file__).resolve().parents[3]
PARTS = {part.name: part for part in load('studies', 'mckenna1990')().parts}


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    made = StudySession.create(
        tmp_path_factory.mktemp('study') / 'run', 'mckenna1990', quick=True, seed=1, workers=1
    )
    yield made
    made.close()


@pytest.mark.parametrize('name', ['robot', 'physics', 'free_bodies', 'gait', 'stop_and_go'])
def test_what_needs_no_walk_is_as_published(name, session):
    rows = PARTS[name].measure(session)
    assert rows
    assert [row for row in rows if row.verdict not in ('pass', 'skip')] == []
    if name == 'gait':
        assert session.picture('steps_tripod').read_bytes().startswith(b'\x89PNG')


def test_every_check_has_a_row_and_what_may_differ_its_picture():
    sources = (ROOT / 'src/gait_studies/gait_studies/mckenna1990').glob('*.py')
    text = '\n'.join(file.read_text() for file in sources)
    absent = [number for number in range(1, 33) if not re.search(rf"check_{number}[_']", text)]
    assert absent == []
    for picture in re.findall(r"'(mckenna1990_\w+\.png)'", text):
        assert (ROOT / 'doc' / 'images' / picture).exists(), picture


def test_the_search_of_motor_programs_begins_with_the_hand_tuned_ones():
    plan = load_plan('roach_motor')
    centre = {gene.name: 0.5 * (gene.lower + gene.upper) for gene in plan.space.genes}
    assert centre == pytest.approx({name: plan.trial.parameters[name] for name in centre})
