"""
The walk as planned: which foot stands and which swings, zero-moment point, centre of mass.

Time runs in whole periods of a grid. A step is a double support, in which the zero-moment point
goes over from one sole to the other, and a single support, in which it stays there while the other
foot swings. What is to come is predicted from the twist of now for as long as the preview looks.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple

from numba import njit
import numpy as np

from gait_core.arrays import FloatArray
from gait_stage_walk.zmp.footsteps import (
    ZERO_TWIST,
    Pose,
    Twist,
    compose_poses,
    next_foothold,
    poses_match,
)
from gait_stage_walk.zmp.mass_model import MassModel
from gait_stage_walk.zmp.preview import GRAVITY, PreviewGains, integrate_jerk, write_preview_jerk
from gait_stage_walk.zmp.swing import (
    ARRIVAL_SHARE,
    quintic_to_rest,
    swing_height,
    write_path_state,
)

LEFT, RIGHT = 0, 1
SIDE_SIGNS = (1.0, -1.0)
STAND, SHIFT, SWING = range(3)
"""Stages: on both feet at rest, going over to one of them, on one of them."""
_FIRST_SHIFT = 2.5
"""Time constants in which the mass is first led over one foot, and back between both."""
_MAX_KNOTS = 64
_MAX_SHIFT, _MAX_INWARD_SHIFT, _MIN_TIME_LEFT = 1.5, 0.2, 0.15
"""How far a foot is led from its place, also toward the other one, in halves of the width of the
stance; and the share of a swing that has to be left for it."""


@dataclass(frozen=True, kw_only=True)
class StepShape:
    """
    Shape of steps.

    Attributes
    ----------
    step_time : float [s]
        From foot to foot.
    double_share : float
        Share of it on both feet.
    clearance : float [m]
        Of a foot at mid-swing.
    forward, inward : float [m]
        Of the zero-moment point on a sole, from its point, the second toward the other foot.

    """

    step_time: float
    double_share: float
    clearance: float
    forward: float
    inward: float


class WalkPlan:
    """
    The plan of one walk, from standing to standing.

    Parameters
    ----------
    feet : (2, 2) array [m]
        Places of the left and the right foot, both pointing forward.
    com : (2,) array [m]
        At rest.
    gains : PreviewGains
        Of the mass model's height.
    mass : MassModel
    shape : StepShape

    Attributes
    ----------
    feet : list of two poses
        Of feet on the ground; of one in the air, whence it came.
    stage, support : int
    state : (3, 2) array
        Position, velocity and acceleration of the centre of mass.
    steps : int
        Feet put down so far.

    """

    def __init__(
        self,
        feet: FloatArray,
        com: FloatArray,
        gains: PreviewGains,
        mass: MassModel,
        shape: StepShape,
    ) -> None:
        self.feet: list[Pose] = [(float(x), float(y), 0.0) for x, y in feet]
        self.half_width = 0.5 * float(feet[LEFT, 1] - feet[RIGHT, 1])
        self.state = np.array([com, (0.0, 0.0), (0.0, 0.0)])
        self.stage, self.support, self.steps = STAND, LEFT, 0
        self.foothold: Pose = self.feet[RIGHT]
        self._planned_foothold = self.foothold
        self._tick, self._stage_start, self._lift_off, self._stage_end = -1, 0, 0, 0
        self._path: FloatArray = np.zeros((6, 3))
        self._path_start, self._path_duration = 0, 0.0
        self._jerk: FloatArray = np.zeros(2)
        self._com: FloatArray = np.zeros((3, 2))
        self._path_state: FloatArray = np.zeros((3, 3))
        self._knots: FloatArray = np.zeros((_MAX_KNOTS, 3))
        self._swings: list[tuple[int, Pose, Pose, int]] = []
        self.set_model(gains, mass)
        self.set_shape(shape)
        self._apply_shape()
        self._zmp_start = self._zmp_between(self.feet)

    def set_model(self, gains: PreviewGains, mass: MassModel) -> None:
        """Take the gains and the mass model of another height, all of the same period."""
        self._gains, self._mass = gains, mass
        self._reference: FloatArray = np.zeros((len(gains.forward), 2))

    def set_shape(self, shape: StepShape) -> None:
        """Take the shape of the steps that begin from now on."""
        self._next_shape = shape

    def _apply_shape(self) -> None:
        period, shape = self._gains.period, self._next_shape
        self._double_periods = max(2, round(shape.double_share * shape.step_time / period))
        self._swing_periods = max(4, round(shape.step_time / period) - self._double_periods)
        self._first_shift_periods = max(
            2 * self._double_periods, round(_FIRST_SHIFT / self._gains.natural_rate / period)
        )
        self._shape = shape

    @property
    def step_time(self) -> float:
        """Of a step, in whole periods [s]."""
        return (self._double_periods + self._swing_periods) * self._gains.period

    @property
    def swing(self) -> int:
        """The foot that does not support."""
        return 1 - self.support

    def advance(self, twist: Twist) -> None:
        """Begin the next period of the grid, in which the jerk is constant."""
        if self._tick >= 0:
            integrate_jerk(self.state, self._jerk, self._gains.period, self.state)
        self._tick += 1
        self._update_stage(twist)
        count = self._predict_zmp(twist)
        sample_polyline(self._knots, count, self._tick, self._reference)
        self._subtract_swings()
        gains = self._gains
        write_preview_jerk(gains.feedback, gains.forward, self.state, self._reference, self._jerk)

    def com_at(self, time: float) -> FloatArray:
        """Return position, velocity and acceleration, (3, 2), so long after the period began."""
        integrate_jerk(self.state, self._jerk, time, self._com)
        return self._com

    def feet_at(self, time: float, feet: FloatArray) -> None:
        """Write x, y, z and yaw of both feet, (2, 4), so long [s] after the period began."""
        for foot in (LEFT, RIGHT):
            x, y, yaw = self.feet[foot]
            feet[foot] = (x, y, 0.0, yaw)
        if self.stage == SWING:
            period = self._gains.period
            since = (self._tick - self._path_start) * period + time
            write_path_state(self._path, min(since, self._path_duration), self._path_state)
            x, y, yaw = self._path_state[0]
            share = ((self._tick - self._lift_off) * period + time) / (
                self._swing_periods * period
            )
            feet[self.swing] = (x, y, swing_height(share, self._shape.clearance), yaw)

    @property
    def phase(self) -> float:
        """From 0 at the lift of the left foot to 2 pi [rad]; 0 while standing."""
        if self.stage == STAND:
            return 0.0
        if self.stage == SWING:
            done, last = self._tick - self._lift_off, self.swing
        else:
            done = self._swing_periods + min(self._tick - self._stage_start, self._double_periods)
            last = self.support
        return (
            math.pi
            * (done / (self._swing_periods + self._double_periods) + (last == RIGHT))
            % math.tau
        )

    @property
    def remaining(self) -> float:
        """Time until the foot in the air lands [s]."""
        return (self._stage_end - self._tick) * self._gains.period

    def shift_foothold(self, ahead: float, left: float) -> None:
        """
        Lead the foot in the air elsewhere than planned, as far as is safe, unless it is landing.

        Parameters
        ----------
        ahead, left : float [m]
            From where it was planned to land, in the frame of the foot that stands.

        """
        time = self.remaining - (1.0 - ARRIVAL_SHARE) * self._swing_periods * self._gains.period
        if self.stage != SWING or time < _MIN_TIME_LEFT * self._swing_periods * self._gains.period:
            return
        side, farthest = SIDE_SIGNS[self.swing], _MAX_SHIFT * self.half_width
        ahead = min(max(ahead, -farthest), farthest)
        outward = min(max(side * left, -_MAX_INWARD_SHIFT * self.half_width), farthest)
        yaw = self.feet[self.support][2] - self._planned_foothold[2]
        c, s = math.cos(yaw), math.sin(yaw)
        shift = (c * ahead - s * side * outward, s * ahead + c * side * outward, 0.0)
        self.foothold = compose_poses(self._planned_foothold, shift)
        self._redirect_swing(time)

    def _redirect_swing(self, time: float) -> None:
        since = (self._tick - self._path_start) * self._gains.period
        write_path_state(self._path, min(since, self._path_duration), self._path_state)
        self._path = quintic_to_rest(self._path_state, np.array(self.foothold), time)
        self._path_start, self._path_duration = self._tick, time

    def _update_stage(self, twist: Twist) -> None:
        """Enter the stage that begins now, if one does."""
        if self.stage == STAND:
            if twist != ZERO_TWIST and self._tick >= self._stage_end:
                lead = twist[1] or twist[2] or 1.0
                self.support = RIGHT if lead > 0.0 else LEFT
                self._begin_shift(self._zmp_between(self.feet), self._first_shift_periods, twist)
        elif self._tick < self._stage_end:
            return
        elif self.stage == SHIFT:
            self._begin_swing(twist)
        else:
            self._end_swing(twist)

    def _begin_shift(self, start: Pose, periods: int, twist: Twist) -> None:
        self.stage, self._zmp_start = SHIFT, start
        self._apply_shape()
        periods = periods or self._double_periods
        self._stage_start, self._stage_end = self._tick, self._tick + periods
        self.foothold = self._foothold_after(self.feet[self.support], self.support, twist)

    def _begin_swing(self, twist: Twist) -> None:
        self.stage, self._lift_off = SWING, self._tick
        self._stage_end = self._tick + self._swing_periods
        self.foothold = self._foothold_after(self.feet[self.support], self.support, twist)
        self._planned_foothold = self.foothold
        self._path[:] = 0.0
        self._path[0] = self.feet[self.swing]
        self._path_start, self._path_duration = self._tick, 0.0
        self._redirect_swing(ARRIVAL_SHARE * self._swing_periods * self._gains.period)

    def _end_swing(self, twist: Twist) -> None:
        self.feet[self.swing] = self.foothold
        self.steps += 1
        zmp = self._zmp_under(self.feet[self.support], self.support)
        if self._can_stand(self.feet, self.swing, twist):
            self.stage, self._zmp_start = STAND, zmp
            self._stage_start, self._stage_end = self._tick, self._tick + self._first_shift_periods
        else:
            self.support = self.swing
            self._begin_shift(zmp, 0, twist)

    def _foothold_after(self, support: Pose, foot: int, twist: Twist) -> Pose:
        return next_foothold(support, SIDE_SIGNS[1 - foot], self.half_width, twist, self.step_time)

    def _can_stand(self, feet: list[Pose], landed: int, twist: Twist) -> bool:
        """Return whether nothing is wanted but to stand, on feet side by side."""
        beside = self._foothold_after(feet[1 - landed], 1 - landed, ZERO_TWIST)
        return twist == ZERO_TWIST and poses_match(feet[landed], beside)

    def _zmp_under(self, foot: Pose, which: int) -> Pose:
        """Return where the zero-moment point is to be under one foot."""
        shape = self._shape
        return compose_poses(foot, (shape.forward, -SIDE_SIGNS[which] * shape.inward, 0.0))

    def _zmp_between(self, feet: list[Pose]) -> Pose:
        left, right = (self._zmp_under(feet[foot], foot) for foot in (LEFT, RIGHT))
        return 0.5 * (left[0] + right[0]), 0.5 * (left[1] + right[1]), 0.0

    def _predict_zmp(self, twist: Twist) -> int:
        """Write the corners of the way of the zero-moment point; return how many there are."""
        knots, last = self._knots, self._tick + len(self._reference)
        knots[0] = (self._stage_start, *self._zmp_start[:2])
        if self.stage == STAND:
            knots[1] = (self._stage_end, *self._zmp_between(self.feet)[:2])
            self._swings.clear()
            return 2
        feet, support, count, touch_down = list(self.feet), self.support, 1, self._stage_end
        self._swings.clear()
        shift = self._stage_end if self.stage == SHIFT else self._lift_off
        foothold = self.foothold
        knots[count] = (shift, *self._zmp_under(feet[support], support)[:2])
        count += 1
        if self.stage == SHIFT:
            touch_down += self._swing_periods
        while count < _MAX_KNOTS - 1:
            knots[count] = (touch_down, *self._zmp_under(feet[support], support)[:2])
            count += 1
            self._swings.append(
                (touch_down - self._swing_periods, feet[1 - support], foothold, 1 - support)
            )
            if touch_down >= last:
                break
            feet[1 - support] = foothold
            if self._can_stand(feet, 1 - support, twist):
                knots[count] = (
                    touch_down + self._first_shift_periods,
                    *self._zmp_between(feet)[:2],
                )
                return count + 1
            support = 1 - support
            knots[count] = (
                touch_down + self._double_periods,
                *self._zmp_under(feet[support], support)[:2],
            )
            count += 1
            touch_down += self._double_periods + self._swing_periods
            foothold = self._foothold_after(feet[support], support, twist)
        return count

    def _subtract_swings(self) -> None:
        """Ask the centre of mass for what the swinging feet are going to move."""
        period, mass = self._gains.period, self._mass
        load = SwingLoad(
            self._swing_periods,
            period,
            self._shape.clearance,
            mass.foot_coefficient / GRAVITY,
            mass.lifted_share / GRAVITY,
        )
        for lift_off, start, foothold, foot in self._swings:
            path, path_start, time = self._path, self._path_start, self._path_duration
            if lift_off != self._lift_off or self.stage != SWING:
                path_start, time = lift_off, ARRIVAL_SHARE * self._swing_periods * period
                state = np.array([start, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
                path = quintic_to_rest(state, np.array(foothold), time)
            swing = Swing(path, path_start, time, lift_off, -SIDE_SIGNS[foot] * mass.inward)
            subtract_swing_zmp(swing, load, self._tick, self._reference)


class Swing(NamedTuple):
    """
    One swing of a foot.

    Attributes
    ----------
    path : (6, 3) array
        Coefficients of x, y and yaw.
    begun, time : int, float [s]
        The period in which the path begins, and how long it takes.
    lifted : int
        The period of lift-off.
    inward : float [m]
        From the foot to the left, in its own frame, to the mass that it lifts.

    """

    path: FloatArray
    begun: int
    time: float
    lifted: int
    inward: float


class SwingLoad(NamedTuple):
    """
    Equal for all swings: duration, clearance and moved mass.

    Attributes
    ----------
    periods : int
        From lift-off to touch-down.
    period : float [s]
    clearance : float [m]
    foot, lift : float [s^2, s^2/m]
        Of the mass model, over gravity.

    """

    periods: int
    period: float
    clearance: float
    foot_coefficient: float
    lifted_share: float


@njit(cache=True)
def subtract_swing_zmp(swing, load, now, points):  # type: ignore[no-untyped-def]
    """
    Take from zero-moment points (N, 2) [m] what one swing adds to them; see ``mass_model``.

    The points, read and written, are those of the periods after ``now``.
    """
    path, begun, time, lifted, inward = swing
    single, period, clearance, foot, lift = load
    state = np.empty((3, 3))
    for j in range(max(0, lifted - now - 1), min(len(points), lifted + single - now)):
        at = (now + 1 + j - begun) * period
        write_path_state(path, min(at, time), state)
        u = (now + 1 + j - lifted) / single
        rise = 32.0 * clearance * (1.0 - 6.0 * u * (1.0 - u)) / (single * period) ** 2
        raised = lift * rise
        s, c = math.sin(state[0, 2]), math.cos(state[0, 2])
        moving = 1.0 if at < time else 0.0
        # The lifted mass is at the foot, moved inward; it pulls the point away from itself.
        x, y = state[0, 0] - s * inward, state[0, 1] + c * inward
        points[j, 0] -= foot * moving * state[2, 0] + raised * (x - points[j, 0])
        points[j, 1] -= foot * moving * state[2, 1] + raised * (y - points[j, 1])


@njit(cache=True)
def sample_polyline(knots, count, grid, out):  # type: ignore[no-untyped-def]
    """
    Write the points of a polyline at the periods after ``grid``, (N, 2); it ends where it ends.

    Parameters
    ----------
    knots : (k, 3) array
        Rows of a period and the point (x, y) there, ascending; ``count`` of them are valid.
    count, grid : int
    out : (N, 2) array
        Written.

    """
    at = 0
    for j in range(len(out)):
        time = grid + 1 + j
        while at < count - 2 and knots[at + 1, 0] < time:
            at += 1
        begin, end = knots[at, 0], knots[at + 1, 0]
        share = 1.0
        if end > begin:
            share = min(max((time - begin) / (end - begin), 0.0), 1.0)
        for i in range(2):
            out[j, i] = knots[at, i + 1] + share * (knots[at + 1, i + 1] - knots[at, i + 1])
