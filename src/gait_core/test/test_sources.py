# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hashes of sources change with any edit of code or robot, and with nothing else."""

import sys

import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.trial.scene import Scene, TerrainSpec
from gait_core.trial.sources import sources_hash
from gait_core.trial.spec import TrialSpec


@pytest.fixture
def robot(tmp_path):
    folder = tmp_path / 'box'
    folder.mkdir()
    (folder / 'box.urdf').write_text('<robot name="box"/>')
    return folder


def hash_of(robot, controller='hold', terrain='flat', term='distance'):
    scene = Scene(robot=str(robot), terrain=TerrainSpec(name=terrain))
    return sources_hash(TrialSpec(scene=scene, controller=controller, fitness_terms={term: 1.0}))


def test_an_edit_of_the_robot_is_seen_and_its_place_is_not(robot, tmp_path):
    first = hash_of(robot)
    moved = tmp_path / 'elsewhere' / 'box'
    moved.parent.mkdir()
    robot.rename(moved)
    assert hash_of(moved) == first
    (moved / 'box.urdf').write_text('<robot name="Box"/>')
    assert hash_of(moved) != first


def test_an_edit_of_code_is_seen_and_what_python_leaves_behind_is_not(
    robot, tmp_path, monkeypatch
):
    package = tmp_path / 'gait_core'
    (package / '__pycache__').mkdir(parents=True)
    (package / '__init__.py').write_text('')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, 'gait_core')
    first = hash_of(robot)
    (package / '__pycache__' / 'x.py').write_text('1')
    (package / 'notes.txt').write_text('1')
    assert hash_of(robot) == first
    (package / '__init__.py').write_text('x = 1')
    assert hash_of(robot) != first


@pytest.mark.parametrize(
    ('group', 'argument'),
    [('controllers', 'controller'), ('terrains', 'terrain'), ('fitness_terms', 'term')],
)
@pytest.mark.parametrize('file', ['own_plugin.py', 'own_plugin/part/laws.py'])
def test_an_edit_of_a_plugin_is_seen(robot, tmp_path, monkeypatch, group, argument, file):
    source = tmp_path / file
    source.parent.mkdir(parents=True, exist_ok=True)
    for folder in source.parents[: len(source.relative_to(tmp_path).parents) - 1]:
        (folder / '__init__.py').write_text('')
    source.write_text('GAIN = 1.0')
    information = tmp_path / 'own_plugin-1.dist-info'
    information.mkdir()
    (information / 'METADATA').write_text('Name: own_plugin\nVersion: 1\n')
    (information / 'entry_points.txt').write_text(f'[gait.{group}]\nown = own_plugin:Own\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._entries.cache_clear()
    first = hash_of(robot, **{argument: 'own'})
    source.write_text('GAIN = 2.0')
    assert hash_of(robot, **{argument: 'own'}) != first
    registry._entries.cache_clear()


def test_an_edit_of_an_included_file_is_seen(tmp_path):
    # Each folder is expanded once per process: the edit is another folder.
    def made(name, part):
        own, other = tmp_path / name / 'box', tmp_path / name / 'parts'
        own.mkdir(parents=True)
        other.mkdir()
        (own / 'box.urdf.xacro').write_text(
            '<robot name="box" xmlns:xacro="http://www.ros.org/wiki/xacro">'
            '<xacro:include filename="../parts/a.xacro"/></robot>'
        )
        (other / 'a.xacro').write_text(f'<robot>{part}</robot>')
        return hash_of(own)

    assert made('one', '<link name="a"/>') == made('two', '<link name="a"/>')
    assert made('three', '<link name="b"/>') != made('four', '<link name="a"/>')


def test_content_that_moves_between_files_is_seen(robot):
    (robot / 'a').write_text('xy')
    (robot / 'b').write_text('')
    first = hash_of(robot)
    (robot / 'a').write_text('x')
    (robot / 'b').write_text('y')
    assert hash_of(robot) != first


def test_unknown_names_are_refused(robot):
    with pytest.raises(ConfigurationError, match="did you mean 'hold'"):
        hash_of(robot, controller='hodl')
