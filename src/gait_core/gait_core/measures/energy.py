# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Mechanical work of joints, motor heat and cost of transport.

Some engines sum the work of every physics step (``work_from_sums``). Otherwise efforts and
velocities are known at the control ticks only, and power is integrated by the trapezoidal rule:
peaks within a tick, as at an impact, are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.robot.model import ForceElement


@dataclass(frozen=True, kw_only=True)
class JointWork:
    """
    Mechanical work per joint, or per force element.

    Attributes
    ----------
    signed : (n,) array [J]
        Work done on the mechanism, with braking negative.
    absolute : (n,) array [J]
        Work with braking positive: braking costs as much as driving.
    positive : (n,) array [J]
        Work without braking: braking is free and recovers nothing.

    """

    signed: FloatArray
    absolute: FloatArray
    positive: FloatArray


def joint_work(efforts: FloatArray, velocities: FloatArray, dt: float) -> JointWork:
    """
    Return the work of each joint over a record, by the trapezoidal rule.

    Parameters
    ----------
    efforts, velocities : (T + 1, n) arrays [N m or N, rad/s or m/s]
    dt : float [s]

    """
    if efforts.shape != velocities.shape:
        raise ValueError(f'efforts {efforts.shape} and velocities {velocities.shape} differ')
    power = efforts * velocities
    return JointWork(
        signed=_integrate_power(power, dt),
        absolute=_integrate_power(np.abs(power), dt),
        positive=_integrate_power(np.maximum(power, 0.0), dt),
    )


def work_from_sums(work: FloatArray) -> JointWork:
    """
    Return the work of each joint between the first and the last sums of an engine.

    Parameters
    ----------
    work : (T + 1, 2, n) array [J]
        Signed and positive sums; see ``Observation.joint_work``.

    """
    signed, positive = work[-1] - work[0]
    return JointWork(signed=signed, absolute=2.0 * positive - signed, positive=positive)


def element_work(
    lengths: FloatArray, tensions: FloatArray, rest_lengths: FloatArray, added_tensions: FloatArray
) -> JointWork:
    """
    Return the work of the drives of force elements over a record.

    Arguments as of ``element_work_by_period``. The work of springs and dampers is not counted.
    """
    work = element_work_by_period(lengths, tensions, rest_lengths, added_tensions)
    return JointWork(
        signed=work.sum(axis=0),
        absolute=np.abs(work).sum(axis=0),
        positive=np.maximum(work, 0.0).sum(axis=0),
    )


def element_work_by_period(
    lengths: FloatArray, tensions: FloatArray, rest_lengths: FloatArray, added_tensions: FloatArray
) -> FloatArray:
    """
    Return the work of the drives of force elements in each control period, (T, e) [J].

    An added tension does work along the change of the length. A drive that moves the rest length
    does work against the remaining tension.

    Parameters
    ----------
    lengths, tensions : (T + 1, e) arrays [m, N]
    rest_lengths, added_tensions : (T, e) arrays [m, N]
        Rest lengths of springs and cables, target lengths of servos, and added tensions.

    """
    # W = -u dL - (tau - u) dL0, with the added tension u, the mean tension tau of the period, the
    # length L and the rest length L0.
    remaining_tension = 0.5 * (tensions[1:] + tensions[:-1]) - added_tensions
    rest_length_change = np.diff(rest_lengths, axis=0, prepend=rest_lengths[:1])
    return np.asarray(
        -added_tensions * np.diff(lengths, axis=0) - remaining_tension * rest_length_change
    )


def elastic_energy(
    elements: Sequence[ForceElement], lengths: FloatArray, rest_lengths: FloatArray
) -> FloatArray:
    """
    Return the elastic energy of force elements, (T, e) [J].

    It is the integral of each law of ``ForceElement`` over the extension, without damping.

    Parameters
    ----------
    elements : sequence of ForceElement
        e of them.
    lengths, rest_lengths : (T, e) arrays [m]

    """
    stored = np.zeros_like(lengths)
    for column, element in enumerate(elements):
        extension, get = lengths[:, column] - rest_lengths[:, column], element.constants.get
        if element.kind == 'exponential':
            rise, size = get('rise', 1.0), np.abs(extension)
            stored[:, column] = get('strength', 0.0) * (np.expm1(rise * size) / rise - size)
            continue
        stiffness = get('stiffness', 0.0)
        if element.kind == 'cable':
            extension = np.maximum(extension, 0.0)
        limit = get('effort', np.inf) if element.kind == 'linear_servo' else np.inf
        # Quadratic up to the extension at which a servo saturates, linear beyond it.
        quadratic_part = np.minimum(
            np.abs(extension), limit / stiffness if stiffness > 0.0 else 0.0
        )
        linear_part = np.abs(extension) - quadratic_part
        stored[:, column] = 0.5 * stiffness * quadratic_part**2
        if np.isfinite(limit):
            stored[:, column] += limit * linear_part
    return stored


def motor_heat(efforts: FloatArray, motor_constant: npt.ArrayLike, dt: float) -> FloatArray:
    """
    Return the heat of each joint's motor winding, (n,) [J].

    Winding losses are I^2 R; with torque k_t I they are (effort / k_m)^2 W, where the motor
    constant k_m = k_t / sqrt(R), at the joint (gear included).

    Parameters
    ----------
    efforts : (T + 1, n) array [N m]
    motor_constant : float or (n,) array [N m / sqrt(W)]
        Positive.
    dt : float [s]

    """
    constant = np.asarray(motor_constant, dtype=np.float64)
    if not np.all(constant > 0.0):
        raise ValueError(f'motor_constant is {constant}, it must be positive')
    return _integrate_power((efforts / constant) ** 2, dt)


def cost_of_transport(
    energy: float, mass: float, gravity: float, distance: float, min_distance: float = 0.1
) -> float | None:
    """
    Return E / (m g d), or ``None`` where it is undefined.

    Parameters
    ----------
    energy : float [J]
    mass : float [kg]
    gravity : float [m/s^2]
        Magnitude; at zero the cost is undefined.
    distance : float [m]
        Travelled.
    min_distance : float [m]
        Below it the cost is undefined: it would measure the smallness of the distance.

    References
    ----------
    Gabrielli and von Karman (1950), Mechanical Engineering 72:775-781.

    """
    weight = mass * gravity
    if weight <= 0.0 or distance < min_distance or distance <= 0.0:
        return None
    return energy / (weight * distance)


def _integrate_power(power: FloatArray, dt: float) -> FloatArray:
    return np.asarray(0.5 * dt * (power[1:] + power[:-1]).sum(axis=0))
