# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Set-up of the workspace on a machine without ROS: `make setup`.

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
import fcntl
import hashlib
import json
import os
from pathlib import Path
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / '.venv'
BUILD = ROOT / 'build'
INSTALL = ROOT / 'install'
ENV_FILE = BUILD / 'env.sh'
VENV_STATE = VENV / 'gait-setup.json'
BUILD_STATE = BUILD / 'gait-setup.json'
KERNEL_STATE = BUILD / 'gait-kernels.json'
REQUIREMENTS = ('requirements.txt', 'requirements-optional.txt', 'requirements-dev.txt')
CMAKE_REQUIREMENTS = 'requirements-cmake.txt'
REPAIR = Path(__file__).with_name('repair_ros_wheels.py')
COMPAT = 'compat/tf2_msgs'

# ROS wheels exist for these; PyBullet wheels only for the first two.
PYTHONS = ((3, 11), (3, 10), (3, 12))
PYBULLET_BELOW = (3, 12)
FREE_DISK = 3_000_000_000  # bytes

# What a build reads. Data files are linked one by one at build time, so their names count too.
BUILD_INPUTS = ('package.xml', 'setup.py', 'setup.cfg', 'CMakeLists.txt')
INTERFACES = ('.msg', '.srv', '.action')
DATA_DIRECTORIES = ('config', 'rviz', 'robots', 'experiments', 'strides')


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f'setup: {text}', flush=True)


def fail(text: str, code: int = 2) -> NoReturn:
    """End the run with one line on standard error."""
    print(f'setup: {text}', file=sys.stderr, flush=True)
    raise SystemExit(code)


# ---------------------------------------------------------------------------------- checks


def usable_python(command: str) -> bool:
    """Return whether a command is a Python with venv, ensurepip and headers."""
    code = (
        'import os, sysconfig, venv, ensurepip; '
        "raise SystemExit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    )
    try:
        done = subprocess.run([command, '-c', code], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def choose_python(*, this_python: bool) -> None:
    """Continue with the running Python, or restart with a better one on PATH."""
    if sys.prefix != sys.base_prefix:
        # Inside an entered environment, perhaps the one about to be replaced: leave it.
        base = getattr(sys, '_base_executable', sys.executable)
        if base != sys.executable:
            os.execv(base, [base, *sys.argv])
    running = sys.version_info[:2]
    spelled = '.'.join(str(part) for part in running)
    if not this_python and not (running in PYTHONS and running < PYBULLET_BELOW):
        better = PYTHONS[: PYTHONS.index(running)] if running in PYTHONS else PYTHONS
        for major, minor in better:
            command = shutil.which(f'python{major}.{minor}')
            if command is not None and usable_python(command):
                say(f'Python {spelled} lacks some wheels; using python{major}.{minor}')
                os.execv(command, [command, sys.argv[0], '--this-python'])
    if running in PYTHONS:
        if running >= PYBULLET_BELOW:
            say(f'Python {spelled} has no PyBullet wheel: the bullet engine will be missing')
        return
    fail(
        f'Python {spelled} has no ROS wheels; 3.10, 3.11 and 3.12 have '
        '(Debian package: python3, python3-dev, python3-venv); '
        'then: make setup PYTHON=python3.11'
    )


def check_machine() -> None:
    """End the run if something is missing; name it with its Debian package."""
    if sys.platform != 'linux' or os.uname().machine != 'x86_64':
        fail(f'the wheels are for x86-64 Linux, this is {sys.platform} {os.uname().machine}')
    if not any(shutil.which(name) for name in ('cc', 'gcc', 'clang')):
        fail('no C compiler found (Debian package: build-essential)')
    if not any(shutil.which(name) for name in ('c++', 'g++', 'clang++')):
        fail('no C++ compiler found (Debian package: build-essential)')
    if shutil.which('make') is None:
        fail('no make found (Debian package: make)')
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        fail('this Python cannot make environments (Debian package: python3-venv)')
    header = Path(sysconfig.get_path('include')) / 'Python.h'
    if not header.exists():
        fail('this Python has no Python.h (Debian package: python3-dev)')
    free = shutil.disk_usage(ROOT).free
    if free < FREE_DISK:
        fail(
            f'{free / 1e9:.1f} GB of free disk, {FREE_DISK / 1e9:.0f} GB are needed '
            '(Debian: apt-get clean)'
        )


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


def requirement_files() -> list[str]:
    """Return the requirement files; CMake comes as a wheel only where the machine has none."""
    files = list(REQUIREMENTS)
    path = os.pathsep.join(
        part
        for part in os.environ.get('PATH', '').split(os.pathsep)
        if Path(part or '.').resolve() != VENV / 'bin'
    )
    if shutil.which('cmake', path=path) is None:
        files.append(CMAKE_REQUIREMENTS)
    return files


def venv_key(files: list[str]) -> str:
    """Return a hash of the environment's inputs: pins, repair, interpreter and location."""
    texts = [(ROOT / name).read_bytes() for name in files]
    return digest(
        *texts, REPAIR.read_bytes(), sys.version.encode(), sys.base_prefix.encode(), bytes(ROOT)
    )


def build_environment() -> dict[str, str]:
    """Return the environment variables of pip and colcon, without those of another ROS."""
    env = dict(os.environ)
    for name in tuple(env):
        if name.startswith(('AMENT_', 'COLCON_', 'ROS_', 'MAKEF', 'MFLAGS', 'MAKELEVEL')):
            del env[name]
    for name in ('PYTHONPATH', 'PYTHONHOME', 'LD_LIBRARY_PATH', '_ROS_WHEELS_BOOTSTRAP_COMPLETE'):
        env.pop(name, None)
    env.update(
        VIRTUAL_ENV=str(VENV),
        PATH=os.pathsep.join((str(VENV / 'bin'), env.get('PATH', os.defpath))),
        AMENT_PREFIX_PATH=str(VENV),
        CMAKE_PREFIX_PATH=str(VENV),
        PYTHONNOUSERSITE='1',
        # setuptools announces the end of `develop`, which is why it is pinned.
        PYTHONWARNINGS='ignore',
        COLCON_LOG_PATH=str(ROOT / 'log'),
    )
    return env


def install_wheels(files: list[str], key: str, lock: int) -> None:
    """Install the pinned wheels in .venv; make it anew if the last attempt did not finish."""
    state = read_state(VENV_STATE)
    same_place = state.get('root') == str(ROOT) and state.get('python') == sys.version
    if state.get('status') != 'ready' or not same_place:
        remove(VENV)
    ENV_FILE.unlink(missing_ok=True)
    started = time.monotonic()
    env = build_environment()
    log = ROOT / 'log'
    log.mkdir(exist_ok=True)
    if not VENV.exists():
        say(f'creating .venv with Python {sys.version.split()[0]}')
        run([sys.executable, '-m', 'venv', str(VENV)], log / 'venv.log', dict(os.environ), lock)
    state = {'status': 'installing', 'key': key, 'root': str(ROOT), 'python': sys.version}
    write_state(VENV_STATE, state)
    say('installing the pinned wheels (1.2 GB on disk; a minute or two)')
    python = str(VENV / 'bin' / 'python')
    command = [python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input']
    command += ['--progress-bar', 'off']
    for name in files:
        command += ['-r', name]
    run(command, log / 'pip.log', env, lock)
    run([python, str(REPAIR)], log / 'repair.log', env, lock)
    say((log / 'repair.log').read_text(encoding='utf-8').splitlines()[-1])
    state['status'] = 'ready'
    write_state(VENV_STATE, state)
    say(f'.venv is ready after {time.monotonic() - started:.0f} s')


# -------------------------------------------------------------------------------------- build


def packages() -> dict[str, Path]:
    """Return the packages to build by name."""
    found = [path.parent for path in sorted(ROOT.glob('src/*/package.xml'))]
    found += [ROOT / 'launch', ROOT / 'urdf']
    # Only where the environment has none: a second tf2_msgs would hide the complete one.
    if not (VENV / 'share' / 'tf2_msgs' / 'package.xml').exists():
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


def has_stale_definitions(name: str, path: Path) -> bool:
    """Return whether a built message has no definition any more; its module would remain."""
    built = (BUILD / name / 'rosidl_adapter' / name).glob('*/*.idl')
    wanted = {
        (source.parent.name, source.stem)
        for source in path.glob('*/*')
        if source.suffix in INTERFACES
    }
    return any((idl.parent.name, idl.stem) not in wanted for idl in built)


def build(names: dict[str, Path], keys: dict[str, str], place: str, lock: int) -> None:
    """Build changed packages with colcon; build all anew if the last build was killed."""
    state = read_state(BUILD_STATE)
    if state.get('status') != 'ready' or state.get('place') != place:
        for path in (BUILD, INSTALL):
            remove(path)
        state = {}
    built = dict(state.get('packages', {}))
    changed = [name for name in names if built.get(name) != keys[name]]
    for name in sorted(set(built) - set(names)):
        say(f'{name} is gone')
        remove(BUILD / name)
        remove(INSTALL / name)
        del built[name]
    for name in changed:
        if has_stale_definitions(name, names[name]):
            remove(BUILD / name)
            remove(INSTALL / name)
    BUILD.mkdir(exist_ok=True)
    if changed:
        started = time.monotonic()
        say(f'building {", ".join(changed)}')
        write_state(BUILD_STATE, {'status': 'building', 'place': place, 'packages': built})
        command = [str(VENV / 'bin' / 'python'), '-m', 'colcon', 'build', '--symlink-install']
        command += ['--base-paths', *(str(names[name].relative_to(ROOT)) for name in names)]
        command += ['--packages-select', *changed]
        command += ['--cmake-args', '-DBUILD_TESTING=OFF', '-Wno-dev']
        command += [f'-DPython3_EXECUTABLE={VENV / "bin" / "python"}']
        try:
            run(command, ROOT / 'log' / 'colcon.log', build_environment(), lock)
        except SystemExit:
            # It failed, but came to an end: what is there may serve the next attempt.
            for name in changed:
                built.pop(name, None)
            write_state(BUILD_STATE, {'status': 'ready', 'place': place, 'packages': built})
            raise
        say(f'built {len(changed)} packages in {time.monotonic() - started:.0f} s')
    built.update({name: keys[name] for name in changed})
    write_state(BUILD_STATE, {'status': 'ready', 'place': place, 'packages': built})


def drop_stale_kernels() -> None:
    """
    Remove all compiled kernels if a source of any kernel has changed.

    Numba checks a kernel's own file only: a kernel that calls a function of another file would
    keep the old one.
    """
    texts = (path.read_bytes() for path in sorted(ROOT.glob('src/*/*/**/*.py')))
    key = digest(*(text for text in texts if b'numba' in text))
    if read_state(KERNEL_STATE).get('key') == key:
        return
    for path in ROOT.glob('src/*/*/**/__pycache__/*.nb[ci]'):
        path.unlink(missing_ok=True)
    write_state(KERNEL_STATE, {'key': key})


LOOPBACK_PROFILE = 'gait_bringup/share/gait_bringup/config/loopback.xml'
# With any of these a user chooses how nodes find each other.
DISCOVERY_VARIABLES = (
    'ROS_AUTOMATIC_DISCOVERY_RANGE',
    'ROS_STATIC_PEERS',
    'ROS_LOCALHOST_ONLY',
    'ROS_DISCOVERY_SERVER',
    'FASTDDS_BUILTIN_TRANSPORTS',
    'FASTDDS_DEFAULT_PROFILES_FILE',
    'FASTRTPS_DEFAULT_PROFILES_FILE',
)


def discovery_lines(site: Path) -> str:
    """Return the lines that keep nodes on loopback, unless the user has set up discovery."""
    # Each name belongs to one major version of Fast DDS, whose wheels have other names, too.
    is_version_3 = any(site.glob('ros_fastdds-*.dist-info'))
    variable = f'{"FASTDDS" if is_version_3 else "FASTRTPS"}_DEFAULT_PROFILES_FILE'
    profile = shlex.quote(str(INSTALL / LOOPBACK_PROFILE))
    chosen = ''.join(f'${{{name}-}}' for name in DISCOVERY_VARIABLES)
    return f"""\
# Nodes listen on loopback only, unless one of these variables is set: doc/security.md.
if [ -z "{chosen}" ] && [ -r {profile} ]; then
  case "${{RMW_IMPLEMENTATION-}}" in
  '' | rmw_fastrtps_*)
    export ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT
    export {variable}={profile}
    ;;
  esac
fi
export ROS_AUTOMATIC_DISCOVERY_RANGE="${{ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}}"
"""


def environment_script(names: dict[str, Path]) -> str:
    """Return the shell script that enters the environment."""
    version = f'python{sys.version_info[0]}.{sys.version_info[1]}'
    site = VENV / 'lib' / version / 'site-packages'
    # As the wheels' bootstrapper would set it, which re-executes every Python unless it sees
    # its own mark.
    libraries = [VENV / 'lib', *sorted(site.glob('ros_*.libs'))]
    python_path = []
    prefixes = []
    for name in sorted(names):
        prefix = INSTALL / name
        if not prefix.is_dir():
            continue
        prefixes.append(prefix)
        if (BUILD / name / f'{name}.egg-info').is_dir():
            python_path.append(BUILD / name)
        if (prefix / 'lib' / version / 'site-packages' / name).is_dir():
            python_path.append(prefix / 'lib' / version / 'site-packages')
        if any((prefix / 'lib').glob('*.so')):
            libraries.append(prefix / 'lib')
    prefixes.append(VENV)

    def joined(paths: list[Path]) -> str:
        """Return paths as one quoted word of a shell."""
        return shlex.quote(':'.join(str(path) for path in paths))

    return f"""\
# Made by `make setup`; source it (bash, zsh or sh) to enter the environment of this workspace.
if [ -n "${{ROS_DISTRO-}}" ]; then
  # A sourced ROS has another Python and other libraries: leave it out.
  unset PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH
fi
case "${{GAIT_WORKSPACE-}}" in
{shlex.quote(str(ROOT))}) ;;
*)
  export GAIT_WORKSPACE={shlex.quote(str(ROOT))}
  export VIRTUAL_ENV={shlex.quote(str(VENV))}
  export PATH={joined([VENV / 'bin', ROOT])}"${{PATH:+:$PATH}}"
  export PYTHONPATH={joined(python_path)}"${{PYTHONPATH:+:$PYTHONPATH}}"
  export AMENT_PREFIX_PATH={joined(prefixes)}"${{AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}}"
  export LD_LIBRARY_PATH={joined(libraries)}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
  ;;
esac
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
export PYTHONNOUSERSITE=1
{discovery_lines(site)}export OMP_NUM_THREADS="${{OMP_NUM_THREADS:-1}}"
export OPENBLAS_NUM_THREADS="${{OPENBLAS_NUM_THREADS:-1}}"
export MKL_NUM_THREADS="${{MKL_NUM_THREADS:-1}}"
case $- in
*i*)
  echo "$GAIT_WORKSPACE/gait is now the command gait of this shell"
  if [ -n "${{BASH_VERSION-}}" ]; then
    . "$GAIT_WORKSPACE/src/gait_tools/completion/gait.bash"
  elif [ -n "${{ZSH_VERSION-}}" ]; then
    . "$GAIT_WORKSPACE/src/gait_tools/completion/gait.zsh"
  fi
  ;;
esac
"""


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
    options = parser.parse_args()
    choose_python(this_python=options.this_python)
    started = time.monotonic()
    lock = take_lock()
    files = requirement_files()
    key = venv_key(files)
    state = read_state(VENV_STATE)
    python = VENV / 'bin' / 'python'
    fresh = state.get('status') == 'ready' and state.get('key') == key and python.exists()
    if not fresh:
        check_machine()
        install_wheels(files, key, lock)
    names = packages()
    keys = {name: package_key(path) for name, path in names.items()}
    place = digest(bytes(ROOT), sys.version.encode())
    state = read_state(BUILD_STATE)
    built = (
        state.get('status') == 'ready'
        and state.get('place') == place
        and state.get('packages') == keys
        and all((INSTALL / name).is_dir() for name in names)
    )
    if not built:
        build(names, keys, place, lock)
    write_text(ENV_FILE, environment_script(names))
    drop_stale_kernels()
    if fresh and built:
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
