# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Plan of the ZMP walk: stages, footholds, reference of the ZMP, motion of the centre of mass.

Time is counted in periods of the plan (ticks). A step begins with a double support, in which the
ZMP moves from one sole to the other, followed by a single support, in which it stays there while
the other foot swings. The steps within the preview are predicted from the present twist.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

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
from gait_stage_walk.zmp.zmp_reference import Swing, SwingLoad, sample_polyline, subtract_swing_zmp

LEFT, RIGHT = 0, 1
SIDE_SIGNS = (1.0, -1.0)
STAND, SHIFT, SWING = range(3)
"""Stages: standing on both feet, shift of the ZMP to one foot, swing of the other foot."""
_FIRST_SHIFT = 2.5
"""Duration of the first and of the last shift of the ZMP, in time constants of the pendulum."""
_MAX_KNOTS = 64
_MAX_SHIFT, _MAX_INWARD_SHIFT, _MIN_TIME_LEFT = 1.5, 0.2, 0.15
"""
Limits of a shift of the foothold.

Largest shift, and largest one toward the other foot, in half widths of the stance; smallest share
of a swing that must be left.
"""


@dataclass(frozen=True, kw_only=True)
class StepShape:
    """
    Shape of the steps.

    Attributes
    ----------
    step_time : float [s]
        Time from a touch-down to the next one.
    double_share : float
        Share of it in double support.
    clearance : float [m]
        Height of a foot at mid-swing.
    forward, inward : float [m]
        ZMP on a sole, ahead of its reference point and from it toward the other foot.

    """

    step_time: float
    double_share: float
    clearance: float
    forward: float
    inward: float


class WalkPlan:
    """
    Plan of a walk, from standing to standing.

    Parameters
    ----------
    feet : (2, 2) array [m]
        Positions of the left and of the right foot, both pointing forward.
    com : (2,) array [m]
        Centre of mass at rest.
    gains : PreviewGains
        Gains for the height of the mass model.
    mass : MassModel
    shape : StepShape

    Attributes
    ----------
    feet : list of two poses
        Poses of the feet on the ground; for a swinging foot that at lift-off.
    stage, support : int
        Stage, and the foot that carries the robot in it.
    foothold : (x, y, yaw)
        Next touch-down of the other foot.
    state : (3, 2) array
        Position, velocity and acceleration of the centre of mass.
    steps : int
        Number of touch-downs so far.

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
        """Replace gains and mass model by those of another height, with the same period."""
        self._gains, self._mass = gains, mass
        self._reference: FloatArray = np.zeros((len(gains.forward), 2))

    def set_shape(self, shape: StepShape) -> None:
        """Set the shape of the steps that begin from now on."""
        self._next_shape = shape

    def _apply_shape(self) -> None:
        """Put the next shape in force, with durations in whole periods."""
        period, shape = self._gains.period, self._next_shape
        self._double_periods = max(2, round(shape.double_share * shape.step_time / period))
        self._swing_periods = max(4, round(shape.step_time / period) - self._double_periods)
        self._first_shift_periods = max(
            2 * self._double_periods, round(_FIRST_SHIFT / self._gains.natural_rate / period)
        )
        self._shape = shape

    @property
    def step_time(self) -> float:
        """Duration of a step, rounded to periods [s]."""
        return (self._double_periods + self._swing_periods) * self._gains.period

    @property
    def swing(self) -> int:
        """Foot that is not the support."""
        return 1 - self.support

    def advance(self, twist: Twist) -> None:
        """
        Begin the next period of the plan, with constant jerk of the centre of mass.

        Parameters
        ----------
        twist : (x, y, yaw) [m/s, m/s, rad/s]
            Twist of the body from which the coming steps are predicted.

        """
        # Kajita et al. (2003): state at the end of the last period, stage, reference of the ZMP
        # within the preview, less the part of the swinging feet, then the jerk of this period.
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
        """Return the state of the centre of mass, (3, 2), at a time [s] in the present period."""
        integrate_jerk(self.state, self._jerk, time, self._com)
        return self._com

    def feet_at(self, time: float, feet: FloatArray) -> None:
        """Write x, y, z [m] and yaw [rad] of both feet, (2, 4), at a time [s] in the period."""
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
        """Phase from 0 at the lift-off of the left foot to 2 pi [rad]; 0 while standing."""
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
        """Time until touch-down of the swinging foot [s]."""
        return (self._stage_end - self._tick) * self._gains.period

    def shift_foothold(self, ahead: float, left: float) -> None:
        """
        Shift the foothold of the swinging foot, within limits, unless touch-down is near.

        Parameters
        ----------
        ahead, left : float [m]
            Shift from the planned foothold, in the frame of the stance foot.

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
        """Continue the path of the swinging foot to the foothold, reached after a time [s]."""
        since = (self._tick - self._path_start) * self._gains.period
        write_path_state(self._path, min(since, self._path_duration), self._path_state)
        self._path = quintic_to_rest(self._path_state, np.array(self.foothold), time)
        self._path_start, self._path_duration = self._tick, time

    def _update_stage(self, twist: Twist) -> None:
        """Enter the next stage if the present one is over."""
        if self.stage == STAND:
            if twist != ZERO_TWIST and self._tick >= self._stage_end:
                # The foot on the side of the motion swings first; the other one is the support.
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
        """Begin the shift of the ZMP from a point to the support; 0 periods: a double support."""
        self.stage, self._zmp_start = SHIFT, start
        self._apply_shape()
        periods = periods or self._double_periods
        self._stage_start, self._stage_end = self._tick, self._tick + periods
        self.foothold = self._foothold_after(self.feet[self.support], self.support, twist)

    def _begin_swing(self, twist: Twist) -> None:
        """Lift off: begin the path of the swinging foot to its foothold."""
        self.stage, self._lift_off = SWING, self._tick
        self._stage_end = self._tick + self._swing_periods
        self.foothold = self._foothold_after(self.feet[self.support], self.support, twist)
        self._planned_foothold = self.foothold
        self._path[:] = 0.0
        self._path[0] = self.feet[self.swing]
        self._path_start, self._path_duration = self._tick, 0.0
        self._redirect_swing(ARRIVAL_SHARE * self._swing_periods * self._gains.period)

    def _end_swing(self, twist: Twist) -> None:
        """Touch down: stand, or begin the shift to the new support."""
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
        """Return the foothold of the other foot after a step from a support pose."""
        return next_foothold(support, SIDE_SIGNS[1 - foot], self.half_width, twist, self.step_time)

    def _can_stand(self, feet: list[Pose], last_foot: int, twist: Twist) -> bool:
        """Return whether the feet are side by side and the twist is zero: the walk can end."""
        standing = self._foothold_after(feet[1 - last_foot], 1 - last_foot, ZERO_TWIST)
        return twist == ZERO_TWIST and poses_match(feet[last_foot], standing)

    def _zmp_under(self, pose: Pose, foot_number: int) -> Pose:
        """Return the reference of the ZMP under one foot."""
        shape = self._shape
        return compose_poses(pose, (shape.forward, -SIDE_SIGNS[foot_number] * shape.inward, 0.0))

    def _zmp_between(self, feet: list[Pose]) -> Pose:
        """Return the reference of the ZMP midway between both feet."""
        left, right = (self._zmp_under(feet[foot], foot) for foot in (LEFT, RIGHT))
        return 0.5 * (left[0] + right[0]), 0.5 * (left[1] + right[1]), 0.0

    def _predict_zmp(self, twist: Twist) -> int:
        """Write the corners of the ZMP reference within the preview; return their number."""
        knots, last = self._knots, self._tick + len(self._reference)
        knots[0] = (self._stage_start, *self._zmp_start[:2])
        # Standing: the ZMP moves to the middle between both feet and stays there.
        if self.stage == STAND:
            knots[1] = (self._stage_end, *self._zmp_between(self.feet)[:2])
            self._swings.clear()
            return 2
        # Present step: the ZMP reaches the support at the end of the shift, or did at lift-off.
        feet, support, count, touch_down = list(self.feet), self.support, 1, self._stage_end
        self._swings.clear()
        shift = self._stage_end if self.stage == SHIFT else self._lift_off
        foothold = self.foothold
        knots[count] = (shift, *self._zmp_under(feet[support], support)[:2])
        count += 1
        if self.stage == SHIFT:
            touch_down += self._swing_periods
        # Steps to come, with the present twist: stay on the support until touch-down; then stand,
        # if the feet allow it, or shift to the foot that has touched down.
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
        """Subtract the part of the swinging feet from the reference of the ZMP."""
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
            # The present swing keeps its path, which can be redirected; later ones start at rest.
            if lift_off != self._lift_off or self.stage != SWING:
                path_start, time = lift_off, ARRIVAL_SHARE * self._swing_periods * period
                state = np.array([start, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
                path = quintic_to_rest(state, np.array(foothold), time)
            swing = Swing(path, path_start, time, lift_off, -SIDE_SIGNS[foot] * mass.inward)
            subtract_swing_zmp(swing, load, self._tick, self._reference)
