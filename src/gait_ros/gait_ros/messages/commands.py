"""Joint targets from and to messages of ros2_control's controllers, and a gait_state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from gait_core.errors import BadCommand
from gait_core.messages.reader import read_trajectory
from gait_core.motion.targets import AppliedTargets, JointTargets
from gait_core.motion.trajectory import Trajectory
from gait_interfaces.msg import GaitState
from gait_ros.messages.conversions import BUILDER

_STANCE = 'stance.'


def to_commands(applied: AppliedTargets, interface: str) -> Float64MultiArray:
    """Return every joint's target of one quantity, as forward command controllers take it."""
    return Float64MultiArray(data=getattr(applied, interface)[-1].tolist())


def to_gait_state(
    stamp: Any, controller: str, state: Mapping[str, float], behaviour: str = ''
) -> GaitState:
    """
    Return what a controller reports of itself, and which behaviours it mixes.

    ``phase``, ``stage`` and ``stance.<leg>`` (1 in stance, 0 in swing) have fields of their own.
    """
    message = GaitState(
        controller=controller, behaviour=behaviour, values=BUILDER.quantities(state)
    )
    message.header.stamp = stamp
    for name in ('phase', 'stage'):
        if name in state:
            setattr(message, name, [float(state[name])])
    legs = [name[len(_STANCE) :] for name in state if name.startswith(_STANCE)]
    message.legs = legs
    message.leg_states = [
        GaitState.STANCE if state[_STANCE + leg] > 0.5 else GaitState.SWING for leg in legs
    ]
    return message


def from_trajectory(message: JointTrajectory, now: int) -> tuple[Trajectory, float]:
    """
    Return a message's trajectory and in how many seconds it starts.

    Parameters
    ----------
    message : JointTrajectory
        A stamp of zero starts it at once.
    now : int [ns]
        On the clock of the stamp.

    Raises
    ------
    BadCommand
        For a repeated joint, a wrong length (both sizes named), a number that is not finite,
        times that do not increase, or an end in the past.

    """
    trajectory = read_trajectory(message)
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    delay = (stamp - now) * 1e-9 if stamp else 0.0
    if delay + trajectory.end < 0.0:
        raise BadCommand(
            f'the trajectory ended {-(delay + trajectory.end):.3f} s ago; a stamp of 0 starts it '
            'at once'
        )
    return trajectory, delay


def from_commands(
    message: Float64MultiArray, names: tuple[str, ...], interface: str
) -> JointTargets:
    """Return the targets of a forward command message; BadCommand names both sizes."""
    if len(message.data) != len(names):
        raise BadCommand(
            f'commands has {len(message.data)} values, expected {len(names)}, one per joint'
        )
    return JointTargets(names=names, **{interface: np.array(message.data, dtype=np.float64)})
