# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Mutation test of an area: `tools/mutation.py AREA`, after `pip install cosmic-ray==8.7.0`.

Cosmic Ray changes one place of a module, and the tests of the area should fail. It has no seeded
sample, so that is drawn here: `count` places of the area's modules, and one change at each. The
modules of this workspace are changed while it runs; nothing else may use it meanwhile.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
import os
from pathlib import Path
import re
import resource
import signal
import sys
import tempfile
import time

from hypothesis import HealthCheck, settings
from mutants import ROOT, Mutant, draw_mutants
from mutation_areas import AREAS
import numba
import pytest
import rclpy  # noqa: F401  # Imported once here, and not once per mutant.
import scipy.spatial.transform  # noqa: F401

MAX_CPU, TIMEOUT = 60, 300.0
"""Processor time and time [s] after which a mutant counts as caught, by 'timeout'."""


def run_tests(tests: Sequence[str], compiles: bool) -> str:
    """Return the first test that fails, 'timeout', or '' if all pass, in a forked process."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report'
        child = os.fork()
        if child == 0:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU))
            sys.dont_write_bytecode = True
            os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
            if compiles:
                # Kernels that call a changed one are compiled anew too.
                numba.config.CACHE_DIR = os.environ['NUMBA_CACHE_DIR'] = folder
                numba.config.OPT = type(numba.config.OPT)(0)
            with report.open('w') as out, redirect_stdout(out), redirect_stderr(out):
                code = pytest.main(['-x', '-q', '-p', 'no:cacheprovider', *tests])
            os._exit(int(code))
        end = time.monotonic() + TIMEOUT
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
            time.sleep(0.05)
        if ended[0] == 0:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return 'timeout'
        if ended[1] == 0:
            return ''
        if os.WIFSIGNALED(ended[1]):
            return signal.Signals(os.WTERMSIG(ended[1])).name
        failed = re.findall(r'^(?:FAILED|ERROR) (.+)', report.read_text(), re.MULTILINE)
        return failed[0] if failed else report.read_text()[-300:]


def try_mutant(mutant: Mutant) -> str:
    """Return the test that fails with a mutant; '' if it survives."""
    original = mutant.path.read_text()
    try:
        mutant.path.write_text(mutant.text)
        return run_tests(mutant.tests, mutant.compiles)
    finally:
        mutant.path.write_text(original)


def main(arguments: Sequence[str] | None = None) -> int:
    """Test a sample of mutants of an area and print each; return 1 if under 85 % are caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('area', choices=AREAS)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--only', type=int, nargs='*', help='numbers of the mutants to test')
    options = parser.parse_args(arguments)
    # A test fails by what it finds, the same each time, and not by the speed of the machine.
    settings.register_profile(
        'mutation', derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile('mutation')
    # The module is put back however the process is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.chdir(ROOT)
    mutants = list(enumerate(draw_mutants(options.area, options.seed, options.count)))
    if options.only is not None:
        mutants = [mutants[i] for i in options.only]
    for tests, compiles in sorted({(one.tests, one.compiles) for _, one in mutants}):
        if failed := run_tests(tests, compiles):
            sys.exit(f'{failed} fails without a mutant')
    caught = 0
    for i, mutant in mutants:
        killer = try_mutant(mutant)
        caught += bool(killer)
        was = mutant.path.read_text().splitlines()
        now = mutant.text.splitlines()
        changed = [b.strip() for a, b in zip(was, now, strict=False) if a != b][:1]
        print(
            f'{i:3d} {"caught" if killer else "SURVIVED"} '
            f'{mutant.path.relative_to(ROOT / "src")}:{mutant.line} {mutant.operator}\n'
            f'      {was[mutant.line - 1].strip()}\n      {" ".join(changed)}\n      {killer}',
            flush=True,
        )
    print(f'{options.area}: {caught} of {len(mutants)} mutants caught')
    return int(caught < 0.85 * len(mutants))


if __name__ == '__main__':
    sys.exit(main())
