"""
Run pytest over every package and the cross-package tests: what `make test` runs.

Each run gets a ROS domain of its own, so that two runs on one machine do not hear each other,
and a log directory of its own, so that nothing is left in the home directory. Arguments go to
pytest; paths among them replace the default ones.
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile

from gait_core.errors import ConfigurationError
from gait_core.testing_domain import own_domain

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Run pytest and return its exit code."""
    try:
        own_domain()
    except ConfigurationError as error:
        raise SystemExit(f'run_tests: {error}') from error
    paths = [argument for argument in arguments if Path(argument.split('::')[0]).exists()]
    if not paths:
        tests = [*sorted(ROOT.glob('src/*/test')), ROOT / 'test']
        arguments = [*arguments, *(str(path.relative_to(ROOT)) for path in tests)]
    # Each skipped test is named, whatever skips it.
    shown = ['-q', '-rfEs', '--no-fold-skipped', '--durations=10']
    command = [sys.executable, '-m', 'pytest', *shown, *arguments]
    with tempfile.TemporaryDirectory(prefix='gait-test-') as logs:
        env = {'ROS_LOG_DIR': logs, **os.environ}
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
