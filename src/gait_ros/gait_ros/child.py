"""
What a process started by ``gait_ros.processes`` runs first: ``PARENT_PID MODULE:FUNCTION ARGS``.

Signals are caught before anything slow is imported, and the process ends with its parent however
that ends.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys

from gait_ros.stop import ignore_signals, stop_on_signals

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Ask Linux for a SIGTERM when the parent ends; exit at once if it has ended already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(0)


def main(arguments: list[str]) -> int:
    """Become a node."""
    parent, target, *args = arguments
    stop = stop_on_signals()
    end_with_parent(int(parent))
    module, _, function = target.partition(':')
    entry = getattr(importlib.import_module(module), function)
    if stop:
        ignore_signals()
        return 0
    return int(entry(args) or 0)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
