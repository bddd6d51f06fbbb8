# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Limits, soft start and hold of commands to motors, per joint.

The guard has no clock and knows no messages: the caller passes the time between commands.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.robot.model import RobotModel
from gait_core.safety.plausibility import MAX_PLAUSIBLE, plausible_positions
from gait_ros.hardware.motors import JointValues

_LIMITS = ('position', 'speed', 'velocity', 'effort')
_FIELDS = ('position', 'velocity', 'effort')
_TOLERANCE = 1e-9
# Upper bound of the time [s] since the last command, so that a joint does not make up for a pause
# of the commands in one step.
_MAX_COMMAND_PERIOD = 0.1
# Time [s] in which a velocity without a position may bring a joint to its position limit: the
# joint slows down exponentially on its way there.
_BRAKE_TIME = 0.1


class MotorGuard:
    """
    Limiter of joint commands on their way to motors.

    The first command of a joint is its measured position. From there it moves to the commanded
    position at ``start_speed`` at most. Once it has reached that, only the joint's own speed limit
    holds. After ``soften`` it does the same from its last command.

    Parameters
    ----------
    robot : RobotModel
    start_speed : float [rad/s or m/s]

    Attributes
    ----------
    measured : (n,) float array [rad or m]
        Last plausible positions of ``robot.joint_names``; NaN before the first.
    implausible_counts : (n,) int array
        Number of refused implausible commands of each joint.
    clamp_counts : dict of str to (n,) int array
        Number of clamped commands of each joint by quantity: ``position``, ``speed`` (change of
        the position), ``velocity``, ``effort``.
    refused_states : int
        Number of refused implausible readings.

    """

    def __init__(self, robot: RobotModel, start_speed: float = 1.0) -> None:
        self._robot, self.start_speed = robot, start_speed
        n = len(robot.joint_names)
        self._span = plausible_positions(robot)
        self.measured: FloatArray = np.full(n, np.nan)
        self.implausible_counts: IntArray = np.zeros(n, dtype=np.int64)
        self.clamp_counts: dict[str, IntArray] = {
            limit: np.zeros(n, dtype=np.int64) for limit in _LIMITS
        }
        self.refused_states = 0
        self.forget_commands()

    def reset(self) -> None:
        """Forget the measured positions and all commands."""
        self.measured[:] = np.nan
        self.forget_commands()

    def forget_commands(self) -> None:
        """Forget all commands; the next ones begin at the measured pose."""
        n = len(self._robot.joint_names)
        self._last = {field: np.full(n, np.nan) for field in _FIELDS}
        self.soften()

    def forget_position(self, name: str) -> None:
        """
        Forget the position command of a joint; the next one begins at its measured position.

        A hold still stops its velocity and effort.
        """
        self._last['position'][self._robot.joint_index[name]] = np.nan

    def soften(self) -> None:
        """Limit each joint to the start speed until it has reached its commanded position."""
        self._soft: BoolArray = np.ones(len(self._robot.joint_names), dtype=np.bool_)

    def measure(self, states: JointValues) -> JointValues:
        """Update ``measured``, and return the joint states with NaN for implausible values."""
        rows = self._rows(states.names)
        kept: dict[str, FloatArray] = {}
        for field in _FIELDS:
            values = getattr(states, field)
            if values is not None:
                low, high = self._plausible_range(field, rows)
                plausible = (values >= low) & (values <= high)
                self.refused_states += int((~plausible & ~np.isnan(values)).sum())
                kept[field] = np.where(plausible, values, np.nan)
        position = kept.get('position')
        if position is not None:
            known = ~np.isnan(position)
            self.measured[rows[known]] = position[known]
        return JointValues(names=states.names, **kept)

    def limit_command(self, command: JointValues, dt: float) -> JointValues:
        """
        Return the limited command.

        NaN means not commanded: a joint that was commanded before holds. A joint with an
        implausible value holds too.

        Parameters
        ----------
        command : JointValues
            Command; every joint must have a measured position.
        dt : float [s]
            Time since the last command.

        """
        rows = self._rows(command.names)
        period = min(max(dt, 0.0), _MAX_COMMAND_PERIOD)
        # An implausible value in any quantity refuses the whole command of its joint.
        refused = self._refuse_implausible(rows, command)
        bounded: dict[str, FloatArray] = {}
        if command.position is not None:
            bounded['position'] = self._limit_position(rows, command.position, refused, period)
        if command.velocity is not None:
            # Joints that are commanded by velocity alone: only a limit of the velocity keeps them
            # within their position limits.
            alone = np.ones(len(rows), dtype=np.bool_)
            if command.position is not None:
                alone = np.isnan(bounded['position'])
            velocity = np.where(refused, 0.0, command.velocity)
            bounded['velocity'] = self._limit_velocity(rows, velocity, alone)
        if command.effort is not None:
            effort = np.where(refused, 0.0, command.effort)
            bounded['effort'] = self._limit_effort(rows, effort)
        self._stop_lapsed(rows, bounded)
        for field, values in bounded.items():
            known = ~np.isnan(values)
            self._last[field][rows[known]] = values[known]
        return _without_nan(command.names, bounded)

    def _stop_lapsed(self, rows: IntArray, bounded: dict[str, FloatArray]) -> None:
        """
        Add a stop for each quantity that was commanded before and is not commanded any more.

        Without it a motor would go on with its last velocity or effort.
        """
        commanded = np.zeros(len(rows), dtype=np.bool_)
        for values in bounded.values():
            commanded |= ~np.isnan(values)
        for field in _FIELDS:
            last = self._last[field][rows]
            values = bounded.get(field, np.full(len(rows), np.nan))
            lapsed = np.isnan(values) & ~np.isnan(last)
            if field == 'position':
                # When position commands begin again, they may be far away: approach them softly.
                self._soft[rows[lapsed]] = True
                # A joint that is now commanded by velocity or effort must not be held at its last
                # position against them.
                self._last[field][rows[lapsed & commanded]] = np.nan
                bounded[field] = np.where(lapsed & ~commanded, last, values)
            else:
                bounded[field] = np.where(lapsed, 0.0, values)

    def hold(self) -> JointValues:
        """
        Return the command that stops every joint that was commanded.

        It has the last position, zero velocity and zero effort, each where it was commanded.
        """
        position, velocity, effort = (self._last[field] for field in _FIELDS)
        return _without_nan(
            self._robot.joint_names,
            {'position': position, 'velocity': 0.0 * velocity, 'effort': 0.0 * effort},
        )

    def _rows(self, names: tuple[str, ...]) -> IntArray:
        return np.array([self._robot.joint_index[name] for name in names], dtype=np.int64)

    def _refuse_implausible(self, rows: IntArray, command: JointValues) -> BoolArray:
        """Count and return the joints with an implausible value in their command."""
        refused = np.zeros(len(rows), dtype=np.bool_)
        for field in _FIELDS:
            values = getattr(command, field)
            if values is not None:
                low, high = self._plausible_range(field, rows)
                refused |= ~((values >= low) & (values <= high)) & ~np.isnan(values)
        self.implausible_counts[rows[refused]] += 1
        return refused

    def _plausible_range(self, field: str, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest plausible values of a quantity of joints."""
        if field == 'position':
            return self._span[0, rows], self._span[1, rows]
        greatest = np.full(len(rows), MAX_PLAUSIBLE)
        return -greatest, greatest

    def _limit_position(
        self, rows: IntArray, command: FloatArray, refused: BoolArray, dt: float
    ) -> FloatArray:
        """Return limited positions: inside the limits, and one step from the last at most."""
        robot, last = self._robot, self._last['position'][rows]
        # Steps start from the last command, or from the measured position before the first.
        start = np.where(np.isnan(last), self.measured[rows], last)
        # A refused command holds the joint where it is.
        command = np.where(refused & ~np.isnan(command), start, command)
        inside = np.clip(command, robot.lower[rows], robot.upper[rows])
        self._count_clamps('position', rows, inside, command)
        speed = robot.velocity_limit[rows]
        soft = self._soft[rows]
        speed = np.where(soft, np.minimum(speed, self.start_speed), speed)
        step = speed * dt if dt > 0.0 else np.zeros(len(rows))
        # The first command is the measured position itself.
        step[np.isnan(last)] = 0.0
        # After its soft start, a joint without a speed limit may move in one step.
        free = np.isinf(speed)
        target = np.where(free, inside, np.clip(inside, start - step, start + step))
        # Count only clamps by the limit of the joint: the soft start is slower on purpose.
        if dt > 0.0:
            self._count_clamps('speed', rows[~soft], target[~soft], inside[~soft])
        reached = (np.abs(target - inside) <= _TOLERANCE) & ~refused
        self._soft[rows[reached]] = False
        return target

    def _limit_velocity(
        self, rows: IntArray, command: FloatArray, is_alone: BoolArray
    ) -> FloatArray:
        """Return limited velocities; ``is_alone`` marks joints commanded without a position."""
        robot = self._robot
        limit = robot.velocity_limit[rows]
        inside = np.clip(command, -limit, limit)
        self._count_clamps('velocity', rows, inside, command)
        # A velocity alone must not move a joint beyond its position limits: it is at most
        # proportional to the distance from the limit, and so decays exponentially.
        down, up = self._distances_to_limits(rows)
        stopped = np.where(
            is_alone, np.clip(inside, -down / _BRAKE_TIME, up / _BRAKE_TIME), inside
        )
        self._count_clamps('position', rows, stopped, inside)
        # During the soft start of a position, its velocity is limited too. A velocity alone has no
        # soft start, because no position would end it.
        start_limit = np.minimum(limit, self.start_speed)
        soft = self._soft[rows] & ~is_alone
        return np.where(soft, np.clip(stopped, -start_limit, start_limit), stopped)

    def _limit_effort(self, rows: IntArray, command: FloatArray) -> FloatArray:
        limit = self._robot.effort_limit[rows]
        inside = np.clip(command, -limit, limit)
        self._count_clamps('effort', rows, inside, command)
        return inside

    def _distances_to_limits(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the measured distances down and up to the position limits, at least 0 each."""
        position = self.measured[rows]
        down, up = position - self._robot.lower[rows], self._robot.upper[rows] - position
        return np.maximum(down, 0.0), np.maximum(up, 0.0)

    def _count_clamps(
        self, limit: str, rows: IntArray, clamped: FloatArray, command: FloatArray
    ) -> None:
        self.clamp_counts[limit][rows[np.abs(clamped - command) > _TOLERANCE]] += 1


def _without_nan(names: tuple[str, ...], values: dict[str, FloatArray]) -> JointValues:
    """Return joint values without the joints and quantities that are NaN throughout."""
    commanded = np.zeros(len(names), dtype=np.bool_)
    for value in values.values():
        commanded |= ~np.isnan(value)
    return JointValues(
        names=tuple(name for name, known in zip(names, commanded, strict=True) if known),
        **{
            field: value[commanded] if not np.isnan(value[commanded]).all() else None
            for field, value in values.items()
        },
    )
