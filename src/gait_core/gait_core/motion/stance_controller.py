# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Controller that holds the nominal stance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gait_core.contracts import Controller
from gait_core.motion.observation import Observation
from gait_core.motion.targets import JointTargets
from gait_core.motion.velocity_limits import VelocityLimits
from gait_core.parameters.declaration import Parameters
from gait_core.robot.model import RobotModel
from gait_core.trial.spec import Command


class HoldController(Controller):
    """Holds the nominal stance at any command."""

    Params: ClassVar[type[Parameters]] = Parameters
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {'stand': {}}
    velocity_limits: ClassVar[VelocityLimits] = 'it holds the nominal stance'

    def __init__(self, robot: RobotModel, params: Parameters) -> None:
        super().__init__(robot, params)
        self._targets = JointTargets(names=robot.target_names, position=robot.stance)

    def reset(self, seed: int) -> None:
        """Do nothing: the controller has no state."""

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """Return the nominal stance."""
        return self._targets
