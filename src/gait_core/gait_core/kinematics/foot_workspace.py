# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Workspace of each foot about its position in the nominal stance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.robot.model import RobotModel

_STEPS_PER_LENGTH = 40
"""Steps per length of the leg in which a direction is searched; the resolution is one step."""
_DIRECTIONS = {
    'forward': (1.0, 0.0, 0.0),
    'back': (-1.0, 0.0, 0.0),
    'left': (0.0, 1.0, 0.0),
    'right': (0.0, -1.0, 0.0),
    'up': (0.0, 0.0, 1.0),
    'down': (0.0, 0.0, -1.0),
}


@dataclass(frozen=True, kw_only=True)
class FootWorkspace:
    """Distances [m] by which a foot can move from its stance position along single directions."""

    forward: float
    back: float
    left: float
    right: float
    up: float
    down: float


def leg_workspace(robot: RobotModel, leg_name: str) -> FootWorkspace:
    """Return the workspace of a leg's foot, with a resolution of 2.5 % of the leg's length."""
    leg = LegKinematics(robot, leg_name)
    stance = np.array([robot.nominal_stance.get(joint, 0.0) for joint in leg.joint_names])
    start = leg.forward(stance)[0]
    step = leg.length / _STEPS_PER_LENGTH
    return FootWorkspace(
        **{
            name: _free_distance(leg, stance, start, step * np.array(direction))
            for name, direction in _DIRECTIONS.items()
        }
    )


def _free_distance(
    leg: LegKinematics, stance: FloatArray, start: FloatArray, step: FloatArray
) -> float:
    """Return the distance [m] that a foot can move in a direction, up to two leg lengths."""
    # Each search starts at the last solution, so that the leg stays in one posture.
    last = stance
    for count in range(1, 2 * _STEPS_PER_LENGTH + 1):
        solution = leg.solve(start + count * step, start=last)
        if not solution.is_reachable:
            return float(np.linalg.norm(step)) * (count - 1)
        last = solution.positions
    return float(np.linalg.norm(step)) * 2 * _STEPS_PER_LENGTH
