"""
Run pytest over every package and the cross-package tests: what `make test` runs.

Each run gets a ROS domain of its own, so that two runs on one machine do not hear each other,
and a log directory of its own, so that nothing is left in the home directory. Arguments go to
pytest; paths among them replace the default ones.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import subprocess
import sys
import tempfile

ROOT = Path(__file__).resolve().parents[1]
# Domains above 101 collide with Linux' ephemeral ports; 0 is everybody's default.
DOMAINS = range(1, 102)


def claim_domain() -> tuple[int, int]:
    """Return a domain no other run on this machine holds, and the lock that holds it."""
    start = os.getpid() % len(DOMAINS)
    for domain in [*DOMAINS[start:], *DOMAINS[:start]]:
        path = Path(tempfile.gettempdir()) / f'gait-domain-{os.getuid()}-{domain}.lock'
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            continue
        return domain, lock
    raise SystemExit('run_tests: every ROS domain from 1 to 101 is in use by other runs')


def main(arguments: list[str]) -> int:
    """Run pytest and return its exit code."""
    env = dict(os.environ)
    if 'ROS_DOMAIN_ID' not in env:
        domain, _ = claim_domain()
        env['ROS_DOMAIN_ID'] = str(domain)
    paths = [argument for argument in arguments if Path(argument.split('::')[0]).exists()]
    if not paths:
        tests = [*sorted(ROOT.glob('src/*/test')), ROOT / 'test']
        arguments = [*arguments, *(str(path.relative_to(ROOT)) for path in tests)]
    # Each skipped test is named, whatever skips it.
    shown = ['-q', '-rfEs', '--no-fold-skipped', '--durations=10']
    command = [sys.executable, '-m', 'pytest', *shown, *arguments]
    with tempfile.TemporaryDirectory(prefix='gait-test-') as logs:
        env.setdefault('ROS_LOG_DIR', logs)
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
