# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Slope of the ground, estimated from the stance feet, and compensation by the legs."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from scipy.spatial.transform import Rotation

from gait_core.arrays import BoolArray, FloatArray
from gait_core.kinematics.foot_workspace import leg_workspace
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.motion.observation import Observation
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import RobotModel

SLOPE_NEEDS = frozenset({'joint_positions', 'imu'})
MAX_GRADIENT = math.tan(math.radians(35.0))
"""Largest estimated gradient."""
_MIN_STANCE_FEET = 2
_TRAVEL_SHARE = 0.5
"""Share of the vertical travel of a foot that a slope can use; the rest is for steps."""
_MIN_RISE = 1e-9
TIME_CONSTANT = 0.8
"""
Time constant of the estimate [s].

In a trot the estimate is slower, above all across a narrow stance.
"""
_RANK_TOLERANCE = 0.1
"""
Smallest ratio of width to length of the stance feet.

Below it the feet are on a line and do not determine the slope across it.
"""


class GroundSlope:
    """
    Estimate of the gradient of the ground from joint positions and attitude.

    The heights of two stance feet differ by the gradient times their horizontal distance. In each
    period the estimate is moved toward the least-squares fit, only in the directions in which the
    feet are apart: the two feet of a trot do not determine the slope across their line, the two of
    the next step do.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names, in the order of ``stance`` in ``update``.

    Attributes
    ----------
    gradient : (2,) array
        Rise of the ground along x and y of ``odom``.

    """

    def __init__(self, robot: RobotModel, legs: Sequence[str]) -> None:
        self._legs = [LegKinematics(robot, name) for name in legs]
        self._columns = [leg.columns for leg in self._legs]
        self.reset()

    def reset(self) -> None:
        """Set the gradient to zero."""
        self.gradient: FloatArray = np.zeros(2)
        self._yaw = 0.0

    def update(self, dt: float, stance: BoolArray, observation: Observation) -> None:
        """
        Advance the estimate by a control period.

        Parameters
        ----------
        dt : float [s]
            Control period.
        stance : (L,) bool array
            Whether each leg is in stance by the plan of the walk.
        observation : Observation
            Without joint positions or IMU the estimate stays.

        """
        if observation.joint_positions is None or observation.imu is None:
            return
        rotation = Rotation.from_quat(observation.imu.orientation)
        self._yaw = float(rotation.as_euler('ZYX')[0])
        if np.count_nonzero(stance) < _MIN_STANCE_FEET:
            return
        joints = observation.joint_positions
        feet = rotation.apply(
            [
                leg.forward(joints[columns])[0]
                for leg, columns, in_stance in zip(self._legs, self._columns, stance, strict=True)
                if in_stance
            ]
        )
        offsets = feet - feet.mean(axis=0)
        distances, heights = offsets[:, :2], offsets[:, 2]
        # Correction of the gradient by least squares of minimum norm: with two feet it lies along
        # the line that joins them.
        change = np.linalg.lstsq(
            distances, heights - distances @ self.gradient, rcond=_RANK_TOLERANCE
        )[0]
        gradient = self.gradient - math.expm1(-dt / TIME_CONSTANT) * change
        steepness = float(np.hypot(*gradient))
        self.gradient = gradient * min(1.0, MAX_GRADIENT / max(steepness, MAX_GRADIENT))

    @property
    def gradient_in_base(self) -> FloatArray:
        """Gradient of the ground along the axes of the base, forward and left, (2,)."""
        c, s = math.cos(self._yaw), math.sin(self._yaw)
        x, y = self.gradient.tolist()
        ahead: FloatArray = np.array([c * x + s * y, c * y - s * x])
        return ahead


def follow_ground(feet: FloatArray, before: FloatArray, now: FloatArray) -> FloatArray:
    """
    Return feet raised by the rise of the ground below them, (L, K, 3) [m].

    The base keeps its height over the ground below it; legs become longer downhill and shorter
    uphill, so that the base need not tilt with the slope.

    Parameters
    ----------
    feet : (L, K, 3) array [m]
        Feet for level ground at K samples of a control period, in the base frame.
    before, now : (2,) arrays
        Gradient forward and left at the start and at the end of the period; linear in between.

    """
    samples = feet.shape[1]
    share = (np.arange(samples) + 1.0)[:, None] / samples
    rise = before + share * (now - before)
    raised: FloatArray = feet.copy()
    raised[..., 2] += np.sum(feet[..., :2] * rise, axis=-1)
    return raised


@cached_per_robot
def vertical_travel(robot: RobotModel) -> FloatArray:
    """Return the travel of each foot up and down that a slope can use, (2, L) [m]; cached."""
    spaces = [leg_workspace(robot, leg.name) for leg in robot.legs]
    return _TRAVEL_SHARE * np.array(
        [[space.up for space in spaces], [space.down for space in spaces]]
    )


def limit_gradient(gradient: FloatArray, feet: FloatArray, travel: FloatArray) -> FloatArray:
    """
    Return a gradient, scaled down until all legs can follow it, (2,).

    Parameters
    ----------
    gradient : (2,) array
        Forward and left.
    feet : (L, 3) array [m]
        Feet in the nominal stance, in the base frame.
    travel : (2, L) array [m]
        Travel of each foot up and down.

    """
    rises = feet[:, :2] @ gradient
    shares = np.where(rises > 0.0, *travel) / np.maximum(np.abs(rises), _MIN_RISE)
    return gradient * min(1.0, float(shares.min()))
