# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of plausible readings and commands of joints; values beyond them are faults."""

from __future__ import annotations

import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel

MAX_PLAUSIBLE = 1e6
"""Magnitude of a reading or command [rad, m, rad/s, m/s, N m or N] above which it is a fault."""

# A joint can be beyond its limits, but hardly by a full turn [rad].
_TURN = 2.0 * math.pi


def plausible_positions(robot: RobotModel) -> FloatArray:
    """Return the lowest and highest plausible positions of the joints, (2, n) [rad or m]."""
    span = np.stack((robot.lower - _TURN, robot.upper + _TURN))
    return np.clip(span, -MAX_PLAUSIBLE, MAX_PLAUSIBLE)
