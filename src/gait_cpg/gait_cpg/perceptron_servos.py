"""Linear servos of a robot as one row of places and forces: force elements and slider-cranks."""

from __future__ import annotations

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
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
        Fields of the observation that ``read_servos`` looks at.
    stops : (2, q) array [m]
        Least and greatest place.
    elements, at_rest : (e,) arrays [m]
        Which force elements they are, and how long in the stance.
    joints, cranks, carriages_at_rest : (c,), (c, 2) and (c,) arrays [m]
        Which joints the slider-cranks are, their cranks and rods, and the place of the carriage
        in the stance.

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
        self.elements: IntArray = np.array([i for i, _ in elements], dtype=np.int64)
        self.joints: IntArray = np.array(
            [robot.joint_index[name] for name in cranks], dtype=np.int64
        )
        self.at_rest: FloatArray = robot.stance[len(robot.joint_names) + self.elements]
        constants = [robot.actuators[name].constants for name in cranks]
        self.cranks: FloatArray = np.array(
            [(float(one['crank']), float(one['rod'])) for one in constants]
        ).reshape(-1, 2)
        self.carriages_at_rest = _carriages(robot.joint_stance[self.joints], self.cranks)
        low, high = (
            _carriages(bounds[self.joints], self.cranks) - self.carriages_at_rest
            for bounds in _limits(robot)
        )
        travel = TRAVEL * self.at_rest
        self.stops: FloatArray = np.array([np.append(-travel, low), np.append(travel, high)])


@numba.njit(cache=True)
def read_servos(  # type: ignore[no-untyped-def]
    lengths, tensions, angles, torques, elements, at_rest, joints, cranks, carriages_at_rest,
    scales, channels,
):  # fmt: skip
    """
    Write places and forces of servos, by their scales [m, N], as channels (2 q,).

    A place is 0 in the stance and grows as the servo gets longer; a force pushes.

    Parameters
    ----------
    lengths, tensions, angles, torques : arrays [m, N, rad, N m]
        Of all force elements and of all joints.
    elements, at_rest, joints, cranks, carriages_at_rest
        As of ``Servos``.
    scales : (float, float)
    channels : (2 q,) array

    """
    count, servos = len(elements), len(elements) + len(joints)
    for i in range(count):
        channels[i] = (lengths[elements[i]] - at_rest[i]) / scales[0]
        channels[servos + i] = -tensions[elements[i]] / scales[1]
    for i in range(len(joints)):
        place, slope = carriage(angles[joints[i]], cranks[i, 0], cranks[i, 1])
        channels[count + i] = (place - carriages_at_rest[i]) / scales[0]
        channels[servos + count + i] = torques[joints[i]] / max(slope, _STEEP) / scales[1]


@numba.njit(cache=True)
def aim_servos(places, at_rest, cranks, carriages_at_rest, positions):  # type: ignore[no-untyped-def]
    """Write the target positions of servos of some places, (q,) [m or rad]."""
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
