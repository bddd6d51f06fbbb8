# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Yaw of robots whose legs cannot step sideways: skid steering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.kinematics.leg_ik import LegKinematics

_MIN_SIDE_SHARE = 0.1
"""Share of a sideways motion that a foot must be able to follow to step sideways."""


def skid_yaw_ratio(legs: Sequence[LegKinematics], stance: Sequence[npt.ArrayLike]) -> float:
    r"""
    Return the yaw rate of a robot with skid steering over the yaw rate of its strides.

    In a turn, feet in front of and behind the centre must move sideways. Feet that cannot do so
    slide, and their friction works against the difference of the strides of both sides. For feet
    at :math:`(\pm a, \pm b)` under equal load with isotropic friction the two balance at the ratio
    :math:`b^2 / (a^2 + b^2)`: the rotation that fits the motion of the feet by least squares.

    Parameters
    ----------
    legs : sequence of LegKinematics
    stance : sequence of (m,) arrays [rad or m]
        Joint positions of each leg in the nominal stance.

    Returns
    -------
    float
        Between 0 and 1; 1 if any foot can step sideways.

    """
    if any(
        _side_share(leg, joints) >= _MIN_SIDE_SHARE
        for leg, joints in zip(legs, stance, strict=True)
    ):
        return 1.0
    feet = np.array([leg.forward(joints)[0] for leg, joints in zip(legs, stance, strict=True)])
    along, across = np.sum((feet[:, :2] - feet[:, :2].mean(axis=0)) ** 2, axis=0).tolist()
    return float(across / (along + across)) if across > 0.0 else 1.0


def _side_share(leg: LegKinematics, joints: npt.ArrayLike) -> float:
    """Return the share of a sideways motion of the foot that the joints can produce, 0 to 1."""
    directions, sizes, _ = np.linalg.svd(leg.jacobian(joints)[:3])
    reachable: FloatArray = directions[:, : len(sizes)][:, sizes > 1e-6 * sizes[0]]
    return float(np.linalg.norm(reachable[1]))
