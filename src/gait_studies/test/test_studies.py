# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Studies are found by name, and so are their experiments."""

from pathlib import Path
import re

import pytest

from gait_core.registry import load, names
from gait_evolver.experiment import experiment_files
from gait_tools import cli

STUDIES = Path(__file__).parents[1] / 'gait_studies'


def test_studies_are_listed(capsys):
    assert {path.parent.name for path in STUDIES.glob('*/study.py')} <= set(names('studies'))
    assert cli.main(['list', 'studies']) == 0
    assert load('studies', 'pike2003')().title in capsys.readouterr().out


@pytest.mark.parametrize('name', names('studies'))
def test_every_registered_study_is_named_as_registered(name):
    made = load('studies', name)()
    assert made.name == name
    parts = [part.name for part in made.parts]
    assert len(set(parts)) == len(parts)


def test_every_experiment_of_a_study_is_found_by_name():
    files = {path.stem: path.resolve() for path in STUDIES.glob('*/experiments/*.yaml')}
    assert {'bishop2008_a', 'korbel2013', 'pike2003', 'roach_motor'} <= set(files)
    found = {name: path.resolve() for name, path in experiment_files().items()}
    assert files.items() <= found.items()


@pytest.mark.parametrize('folder', sorted(p.parent for p in STUDIES.glob('*/study.py')))
def test_every_study_says_what_else_only_it_needs(folder):
    text = (folder / 'README.md').read_text(encoding='utf-8')
    assert f'./gait study {folder.name}' in text
    root = STUDIES.parents[2]
    removable = text.split('| Delete | Content | Also edit |\n|---|---|---|\n')[1].split('\n\n')[0]
    first_cells = ' '.join(row.split(' | ')[0] for row in removable.splitlines())
    places = re.findall('`([^`]+/[^`]*)`', first_cells)
    assert places
    for place in places:
        assert (root / place).exists(), place
