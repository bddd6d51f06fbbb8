# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pages of reference are those of the code, and leave nothing of it out."""

import importlib
from pathlib import Path
import re
import sys

import pytest

from gait_core import registry
from gait_core.errors import NotInstalled
from gait_core.testing.documents import table_rows

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {path.parent.name for path in ROOT.glob('src/*/setup.py')}
PAGES = ('command', 'interfaces', 'parameters', 'registered')
UNIT = re.compile(
    r'(?:^|[\s(\[,])(?:m|s|rad|N|J|W|-|1/s|m/s|rad/s|m/s\^2|N m|per s)(?=$|[\s,.;:\])])|unit'
)


@pytest.fixture(scope='module')
def tools():
    """Import tools by name, as the one that writes the pages does."""
    folder = str(ROOT / 'tools')
    sys.path.insert(0, folder)
    yield importlib.import_module
    sys.path.remove(folder)


@pytest.mark.parametrize('name', PAGES)
def test_the_page_is_that_of_the_code(tools, name):
    if name in ('parameters', 'registered') and 'gait_studies' not in PACKAGES:
        pytest.skip('the page has what gait_studies registers, which is removed here')
    try:
        made = tools('write_tables').PAGES[f'doc/{name}.md']()
    except NotInstalled as error:
        pytest.skip(str(error))
    except ImportError as error:
        if (error.name or '').partition('.')[0] in PACKAGES:
            raise
        pytest.skip(str(error))
    page = (ROOT / 'doc' / f'{name}.md').read_text(encoding='utf-8')
    assert made == page, 'run: python tools/write_tables.py'


def test_every_page_is_tested(tools):
    assert set(tools('write_tables').PAGES) == {f'doc/{name}.md' for name in PAGES}


def test_the_page_on_optimisers_lists_every_one():
    page = (ROOT / 'doc' / 'optimisers.md').read_text(encoding='utf-8')
    listed = {row[0] for row in table_rows(page, 'Name')}
    registered = set(registry.names('optimizers'))
    assert registered <= listed
    assert listed == registered or 'gait_studies' not in PACKAGES
    assert len(page.split()) < 900


def test_every_field_of_a_definition_says_what_it_is_and_in_which_unit(tools):
    every = tools('interface_page').definitions()
    found = [
        f'{one.name}.{field.name}: {field.text}'
        for one in every
        for part in one.parts
        for field in part
        if not field.text or (field.type.startswith('float64') and not UNIT.search(field.text))
    ]
    assert len(every) > 20 and not found


def test_every_definition_is_said_or_part_of_one_that_is():
    page = (ROOT / 'doc' / 'interfaces.md').read_text(encoding='utf-8')
    kinds = re.findall(r'^`gait_interfaces/(\w+)/\w+`(:|, part of) ', page, re.MULTILINE)
    files = [p for kind in ('msg', 'srv', 'action') for p in ROOT.glob(f'src/*/{kind}/*')]
    assert len(kinds) == len(files)
    assert all(end == ':' for kind, end in kinds if kind != 'msg')


def test_every_parameter_says_what_it_is_in_which_unit_and_bounds():
    found = table_rows((ROOT / 'doc' / 'parameters.md').read_text(encoding='utf-8'), 'Parameter')
    bare = []
    for row in found:
        cells = dict(zip(('name', 'default', 'range', 'unit', 'text'), row, strict=False))
        if len(row) == 7:
            cells = dict(
                zip(('name', 'type', 'default', 'range', 'unit', 'live', 'text'), row, strict=True)
            )
        is_number = cells.get('type') in ('double', 'integer') or re.match(
            r'-?\d', cells['default']
        )
        if not cells['unit'] or len(cells['text']) < 5 or (is_number and not cells['range']):
            bare.append(cells['name'])
    assert len(found) > 300 and not bare


def test_every_argument_of_a_command_has_a_text(tools):
    page = tools('command_page')
    assert not [
        f'{name} {action.dest}'
        for name in page.COMMANDS
        for action in page.actions_of(name)
        if not action.help
    ]


def test_every_kind_that_can_be_registered_has_its_table(tools):
    assert set(tools('registered_page').TEXTS) == set(registry.GROUPS)
