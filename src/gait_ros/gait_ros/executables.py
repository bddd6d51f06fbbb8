# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Executables of the package, which import slow modules after they catch signals."""

from __future__ import annotations

from collections.abc import Sequence

from gait_ros.nodes.executable import run_module


def controller_node(args: Sequence[str] | None = None) -> int:
    """Run the node ``controller`` and return its exit code."""
    return run_module('gait_ros.live.node', args)


def hardware_node(args: Sequence[str] | None = None) -> int:
    """Run the node ``hardware`` and return its exit code."""
    return run_module('gait_ros.hardware.node', args)


def waypoints_node(args: Sequence[str] | None = None) -> int:
    """Run the node ``waypoints`` and return its exit code."""
    return run_module('gait_ros.live.waypoints_node', args)
