# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller ``staged_walk``: behaviours summed and integrated to joint targets."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, ClassVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Controller
from gait_core.errors import ConfigurationError, name_hint
from gait_core.kinematics.footholds import predict_foothold
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command
from gait_stage_walk.behaviours.balance import Balance
from gait_stage_walk.behaviours.behaviour import Behaviour, Period
from gait_stage_walk.behaviours.heading import Heading
from gait_stage_walk.behaviours.levelling import LegLevelling, vertical_leg_length
from gait_stage_walk.behaviours.mixer import Mixer
from gait_stage_walk.behaviours.turn import TWIST_JOINTS
from gait_stage_walk.staged.pace import velocity_limits
from gait_stage_walk.staged.parameters import PRESETS, StagedWalkParams
from gait_stage_walk.staged.pulse import to_nanoseconds
from gait_stage_walk.staged.timetable import WALK_JOINTS, opposite_leg
from gait_stage_walk.staged.walk import StagedWalk

MIN_LENGTH_DIFFERENCE = 0.005
"""Difference of leg lengths from which the shorter leg is in swing, in thigh lengths."""


class StagedWalkController(Controller):
    """
    Walks a humanoid by the timetable of Pike (2003), with levelling, heading and balance.

    The robot starts at once and walks with the step size of its parameters. With
    ``follow_velocity`` the commanded forward speed gives the step size, and the robot stands at
    zero. The commanded yaw rate turns it; it has no side step. The parameter ``stop``, or the set
    point ``stop`` above 0.5, makes it stand from the end of the cycle on; it starts again when
    both are off. The set point ``turn`` [rad] is added to the heading ``turn_deg``.

    Parameters
    ----------
    robot : RobotModel
    params : StagedWalkParams

    Attributes
    ----------
    mixer : Mixer
        Starts, stops, changes and lists behaviours; replaced by a reset.

    Raises
    ------
    ConfigurationError
        If the robot lacks one of the joints.

    """

    Params: ClassVar[type[Parameters]] = StagedWalkParams
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    def __init__(self, robot: RobotModel, params: StagedWalkParams) -> None:
        for name in (*WALK_JOINTS, *TWIST_JOINTS):
            if name not in robot.joint_index:
                raise ConfigurationError(
                    f"controller 'staged_walk' needs joint '{name}', which robot '{robot.name}' "
                    'lacks: '
                    f'{name_hint(name, robot.joint_names)}'
                )
        self._robot = robot
        self._walk = StagedWalk(params)
        self.reset(0)

    def _built_in_behaviours(self) -> dict[str, Behaviour]:
        """Return new behaviours that every walk has, in order of registration."""
        self._heading = Heading(self._walk)
        return {
            'levelling': LegLevelling(self._walk),
            'heading': self._heading,
            'balance': Balance(self._walk),
        }

    @property
    def params(self) -> StagedWalkParams:
        """Parameters in force."""
        return self._walk.current

    @property
    def needs(self) -> frozenset[str]:
        """The IMU, if a balance gain is above zero."""
        params = self._walk.params
        return frozenset({'imu'} if params.balance_gain or params.balance_damping else ())

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed."""
        return velocity_limits(self._walk.params)

    def set_params(self, params: StagedWalkParams) -> None:
        """Replace the parameters; they are in force from the next start or end of a cycle."""
        self._walk.params = params

    def reset(self, seed: int) -> None:
        """Return to the nominal stance, without started behaviours; the seed is not used."""
        self._now = 0
        self._walk.reset()
        self.mixer = Mixer(self._robot, self._walk, self._built_in_behaviours())

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint angles at the end of the period and their mean rates over it."""
        rates = self._advance(dt, command, observation)
        return JointTargets(
            names=self._robot.joint_names, position=self.mixer.position, velocity=rates
        )

    def _advance(self, dt: float, command: Command, observation: Observation) -> FloatArray:
        """Advance by a control period; return the mean rates of the joints, (n,) [rad/s]."""
        end = self._now + to_nanoseconds(dt)
        turns = self.mixer.step(Period(self._now, end, command, observation))
        self._now = end
        return turns / dt

    def state(self) -> Mapping[str, float]:
        """
        Return the state of the walk.

        ``phase`` [rad] from 0 to 2 pi in a cycle, else 0; ``stage``, the value of ``WalkMode``;
        ``cycle``, the number of cycles begun; ``stance.left`` and ``stance.right``, 0 for a leg
        that its joint targets hold clear of the ground, else 1; ``heading`` [rad], present, and
        ``heading_wanted`` [rad], target; ``step_size`` and ``leg_lift`` [rad] in force.
        """
        walk = self._walk
        share = 0.0
        if walk.mode.in_cycle:
            share = (self._now - walk.mode_start) / (walk.mode_end - walk.mode_start)
        left, right = (self._leg_length(leg) for leg in ('left', 'right'))
        return {
            'phase': 2.0 * math.pi * min(share, 1.0),
            'stage': float(walk.mode.value),
            'cycle': float(walk.cycles),
            'stance.left': float(left > right - MIN_LENGTH_DIFFERENCE),
            'stance.right': float(right > left - MIN_LENGTH_DIFFERENCE),
            'heading': self._heading.heading,
            'heading_wanted': self._heading.target,
            'step_size': math.radians(walk.current.step_size_deg),
            'leg_lift': math.radians(walk.current.leg_lift_deg),
        }

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """
        Return the foothold of a leg that is being extended, (3,) [m], in the base frame.

        It follows from the scheduled stages. Before the extension a swinging leg has none: its
        step is not decided.
        """
        footholds, position = {}, self.mixer.position
        for leg, end in self._walk.extending_legs(self._now).items():
            position_then = position + self._joint_turns(
                self._walk.scheduled_turns(self._now, end)
            )
            footholds[leg] = predict_foothold(
                self._robot, leg, (opposite_leg(leg),), position, position_then
            )
        return footholds

    def _joint_turns(self, angles: FloatArray) -> FloatArray:
        """Return angles in the order of ``WALK_JOINTS`` in the order of the robot, (n,) [rad]."""
        turns = np.zeros(len(self._robot.joint_names))
        turns[[self._robot.joint_index[name] for name in WALK_JOINTS]] = angles
        return turns

    def _leg_length(self, leg: str) -> float:
        """Return the vertical length of a leg by its targets, in thigh lengths."""
        position, index = self.mixer.position, self._robot.joint_index
        hip, knee = (position[index[f'{leg}_{part}']] for part in ('hip_fwd', 'knee'))
        return vertical_leg_length(float(hip), float(knee))
