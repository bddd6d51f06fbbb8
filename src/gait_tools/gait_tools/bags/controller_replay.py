# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Replay of recorded observations through a controller, and comparison of its targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.motion.observation import missing_fields
from gait_core.motion.targets import TargetMemory
from gait_core.robot.load import load_robot
from gait_core.robot.mass import scale_mass
from gait_core.robot.model import RobotModel
from gait_core.trial.parts import initial_positions, make_controller
from gait_tools.bags.read import RecordedTrial


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """
    Comparison of a controller's targets with recorded ones.

    Attributes
    ----------
    periods : int
        Control periods compared.
    differing : int
        Control periods in which a target or sub-sample differs.
    first : int or None
        Tick of the first difference.
    largest : float
        Largest difference of a target [rad or m, per s, N m or N].
    target : str
        Joint or force element of the largest difference.

    """

    periods: int
    differing: int
    first: int | None
    largest: float
    target: str

    @property
    def is_equal(self) -> bool:
        """True if every target is equal to the last bit."""
        return not self.differing


def replay_through_controller(trial: RecordedTrial, robot: RobotModel | None = None) -> Comparison:
    """
    Step the controller of a recorded trial with its observations, and compare the targets.

    No physics runs. The controller has the parameters of the trial's spec; without a ``robot``
    that of the spec is loaded.

    Raises
    ------
    ConfigurationError
        If the controller cannot be made or needs an observation that the bag lacks, or if the
        robot has other joints than the recorded one.

    """
    spec = trial.spec
    scene = spec.scene
    robot = robot or scale_mass(load_robot(scene.robot, scene.draw), scene.mass_factor)
    controller = make_controller(spec, robot)
    memory = TargetMemory(robot.target_names, initial_positions(robot, scene))
    differing: list[int] = []
    largest, target = 0.0, ''
    for number, moment in enumerate(trial.periods):
        if moment.names != robot.target_names:
            raise ConfigurationError(
                f"robot '{robot.name}' has other joints than when the bag was recorded"
            )
        if number == 0:
            controller.reset(moment.seed)
            absent = missing_fields(moment.observation, controller.needs)
            if absent:
                raise ConfigurationError(
                    f"controller '{spec.controller}' needs {', '.join(absent)}, which the bag "
                    'does not hold'
                )
        try:
            targets = controller.step(moment.dt, moment.command, moment.observation)
            applied = memory.resolve(targets)
        except BadCommand as error:
            raise ConfigurationError(
                f'at tick {number} the controller gave invalid targets: {error}'
            ) from error
        for computed, recorded in (
            (applied.position, moment.applied.position),
            (applied.velocity, moment.applied.velocity),
            (applied.effort, moment.applied.effort),
        ):
            if np.array_equal(computed, recorded):
                continue
            if not differing or differing[-1] != number:
                differing.append(number)
            off = np.abs(computed[-1] - recorded[-1])
            if off.max() > largest:
                largest, target = float(off.max()), robot.target_names[int(off.argmax())]
    return Comparison(
        periods=len(trial.periods),
        differing=len(differing),
        first=differing[0] if differing else None,
        largest=largest,
        target=target,
    )
