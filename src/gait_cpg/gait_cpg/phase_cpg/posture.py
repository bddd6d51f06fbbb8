"""The body over its feet: height, attitude, and sitting down, at bounded rates."""

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
"""Height [m] over that of the walk, attitude [rad], and 1 to sit down, 0 to stand."""
_SIT_CLEARANCE = 0.005
"""Height [m] at which a sitting body ends over the ground: it is not pressed into it."""
_FALL_MARGIN = 0.05
"""Share of its height by which a sitting body stays above where it counts as fallen."""
_SIT_TIME = 1.5
"""In which a robot sits down or stands up [s]."""
_TURN_RATE = 0.6
"""Of roll, pitch and yaw [rad/s]."""
_HEIGHT_RATE_SHARE = 0.5
"""Of the height of the body by which a set point moves it in a second."""


class BodyPosture:
    """
    Moves feet, in the base frame, so that the body takes a height and an attitude over them.

    Parameters
    ----------
    robot : RobotModel
    feet : (L, 3) array [m]
        In the nominal stance.

    Attributes
    ----------
    upright : bool
        Whether the feet are where the walk has them; without set points they stay there.
    sitting : bool
        Whether the body is lower than to walk.

    """

    def __init__(self, robot: RobotModel, feet: FloatArray) -> None:
        self._robot = robot
        self._level = float(feet[:, 2].mean())
        self._drop: float | None = None
        self.reset()

    def reset(self) -> None:
        """Stand upright at the height of the walk."""
        self._now = np.zeros(len(SET_POINTS))
        self.is_neutral, self.is_sitting = True, False

    def move_feet(
        self, dt: float, set_points: Mapping[str, float], feet: FloatArray
    ) -> FloatArray:
        """
        Return the feet of a control period under the body that set points ask for.

        Parameters
        ----------
        dt : float [s]
        set_points : mapping of str to float
            Any of ``SET_POINTS``; what is not named goes back to zero.
        feet : (L, K, 3) array [m]
            As the walk wants them at K samples.

        """
        wanted = np.array([set_points.get(name, 0.0) for name in SET_POINTS])
        wanted[-1] = min(max(wanted[-1], 0.0), 1.0)
        lift = _HEIGHT_RATE_SHARE * abs(self._level)
        max_change = dt * np.array([lift, _TURN_RATE, _TURN_RATE, _TURN_RATE, 1.0 / _SIT_TIME])
        before = self._now
        self._now = before + np.clip(wanted - before, -max_change, max_change)
        self.is_neutral, self.is_sitting = not self._now.any(), bool(self._now[-1] > 0.0)
        if self.is_neutral and not before.any():
            return feet
        moved = np.empty_like(feet)
        samples = feet.shape[1]
        for k in range(samples):
            height, roll, pitch, yaw, sit = (
                before + (k + 1.0) / samples * (self._now - before)
            ).tolist()
            drop = 0.0 if sit == 0.0 else sit * sit * (3.0 - 2.0 * sit) * self.sit_drop
            turned = feet[:, k] @ rotation_from_rpy((roll, pitch, yaw))
            moved[:, k] = turned - np.array([0.0, 0.0, height - drop])
        return moved

    @property
    def sit_drop(self) -> float:
        """
        By how much the body can be lowered [m].

        Until it lies on the ground, legs end, or it would count as fallen.
        """
        if self._drop is None:
            leg_travel = [leg_workspace(self._robot, leg.name).up for leg in self._robot.legs]
            limits = [*leg_travel, _body_clearance(self._robot) - _SIT_CLEARANCE]
            if self._robot.fall is not None:
                min_ratio = self._robot.fall.min_height_ratio + _FALL_MARGIN
                limits.append((1.0 - min_ratio) * nominal_height(self._robot))
            self._drop = max(0.0, min(limits))
        return self._drop


def _body_clearance(robot: RobotModel) -> float:
    """Return the height of the lowest point of the root's body over that of the soles [m]."""
    poses = link_poses(robot, robot.joint_stance)
    heads, root = rigid_body_heads(robot), robot.roots[0]
    lowest = {}
    for row, link in enumerate(robot.links):
        points, radii = link_points(link)
        if len(points):
            heights = points @ poses[row, 2, :3] + poses[row, 2, 3] - radii
            lowest[link.name] = float(heights.min())
    ground = min(lowest.values(), default=0.0)
    body = [low for name, low in lowest.items() if heads[name] == root]
    return min(body, default=0.0) - ground
