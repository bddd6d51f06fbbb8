# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Observation of a live controller, from the latest messages of several topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time
from typing import Any

from geometry_msgs.msg import Quaternion, Vector3
from nav_msgs.msg import Odometry
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from gait_core.robot.name_checks import check_message_names, unknown_names_error
from gait_core.safety.plausibility import MAX_PLAUSIBLE, plausible_positions
from gait_interfaces.msg import FootContacts

FIELD_TOPICS = {
    'joint_positions': 'joint_states',
    'joint_velocities': 'joint_states',
    'joint_efforts': 'joint_states',
    'element_lengths': 'joint_states',
    'element_forces': 'joint_states',
    'imu': 'imu/data',
    'contacts': 'foot_contacts',
    'body_poses': 'odom',
    'body_twists': 'odom',
}
"""Topics from which the fields of an observation come."""


_JOINT_FIELDS = {
    'joint_positions': 'position',
    'joint_velocities': 'velocity',
    'joint_efforts': 'effort',
}
_ELEMENT_FIELDS = {'element_lengths': 'position', 'element_forces': 'effort'}
_PLAUSIBLE_RANGE = (-MAX_PLAUSIBLE, MAX_PLAUSIBLE)
# Largest deviation of the norm of a quaternion from 1. Drivers send single precision, and zeros
# for an unknown orientation.
_NORM_TOLERANCE = 1e-2


def pose_from_odometry(message: Odometry) -> FloatArray | None:
    """Return position [m] and quaternion, (7,); None if not finite or if the norm is not 1."""
    position, orientation = message.pose.pose.position, message.pose.pose.orientation
    pose = np.concatenate((_vector(position), _quaternion(orientation)))
    norm = float(np.linalg.norm(pose[3:]))
    return pose if _all_finite(pose) and math.isclose(norm, 1.0, rel_tol=1e-3) else None


class LiveObservation:
    """
    Observation that joint states, IMU readings, odometry and foot contacts update.

    Joints may come in any order and in several messages. Unknown joints are ignored. Missing
    joints keep their last value, which is the nominal stance at first. Every kind of mismatch is
    reported once. A message with a value that is not finite is ignored.

    Parameters
    ----------
    robot : RobotModel
    warn : callable
        Logs one line.
    now : callable
        Returns the present time [ns], for ages.

    """

    def __init__(
        self, robot: RobotModel, warn: Callable[[str], Any], now: Callable[[], int] = lambda: 0
    ) -> None:
        self._robot, self._warn, self._now = robot, warn, now
        self._ignored_content: dict[str, str] = {}
        self._span = plausible_positions(robot)
        n, m = len(robot.joint_names), len(robot.force_elements)
        self._elements = {element.name: i for i, element in enumerate(robot.force_elements)}
        self._values = {
            'joint_positions': robot.stance[:n].copy(),
            'joint_velocities': np.zeros(n),
            'joint_efforts': np.zeros(n),
            'element_lengths': robot.stance[n:].copy(),
            'element_forces': np.zeros(m),
        }
        self._fields: dict[str, Any] = {}
        # Times of arrival [ns] by the clock of the stamps and by a steady clock.
        self._arrivals = np.full((n, 2), -np.inf)
        self._imu_arrival, self._odom_arrival = np.full((2, 2), -np.inf)
        self._stamps = np.zeros(n, dtype=np.int64)
        self._imu_stamp = self._odom_stamp = 0

    @property
    def ignored_content(self) -> tuple[str, ...]:
        """One line for each kind of content that was ignored so far."""
        return tuple(self._ignored_content.values())

    def forget_later_readings(self) -> None:
        """
        Forget readings that have no stamp or one later than now, after a backward jump of time.

        Readings with earlier stamps are kept. They are of the new time: they may arrive before the
        jump is detected.
        """
        now = self._now()
        for came, stamps in (
            (self._arrivals, self._stamps),
            (self._imu_arrival[None], np.array([self._imu_stamp])),
            (self._odom_arrival[None], np.array([self._odom_stamp])),
        ):
            came[:, 0] = np.minimum(came[:, 0], now)
            came[(stamps == 0) | (stamps > now)] = -np.inf

    def age(self, needs: frozenset[str] = frozenset()) -> float:
        """
        Return the age [s] of the oldest joint position, or of a needed IMU reading if it is older.

        It is the smaller of its ages by the clock of the stamps and by wall time, because a
        simulation may run faster or slower than wall time. It is ``inf`` until all have come.
        """
        oldest = self._arrivals.min(axis=0, initial=np.inf)
        if 'imu' in needs:
            oldest = np.minimum(oldest, self._imu_arrival)
        return float((self._clocks() - oldest).min()) * 1e-9 if oldest[0] < np.inf else 0.0

    def tilt_age(self) -> float:
        """Return the age [s] of the newest IMU or odometry message; ``inf`` without one."""
        newest = np.maximum(self._imu_arrival, self._odom_arrival)
        return float((self._clocks() - newest).min()) * 1e-9

    def _clocks(self) -> FloatArray:
        return np.array([self._now(), time.monotonic_ns()], dtype=np.float64)

    def unmeasured_joints(self) -> list[str]:
        """Return the names of the joints without a measured position."""
        names = self._robot.joint_names
        came = self._arrivals[:, 1].tolist()
        return [name for name, when in zip(names, came, strict=True) if when < 0]

    def add_joint_state(self, message: JointState) -> None:
        """Store the values of the robot's joints and force elements from a message."""
        names = list(message.name)
        try:
            check_message_names(names)
        except BadCommand as error:
            self._warn_once(f'joint_states: {error}; ignored', 'size')
            return
        self._report_names(names)
        for index, fields in (
            (self._robot.joint_index, _JOINT_FIELDS),
            (self._elements, _ELEMENT_FIELDS),
        ):
            all_known = [i for i, name in enumerate(names) if name in index]
            for field, source in fields.items() if all_known else ():
                given, known = getattr(message, source), all_known
                if field == 'joint_positions' and len(given) == len(names):
                    # joint_state_broadcaster publishes NaN for a motor that has not reported.
                    known = [i for i in known if not math.isnan(given[i])]
                columns = [index[names[i]] for i in known]
                values = self._plausible_values(field, given, len(names), known, columns)
                if values is None:
                    continue
                self._values[field][columns] = values
                self._fields[field] = True
                if field == 'joint_positions':
                    self._arrivals[columns] = self._clocks()
                    self._stamps[columns] = _stamp_nanoseconds(message)

    def _plausible_values(
        self, field: str, readings: Sequence[float], size: int, rows: list[int], columns: list[int]
    ) -> FloatArray | None:
        """Return the values of a field of a message; None if absent or implausible."""
        if len(readings) == 0 or not rows:
            return None
        if len(readings) != size:
            self._warn_once(
                f'joint_states: {field} has {len(readings)} values, expected {size}, one per '
                'name; ignored',
                f'length of {field}',
            )
            return None
        values = np.asarray(readings, dtype=np.float64)[rows]
        low, high = self._span[:, columns] if field == 'joint_positions' else _PLAUSIBLE_RANGE
        if not ((values >= low) & (values <= high)).all():
            self._warn_once(
                f'joint_states: {field} not finite or far beyond the joint limits; ignored'
            )
            return None
        return values

    def add_imu(self, message: ImuMessage) -> None:
        """Store an IMU reading; if it lacks a field, it is ignored."""
        # A first covariance of -1 (definition of the message) or NaN (REP-145) marks a field that
        # is not reported. The negation covers NaN, with which every comparison is false.
        unreported = [
            field
            for field in ('orientation', 'angular_velocity', 'linear_acceleration')
            if not getattr(message, f'{field}_covariance')[0] >= 0.0
        ]
        if unreported:
            self._warn_once(
                f'imu/data: {", ".join(unreported)} not reported (first covariance negative or '
                'NaN); ignored'
            )
            return
        orientation = _quaternion(message.orientation)
        angular_velocity = _vector(message.angular_velocity)
        linear_acceleration = _vector(message.linear_acceleration)
        norm = float(np.linalg.norm(orientation))
        if not (
            _all_finite(orientation, angular_velocity, linear_acceleration)
            and abs(norm - 1.0) < _NORM_TOLERANCE
        ):
            self._warn_once(
                'imu/data: a value is not finite, or the norm of the quaternion is not 1; ignored'
            )
            return
        self._fields['imu'] = Imu(
            orientation=orientation / norm,
            angular_velocity=angular_velocity,
            linear_acceleration=linear_acceleration,
        )
        self._imu_arrival, self._imu_stamp = self._clocks(), _stamp_nanoseconds(message)

    def add_odometry(self, message: Odometry) -> None:
        """Store pose and twist of the base; the message has the twist in its frame (REP-105)."""
        pose = pose_from_odometry(message)
        twist = message.twist.twist
        local = np.concatenate((_vector(twist.linear), _vector(twist.angular)))
        if pose is None or not _all_finite(local):
            self._warn_once(
                'odom: a value is not finite, or the norm of the quaternion is not 1; ignored'
            )
            return
        base_to_odom = Rotation.from_quat(pose[3:])
        in_odom = np.concatenate((base_to_odom.apply(local[:3]), base_to_odom.apply(local[3:])))
        self._fields['body_poses'] = pose[None]
        self._fields['body_twists'] = in_odom[None]
        self._odom_arrival, self._odom_stamp = self._clocks(), _stamp_nanoseconds(message)

    def add_foot_contacts(self, message: FootContacts) -> None:
        """
        Store the contact force of each sole, which acts at the centre of its contacts.

        A force needs no time to become a contact; ``in_contact`` counts where none is measured.
        """
        index = {name: i for i, name in enumerate(self._robot.soles)}
        soles = [
            (index[name], _vector(centre), _vector(force), touching)
            for name, centre, force, touching in zip(
                message.soles, message.centres, message.forces, message.in_contact, strict=False
            )
            if name in index
        ]
        if not all(_all_finite(centre, force) for _, centre, force, _ in soles):
            return
        is_measured = any(force.any() for _, _, force, _ in soles)
        rows = [
            (sole, centre, force)
            for sole, centre, force, touching in soles
            if (force[2] > 0.0 if is_measured else touching)
        ]
        self._fields['contacts'] = Contacts(
            soles=self._robot.soles,
            sole=np.array([sole for sole, _, _ in rows], dtype=np.int64),
            points=np.array([centre for _, centre, _ in rows]).reshape(-1, 3),
            forces=np.array([force for _, _, force in rows]).reshape(-1, 3),
            depths=np.zeros(len(rows)),
        )

    def make_observation(self, tick: int, time: float) -> Observation:
        """Return the present observation; fields that never came are absent."""
        fields = {
            name: self._values[name].copy() if name in self._values else value
            for name, value in self._fields.items()
        }
        return Observation(
            tick=tick,
            time=time,
            joint_names=self._robot.joint_names,
            element_names=tuple(self._elements) if 'element_lengths' in fields else (),
            body_names=self._robot.roots[:1] if 'body_poses' in fields else (),
            **fields,
        )

    def _report_names(self, names: Sequence[str]) -> None:
        """Warn of unknown joints in a message, and of joints that it lacks."""
        valid = self._robot.target_names
        if 'unknown' not in self._ignored_content and not set(names) <= set(valid):
            self._warn_once(
                f'joint_states: {unknown_names_error("joint", names, valid)}; ignored', 'unknown'
            )
        received = set(names)
        absent = [name for name in self._robot.joint_names if name not in received]
        if absent:
            self._warn_once(
                f'joint_states: {len(absent)} of {len(self._robot.joint_names)} joints are '
                f"missing, first '{absent[0]}'; they keep their last value",
                'missing',
            )

    def _warn_once(self, text: str, kind: str = '') -> None:
        """Log a line unless one of its kind was logged before."""
        if (kind or text) not in self._ignored_content:
            self._ignored_content[kind or text] = text
            self._warn(text)


def _stamp_nanoseconds(message: Any) -> int:
    """Return the stamp of a message [ns]; 0 without one."""
    stamp = message.header.stamp
    return int(stamp.sec * 1_000_000_000 + stamp.nanosec)


def _vector(message: Vector3) -> FloatArray:
    return np.array([message.x, message.y, message.z])


def _quaternion(message: Quaternion) -> FloatArray:
    return np.array([message.x, message.y, message.z, message.w])


def _all_finite(*arrays: FloatArray) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays)
