"""Joints and elements driven by the signals of the controller ``matsuoka``."""

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
    The driven joints or force elements.

    Attributes
    ----------
    names : (n,) tuple of str
    signal : (n,) int array
        Which drives each.
    sign : (n,) array
        1 or -1: so that a positive signal moves a foot forward, or up.
    lifts : (n,) bool array
        Whether a joint lifts a foot that another one swings.
    signals : (m,) tuple of str
        Names of the signals.
    efforts : bool
        Whether they are driven by efforts, else by positions.
    feet : (m, 3) array [m] or None
        Of the legs that the signals stand for, in the nominal stance and the base frame.

    """

    names: tuple[str, ...]
    signal: IntArray
    sign: FloatArray
    lifts: BoolArray
    signals: tuple[str, ...]
    takes_efforts: bool
    feet: FloatArray | None = None

    def gait_lags(self, name: str) -> FloatArray:
        """Return by which share of a cycle each signal comes in a gait; it needs legs."""
        if self.feet is None:
            raise ConfigurationError(
                f"parameter 'gait' = '{name}' needs a robot driven by legs; this one is driven by "
                f"signals: set it to 'none'"
            )
        return leg_lags(find_gait(name), self.feet)


def make_outputs(robot: RobotModel, separate: bool) -> Outputs:
    """
    Return what a robot's signals drive; without ``signals`` in its description, its legs.

    Raises
    ------
    ConfigurationError
        If there are neither signals nor legs, or some take efforts and some positions.

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
    """A joint of a leg, and which way it moves the foot."""

    joint: str
    sign: float
    lifts: bool


def _outputs_from_legs(robot: RobotModel) -> Outputs:
    """Return the joints that swing the feet and, if these take positions, those that lift them."""
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
    """Return the joint that moves the foot most forward, and of the others the one most up."""
    forward, up = jacobian[0], jacobian[2].copy()
    swing = int(np.argmax(np.abs(forward)))
    up[swing] = 0.0
    lift = int(np.argmax(np.abs(up)))
    driven = [_DrivenJoint(leg.joints[swing], -1.0 if forward[swing] < 0.0 else 1.0, lifts=False)]
    if up[lift] != 0.0:
        driven.append(_DrivenJoint(leg.joints[lift], float(np.sign(up[lift])), lifts=True))
    return driven


def _all_take_efforts(robot: RobotModel, names: tuple[str, ...]) -> bool:
    """Return whether all are driven by efforts; ConfigurationError if only some are."""
    takes = [
        name not in robot.joint_index or robot.actuators[name].kind == 'effort' for name in names
    ]
    if len(set(takes)) > 1:
        other = names[takes.index(not takes[0])]
        raise ConfigurationError(
            f"signals of robot '{robot.name}' drive '{names[0]}' and '{other}', one by effort and "
            'one by position: give all the same kind'
        )
    return takes[0]


def divide_period(dt: float, step: float, samples: Sequence[int]) -> tuple[int, int, float]:
    """Return targets K in a control period, Euler steps to each, and their length [s]."""
    requested, default = samples
    count = requested or default or max(1, round(dt / step))
    steps_per_sample = max(1, round(dt / (count * step)))
    is_exact = abs(count * steps_per_sample * step - dt) <= 1e-9 * dt
    return count, steps_per_sample, step if is_exact else dt / (count * steps_per_sample)
