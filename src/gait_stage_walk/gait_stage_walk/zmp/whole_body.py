"""From a centre of mass and two feet to the joints of both legs."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.body import com_positions
from gait_core.kinematics.leg_ik import LegKinematics
from gait_stage_walk.zmp.biped import Biped

_ROUNDS = 2
"""Moving the body moves the legs' mass by a share of it; what a second round leaves is microns."""


class WholeBody:
    """
    Places an upright body so that the centre of mass is where it is wanted, on both legs.

    Parameters
    ----------
    biped : Biped

    Attributes
    ----------
    base : (4,) array
        x, y, z [m] and yaw [rad] of the base as last placed.

    """

    def __init__(self, biped: Biped) -> None:
        self._biped = biped
        self._legs = [LegKinematics(biped.robot, name) for name in biped.leg_names]
        first = len(self._legs[0].joint_names)
        self._rows = (slice(0, first), slice(first, len(biped.names)))
        self._joints: FloatArray = np.zeros(len(biped.names))
        self._all: FloatArray = np.zeros(len(biped.robot.joint_names))
        self._com: FloatArray = np.zeros(2)
        self.base: FloatArray = np.zeros(4)
        self.reset()

    def reset(self) -> None:
        """Stand in the nominal stance."""
        for leg in self._legs:
            leg.reset()
        self._joints[:] = self._biped.stance
        self._all[:] = self._biped.robot.joint_stance
        self._com[:] = self._biped.com[:2]
        self.base[:] = 0.0

    def place(
        self, com: FloatArray, height: float, feet: FloatArray, soles: FloatArray
    ) -> FloatArray:
        """
        Return the joints of both legs, (n,) [rad or m]; valid until the next call.

        What legs cannot reach they miss by as little as they can.

        Parameters
        ----------
        com : (2,) array [m]
            Wanted of the whole robot.
        height : float [m]
            Of the base over the ground; the base faces between the feet.
        feet : (2, 4) array
            x, y, z [m] and yaw [rad] of the soles.
        soles : (2, 3, 3) array
            Turn of each sole away from level, in the frame of the base.

        """
        yaw = 0.5 * (feet[0, 3] + feet[1, 3])
        c, s = math.cos(yaw), math.sin(yaw)
        for _ in range(_ROUNDS):
            x = com[0] - c * self._com[0] + s * self._com[1]
            y = com[1] - s * self._com[0] - c * self._com[1]
            for i, leg in enumerate(self._legs):
                ahead, left = feet[i, 0] - x, feet[i, 1] - y
                place = (c * ahead + s * left, c * left - s * ahead, feet[i, 2] - height)
                turn = soles[i] @ _about_z(feet[i, 3] - yaw) @ self._biped.turns[i]
                self._joints[self._rows[i]] = leg.solve(place, turn).positions
            self._all[self._biped.columns] = self._joints
            self._com[:] = com_positions(self._biped.robot, self._all)[:2]
        self.base[:] = (x, y, height, yaw)
        return self._joints


def _about_z(angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
