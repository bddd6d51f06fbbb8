# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics of a leg of two segments, in its own vertical plane."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray


def foot_position(joints: FloatArray) -> FloatArray:
    """
    Return the position of the foot relative to the hip.

    Parameters
    ----------
    joints : (..., 4) array [rad, rad, m, m]
        Hip (0 forward, pi/2 down), knee (0 straight), upper and lower length.

    Returns
    -------
    (..., 2) array [m]
        Forward and up.

    References
    ----------
    Cafarelli (2017), Eq. 3.16, whose second component points down.

    """
    hip, knee, upper, lower = np.moveaxis(np.asarray(joints, dtype=np.float64), -1, 0)
    forward = upper * np.cos(hip) + lower * np.cos(hip + knee)
    down = upper * np.sin(hip) + lower * np.sin(hip + knee)
    return np.stack([forward, -down], axis=-1)


def foot_strokes(joints: FloatArray) -> FloatArray:
    """
    Return the backward stroke of each foot relative to its hip, posture 1 to 3, (..., 3) [m].

    Parameters
    ----------
    joints : (..., 4, 3, 4) array [rad, rad, m, m]

    """
    return np.asarray(
        foot_position(joints[..., 0, :, :])[..., 0] - foot_position(joints[..., 2, :, :])[..., 0]
    )
