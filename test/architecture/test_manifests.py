# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Manifests, versions, entry points, pins and launch files agree with each other."""

import ast
import importlib
from importlib.metadata import entry_points
from pathlib import Path
import re

from catkin_pkg.package import parse_package
import pytest
import yaml

from gait_core.testing.skips import need_engine, need_optimizer

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted(
    [
        *ROOT.glob('src/*/package.xml'),
        *ROOT.glob('compat/*/package.xml'),
        ROOT / 'launch' / 'package.xml',
        ROOT / 'urdf' / 'package.xml',
    ]
)
SETUPS = sorted(ROOT.glob('src/*/setup.py'))
LAUNCH_FILES = sorted((ROOT / 'launch').rglob('*.launch.py'))

# rosdep key: the distribution of requirements.txt that stands for it without ROS.
PIP_NAMES = {
    'python3-argcomplete': 'argcomplete',
    'python3-hypothesis': 'hypothesis',
    'python3-matplotlib': 'matplotlib',
    'python3-numba': 'numba',
    'python3-numpy': 'numpy',
    'python3-pil': 'pillow',
    'python3-pytest': 'pytest',
    'python3-scipy': 'scipy',
    'python3-tqdm': 'tqdm',
    'python3-transforms3d': 'transforms3d',
    'python3-yaml': 'PyYAML',
    'xacro': 'xacro',
}
# Exist only in an installed ROS: what launch files start and hardware needs.
INSTALLED_ROS_ONLY = {
    'controller_manager',
    'forward_command_controller',
    'imu_sensor_broadcaster',
    'joint_state_broadcaster',
    'joint_state_topic_hardware_interface',
    'joint_trajectory_controller',
    'launch',
    'launch_ros',
    'robot_state_publisher',
    'rviz2',
}


def name_of(path: object) -> str:
    """Return a short id for a file of the repository; pytest asks for that of no file, too."""
    return path.relative_to(ROOT).as_posix() if isinstance(path, Path) else 'none'


def setup_arguments(path: Path) -> dict[str, object]:
    """Return the literal arguments of a setup.py's one call of setup()."""
    tree = ast.parse(path.read_text(encoding='utf-8'))
    names = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    call = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'setup'
    )
    arguments = {}
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name):
            arguments[keyword.arg] = names[keyword.value.id]
        else:
            try:
                arguments[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError:
                continue
    return arguments


def declared_entry_points() -> list[tuple[str, str, str]]:
    """Return group, name and value of every entry point in the sources."""
    return [
        (group, *(part.strip() for part in line.split('=', 1)))
        for path in SETUPS
        for group, lines in setup_arguments(path).get('entry_points', {}).items()
        for line in lines
    ]


def pins() -> dict[str, set[str]]:
    """Return the pinned versions by normalised distribution name."""
    found = {}
    for file in sorted(ROOT.glob('requirements*.txt')):
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1):
            requirement = line.split('#')[0].split(';')[0].strip()
            if requirement:
                name, separator, version = requirement.partition('==')
                assert separator, f'{file.name}:{number}: {requirement} is not pinned exactly'
                found.setdefault(re.sub('[-_.]+', '-', name).lower(), set()).add(version)
    return found


@pytest.mark.parametrize('path', MANIFESTS, ids=name_of)
def test_manifest_is_valid(path):
    warnings = []
    manifest = parse_package(str(path), warnings=warnings)
    manifest.validate(warnings=warnings)
    assert not warnings
    assert manifest.package_format == 3
    assert manifest.licenses[0] == 'Apache-2.0'
    build_type = next(e.content for e in manifest.exports if e.tagname == 'build_type')
    expected = 'ament_python' if (path.parent / 'setup.py').exists() else 'ament_cmake'
    assert build_type == expected
    if expected == 'ament_cmake':
        assert (path.parent / 'CMakeLists.txt').exists()


def test_no_manifest_at_the_root():
    """Colcon would stop descending there and build nothing."""
    assert not (ROOT / 'package.xml').exists()


def test_metapackage_depends_on_every_other():
    names = {parse_package(str(p)).name for p in MANIFESTS if 'compat' not in p.parts}
    suite = parse_package(str(ROOT / 'src' / 'gait_suite' / 'package.xml'))
    depends = {dependency.name for dependency in suite.exec_depends}
    # Studies can be removed: nothing depends on them.
    assert depends == names - {'gait_suite', 'gait_studies'}


def test_versions_agree():
    versions = {name_of(path): parse_package(str(path)).version for path in MANIFESTS}
    versions |= {name_of(path): setup_arguments(path)['version'] for path in SETUPS}
    changelog = (ROOT / 'CHANGELOG.md').read_text(encoding='utf-8')
    versions['CHANGELOG.md'] = re.search(r'^## (\d+\.\d+\.\d+)', changelog, re.MULTILINE)[1]
    assert len(set(versions.values())) == 1, versions


@pytest.mark.parametrize('path', SETUPS, ids=name_of)
def test_setup_agrees_with_manifest(path):
    arguments = setup_arguments(path)
    manifest = parse_package(str(path.with_name('package.xml')))
    assert arguments['name'] == manifest.name == path.parent.name
    assert arguments['description'] == manifest.description
    assert arguments['license'] == manifest.licenses[0]
    assert arguments['maintainer_email'] == manifest.maintainers[0].email
    # Without it `colcon test` runs unittest and finds nothing.
    assert arguments['extras_require'] == {'test': ['pytest']}
    name = manifest.name
    assert (path.parent / 'resource' / name).exists()
    assert (path.parent / name / 'py.typed').exists()
    scripts = path.with_name('setup.cfg').read_text(encoding='utf-8')
    assert scripts.count(f'$base/lib/{name}') == 2


@pytest.mark.parametrize(
    ('group', 'name', 'value'),
    declared_entry_points(),
    ids=lambda part: str(part),
)
def test_entry_point_resolves(group, name, value):
    module, attribute = value.split(':')
    if module.endswith(('.node', 'evaluators.ros')):
        pytest.importorskip('rclpy')
    if module.endswith('evaluators.ray'):
        pytest.importorskip('ray')
    if group == 'gait.optimizers':
        need_optimizer(name)
    for engine in ('bullet', 'mujoco'):
        if module.startswith(f'sim_bridge.engines.{engine}'):
            need_engine(engine)
    assert callable(getattr(importlib.import_module(module), attribute))


def test_installed_entry_points_are_those_of_the_sources():
    """Also tells when the build is older than a setup.py."""
    declared = {point for point in declared_entry_points() if point[0].startswith('gait.')}
    groups = {group for group, _, _ in declared}
    installed = {
        (group, point.name, point.value)
        for group in groups
        for point in entry_points(group=group)
        if point.value.split('.')[0] in {path.parent.name for path in SETUPS}
    }
    assert installed == declared


def test_no_distribution_is_pinned_twice_for_one_python():
    """Two versions of one name need complementary markers."""
    for file in sorted(ROOT.glob('requirements*.txt')):
        seen = {}
        for line in file.read_text(encoding='utf-8').splitlines():
            requirement, _, marker = line.split('#')[0].partition(';')
            if requirement.strip():
                seen.setdefault(requirement.split('==')[0].strip(), []).append(marker.strip())
        for name, markers in seen.items():
            expected = [["python_version >= '3.11'", "python_version < '3.11'"]]
            assert len(markers) == 1 or markers in expected, f'{file.name}: {name}: {markers}'


@pytest.mark.parametrize('path', MANIFESTS, ids=name_of)
def test_every_dependency_is_pinned_for_machines_without_ros(path):
    pinned = pins()
    local = {parse_package(str(other)).name for other in MANIFESTS}
    manifest = parse_package(str(path))
    unknown = []
    for dependency in [
        *manifest.buildtool_depends,
        *manifest.build_depends,
        *manifest.exec_depends,
        *manifest.test_depends,
    ]:
        key = dependency.name
        if key in local or key in INSTALLED_ROS_ONLY:
            continue
        name = PIP_NAMES.get(key, 'ros-' + key.replace('_', '-')).lower()
        if name not in pinned:
            unknown.append(f'{key} (as {name})')
    assert not unknown, f'{name_of(path)}: not in requirements.txt: {unknown}'


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=name_of)
def test_launch_file_compiles(path):
    tree = ast.parse(path.read_text(encoding='utf-8'), str(path))
    compile(tree, str(path), 'exec')
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert 'generate_launch_description' in functions


@pytest.mark.parametrize('path', sorted((ROOT / 'launch').rglob('*.yaml')), ids=name_of)
def test_configuration_is_yaml(path):
    assert yaml.safe_load(path.read_text(encoding='utf-8')) is not None
