# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leg odometry: motion of the base from joint positions and feet in stance."""

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
    Pose of the base in the plane, integrated from the motion of feet in stance.

    A foot in stance is taken as fixed to the ground, so its motion in the base frame is that of
    the base, reversed. The caller names the feet in stance; measured contacts, where available,
    exclude those without load. Roll, pitch and changes of yaw come from the IMU. Without one the
    base counts as level, and the turn is that of at least two feet in stance.

    The rolling of a ball foot is not measured: with a ball of radius r on a leg of length l the
    distance comes out short by about r / l.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names, in the order of the argument ``stance`` of ``update``.

    Attributes
    ----------
    pose : (3,) array [m, m, rad]
        x, y, yaw since ``reset``, in the frame of the base at that time.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self._legs = [LegKinematics(robot, name) for name in legs]
        self._names = robot.joint_names
        self._columns = [leg.columns for leg in self._legs]
        self._soles = [robot.soles.index(robot.leg(name).sole) for name in legs]
        self.reset()

    def reset(self) -> None:
        """Set the pose to the origin."""
        self.pose: FloatArray = np.zeros(3)
        self._feet: FloatArray | None = None
        self._down: BoolArray = np.zeros(len(self._legs), dtype=bool)
        self._yaw: float | None = None

    def update(self, stance: BoolArray, observation: Observation) -> FloatArray:
        """
        Return the pose after one more observation.

        Without a foot in stance, or without joint positions, the pose stays.

        Parameters
        ----------
        stance : (L,) bool array
            Feet that are meant to be in stance.
        observation : Observation

        """
        if observation.joint_positions is None:
            return self.pose
        tilt, yaw = _tilt_and_yaw(observation)
        joints = observation.joint_positions
        feet = np.array(
            [
                leg.forward(joints[columns])[0]
                for leg, columns in zip(self._legs, self._columns, strict=True)
            ]
        )
        feet = (feet @ tilt.T)[:, :2]
        down = np.array(stance, dtype=bool)
        if observation.contacts is not None:
            down &= observation.contacts.in_contact()[self._soles]
        # Only feet that are in stance at both instants show how the base has moved.
        both = down & self._down
        if self._feet is not None and both.any():
            self._advance(self._feet[both], feet[both], yaw)
        self._feet, self._down, self._yaw = feet, down, yaw
        return self.pose

    def _advance(self, before: FloatArray, now: FloatArray, yaw: float | None) -> None:
        """Add the motion of the base under which feet, (k, 2) [m], stay on the ground."""
        centre, old_centre = now.mean(axis=0), before.mean(axis=0)
        if yaw is not None and self._yaw is not None:
            turn = math.remainder(yaw - self._yaw, 2.0 * math.pi)
        else:
            a, b = before - old_centre, now - centre
            # Planar Kabsch: the turn that best maps the present feet to the previous ones.
            turn = math.atan2(
                float(np.sum(b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0])), float(np.sum(a * b))
            )
        # Shift of the base that leaves the centre of the turned feet in place.
        shift = old_centre - _rotate_in_plane(centre, turn)
        self.pose = self.pose + np.array([*_rotate_in_plane(shift, float(self.pose[2])), turn])


def _tilt_and_yaw(observation: Observation) -> tuple[FloatArray, float | None]:
    """
    Return the rotation that levels the base frame, (3, 3), and its yaw [rad].

    Identity and ``None`` without an IMU.
    """
    if observation.imu is None:
        return np.eye(3), None
    x, y, z, w = observation.imu.orientation.tolist()
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    yaw = rpy_from_rotation(rotation)[2]
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation, yaw


def _rotate_in_plane(point: FloatArray, angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])
