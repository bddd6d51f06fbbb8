# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Colours of force elements by their tension."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import RobotModel

_SLACK_COLOUR, _TAUT_COLOUR = np.array([0.16, 0.42, 0.85]), np.array([0.88, 0.15, 0.12])


def tension_colours(robot: RobotModel, tensions: FloatArray) -> FloatArray:
    """
    Return the colours of force elements, (e, 3) in [0, 1].

    Blue at zero tension or compression, red at 1.5 times the greatest tension in the nominal
    stance, or at the robot's weight if all are slack there.
    """
    share = np.clip(tensions / _full_scale_tension(robot), 0.0, 1.0)[:, None]
    return np.asarray(_SLACK_COLOUR + share * (_TAUT_COLOUR - _SLACK_COLOUR))


@cached_per_robot
def _full_scale_tension(robot: RobotModel) -> float:
    lengths = element_lengths_at(robot, robot.joint_stance)
    stiffness = np.array(
        [element.constants.get('stiffness', 0.0) for element in robot.force_elements]
    )
    pulls = stiffness * (lengths - robot.stance[len(robot.joint_names) :])
    tautest = 1.5 * float(pulls.max(initial=0.0))
    return tautest if tautest > 1e-6 * robot.mass else 9.81 * robot.mass
