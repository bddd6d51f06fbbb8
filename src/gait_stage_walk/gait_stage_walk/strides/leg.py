"""
The planar leg of the extending hexapod: where its foot is, and the joints that put it somewhere.

Joints are hip angle (0 forward, 90 degrees down), knee angle (positive folds the foot backward)
[rad], upper and lower length [m], along the last axis. A foot is how far it is ahead of its hip
and how deep below [m].
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray

HIP, KNEE, UPPER, LOWER = range(4)


def feet_from_joints(joints: FloatArray) -> FloatArray:
    """
    Return the feet, (..., 2) [m], of joints, (..., 4).

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
    """Return which feet, (..., 2) [m], legs of some lengths, (..., 2) [m], can reach, (...)."""
    reach = np.hypot(feet[..., 0], feet[..., 1])
    upper, lower = lengths[..., 0], lengths[..., 1]
    return np.asarray((reach <= upper + lower) & (reach >= np.abs(upper - lower)))


def joints_from_feet(feet: FloatArray, lengths: FloatArray) -> FloatArray:
    """
    Return the joints, (..., 4), that put feet, (..., 2) [m], with lengths, (..., 2) [m].

    The knee points forward. A leg that cannot reach its foot points at it, as near as it comes.
    """
    upper, lower = lengths[..., 0], lengths[..., 1]
    reach = np.hypot(feet[..., 0], feet[..., 1])
    bend = (reach**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    knee = np.arccos(np.clip(bend, -1.0, 1.0))
    ahead = np.arctan2(lower * np.sin(knee), upper + lower * np.cos(knee))
    hip = np.arctan2(feet[..., 1], feet[..., 0]) - ahead
    # A foot above and behind its hip: the angle has gone past half a turn.
    hip = np.where(hip < -0.5 * np.pi, hip + 2.0 * np.pi, hip)
    return np.stack([hip, knee, upper, lower], axis=-1)
