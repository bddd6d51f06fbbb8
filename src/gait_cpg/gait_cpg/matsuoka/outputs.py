# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints and force elements that the signals of the controller ``matsuoka`` drive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.robot.model import Leg, RobotModel
from gait_cpg.gaits import find_gait, leg_lags


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """
    Joints or force elements driven by signals.

    Attributes
    ----------
    names : (n,) tuple of str
        Names of joints or force elements.
    signal : (n,) int array
        Number of the signal that drives each.
    sign : (n,) array
        1 or -1, so that a positive signal moves the foot forward, or up.
    lifts : (n,) bool array
        Whether a joint lifts the foot; else it swings the foot.
    signals : (m,) tuple of str
        Names of the signals.
    takes_efforts : bool
        Whether the outputs are driven by efforts; else by positions.
    feet : (m, 3) array [m] or None
        Feet in the nominal stance, in the base frame, if each signal is a leg.

    """

    names: tuple[str, ...]
    signal: IntArray
    sign: FloatArray
    lifts: BoolArray
    signals: tuple[str, ...]
    takes_efforts: bool
    feet: FloatArray | None = None

    def gait_lags(self, name: str) -> FloatArray:
        """Return the lag of each leg in a gait, (m,) [cycles]; for robots without signals."""
        if self.feet is None:
            raise ConfigurationError(
                f"parameter 'gait' = '{name}' is for robots whose robot.yaml lists no signals; "
                "this one does: set it to 'none'"
            )
        return leg_lags(find_gait(name), self.feet)


def make_outputs(robot: RobotModel, separate: bool) -> Outputs:
    """
    Return the outputs of the signals in ``robot.yaml``, or, without any, of the legs.

    Parameters
    ----------
    robot : RobotModel
    separate : bool
        Whether each joint or force element has a signal of its own.

    Raises
    ------
    ConfigurationError
        If the robot has neither signals nor legs, or some outputs take efforts and some positions.

    """
    if robot.signals:
        return _outputs_from_signals(robot, separate)
    if robot.legs:
        return _outputs_from_legs(robot)
    raise ConfigurationError(
        f"controller 'matsuoka' needs 'signals' or 'legs' in robot.yaml, robot '{robot.name}' has "
        'neither'
    )


def _outputs_from_signals(robot: RobotModel, separate: bool) -> Outputs:
    """Return the outputs that ``robot.yaml`` assigns to its signals."""
    signals = robot.signals
    if separate:
        signals = tuple((name, (name,)) for _, members in signals for name in members)
    names = tuple(name for _, members in signals for name in members)
    return Outputs(
        names=names,
        signal=np.repeat(np.arange(len(signals)), [len(members) for _, members in signals]),
        sign=np.ones(len(names)),
        lifts=np.zeros(len(names), dtype=bool),
        signals=tuple(signal for signal, _ in signals),
        takes_efforts=_all_take_efforts(robot, names),
    )


@dataclass(frozen=True)
class _DrivenJoint:
    """Joint of a leg, and the direction in which it moves the foot."""

    joint: str
    sign: float
    lifts: bool


def _outputs_from_legs(robot: RobotModel) -> Outputs:
    """Return the joints that swing the feet and, if driven by positions, those that lift them."""
    feet, leg_joints = [], []
    for leg in robot.legs:
        kinematics = LegKinematics(robot, leg.name)
        joints = np.array([robot.nominal_stance.get(name, 0.0) for name in leg.joints])
        feet.append(kinematics.forward(joints)[0])
        leg_joints.append(_driven_joints(leg, kinematics.jacobian(joints)))
    takes_efforts = _all_take_efforts(robot, tuple(joints[0].joint for joints in leg_joints))
    driven = [
        (i, joint)
        for i, joints in enumerate(leg_joints)
        for joint in (joints[:1] if takes_efforts else joints)
    ]
    names = tuple(joint.joint for _, joint in driven)
    return Outputs(
        names=names,
        signal=np.array([i for i, _ in driven]),
        sign=np.array([joint.sign for _, joint in driven]),
        lifts=np.array([joint.lifts for _, joint in driven]),
        signals=tuple(leg.name for leg in robot.legs),
        takes_efforts=_all_take_efforts(robot, names),
        feet=np.array(feet),
    )


def _driven_joints(leg: Leg, jacobian: FloatArray) -> list[_DrivenJoint]:
    """Return the joint that moves the foot most forward and, of the others, most upward."""
    forward, up = jacobian[0], jacobian[2].copy()
    swing = int(np.argmax(np.abs(forward)))
    up[swing] = 0.0
    lift = int(np.argmax(np.abs(up)))
    driven = [_DrivenJoint(leg.joints[swing], -1.0 if forward[swing] < 0.0 else 1.0, lifts=False)]
    if up[lift] != 0.0:
        driven.append(_DrivenJoint(leg.joints[lift], float(np.sign(up[lift])), lifts=True))
    return driven


def _all_take_efforts(robot: RobotModel, names: tuple[str, ...]) -> bool:
    """Return whether all outputs take efforts; ConfigurationError if only some do."""
    takes = [
        name not in robot.joint_index or robot.actuators[name].kind == 'effort' for name in names
    ]
    if len(set(takes)) > 1:
        by_effort, by_position = names[takes.index(True)], names[takes.index(False)]
        raise ConfigurationError(
            f"signals of robot '{robot.name}' drive '{by_effort}' by effort and '{by_position}' "
            'by position: give all driven joints the same kind of actuator'
        )
    return takes[0]


def divide_period(dt: float, step: float, samples: Sequence[int]) -> tuple[int, int, float]:
    """
    Divide a control period into targets and Euler steps.

    Parameters
    ----------
    dt, step : float [s]
        Control period and desired Euler step.
    samples : (int, int)
        Requested and default number of targets; 0: not given.

    Returns
    -------
    int, int, float
        Number K of targets, Euler steps per target, and length of a step [s].

    """
    requested, default = samples
    count = requested or default or max(1, round(dt / step))
    steps_per_sample = max(1, round(dt / (count * step)))
    is_exact = abs(count * steps_per_sample * step - dt) <= 1e-9 * dt
    return count, steps_per_sample, step if is_exact else dt / (count * steps_per_sample)
