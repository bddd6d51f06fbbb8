"""Linear servos of a robot as one row of places and forces: force elements and slider-cranks."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.observation import Observation
from gait_core.robot.model import RobotModel
from gait_core.slider_crank import carriage, crank_angle

TRAVEL = 1.0 / 3.0
"""Of a force element to either side, by its length in the stance (Bishop 2008, appendix C)."""
# Least motion of a carriage per angle [m/rad] by which a torque is divided.
_STEEP = 1e-3


class Servos:
    """
    The linear servos of a robot: its force elements of that kind, then the slider-crank joints.

    Attributes
    ----------
    names : tuple of str
    needs : frozenset of str
        Fields of the observation that ``read`` looks at.
    stops : (2, q) array [m]
        Least and greatest place.

    """

    def __init__(self, robot: RobotModel) -> None:
        elements = [
            (i, one) for i, one in enumerate(robot.force_elements) if one.kind == 'linear_servo'
        ]
        cranks = [
            name for name in robot.joint_names if robot.actuators[name].kind == 'slider_crank'
        ]
        self.names = (*(one.name for _, one in elements), *cranks)
        if not self.names:
            raise ConfigurationError(
                f"controller 'perceptron' drives linear servos, robot '{robot.name}' has none"
            )
        needs = {'element_lengths', 'element_forces'} if elements else set()
        self.needs = frozenset(needs | ({'joint_positions', 'joint_efforts'} if cranks else set()))
        self._elements = np.array([i for i, _ in elements], dtype=np.int64)
        self._joints = np.array([robot.joint_index[name] for name in cranks], dtype=np.int64)
        self._lengths = robot.stance[len(robot.joint_names) + self._elements]
        constants = [robot.actuators[name].constants for name in cranks]
        self._cranks = [(float(one['crank']), float(one['rod'])) for one in constants]
        self._rest = self._carriages(robot.joint_stance[self._joints])[0]
        low, high = (self._carriages(bounds[self._joints])[0] for bounds in _limits(robot))
        travel = TRAVEL * self._lengths
        self.stops: FloatArray = np.array(
            [np.append(-travel, low - self._rest), np.append(travel, high - self._rest)]
        )

    def read(self, observation: Observation) -> tuple[FloatArray, FloatArray]:
        """
        Return places [m] and forces [N] of the servos, (q,) each.

        A place is 0 in the stance and grows as the servo gets longer; a force pushes.
        """
        places: FloatArray = np.empty(len(self.names))
        forces: FloatArray = np.empty(len(self.names))
        count = len(self._elements)
        if count:
            assert observation.element_lengths is not None
            assert observation.element_forces is not None
            places[:count] = observation.element_lengths[self._elements] - self._lengths
            forces[:count] = -observation.element_forces[self._elements]
        if len(self._joints):
            assert observation.joint_positions is not None
            assert observation.joint_efforts is not None
            at, slopes = self._carriages(observation.joint_positions[self._joints])
            places[count:] = at - self._rest
            forces[count:] = observation.joint_efforts[self._joints] / np.maximum(slopes, _STEEP)
        return places, forces

    def targets(self, places: FloatArray) -> FloatArray:
        """Return the target positions of the servos of some places, (1, q) [m or rad]."""
        count = len(self._elements)
        positions: FloatArray = np.empty((1, len(self.names)))
        positions[0, :count] = self._lengths + places[:count]
        for i, (crank, rod) in enumerate(self._cranks):
            positions[0, count + i] = crank_angle(self._rest[i] + places[count + i], crank, rod)
        positions.flags.writeable = False
        return positions

    def _carriages(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the places of carriages at angles [rad], and how they move per angle."""
        found = [
            carriage(angle, crank, rod)
            for angle, (crank, rod) in zip(angles.tolist(), self._cranks, strict=True)
        ]
        pairs: FloatArray = np.array(found, dtype=np.float64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


def _limits(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return limits of joints between which a slider-crank moves one way, (n,) each [rad]."""
    return np.maximum(robot.lower, 0.0), np.minimum(robot.upper, np.pi)
