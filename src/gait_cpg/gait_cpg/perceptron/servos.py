# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Linear servos of a robot: force elements and slider-crank joints with one interface."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.slider_crank import carriage_position, crank_angle
from gait_core.robot.model import RobotModel

TRAVEL_SHARE = 1.0 / 3.0
"""Travel of a force element to either side, over its nominal length (Bishop 2008, appendix C)."""
_MIN_SLOPE = 1e-3
"""Smallest motion of a carriage per crank angle by which a torque is divided [m/rad]."""


class ServoGeometry(NamedTuple):
    """
    Constants of the servos: e force elements, then c slider-crank joints.

    Attributes
    ----------
    elements : (e,) int array
        Indices among all force elements.
    rest_lengths : (e,) array [m]
        Lengths in the nominal stance.
    joints : (c,) int array
        Indices among all joints.
    cranks : (c, 2) array [m]
        Lengths of crank and rod.
    rest_carriages : (c,) array [m]
        Positions of the carriages in the nominal stance.

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
    Linear servos of a robot: force elements of that kind, then slider-crank joints.

    Attributes
    ----------
    names : (q,) tuple of str
    needs : frozenset of str
        Fields of the observation that ``write_servo_channels`` reads.
    travel_limits : (2, q) array [m]
        Smallest and largest position, 0 in the nominal stance.
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
                f"controller 'perceptron' needs linear servos, robot '{robot.name}' has none"
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
    Write positions, then forces of the servos, over their scales [m, N], into channels, (2 q,).

    A position is 0 in the nominal stance and increases with the length; a positive force pushes.
    """
    elements, joints, cranks = servos.elements, servos.joints, servos.cranks
    count, total = len(elements), len(elements) + len(joints)
    for i in range(count):
        channels[i] = (readings.lengths[elements[i]] - servos.rest_lengths[i]) / scales[0]
        channels[total + i] = -readings.tensions[elements[i]] / scales[1]
    for i in range(len(joints)):
        position, slope = carriage_position(readings.angles[joints[i]], cranks[i, 0], cranks[i, 1])
        channels[count + i] = (position - servos.rest_carriages[i]) / scales[0]
        # Virtual work: force along the carriage = torque / (motion of the carriage per angle).
        force = readings.torques[joints[i]] / max(slope, _MIN_SLOPE)
        channels[total + count + i] = force / scales[1]


@numba.njit(cache=True)
def write_servo_targets(
    servos: ServoGeometry, servo_positions: FloatArray, positions: FloatArray
) -> None:
    """Write target lengths and crank angles, (q,) [m or rad], from servo positions, (q,) [m]."""
    count = len(servos.rest_lengths)
    for i in range(count):
        positions[i] = servos.rest_lengths[i] + servo_positions[i]
    for i in range(len(servos.cranks)):
        carriage = servos.rest_carriages[i] + servo_positions[count + i]
        positions[count + i] = crank_angle(carriage, servos.cranks[i, 0], servos.cranks[i, 1])


def _carriage_positions(angles: FloatArray, cranks: FloatArray) -> FloatArray:
    """Return the positions of carriages at crank angles [rad], (c,) [m]."""
    pairs = zip(angles.tolist(), cranks.tolist(), strict=True)
    return np.array(
        [carriage_position(angle, *crank)[0] for angle, crank in pairs], dtype=np.float64
    )


def _monotonic_limits(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return the joint limits within which a carriage moves in one direction, (n,) each [rad]."""
    return np.maximum(robot.lower, 0.0), np.minimum(robot.upper, np.pi)
