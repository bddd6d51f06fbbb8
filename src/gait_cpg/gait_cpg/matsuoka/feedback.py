# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sensory feedback to the oscillators of the controller ``matsuoka``."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel
from gait_cpg.matsuoka.outputs import Outputs

_GRAVITY = 9.81
"""Gravity of the weight to which loads are compared [m/s^2]."""


class StretchFeedback:
    """Feedback of strain of the force elements of a signal, or deflection of its joints [rad]."""

    def __init__(self, robot: RobotModel, outputs: Outputs) -> None:
        elements = {element.name: i for i, element in enumerate(robot.force_elements)}
        self._of_joints = outputs.names[0] in robot.joint_index
        index = robot.joint_index if self._of_joints else elements
        self._columns = np.array([index[name] for name in outputs.names])
        self._mean = _mean_by_signal(outputs)
        self.needs = frozenset({'joint_positions' if self._of_joints else 'element_lengths'})
        if self._of_joints:
            self._rest = robot.stance[self._columns]
        else:
            joints = robot.stance[: len(robot.joint_names)]
            self._rest = element_lengths_at(robot, joints)[self._columns]

    def read(self, observation: Observation) -> FloatArray:
        """Return the feedback of each signal, (m,)."""
        measured = observation.joint_positions if self._of_joints else observation.element_lengths
        if measured is None:
            raise BadCommand(f'feedback needs {", ".join(self.needs)}, which are not observed')
        deflection = measured[self._columns] - self._rest
        return np.asarray(
            self._mean @ (deflection if self._of_joints else deflection / self._rest)
        )


class LoadFeedback:
    """
    Feedback of load: excess of the force on the soles or contact nodes of a signal.

    It is relative to an equal share of the weight: -1 without contact, 0 at that share.
    """

    def __init__(self, robot: RobotModel, outputs: Outputs) -> None:
        self.needs = frozenset({'contacts'})
        owned = np.array([_soles_moved_by(robot, name) for name in outputs.names])
        of_signal = np.array(
            [owned[outputs.signal == i].any(axis=0) for i in range(len(outputs.signals))]
        )
        for name, own in zip(outputs.signals, of_signal, strict=True):
            if not own.any():
                raise ConfigurationError(
                    f"feedback 'contact' needs a sole or contact node at signal '{name}' of robot "
                    f"'{robot.name}'"
                )
        even_load = robot.mass * _GRAVITY / of_signal.shape[1]
        self._mean = of_signal / of_signal.sum(axis=1, keepdims=True) / even_load

    def read(self, observation: Observation) -> FloatArray:
        """Return the feedback of each signal, (m,)."""
        if observation.contacts is None:
            raise BadCommand('feedback needs contacts, which are not observed')
        return np.asarray(self._mean @ observation.contacts.sole_forces()[:, 2] - 1.0)


def _soles_moved_by(robot: RobotModel, name: str) -> list[bool]:
    """Return which soles (or contact nodes) a joint moves (or a force element holds)."""
    if robot.contact_nodes:
        links = {
            link
            for element in robot.force_elements
            if element.name == name
            for link in (element.link_a, element.link_b)
        }
        return [node.link in links for node in robot.contact_nodes]
    return [name in leg.joints for leg in robot.legs]


def _mean_by_signal(outputs: Outputs) -> FloatArray:
    """Return the matrix (m, n) of signed means over the outputs of each signal, without lifts."""
    chosen = outputs.signal == np.arange(len(outputs.signals))[:, None]
    chosen &= ~outputs.lifts
    return np.asarray(chosen * outputs.sign / chosen.sum(axis=1, keepdims=True))


FEEDBACK_SENSORS: dict[str, type[StretchFeedback] | type[LoadFeedback]] = {
    'stretch': StretchFeedback,
    'contact': LoadFeedback,
}
"""Feedback classes by the value of the parameter ``feedback``."""
