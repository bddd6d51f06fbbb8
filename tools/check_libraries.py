# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Check that the suite works with the libraries of the entered environment: `make check`.

Every module is imported, every test is collected, and five robots walk, each with another
controller or engine.
"""

from __future__ import annotations

import importlib
from importlib.metadata import version
import json
from pathlib import Path
import pkgutil
import platform
import subprocess
import sys

from gait_core.errors import EXTRA_LIBRARIES

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ('numpy', 'scipy', 'numba', 'pillow', 'matplotlib', 'mujoco', 'pytest', 'rclpy')
NOT_AS_WHEELS = ('launch', 'launch_ros')
WALKS = (
    ('guroo', '--engine', 'bullet'),
    ('a1', '--engine', 'bullet'),
    ('hexapod', '--engine', 'mujoco'),
    ('roach', '--engine', 'mujoco'),
    ('tetraspine',),
)
SECONDS = '2'


def main() -> int:
    """Run all checks; return 1 if one fails."""
    print(
        f'Python {platform.python_version()}', *(f'{n} {version(n)}' for n in LIBRARIES), sep=', '
    )
    return int(not all([check_imports(), check_collection(), *map(check_walk, WALKS)]))


def check_imports() -> bool:
    """Import every module of the packages in src."""
    names = []
    for path in sorted(ROOT.glob('src/*/setup.py')):
        package = importlib.import_module(path.parent.name)
        for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if error.name not in (*NOT_AS_WHEELS, *EXTRA_LIBRARIES):
                    raise
                print(f'{module.name} needs {error.name}, which is not installed')
                continue
            names.append(module.name)
    print(f'{len(names)} modules imported')
    return True


def check_collection() -> bool:
    """Collect every test."""
    command = [sys.executable, '-m', 'pytest', '--collect-only', '-q']
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout.strip().splitlines()[-1])
    return done.returncode == 0


def check_walk(arguments: tuple[str, ...]) -> bool:
    """Walk a robot for some seconds; it must stay up."""
    command = [str(ROOT / 'gait'), 'walk', *arguments, '--seconds', SECONDS, '--json']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f'gait walk {" ".join(arguments)}: code {done.returncode}: {done.stderr.strip()}')
        return False
    found = json.loads(done.stdout)
    print(f'gait walk {" ".join(arguments)}: {found["status"]}, {found["trial_hash"][:12]}')
    return True


if __name__ == '__main__':
    sys.exit(main())
