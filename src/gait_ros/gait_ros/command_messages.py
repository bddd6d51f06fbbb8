"""Joint targets to and from the messages of ros2_control, and a controller's gait_state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Duration
import numpy as np
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand
from gait_core.names import check_names
from gait_core.targets import AppliedTargets, JointTargets
from gait_core.trajectory import Trajectory
from gait_interfaces.msg import GaitState
from gait_ros.conversions import to_quantities

_STANCE = 'stance.'
_MOST_POINTS = 10_000


def duration(seconds: float) -> Duration:
    """Return a span of time, to the nanosecond."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def to_trajectory(targets: JointTargets, dt: float) -> JointTrajectory:
    """
    Return the trajectory of one control period of length dt [s].

    It starts on arrival (stamp 0) and has one point per sub-sample, the last at the period's end:
    no controller finds it in its past.
    """
    rows = targets.sub_samples
    points = []
    for row in range(rows):
        point = JointTrajectoryPoint(time_from_start=duration(dt * (row + 1) / rows))
        if targets.position is not None:
            point.positions = targets.position[row].tolist()
        if targets.velocity is not None:
            point.velocities = targets.velocity[row].tolist()
        if targets.effort is not None:
            point.effort = targets.effort[row].tolist()
        points.append(point)
    return JointTrajectory(joint_names=list(targets.names), points=points)


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
    message = GaitState(controller=controller, behaviour=behaviour, values=to_quantities(state))
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
    names = tuple(message.joint_names)
    check_names(names)
    if len(message.points) > _MOST_POINTS:
        raise BadCommand(f'{len(message.points)} points, expected at most {_MOST_POINTS}')
    times = [seconds(point.time_from_start) for point in message.points]
    fields = {
        field: _rows(message, source, len(names))
        for field, source in (
            ('position', 'positions'),
            ('velocity', 'velocities'),
            ('effort', 'effort'),
        )
    }
    trajectory = Trajectory(names=names, times=np.array(times), **fields)
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    delay = (stamp - now) * 1e-9 if stamp else 0.0
    if delay + trajectory.end < 0.0:
        raise BadCommand(
            f'the trajectory ended {-(delay + trajectory.end):.3f} s ago; a stamp of 0 starts it '
            'at once'
        )
    return trajectory, delay


def seconds(span: Duration) -> float:
    """Return a span of time in seconds."""
    return float(span.sec + span.nanosec * 1e-9)


def _rows(message: JointTrajectory, field: str, size: int) -> FloatArray | None:
    rows = [getattr(point, field) for point in message.points]
    if not any(len(row) for row in rows):
        return None
    for number, row in enumerate(rows):
        if len(row) != size:
            raise BadCommand(f'point {number} has {len(row)} {field} for {size} joint names')
    return np.array(rows, dtype=np.float64)


def from_commands(
    message: Float64MultiArray, names: tuple[str, ...], interface: str
) -> JointTargets:
    """Return the targets of a forward command message; BadCommand names both sizes."""
    if len(message.data) != len(names):
        raise BadCommand(f'commands has {len(message.data)} values for {len(names)} joints')
    return JointTargets(names=names, **{interface: np.array(message.data, dtype=np.float64)})
