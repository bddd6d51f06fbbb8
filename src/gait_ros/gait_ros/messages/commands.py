# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint targets as messages of ros2_control, and states of a gait."""

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

# Prefix of the names of stance states in the state of a controller.
_STANCE = 'stance.'
# Longest time [s] until a trajectory may start: clocks differ by years, plans by seconds.
_MAX_DELAY = 60.0


def to_commands(applied: AppliedTargets, interface: str) -> Float64MultiArray:
    """Return the targets of all joints in one quantity, for a forward command controller."""
    return Float64MultiArray(data=getattr(applied, interface)[-1].tolist())


def to_gait_state(
    stamp: Any, controller: str, state: Mapping[str, float], behaviour: str = ''
) -> GaitState:
    """
    Return the state and the behaviour of a controller as a message.

    ``phase``, ``stage`` and ``stance.<leg>`` (1 in stance, 0 in swing) of the state have their own
    fields.
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
    Return the trajectory of a message, and the time [s] until it starts.

    Parameters
    ----------
    message : JointTrajectory
        A stamp of zero starts the trajectory at once.
    now : int [ns]
        Present time by the clock of the stamp.

    Raises
    ------
    BadCommand
        If a joint is repeated, a length is wrong, a value is not finite, times do not increase, or
        the trajectory ended in the past or starts in more than 60 s.

    """
    trajectory = read_trajectory(message)
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    delay = (stamp - now) * 1e-9 if stamp else 0.0
    if delay + trajectory.end < 0.0:
        raise BadCommand(
            f'the trajectory ended {-(delay + trajectory.end):.3f} s ago; a stamp of 0 starts it '
            'at once'
        )
    if delay > _MAX_DELAY:
        raise BadCommand(
            f'the trajectory starts in {delay:.0f} s, beyond the limit of {_MAX_DELAY:g}: is its '
            'stamp of another clock? A stamp of 0 starts it at once'
        )
    return trajectory, delay


def from_commands(
    message: Float64MultiArray, names: tuple[str, ...], interface: str
) -> JointTargets:
    """Return the targets of a forward command message; raise BadCommand for a wrong length."""
    if len(message.data) != len(names):
        raise BadCommand(
            f'commands has {len(message.data)} values, expected {len(names)}, one per joint'
        )
    return JointTargets(names=names, **{interface: np.array(message.data, dtype=np.float64)})
