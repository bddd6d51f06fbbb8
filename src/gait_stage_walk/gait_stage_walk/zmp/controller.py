# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``zmp_walk``: walk of a biped by preview control of the ZMP."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.contracts import Controller
from gait_core.kinematics.leg_odometry import LegOdometry
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits, symmetric_limits
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_stage_walk.staged.pulse import SECOND, to_nanoseconds
from gait_stage_walk.zmp.biped import Biped, WholeBodyIk
from gait_stage_walk.zmp.footsteps import ZERO_TWIST, Twist
from gait_stage_walk.zmp.mass_model import mass_model
from gait_stage_walk.zmp.parameters import ZmpWalkParams
from gait_stage_walk.zmp.plan import LEFT, RIGHT, SWING, StepShape, WalkPlan
from gait_stage_walk.zmp.preview import preview_gains
from gait_stage_walk.zmp.stabiliser import SlipCorrection, Stabiliser

NAME = 'zmp_walk'
PLAN_PERIOD = SECOND // 100
"""Period of the plan [ns]; a control period of any length samples it."""
_HEIGHT_RATE = 0.1
"""Rate at which the base is lowered and raised [m/s]."""
_SQUAT_SHARE = 0.75
"""Height of the base after ``sit``, as a share of that over straight legs."""


class ZmpWalkController(Controller):
    """
    Walks any robot with two legs of five joints or more, and soles, at a commanded velocity.

    Footsteps follow the command within limits of velocity and acceleration. The reference of the
    ZMP moves from sole to sole; preview control moves the CoM ahead of it, with the moment of the
    swing leg included (``mass_model``). Inverse kinematics places the legs under an upright body.
    With an IMU, soles in stance turn against tilt, and the next foothold follows the capture
    point. At zero velocity the robot puts its feet side by side and stands. The set point ``stop``
    above 0.5 stops it whatever is commanded; ``sit`` above 0.5 stops it and squats, and at 0 it
    rises and walks on.
    """

    Params: ClassVar[type[Parameters]] = ZmpWalkParams
    _params: ZmpWalkParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'balanced': {},
        'open_loop': {'balance_gain': 0.0, 'balance_damping': 0.0},
    }

    def __init__(self, robot: RobotModel, params: ZmpWalkParams) -> None:
        self._biped = Biped(robot, NAME)
        self._max_height = self._biped.max_height()
        self._body = WholeBodyIk(self._biped)
        self._stabiliser = Stabiliser()
        self._slip = SlipCorrection()
        self._odometry = LegOdometry(robot, self._biped.leg_names)
        self._max_rates = robot.velocity_limit[self._biped.columns]
        self._joints: FloatArray = np.zeros(len(self._biped.names))
        self._feet: FloatArray = np.zeros((2, 4))
        self._apply_params(params)
        self.reset(0)

    @property
    def needs(self) -> frozenset[str]:
        """The IMU for balance and heading, joint positions for odometry."""
        params = self._params
        sensed = {'imu'} if params.uses_imu or params.heading_gain else set()
        return frozenset(sensed | ({'joint_positions'} if params.odometry else set()))

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed."""
        params = self._params
        return symmetric_limits(params.max_forward, params.max_sideways, params.max_yaw_rate)

    def set_params(self, params: ZmpWalkParams) -> None:
        """Replace the parameters; new steps have the new shape."""
        self._apply_params(params)
        self._plan.set_model(self._gains, self._mass)
        self._plan.set_shape(self._step_shape())

    def _apply_params(self, params: ZmpWalkParams) -> None:
        """Put parameters in force: height, mass model, gains and limits."""
        self._params = params
        self._height = min(self._biped.height, params.leg_share * self._max_height)
        self._mass = mass_model(self._biped, self._height)
        self._gains = preview_gains(self._mass.height, PLAN_PERIOD / SECOND)
        self._limits = (params.max_forward, params.max_sideways, params.max_yaw_rate)

    def _step_shape(self) -> StepShape:
        params = self._params
        return StepShape(
            step_time=params.step_time,
            double_share=params.double_support,
            clearance=params.stride_height,
            forward=params.zmp_forward,
            inward=params.zmp_inward,
        )

    def reset(self, seed: int) -> None:
        """Return to the nominal stance; the seed is not used."""
        biped = self._biped
        self._plan = WalkPlan(
            biped.feet[:, :2], biped.com[:2], self._gains, self._mass, self._step_shape()
        )
        self._body.reset()
        self._stabiliser.reset()
        self._slip.reset()
        self._odometry.reset()
        self._joints[:] = biped.stance
        self._twist: Twist = ZERO_TWIST
        self._now, self._planned_until = 0, -PLAN_PERIOD
        self._base_height = biped.height
        self._plan.feet_at(0.0, self._feet)

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint positions at the end of each sub-sample and the rates to them."""
        params = self._params
        if params.odometry:
            self._odometry.update(self._stance_feet(), observation)
        self._stabiliser.update_tilt(observation, params)
        self._twist = self._limit_twist(dt, command, observation)
        is_sitting = command.set_points.get('sit', 0.0) > 0.5
        level = min(self._height, _SQUAT_SHARE * self._max_height) if is_sitting else self._height
        samples, begin, end = params.sub_samples, self._now, self._now + to_nanoseconds(dt)
        position, velocity = np.empty((2, samples, len(self._joints)))
        period = dt / samples
        for k in range(samples):
            # Times are integers: samples of any control period fall on the same grid of the plan.
            self._now = begin + (k + 1) * (end - begin) // samples
            self._advance_plan(self._now, level)
            self._move_height(period, level)
            self._write_targets(period, position[k], velocity[k])
        return JointTargets(names=self._biped.names, position=position, velocity=velocity)

    def _limit_twist(self, dt: float, command: Command, observation: Observation) -> Twist:
        """Return the twist that follows the command within limits of speed and acceleration."""
        stops = max(command.set_points.get(name, 0.0) for name in ('stop', 'sit')) > 0.5
        x, y, yaw = ZERO_TWIST if stops else command.velocity
        params = self._params
        if params.heading_gain and (x, y, yaw) != ZERO_TWIST:
            planned = float(self._body.base[3])
            yaw += self._slip.correct_yaw_rate(dt, planned, params.heading_gain, observation)
        rates = (params.acceleration, params.acceleration, params.yaw_acceleration)
        change = [
            min(max(min(max(commanded, -limit), limit) - now, -rate * dt), rate * dt)
            for commanded, limit, rate, now in zip(
                (x, y, yaw), self._limits, rates, self._twist, strict=True
            )
        ]
        now = self._twist
        return now[0] + change[0], now[1] + change[1], now[2] + change[2]

    def _advance_plan(self, time: int, level: float) -> None:
        """Advance the plan to a time [ns], in whole periods of the plan."""
        is_upright = level == self._height and self._base_height <= level
        while self._planned_until + PLAN_PERIOD <= time:
            self._planned_until += PLAN_PERIOD
            self._plan.advance(self._twist if is_upright else ZERO_TWIST)
            if self._params.capture_gain:
                self._adapt_foothold()

    def _adapt_foothold(self) -> None:
        """Shift the foothold of the swinging foot by the error of the capture point."""
        # Englsberger et al. (2015), Eq. 25: until touch-down the error grows by exp(w t).
        rate = self._gains.natural_rate
        ahead, left = self._stabiliser.capture_error(self._gains.height, rate)
        growth = self._params.capture_gain * math.exp(rate * self._plan.remaining)
        self._plan.shift_foothold(growth * ahead, growth * left)

    def _move_height(self, dt: float, level: float) -> None:
        """Move the height of the base toward ``level`` [m] at a bounded rate."""
        max_change = _HEIGHT_RATE * dt
        self._base_height += min(max(level - self._base_height, -max_change), max_change)

    def _write_targets(self, period: float, position: FloatArray, velocity: FloatArray) -> None:
        """Write the joint positions of a sample, and the rates from the last sample to them."""
        plan, since = self._plan, (self._now - self._planned_until) / SECOND
        plan.feet_at(since, self._feet)
        swing = plan.swing if plan.stage == SWING else -1
        soles = self._stabiliser.turn_soles(period, swing)
        joints = self._body.solve_joints(
            plan.com_at(since)[0], self._base_height, self._feet, soles
        )
        # Joints move at most at their velocity limit, where inverse kinematics jumps.
        np.subtract(joints, self._joints, out=velocity)
        max_change = self._max_rates * period
        np.clip(velocity, -max_change, max_change, out=velocity)
        self._joints += velocity
        position[:] = self._joints
        velocity /= period

    def _stance_feet(self) -> BoolArray:
        """Return which feet are in stance by plan, (2,) bool."""
        plan = self._plan
        return np.array([plan.stage != SWING or foot != plan.swing for foot in (LEFT, RIGHT)])

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the walk.

        ``phase`` [rad] from 0 at the lift-off of the left foot to 2 pi; ``stage``, 0 standing, 1
        in double support, 2 in single support; ``stance.<leg>``, 1 for a foot in stance by plan;
        ``steps``, the number of touch-downs; ``lean`` [rad], the tilt of the base; ``odom.x``,
        ``odom.y`` [m] and ``odom.yaw`` [rad] with odometry on.
        """
        plan, down = self._plan, self._stance_feet()
        values = {
            'phase': plan.phase,
            'stage': float(plan.stage),
            'steps': float(plan.steps),
            'lean': float(np.hypot(*self._stabiliser.tilt)),
        }
        for name, in_stance in zip(self._biped.leg_names, down, strict=True):
            values[f'stance.{name}'] = float(in_stance)
        if self._params.odometry:
            names = ('odom.x', 'odom.y', 'odom.yaw')
            values.update(zip(names, self._odometry.pose.tolist(), strict=True))
        return values

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """Return the foothold of the swinging leg, (3,) [m], in the base frame."""
        plan = self._plan
        if plan.stage != SWING:
            return {}
        x, y, height, yaw = self._body.base.tolist()
        c, s = math.cos(yaw), math.sin(yaw)
        ahead, left = plan.foothold[0] - x, plan.foothold[1] - y
        foothold = np.array([c * ahead + s * left, c * left - s * ahead, -height])
        return {self._biped.leg_names[plan.swing]: foothold}
