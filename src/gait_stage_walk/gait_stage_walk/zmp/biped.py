# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Biped model of the ZMP walk: soles, nominal stance, mass, and whole-body kinematics."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, point_position
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.kinematics.sole_contacts import sole_extent
from gait_core.robot.model import Leg, RobotModel

MIN_JOINTS = 5
MIN_SOLE = 0.02
"""Smallest length and width of a sole on which a robot can balance [m]."""
_TOLERANCE = 1e-3
_IK_ITERATIONS = 2
"""
Iterations of the fixed point of the centre of mass.

A shift of the base shifts the mass of the legs by a share of it; the error after two iterations is
micrometres.
"""


class Biped:
    """
    Robot on two legs in its nominal stance; the left leg first, then the right one.

    Attributes
    ----------
    names : (n,) tuple of str
        Joints of the left leg, then of the right one.
    leg_names : (str, str)
    columns : (n,) int array
        Indices of the joints in the robot.
    stance : (n,) array [rad or m]
        Nominal stance.
    feet : (2, 3) array [m]
        Reference points of the soles in the base frame.
    sole_rotations : (2, 3, 3) array
        Orientations of the sole links in the base frame.
    soles : (2, 2, 2) array [m]
        Smallest and largest (x, y) of each sole relative to its reference point.
    height : float [m]
        Height of the base over the soles.
    half_width : float [m]
        Half the distance of the feet.
    com : (3,) array [m]
        Centre of mass in the base frame.

    Raises
    ------
    ConfigurationError
        If the robot has not two legs of five joints, with soles side by side.

    """

    def __init__(self, robot: RobotModel, controller: str) -> None:
        legs = sorted(
            _two_legs(robot, controller),
            key=lambda leg: -float(point_position(robot, robot.joint_stance, leg.sole)[1]),
        )
        self.robot = robot
        self.leg_names = (legs[0].name, legs[1].name)
        self.names = (*legs[0].joints, *legs[1].joints)
        self.columns = np.array([robot.joint_index[name] for name in self.names])
        self.stance: FloatArray = robot.joint_stance[self.columns]
        self._legs = [LegKinematics(robot, name) for name in self.leg_names]
        self._starts = np.split(self.stance, [len(legs[0].joints)])
        poses = [leg.forward(start) for leg, start in zip(self._legs, self._starts, strict=True)]
        self.feet = np.array([point for point, _ in poses])
        self.sole_rotations = np.array([rotation for _, rotation in poses])
        self.height = -float(self.feet[:, 2].mean())
        self.half_width = 0.5 * float(self.feet[0, 1] - self.feet[1, 1])
        self.com = com_positions(robot, robot.joint_stance)
        self.soles = np.array([_sole_extent(robot, leg, controller) for leg in legs])
        if self.half_width < _TOLERANCE:
            raise ConfigurationError(
                f"controller '{controller}': the left foot of robot '{robot.name}' is not to the "
                f'left of the right one (distance {2e3 * self.half_width:.0f} mm); correct its '
                'nominal stance'
            )

    def solve(self, feet: FloatArray) -> tuple[FloatArray, float]:
        """
        Return the joints, (n,), for level soles at given points, and the position error [m].

        Parameters
        ----------
        feet : (2, 3) array [m]
            Reference points of the soles in the base frame.

        """
        solutions = [
            leg.solve(foot, rotation, start)
            for leg, foot, rotation, start in zip(
                self._legs, feet, self.sole_rotations, self._starts, strict=True
            )
        ]
        error = max(solution.position_error for solution in solutions)
        return np.concatenate([solution.positions for solution in solutions]), error

    def max_height(self) -> float:
        """Return the largest height of the base over level soles below it, to a millimetre [m]."""
        low, high = 0.0, 0.5 * max(leg.length for leg in self._legs)
        while high - low > _TOLERANCE:
            middle = 0.5 * (low + high)
            _, error = self.solve(self.feet - (0.0, 0.0, middle))
            low, high = (middle, high) if error < _TOLERANCE else (low, middle)
        return self.height + low


def _two_legs(robot: RobotModel, controller: str) -> Sequence[Leg]:
    """Return the legs of a robot; ConfigurationError unless there are two of enough joints."""
    if len(robot.legs) != 2:
        raise ConfigurationError(
            f"controller '{controller}' needs 2 legs, robot '{robot.name}' has {len(robot.legs)}"
        )
    short = [leg for leg in robot.legs if len(leg.joints) < MIN_JOINTS]
    if short:
        raise ConfigurationError(
            f"controller '{controller}' needs legs of {MIN_JOINTS} joints, leg "
            f"'{short[0].name}' of robot '{robot.name}' has {len(short[0].joints)}"
        )
    return robot.legs


def _sole_extent(robot: RobotModel, leg: Leg, controller: str) -> FloatArray:
    """Return the extent of a sole, (2, 2) [m]; ConfigurationError if it is too small."""
    extent = sole_extent(robot, leg)
    length, width = (extent[1] - extent[0]).tolist()
    if min(length, width) < MIN_SOLE:
        raise ConfigurationError(
            f"controller '{controller}' needs soles of {1e3 * MIN_SOLE:.0f} x "
            f"{1e3 * MIN_SOLE:.0f} mm, that of leg '{leg.name}' of robot '{robot.name}' is "
            f'{1e3 * length:.0f} x {1e3 * width:.0f} mm'
        )
    return extent


class WholeBodyIk:
    """
    Inverse kinematics of both legs below an upright body with a given centre of mass.

    Parameters
    ----------
    biped : Biped

    Attributes
    ----------
    base : (4,) array
        x, y, z [m] and yaw [rad] of the base in the last solution.

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
        """Return to the nominal stance."""
        for leg in self._legs:
            leg.reset()
        self._joints[:] = self._biped.stance
        self._all[:] = self._biped.robot.joint_stance
        self._com[:] = self._biped.com[:2]
        self.base[:] = 0.0

    def solve_joints(
        self, com: FloatArray, height: float, feet: FloatArray, soles: FloatArray
    ) -> FloatArray:
        """
        Return the joints of both legs, (n,) [rad or m]; valid until the next call.

        Feet out of reach are missed by as little as possible.

        Parameters
        ----------
        com : (2,) array [m]
            Centre of mass of the whole robot.
        height : float [m]
            Height of the base over the ground; its yaw is the mean of the feet.
        feet : (2, 4) array
            x, y, z [m] and yaw [rad] of the soles.
        soles : (2, 3, 3) array
            Rotation of each sole away from level, in the base frame.

        """
        yaw = 0.5 * (feet[0, 3] + feet[1, 3])
        c, s = math.cos(yaw), math.sin(yaw)
        # Fixed point: put the base where the last centre of mass in its frame meets the wanted
        # one, solve the legs, and compute the centre of mass again.
        for _ in range(_IK_ITERATIONS):
            x = com[0] - c * self._com[0] + s * self._com[1]
            y = com[1] - s * self._com[0] - c * self._com[1]
            for i, leg in enumerate(self._legs):
                ahead, left = feet[i, 0] - x, feet[i, 1] - y
                foot = (c * ahead + s * left, c * left - s * ahead, feet[i, 2] - height)
                rotation = (
                    soles[i] @ _yaw_rotation(feet[i, 3] - yaw) @ self._biped.sole_rotations[i]
                )
                self._joints[self._rows[i]] = leg.solve(foot, rotation).positions
            self._all[self._biped.columns] = self._joints
            self._com[:] = com_positions(self._biped.robot, self._all)[:2]
        self.base[:] = (x, y, height, yaw)
        return self._joints


def _yaw_rotation(angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
