"""Soles: their extent, which of them stand, tick by tick, and where the ground carries them."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.measures.metrics import LOADED_SHARE, UNLOADED_SHARE
from gait_core.motion.observation import Contacts
from gait_core.robot.model import Leg, RobotModel
from gait_core.robot.shapes import link_points

_SOLE_THICKNESS = 5e-3
"""Height [m] over its lowest point up to which points belong to the sole."""


def sole_extent(robot: RobotModel, leg: Leg) -> FloatArray:
    """Return the least and greatest (x, y) of a sole about its point in the stance, (2, 2) [m]."""
    row = robot.link_index[leg.sole]
    pose = link_poses(robot, robot.joint_stance)[row]
    points, radii = link_points(robot.links[row])
    placed = (points - np.array(leg.sole_point)) @ pose[:3, :3].T
    heights = placed[:, 2] - radii
    level = placed[heights <= heights.min(initial=np.inf) + _SOLE_THICKNESS, :2]
    if not len(level):
        return np.zeros((2, 2))
    return np.array([level.min(axis=0), level.max(axis=0)])


class SoleContacts:
    """Soles that stand: loaded beyond one share of the weight until below a smaller one."""

    def __init__(self, robot: RobotModel, gravity: float) -> None:
        self._load = robot.mass * (gravity or 1.0)
        self._standing: BoolArray = np.zeros(len(robot.soles), dtype=bool)

    def update(self, contacts: Contacts) -> BoolArray:
        """Take the contacts of one tick and return which soles stand, (s,)."""
        vertical = contacts.sole_forces()[:, 2]
        threshold = np.where(self._standing, UNLOADED_SHARE, LOADED_SHARE) * self._load
        self._standing = vertical > threshold
        return self._standing


def sole_pressure_centres(contacts: Contacts) -> FloatArray:
    """Return each sole's contact points weighted by vertical force, (s, 3) [m]; zero without."""
    centres = np.zeros((len(contacts.soles), 3))
    for row in range(len(contacts.soles)):
        mine = contacts.sole == row
        weight = contacts.forces[mine, 2]
        if weight.sum() > 0.0:
            centres[row] = weight @ contacts.points[mine] / weight.sum()
    return centres
