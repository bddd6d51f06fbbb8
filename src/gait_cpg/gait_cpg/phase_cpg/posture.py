# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pose of the base over the feet by set points: height, attitude and sitting, at bounded rates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.foot_workspace import leg_workspace
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.kinematics.start_pose import nominal_height
from gait_core.robot.inference import rigid_body_heads
from gait_core.robot.model import RobotModel
from gait_core.robot.shapes import link_points

SET_POINTS = ('height', 'roll', 'pitch', 'yaw', 'sit')
"""Height relative to the walk [m], attitude [rad], and 1 to sit down, 0 to stand up."""
_SIT_CLEARANCE = 0.005
"""Height of a sitting base over the ground [m], so that it is not pressed into the ground."""
_FALL_CLEARANCE = 0.05
"""Height of a sitting base above that at which it counts as fallen, over the nominal height."""
_SIT_TIME = 1.5
"""Duration of sitting down and of standing up [s]."""
_TURN_RATE = 0.6
"""Rate of roll, pitch and yaw [rad/s]."""
_HEIGHT_RATE_SHARE = 0.5
"""Rate of the height as a share of the height of the base [1/s]."""


class BodyPosture:
    """
    Motion of the feet in the base frame that gives the base a height and an attitude.

    Parameters
    ----------
    robot : RobotModel
    feet : (L, 3) array [m]
        Feet in the nominal stance, in the base frame.

    Attributes
    ----------
    is_neutral : bool
        Whether the pose is that of the walk; without set points it stays so.
    is_sitting : bool
        Whether the robot sits, sits down or stands up.

    """

    def __init__(self, robot: RobotModel, feet: FloatArray) -> None:
        self._robot = robot
        self._feet_height = float(feet[:, 2].mean())
        self._drop: float | None = None
        self.reset()

    def reset(self) -> None:
        """Return to the pose of the walk."""
        self._now = np.zeros(len(SET_POINTS))
        self.is_neutral, self.is_sitting = True, False

    def move_feet(
        self, dt: float, set_points: Mapping[str, float], feet: FloatArray
    ) -> FloatArray:
        """
        Return the feet of a control period, moved for the pose that set points ask for.

        Parameters
        ----------
        dt : float [s]
            Control period.
        set_points : mapping of str to float
            Some of ``SET_POINTS``; those left out return to zero.
        feet : (L, K, 3) array [m]
            Feet of the walk at K samples, in the base frame.

        """
        target = np.array([set_points.get(name, 0.0) for name in SET_POINTS])
        target[-1] = min(max(target[-1], 0.0), 1.0)
        height_rate = _HEIGHT_RATE_SHARE * abs(self._feet_height)
        max_change = dt * np.array([height_rate, *[_TURN_RATE] * 3, 1.0 / _SIT_TIME])
        before = self._now
        self._now = before + np.clip(target - before, -max_change, max_change)
        self.is_neutral, self.is_sitting = not self._now.any(), bool(self._now[-1] > 0.0)
        # Feet of a walk without set points pass unchanged, to the last bit.
        if self.is_neutral and not before.any():
            return feet
        new_feet = np.empty_like(feet)
        samples = feet.shape[1]
        for k in range(samples):
            height, roll, pitch, yaw, sit = (
                before + (k + 1.0) / samples * (self._now - before)
            ).tolist()
            # Smooth step 3 s^2 - 2 s^3: the base starts and stops without a jump of velocity.
            drop = 0.0 if sit == 0.0 else sit * sit * (3.0 - 2.0 * sit) * self.sit_drop
            rotated = feet[:, k] @ rotation_from_rpy((roll, pitch, yaw))
            new_feet[:, k] = rotated - np.array([0.0, 0.0, height - drop])
        return new_feet

    @property
    def sit_drop(self) -> float:
        """
        Distance by which the base is lowered to sit [m].

        Limited by the ground below the base, by the travel of the legs, and by the height below
        which the robot counts as fallen.
        """
        if self._drop is None:
            leg_travel = [leg_workspace(self._robot, leg.name).up for leg in self._robot.legs]
            limits = [*leg_travel, _base_clearance(self._robot) - _SIT_CLEARANCE]
            if self._robot.fall is not None:
                min_ratio = self._robot.fall.min_height_ratio + _FALL_CLEARANCE
                limits.append((1.0 - min_ratio) * nominal_height(self._robot))
            self._drop = max(0.0, min(limits))
        return self._drop


def _base_clearance(robot: RobotModel) -> float:
    """Return the height of the lowest point of the base over the soles [m]."""
    poses = link_poses(robot, robot.joint_stance)
    heads, root = rigid_body_heads(robot), robot.roots[0]
    lowest = {}
    for row, link in enumerate(robot.links):
        points, radii = link_points(link)
        if len(points):
            heights = points @ poses[row, 2, :3] + poses[row, 2, 3] - radii
            lowest[link.name] = float(heights.min())
    ground = min(lowest.values(), default=0.0)
    base = [low for name, low in lowest.items() if heads[name] == root]
    return min(base, default=0.0) - ground
