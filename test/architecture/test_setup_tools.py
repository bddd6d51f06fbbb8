# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tools behind `make setup`: wheel repair, change detection, checks and environment."""

from dataclasses import replace
import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
from types import ModuleType

import pytest

from gait_core import errors

ROOT = Path(__file__).resolve().parents[2]

EXPORT = """\
set(_include_dirs "${demo_DIR}/../../../include;@PYTHON@;@NUMPY@")
set_target_properties(demo::demo PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include/demo;@PYTHON@;@NUMPY@"
)
"""
BUILT_PYTHON = '/opt/python/cp311-cp311/include/python3.11'
BUILT_NUMPY = '/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include'


def load(name: str) -> ModuleType:
    """Import a tool by its file: tools are no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / 'tools' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def setup_workspace(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'tools')
    return load('setup_workspace')


@pytest.fixture
def kilted(setup_workspace):
    return setup_workspace.ENVIRONMENTS['kilted']


@pytest.fixture
def clone(setup_workspace, monkeypatch, tmp_path):
    """Return an environment in an empty clone."""
    monkeypatch.setattr(setup_workspace, 'ROOT', tmp_path)
    return setup_workspace.Environment('kilted', tmp_path)


@pytest.fixture
def prefix(tmp_path):
    cmake = tmp_path / 'share' / 'demo' / 'cmake'
    cmake.mkdir(parents=True)
    text = EXPORT.replace('@PYTHON@', BUILT_PYTHON).replace('@NUMPY@', BUILT_NUMPY)
    (cmake / 'demoExport.cmake').write_text(text)
    (cmake / 'demoConfig.cmake').write_text('set(demo_FOUND TRUE)\n')
    (cmake / 'notes.txt').write_text(BUILT_PYTHON)
    return tmp_path


def test_repair_points_both_paths_at_this_interpreter(prefix):
    repair = load('repair_ros_wheels').repair
    changed = repair(prefix, Path('/python/include'), Path('/numpy/include'))
    exported = prefix / 'share' / 'demo' / 'cmake' / 'demoExport.cmake'
    assert changed == {exported: 4}
    expected = EXPORT.replace('@PYTHON@', '/python/include').replace('@NUMPY@', '/numpy/include')
    assert exported.read_text() == expected
    assert (exported.parent / 'notes.txt').read_text() == BUILT_PYTHON


def test_repair_is_safe_to_run_twice(prefix):
    repair = load('repair_ros_wheels').repair
    arguments = (prefix, Path('/python/include'), Path('/numpy/include'))
    repair(*arguments)
    files = sorted(prefix.rglob('*.*'))
    before = [(path, path.stat().st_mtime_ns) for path in files]
    assert repair(*arguments) == {}
    assert [(path, path.stat().st_mtime_ns) for path in sorted(prefix.rglob('*.*'))] == before


@pytest.mark.parametrize('tag', ['cp310-cp310', 'cp312-cp312', 'cp313-cp313t'])
def test_repair_knows_other_pythons(prefix, tag):
    version = f'3.{tag[3:5]}'
    path = prefix / 'share' / 'demo' / 'cmake' / 'demoExport.cmake'
    path.write_text(
        path.read_text().replace('cp311-cp311', tag).replace('python3.11', f'python{version}')
    )
    load('repair_ros_wheels').repair(prefix, Path('/p'), Path('/n'))
    assert '/opt/python' not in path.read_text()


def test_repair_finds_this_interpreters_headers():
    python_include, numpy_include = load('repair_ros_wheels').include_directories()
    assert (numpy_include / 'numpy' / 'arrayobject.h').exists()
    assert python_include.name.startswith('python3')


def test_package_key_sees_what_a_build_reads(setup_workspace, tmp_path):
    key = setup_workspace.package_key
    (tmp_path / 'package.xml').write_text('<package/>')
    (tmp_path / 'msg').mkdir()
    (tmp_path / 'msg' / 'A.msg').write_text('int32 a')
    (tmp_path / 'pkg').mkdir()
    (tmp_path / 'pkg' / 'module.py').write_text('a = 1')
    first = key(tmp_path)
    # Modules are linked: their text does not matter to a build.
    (tmp_path / 'pkg' / 'module.py').write_text('a = 2')
    (tmp_path / 'pkg' / 'other.py').write_text('')
    assert key(tmp_path) == first
    (tmp_path / 'msg' / 'A.msg').write_text('int64 a')
    second = key(tmp_path)
    assert second != first
    # Data files are linked one by one: a new name matters, a new text does not.
    (tmp_path / 'robots').mkdir()
    (tmp_path / 'robots' / 'robot.yaml').write_text('a')
    third = key(tmp_path)
    assert third != second
    (tmp_path / 'robots' / 'robot.yaml').write_text('b')
    assert key(tmp_path) == third


def test_kernels_are_compiled_again_when_any_source_of_one_changed(
    setup_workspace, clone, tmp_path
):
    package = tmp_path / 'src' / 'laws' / 'laws'
    package.mkdir(parents=True)
    clone.build.mkdir()
    (package / 'spring.py').write_text('from numba import njit')
    (package / 'plain.py').write_text('a = 1')
    setup_workspace.drop_stale_kernels(clone)
    kernels = [clone.kernels / 'part_1' / name for name in ('spring.nbi', 'spring.1.nbc')]
    kernels[0].parent.mkdir(parents=True)
    for path in kernels:
        path.write_bytes(b'compiled')
    (package / 'plain.py').write_text('a = 2')
    setup_workspace.drop_stale_kernels(clone)
    assert all(path.exists() for path in kernels)
    (package / 'spring.py').write_text('from numba import njit  # stiffer')
    setup_workspace.drop_stale_kernels(clone)
    assert not any(path.exists() for path in kernels)


def test_a_changed_wheel_is_named_and_one_that_was_added_stays(setup_workspace, clone):
    site = clone.venv / 'lib' / 'python3.11' / 'site-packages'
    pinned = site / 'mujoco-3.17.0.dist-info'
    for folder in (pinned, site / 'numpy-2.4.6.dist-info', clone.python.parent):
        folder.mkdir(parents=True)
    assert setup_workspace.venv_fault(clone, 'key') == 'it is not complete'
    clone.python.touch()
    wheels = setup_workspace.installed_wheels(clone)
    assert wheels == {'mujoco': '3.17.0', 'numpy': '2.4.6'}
    state = {'status': 'ready', 'key': 'key', 'wheels': wheels}
    setup_workspace.write_state(clone.venv / setup_workspace.STATE, state)
    (site / 'own-1.0.dist-info').mkdir()
    assert setup_workspace.venv_fault(clone, 'key') is None
    assert 'changed' in setup_workspace.venv_fault(clone, 'other key')
    pinned.rename(site / 'mujoco-4.0.0.dist-info')
    assert setup_workspace.venv_fault(clone, 'key') == 'mujoco is 4.0.0, pinned is 3.17.0'
    (site / 'mujoco-4.0.0.dist-info').rmdir()
    assert 'mujoco is missing' in setup_workspace.venv_fault(clone, 'key')


def test_pins_of_a_later_file_replace_those_of_an_earlier_one(setup_workspace):
    merge_pins = importlib.import_module('environments').merge_pins
    first = "numpy==2.0  # note\nPyYAML==6.0\npillow==2 ; python_version >= '3.11'\npillow==1\n"
    assert merge_pins([first, '# later\npyyaml==5.0\nempy==3.3\n']).splitlines() == [
        'numpy==2.0',
        'pyyaml==5.0',
        "pillow==2 ; python_version >= '3.11'",
        'pillow==1',
        'empy==3.3',
    ]


def test_an_extra_adds_wheels_changes_no_other_and_stays_until_another_choice(
    setup_workspace, kilted, clone
):
    environments = importlib.import_module('environments')
    assert environments.EXTRAS == tuple(errors.EXTRA_LIBRARIES.values())
    for place in environments.ENVIRONMENTS.values():
        plain, extended = (
            dict(line.split('==', 1) for line in replace(place, extras=extras).pins().splitlines())
            for extras in ((), environments.EXTRAS)
        )
        assert extended.items() > plain.items()
        assert set(environments.EXTRAS) <= set(extended) - set(plain)
    choose = setup_workspace.choose_extras
    clone.venv.mkdir()
    assert choose(clone, None) == ()
    assert choose(clone, 'ray') == ('ray',)
    setup_workspace.write_state(clone.venv / setup_workspace.STATE, {'extras': ['ray']})
    assert choose(clone, None) == ('ray',)
    assert choose(clone, '') == ()


def test_setup_names_the_valid_extras(setup_workspace, clone, capsys):
    with pytest.raises(SystemExit):
        setup_workspace.choose_extras(clone, 'rya')
    assert capsys.readouterr().err == "setup: there is no extra 'rya'; valid: ray\n"


@pytest.mark.parametrize(
    ('absent', 'package'),
    [
        ({'cc', 'gcc', 'clang'}, 'build-essential'),
        ({'c++', 'g++', 'clang++'}, 'build-essential'),
        ({'make'}, 'make'),
    ],
)
def test_setup_names_the_missing_package(setup_workspace, monkeypatch, capsys, absent, package):
    monkeypatch.setattr(
        setup_workspace.shutil, 'which', lambda name, **_: None if name in absent else name
    )
    with pytest.raises(SystemExit) as caught:
        setup_workspace.check_machine()
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f'(Debian package: {package})' in line


def test_setup_names_full_disk(setup_workspace, monkeypatch, capsys):
    usage = shutil.disk_usage(ROOT)._replace(free=1_200_000_000)
    monkeypatch.setattr(setup_workspace.shutil, 'disk_usage', lambda _: usage)
    monkeypatch.setattr(setup_workspace.shutil, 'which', lambda name, **_: name)
    monkeypatch.setattr(setup_workspace.Path, 'exists', lambda _: True)
    with pytest.raises(SystemExit) as caught:
        setup_workspace.check_machine()
    assert caught.value.code == 2
    assert '1.2 GB of free disk, 3 GB are needed' in capsys.readouterr().err


@pytest.mark.parametrize('version', [(3, 8), (3, 9), (3, 13), (3, 14)])
def test_setup_names_the_pythons_with_wheels(setup_workspace, monkeypatch, capsys, version):
    monkeypatch.setattr(setup_workspace.sys, 'version_info', (*version, 0))
    monkeypatch.setattr(setup_workspace.sys, 'prefix', sys.base_prefix)
    with pytest.raises(SystemExit) as caught:
        setup_workspace.choose_python(this_python=True)
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f'Python {version[0]}.{version[1]} has no ROS wheels; 3.10, 3.11 and 3.12' in line


def test_cmake_is_installed_only_where_there_is_none(kilted, monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))
    assert 'requirements-cmake.txt' in kilted.requirement_files()
    cmake = tmp_path / 'cmake'
    cmake.write_text('#!/bin/sh\n')
    cmake.chmod(0o755)
    assert 'requirements-cmake.txt' not in kilted.requirement_files()


def test_build_sees_nothing_of_another_ros(setup_workspace, kilted, monkeypatch):
    for name in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH', 'PYTHONPATH', 'ROS_DISTRO'):
        monkeypatch.setenv(name, '/opt/ros/other')
    env = setup_workspace.build_environment(kilted)
    assert not [value for value in env.values() if '/opt/ros/other' in value]


def entered(
    setup: ModuleType,
    tmp_path: Path,
    command: str,
    *,
    shell: tuple[str, str] = ('sh', '-c'),
    **variables: str,
) -> str:
    """Return the output of a shell that sources the environment twice."""
    script = tmp_path / 'env.sh'
    place = setup.ENVIRONMENTS['kilted']
    script.write_text(setup.environment_script(place, setup.packages(place)))
    done = subprocess.run(
        [*shell, f'. {script}; . {script}; {command}'],
        env={'PATH': os.environ['PATH'], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_environment_can_be_entered_twice(setup_workspace, tmp_path):
    printed = entered(setup_workspace, tmp_path, 'echo "$PYTHONPATH"', PYTHONPATH='/own')
    parts = printed.strip().split(':')
    assert parts[-1] == '/own'
    assert len(parts) == len(set(parts))


@pytest.mark.parametrize('variable', ['ROS_DISTRO', 'GAIT_WORKSPACE'])
def test_environment_leaves_another_one_out(setup_workspace, tmp_path, variable):
    names = ('PYTHONPATH', 'AMENT_PREFIX_PATH', 'LD_LIBRARY_PATH', 'NUMBA_CACHE_DIR')
    others = dict.fromkeys((*names, variable), '/opt/other')
    printed = entered(setup_workspace, tmp_path, f'echo "${":$".join(names)}"', **others)
    assert '/opt/other' not in printed
    # It was entered twice, and has its own paths still.
    assert str(ROOT / 'build' / 'gait_core') in printed


def test_environment_has_the_command_of_the_clone(setup_workspace, tmp_path):
    assert entered(setup_workspace, tmp_path, 'command -v gait').strip() == str(ROOT / 'gait')


def test_only_an_interactive_shell_is_told_about_the_command(setup_workspace, tmp_path):
    lines = entered(setup_workspace, tmp_path, 'exit', shell=('sh', '-ic')).splitlines()
    assert lines and all(line.startswith(str(ROOT / 'gait')) for line in lines)
    assert entered(setup_workspace, tmp_path, 'exit') == ''


@pytest.mark.parametrize(
    ('shell', 'asked'), [('bash', 'complete -p gait'), ('zsh', 'echo ${_comps[gait]}')]
)
def test_an_interactive_shell_completes_the_command(setup_workspace, tmp_path, shell, asked):
    for needed in (shell, 'register-python-argcomplete'):
        if shutil.which(needed) is None:
            pytest.skip(f'{needed} is not installed')
    printed = entered(setup_workspace, tmp_path, asked, shell=(shell, '-ic'), HOME=str(tmp_path))
    assert '_python_argcomplete' in printed


PRINT_DISCOVERY = (
    'echo "$ROS_AUTOMATIC_DISCOVERY_RANGE" '
    '"$FASTDDS_DEFAULT_PROFILES_FILE" "$FASTRTPS_DEFAULT_PROFILES_FILE"'
)


def need_installed_profile(setup):
    profile = importlib.import_module('environment_script').LOOPBACK_PROFILE
    if not (setup.ENVIRONMENTS['kilted'].install / profile).exists():
        pytest.skip('this clone has no installed loopback profile: see make setup')


def test_nodes_listen_on_loopback_only(setup_workspace, tmp_path):
    need_installed_profile(setup_workspace)
    discovery_range, profile = entered(setup_workspace, tmp_path, PRINT_DISCOVERY).split()
    assert discovery_range == 'SYSTEM_DEFAULT'
    assert Path(profile).samefile(ROOT / 'launch/config/loopback.xml')


@pytest.mark.parametrize(
    ('variable', 'value', 'printed'),
    [
        ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET', 'SUBNET'),
        ('ROS_STATIC_PEERS', 'pc1', 'LOCALHOST'),
        ('ROS_LOCALHOST_ONLY', '1', 'LOCALHOST'),
        ('ROS_DISCOVERY_SERVER', 'pc1:11811', 'LOCALHOST'),
        ('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4', 'LOCALHOST'),
        ('FASTDDS_DEFAULT_PROFILES_FILE', '/own.xml', 'LOCALHOST /own.xml'),
        ('RMW_IMPLEMENTATION', 'rmw_zenoh_cpp', 'LOCALHOST'),
        ('RMW_IMPLEMENTATION', 'rmw_fastrtps_cpp', 'SYSTEM_DEFAULT'),
    ],
)
def test_discovery_obeys_the_user(setup_workspace, tmp_path, variable, value, printed):
    need_installed_profile(setup_workspace)
    found = entered(setup_workspace, tmp_path, PRINT_DISCOVERY, **{variable: value}).split()
    wanted = printed.split()
    assert found[: len(wanted)] == wanted
    assert (len(found) == len(wanted)) == (wanted[0] != 'SYSTEM_DEFAULT')


def test_an_environment_without_its_profile_keeps_discovery_on_this_machine(
    setup_workspace, tmp_path, monkeypatch
):
    monkeypatch.setattr('environment_script.LOOPBACK_PROFILE', 'missing.xml')
    assert entered(setup_workspace, tmp_path, PRINT_DISCOVERY).split() == ['LOCALHOST']


def test_gait_asks_for_setup_where_none_was_made(tmp_path):
    shutil.copy(ROOT / 'gait', tmp_path / 'gait')
    done = subprocess.run(
        [str(tmp_path / 'gait'), 'list', 'robots'], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr.splitlines() == ['gait: run make setup first']


def test_gait_runs_in_the_environment_that_was_entered(tmp_path):
    shutil.copy(ROOT / 'gait', tmp_path / 'gait')
    for name, base in (('kilted', tmp_path), ('jazzy', tmp_path / '.jazzy')):
        script, python = base / 'build' / 'env.sh', base / '.venv' / 'bin' / 'python'
        for path, text in (
            (script, f'GAIT_WORKSPACE={base}'),
            (python, f'#!/bin/sh\necho {name}'),
        ):
            path.parent.mkdir(parents=True)
            path.write_text(text + '\n')
        python.chmod(0o755)
    for entered_base, name in (
        (None, 'kilted'),
        (tmp_path, 'kilted'),
        (tmp_path / '.jazzy', 'jazzy'),
    ):
        env = {'PATH': os.environ['PATH']}
        if entered_base is not None:
            env['GAIT_WORKSPACE'] = str(entered_base)
        command = [str(tmp_path / 'gait'), 'list']
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == name
