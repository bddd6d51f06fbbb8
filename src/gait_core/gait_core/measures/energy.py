# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Mechanical work of joints, motor heat and cost of transport.

Some engines sum the work of every physics step. Otherwise efforts and velocities are known at the
control ticks only, and power is taken as linear between them: peaks within a control period, as at
an impact, are missed. Topics, bags, trials and pages use the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.motion.observation import StateFields
from gait_core.robot.model import ForceElement, RobotModel

MIN_COST_DISTANCE = 0.1
"""Share of a robot's length scale below which its cost of transport is undefined."""


@dataclass(frozen=True, kw_only=True)
class JointWork:
    """
    Mechanical work per joint and per drive of a force element.

    Attributes
    ----------
    signed : (n,) array [J]
        Work done on the mechanism, with braking negative.
    positive : (n,) array [J]
        Work without braking: braking is free and recovers nothing.

    """

    signed: FloatArray
    positive: FloatArray

    @property
    def absolute(self) -> FloatArray:
        """Work with braking positive, (n,) [J]: braking costs as much as driving."""
        return 2.0 * self.positive - self.signed


def check_period(dt: float) -> None:
    """Raise ValueError unless the time between two ticks is finite and positive."""
    if not (math.isfinite(dt) and dt > 0.0):
        raise ValueError(f'dt is {dt:g} s, two ticks need different times: it must be positive')


def is_work_reported(robot: RobotModel, states: StateFields) -> bool:
    """Return whether states report all that the work of joints and force elements needs."""
    has_joint_work = states.joint_work is not None or not (
        states.joint_efforts is None or states.joint_velocities is None
    )
    has_element_work = not (states.element_lengths is None or states.element_forces is None)
    return (has_joint_work or not robot.joint_names) and (
        has_element_work or not robot.force_elements
    )


def joint_work(efforts: FloatArray, velocities: FloatArray, dt: float) -> JointWork:
    """
    Return the work of each joint over a record, with power linear between ticks.

    Parameters
    ----------
    efforts, velocities : (T + 1, n) arrays [N m or N, rad/s or m/s]
    dt : float [s]

    """
    if efforts.shape != velocities.shape:
        raise ValueError(f'efforts {efforts.shape} and velocities {velocities.shape} differ')
    check_period(dt)
    signed, positive = _linear_work(efforts * velocities, dt).sum(axis=0)
    return JointWork(signed=signed, positive=positive)


def _linear_work(power: FloatArray, dt: float) -> FloatArray:
    """Return signed and positive work in each period of linear power (T + 1, n), (T, 2, n)."""
    before, after = power[:-1], power[1:]
    signed = 0.5 * dt * (before + after)
    high, low = np.maximum(before, after), np.minimum(before, after)
    # Where power changes its sign in a period, it is positive for the share high / (high - low).
    crosses = (high > 0.0) & (low < 0.0)
    share = np.divide(high, high - low, out=np.ones_like(high), where=crosses)
    positive = np.where(crosses, 0.5 * dt * high * share, np.maximum(signed, 0.0))
    return np.stack([signed, positive], axis=1)


def cumulative_work(
    states: StateFields,
    dt: float,
    rest_lengths: FloatArray,
    added_tensions: FloatArray,
    rest_before: FloatArray | None = None,
) -> FloatArray:
    """
    Return the work of joints and of drives of force elements up to every tick.

    Parameters
    ----------
    states : StateFields
        T + 1 states with time first. The work of joints is the engine's sum if it reports one.
    dt : float
        Control period [s].
    rest_lengths, added_tensions, rest_before
        Targets of the force elements, as of ``element_work_by_period``.

    Returns
    -------
    (T + 1, 2, n + e) array [J]
        Axis 1: signed, then positive work. Axis 2: joints, then force elements. Joints have zero
        work if neither sums nor efforts are reported, force elements if tensions are not: see
        ``is_work_reported``.

    """
    ticks = len(rest_lengths) + 1
    joints: FloatArray = np.zeros((ticks, 2, len(states.joint_names)))
    if states.joint_work is not None:
        joints = states.joint_work - states.joint_work[:1]
    elif states.joint_efforts is not None and states.joint_velocities is not None:
        joints = _cumulate(_linear_work(states.joint_efforts * states.joint_velocities, dt))
    elements: FloatArray = np.zeros((ticks, 2, rest_lengths.shape[1]))
    if states.element_lengths is not None and states.element_forces is not None:
        work = element_work_by_period(
            states.element_lengths,
            states.element_forces,
            rest_lengths,
            added_tensions,
            rest_before,
        )
        elements = _cumulate(np.stack([work, np.maximum(work, 0.0)], axis=1))
    return np.concatenate([joints, elements], axis=2)


def _cumulate(work: FloatArray) -> FloatArray:
    """Return the sums of work by period (T, ...) up to every tick, (T + 1, ...)."""
    sums = np.zeros((len(work) + 1, *work.shape[1:]))
    np.cumsum(work, axis=0, out=sums[1:])
    return sums


def element_work_by_period(
    lengths: FloatArray,
    tensions: FloatArray,
    rest_lengths: FloatArray,
    added_tensions: FloatArray,
    rest_before: FloatArray | None = None,
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
    rest_before : (e,) array [m], optional
        Rest lengths before the first period; by default those of the first.

    The work of springs and dampers is not counted.
    """
    first = rest_lengths[:1] if rest_before is None else rest_before[None]
    # W = -u dL - (tau - u) dL0, with the added tension u, the mean tension tau of the period, the
    # length L and the rest length L0.
    remaining_tension = 0.5 * (tensions[1:] + tensions[:-1]) - added_tensions
    rest_length_change = np.diff(rest_lengths, axis=0, prepend=first)
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
    check_period(dt)
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
        Below it the cost is undefined, because a quotient by a tiny distance says nothing about
        the walk.

    References
    ----------
    Gabrielli and von Karman (1950), Mechanical Engineering 72:775-781.

    """
    weight = mass * gravity
    if weight <= 0.0 or distance < min_distance or distance <= 0.0:
        return None
    return energy / (weight * distance)


def robot_cost_of_transport(
    robot: RobotModel, gravity: float, energy: float, distance: float
) -> float | None:
    """Return the cost of transport of a robot; None below a tenth of its length scale."""
    shortest = MIN_COST_DISTANCE * robot.length_scale
    return cost_of_transport(energy, robot.mass, gravity, distance, shortest)


def _integrate_power(power: FloatArray, dt: float) -> FloatArray:
    return np.asarray(0.5 * dt * (power[1:] + power[:-1]).sum(axis=0))
