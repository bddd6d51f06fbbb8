# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The design's rules on imports hold in the sources and the manifests."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re
import sys

from catkin_pkg.package import parse_package
import pytest

from gait_core.errors import EXTRA_LIBRARIES, OPTIONAL_LIBRARIES
from gait_core.trial import failures

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = tuple(sorted(path.parent.name for path in ROOT.glob('src/*/setup.py')))
SUITE = {*PACKAGES, 'gait_interfaces'}
# Beside gait_core and, on the ROS side, gait_ros. Nothing imports gait_studies.
ARROWS = {
    'gait_tools': {'gait_evolver'},
    'gait_studies': {'gait_cpg', 'gait_evolver', 'gait_stage_walk', 'gait_tools', 'sim_bridge'},
}

# Import name: rosdep key (None: it is optional, the manifest names it in a comment), and the
# distribution pinned in requirements.txt, requirements-optional.txt or that of an extra.
LIBRARIES = {
    'argcomplete': ('python3-argcomplete', 'argcomplete'),
    'cma': (None, 'cma'),
    'matplotlib': ('python3-matplotlib', 'matplotlib'),
    'mpl_toolkits': ('python3-matplotlib', 'matplotlib'),
    'mujoco': (None, 'mujoco'),
    'numba': ('python3-numba', 'numba'),
    'numpy': ('python3-numpy', 'numpy'),
    'optuna': (None, 'optuna'),
    'PIL': ('python3-pil', 'pillow'),
    'plotly': (None, 'plotly'),
    'pybullet': (None, 'pybullet'),
    'pybullet_data': (None, 'pybullet'),
    'pymoo': (None, 'pymoo'),
    'ray': (None, 'ray'),
    'rosbags': (None, 'rosbags'),
    'scipy': ('python3-scipy', 'scipy'),
    'sklearn': (None, 'scikit-learn'),
    'threadpoolctl': (None, 'threadpoolctl'),
    'tqdm': ('python3-tqdm', 'tqdm'),
    'transforms3d': ('python3-transforms3d', 'transforms3d'),
    'xacro': ('xacro', 'xacro'),
    'yaml': ('python3-yaml', 'PyYAML'),
}
# ROS packages: the import name is the rosdep key, the wheel is `ros-` with dashes.
ROS = {
    'action_msgs',
    'builtin_interfaces',
    'diagnostic_msgs',
    'geometry_msgs',
    'lifecycle_msgs',
    'nav_msgs',
    'rcl_interfaces',
    'rclpy',
    'rosgraph_msgs',
    'sensor_msgs',
    'std_msgs',
    'std_srvs',
    'tf2_msgs',
    'trajectory_msgs',
    'unique_identifier_msgs',
    'visualization_msgs',
}
# Looked up where it exists, needed nowhere: not a dependency of a pure package.
OPTIONAL = {'ament_index_python'}
# An engine's library is met in sim_bridge/engines/<engine>/ alone.
ENGINE_LIBRARIES = {
    'mujoco': 'mujoco',
    'pybullet': 'bullet',
    'pybullet_data': 'bullet',
}
# Ray may end the process that imports it: the evaluator's own one imports nothing of it.
RAY_MODULE = ('gait_evolver', 'gait_evolver/evaluators/ray_actors.py')
# The launch library exists only in an installed ROS: met by launch files and what serves them.
LAUNCH = {'launch', 'launch_ros'}
LAUNCH_MODULE = ('gait_ros', 'launch_actions.py')
# `gait walk --ros` and `gait bench --checks` hand over to gait_ros; inside a function, so that
# the command itself starts without ROS.
COMMANDS = {('gait_tools', 'commands'), ('gait_tools', 'checks')}
# Modules of gait_ros that need no ROS.
WITHOUT_ROS = {
    'graph/control_nodes.py',
    'graph/nodes.py',
    'hardware/motor_guard.py',
    'hardware/motor_watch.py',
    'hardware/motors.py',
    'hardware/ros2_control.py',
}


def sources(package: str) -> list[Path]:
    """Return the modules of a package, without its tests."""
    return sorted((ROOT / 'src' / package / package).rglob('*.py'))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every absolute import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                yield node.lineno, f'{node.module}.{alias.name}'


def lazy_lines(path: Path) -> set[int]:
    """Return the lines of the imports that only a call reaches."""
    return {
        inner.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'), str(path)))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Import, ast.ImportFrom))
    }


def meets_ros(package: str, path: Path) -> bool:
    """Tell whether a module belongs to the ROS side."""
    relative = path.relative_to(ROOT / 'src' / package / package).as_posix()
    if package == 'gait_ros':
        return relative not in WITHOUT_ROS
    return path.name == 'node.py' or (package, relative) == ('gait_evolver', 'evaluators/ros.py')


def violation(package: str, path: Path, dotted: str, *, lazy: bool = False) -> str | None:
    """Return why an import is not allowed, or None; a lazy one is reached by a call only."""
    top = dotted.split('.')[0]
    if top in sys.stdlib_module_names or top in OPTIONAL or top in {package, 'gait_core'}:
        return None
    if top in ROS or top == 'gait_interfaces':
        return None if meets_ros(package, path) else 'only the ROS side imports it'
    if top == 'gait_ros':
        if meets_ros(package, path) or path.name == 'executables.py':
            return None
        if lazy and (package, path.parent.name) in COMMANDS:
            return None
        return (
            'only node.py, executables.py, evaluators/ros.py and, inside a function, gait_tools '
            'import gait_ros'
        )
    if top in LAUNCH:
        if (package, path.name) == LAUNCH_MODULE:
            return None
        return 'only gait_ros/graph/launch_actions.py imports it'
    if top in SUITE:
        if top in ARROWS.get(package, ()):
            return None
        return 'packages meet through gait_core and the registry'
    if top in ENGINE_LIBRARIES:
        inside = path.relative_to(ROOT / 'src' / package / package).parts
        if package == 'sim_bridge' and inside[:2] == ('engines', ENGINE_LIBRARIES[top]):
            return None
        return f'only sim_bridge/engines/{ENGINE_LIBRARIES[top]}/ imports it'
    if top == 'ray':
        is_there = (ROOT / 'src').joinpath(*RAY_MODULE) == path
        return None if is_there else 'only evaluators/ray_actors.py imports it'
    if top not in LIBRARIES:
        return 'unknown: add it to the table of this test, the manifest and requirements.txt'
    return None


@pytest.mark.parametrize('package', PACKAGES)
def test_imports_follow_the_rules(package):
    found = []
    for path in sources(package):
        lazy = lazy_lines(path)
        for line, dotted in imports(path):
            reason = violation(package, path, dotted, lazy=line in lazy)
            if reason is not None:
                found.append(f'{path.relative_to(ROOT)}:{line}: {dotted}: {reason}')
    assert not found, '\n'.join(found)


@pytest.mark.parametrize(
    ('package', 'module', 'dotted', 'allowed'),
    [
        ('gait_core', 'trial/loop.py', 'numpy', True),
        ('gait_core', 'trial/loop.py', 'rclpy', False),
        ('gait_core', 'trial/loop.py', 'sim_bridge.engines', False),
        ('gait_cpg', 'node.py', 'rclpy.node', True),
        ('gait_cpg', 'phase_cpg/controller.py', 'gait_ros.nodes.qos', False),
        ('gait_cpg', 'node.py', 'gait_stage_walk.staged.controller', False),
        ('gait_evolver', 'evaluators/ros.py', 'gait_interfaces.srv', True),
        ('gait_evolver', 'evaluators/local.py', 'gait_interfaces.srv', False),
        ('gait_tools', 'commands/walk.py', 'gait_ros.trials.session', False),
        ('gait_evolver', 'loop.py', 'gait_tools.cli', False),
        ('gait_tools', 'cli.py', 'gait_evolver.loop', True),
        ('gait_tools', 'commands/study.py', 'gait_studies.pike2003.study', False),
        ('gait_studies', 'pike2003/study.py', 'gait_tools.study.definition', True),
        ('gait_studies', 'pike2003/walk.py', 'gait_stage_walk.staged.timetable', True),
        ('gait_studies', 'pike2003/walk.py', 'pybullet', False),
        ('gait_tools', 'cli.py', 'gait_cpg.phase_cpg.controller', False),
        ('gait_ros', 'graph/nodes.py', 'rclpy', False),
        ('gait_ros', 'graph/control_nodes.py', 'rclpy', False),
        ('gait_ros', 'hardware/motors.py', 'rclpy', False),
        ('gait_ros', 'hardware/node.py', 'rclpy', True),
        ('gait_ros', 'trials/session.py', 'launch.actions', False),
        ('gait_ros', 'graph/launch_actions.py', 'launch.actions', True),
        ('sim_bridge', 'engines/bullet/engine.py', 'pybullet', True),
        ('sim_bridge', 'engines/shared/force_laws.py', 'pybullet_utils', False),
        ('sim_bridge', 'engines/mujoco/engine.py', 'pybullet', False),
        ('sim_bridge', 'node.py', 'pybullet', False),
        ('gait_core', 'trial/loop.py', 'pandas', False),
        ('gait_evolver', 'evaluators/ray_actors.py', 'ray', True),
        ('gait_evolver', 'evaluators/ray.py', 'ray', False),
    ],
)
def test_the_rules_tell_right_from_wrong(package, module, dotted, allowed):
    path = ROOT / 'src' / package / package / module
    assert (violation(package, path, dotted) is None) == allowed


def test_commands_may_reach_the_ros_side_when_called():
    walk = ROOT / 'src' / 'gait_tools' / 'gait_tools' / 'commands' / 'walk.py'
    assert violation('gait_tools', walk, 'gait_ros.trials.session', lazy=True) is None
    assert violation('gait_tools', walk, 'rclpy', lazy=True) is not None
    assert violation('gait_tools', walk.parents[1] / 'cli.py', 'gait_ros', lazy=True) is not None


def test_frames_of_every_package_are_told_from_code_that_a_user_added():
    # Studies can be removed.
    assert {*failures.SUITE_PACKAGES} == {*PACKAGES, 'gait_studies'}


@pytest.mark.parametrize('package', PACKAGES)
def test_no_package_imports_its_own_node_at_import(package):
    """Every package but gait_ros imports without ROS, so no __init__ may reach a node."""
    for path in sources(package):
        if path.name == '__init__.py':
            names = {dotted for _, dotted in imports(path)}
            relative = {
                node.module or alias.name
                for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
                if isinstance(node, ast.ImportFrom) and node.level
                for alias in node.names
            }
            reached = {name for name in names | relative if 'node' in name.split('.')}
            assert not reached, f'{path.relative_to(ROOT)} imports {sorted(reached)}'


def needed_keys(package: str) -> dict[str, str]:
    """Return the rosdep keys of the imports of a package, each with one line that imports it."""
    keys = {}
    for path in sources(package):
        for line, dotted in imports(path):
            top = dotted.split('.')[0]
            if top in ROS | LAUNCH or (top in SUITE and top != package):
                key = top
            elif top in LIBRARIES and LIBRARIES[top][0]:
                key = LIBRARIES[top][0]
            else:
                continue
            keys.setdefault(key, f'{path.relative_to(ROOT)}:{line}')
    return keys


def declared_keys(package: str) -> set[str]:
    """Return the run-time dependencies of a manifest."""
    manifest = parse_package(str(ROOT / 'src' / package / 'package.xml'))
    return {dependency.name for dependency in manifest.exec_depends}


@pytest.mark.parametrize('package', PACKAGES)
def test_manifest_declares_what_is_imported(package):
    declared = declared_keys(package)
    missing = [
        f'<exec_depend>{key}</exec_depend>  for {place}'
        for key, place in sorted(needed_keys(package).items())
        if key not in declared
    ]
    assert not missing, f'src/{package}/package.xml lacks\n' + '\n'.join(missing)


@pytest.mark.parametrize('package', PACKAGES)
def test_manifest_names_the_optional_libraries_that_are_imported(package):
    used = {
        LIBRARIES[top][1]
        for path in sources(package)
        for _, dotted in imports(path)
        if (top := dotted.split('.')[0]) in OPTIONAL_LIBRARIES
    }
    text = (ROOT / 'src' / package / 'package.xml').read_text(encoding='utf-8')
    named = re.search(r'<!-- optional, in requirements-optional.txt: (.*) -->', text)
    assert sorted(used) == (named[1].split(', ') if named else [])


@pytest.mark.parametrize('package', PACKAGES)
def test_manifest_names_the_extras_that_are_imported(package):
    used = {
        EXTRA_LIBRARIES[top]
        for path in sources(package)
        for _, dotted in imports(path)
        if (top := dotted.split('.')[0]) in EXTRA_LIBRARIES
    }
    text = (ROOT / 'src' / package / 'package.xml').read_text(encoding='utf-8')
    named = re.findall(r'<!-- extra, in requirements-(\w+).txt -->', text)
    assert sorted(used) == named
    assert all((ROOT / f'requirements-{extra}.txt').is_file() for extra in named)


def test_optional_libraries_are_those_without_a_key():
    optional = {name for name, (key, _) in LIBRARIES.items() if key is None}
    assert optional == {*OPTIONAL_LIBRARIES, *EXTRA_LIBRARIES}
    assert all(LIBRARIES[name][1] == pip for name, pip in OPTIONAL_LIBRARIES.items())


@pytest.mark.parametrize('package', PACKAGES)
def test_manifest_declares_nothing_else(package):
    idle = declared_keys(package) - set(needed_keys(package))
    assert not idle, f'src/{package}/package.xml declares {sorted(idle)}; nothing imports them'


@pytest.mark.parametrize(
    'path',
    sorted([*ROOT.glob('src/*/test/**/*.py'), *ROOT.glob('test/**/*.py')]),
    ids=lambda path: path.relative_to(ROOT).as_posix() if isinstance(path, Path) else 'none',
)
def test_no_test_imports_another(path):
    """Tests share through gait_core.testing.doubles, so that each can be run and moved alone."""
    tree = ast.parse(path.read_text(encoding='utf-8'), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'line {node.lineno}: relative import in a test'
    for line, dotted in imports(path):
        parts = dotted.split('.')
        assert parts[0] not in {'test', 'tests', 'conftest'}, f'line {line}: imports {dotted}'
        assert not parts[0].startswith('test_'), f'line {line}: imports {dotted}'
