"""
What stands between commands from anywhere and motors: clamps, a speed limit, a soft start, a hold.

Pure: whoever owns the clock and the messages says how much time has passed.
"""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.hardware import JointValues
from gait_core.plausible import IMPLAUSIBLE, position_span
from gait_core.robot.model import RobotModel

_LIMITS = ('position', 'speed', 'velocity', 'effort')
_FIELDS = ('position', 'velocity', 'effort')
_ALMOST = 1e-9
# Longest time for which a command may move its joint at once [s].
_LONGEST = 0.1
# A velocity alone brings its joint to a position limit no sooner than this [s].
_BRAKE = 0.1


class MotorGuard:
    """
    Turns commands for joints into ones that motors can be given.

    A joint's first command begins at its measured position. From there it goes towards what is
    commanded at the start speed at most, until it has met that once; from then on its own speed
    limit holds. The same after ``soften``, from the last command.

    Parameters
    ----------
    robot : RobotModel
    start_speed : float [rad/s or m/s]

    Attributes
    ----------
    measured : (n,) float array [rad or m]
        Plausible positions of ``robot.joint_names``, NaN where there is none.
    implausible : (n,) int array
        How many commands of each joint were refused.
    clamped : dict of str to (n,) int array
        By quantity (``position``, ``speed``, ``velocity``, ``effort``), how many were changed.
    refused_states : int
        How many readings were implausible.

    """

    def __init__(self, robot: RobotModel, start_speed: float = 1.0) -> None:
        self._robot, self.start_speed = robot, start_speed
        n = len(robot.joint_names)
        self._span = position_span(robot)
        self.measured: FloatArray = np.full(n, np.nan)
        self.implausible: IntArray = np.zeros(n, dtype=np.int64)
        self.clamped: dict[str, IntArray] = {
            limit: np.zeros(n, dtype=np.int64) for limit in _LIMITS
        }
        self.refused_states = 0
        self.release()

    def forget(self) -> None:
        """Forget what was measured and commanded."""
        self.measured[:] = np.nan
        self.release()

    def release(self) -> None:
        """Forget every command: the next ones begin at the measured pose."""
        n = len(self._robot.joint_names)
        self._last = {field: np.full(n, np.nan) for field in _FIELDS}
        self.soften()

    def release_joint(self, name: str) -> None:
        """Forget the commands of one joint, which is to begin at its measured position again."""
        for values in self._last.values():
            values[self._robot.joint_index[name]] = np.nan

    def soften(self) -> None:
        """Go on at the start speed until each joint has met what is commanded."""
        self._soft: BoolArray = np.ones(len(self._robot.joint_names), dtype=np.bool_)

    def measure(self, states: JointValues) -> JointValues:
        """Take joint states and return them with NaN for what is not plausible."""
        rows = self._rows(states.names)
        kept: dict[str, FloatArray] = {}
        for field in _FIELDS:
            given = getattr(states, field)
            if given is not None:
                low, high = self._bounds(field, rows)
                true = (given >= low) & (given <= high)
                self.refused_states += int((~true & ~np.isnan(given)).sum())
                kept[field] = np.where(true, given, np.nan)
        position = kept.get('position')
        if position is not None:
            known = ~np.isnan(position)
            self.measured[rows[known]] = position[known]
        return JointValues(names=states.names, **kept)

    def command(self, given: JointValues, dt: float) -> JointValues:
        """
        Return what motors are to be given for a command.

        NaN means not commanded: what was commanded before ends in a hold. A joint with a value
        that is infinite or far beyond holds, too.

        Parameters
        ----------
        given : JointValues
            Of joints that the robot has and that were measured.
        dt : float [s]
            Since the last command.

        """
        rows = self._rows(given.names)
        reach = min(max(dt, 0.0), _LONGEST)
        refused = self._refused(rows, given)
        bounded: dict[str, FloatArray] = {}
        if given.position is not None:
            bounded['position'] = self._position(rows, given.position, refused, reach)
        if given.velocity is not None:
            alone = np.ones(len(rows), dtype=np.bool_)
            if given.position is not None:
                alone = np.isnan(bounded['position'])
            wanted = np.where(refused, 0.0, given.velocity)
            bounded['velocity'] = self._velocity(rows, wanted, alone)
        if given.effort is not None:
            wanted = np.where(refused, 0.0, given.effort)
            bounded['effort'] = self._effort(rows, wanted)
        self._end_lapsed(rows, bounded)
        for field, values in bounded.items():
            known = ~np.isnan(values)
            self._last[field][rows[known]] = values[known]
        return _told(given.names, bounded)

    def _end_lapsed(self, rows: IntArray, bounded: dict[str, FloatArray]) -> None:
        """Stop what was commanded before and is not commanded any more: a motor would go on."""
        told = np.zeros(len(rows), dtype=np.bool_)
        for values in bounded.values():
            told |= ~np.isnan(values)
        for field in _FIELDS:
            last = self._last[field][rows]
            values = bounded.get(field, np.full(len(rows), np.nan))
            lapsed = np.isnan(values) & ~np.isnan(last)
            if field == 'position':
                # A joint that is moved by other means now must not be held by its position.
                self._last[field][rows[lapsed & told]] = np.nan
                bounded[field] = np.where(lapsed & ~told, last, values)
            else:
                bounded[field] = np.where(lapsed, 0.0, values)

    def hold(self) -> JointValues:
        """
        Return what stops every joint that was commanded.

        That is its last position, velocity zero and effort zero, each where it was commanded.
        """
        position, velocity, effort = (self._last[field] for field in _FIELDS)
        return _told(
            self._robot.joint_names,
            {'position': position, 'velocity': 0.0 * velocity, 'effort': 0.0 * effort},
        )

    def _rows(self, names: tuple[str, ...]) -> IntArray:
        return np.array([self._robot.joint_index[name] for name in names], dtype=np.int64)

    def _refused(self, rows: IntArray, given: JointValues) -> BoolArray:
        """Count and return the joints of whose command some value is not plausible."""
        refused = np.zeros(len(rows), dtype=np.bool_)
        for field in _FIELDS:
            values = getattr(given, field)
            if values is not None:
                low, high = self._bounds(field, rows)
                refused |= ~((values >= low) & (values <= high)) & ~np.isnan(values)
        self.implausible[rows[refused]] += 1
        return refused

    def _bounds(self, field: str, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest plausible value of a quantity of joints."""
        if field == 'position':
            return self._span[0, rows], self._span[1, rows]
        greatest = np.full(len(rows), IMPLAUSIBLE)
        return -greatest, greatest

    def _position(
        self, rows: IntArray, given: FloatArray, refused: BoolArray, dt: float
    ) -> FloatArray:
        robot, last = self._robot, self._last['position'][rows]
        kept = np.where(np.isnan(last), self.measured[rows], last)
        wanted = np.where(refused & ~np.isnan(given), kept, given)
        inside = np.clip(wanted, robot.lower[rows], robot.upper[rows])
        self._count('position', rows, inside, wanted)
        speed = robot.velocity_limit[rows]
        soft = self._soft[rows]
        speed = np.where(soft, np.minimum(speed, self.start_speed), speed)
        step = speed * dt if dt > 0.0 else np.zeros(len(rows))
        step[np.isnan(last)] = 0.0
        # Of a joint without a limit of speed nothing is known: it may go at once.
        free = np.isinf(speed)
        moved = np.where(free, inside, np.clip(inside, kept - step, kept + step))
        if dt > 0.0:
            self._count('speed', rows[~soft], moved[~soft], inside[~soft])
        met = (np.abs(moved - inside) <= _ALMOST) & ~refused
        self._soft[rows[met]] = False
        return moved

    def _velocity(self, rows: IntArray, given: FloatArray, alone: BoolArray) -> FloatArray:
        robot = self._robot
        limit = robot.velocity_limit[rows]
        inside = np.clip(given, -limit, limit)
        self._count('velocity', rows, inside, given)
        down, up = self._ways(rows)
        stopped = np.where(alone, np.clip(inside, -down / _BRAKE, up / _BRAKE), inside)
        self._count('position', rows, stopped, inside)
        slow = np.minimum(limit, self.start_speed)
        return np.where(self._soft[rows] & ~alone, np.clip(stopped, -slow, slow), stopped)

    def _effort(self, rows: IntArray, given: FloatArray) -> FloatArray:
        limit = self._robot.effort_limit[rows]
        inside = np.clip(given, -limit, limit)
        self._count('effort', rows, inside, given)
        return inside

    def _ways(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how far joints are above and below their position limits, at least 0 each."""
        at = self.measured[rows]
        down, up = at - self._robot.lower[rows], self._robot.upper[rows] - at
        return np.maximum(down, 0.0), np.maximum(up, 0.0)

    def _count(self, limit: str, rows: IntArray, given: FloatArray, wanted: FloatArray) -> None:
        self.clamped[limit][rows[np.abs(given - wanted) > _ALMOST]] += 1


def _told(names: tuple[str, ...], values: dict[str, FloatArray]) -> JointValues:
    """Return values without the joints and quantities of which nothing is commanded."""
    told = np.zeros(len(names), dtype=np.bool_)
    for value in values.values():
        told |= ~np.isnan(value)
    return JointValues(
        names=tuple(name for name, known in zip(names, told, strict=True) if known),
        **{
            field: value[told] if not np.isnan(value[told]).all() else None
            for field, value in values.items()
        },
    )
