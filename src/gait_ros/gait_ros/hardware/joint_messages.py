# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions of JointState messages of ros2_control's topic-based hardware."""

from __future__ import annotations

from builtin_interfaces.msg import Time
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from gait_core.errors import BadCommand, excerpt
from gait_core.motion.targets import JointTargets, first_repeated
from gait_core.robot.name_checks import check_message_names
from gait_ros.hardware.motors import JointValues

_FIELDS = ('position', 'velocity', 'effort')


def values_from_joint_state(message: JointState) -> JointValues:
    """
    Return the values of a message; an empty field is None.

    Raises
    ------
    BadCommand
        If there are too many names, a name is repeated, or a field is neither empty nor as long as
        the names.

    """
    names = tuple(message.name)
    check_message_names(names)
    twice = first_repeated(names)
    if twice:
        raise BadCommand(f"joint '{excerpt(twice)}' is given twice in one message")
    fields = {}
    for field in _FIELDS:
        given = getattr(message, field)
        if len(given) not in (0, len(names)):
            raise BadCommand(
                f'{field} has {len(given)} values, expected {len(names)}, one per name'
            )
        fields[field] = np.array(given, dtype=np.float64) if len(given) else None
    return JointValues(names=names, **fields)


def joint_state_from_values(values: JointValues, stamp: Time) -> JointState:
    """Return values as a message."""
    message = JointState(header=Header(stamp=stamp), name=list(values.names))
    for field in _FIELDS:
        array = getattr(values, field)
        if array is not None:
            setattr(message, field, array.tolist())
    return message


def targets_from_values(values: JointValues) -> list[JointTargets]:
    """
    Return the targets of a command, one for each commanded quantity.

    A joint whose value is NaN is left out, and holds: controller_manager writes NaN for an
    interface that no controller claims.
    """
    targets = []
    for field in _FIELDS:
        array = getattr(values, field)
        known = np.flatnonzero(np.isfinite(array)) if array is not None else ()
        if len(known):
            names = tuple(values.names[i] for i in known)
            targets.append(JointTargets(names=names, **{field: array[known]}))
    return targets
