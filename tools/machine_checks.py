# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of the machine before `make setup`: Python, compilers, make, headers and disk."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
from typing import NoReturn

from environments import ROOT

# ROS wheels exist for these; PyBullet wheels only for the first two.
PYTHONS = ((3, 11), (3, 10), (3, 12))
PYBULLET_BELOW = (3, 12)
FREE_DISK = 3_000_000_000  # bytes


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f'setup: {text}', flush=True)


def fail(text: str, code: int = 2) -> NoReturn:
    """End the run with one line on standard error."""
    print(f'setup: {text}', file=sys.stderr, flush=True)
    raise SystemExit(code)


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
                os.execv(command, [command, *sys.argv, '--this-python'])
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
