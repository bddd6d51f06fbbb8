# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collada scenes that show more than fits, or have no end, are refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.urdf.meshes import mesh_vertices, resolve_mesh

GEOMETRY = (
    '<library_geometries><geometry id="g"><mesh><source id="s"><float_array id="f" count="12">'
    '0 0 0 .1 0 0 0 .1 0 0 0 .1</float_array></source><vertices id="v">'
    '<input semantic="POSITION" source="#s"/></vertices></mesh></geometry></library_geometries>'
)
SHOWN = '<instance_geometry url="#g"/>'


def collada(path, scene, nodes=''):
    path.write_text(
        f'<COLLADA>{GEOMETRY}<library_nodes>{nodes}</library_nodes><library_visual_scenes>'
        f'<visual_scene>{scene}</visual_scene></library_visual_scenes></COLLADA>'
    )
    return str(path)


def node(name, content):
    return f'<node id="{name}">{content}</node>'


def shows(name, times=1):
    return times * f'<instance_node url="#{name}"/>'


@pytest.mark.parametrize(
    ('scene', 'nodes', 'message'),
    [
        (
            node('top', shows('n9')),
            node('n0', SHOWN)
            + ''.join(node(f'n{i}', shows(f'n{i - 1}', 10)) for i in range(1, 10)),
            'more than 20000 nodes',
        ),
        (node('top', shows('top')), '', 'deeper than 50'),
        (node('top', shows('a')), node('a', shows('b')) + node('b', shows('a')), 'deeper than 50'),
        (5000 * '<node>' + 5000 * '</node>', '', 'deeper than 100'),
        (node('n', f'<translate>1</translate>{SHOWN}'), '', 'translate has 1 values, expected 3'),
        (node('n', f'<rotate>1 0 0</rotate>{SHOWN}'), '', 'rotate has 3 values, expected 4'),
        (node('n', f'<matrix>1 0 0</matrix>{SHOWN}'), '', 'matrix has 3 values, expected 16'),
        (node('n', f'<scale>1 x 1</scale>{SHOWN}'), '', 'cannot be read'),
    ],
    ids=['bomb', 'itself', 'circle', 'deep', 'translate', 'rotate', 'matrix', 'scale'],
)
def test_a_scene_without_end_or_sense_is_one_line(tmp_path, scene, nodes, message):
    file = collada(tmp_path / 'mesh.dae', scene, nodes)
    with pytest.raises(ConfigurationError, match=rf'mesh\.dae.*{message}') as caught:
        mesh_vertices(file)
    assert '\n' not in str(caught.value)


def test_a_scene_places_what_it_shows_more_than_once(tmp_path):
    scene = node('n', shows('leg') + node('m', f'<translate>0 0 1</translate>{shows("leg")}'))
    vertices = mesh_vertices(collada(tmp_path / 'mesh.dae', scene, node('leg', SHOWN)))
    assert vertices.shape == (8, 3)
    np.testing.assert_allclose(vertices[:, 2].max(), 1.1)


def test_a_place_that_is_none_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match='is not a valid path'):
        resolve_mesh('file://[::1/x.stl', tmp_path / 'robot.urdf')
