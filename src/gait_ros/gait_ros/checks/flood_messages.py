# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Valid and invalid messages of any type, for the flood test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count
import math
from typing import Any

import numpy as np

from gait_core.robot.model import RobotModel

_OVERSIZE = 5000
# Seconds of the latest time that a stamp can hold.
_FUTURE = 2**31 - 1


def valid_message(kind: Any, robot: RobotModel) -> Any:
    """Return a message of a type with valid content for a robot."""
    message = kind()
    names, stance = list(robot.joint_names), robot.joint_stance.tolist()
    fields = kind.get_fields_and_field_types()
    if 'joint_names' in fields:
        message.joint_names = names
    if kind.__name__ == 'JointState':
        message.name, message.position = names, stance
    if kind.__name__ == 'JointTrajectory':
        from trajectory_msgs.msg import JointTrajectoryPoint

        point = JointTrajectoryPoint(positions=stance)
        point.time_from_start.nanosec = 20_000_000
        message.points = [point]
    if kind.__name__ == 'Float64MultiArray':
        message.data = stance
    if kind.__name__ in ('Imu', 'Pose'):
        message.orientation.w = 1.0
    if kind.__name__ == 'Odometry':
        message.pose.pose.orientation.w = 1.0
    if kind.__name__ == 'Bool':
        message.data = True
    if kind.__name__ == 'Twist':
        message.linear.x = 0.1
    if kind.__name__ == 'FootContacts':
        message.soles = list(robot.soles)
    return message


def hostile_messages(kind: Any, robot: RobotModel) -> Iterator[Any]:
    """Yield endless messages of a type: every kind of fault in turn, between valid ones."""
    valid = valid_message(kind, robot)
    fixed = [
        kind(),
        change_fields(valid, _reverse),
        change_fields(valid, lambda name, value: [] if _is_list(value) else value),
        change_fields(valid, _enlarge, inside=False),
        *(
            change_fields(
                valid, lambda name, value, number=number: _replace_numbers(value, number)
            )
            for number in (math.nan, math.inf, 1e308, -1e308)
        ),
        *(_set_stamp(valid, second) for second in (1, _FUTURE)),
    ]
    for number in count():
        for bad in fixed:
            yield from (valid, bad, valid)
        # New unknown names in every round reveal a node that stores all of them.
        yield change_fields(valid, lambda name, value, number=number: _rename(value, number))


def change_fields(message: Any, change: Callable[[str, Any], Any], *, inside: bool = True) -> Any:
    """Return a copy of a message with changed fields; with ``inside`` also of list items."""
    result = deepcopy(message)
    _change(result, change, inside)
    return result


def _change(message: Any, change: Callable[[str, Any], Any], inside: bool) -> None:
    """Change the fields of a message and its nested messages in place."""
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        if hasattr(value, 'get_fields_and_field_types'):
            _change(value, change, inside)
            continue
        is_nested = (
            _is_list(value) and len(value) and hasattr(value[0], 'get_fields_and_field_types')
        )
        for item in value if is_nested and inside else ():
            _change(item, change, inside)
        after = change(name, value)
        if isinstance(value, np.ndarray):
            # Keep the fixed size of the array, which rclpy does not check.
            after = np.array(after, dtype=value.dtype) if len(after) == len(value) else value
        setattr(message, name, after)


def _is_list(value: Any) -> bool:
    return hasattr(value, '__len__') and not isinstance(value, str)


def _is_text_list(value: Any) -> bool:
    return _is_list(value) and bool(len(value)) and isinstance(value[0], str)


def _reverse(name: str, value: Any) -> Any:
    return list(value)[::-1] if _is_list(value) else value


def _enlarge(name: str, value: Any) -> Any:
    if _is_text_list(value):
        return [f'{name}_{number}' for number in range(_OVERSIZE)]
    if _is_list(value) and len(value):
        return [value[0]] * _OVERSIZE
    return 1000 * 'a' if isinstance(value, str) else value


def _replace_numbers(value: Any, number: float) -> Any:
    if isinstance(value, float):
        return number
    if _is_list(value) and len(value) and isinstance(value[0], float):
        return [number] * len(value)
    return value


def _rename(value: Any, number: int) -> Any:
    return [f'{text}_{number}' for text in value] if _is_text_list(value) else value


def _set_stamp(message: Any, second: int) -> Any:
    result = deepcopy(message)
    for stamp in (getattr(result, 'header', None), result):
        if hasattr(stamp, 'stamp'):
            stamp.stamp.sec = second
    return result
