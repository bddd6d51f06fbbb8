# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Repair the CMake files of ROS wheels after installation.

The wheels export the include directories of the machine that built them (Python's under
``/opt/python``, NumPy's under that Python's ``site-packages``). Interfaces do not compile until
both point at the interpreter in use. Running the repair twice changes nothing the second time.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path
import re
import sys
import sysconfig

PYTHON_INCLUDE = re.compile(r'/opt/python/cp[^/\s;"]+/include/python3\.\d+[a-z]*')
NUMPY_INCLUDE = re.compile(
    r'/opt/python/cp[^/\s;"]+/lib/python3\.\d+[a-z]*/site-packages/numpy/_?core/include'
)


def repair(prefix: Path, python_include: Path, numpy_include: Path) -> dict[Path, int]:
    """
    Point the exported include directories below a prefix at this interpreter's.

    Parameters
    ----------
    prefix : Path
        The environment's prefix; ``share/*/cmake/*.cmake`` below it is read.
    python_include, numpy_include : Path
        Directories with ``Python.h`` and with ``numpy/arrayobject.h``.

    Returns
    -------
    dict of Path to int
        Number of replacements in every file that changed; empty when nothing was left to do.
    """
    changed = {}
    for path in sorted(prefix.glob('share/*/cmake/*.cmake')):
        before = path.read_text(encoding='utf-8')
        # A function as replacement: a directory name may contain a backslash.
        after, numpy_count = NUMPY_INCLUDE.subn(lambda _: numpy_include.as_posix(), before)
        after, python_count = PYTHON_INCLUDE.subn(lambda _: python_include.as_posix(), after)
        if after != before:
            partial = path.with_name(path.name + '.partial')
            partial.write_text(after, encoding='utf-8')
            os.replace(partial, path)
            changed[path] = numpy_count + python_count
    return changed


def include_directories() -> tuple[Path, Path]:
    """Return the include directories of the running Python and of its NumPy."""
    spec = importlib.util.find_spec('numpy')
    if spec is None or spec.origin is None:
        raise SystemExit('repair_ros_wheels: NumPy is not installed for this Python')
    numpy = Path(spec.origin).parent
    core = '_core' if (numpy / '_core' / 'include').is_dir() else 'core'
    return Path(sysconfig.get_path('include')), numpy / core / 'include'


def main(arguments: list[str] | None = None) -> int:
    """Repair the environment of the running Python, or the prefix given."""
    parser = argparse.ArgumentParser(description='Repair the CMake files of ROS wheels.')
    parser.add_argument('--prefix', type=Path, default=Path(sys.prefix))
    prefix = parser.parse_args(arguments).prefix
    changed = repair(prefix, *include_directories())
    for path, count in changed.items():
        print(f'repaired {path.relative_to(prefix)}: {count} include paths')
    print(f'wheel repair: {len(changed)} files changed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
