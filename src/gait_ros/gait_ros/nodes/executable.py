# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start and end of the executable of a node: a signal ends it at once while it imports modules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import importlib
import os
import sys
from typing import NoReturn

from gait_ros.nodes.stop import exit_on_signals


def run_module(name: str, args: Sequence[str] | None = None) -> NoReturn:
    """Import a module, call its ``main`` with ``args``, and end the process with its exit code."""
    with exit_on_signals():
        module = importlib.import_module(name)
    end_process(int(module.main(args)))


def end_process(code: int) -> NoReturn:
    """End the process at once: the interpreter needs seconds to take compiled kernels down."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
