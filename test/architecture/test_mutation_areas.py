# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The mutation test names modules and tests that exist."""

from pathlib import Path
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def areas(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / 'tools'))
    import mutation_areas

    yield mutation_areas.AREAS
    del sys.modules['mutation_areas']


def test_every_module_and_test_of_an_area_exists(areas):
    assert set(areas) == {'measures', 'laws', 'qos', 'safety', 'optimizers'}
    for modules in areas.values():
        for module, tests in modules.items():
            assert (ROOT / 'src' / module).is_file(), module
            assert tests, module
            for test in tests:
                assert (ROOT / test).is_file(), test
