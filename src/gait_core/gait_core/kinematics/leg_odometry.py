"""Odometry of legs: how the base moved, from joint angles and which feet stand."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.kinematics.frames import rpy_from_rotation
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel


class LegOdometry:
    """
    Adds up how feet that stand move under the base: they stay, so the base moves.

    Which feet stand says whoever calls, contacts refine it where they are seen. Roll and pitch
    come from the IMU, without one the body counts as level; so does the change of yaw, without one
    it is that of the feet that stand (two at least). The way of a ball foot that rolls is not
    seen: of a ball of radius r and a leg of length l it falls short by about r / l.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names, in the order in which ``update`` is told who stands.

    Attributes
    ----------
    pose : (3,) array [m, m, rad]
        x, y, yaw since ``reset``, in the frame of the base then.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self._legs = [LegKinematics(robot, name) for name in legs]
        self._names = robot.joint_names
        self._columns = [leg.columns for leg in self._legs]
        self._soles = [robot.soles.index(robot.leg(name).sole) for name in legs]
        self.reset()

    def reset(self) -> None:
        """Begin again at the origin."""
        self.pose: FloatArray = np.zeros(3)
        self._feet: FloatArray | None = None
        self._down: BoolArray = np.zeros(len(self._legs), dtype=bool)
        self._yaw: float | None = None

    def update(self, stance: BoolArray, seen: Observation) -> FloatArray:
        """
        Return the pose after one more observation.

        While no foot stands, or joint positions are missing, it is held.

        Parameters
        ----------
        stance : (L,) bool array
            Which feet are meant to stand.
        seen : Observation

        """
        if seen.joint_positions is None:
            return self.pose
        tilt, yaw = _tilt_and_yaw(seen)
        joints = seen.joint_positions
        feet = np.array(
            [
                leg.forward(joints[columns])[0]
                for leg, columns in zip(self._legs, self._columns, strict=True)
            ]
        )
        feet = (feet @ tilt.T)[:, :2]
        down = np.array(stance, dtype=bool)
        if seen.contacts is not None:
            down &= seen.contacts.in_contact()[self._soles]
        both = down & self._down
        if self._feet is not None and both.any():
            self._advance(self._feet[both], feet[both], yaw)
        self._feet, self._down, self._yaw = feet, down, yaw
        return self.pose

    def _advance(self, before: FloatArray, now: FloatArray, yaw: float | None) -> None:
        middle, was = now.mean(axis=0), before.mean(axis=0)
        if yaw is not None and self._yaw is not None:
            turn = math.remainder(yaw - self._yaw, 2.0 * math.pi)
        else:
            a, b = before - was, now - middle
            # The rotation that lays the feet of now onto those of before, in the base frame.
            turn = math.atan2(
                float(np.sum(b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0])), float(np.sum(a * b))
            )
        way = was - _rotate_in_plane(middle, turn)
        self.pose = self.pose + np.array([*_rotate_in_plane(way, float(self.pose[2])), turn])


def _tilt_and_yaw(seen: Observation) -> tuple[FloatArray, float | None]:
    """Return the turn that levels the base frame, (3, 3), and its yaw, where an IMU tells."""
    if seen.imu is None:
        return np.eye(3), None
    x, y, z, w = seen.imu.orientation.tolist()
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    yaw = rpy_from_rotation(turn)[2]
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ turn, yaw


def _rotate_in_plane(point: FloatArray, angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])
