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


def foot_jacobian(joints: FloatArray) -> FloatArray:
    """
    Return the derivative of the foot's position by hip, knee, upper and lower length.

    Parameters
    ----------
    joints : (..., 4) array [rad, rad, m, m]

    Returns
    -------
    (..., 2, 4) array
        Jacobian of ``foot_position``; the first two columns are J_v of Eq. 3.17, second row up.

    """
    hip, knee, upper, lower = np.moveaxis(np.asarray(joints, dtype=np.float64), -1, 0)
    c0, s0, c01, s01 = np.cos(hip), np.sin(hip), np.cos(hip + knee), np.sin(hip + knee)
    forward = np.stack([-upper * s0 - lower * s01, -lower * s01, c0, c01], axis=-1)
    up = np.stack([-upper * c0 - lower * c01, -lower * c01, -s0, -s01], axis=-1)
    return np.stack([forward, up], axis=-2)


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
