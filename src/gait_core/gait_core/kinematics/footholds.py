# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Footholds of swinging feet, predicted from joint positions now and at touch-down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.model import Leg, RobotModel

_BASE_AT_ORIGIN = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
_MIN_POINT_FEET = 3
"""Number of stance legs from which the sole points alone determine the motion of the base."""


def predict_foothold(
    robot: RobotModel,
    leg: str,
    stance_legs: Sequence[str],
    joints_now: FloatArray,
    joints_at_touchdown: FloatArray,
) -> FloatArray:
    """
    Return the position of a foot at its touch-down, in the present frame of the base.

    The feet of the stance legs are taken as fixed to the ground, so that the base moves over them
    as their joints prescribe.

    Parameters
    ----------
    robot : RobotModel
    leg : str
        Leg whose foot touches down.
    stance_legs : sequence of str
        Legs in stance until then, at least one. Of three or more the sole points determine the
        motion; of one or two the sole of the first keeps its attitude.
    joints_now, joints_at_touchdown : (n,) arrays [rad or m]
        Joint positions by ``robot.joint_names``, now and at touch-down.

    Returns
    -------
    (3,) array [m]
        In the present frame of the first root link.

    """
    poses = [
        link_poses(robot, joints, _BASE_AT_ORIGIN) for joints in (joints_now, joints_at_touchdown)
    ]
    legs = [robot.leg(name) for name in stance_legs]
    feet_now, feet_then = (
        np.array([_sole_position(robot, stance_leg, links) for stance_leg in legs])
        for links in poses
    )
    # Positions relative to the base change from touch-down to now by one rigid motion, because the
    # stance feet are fixed to the ground. It is found from these feet and applied to the foot.
    if len(legs) >= _MIN_POINT_FEET:
        rotation = _best_rotation(
            feet_then - feet_then.mean(axis=0), feet_now - feet_now.mean(axis=0)
        )
    else:
        row = robot.link_index[legs[0].sole]
        rotation = poses[0][row, :3, :3] @ poses[1][row, :3, :3].T
    foot = _sole_position(robot, robot.leg(leg), poses[1])
    return np.asarray(rotation @ (foot - feet_then.mean(axis=0)) + feet_now.mean(axis=0))


def _sole_position(robot: RobotModel, leg: Leg, links: FloatArray) -> FloatArray:
    pose = links[robot.link_index[leg.sole]]
    return np.asarray(pose[:3, :3] @ np.array(leg.sole_point) + pose[:3, 3])


def _best_rotation(points: FloatArray, rotated: FloatArray) -> FloatArray:
    """
    Return the rotation (3, 3) that best maps points (k, 3) to rotated ones, both centred.

    References
    ----------
    Kabsch (1976), Acta Crystallographica A32:922-923.

    """
    left, _, right = np.linalg.svd(rotated.T @ points)
    # The sign of the determinant excludes reflections.
    signs = np.array([1.0, 1.0, np.linalg.det(left @ right)])
    return np.asarray((left * signs) @ right)
