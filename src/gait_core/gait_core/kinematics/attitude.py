"""Attitude of a body: a unit quaternion and its yaw."""

from __future__ import annotations

import math
from typing import NamedTuple

from gait_core.arrays import FloatArray

IMU, POSE = 'imu', 'body_poses'


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


class Attitude(NamedTuple):
    """
    Attitude of a robot, and the field of an observation that it comes from.

    Attributes
    ----------
    quaternion : (4,) array
        x, y, z, w in odom: of the link that carries the IMU, or of the first root link.
    source : str
        ``IMU`` or ``POSE``.

    """

    quaternion: FloatArray
    source: str

    @property
    def yaw(self) -> float:
        """Yaw [rad], as of ``yaw_of``."""
        return yaw_of(self.quaternion)
