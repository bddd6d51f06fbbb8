# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rest angles of joints that are exponential springs, from measured angles and torques."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel


class ExponentialSprings:
    """
    The joints of a robot whose actuators are of the kind ``exponential``.

    Their target is a rest angle, from which a load stretches the spring: with the measured angle
    as its target the robot would sink.

    Parameters
    ----------
    robot : RobotModel

    """

    def __init__(self, robot: RobotModel) -> None:
        self._size = len(robot.target_names)
        named = [
            (i, robot.actuators[name].constants)
            for i, name in enumerate(robot.joint_names)
            if robot.actuators[name].kind == 'exponential'
        ]
        self._joints = np.array([i for i, _ in named], dtype=np.int64)
        self._strength, self._rise, self._damping = (
            np.array([float(constants.get(key, 0.0)) for _, constants in named])
            for key in ('strength', 'rise', 'damping')
        )

    def stretch(self, observation: Observation) -> FloatArray:
        """
        Return the rest angles minus the measured angles, (m,) [rad].

        They are the inverse of the law in ``gait_core.robot.model.Actuator``: zero for other
        actuators, and for all of them without measured efforts.
        """
        stretch: FloatArray = np.zeros(self._size)
        efforts, rates = observation.joint_efforts, observation.joint_velocities
        if len(self._joints) and efforts is not None:
            torque = efforts[self._joints]
            if rates is not None:
                torque = torque + self._damping * rates[self._joints]
            # The inverse of |torque| = strength (exp(rise |stretch|) - 1), damping removed.
            size = np.log1p(np.abs(torque) / self._strength) / self._rise
            stretch[self._joints] = np.sign(torque) * size
        return stretch
