"""Which soles stand, tick by tick, and where the ground carries them."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.metrics import LOADED, UNLOADED
from gait_core.observation import Contacts
from gait_core.robot.model import RobotModel


class SoleContacts:
    """Which soles stand: loaded beyond one share of the weight until below a smaller one."""

    def __init__(self, robot: RobotModel, gravity: float) -> None:
        self._load = robot.mass * (gravity or 1.0)
        self._standing: BoolArray = np.zeros(len(robot.soles), dtype=bool)

    def update(self, contacts: Contacts) -> BoolArray:
        """Take the contacts of one tick and return which soles stand, (s,)."""
        vertical = contacts.sole_forces()[:, 2]
        threshold = np.where(self._standing, UNLOADED, LOADED) * self._load
        self._standing = vertical > threshold
        return self._standing


def sole_centres(contacts: Contacts) -> FloatArray:
    """Return each sole's contact points weighted by vertical force, (s, 3) [m]; zero without."""
    centres = np.zeros((len(contacts.soles), 3))
    for row in range(len(contacts.soles)):
        mine = contacts.sole == row
        weight = contacts.forces[mine, 2]
        if weight.sum() > 0.0:
            centres[row] = weight @ contacts.points[mine] / weight.sum()
    return centres
