# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Similarity scaling: an engine simulates an enlarged robot that moves like the real one.

Libraries of rigid bodies have margins and thresholds for robots of about a metre and a kilogram;
an insect of two grams is below them. Everything outside the engine is in real units.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Contacts, Observation
from gait_core.motion.targets import AppliedTape, AppliedTargets
from gait_core.parameters.declaration import Parameters, declared_parameters
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain
from gait_core.trial.scene import Push, Scene
from sim_bridge.engines.shared.scaling import scale_robot, scale_terrain, scaling_exponent

OptionsT = TypeVar('OptionsT', bound=Parameters)


class SimilarityScaling:
    """
    Scaling of scenes and targets to the enlarged robot, and of observations back.

    Parameters
    ----------
    ratio : float
        Length of the simulated robot over that of the real robot.
    robot : RobotModel
        The real robot.

    Attributes
    ----------
    robot : RobotModel
        The enlarged robot.

    """

    def __init__(self, ratio: float, robot: RobotModel) -> None:
        self._ratio, self._real = ratio, robot
        self.robot = scale_robot(robot, ratio)
        self._terrain: tuple[Terrain, Terrain] | None = None
        slides = np.array(
            [robot.joint[name].kind == 'prismatic' for name in robot.joint_names]
            + [True] * len(robot.force_elements)
        )
        self._targets = [
            np.where(slides, self._factor(slide), self._factor(hinge))
            for slide, hinge in (('m', 'rad'), ('m/s', 'rad/s'), ('N', 'N m'))
        ]
        self._joints = [column[: len(robot.joint_names)] for column in self._targets]
        self._pose = np.repeat([ratio, 1.0], [3, 4])
        self._twist = np.repeat([self._factor('m/s'), self._factor('1/s')], [3, 3])

    def matches(self, ratio: float, robot: RobotModel) -> bool:
        """Return whether this is the scaling by a ratio of the same robot object."""
        return ratio == self._ratio and robot is self._real

    def _factor(self, unit: str) -> float:
        return float(self._ratio ** scaling_exponent(unit))

    def scale_scene(self, scene: Scene) -> Scene:
        """Return the scene of the enlarged robot; ``scale_positions`` scales its joints."""
        length, time, force = (self._factor(unit) for unit in ('m', 's', 'N'))
        start = scene.initial
        return dataclasses.replace(
            scene,
            length_scale=1.0,
            physics_step=scene.physics_step * time,
            control_period=scene.control_period * time,
            initial=dataclasses.replace(
                start,
                x=start.x * length,
                y=start.y * length,
                clearance=start.clearance * length,
            ),
            pushes=tuple(_scale_push(push, time, force) for push in scene.pushes),
        )

    def scale_options(self, options: OptionsT) -> OptionsT:
        """
        Return engine options for the enlarged robot; those without a unit do not change.

        Raises
        ------
        ConfigurationError
            If a scaled option is out of its range.

        """
        changed: Any = {
            info.name: getattr(options, info.name) * self._factor(info.unit)
            for info in declared_parameters(type(options))
            if info.kind == 'float' and scaling_exponent(info.unit)
        }
        try:
            return dataclasses.replace(options, **changed)
        except ConfigurationError as error:
            raise ConfigurationError(
                f'scene.length_scale {self._ratio:g} is too far from 1 for the options of the '
                f'engine: {error}'
            ) from error

    def scale_terrain(self, terrain: Terrain) -> Terrain:
        """Return the enlarged terrain; the same object for the same real terrain."""
        if self._terrain is None or self._terrain[0] is not terrain:
            self._terrain = terrain, scale_terrain(terrain, self._ratio)
        return self._terrain[1]

    def scale_positions(self, positions: FloatArray) -> FloatArray:
        """Return joint positions and element lengths, (m,), of the enlarged robot."""
        return np.asarray(positions * self._targets[0])

    def scale_targets(self, targets: AppliedTargets) -> AppliedTargets:
        """Return the targets of the enlarged robot."""
        position, rate, effort = self._targets
        return AppliedTargets(
            targets.position * position, targets.velocity * rate, targets.effort * effort
        )

    def scale_tape(self, tape: AppliedTape) -> AppliedTape:
        """Return the tape of targets of the enlarged robot."""
        position, rate, effort = self._targets
        return AppliedTape(tape.position * position, tape.velocity * rate, tape.effort * effort)

    def unscale_observation(self, observation: Observation, period: float) -> Observation:
        """Return an observation in real units; ``period`` [s] is the real control period."""
        return dataclasses.replace(
            observation, time=observation.tick * period, **self._in_real_units(observation)
        )

    def _in_real_units(self, observation: Observation) -> dict[str, Any]:
        """Return the fields of an observation that have a unit, in real units."""
        length, force = self._factor('m'), self._factor('N')
        imu = observation.imu
        if imu is not None:
            rate = self._twist[5]
            imu = dataclasses.replace(imu, angular_velocity=imu.angular_velocity / rate)
        return {
            'imu': imu,
            'joint_positions': _divide(observation.joint_positions, self._joints[0]),
            'joint_velocities': _divide(observation.joint_velocities, self._joints[1]),
            'joint_efforts': _divide(observation.joint_efforts, self._joints[2]),
            'joint_work': _divide(observation.joint_work, self._factor('J')),
            'body_poses': _divide(observation.body_poses, self._pose),
            'body_twists': _divide(observation.body_twists, self._twist),
            'element_lengths': _divide(observation.element_lengths, length),
            'element_forces': _divide(observation.element_forces, force),
            'contacts': _unscale_contacts(observation.contacts, length, force),
        }


def _scale_push(push: Push, time: float, force: float) -> Push:
    x, y, z = push.force
    return dataclasses.replace(
        push,
        start=push.start * time,
        duration=push.duration * time,
        force=(x * force, y * force, z * force),
    )


def _unscale_contacts(
    observation: Contacts | None, length: float, force: float
) -> Contacts | None:
    """Return contacts of the scaled robot in lengths and forces of the original."""
    if observation is None or not len(observation.sole):
        return observation
    return dataclasses.replace(
        observation,
        points=observation.points / length,
        forces=observation.forces / force,
        depths=observation.depths / length,
    )


def _divide(array: FloatArray | None, factor: FloatArray | float) -> FloatArray | None:
    if array is None:
        return None
    result: FloatArray = array / factor
    result.flags.writeable = False
    return result
