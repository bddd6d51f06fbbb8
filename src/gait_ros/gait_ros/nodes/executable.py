# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start of the executable of a node, which a signal ends at once while modules are imported."""

from __future__ import annotations

from collections.abc import Sequence
import importlib

from gait_ros.nodes.stop import exit_on_signals


def run_module(name: str, args: Sequence[str] | None = None) -> int:
    """Import a module and return the exit code of its ``main``, called with ``args``."""
    with exit_on_signals():
        module = importlib.import_module(name)
    return int(module.main(args))
