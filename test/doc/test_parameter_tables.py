# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tables that are made from the code are up to date, and every declared parameter has one."""

import importlib
from pathlib import Path
import pkgutil
import re

import pytest

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.testing.documents import renew_tables, table_marks

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('*/*.md'), *ROOT.glob('src/*/*.md')])
PACKAGES = sorted(path.parent.name for path in ROOT.glob('src/*/setup.py'))
MARKED = [path for path in PAGES if table_marks(path.read_text(encoding='utf-8'))]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def is_ours(error):
    """Tell whether an import failed within the suite, and not for a library that is absent."""
    return (error.name or '').partition('.')[0] in PACKAGES


@pytest.mark.parametrize('path', MARKED, ids=name_of)
def test_tables_are_those_of_the_code(path):
    text = path.read_text(encoding='utf-8')
    try:
        new = renew_tables(text, path.parent)
    except ImportError as error:
        if is_ours(error):
            raise
        pytest.skip(str(error))
    assert new == text, 'run: python tools/write_tables.py'


def declaring_classes(cls):
    """Yield the dataclasses below one that declare parameters, but those made for tests."""
    for child in cls.__subclasses__():
        yield from declaring_classes(child)
        package, _, module = child.__module__.partition('.')
        if package in PACKAGES and not module.startswith('testing') and declared_parameters(child):
            yield child


def place_of(cls):
    return f'{cls.__module__}:{cls.__qualname__}'


def test_every_parameter_is_on_the_page_of_parameters():
    for package in PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f'{package}.'):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                # E.g. launch in launch_actions, or the engine whose library is not installed.
                if is_ours(error):
                    raise
    declared = {place_of(cls): cls for cls in declaring_classes(Parameters)}
    page = (ROOT / 'doc' / 'parameters.md').read_text(encoding='utf-8')
    documented = set(re.findall(r'Declared by `(.*)`', page))
    # A table shows what its class inherits, too.
    shown = {
        place_of(base) for place in documented & set(declared) for base in declared[place].mro()
    }
    missing = sorted(set(declared) - shown)
    assert not missing, f'tools/parameter_page.py lacks {", ".join(missing)}'


@pytest.mark.parametrize('package', [*PACKAGES, 'gait_interfaces'])
def test_every_package_says_what_it_is_and_shows_a_command(package):
    text = (ROOT / 'src' / package / 'README.md').read_text(encoding='utf-8')
    assert text.startswith(f'# {package}\n')
    assert '```' in text


def test_a_stale_table_is_made_anew_and_the_rest_of_the_page_stays(tmp_path):
    (tmp_path / 'walk.py').write_text('"""Walks | runs by ``legs``."""\n')
    page = 'Before.\n\n<!-- table: modules . -->\n| Module | Holds |\n| old | row |\n\nAfter.\n'
    new = renew_tables(page, tmp_path)
    assert new == (
        'Before.\n\n<!-- table: modules . -->\n| Module | Holds |\n|---|---|\n'
        '| `walk` | Walks \\| runs by `legs`. |\n\nAfter.\n'
    )
    assert renew_tables(new, tmp_path) == new
    with pytest.raises(ConfigurationError, match="'module'.*did you mean 'modules'"):
        renew_tables('<!-- table: module . -->\n', tmp_path)
