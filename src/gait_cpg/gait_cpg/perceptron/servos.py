"""Linear servos of a robot as one row of places and forces: force elements and slider-cranks."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.slider_crank import carriage_position, crank_angle
from gait_core.robot.model import RobotModel

TRAVEL_SHARE = 1.0 / 3.0
"""Of a force element to either side, by its length in the stance (Bishop 2008, appendix C)."""
# Least motion of a carriage per angle [m/rad] by which a torque is divided.
_MIN_SLOPE = 1e-3


class ServoGeometry(NamedTuple):
    """
    Constants by which servos are read and aimed.

    ``elements``, ``at_rest`` (e,): indices of the force elements among all, and their lengths in
    the stance [m]; ``joints`` (c,), ``cranks`` (c, 2), ``carriages_at_rest`` (c,): indices of the
    slider-crank joints, their cranks and rods [m], and places of their carriages in the stance
    [m].
    """

    elements: IntArray
    rest_lengths: FloatArray
    joints: IntArray
    cranks: FloatArray
    rest_carriages: FloatArray


class ServoReadings(NamedTuple):
    """Lengths [m] and tensions [N] of all force elements, angles [rad] and torques of joints."""

    lengths: FloatArray
    tensions: FloatArray
    angles: FloatArray
    torques: FloatArray


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
    geometry : ServoGeometry

    """

    def __init__(self, robot: RobotModel) -> None:
        elements = [
            (i, element)
            for i, element in enumerate(robot.force_elements)
            if element.kind == 'linear_servo'
        ]
        cranks = [
            name for name in robot.joint_names if robot.actuators[name].kind == 'slider_crank'
        ]
        self.names = (*(element.name for _, element in elements), *cranks)
        if not self.names:
            raise ConfigurationError(
                f"controller 'perceptron' drives linear servos, robot '{robot.name}' has none"
            )
        needs = {'element_lengths', 'element_forces'} if elements else set()
        self.needs = frozenset(needs | ({'joint_positions', 'joint_efforts'} if cranks else set()))
        joints: IntArray = np.array([robot.joint_index[name] for name in cranks], dtype=np.int64)
        indices: IntArray = np.array([i for i, _ in elements], dtype=np.int64)
        constants = [robot.actuators[name].constants for name in cranks]
        levers: FloatArray = np.array(
            [(float(element['crank']), float(element['rod'])) for element in constants]
        ).reshape(-1, 2)
        self.geometry = ServoGeometry(
            elements=indices,
            rest_lengths=robot.stance[len(robot.joint_names) + indices],
            joints=joints,
            cranks=levers,
            rest_carriages=_carriage_positions(robot.joint_stance[joints], levers),
        )
        low, high = (
            _carriage_positions(bounds[joints], levers) - self.geometry.rest_carriages
            for bounds in _monotonic_limits(robot)
        )
        travel = TRAVEL_SHARE * self.geometry.rest_lengths
        self.travel_limits: FloatArray = np.array(
            [np.append(-travel, low), np.append(travel, high)]
        )


@numba.njit(cache=True)
def write_servo_channels(
    servos: ServoGeometry,
    readings: ServoReadings,
    scales: tuple[float, float],
    channels: FloatArray,
) -> None:
    """
    Write places and forces of servos, by their scales [m, N], as channels (2 q,).

    A place is 0 in the stance and grows as the servo gets longer; a force pushes.
    """
    elements, joints, cranks = servos.elements, servos.joints, servos.cranks
    count, total = len(elements), len(elements) + len(joints)
    for i in range(count):
        channels[i] = (readings.lengths[elements[i]] - servos.rest_lengths[i]) / scales[0]
        channels[total + i] = -readings.tensions[elements[i]] / scales[1]
    for i in range(len(joints)):
        position, slope = carriage_position(readings.angles[joints[i]], cranks[i, 0], cranks[i, 1])
        channels[count + i] = (position - servos.rest_carriages[i]) / scales[0]
        # The force along the carriage is the torque over the way that it moves per angle.
        force = readings.torques[joints[i]] / max(slope, _MIN_SLOPE)
        channels[total + count + i] = force / scales[1]


@numba.njit(cache=True)
def write_servo_targets(
    servos: ServoGeometry, servo_positions: FloatArray, positions: FloatArray
) -> None:
    """Write the target positions of servos from their places, (q,) [m or rad]."""
    count = len(servos.rest_lengths)
    for i in range(count):
        positions[i] = servos.rest_lengths[i] + servo_positions[i]
    for i in range(len(servos.cranks)):
        carriage = servos.rest_carriages[i] + servo_positions[count + i]
        positions[count + i] = crank_angle(carriage, servos.cranks[i, 0], servos.cranks[i, 1])


def _carriage_positions(angles: FloatArray, cranks: FloatArray) -> FloatArray:
    """Return the places of carriages at angles [rad], (c,) [m]."""
    pairs = zip(angles.tolist(), cranks.tolist(), strict=True)
    return np.array(
        [carriage_position(angle, *crank)[0] for angle, crank in pairs], dtype=np.float64
    )


def _monotonic_limits(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return limits of joints between which a slider-crank moves one way, (n,) each [rad]."""
    return np.maximum(robot.lower, 0.0), np.minimum(robot.upper, np.pi)
