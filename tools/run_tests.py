# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Tests of all packages and across packages: `make test`.

The test files are distributed over a process per core. Each process has its own ROS domain
(conftest.py), so that tests and parallel runs do not receive each other's messages. The run has
its own log directory, so that nothing is left in the home directory. Arguments go to pytest; if
some of them are paths, only these are run, in one process. ``--ros-part`` as first argument runs
the tests that meet ROS.
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_PROCESSES = 4
"""Largest number of processes: each needs memory for engines and compiled kernels, and the
longest file takes minutes in any case."""

ROS_PART = ('src/gait_ros/test', 'test/ros', 'test/conformance/test_evaluators.py')
"""Tests that meet ROS."""

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
"""Options of pytest whose value may be the name of a file that is no test."""


def main(arguments: list[str]) -> int:
    """Run pytest and return its exit code."""
    tests = [*(f'{path.relative_to(ROOT)}' for path in sorted(ROOT.glob('src/*/test'))), 'test']
    if arguments[:1] == ['--ros-part']:
        arguments, tests = arguments[1:], list(ROS_PART)
    if not names_paths(arguments):
        shared = [f'--numprocesses={processes()}', '--dist=loadfile']
        arguments = [*shared, *arguments, *tests]
    shown = ['-q', '-rfEs', '--durations=10']
    if pytest.version_tuple >= (8, 3):
        # Each skipped test is named, whatever skips it; earlier releases add equal lines up.
        shown.append('--no-fold-skipped')
    command = [sys.executable, '-m', 'pytest', *shown, *arguments]
    with tempfile.TemporaryDirectory(prefix='gait-test-') as logs:
        env = {'ROS_LOG_DIR': logs, **os.environ}
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def names_paths(arguments: list[str]) -> bool:
    """Return whether arguments name tests; values of options do not count."""
    return any(
        (ROOT / argument.split('::')[0]).exists()
        for before, argument in zip(['', *arguments], arguments, strict=False)
        if before not in VALUED and not argument.startswith('-')
    )


def processes() -> int:
    """Return the number of test processes; 0: this process only."""
    cores = min(len(os.sched_getaffinity(0)), MOST_PROCESSES)
    return cores if cores > 1 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
