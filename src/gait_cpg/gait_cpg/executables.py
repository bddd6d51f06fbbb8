# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Executable of the package, which imports slow modules after it catches signals."""

from __future__ import annotations

from collections.abc import Sequence

from gait_ros.nodes.executable import run_module


def cpg_node(args: Sequence[str] | None = None) -> int:
    """Run the node ``cpg`` and return its exit code."""
    return run_module('gait_cpg.node', args)
