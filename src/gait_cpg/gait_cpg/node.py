# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``cpg``: a pattern generator on a robot; by default phase oscillators on the a1."""

from __future__ import annotations

import sys

if __name__ == '__main__':
    # A signal ends the imports below without a traceback.
    from gait_cpg.executables import cpg_node

    sys.exit(cpg_node())

from collections.abc import Sequence
from typing import Any

from gait_ros.live.node import ControllerNode
from gait_ros.nodes.run import run_node


class CpgNode(ControllerNode):
    """Node that runs a central pattern generator."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('cpg', robot='a1', controller='phase_cpg', **kwargs)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted."""
    return run_node(CpgNode, args)
