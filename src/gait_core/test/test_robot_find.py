# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots and packages by name, without ROS."""

from pathlib import Path
import sys

import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.find import (
    find_package,
    find_package_data,
    find_robot,
    is_on_search_path,
    robot_names,
)
from gait_core.robot.name_checks import unknown_names_error

URDF = '<robot name="{name}"><link name="base"/></robot>'


def make_robot(folder: Path, name: str, ending: str = '.urdf') -> Path:
    robot = folder / name
    robot.mkdir(parents=True)
    (robot / f'{name}{ending}').write_text(URDF.format(name=name))
    return robot


def test_the_source_tree_is_searched_last():
    assert {'a1', 'guroo'} <= set(robot_names())


def test_the_environment_variable_comes_first_and_lists_several_folders(tmp_path, monkeypatch):
    first = make_robot(tmp_path / 'one', 'a1')
    second = make_robot(tmp_path / 'two', 'beetle', '.urdf.xacro')
    monkeypatch.setenv('GAIT_ROBOT_PATH', f'{tmp_path / "one"}:{tmp_path / "two"}')
    assert find_robot('a1') == first.resolve()
    assert find_robot('beetle') == second.resolve()
    assert 'guroo' in robot_names()


def test_the_ament_index_is_searched_before_the_source_tree(tmp_path, monkeypatch):
    robot = make_robot(tmp_path / 'share' / 'gait_description' / 'robots', 'a1')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}')
    assert find_robot('a1') == robot.resolve()


def test_a_folder_that_describes_nothing_is_no_robot(tmp_path, monkeypatch):
    (tmp_path / 'notes').mkdir()
    monkeypatch.setenv('GAIT_ROBOT_PATH', str(tmp_path))
    assert 'notes' not in robot_names()


@pytest.mark.parametrize('refused', ['one/secret', 'one', ''])
def test_a_folder_that_may_not_be_read_hides_no_other_robot(tmp_path, monkeypatch, refused):
    make_robot(tmp_path / 'one', 'secret')
    make_robot(tmp_path / 'two', 'beetle')
    stat, iterdir = Path.stat, Path.iterdir

    # The superuser may read any folder: the refusal is made, not asked for.
    def check(path, folders):
        if tmp_path / refused in folders and 'two' not in path.parts:
            raise PermissionError(13, 'Permission denied')

    def checked_stat(path, **options):
        check(path, path.parents)
        return stat(path, **options)

    def checked_iterdir(path):
        check(path, (path, *path.parents))
        return iterdir(path)

    monkeypatch.setattr(Path, 'stat', checked_stat)
    monkeypatch.setattr(Path, 'iterdir', checked_iterdir)
    monkeypatch.setenv('GAIT_ROBOT_PATH', f'{tmp_path / "one"}:{tmp_path / "two"}')
    assert {'beetle', 'guroo'} <= set(robot_names()) and 'secret' not in robot_names()
    assert is_on_search_path(tmp_path / 'two' / 'beetle')


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigurationError, match="unknown robot 'gurro': did you mean 'guroo'"):
        find_robot('gurro')


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r'nowhere\.urdf.* does not exist'):
        find_robot(str(tmp_path / 'nowhere.urdf'))


def test_a_path_may_be_a_folder_or_a_file(tmp_path):
    robot = make_robot(tmp_path, 'beetle')
    assert find_robot(str(robot)) == robot.resolve()
    assert find_robot(str(robot / 'beetle.urdf')) == (robot / 'beetle.urdf').resolve()
    with pytest.raises(ConfigurationError, match='holds no robot.yaml, model.py or URDF'):
        find_robot(str(tmp_path))


def test_packages_are_found_as_given_then_in_the_index_then_above_the_file(tmp_path, monkeypatch):
    package = tmp_path / 'checkout'
    package.mkdir()
    (package / 'package.xml').write_text('<package><name>beetle_description</name></package>')
    source = package / 'urdf' / 'beetle.urdf'
    assert find_package('beetle_description', source) == package.resolve()
    assert find_package('checkout', source) == package.resolve()
    assert find_package('other', source) is None
    index = tmp_path / 'prefix' / 'share' / 'beetle_description'
    index.mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert find_package('beetle_description', source) == index
    given = {'beetle_description': tmp_path}
    assert find_package('beetle_description', source, given) == tmp_path.resolve()


def test_files_inside_python_packages_are_found_without_importing_them(tmp_path, monkeypatch):
    package = tmp_path / 'explosive_data'
    package.mkdir()
    (package / '__init__.py').write_text('raise RuntimeError("imported")')
    (package / 'beetle.urdf').write_text(URDF)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_package_data('explosive_data:beetle.urdf') == package / 'beetle.urdf'
    with pytest.raises(ConfigurationError, match="has no file 'ant.urdf'"):
        find_package_data('explosive_data:ant.urdf')
    for absent in ('absent_data', 'absent.data', 'this.data', '__main__', 'explosive_data..part'):
        with pytest.raises(ConfigurationError, match=f"'{absent}', which is not installed"):
            find_package_data(f'{absent}:beetle.urdf')
    assert 'this' not in sys.modules


@pytest.mark.parametrize('has_init', [True, False])
def test_packages_within_packages_are_found_without_importing_them(
    tmp_path, monkeypatch, has_init
):
    part = tmp_path / f'outer_{has_init}' / 'inner' / 'part'
    part.mkdir(parents=True)
    (part / 'beetle.urdf').write_text(URDF)
    for folder in (part, part.parent, part.parent.parent) if has_init else ():
        (folder / '__init__.py').write_text('raise RuntimeError("imported")')
    monkeypatch.syspath_prepend(tmp_path)
    module = f'outer_{has_init}.inner.part'
    assert find_package_data(f'{module}:beetle.urdf') == part / 'beetle.urdf'


@pytest.mark.parametrize(
    ('received', 'message'),
    [
        (
            ['lf_hip', 'lf_knee'],
            "unknown joint 'lf_hip': every name fits without the prefix 'lf_'",
        ),
        (['p', 'nee'], "unknown joint 'p': did you mean"),
        (['knee', 'hop'], "unknown joint 'hop': did you mean 'hip'"),
    ],
)
def test_names_that_do_not_match_are_answered_with_the_first_and_the_prefix(received, message):
    assert message in str(unknown_names_error('joint', received, ['hip', 'knee']))


def test_a_lacking_prefix_is_named():
    error = unknown_names_error('joint', ['hip', 'knee'], ['lf_hip', 'lf_knee', 'rf_hip'])
    assert "every name fits with the prefix 'lf_'" in str(error)
