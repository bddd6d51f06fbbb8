# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``keyframe_stride``: an alternating tripod of legs with variable length."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError, name_hint
from gait_core.kinematics.footholds import predict_foothold
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits, VelocityRange
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_stage_walk.strides.cycle import PHASES, CycleBlend, JointCycle, StrideRhythm
from gait_stage_walk.strides.leg import LOWER, UPPER, feet_from_joints
from gait_stage_walk.strides.parameters import PRESETS, KeyframeStrideParams
from gait_stage_walk.strides.tripod import (
    FOOT_NUMBERS,
    LEG_COUNT,
    Extension,
    Stride,
    foot_stride,
    joint_stride,
    level_walk_feet,
    postures_from_genes,
)

TRIPODS = (('lf', 'rm', 'lr'), ('rf', 'lm', 'rr'))
"""Legs 1 to 3 of the thesis, and the legs that follow them by two phases."""
LEG_JOINTS = ('hip', 'knee', 'upper', 'lower')
"""Joints of each leg, in the order of the genes: ``lf_hip`` and so on."""
_LIMIT_TOLERANCE = 1e-6
STANDING_SPEED = 1e-3
"""Forward speed below which a command means to stand [m/s]."""


class KeyframeStrideController(Controller):
    """
    Walks a hexapod by a stride of three legs; the other tripod follows two phases later.

    Postures, feet, or stroke, height, lift and offset define the stride. The walk starts at
    mid-stance of the first tripod: joints move there with minimum jerk from their measured
    positions, or without a measurement from the nominal stance; then the frequency rises. Joint
    velocities and accelerations are continuous, except while the frequency changes, which has a
    bounded rate.

    With ``follow_velocity`` the commanded forward speed, also backward, sets the frequency; the
    stride stays. The hips cannot yaw: there is no turn and no side step. To stand, by ``stop``, by
    the set point ``stop`` above 0.5, or at zero speed, the robot walks on until both tripods are
    in stance.

    Parameters
    ----------
    robot : RobotModel
    params : KeyframeStrideParams

    Attributes
    ----------
    speed : float [m/s]
        Forward speed at one cycle per period, without slip.

    Raises
    ------
    ConfigurationError
        If the robot lacks one of the joints, or its joints cannot reach the stride.

    """

    Params: ClassVar[type[Parameters]] = KeyframeStrideParams
    _params: KeyframeStrideParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    def __init__(self, robot: RobotModel, params: KeyframeStrideParams) -> None:
        for tripod in TRIPODS:
            for leg in tripod:
                for name in (f'{leg}_{part}' for part in LEG_JOINTS):
                    if name not in robot.joint_index:
                        raise ConfigurationError(
                            f"controller 'keyframe_stride' needs joint '{name}', which robot "
                            f"'{robot.name}' lacks: {name_hint(name, robot.joint_names)}"
                        )
        self._robot = robot
        self._names = tuple(
            f'{leg}_{part}' for three in TRIPODS for leg in three for part in LEG_JOINTS
        )
        self._columns: IntArray = np.array([robot.joint_index[name] for name in self._names])
        self._radius = _foot_radius(robot)
        self._set_stride(params)
        self.reset(0)

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed."""
        params = self._params
        if not params.follow_velocity:
            return 'it keeps its own pace, gait.follow_velocity is off'
        return (
            VelocityRange.symmetric(abs(self.speed) * params.fastest, 'gait.fastest'),
            VelocityRange.symmetric(0.0, 'it does not step aside'),
            VelocityRange.symmetric(0.0, 'it does not turn'),
        )

    def set_params(self, params: KeyframeStrideParams) -> None:
        """Replace the parameters; a new stride is blended in over ``start_time``."""
        before = self._cycle
        self._set_stride(params)
        self._rhythm.lift_off_phase = self._stride.lift_off_phase
        if self._blend is not None and self._cycle is not before:
            self._blend.add_cycle(self._cycle)

    def reset(self, seed: int) -> None:
        """Return to the start of the stride; the seed is not used."""
        self._rhythm = StrideRhythm(self._stride.lift_off_phase)
        self._blend: CycleBlend | None = None

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joints at the end of each sub-sample, and their mean rates over it."""
        params = self._params
        if self._blend is None:
            self._blend = CycleBlend(self._initial_joints(observation))
            self._blend.add_cycle(self._cycle)
        count = params.samples
        # The phase waits until the robot has reached its first posture.
        target_rate = 0.0 if self._blend.is_starting else self._commanded_rate(command)
        phases = self._rhythm.advance(dt, count, target_rate, params.period, params.ramp_time)
        positions = self._blend.positions_at(
            phases, np.linspace(0.0, dt, count + 1), params.start_time
        )
        self._last_joints = positions[-1]
        return JointTargets(
            names=self._names,
            position=positions[1:],
            velocity=np.diff(positions, axis=0) * (count / dt),
        )

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the stride.

        ``phase`` [rad], 0 at the lift-off of the first tripod; ``stage``, 1 to 4 for its front
        propel, back propel, lift and descend; ``rate`` in cycles per period; ``stance.<leg>``, 1
        for a leg in stance by plan; ``speed`` [m/s], without slip.
        """
        phase, stance = self._rhythm.phase, self._stride.lift_off_phase
        standing = {
            f'stance.{leg}': float((phase + shift) % PHASES < stance)
            for shift, tripod in zip((0.0, 2.0), TRIPODS, strict=True)
            for leg in tripod
        }
        return {
            'phase': math.tau * ((phase - stance) % PHASES) / PHASES,
            'stage': float(int(phase % PHASES) + 1),
            'rate': self._rhythm.rate,
            'speed': self._rhythm.rate * self.speed,
            **standing,
        }

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """
        Return the foothold of each swinging leg, (3,) [m], in the base frame.

        A leg touches down with the joints of the keyframe that ends the swing. Stance feet do not
        move until then; their rolling, up to 2 mm in half a stride, is neglected.
        """
        rate, stance = self._rhythm.rate, self._stride.lift_off_phase
        if self._blend is None or self._blend.is_starting or rate == 0.0:
            return {}
        local = (self._rhythm.phase + np.array([0.0, 2.0])) % PHASES
        if (local < stance).all():
            return {}
        flying = int(local.argmax())
        left = PHASES - local[flying] if rate > 0.0 else stance - local[flying]
        joints_then = self._cycle.positions_at(np.array([self._rhythm.phase + left]))[0]
        now, later = (self._all_joints(joints) for joints in (self._last_joints, joints_then))
        standing = TRIPODS[1 - flying]
        return {
            leg: predict_foothold(self._robot, leg, standing, now, later)
            for leg in TRIPODS[flying]
        }

    def _all_joints(self, joints: FloatArray) -> FloatArray:
        """Return all joints of the robot, (24,), with given joints of the legs."""
        all_joints: FloatArray = self._robot.stance[: len(self._robot.joint_names)].copy()
        all_joints[self._columns] = joints
        return all_joints

    def _initial_joints(self, observation: Observation) -> FloatArray:
        measured = observation.joint_positions
        return np.asarray((self._robot.stance if measured is None else measured)[self._columns])

    def _commanded_rate(self, command: Command) -> float:
        """Return the commanded rate in cycles per period; 0 means to stand."""
        params = self._params
        if params.stop or command.set_points.get('stop', 0.0) > 0.5:
            return 0.0
        if not params.follow_velocity:
            return 1.0
        speed = command.velocity[0]
        if abs(speed) < STANDING_SPEED or abs(self.speed) < STANDING_SPEED:
            return 0.0
        return min(max(speed / self.speed, -params.fastest), params.fastest)

    def _set_stride(self, params: KeyframeStrideParams) -> None:
        """Build the cycle of all legs; on an error the old stride stays in force."""
        stride = make_stride(params, self._robot, self._radius)
        both = np.stack([stride.joints, np.roll(stride.joints, -len(stride.joints) // 2, axis=0)])
        joints = both.transpose(1, 0, 2, 3).reshape(len(stride.joints), -1)
        joints = self._within_limits(joints, params.beyond)
        self._params, self._stride, self._cycle = params, stride, JointCycle(joints)
        self.speed = stride.travel / params.period

    def _within_limits(self, joints: FloatArray, beyond: str) -> FloatArray:
        """Return joints clipped to their limits; ConfigurationError if that is refused."""
        lower, upper = self._robot.lower[self._columns], self._robot.upper[self._columns]
        limited = np.clip(joints, lower, upper)
        excess = np.abs(joints - limited)
        if beyond == 'refuse' and excess.max() > _LIMIT_TOLERANCE:
            at, column = np.unravel_index(np.argmax(excess), excess.shape)
            raise ConfigurationError(
                f"the stride moves joint '{self._names[int(column)]}' to "
                f'{joints[at, column]:.4g}; nearest valid: {limited[at, column]:.4g}'
            )
        return limited


def make_stride(params: KeyframeStrideParams, robot: RobotModel, radius: float) -> Stride:
    """
    Return the stride that parameters define.

    Parameters
    ----------
    params : KeyframeStrideParams
    robot : RobotModel
        Gives the limits of the leg lengths.
    radius : float [m]
        Radius of its feet.

    Raises
    ------
    ConfigurationError
        For a wrong count of numbers, or a foot out of reach with ``beyond`` ``refuse``.

    """
    if params.postures:
        postures = postures_from_genes(np.array(params.postures))
        if params.joined == 'joints':
            return joint_stride(postures, radius)
        return foot_stride(
            feet_from_joints(postures),
            postures[..., UPPER : LOWER + 1],
            params.duty,
            radius,
            beyond=params.beyond,
        )
    length = robot.joint[f'{TRIPODS[0][0]}_{LEG_JOINTS[UPPER]}']
    extension = Extension(
        standing=params.extension,
        lifting=params.lift_extension,
        shortest=length.lower,
        longest=length.upper,
    )
    lengths = np.broadcast_to([params.upper, params.lower], (PHASES, LEG_COUNT, 2))
    return foot_stride(
        _keyframe_feet(params), lengths, params.duty, radius, extension, params.beyond
    )


def _keyframe_feet(params: KeyframeStrideParams) -> FloatArray:
    """Return the feet at the keyframes, (4, 3, 2) [m], by numbers or by a level walk."""
    if not params.feet:
        return level_walk_feet(params.stroke, params.height, params.lift, params.offset)
    if len(params.feet) != FOOT_NUMBERS:
        raise ConfigurationError(
            f"parameter 'feet' has {len(params.feet)} values; nearest valid: {FOOT_NUMBERS}"
        )
    return np.array(params.feet).reshape(PHASES, LEG_COUNT, 2)


def _foot_radius(robot: RobotModel) -> float:
    """Return the radius of the first leg's foot [m], if it is a sphere and rolls; else 0."""
    sole = robot.links[robot.link_index[robot.leg(TRIPODS[0][0]).sole]]
    return next((shape.size[0] for shape in sole.collisions if shape.kind == 'sphere'), 0.0)
