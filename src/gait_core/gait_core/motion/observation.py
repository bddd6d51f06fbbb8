# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Observation of a robot at one instant: a state of an engine, or sensor readings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
import math
from typing import NamedTuple

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray

IMU, POSE = 'imu', 'body_poses'
_EMPTY_3 = np.zeros((0, 3))
_EMPTY_I = np.zeros(0, dtype=np.int64)
for _array in (_EMPTY_3, _EMPTY_I):
    _array.flags.writeable = False


def yaw_from_quaternion(quaternion: FloatArray) -> float:
    """
    Return the yaw of a unit quaternion [rad]: the turn about z of roll, pitch, yaw.

    Parameters
    ----------
    quaternion : (4,) array
        x, y, z, w.

    Examples
    --------
    >>> import numpy as np
    >>> round(yaw_from_quaternion(np.array([0.0, 0.0, math.sin(0.6), math.cos(0.6)])), 12)
    1.2

    """
    x, y, z, w = quaternion.tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


class Attitude(NamedTuple):
    """
    Attitude of a robot, and the field of the observation that it comes from.

    Attributes
    ----------
    quaternion : (4,) array
        x, y, z, w in odom, of the IMU's link or of the first root link.
    source : str
        ``IMU`` or ``POSE``.

    """

    quaternion: FloatArray
    source: str

    @property
    def yaw(self) -> float:
        """Yaw [rad]; see ``yaw_from_quaternion``."""
        return yaw_from_quaternion(self.quaternion)


@dataclass(frozen=True, kw_only=True)
class Imu:
    """
    Reading of an inertial measurement unit in the frame of its link (REP-145).

    Attributes
    ----------
    orientation : (4,) array
        Quaternion x, y, z, w of the link in ``odom``.
    angular_velocity : (3,) array [rad/s]
        In the link frame.
    linear_acceleration : (3,) array [m/s^2]
        Specific force in the link frame: +g upwards when at rest.

    """

    orientation: FloatArray
    angular_velocity: FloatArray
    linear_acceleration: FloatArray


@dataclass(frozen=True, kw_only=True)
class Contacts:
    """
    Contact points between the robot and the terrain, at one instant.

    Attributes
    ----------
    soles : tuple of str
        The robot's sole links in the order of its legs, or its contact nodes.
    sole : (c,) int array
        Index into ``soles`` of each contact point; -1 for any other link. A contact node below
        the ground has one point, even if the ground exerts no force on it.
    points : (c, 3) array [m]
        In ``odom``.
    forces : (c, 3) array [N]
        Forces on the robot, in ``odom``.
    depths : (c,) array [m]
        Penetration, positive when overlapping.

    """

    soles: tuple[str, ...]
    sole: IntArray = field(default_factory=lambda: _EMPTY_I)
    points: FloatArray = field(default_factory=lambda: _EMPTY_3)
    forces: FloatArray = field(default_factory=lambda: _EMPTY_3)
    depths: FloatArray = field(default_factory=lambda: _EMPTY_3[:, 0])

    @property
    def loaded(self) -> BoolArray:
        """
        Whether each point carries vertical load, (c,) bool.

        Points without load, such as those of a sole that just touches, support nothing.
        """
        return np.asarray(self.forces[:, 2] > 0.0)

    def sole_forces(self) -> FloatArray:
        """Return the total force on each sole, (s, 3) [N]."""
        total = np.zeros((len(self.soles), 3))
        on_sole = self.sole >= 0
        np.add.at(total, self.sole[on_sole], self.forces[on_sole])
        return total

    def in_contact(self) -> np.ndarray:
        """Return whether each sole carries more than 1 N vertically, (s,) bool."""
        return np.asarray(self.sole_forces()[:, 2] > 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class StateFields:
    """
    Fields of one state, or of many with time first; a field that is not reported is ``None``.

    Attributes
    ----------
    joint_names : tuple of str
        Order of the joint arrays: ``RobotModel.joint_names``.
    joint_positions, joint_velocities, joint_efforts : (n,) arrays [rad or m, per s, N m or N]
    joint_work : (2, n) array [J]
        Work of the motors on the joints since tick 0, summed over the physics steps: row 0 with
        braking negative (signed), row 1 without braking (positive).
    body_names : tuple of str
        Root links: one for a legged robot, five for the tensegrity.
    body_poses : (b, 7) array [m, -]
        Root link frames in ``odom``: x, y, z, quaternion x, y, z, w.
    body_twists : (b, 6) array [m/s, rad/s]
        Linear velocity of the link frame's origin and angular velocity, both in ``odom``.
    imu : Imu
    contacts : Contacts
    element_names : tuple of str
        Force elements (springs, linear servos, cables).
    element_lengths, element_forces : (e,) arrays [m, N]
        Tension is positive.

    """

    joint_names: tuple[str, ...] = ()
    joint_positions: FloatArray | None = None
    joint_velocities: FloatArray | None = None
    joint_efforts: FloatArray | None = None
    joint_work: FloatArray | None = None
    body_names: tuple[str, ...] = ()
    body_poses: FloatArray | None = None
    body_twists: FloatArray | None = None
    imu: Imu | None = None
    contacts: Contacts | None = None
    element_names: tuple[str, ...] = ()
    element_lengths: FloatArray | None = None
    element_forces: FloatArray | None = None


ARRAY_FIELDS = tuple(
    entry.name for entry in fields(StateFields) if entry.type == 'FloatArray | None'
)
"""Fields that are a single array."""

NAME_FIELDS = tuple(entry.name for entry in fields(StateFields) if entry.type == 'tuple[str, ...]')
"""Fields that name the columns of arrays."""

OBSERVABLE_FIELDS = (*(name for name in ARRAY_FIELDS if name != 'joint_work'), 'imu', 'contacts')
"""Fields that a controller may list in its ``needs``."""


@dataclass(frozen=True, kw_only=True)
class Observation(StateFields):
    """
    Observation at one instant; any field but tick and time may be absent (``None`` or empty).

    Attributes
    ----------
    tick : int
        Control tick since the start of the trial.
    time : float [s]
        ``tick * dt``.

    """

    tick: int
    time: float

    @property
    def attitude(self) -> Attitude | None:
        """
        Attitude from the IMU, else from the pose of the first root link; ``None`` without both.

        The IMU comes first because it is what real robots have: in simulation, its noise then
        acts on every controller that uses the attitude.
        """
        if self.imu is not None:
            return Attitude(self.imu.orientation, IMU)
        if self.body_poses is not None and len(self.body_poses):
            return Attitude(self.body_poses[0, 3:], POSE)
        return None


def missing_fields(observation: Observation, needs: frozenset[str]) -> list[str]:
    """Return the needed fields that an observation lacks, sorted."""
    return sorted(name for name in needs if getattr(observation, name) is None)
