# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Soles: their extent and centres of pressure."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.motion.observation import Contacts
from gait_core.robot.model import Leg, RobotModel
from gait_core.robot.shapes import link_points

_SOLE_THICKNESS = 5e-3
"""Height [m] above the lowest point of a foot up to which points belong to its sole."""


def sole_extent(robot: RobotModel, leg: Leg) -> FloatArray:
    """
    Return the extent of a sole about its sole point in the nominal stance.

    Returns
    -------
    (2, 2) array [m]
        Smallest and greatest (x, y); zeros for a link without collision shapes.

    """
    row = robot.link_index[leg.sole]
    pose = link_poses(robot, robot.joint_stance)[row]
    points, radii = link_points(robot.links[row])
    centred = (points - np.array(leg.sole_point)) @ pose[:3, :3].T
    heights = centred[:, 2] - radii
    level = centred[heights <= heights.min(initial=np.inf) + _SOLE_THICKNESS, :2]
    if not len(level):
        return np.zeros((2, 2))
    return np.array([level.min(axis=0), level.max(axis=0)])


def sole_pressure_centres(contacts: Contacts) -> FloatArray:
    """
    Return the mean contact point of each sole, weighted by vertical force, (s, 3) [m].

    Zero for a sole without load.
    """
    centres = np.zeros((len(contacts.soles), 3))
    for row in range(len(contacts.soles)):
        is_own = contacts.sole == row
        weight = contacts.forces[is_own, 2]
        if weight.sum() > 0.0:
            centres[row] = weight @ contacts.points[is_own] / weight.sum()
    return centres
