# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Program that talks to Ray: it creates actors, passes trials to them and reports what happens.

It consists of two processes. The guard holds no library; it ends the driver, and every process
that Ray started here, when the evaluator closes the socket or dies. Messages are JSON lists that
begin with their kind.

To the driver: ``start`` a worker, ``check`` it, ``run`` a trial on it, ``stop`` it.
From it: ``up`` with the workers that fit into the cluster, ``refused`` by the cluster, ``head``
does not answer, a worker's ``started``, ``checked``, ``pulse``, ``answer`` or ``lost``.
"""

from __future__ import annotations

from contextlib import suppress
import ctypes
import os
from pathlib import Path
import select
import shutil
import signal
import socket
import sys
import time

from gait_core.processes.orphans import end_with_parent

_PR_SET_CHILD_SUBREAPER = 36
_POLL_TIME = 200
_GRACE = 2.0


def main() -> int:
    """Fork into guard and driver."""
    descriptor, folder, workers, address = sys.argv[1:]
    channel = socket.socket(fileno=int(descriptor))
    channel.set_inheritable(False)
    # Processes whose parent has died become children of the guard, which finds them so.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    guard = os.getpid()
    driver = os.fork()
    if driver == 0:
        end_with_parent(guard)
        from gait_evolver.evaluators.ray_actors import serve

        serve(channel, Path(folder), int(workers), address)
        return 0
    _guard(channel, driver, _GRACE if address else 0.0)
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _guard(channel: socket.socket, driver: int, grace: float) -> None:
    """
    Wait for the end of the driver or of the evaluator, then end all descendants.

    ``grace`` [s] is the time for the driver to leave a cluster after the end of the evaluator.
    """
    poll = select.poll()
    poll.register(channel.fileno(), select.POLLRDHUP)
    while not poll.poll(_POLL_TIME):
        if _reap(driver):
            break
    else:
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and not _reap(driver):
            time.sleep(0.05)
    while children := _children(os.getpid()):
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap(driver)
        time.sleep(0.02)


def _reap(driver: int) -> bool:
    """Collect ended children; return whether the driver is one of them."""
    found = False
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            found |= pid == driver
    except ChildProcessError:
        return True
    return found


def _children(parent: int) -> list[int]:
    """Return the process ids of all descendants, ended ones that are not collected included."""
    parents: dict[int, int] = {}
    for entry in Path('/proc').iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / 'stat').read_text(errors='replace').rpartition(')')[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found, front = [], [parent]
    while front:
        front = [pid for pid, above in parents.items() if above in front]
        found += front
    return found


if __name__ == '__main__':
    sys.exit(main())
