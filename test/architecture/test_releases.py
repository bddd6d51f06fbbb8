# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files and fields that bloom and ament want of each package that is released."""

import ast
from pathlib import Path
import re
import sys

from catkin_pkg.changelog import get_changelog_from_path
from catkin_pkg.package import parse_package
import pytest

ROOT = Path(__file__).resolve().parents[2]
# Packages of compat stand in for those of an installed ROS and are not released.
PACKAGES = sorted(
    path.parent for path in [*ROOT.glob('src/*/package.xml'), *ROOT.glob('*/package.xml')]
)
PYTHON = [package for package in PACKAGES if (package / 'setup.py').exists()]
CMAKE = [package for package in PACKAGES if (package / 'CMakeLists.txt').exists()]
TEST_KEYS = {'hypothesis': 'python3-hypothesis', 'pytest': 'python3-pytest'}


def name_of(path: Path) -> str:
    """Return the folder of a package, as an id."""
    return path.name


def test_every_package_is_of_python_or_of_cmake():
    # Studies can be removed.
    assert len({*map(name_of, PACKAGES), 'gait_studies'}) == 12
    assert sorted(PYTHON + CMAKE) == PACKAGES


@pytest.mark.parametrize('package', PACKAGES, ids=name_of)
def test_the_licence_is_in_the_package(package):
    """A released package is cut out of the repository."""
    (licence,) = parse_package(str(package)).licenses
    assert (licence, licence.file) == ('Apache-2.0', 'LICENSE')
    assert (package / licence.file).read_bytes() == (ROOT / 'LICENSE').read_bytes()


@pytest.mark.filterwarnings('ignore:nodes.Node.traverse:DeprecationWarning')
@pytest.mark.parametrize('package', PACKAGES, ids=name_of)
def test_the_changelog_of_a_package_has_the_versions_of_the_one_at_the_root(package):
    name = parse_package(str(package)).name
    text = (package / 'CHANGELOG.rst').read_text(encoding='utf-8')
    title = f'Changelog for package {name}'
    assert text.startswith('\n'.join((len(title) * '^', title, len(title) * '^', '')))
    root = (ROOT / 'CHANGELOG.md').read_text(encoding='utf-8')
    versions = re.findall(r'^## (\d+\.\d+\.\d+) \((.*?)\)$', root, re.MULTILINE)
    sections = re.findall(r'^(.+)\n-+$', text, re.MULTILINE)
    assert versions
    assert sections == [
        'Forthcoming' if day == 'unreleased' else f'{version} ({day})' for version, day in versions
    ]
    # Bloom reads what is released, by this parser.
    read = get_changelog_from_path(str(package), package_name=name)
    released = [version for version, day in versions if day != 'unreleased']
    assert [version for version, _, _ in read.foreach_version()] == released
    assert text.count('CHANGELOG.md at the root') == len(sections)


def test_one_maintainer_who_is_no_example():
    maintainers = {
        (person.name, person.email)
        for package in PACKAGES
        for person in parse_package(str(package)).maintainers
    }
    ((_, email),) = maintainers
    assert re.fullmatch(r'[^@\s]+@(?!example\.)[\w.-]+\.\w+', email)


@pytest.mark.parametrize('package', PYTHON, ids=name_of)
def test_the_index_of_ament_finds_a_python_package(package):
    name = package.name
    assert (package / 'resource' / name).read_bytes() == b''
    text = (package / 'setup.py').read_text(encoding='utf-8')
    assert "('share/ament_index/resource_index/packages', ['resource/' + package_name])," in text
    assert "('share/' + package_name, ['package.xml'" in text


@pytest.mark.parametrize('package', PYTHON, ids=name_of)
def test_data_files_are_installed_without_links_too(package):
    """A linked build sees every file of the sources, an installed package those of setup.py."""
    tree = ast.parse((package / 'setup.py').read_text(encoding='utf-8'))
    (data,) = (
        node.value.values[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == 'package_data'
    )
    folder = package / package.name
    installed = {path for pattern in ast.literal_eval(data) for path in folder.glob(pattern)}
    present = {
        path
        for path in folder.rglob('*')
        if path.is_file() and '__pycache__' not in path.parts and path.suffix not in ('.py', '.md')
    }
    assert not present - installed


@pytest.mark.parametrize('package', CMAKE, ids=name_of)
def test_a_cmake_package_finds_what_it_depends_on_and_ends_with_ament_package(package):
    manifest = parse_package(str(package))
    text = (package / 'CMakeLists.txt').read_text(encoding='utf-8')
    assert text.rstrip().endswith('ament_package()')
    assert f'project({manifest.name}' in text
    tools = {dependency.name for dependency in manifest.buildtool_depends}
    assert tools == set(re.findall(r'^find_package\((\w+) REQUIRED\)', text, re.MULTILINE))
    depends = re.search(r'set\(interface_dependencies\n(.*?)\)', text, re.DOTALL)
    listed = depends[1].split() if depends else []
    assert listed == [dependency.name for dependency in manifest.build_depends]


def imported_at_top(package: Path) -> set[str]:
    """Return the first names that the tests of a package import when they are collected."""
    found = set()
    for path in (package / 'test').rglob('*.py'):
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition('.')[0])
    return found - set(sys.stdlib_module_names)


@pytest.mark.parametrize('package', PYTHON, ids=name_of)
def test_what_tests_import_is_declared(package):
    manifest = parse_package(str(package))
    suite = {path.name for path in PYTHON} - {package.name}
    runtime = {dependency.name for dependency in manifest.exec_depends}
    used = imported_at_top(package)
    wanted = {TEST_KEYS[name] for name in used & set(TEST_KEYS)} | ((used & suite) - runtime)
    assert {dependency.name for dependency in manifest.test_depends} == wanted
