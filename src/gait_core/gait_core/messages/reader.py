# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""States, commands and targets from ROS messages of rclpy or rosbags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.messages.builder import OBSERVED_ARRAYS, POINT_FIELDS
from gait_core.motion.observation import Contacts, Imu, Observation
from gait_core.motion.trajectory import Trajectory
from gait_core.robot.name_checks import check_message_names
from gait_core.trial.spec import Command

_MAX_POINTS = 10_000
_WIDTHS = {'body_poses': 7, 'body_twists': 6}


def read_array(values: Any, width: int = 0) -> FloatArray:
    """Return a ``float64[]`` field as a read-only array, (n,) or (n / width, width)."""
    result = np.asarray(values, dtype=np.float64)
    result = result.reshape(-1, width) if width else result.view()
    result.flags.writeable = False
    return result


def read_quantities(messages: Iterable[Any]) -> dict[str, float]:
    """Return the values by name; ConfigurationError for a repeated name."""
    values: dict[str, float] = {}
    for message in messages:
        if message.name in values:
            raise ConfigurationError(f"'{message.name}' is given twice")
        values[message.name] = message.value
    return values


def read_command(message: Any) -> Command:
    """Return the command of a Command message; ConfigurationError if it is not finite."""
    x, y, yaw = message.velocity.tolist()
    return Command(velocity=(x, y, yaw), set_points=read_quantities(message.set_points))


def read_observation(message: Any) -> Observation:
    """Return the observation of an Observation message."""
    kind = type(message)
    fields: dict[str, Any] = {
        name: read_array(getattr(message, name), _WIDTHS.get(name, 0))
        for name in OBSERVED_ARRAYS
        if message.given & getattr(kind, name.upper())
    }
    if message.given & kind.IMU:
        imu = read_array(message.imu)
        fields['imu'] = Imu(
            orientation=imu[:4], angular_velocity=imu[4:7], linear_acceleration=imu[7:10]
        )
    if message.given & kind.CONTACTS:
        sole = np.asarray(message.contact_soles, dtype=np.int64).view()
        sole.flags.writeable = False
        fields['contacts'] = Contacts(
            soles=tuple(message.soles),
            sole=sole,
            points=read_array(message.contact_points, 3),
            forces=read_array(message.contact_forces, 3),
            depths=read_array(message.contact_depths),
        )
    return Observation(
        tick=message.tick,
        time=message.time,
        joint_names=tuple(message.joint_names),
        body_names=tuple(message.body_names),
        element_names=tuple(message.element_names),
        **fields,
    )


def read_trajectory(message: Any) -> Trajectory:
    """
    Return the trajectory of a JointTrajectory, without its stamp.

    Raises
    ------
    BadCommand
        For a repeated joint, a wrong length (both sizes named), a number that is not finite, or
        times that do not increase.

    """
    names = tuple(message.joint_names)
    check_message_names(names)
    if len(message.points) > _MAX_POINTS:
        raise BadCommand(f'{len(message.points)} points, expected at most {_MAX_POINTS}')
    return Trajectory(
        names=names,
        times=np.array([to_seconds(point.time_from_start) for point in message.points]),
        **{
            name: _point_rows(message.points, field, len(names))
            for name, field in POINT_FIELDS.items()
        },
    )


def to_seconds(span: Any) -> float:
    """Return a Duration or Time in seconds."""
    return float(span.sec + span.nanosec * 1e-9)


def _point_rows(points: Any, field: str, size: int) -> FloatArray | None:
    """Return a field of all points, (points, size); ``None`` if it is empty in all of them."""
    rows = [getattr(point, field) for point in points]
    if not any(len(row) for row in rows):
        return None
    for number, row in enumerate(rows):
        if len(row) != size:
            raise BadCommand(f'point {number} has {len(row)} {field} for {size} joint names')
    return np.array(rows, dtype=np.float64)
