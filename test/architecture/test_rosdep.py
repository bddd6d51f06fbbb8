# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Keys of rosdep in the manifests, and the commands of doc/install.md with an installed ROS."""

from datetime import date
import importlib
import os
from pathlib import Path
import re
import shlex
import sys

from catkin_pkg.package import parse_package
import pytest
import yaml

from gait_core.errors import OPTIONAL_LIBRARIES
from gait_core.testing.documents import table_rows

ROOT = Path(__file__).resolve().parents[2]
TABLE = yaml.safe_load((ROOT / 'tools' / 'rosdep.yaml').read_text(encoding='utf-8'))
DISTRIBUTIONS = TABLE['distributions']
PAGE = (ROOT / 'doc' / 'install.md').read_text(encoding='utf-8')
SECTION = PAGE.partition('\n## With ROS 2\n')[2].partition('\n## ')[0]
COMMANDS = re.search(r'```bash\n(.*?)```', SECTION, re.DOTALL)[1].splitlines()
IGNORED = {'AMENT_IGNORE', 'CATKIN_IGNORE', 'COLCON_IGNORE'}


def found_packages(folder: Path) -> dict[str, Path]:
    """Return the packages that rosdep finds below a folder; none lies in another."""
    found = {}
    for place, folders, files in os.walk(folder, followlinks=True):
        if IGNORED & {*folders, *files}:
            folders.clear()
        elif 'package.xml' in files:
            manifest = parse_package(place)
            found[manifest.name] = Path(place)
            folders.clear()
        folders[:] = [name for name in folders if not name.startswith('.')]
    return found


def keys(package: Path) -> set[str]:
    """Return every key of a manifest."""
    manifest = parse_package(str(package))
    return {
        dependency.name
        for tag in (
            'buildtool',
            'buildtool_export',
            'build',
            'build_export',
            'exec',
            'test',
            'doc',
        )
        for dependency in getattr(manifest, f'{tag}_depends')
    }


@pytest.fixture(scope='module')
def workspace(tmp_path_factory):
    """Return a workspace whose src/gait is this clone, as after the page's `git clone`."""
    folder = tmp_path_factory.mktemp('ws')
    (folder / 'src').mkdir()
    (folder / 'src' / 'gait').symlink_to(ROOT)
    return folder


def test_the_table_has_a_source_and_a_date():
    source = TABLE['source']
    assert source['repository'].endswith('/ros/rosdistro')
    assert re.fullmatch('[0-9a-f]{40}', source['commit'])
    assert date.fromisoformat(source['date']) > date(2026, 1, 1)


@pytest.fixture(scope='module')
def tool():
    """Return the script that writes the table, as a module."""
    folder = str(ROOT / 'tools')
    sys.path.insert(0, folder)
    yield importlib.import_module('resolve_rosdep')
    sys.path.remove(folder)


def test_the_table_is_written_from_the_answers_of_rosdep(tool, tmp_path, monkeypatch):
    rosdep = tmp_path / 'rosdep'
    rosdep.write_text(
        '#!/bin/sh\necho "$@" > "$0.asked"\n'
        'printf "#ROSDEP[a]\\n#apt\\npython3-a\\n#ROSDEP[b]\\n#pip\\nb c\\n"\n'
    )
    rosdep.chmod(0o755)
    monkeypatch.setattr(tool, 'manifest_keys', lambda: ['a', 'b'])
    found = tool.resolve(str(rosdep), 'lyrical', os.environ)
    assert found == {'a': 'apt python3-a', 'b': 'pip b c'}
    asked = rosdep.with_suffix('.asked').read_text().strip()
    assert asked == 'resolve --rosdistro lyrical --os ubuntu:resolute a b'


def test_a_key_that_rosdep_does_not_know_ends_the_script(tool, tmp_path):
    rosdep = tmp_path / 'rosdep'
    rosdep.write_text('#!/bin/sh\necho "ERROR: no rosdep rule" >&2\nexit 1\n')
    rosdep.chmod(0o755)
    with pytest.raises(SystemExit, match='1'):
        tool.resolve(str(rosdep), 'jazzy', os.environ)


def test_the_script_asks_for_the_keys_that_the_page_s_command_needs(tool, workspace):
    packages = found_packages(workspace / 'src')
    wanted = {key for path in packages.values() for key in keys(path)} - set(packages)
    assert set(tool.manifest_keys()) == wanted


def test_the_page_names_the_distributions_of_the_table():
    supported = re.search(r'\| an installed ROS 2 (.*?) \|', PAGE)[1]
    assert re.findall(r'[A-Z]\w+', supported) == [name.capitalize() for name in DISTRIBUTIONS]
    assert {row['system'] for row in DISTRIBUTIONS.values()} == {'ubuntu:noble', 'ubuntu:resolute'}


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_rosdep_resolves_the_page_s_command_to_packages_of_the_system(workspace, distribution):
    """A package whose keys are installed by pip cannot be released by bloom."""
    (line,) = (line for line in COMMANDS if line.startswith('rosdep '))
    assert line == 'rosdep install --from-paths src --ignore-src -y'
    packages = found_packages(workspace / shlex.split(line)[3])
    assert {'gait_bringup', 'gait_core', 'gait_description', 'gait_suite'} <= set(packages)
    assert 'tf2_msgs' not in packages
    known = DISTRIBUTIONS[distribution]['keys']
    wanted = {key for path in packages.values() for key in keys(path)} - set(packages)
    unknown = sorted(key for key in wanted if not known.get(key, '').startswith('apt '))
    assert not unknown, f'resolve them by tools/resolve_rosdep.py: {unknown}'


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_keys_of_the_stand_in_resolve_too(distribution):
    known = DISTRIBUTIONS[distribution]['keys']
    for path in (ROOT / 'compat').glob('*/package.xml'):
        assert all(known[key].startswith('apt ros-') for key in keys(path.parent))


def test_pip_is_given_the_file_of_optional_libraries(workspace):
    (line,) = (line for line in COMMANDS if ' pip install ' in line)
    words = shlex.split(line)
    assert words[:4] == ['python3', '-m', 'pip', 'install']
    file = workspace / words[words.index('-r') + 1]
    pinned = re.findall(r'^([\w-]+)==', file.read_text(encoding='utf-8'), re.MULTILINE)
    assert set(pinned) == set(OPTIONAL_LIBRARIES.values())
    assert [row[0] for row in table_rows(SECTION, 'Library')] == [*dict.fromkeys(pinned)]


def test_every_other_command_of_the_page_is_known_here(workspace):
    rest = [line for line in COMMANDS if not line.startswith(('rosdep ', 'python3 -m pip '))]
    assert rest == [
        'source /opt/ros/jazzy/setup.bash',
        'mkdir -p ws/src && cd ws',
        'git clone <this repository> src/gait',
        'colcon build --symlink-install',
        'source install/setup.bash',
        'ros2 launch gait_bringup walk.launch.py robot:=guroo demo:=true',
    ]
    packages = found_packages(workspace / 'src')
    assert (packages['gait_bringup'] / 'walk.launch.py').is_file()
    assert (packages['gait_description'] / 'robots' / 'guroo').is_dir()
