# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Entry point of a child process with the arguments ``PARENT_PID MODULE:FUNCTION ARGS``.

It ends when its parent ends.
"""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

from gait_core.processes.orphans import end_with_parent
from gait_ros.nodes.executable import end_process
from gait_ros.nodes.stop import exit_on_signals


def main(arguments: list[str]) -> NoReturn:
    """Run the function of a node and end the process with its exit code."""
    parent, target, *args = arguments
    end_with_parent(int(parent))
    module, _, function = target.partition(':')
    with exit_on_signals():
        entry = getattr(importlib.import_module(module), function)
    end_process(int(entry(args) or 0))


if __name__ == '__main__':
    main(sys.argv[1:])
