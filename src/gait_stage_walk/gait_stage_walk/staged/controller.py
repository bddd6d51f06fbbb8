"""The staged walk as a controller: behaviours summed and integrated to joint targets."""

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
"""Difference of leg lengths from which the shorter leg swings, in units of the thigh."""


class StagedWalkController(Controller):
    """
    Walks a humanoid by the timetable of Pike (2003), with levelling, heading and balance.

    It starts at once and walks on at the pace that its parameters give; with ``follow_velocity``
    the commanded forward speed gives the step size, and none lets it stand. The commanded yaw
    rate turns it; it has no side step. The parameter ``stop``, or the set point ``stop`` above
    0.5, asks it to stand still, which it grants at the end of a cycle; back at zero it starts
    anew. The set point ``turn`` [rad] is added to the heading of ``turn_deg``.

    Parameters
    ----------
    robot : RobotModel
    params : StagedWalkParams

    Attributes
    ----------
    mixer : Mixer
        Starts, stops, sets and lists behaviours; made anew by a reset.

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
                    f"staged_walk needs joint '{name}', which robot '{robot.name}' lacks: "
                    f'{name_hint(name, robot.joint_names)}'
                )
        self._robot = robot
        self._walk = StagedWalk(params)
        self.reset(0)

    def _residents(self) -> dict[str, Behaviour]:
        """Return, anew, the behaviours that go with the walk, in order of registration."""
        self._heading = Heading(self._walk)
        return {
            'levelling': LegLevelling(self._walk),
            'heading': self._heading,
            'balance': Balance(self._walk),
        }

    @property
    def params(self) -> StagedWalkParams:
        """The parameters in force."""
        return self._walk.current

    @property
    def needs(self) -> frozenset[str]:
        """An IMU where balance is kept by it."""
        params = self._walk.params
        return frozenset({'imu'} if params.balance_gain or params.balance_damping else ())

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits of the velocities that are followed."""
        return velocity_limits(self._walk.params)

    def set_params(self, params: StagedWalkParams) -> None:
        """Replace the parameters; they come into force at the next start or end of a cycle."""
        self._walk.params = params

    def reset(self, seed: int) -> None:
        """Stand at the nominal stance, with nothing started beside the walk; no seed is needed."""
        self._now = 0
        self._walk.reset()
        self.mixer = Mixer(self._robot, self._walk, self._residents())

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the joint angles at the end of the period and their mean rates over it."""
        rates = self._advance(dt, command, observation)
        return JointTargets(
            names=self._robot.joint_names, position=self.mixer.position, velocity=rates
        )

    def _advance(self, dt: float, command: Command, observation: Observation) -> FloatArray:
        """Move on by a period and return the mean rates of the joints over it, (n,) [rad/s]."""
        end = self._now + to_nanoseconds(dt)
        turned = self.mixer.step(Period(self._now, end, command, observation))
        self._now = end
        return turned / dt

    def state(self) -> Mapping[str, float]:
        """
        Return where the walk stands.

        ``phase`` [rad] runs from 0 to 2 pi in a cycle and is 0 outside; ``stage`` is the value of
        ``Phase``; ``cycle`` counts cycles begun; ``stance.left`` and ``stance.right`` are 0 for a
        leg that the commanded angles hold clear of the ground, else 1; ``heading`` and
        ``heading_wanted`` [rad] are present and wanted; ``step_size`` and ``leg_lift`` [rad] are
        those in force.
        """
        walk = self._walk
        share = 0.0
        if walk.phase.in_cycle:
            share = (self._now - walk.phase_start) / (walk.phase_end - walk.phase_start)
        left, right = (self._leg_length(leg) for leg in ('left', 'right'))
        return {
            'phase': 2.0 * math.pi * min(share, 1.0),
            'stage': float(walk.phase.value),
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
        Return where a leg that is being extended comes down, (3,) [m], by leg.

        In the frame of the root, by the stages scheduled; before, while the leg is lifted and
        moved forward, its step is not decided yet.
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
        """Return angles by ``JOINTS`` as those of the robot's joints, (n,) [rad]."""
        turns = np.zeros(len(self._robot.joint_names))
        turns[[self._robot.joint_index[name] for name in WALK_JOINTS]] = angles
        return turns

    def _leg_length(self, leg: str) -> float:
        position, index = self.mixer.position, self._robot.joint_index
        hip, knee = (position[index[f'{leg}_{part}']] for part in ('hip_fwd', 'knee'))
        return vertical_leg_length(float(hip), float(knee))
