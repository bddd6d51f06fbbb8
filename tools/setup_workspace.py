# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Set-up of the workspace on a machine without ROS: `make setup`, `make setup ROS=jazzy`.

It needs the standard library only. Three stages, each skipped if its inputs are unchanged:

1. checks: Python, compiler, make, headers, disk; the first missing thing ends the run with its
   Debian package named;
2. ``.venv``: the pinned wheels of requirements*.txt, then the repair of the ROS wheels;
3. ``build``, ``install``: colcon, only the packages whose build inputs changed.

It then writes ``build/env.sh``, which ``./gait``, the Makefile and users source. Runs exclude each
other by a lock. After a killed run the next one repeats the unfinished stage.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
import fcntl
import hashlib
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import time
from typing import Any

from environment_script import environment_script
from environments import ENVIRONMENTS, EXTRAS, ROOT, Environment
from machine_checks import check_machine, choose_python, fail, say

STATE = 'gait-setup.json'
KERNEL_STATE = 'gait-kernels.json'
REPAIR = Path(__file__).with_name('repair_ros_wheels.py')
COMPAT = 'compat/tf2_msgs'

# What a build reads. Data files are linked one by one at build time, so their names count too.
BUILD_INPUTS = ('package.xml', 'setup.py', 'setup.cfg', 'CMakeLists.txt')
INTERFACES = ('.msg', '.srv', '.action')
DATA_DIRECTORIES = ('config', 'rviz', 'robots', 'experiments', 'strides')


# ------------------------------------------------------------------------------- small helpers


def digest(*parts: bytes) -> str:
    """Return one SHA-256 over parts of any length."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, 'little'))
        total.update(part)
    return total.hexdigest()


def read_state(path: Path) -> dict[str, Any]:
    """Return the record of the last run, or an empty one."""
    try:
        state = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step, so that a killed run leaves the old or the new one."""
    partial = path.with_name(path.name + '.partial')
    partial.write_text(text, encoding='utf-8')
    os.replace(partial, path)


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Record what a stage has done."""
    write_text(path, json.dumps(state, indent=1, sort_keys=True) + '\n')


def remove(path: Path) -> None:
    """Remove a tree; it is renamed first, so that a killed removal leaves no partial tree."""
    if path.exists() or path.is_symlink():
        doomed = path.with_name(f'{path.name}.removed-{os.getpid()}')
        os.rename(path, doomed)
        shutil.rmtree(doomed, ignore_errors=True)
    for left in path.parent.glob(f'{path.name}.removed-*'):
        shutil.rmtree(left, ignore_errors=True)


def run(command: list[str], log: Path, env: dict[str, str], lock: int) -> None:
    """
    Run a command with its output in a log, and show the log's end if it fails.

    The command inherits the lock: should this process be killed, a rerun waits for what it
    started.
    """
    with log.open('wb') as output:
        code = subprocess.run(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
            check=False,
        ).returncode
    if code != 0:
        lines = log.read_text(encoding='utf-8', errors='replace').splitlines()
        print('\n'.join(lines[-40:]), file=sys.stderr)
        name = ' '.join(Path(word).name for word in command[:4])
        fail(f'{name} ... failed with code {code}; all of it: {log.relative_to(ROOT)}', 1)


# -------------------------------------------------------------------------------- environment


def venv_key(place: Environment) -> str:
    """Return a hash of the environment's inputs: pins, repair, interpreter and location."""
    python = (sys.version.encode(), sys.base_prefix.encode())
    return digest(place.pins().encode(), REPAIR.read_bytes(), *python, bytes(place.base))


def build_environment(place: Environment) -> dict[str, str]:
    """Return the environment variables of pip and colcon, without those of another ROS."""
    env = dict(os.environ)
    for name in tuple(env):
        if name.startswith(('AMENT_', 'COLCON_', 'ROS_', 'MAKEF', 'MFLAGS', 'MAKELEVEL')):
            del env[name]
    for name in ('PYTHONPATH', 'PYTHONHOME', 'LD_LIBRARY_PATH', '_ROS_WHEELS_BOOTSTRAP_COMPLETE'):
        env.pop(name, None)
    env.update(
        VIRTUAL_ENV=str(place.venv),
        PATH=os.pathsep.join((str(place.venv / 'bin'), env.get('PATH', os.defpath))),
        AMENT_PREFIX_PATH=str(place.venv),
        CMAKE_PREFIX_PATH=str(place.venv),
        PYTHONNOUSERSITE='1',
        # setuptools announces the end of `develop`, which is why it is pinned.
        PYTHONWARNINGS='ignore',
        COLCON_LOG_PATH=str(place.log),
    )
    return env


def installed_wheels(place: Environment) -> dict[str, str]:
    """Return the versions of the installed distributions by name; pip itself is not pinned."""
    found = place.venv.glob('lib/python*/site-packages/*.dist-info')
    versions = dict(path.stem.split('-', 1) for path in sorted(found))
    versions.pop('pip', None)
    return versions


def venv_fault(place: Environment, key: str) -> str | None:
    """Return why .venv must be made, or None if it has what was installed for these pins."""
    state = read_state(place.venv / STATE)
    if state.get('status') != 'ready' or not place.python.exists():
        return 'it is not complete'
    if state.get('key') != key:
        return 'its pins, its Python or its place changed'
    found = installed_wheels(place)
    for name, version in state.get('wheels', {}).items():
        if found.get(name) != version:
            return f'{name} is {found.get(name, "missing")}, pinned is {version}'
    return None


def choose_extras(place: Environment, asked: str | None) -> tuple[str, ...]:
    """Return the extras to install: those asked for by name, or None: those installed."""
    names = read_state(place.venv / STATE).get('extras', []) if asked is None else asked.split()
    for name in names:
        if name not in EXTRAS:
            fail(f"there is no extra '{name}'; valid: {', '.join(EXTRAS)}", 2)
    return tuple(sorted(set(names)))


def install_wheels(place: Environment, key: str, fault: str, lock: int) -> None:
    """Make .venv with the pinned wheels, anew: an upgrade in place can leave files of both."""
    spelled = place.venv.relative_to(ROOT)
    if place.venv.exists():
        say(f'{spelled} is made anew: {fault}')
    remove(place.venv)
    place.script.unlink(missing_ok=True)
    started = time.monotonic()
    env = build_environment(place)
    log = place.log
    log.mkdir(parents=True, exist_ok=True)
    say(f'creating {spelled} with Python {sys.version.split()[0]}')
    run([sys.executable, '-m', 'venv', str(place.venv)], log / 'venv.log', dict(os.environ), lock)
    say('installing the pinned wheels (1.3 GB on disk; a minute or two)')
    pins = log / 'requirements.txt'
    write_text(pins, place.pins())
    command = [str(place.python), '-m', 'pip', 'install', '--disable-pip-version-check']
    command += ['--no-input', '--progress-bar', 'off', '-r', str(pins)]
    run(command, log / 'pip.log', env, lock)
    run([str(place.python), str(REPAIR)], log / 'repair.log', env, lock)
    say((log / 'repair.log').read_text(encoding='utf-8').splitlines()[-1])
    state = {'status': 'ready', 'key': key, 'wheels': installed_wheels(place)}
    state['extras'] = list(place.extras)
    write_state(place.venv / STATE, state)
    say(f'{spelled} is ready after {time.monotonic() - started:.0f} s')


# -------------------------------------------------------------------------------------- build


def packages(place: Environment) -> dict[str, Path]:
    """Return the packages to build by name."""
    found = [path.parent for path in sorted(ROOT.glob('src/*/package.xml'))]
    found += [ROOT / 'launch', ROOT / 'urdf']
    # Only where the environment has none: a second tf2_msgs would hide the complete one.
    if not (place.venv / 'share' / 'tf2_msgs' / 'package.xml').exists():
        found.append(ROOT / COMPAT)
    names = {}
    for path in found:
        text = (path / 'package.xml').read_text(encoding='utf-8')
        names[text.split('<name>', 1)[1].split('</name>', 1)[0].strip()] = path
    return names


def package_key(path: Path) -> str:
    """Return a hash of the inputs of a package's build."""
    parts = []
    for directory, subdirectories, names in os.walk(path):
        subdirectories[:] = sorted(
            name for name in subdirectories if name != '__pycache__' and name[0] != '.'
        )
        relative = Path(directory).relative_to(path)
        is_data = any(part in DATA_DIRECTORIES for part in relative.parts)
        for name in sorted(names):
            spelled = (relative / name).as_posix()
            if name in BUILD_INPUTS or name.endswith(INTERFACES):
                parts += [spelled.encode(), (Path(directory) / name).read_bytes()]
            elif is_data or name.endswith('.launch.py') or name == 'py.typed':
                parts.append(spelled.encode())
    return digest(*parts)


def has_stale_definitions(build: Path, name: str, path: Path) -> bool:
    """Return whether a built message has no definition any more; its module would remain."""
    built = (build / name / 'rosidl_adapter' / name).glob('*/*.idl')
    wanted = {
        (source.parent.name, source.stem)
        for source in path.glob('*/*')
        if source.suffix in INTERFACES
    }
    return any((idl.parent.name, idl.stem) not in wanted for idl in built)


def build(place: Environment, names: dict[str, Path], keys: dict[str, str], lock: int) -> None:
    """Build changed packages with colcon; build all anew if the last build was killed."""
    folders = (place.build, place.install)
    python = place_key(place)
    state = read_state(place.build / STATE)
    if state.get('status') != 'ready' or state.get('place') != python:
        for path in folders:
            remove(path)
        state = {}
    built = dict(state.get('packages', {}))
    changed = [name for name in names if built.get(name) != keys[name]]
    gone = sorted(set(built) - set(names))
    for name in gone:
        say(f'{name} is gone')
        del built[name]
    stale = [name for name in changed if has_stale_definitions(place.build, name, names[name])]
    for name in (*gone, *stale):
        remove(place.build / name)
    # What an earlier build linked there can be in the way of a new file of the same name.
    for name in (*gone, *changed):
        remove(place.install / name)
    place.build.mkdir(parents=True, exist_ok=True)
    record = {'status': 'building', 'place': python, 'packages': built}
    if changed:
        started = time.monotonic()
        say(f'building {", ".join(changed)}')
        write_state(place.build / STATE, record)
        try:
            run(
                colcon_command(place, names, changed),
                place.log / 'colcon.log',
                build_environment(place),
                lock,
            )
        except SystemExit:
            # It failed, but came to an end: what is there may serve the next attempt.
            for name in changed:
                built.pop(name, None)
            write_state(place.build / STATE, {**record, 'status': 'ready'})
            raise
        say(f'built {len(changed)} packages in {time.monotonic() - started:.0f} s')
    built.update({name: keys[name] for name in changed})
    write_state(place.build / STATE, {**record, 'status': 'ready'})


def colcon_command(place: Environment, names: dict[str, Path], changed: list[str]) -> list[str]:
    """Return the command that builds changed packages."""
    command = [str(place.python), '-m', 'colcon', 'build', '--symlink-install']
    command += ['--build-base', str(place.build), '--install-base', str(place.install)]
    command += ['--base-paths', *(str(path.relative_to(ROOT)) for path in names.values())]
    command += ['--packages-select', *changed]
    command += ['--cmake-args', '-DBUILD_TESTING=OFF', '-Wno-dev']
    command += [f'-DPython3_EXECUTABLE={place.python}']
    return command


def place_key(place: Environment) -> str:
    """Return a hash of what a build is bound to: its folder, its Python and the wheels of ROS."""
    wheels = [pin for pin in place.pins().splitlines() if pin.startswith('ros-')]
    return digest(bytes(place.base), sys.version.encode(), '\n'.join(wheels).encode())


def drop_stale_kernels(place: Environment) -> None:
    """
    Remove all compiled kernels if a source of any kernel has changed.

    Numba checks a kernel's own file only: a kernel that calls a function of another file would
    keep the old one.
    """
    texts = (path.read_bytes() for path in sorted(ROOT.glob('src/*/*/**/*.py')))
    key = digest(*(text for text in texts if b'numba' in text))
    state = place.build / KERNEL_STATE
    if read_state(state).get('key') == key:
        return
    remove(place.kernels)
    write_state(state, {'key': key})


# --------------------------------------------------------------------------------------- main


def take_lock() -> int:
    """Wait for the lock of this workspace; it is held until this process ends."""
    lock = os.open(ROOT / '.setup.lock', os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        say('another run is at work here; waiting for it')
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def main() -> int:
    """Bring the workspace up to date."""
    parser = argparse.ArgumentParser(description='Make the workspace runnable without ROS.')
    parser.add_argument(
        '--this-python', action='store_true', help='use the running Python, look for no other'
    )
    parser.add_argument('--ros', choices=ENVIRONMENTS, default='kilted', help='distribution')
    parser.add_argument(
        '--extras', help=f'extras to install: {", ".join(EXTRAS)} (default: those installed)'
    )
    options = parser.parse_args()
    choose_python(this_python=options.this_python)
    started = time.monotonic()
    lock = take_lock()
    place = ENVIRONMENTS[options.ros]
    place = replace(place, extras=choose_extras(place, options.extras))
    key = venv_key(place)
    fault = venv_fault(place, key)
    if fault is not None:
        check_machine()
        install_wheels(place, key, fault, lock)
    names = packages(place)
    keys = {name: package_key(path) for name, path in names.items()}
    state = read_state(place.build / STATE)
    is_built = (
        state.get('status') == 'ready'
        and state.get('place') == place_key(place)
        and state.get('packages') == keys
        and all((place.install / name).is_dir() for name in names)
    )
    if not is_built:
        build(place, names, keys, lock)
    write_text(place.script, environment_script(place, names))
    drop_stale_kernels(place)
    if fault is None and is_built:
        say('nothing to do')
    else:
        say(f'ready after {time.monotonic() - started:.0f} s; try ./gait list robots')
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print('setup: interrupted; run it again to go on', file=sys.stderr)
        sys.exit(130)
