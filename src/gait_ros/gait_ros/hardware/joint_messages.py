"""JointState as controller_manager's topic-based hardware speaks it, to values and targets."""

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
    Return a message's values; a field without any is ``None``.

    Raises
    ------
    BadCommand
        For too many names, a repeated one, or a field that is neither empty nor of that length.

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
    """Return the message of some values."""
    message = JointState(header=Header(stamp=stamp), name=list(values.names))
    for field in _FIELDS:
        array = getattr(values, field)
        if array is not None:
            setattr(message, field, array.tolist())
    return message


def targets_from_values(values: JointValues) -> list[JointTargets]:
    """
    Return the targets of a command, one per quantity that is commanded of some joint.

    controller_manager writes NaN for what no controller claims: such a joint holds.
    """
    targets = []
    for field in _FIELDS:
        array = getattr(values, field)
        known = np.flatnonzero(np.isfinite(array)) if array is not None else ()
        if len(known):
            names = tuple(values.names[i] for i in known)
            targets.append(JointTargets(names=names, **{field: array[known]}))
    return targets
