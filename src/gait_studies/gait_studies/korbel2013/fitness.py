# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Fitness terms of Korbel (2013), Eq. 10 and Table 7: distance and straightness of a crawling spine.

Terms are in inches as in the thesis, whose stopping rule is a gain in inches. Nodes 1 and 2 are
the lower corners of the rear tetrahedron, node 3 is the tip of the front one.
"""

from __future__ import annotations

import numpy as np
from scipy.constants import inch
from scipy.spatial.transform import Rotation

from gait_core.arrays import FloatArray
from gait_core.measures.contact_nodes import contact_node_index
from gait_core.trial.rollout import Rollout

UNSCORED_TIME = 3.0
"""Time from which the distance counts [s]; by then the oscillators are periodic."""

NODE_1, NODE_2, NODE_3 = 't1_a', 't1_b', 't5_d'


def korbel2013_forward(rollout: Rollout) -> float:
    """Return the distance of node 1 along x from 3 s to the end [in], Eq. 10."""
    begin = min(round(UNSCORED_TIME / rollout.dt), rollout.ticks)
    return float(
        (_node_position(rollout, NODE_1, -1)[0] - _node_position(rollout, NODE_1, begin)[0]) / inch
    )


def korbel2013_twist(rollout: Rollout) -> float:
    """Return the difference of the x of nodes 1 and 2 at the end [in], >= 0, Eq. 10."""
    return float(
        abs(_node_position(rollout, NODE_1, -1)[0] - _node_position(rollout, NODE_2, -1)[0]) / inch
    )


def korbel2013_direction(rollout: Rollout) -> float:
    """Return the distance of node 3 ahead of node 1 at the end [in]; weight 0 in Eq. 10."""
    return float(
        (_node_position(rollout, NODE_3, -1)[0] - _node_position(rollout, NODE_1, -1)[0]) / inch
    )


def korbel2013_travel(rollout: Rollout) -> float:
    """Return the distance of node 1 along x over the whole trial [in]; for comparison."""
    return float(
        (_node_position(rollout, NODE_1, -1)[0] - _node_position(rollout, NODE_1, 0)[0]) / inch
    )


def korbel2013_lateral(rollout: Rollout) -> float:
    """Return the sideways distance of node 1 from its start at the end [in], >= 0, Eq. 10."""
    return float(
        abs(_node_position(rollout, NODE_1, -1)[1] - _node_position(rollout, NODE_1, 0)[1]) / inch
    )


def _node_position(rollout: Rollout, name: str, tick: int) -> FloatArray:
    """Return the position of a contact node at a tick, (3,) [m]."""
    robot = rollout.robot
    node = robot.contact_nodes[contact_node_index(robot, name)]
    pose = rollout.body_poses[tick, robot.roots.index(node.link)]
    return np.asarray(pose[:3] + Rotation.from_quat(pose[3:]).apply(node.point))
