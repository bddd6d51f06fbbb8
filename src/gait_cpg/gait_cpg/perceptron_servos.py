"""Linear servos of a robot as one row of places and forces: force elements and slider-cranks."""

from __future__ import annotations

import numba
import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.observation import Observation
from gait_core.perceptrons import Weights
from gait_core.robot.model import RobotModel
from gait_core.slider_crank import carriage, crank_angle

TRAVEL = 1.0 / 3.0
"""Of a force element to either side, by its length in the stance (Bishop 2008, appendix C)."""
# Least motion of a carriage per angle [m/rad] by which a torque is divided.
_STEEP = 1e-3
_NONE: FloatArray = np.zeros(0)
_NONE.flags.writeable = False


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
        self._cranks: FloatArray = np.array(
            [(float(one['crank']), float(one['rod'])) for one in constants]
        ).reshape(-1, 2)
        self._rest = _carriages(robot.joint_stance[self._joints], self._cranks)
        low, high = (
            _carriages(bounds[self._joints], self._cranks) - self._rest
            for bounds in _limits(robot)
        )
        travel = TRAVEL * self._lengths
        self.stops: FloatArray = np.array([np.append(-travel, low), np.append(travel, high)])

    def read(
        self, observation: Observation, scales: tuple[float, float], channels: Weights
    ) -> None:
        """
        Write places and forces of the servos, by their scales [m, N], as channels (2 q,).

        A place is 0 in the stance and grows as the servo gets longer; a force pushes.
        """
        found = (
            observation.element_lengths, observation.element_forces, observation.joint_positions,
            observation.joint_efforts,
        )  # fmt: skip
        _read(
            *(_NONE if array is None else array for array in found), self._elements,
            self._lengths, self._joints, self._cranks, self._rest, scales, channels,
        )  # fmt: skip

    def targets(self, places: FloatArray) -> FloatArray:
        """Return the target positions of the servos of some places, (1, q) [m or rad]."""
        positions: FloatArray = np.empty((1, len(self.names)))
        _aim(places, self._lengths, self._cranks, self._rest, positions[0])
        positions.flags.writeable = False
        return positions


@numba.njit(cache=True)
def _read(  # type: ignore[no-untyped-def]
    lengths, tensions, angles, torques, elements, at_rest, joints, cranks, carriages_at_rest,
    scales, channels,
):  # fmt: skip
    count, servos = len(elements), len(elements) + len(joints)
    for i in range(count):
        channels[i] = (lengths[elements[i]] - at_rest[i]) / scales[0]
        channels[servos + i] = -tensions[elements[i]] / scales[1]
    for i in range(len(joints)):
        place, slope = carriage(angles[joints[i]], cranks[i, 0], cranks[i, 1])
        channels[count + i] = (place - carriages_at_rest[i]) / scales[0]
        channels[servos + count + i] = torques[joints[i]] / max(slope, _STEEP) / scales[1]


@numba.njit(cache=True)
def _aim(places, at_rest, cranks, carriages_at_rest, positions):  # type: ignore[no-untyped-def]
    count = len(at_rest)
    for i in range(count):
        positions[i] = at_rest[i] + places[i]
    for i in range(len(cranks)):
        place = carriages_at_rest[i] + places[count + i]
        positions[count + i] = crank_angle(place, cranks[i, 0], cranks[i, 1])


def _carriages(angles: FloatArray, cranks: FloatArray) -> FloatArray:
    """Return the places of carriages at angles [rad], (c,) [m]."""
    pairs = zip(angles.tolist(), cranks.tolist(), strict=True)
    return np.array([carriage(angle, *one)[0] for angle, one in pairs], dtype=np.float64)


def _limits(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return limits of joints between which a slider-crank moves one way, (n,) each [rad]."""
    return np.maximum(robot.lower, 0.0), np.minimum(robot.upper, np.pi)
