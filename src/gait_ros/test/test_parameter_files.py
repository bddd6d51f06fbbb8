# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameter files without a section for the node that is given them."""

import pytest

from gait_core.errors import ConfigurationError
from gait_ros.nodes.parameter_files import find_unused_file


def arguments(tmp_path, *sections):
    file = tmp_path / 'parameters.yaml'
    file.write_text(''.join(f'{name}: {{ros__parameters: {{a: 1}}}}\n' for name in sections))
    return ['node', '--ros-args', '--params-file', str(file)]


@pytest.mark.parametrize(
    'name', ['cpg', '/cpg', '/**', "'*'", '/**/cpg', '/r1/**', "'/*/cpg'", 'r1: {cpg', '/r1/cpg']
)
def test_a_section_for_the_node_is_found_with_wildcards_and_namespaces(tmp_path, name):
    node = '/r1/cpg' if 'r1' in name or '*/' in name else '/cpg'
    file = tmp_path / 'parameters.yaml'
    closing = '}' if '{' in name else ''
    file.write_text(
        f'{name}: {{ros__parameters: {{a: 1}}}}{closing}\nother: {{ros__parameters: {{}}}}'
    )
    assert find_unused_file(node, ['--params-file', str(file)]) == ''


def test_a_misspelt_section_is_refused_with_the_name_of_the_node(tmp_path):
    words = arguments(tmp_path, '/r1/controler', 'sim_bridge')
    with pytest.raises(ConfigurationError, match="no section for node '/r1/controller'.*nearest"):
        find_unused_file('/r1/controller', words)


def test_a_file_for_other_nodes_is_named(tmp_path):
    words = arguments(tmp_path, 'rviz', 'map_server')
    text = find_unused_file('/controller', words)
    assert text.endswith("has no section for node '/controller', but for /rviz, /map_server")
    assert find_unused_file('/controller', ['node']) == ''
    (tmp_path / 'parameters.yaml').write_text('{')
    assert find_unused_file('/controller', words) == ''
