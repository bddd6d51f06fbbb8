# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot is recognised by its content, a champion is one of a robot and not of a path."""

from __future__ import annotations

from dataclasses import replace
import shutil

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.identity import RobotIdentity, compare_robots, robot_identity, robot_sha256
from gait_core.robot.load import clear_robot_cache, load_robot
from gait_core.testing.doubles import legged_box
from gait_core.testing.folders import write_robot_folder
from gait_core.trial.champion import Champion, check_champion_robot, read_champion, write_champion
from gait_core.trial.scene import Scene
from gait_core.trial.spec import TrialSpec


@pytest.fixture
def box(tmp_path):
    clear_robot_cache()
    yield write_robot_folder(tmp_path / 'lab' / 'box', legged_box())
    clear_robot_cache()


def champion(place, **changes):
    spec = TrialSpec(scene=Scene(robot=str(place)), controller='hold')
    values = {
        'spec': spec,
        'seeds': (0,),
        'trial_hashes': ('0' * 64,),
        'fitness': 1.0,
        'status': 'ok',
        'fingerprint': 'x86_64',
        'robot': robot_identity(load_robot(str(place))),
    }
    return Champion(**{**values, **changes})


def mesh_robot(file):
    shape = replace(legged_box().links[0].collisions[0], kind='mesh', file=str(file))
    links = list(legged_box().links)
    links[0] = replace(links[0], collisions=(shape,))
    return replace(legged_box(), links=tuple(links))


def test_only_what_a_gait_feels_makes_another_robot():
    robot = legged_box()
    same = (
        replace(robot, name='another', source='/elsewhere', defaults={'duration': 3.0}),
        replace(robot, length_scale=robot.length_scale * (1.0 + 1e-12)),
    )
    assert {robot_sha256(one) for one in same} == {robot_sha256(robot)}
    links = [replace(robot.links[0], mass=robot.links[0].mass * 1.001), *robot.links[1:]]
    joints = [replace(robot.joints[0], velocity=1.25), *robot.joints[1:]]
    others = (
        replace(robot, links=tuple(links)),
        replace(robot, joints=tuple(joints)),
        replace(robot, nominal_stance={robot.joint_names[0]: 0.01}),
        replace(robot, joint_names=robot.joint_names[::-1]),
    )
    assert len({robot_sha256(one) for one in (robot, *others)}) == 5


def test_a_mesh_counts_by_its_bytes(tmp_path):
    files = [tmp_path / name for name in ('one.stl', 'two.stl', 'three.stl')]
    for file, content in zip(files, (b'solid', b'solid', b'hollow'), strict=True):
        file.write_bytes(content)
    one, two, three = (robot_sha256(mesh_robot(file)) for file in files)
    assert one == two != three
    with pytest.raises(ConfigurationError, match=r'four\.stl: No such file'):
        robot_sha256(mesh_robot(tmp_path / 'four.stl'))


def test_two_bodies_of_a_drawn_robot_differ():
    assert robot_sha256(load_robot('spider', 1)) != robot_sha256(load_robot('spider', 2))


@pytest.mark.parametrize('way', ['absolute', 'dotted', 'slash', 'copied'])
def test_a_champion_is_taken_for_its_robot_by_any_path(box, tmp_path, monkeypatch, way):
    file = tmp_path / 'champion.yaml'
    write_champion(file, champion(box))
    monkeypatch.chdir(box.parent)
    shutil.copytree(box, tmp_path / 'copy' / 'case')
    ours = {
        'absolute': str(box),
        'dotted': './box',
        'slash': f'{box}/',
        'copied': str(tmp_path / 'copy' / 'case'),
    }[way]
    assert check_champion_robot(file, read_champion(file), ours) == ''


def test_another_robot_at_the_path_is_refused_by_name(box, tmp_path):
    file = tmp_path / 'champion.yaml'
    write_champion(file, champion(box, robot=RobotIdentity(name='zero_robot', sha256='0' * 64)))
    name = load_robot(str(box)).name
    with pytest.raises(ConfigurationError) as caught:
        check_champion_robot(file, read_champion(file))
    assert str(caught.value) == f"{file} is a champion of robot 'zero_robot', not of '{name}'"


def test_an_edited_robot_is_refused_with_both_contents(box, tmp_path):
    file = tmp_path / 'champion.yaml'
    known = champion(box)
    write_champion(file, replace(known, robot=replace(known.robot, sha256='ab' * 32)))
    with pytest.raises(ConfigurationError) as caught:
        check_champion_robot(file, read_champion(file), str(box))
    name = known.robot.name
    assert f"'{name}' with content abababababab, not of '{name}' with content " in str(
        caught.value
    )
    assert known.robot.sha256[:12] in str(caught.value)


def test_an_early_champion_is_taken_by_name_and_by_path_with_a_warning(box):
    assert (
        compare_robots('guroo', 'guroo').is_same and not compare_robots('guroo', 'guroo').warning
    )
    assert not compare_robots('a1', 'guroo').is_same
    found = compare_robots(f'{box}/', str(box))
    assert found.is_same and 'recorded by path alone' in found.warning
    assert not compare_robots(str(box), '/nowhere/box').is_same


def test_the_identity_stands_in_the_file(box, tmp_path):
    file = tmp_path / 'champion.yaml'
    written = champion(box)
    write_champion(file, written)
    assert read_champion(file) == written
    write_champion(file, replace(written, robot=None))
    assert read_champion(file).robot is None
    assert np.isfinite(read_champion(file).fitness)
