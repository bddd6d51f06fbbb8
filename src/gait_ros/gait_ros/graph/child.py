# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Entry point of a child process with the arguments ``PARENT_PID MODULE:FUNCTION ARGS``.

It ends when its parent ends.
"""

from __future__ import annotations

import importlib
import sys

from gait_core.processes.orphans import end_with_parent
from gait_ros.nodes.stop import exit_on_signals


def main(arguments: list[str]) -> int:
    """Run the function of a node and return its exit code."""
    parent, target, *args = arguments
    end_with_parent(int(parent))
    module, _, function = target.partition(':')
    with exit_on_signals():
        entry = getattr(importlib.import_module(module), function)
    return int(entry(args) or 0)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
