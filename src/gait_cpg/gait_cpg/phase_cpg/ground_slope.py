"""The slope of the ground, felt by the feet that stand, and feet that follow it."""

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
"""No ground is felt to be steeper."""
_MIN_STANCE_FEET = 2
_TRAVEL_SHARE = 0.5
"""Of a leg's way up and down that a slope may take: the rest is for steps."""
_MIN_RISE = 1e-9
TIME_CONSTANT = 0.8
"""In which the gradient follows; in a trot more slowly, above all across a narrow stance [s]."""
_RANK_TOLERANCE = 0.1
"""Feet closer to one line than this share of its length tell nothing of the slope across it."""


class GroundSlope:
    """
    Finds the ground's gradient from joint angles and attitude, wherever the body is.

    Of feet that stand at the same time, one is higher than another by the gradient times the way
    between them. Each period the gradient is moved towards what the feet of now say, in the
    directions in which they are apart: the two feet of a trot say nothing across the line that
    joins them, those of the next step do.

    Parameters
    ----------
    robot : RobotModel
    legs : sequence of str
        Names, in the order in which ``update`` is told who stands.

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
        """Take the ground for level."""
        self.gradient: FloatArray = np.zeros(2)
        self._yaw = 0.0

    def update(self, dt: float, stance: BoolArray, observation: Observation) -> None:
        """
        Look at the feet that stand.

        Parameters
        ----------
        dt : float [s]
        stance : (L,) bool array
            Which feet are meant to stand; one that has just lost the ground is near it.
        seen : Observation
            Without joint positions or IMU nothing is learnt.

        """
        if observation.joint_positions is None or observation.imu is None:
            return
        turn = Rotation.from_quat(observation.imu.orientation)
        self._yaw = float(turn.as_euler('ZYX')[0])
        if np.count_nonzero(stance) < _MIN_STANCE_FEET:
            return
        joints = observation.joint_positions
        feet = turn.apply(
            [
                leg.forward(joints[columns])[0]
                for leg, columns, stands in zip(self._legs, self._columns, stance, strict=True)
                if stands
            ]
        )
        offsets = feet - feet.mean(axis=0)
        distances, heights = offsets[:, :2], offsets[:, 2]
        # Of two feet: the least change, which is along the line that joins them.
        change = np.linalg.lstsq(
            distances, heights - distances @ self.gradient, rcond=_RANK_TOLERANCE
        )[0]
        gradient = self.gradient - math.expm1(-dt / TIME_CONSTANT) * change
        steepness = float(np.hypot(*gradient))
        self.gradient = gradient * min(1.0, MAX_GRADIENT / max(steepness, MAX_GRADIENT))

    @property
    def gradient_in_base(self) -> FloatArray:
        """Rise of the ground ahead and to the left of the base, (2,)."""
        c, s = math.cos(self._yaw), math.sin(self._yaw)
        x, y = self.gradient.tolist()
        ahead: FloatArray = np.array([c * x + s * y, c * y - s * x])
        return ahead


def follow_ground(feet: FloatArray, before: FloatArray, now: FloatArray) -> FloatArray:
    """
    Return feet raised by the rise of the ground at their places, (L, K, 3) [m].

    The base keeps its distance from the ground under it, and the legs between the two their
    direction: a share of the slope is taken by their lengths instead of by the body's attitude.

    Parameters
    ----------
    feet : (L, K, 3) array [m]
        In the base frame, as for level ground, at K samples of a control period.
    before, now : (2,) arrays
        Rise ahead and to the left at the beginning and the end of the period, linear between.

    """
    samples = feet.shape[1]
    share = (np.arange(samples) + 1.0)[:, None] / samples
    rise = before + share * (now - before)
    placed: FloatArray = feet.copy()
    placed[..., 2] += np.sum(feet[..., :2] * rise, axis=-1)
    return placed


@cached_per_robot
def vertical_travel(robot: RobotModel) -> FloatArray:
    """Return how far the feet of a robot may go up and down for a slope, (2, L) [m]; kept."""
    spaces = [leg_workspace(robot, leg.name) for leg in robot.legs]
    return _TRAVEL_SHARE * np.array(
        [[space.up for space in spaces], [space.down for space in spaces]]
    )


def limit_gradient(gradient: FloatArray, feet: FloatArray, travel: FloatArray) -> FloatArray:
    """
    Return as much of a rise ahead and to the left, (2,), as every leg can follow.

    Parameters
    ----------
    rise : (2,) array
    feet : (L, 3) array [m]
        In the nominal stance, in the base frame.
    room : (2, L) array [m]
        Up and down, of the same legs.

    """
    rises = feet[:, :2] @ gradient
    shares = np.where(rises > 0.0, *travel) / np.maximum(np.abs(rises), _MIN_RISE)
    return gradient * min(1.0, float(shares.min()))
