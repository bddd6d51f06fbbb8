"""Turning of robots whose legs cannot step aside: by strides of other lengths on either side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.kinematics.leg_ik import LegKinematics

_MIN_SIDE_SHARE = 0.1
"""Share of a move to the side that a foot can take part in, below which it cannot step aside."""


def skid_yaw_ratio(legs: Sequence[LegKinematics], stance: Sequence[npt.ArrayLike]) -> float:
    r"""
    Return which share of a turning rate comes about by feet that only go forward and back.

    Where a body turns, feet before and behind its middle must go sideways. Feet that cannot slide
    there instead, and their friction holds against what the sides' difference of speed brings.
    With feet at :math:`(\pm a, \pm b)` that carry alike, and friction that opposes each foot's
    sliding and is the same in all directions, both are in balance at a rate of
    :math:`b^2 / (a^2 + b^2)` of the one that the strides are made for: the rotation that fits the
    motion of the feet best by least squares.

    Parameters
    ----------
    legs : sequence of LegKinematics
    stance : sequence of (m,) arrays [rad or m]
        Joints of each leg.

    Returns
    -------
    float
        Between 0 and 1; 1 where any foot can step aside.

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
    """Return the part of a move to the side that the joints can bring about, 0 to 1."""
    directions, sizes, _ = np.linalg.svd(leg.jacobian(joints)[:3])
    reachable: FloatArray = directions[:, : len(sizes)][:, sizes > 1e-6 * sizes[0]]
    return float(np.linalg.norm(reachable[1]))
