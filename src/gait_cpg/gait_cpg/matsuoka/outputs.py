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
    named = robot.signals
    if separate:
        named = tuple((name, (name,)) for _, members in named for name in members)
    names = tuple(name for _, members in named for name in members)
    return Outputs(
        names=names,
        signal=np.repeat(np.arange(len(named)), [len(members) for _, members in named]),
        sign=np.ones(len(names)),
        lifts=np.zeros(len(names), dtype=bool),
        signals=tuple(signal for signal, _ in named),
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
    feet, moved = [], []
    for leg in robot.legs:
        kinematics = LegKinematics(robot, leg.name)
        joints = np.array([robot.nominal_stance.get(name, 0.0) for name in leg.joints])
        feet.append(kinematics.forward(joints)[0])
        moved.append(_driven_joints(leg, kinematics.jacobian(joints)))
    efforts = _all_take_efforts(robot, tuple(joints[0].joint for joints in moved))
    driven = [
        (i, one) for i, joints in enumerate(moved) for one in (joints[:1] if efforts else joints)
    ]
    names = tuple(one.joint for _, one in driven)
    return Outputs(
        names=names,
        signal=np.array([i for i, _ in driven]),
        sign=np.array([one.sign for _, one in driven]),
        lifts=np.array([one.lifts for _, one in driven]),
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
    found = [_DrivenJoint(leg.joints[swing], -1.0 if forward[swing] < 0.0 else 1.0, lifts=False)]
    if up[lift] != 0.0:
        found.append(_DrivenJoint(leg.joints[lift], float(np.sign(up[lift])), lifts=True))
    return found


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
    given, default = samples
    count = given or default or max(1, round(dt / step))
    every = max(1, round(dt / (count * step)))
    exact = abs(count * every * step - dt) <= 1e-9 * dt
    return count, every, step if exact else dt / (count * every)
