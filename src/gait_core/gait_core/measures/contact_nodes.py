# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of contact nodes, points of links with a contact law of their own, over a trial."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import unknown_name_error
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.model import RobotModel
from gait_core.trial.rollout import Rollout


def contact_node_index(robot: RobotModel, name: str) -> int:
    """
    Return the index of a node in ``robot.contact_nodes``.

    ConfigurationError for an unknown name, with the nearest one.
    """
    names = [node.name for node in robot.contact_nodes]
    if name not in names:
        raise unknown_name_error('contact node', name, names)
    return names.index(name)


def contact_node_positions(rollout: Rollout) -> FloatArray:
    """
    Return the position of every contact node at every tick.

    Parameters
    ----------
    rollout : Rollout

    Returns
    -------
    (T + 1, c, 3) array [m]
        In ``odom``, in the order of ``robot.contact_nodes``.

    """
    robot = rollout.robot
    nodes = robot.contact_nodes
    poses = link_poses(robot, rollout.joint_positions, rollout.body_poses)
    frames = poses[:, [robot.link_index[node.link] for node in nodes]]
    points = np.array([node.point for node in nodes]).reshape(-1, 3)
    return np.asarray((frames[..., :3, :3] @ points[:, :, None])[..., 0] + frames[..., :3, 3])
