# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiling of kernels is announced, and two processes can compile the same kernel."""

import os
import subprocess
import sys

from numba import njit

from gait_core.processes.compiling import announce_compiling


def test_the_first_kernel_beyond_the_patience_is_announced_once():
    at_once, later = [], []
    announce_compiling(at_once.append, patience=0.0)
    announce_compiling(later.append, patience=3600.0)

    @njit
    def twice(value):
        return 2 * value

    assert at_once == []
    assert twice(2) == 4
    (line,) = at_once
    assert 'compiling' in line and '\n' not in line
    assert twice(0.5) == 1.0
    assert (len(at_once), later) == (1, [])


def test_what_is_compiled_already_is_not_announced():
    @njit
    def half(value):
        return value / 2

    half(1.0)
    said = []
    announce_compiling(said.append, patience=0.0)
    assert half(3.0) == 1.5
    assert said == []


_KERNEL = """
from gait_core.processes.compiling import gufunc

@gufunc('void(float64[:], float64[:])', '(k)->(k)')
def doubled(row, out):
    "Double a row."
    for i in range(row.size):
        out[i] = 2.0 * row[i]
"""
# The late process has other numbers for its kernels, and saves them after the other.
_CALL = """
import sys
import time
import numba
from numba.core import compiler

compile_extra = compiler.compile_extra
def late(*args, **kwargs):
    "Compile as ever, and be a second late."
    result = compile_extra(*args, **kwargs)
    time.sleep(1.0)
    return result

if sys.argv[1] == 'late':
    numba.njit(lambda value: value)(1)
    compiler.compile_extra = late
print('ready', flush=True)
input()
import doubling
print(doubling.doubled([[1.0, 2.0], [3.0, 4.0]]).sum())
"""


def test_two_processes_that_compile_a_gufunc_at_once_leave_one_that_works(tmp_path):
    (tmp_path / 'doubling.py').write_text(_KERNEL)
    search = os.pathsep.join([str(tmp_path), os.environ.get('PYTHONPATH', '')])
    environment = {**os.environ, 'PYTHONPATH': search, 'NUMBA_CACHE_DIR': str(tmp_path / 'cache')}

    def work(*kinds):
        """Have processes import and call the kernel at the same time; each must end well."""
        processes = [
            subprocess.Popen(
                [sys.executable, '-c', _CALL, kind],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for kind in kinds
        ]
        assert [process.stdout.readline() for process in processes] == ['ready\n'] * len(kinds)
        for process in processes:
            process.stdin.write('\n')
            process.stdin.flush()
        for process in processes:
            output, _ = process.communicate(timeout=60)
            assert (process.returncode, output) == (0, '20.0\n')

    work('prompt', 'late')
    work('prompt')
