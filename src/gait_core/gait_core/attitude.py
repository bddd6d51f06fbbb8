"""What a quaternion says of the way that a body points."""

from __future__ import annotations

import math

from gait_core.arrays import FloatArray


def yaw_of(quaternion: FloatArray) -> float:
    """
    Return the yaw of an attitude [rad]: the last of the turns about x, y and z fixed in space.

    Parameters
    ----------
    quaternion : (4,) array
        x, y, z, w, of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> round(yaw_of(np.array([0.0, 0.0, math.sin(0.6), math.cos(0.6)])), 12)
    1.2

    """
    x, y, z, w = quaternion.tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
