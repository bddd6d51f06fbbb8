"""
Run pytest over every package and the cross-package tests: what `make test` runs.

All tests are shared out to a process per core, file by file; each has a ROS domain of its own
(conftest.py), so that neither they nor two runs on one machine hear each other. The run has a log
directory of its own, so that nothing is left in the home directory. Arguments go to pytest; paths
among them replace the default ones and are run in one process.
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile

ROOT = Path(__file__).resolve().parents[1]
MOST_PROCESSES = 4
"""Each holds engines and compiled kernels of its own, and the longest file takes minutes."""

VALUED = (
    '-k',
    '-m',
    '-c',
    '-p',
    '-o',
    '-n',
    '-W',
    '--ignore',
    '--deselect',
    '--junitxml',
    '--rootdir',
)
"""Options of pytest whose next word may be the name of a file and is no test."""


def main(arguments: list[str]) -> int:
    """Run pytest and return its exit code."""
    if not names_paths(arguments):
        tests = [*sorted(ROOT.glob('src/*/test')), ROOT / 'test']
        shared = [f'--numprocesses={processes()}', '--dist=loadfile']
        arguments = [*shared, *arguments, *(str(path.relative_to(ROOT)) for path in tests)]
    # Each skipped test is named, whatever skips it.
    shown = ['-q', '-rfEs', '--no-fold-skipped', '--durations=10']
    command = [sys.executable, '-m', 'pytest', *shown, *arguments]
    with tempfile.TemporaryDirectory(prefix='gait-test-') as logs:
        env = {'ROS_LOG_DIR': logs, **os.environ}
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def names_paths(arguments: list[str]) -> bool:
    """Tell whether tests are named; the word after an option that takes one is none."""
    return any(
        (ROOT / argument.split('::')[0]).exists()
        for before, argument in zip(['', *arguments], arguments, strict=False)
        if before not in VALUED and not argument.startswith('-')
    )


def processes() -> int:
    """Return how many processes share the tests; 0 is this one alone."""
    cores = min(len(os.sched_getaffinity(0)), MOST_PROCESSES)
    return cores if cores > 1 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
