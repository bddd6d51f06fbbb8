"""The node ``stage_walk``: a walk made of timed stages; by default on the guroo."""

from __future__ import annotations

from collections.abc import Sequence
import sys
from typing import Any

from gait_ros.controller_node import ControllerNode
from gait_ros.run_node import run_node


class StageWalkNode(ControllerNode):
    """Runs a staged walk."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('stage_walk', robot='guroo', controller='staged_walk', **kwargs)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted."""
    return run_node(StageWalkNode, args)


if __name__ == '__main__':
    sys.exit(main())
