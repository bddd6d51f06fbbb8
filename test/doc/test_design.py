# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page on the design names what the tree has: packages, extension points, graph."""

from pathlib import Path
import re

import pytest

from gait_core import registry
from gait_core.testing.documents import node_sections, table_rows

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'doc' / 'design.md').read_text(encoding='utf-8')
NODES = node_sections(ROOT)


def section(number):
    return PAGE.split(f'\n## {number}. ')[1].split('\n## ')[0]


def test_its_packages_are_those_of_the_tree():
    listed = set(re.findall(r'^src/(\w+)/', section(2), re.MULTILINE))
    found = {path.parent.name for path in ROOT.glob('src/*/package.xml')}
    # Studies can be removed.
    assert listed == found | {'gait_studies'}
    for folder in re.findall(r'^(?:src/)?[\w/]+/(?= )', section(2), re.MULTILINE):
        assert (ROOT / folder).is_dir() or folder == 'src/gait_studies/', folder


@pytest.mark.parametrize('group', registry.GROUPS.values())
def test_every_extension_point_is_named(group):
    assert f'`{group}`' in section(2)


@pytest.mark.parametrize('node', NODES)
def test_the_graph_has_every_name_of_a_node(node):
    """Its own topics and services are in its row of the table, or in the text below."""
    graph = section(5)
    assert node in {name for row in table_rows(graph, 'Node') for name in row[0].split(', ')}
    headings = ('Publishes', 'Subscribes to', 'Service', 'Action')
    names = [
        row[0].removeprefix('/')
        for heading in headings
        for row in table_rows(NODES[node], heading)
    ]
    missing = [name for name in names if name.replace('sim_bridge/', '~/') not in graph]
    assert not missing
