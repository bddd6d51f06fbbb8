"""Reach of each foot from its place in the stance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.robot.model import RobotModel

_STEPS_PER_LENGTH = 40
"""Steps in which a direction is followed to the length of the leg; the edge is met to one."""
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
    """Distances [m] that a foot can be moved from its place in the stance, one way at a time."""

    forward: float
    back: float
    left: float
    right: float
    up: float
    down: float


def leg_workspace(robot: RobotModel, name: str) -> FootWorkspace:
    """Return the workspace of a leg about its place in the stance, to 2.5 % of its length."""
    leg = LegKinematics(robot, name)
    stance = np.array([robot.nominal_stance.get(joint, 0.0) for joint in leg.joint_names])
    start = leg.forward(stance)[0]
    step = leg.length / _STEPS_PER_LENGTH
    return FootWorkspace(
        **{
            way: _free_distance(leg, stance, start, step * np.array(go))
            for way, go in _DIRECTIONS.items()
        }
    )


def _free_distance(
    leg: LegKinematics, stance: FloatArray, start: FloatArray, step: FloatArray
) -> float:
    last = stance
    for piece in range(1, 2 * _STEPS_PER_LENGTH + 1):
        found = leg.solve(start + piece * step, start=last)
        if not found.reachable:
            return float(np.linalg.norm(step)) * (piece - 1)
        last = found.positions
    return float(np.linalg.norm(step)) * 2 * _STEPS_PER_LENGTH
