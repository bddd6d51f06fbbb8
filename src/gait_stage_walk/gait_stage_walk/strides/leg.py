# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Kinematics of the planar leg of the extending hexapod.

Joints, along the last axis: hip angle (0 forward, 90 degrees down) and knee angle (positive folds
the foot backward) [rad], upper and lower length [m]. A foot is its distance ahead of the hip and
below it [m].
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray

HIP, KNEE, UPPER, LOWER = range(4)


def feet_from_joints(joints: FloatArray) -> FloatArray:
    """
    Return the feet, (..., 2) [m], from joints, (..., 4), by forward kinematics.

    References
    ----------
    Cafarelli (2017), Eq. 3.16.

    """
    hip, upper, lower = joints[..., HIP], joints[..., UPPER], joints[..., LOWER]
    foot = hip + joints[..., KNEE]
    return np.stack(
        [
            upper * np.cos(hip) + lower * np.cos(foot),
            upper * np.sin(hip) + lower * np.sin(foot),
        ],
        axis=-1,
    )


def are_reachable(feet: FloatArray, lengths: FloatArray) -> BoolArray:
    """Return whether legs of lengths (..., 2) [m] reach feet (..., 2) [m], (...)."""
    reach = np.hypot(feet[..., 0], feet[..., 1])
    upper, lower = lengths[..., 0], lengths[..., 1]
    return np.asarray((reach <= upper + lower) & (reach >= np.abs(upper - lower)))


def joints_from_feet(feet: FloatArray, lengths: FloatArray) -> FloatArray:
    """
    Return the joints, (..., 4), for feet (..., 2) [m] and lengths (..., 2) [m].

    The knee points forward. A leg that cannot reach its foot points toward it.
    """
    upper, lower = lengths[..., 0], lengths[..., 1]
    reach = np.hypot(feet[..., 0], feet[..., 1])
    bend = (reach**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    # Law of cosines for the knee; the angle between thigh and hip-foot line gives the hip.
    knee = np.arccos(np.clip(bend, -1.0, 1.0))
    ahead = np.arctan2(lower * np.sin(knee), upper + lower * np.cos(knee))
    hip = np.arctan2(feet[..., 1], feet[..., 0]) - ahead
    # A foot above and behind its hip: arctan2 has wrapped around.
    hip = np.where(hip < -0.5 * np.pi, hip + 2.0 * np.pi, hip)
    return np.stack([hip, knee, upper, lower], axis=-1)
