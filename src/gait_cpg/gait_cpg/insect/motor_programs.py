# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Motor programs of insect legs: sequences of commands that move the rest angles of springs.

A command moves the rest angle of one joint at a constant rate to a target, where it stays. No
trajectory is tracked and no inverse kinematics is solved: springs, load and ground determine the
motion of a foot (McKenna 1990, section 4.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.parameters.declaration import Parameters, float_parameter

LEG_PAIRS = ('front', 'middle', 'back')
"""Pairs of legs by row."""
JOINTS_PER_LEG = 3
"""Joints of a leg that programs move: coxa, femur and tibia; further joints are passive."""


def _declare_angle(default: float, doc: str) -> Any:
    return float_parameter(default, low=-1.6, high=1.6, unit='rad', doc=doc)


def _declare_share(default: float, doc: str) -> Any:
    return float_parameter(default, low=0.05, high=1.0, unit='-', doc=doc)


@dataclass(frozen=True, kw_only=True)
class MotorProgramParams(Parameters):
    """
    Swing and stance of each pair of legs, with the signs of left legs; McKenna (1990), appendix C.

    A negative angle of the coxa (joint 0) is forward, a positive one of the femur (joint 1) up;
    times are shares of the swing. In parameter names, ``step`` is the swing.
    """

    front_step_coxa: float = _declare_angle(
        -0.7, 'Front legs, swing: target of the coxa (joint 0), negative forward.'
    )
    front_step_lift: float = _declare_angle(
        0.35, 'Front legs, swing: target of the femur (joint 1) in the lift, positive up.'
    )
    front_step_lift_time: float = _declare_share(
        0.2, 'Front legs: share of the swing in which the femur (joint 1) lifts.'
    )
    front_step_lower: float = _declare_angle(
        -0.3, 'Front legs, swing: target of the femur (joint 1) at touch-down.'
    )
    front_step_tibia: float = _declare_angle(
        -0.2, 'Front legs, swing: target of the tibia (joint 2).'
    )
    front_stance_coxa: float = _declare_angle(
        -0.05, 'Front legs, stance: target of the coxa (joint 0).'
    )
    front_stance_femur: float = _declare_angle(
        -0.3, 'Front legs, stance: target of the femur (joint 1).'
    )
    front_stance_tibia: float = _declare_angle(
        0.1, 'Front legs, stance: target of the tibia (joint 2).'
    )
    middle_step_coxa: float = _declare_angle(
        -0.25, 'Middle legs, swing: target of the coxa (joint 0), negative forward.'
    )
    middle_step_lift: float = _declare_angle(
        0.0, 'Middle legs, swing: target of the femur (joint 1) in the lift, positive up.'
    )
    middle_step_lift_time: float = _declare_share(
        0.4, 'Middle legs: share of the swing in which the femur (joint 1) lifts.'
    )
    middle_step_lower: float = _declare_angle(
        -0.5, 'Middle legs, swing: target of the femur (joint 1) at touch-down.'
    )
    middle_step_tibia: float = _declare_angle(
        0.2, 'Middle legs, swing: target of the tibia (joint 2).'
    )
    middle_stance_coxa: float = _declare_angle(
        0.25, 'Middle legs, stance: target of the coxa (joint 0).'
    )
    middle_stance_femur: float = _declare_angle(
        -0.9, 'Middle legs, stance: target of the femur (joint 1).'
    )
    middle_stance_tibia: float = _declare_angle(
        0.8, 'Middle legs, stance: target of the tibia (joint 2).'
    )
    back_step_coxa: float = _declare_angle(
        -0.1, 'Back legs, swing: target of the coxa (joint 0), negative forward.'
    )
    back_step_lift: float = _declare_angle(
        1.0, 'Back legs, swing: target of the femur (joint 1) in the lift, positive up.'
    )
    back_step_lift_time: float = _declare_share(
        1.0 / 3.0, 'Back legs: share of the swing in which the femur (joint 1) lifts.'
    )
    back_step_lower: float = _declare_angle(
        0.4, 'Back legs, swing: target of the femur (joint 1) at touch-down.'
    )
    back_step_tibia: float = _declare_angle(
        -0.35, 'Back legs, swing: target of the tibia (joint 2).'
    )
    back_stance_coxa: float = _declare_angle(
        0.3, 'Back legs, stance: target of the coxa (joint 0).'
    )
    back_stance_femur: float = _declare_angle(
        -0.2, 'Back legs, stance: target of the femur (joint 1).'
    )
    back_stance_tibia: float = _declare_angle(
        0.4, 'Back legs, stance: target of the tibia (joint 2).'
    )


@dataclass(frozen=True)
class MotorCommand:
    """
    Motion of one rest angle within a motor program.

    Attributes
    ----------
    joint : int
        Joint of the leg.
    target : float [rad]
        Rest angle at the end, with the sign of a left leg.
    duration, start : float
        Shares of the duration of the program.

    """

    joint: int
    target: float
    duration: float = 1.0
    start: float = 0.0


MotorProgram = tuple[MotorCommand, ...]


def swing_program(params: MotorProgramParams, pair: str) -> MotorProgram:
    """Return the program of a swing: coxa and tibia move, the femur lifts, then lowers."""
    values = {
        name: getattr(params, f'{pair}_step_{name}')
        for name in ('coxa', 'lift', 'lift_time', 'lower', 'tibia')
    }
    return (
        MotorCommand(0, values['coxa']),
        MotorCommand(1, values['lift'], duration=values['lift_time']),
        MotorCommand(1, values['lower'], duration=0.5, start=0.5),
        MotorCommand(2, values['tibia']),
    )


def stance_program(params: MotorProgramParams, pair: str) -> MotorProgram:
    """Return the program of a stance of a pair of legs."""
    names = ('coxa', 'femur', 'tibia')
    targets = [getattr(params, f'{pair}_stance_{name}') for name in names]
    return tuple(MotorCommand(joint, target) for joint, target in enumerate(targets))


class RestAngles:
    """
    Rest angles of legs in motion, and the pending commands of their programs.

    Parameters
    ----------
    start : (n, JOINTS_PER_LEG) array [rad]
        Initial angles, with the signs of left legs.

    Attributes
    ----------
    angles, rates : (n, JOINTS_PER_LEG) arrays [rad, rad/s]
        Angles at the start of the present control period, and rates within it.

    """

    def __init__(self, start: FloatArray) -> None:
        self.angles: FloatArray = start.copy()
        self.rates: FloatArray = np.zeros_like(start)
        self._end_angles: FloatArray = start.copy()
        self._target: FloatArray = start.copy()
        self._speed: FloatArray = np.zeros_like(start)
        self._waiting: list[list[tuple[float, MotorCommand, float]]] = [[] for _ in start]

    def begin_program(self, leg: int, program: Sequence[MotorCommand], duration: float) -> None:
        """Begin a program of a duration [s] on a leg; the commands before it are dropped."""
        self._target[leg], self._speed[leg] = self._end_angles[leg], 0.0
        self._waiting[leg] = [(command.start * duration, command, duration) for command in program]

    def command(self, leg: int, joint: int, target: float, duration: float) -> None:
        """Move a rest angle to a target [rad] in a duration [s]; at once if that is zero."""
        if duration <= 0.0:
            self._end_angles[leg, joint] = target
        self._target[leg, joint] = target
        distance = abs(target - self._end_angles[leg, joint])
        self._speed[leg, joint] = distance / duration if duration > 0.0 else 0.0

    def advance(self, dt: float) -> None:
        """Advance by a control period [s]; due commands begin at its start."""
        for leg, waiting in enumerate(self._waiting):
            if waiting:
                self._start_due(leg, waiting, dt)
        # McKenna (1990), section 4.5: constant rate to the target, then hold.
        self.angles = self._end_angles
        max_change = self._speed * dt
        self._end_angles = self.angles + np.clip(
            self._target - self.angles, -max_change, max_change
        )
        self.rates = (self._end_angles - self.angles) / dt

    def _start_due(
        self, leg: int, waiting: list[tuple[float, MotorCommand, float]], dt: float
    ) -> None:
        """Start the commands of a leg that are due; shorten the delays of the others by ``dt``."""
        later = []
        for delay, command, duration in waiting:
            # A command begins in the control period that is nearest to its start.
            if delay < 0.5 * dt:
                self.command(leg, command.joint, command.target, command.duration * duration)
            else:
                later.append((delay - dt, command, duration))
        self._waiting[leg] = later
