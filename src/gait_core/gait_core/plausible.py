"""Bounds beyond which a reading or a command of a joint has gone wrong."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel

IMPLAUSIBLE = 1e6
"""Of any quantity of a joint, in rad, m, rad/s, m/s, N m or N."""

_TURN = 2.0 * math.pi


def position_span(robot: RobotModel) -> FloatArray:
    """Return the least and the greatest plausible position of each joint, (2, n) [rad or m]."""
    span = np.stack((robot.lower - _TURN, robot.upper + _TURN))
    return np.clip(span, -IMPLAUSIBLE, IMPLAUSIBLE)
