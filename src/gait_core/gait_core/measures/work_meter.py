# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Meter of the work and the cost of transport of a running robot."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.measures.energy import (
    JointWork,
    cumulative_work,
    is_work_reported,
    robot_cost_of_transport,
)
from gait_core.motion.observation import Observation, StateFields
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.model import RobotModel


class WorkMeter:
    """
    Sums of the work of a running robot; at the end of a trial they equal its metrics.

    Parameters
    ----------
    robot : RobotModel
    dt : float
        Control period [s].
    gravity : float
        Magnitude [m/s^2].

    """

    def __init__(self, robot: RobotModel, dt: float, gravity: float) -> None:
        self._robot, self._dt, self._gravity = robot, dt, gravity
        self._last: Observation | None = None
        self._rest_lengths: FloatArray | None = None
        self._start: FloatArray | None = None
        self._period: FloatArray | None = None
        self._sums: FloatArray | None = None
        self.distance = 0.0
        """Horizontal distance of the mean of the root links from the start [m]."""

    def update(self, state: Observation, applied: AppliedTargets | None) -> None:
        """
        Add the work of the control period that ends with a state.

        ``applied`` are the targets of that period; None at tick 0. A second state of the same tick
        adds nothing.
        """
        if self._last is not None and state.tick == self._last.tick:
            return
        last, self._last = self._last, state
        if state.body_poses is not None:
            centre = state.body_poses[:, :2].mean(axis=0)
            if self._start is None:
                self._start = centre
            self.distance = float(np.hypot(*(centre - self._start)))
        if last is None or applied is None or not is_work_reported(self._robot, state):
            return
        n = len(self._robot.joint_names)
        rest_lengths = applied.position[-1:, n:]
        period = cumulative_work(
            _pair_of_states(last, state),
            self._dt,
            rest_lengths,
            applied.effort[-1:, n:],
            self._rest_lengths,
        )[-1]
        self._rest_lengths = rest_lengths[0]
        self._period = period
        self._sums = period if self._sums is None else self._sums + period

    @property
    def work(self) -> JointWork | None:
        """
        Work since tick 0 of joints, then force elements.

        None before the first period, and where the states do not report it.
        """
        if self._sums is None:
            return None
        return JointWork(signed=self._sums[0], positive=self._sums[1])

    @property
    def power(self) -> FloatArray | None:
        """
        Power of joints at the last tick, then of force elements, (n + e,) [W].

        That of force elements is the mean over the last control period. None where ``work`` is.
        """
        if self._last is None or self._period is None:
            return None
        n = len(self._robot.joint_names)
        power: FloatArray = self._period[0] / self._dt
        if self._last.joint_efforts is not None and self._last.joint_velocities is not None:
            power[:n] = self._last.joint_efforts * self._last.joint_velocities
        return power

    @property
    def cost_of_transport(self) -> float | None:
        """Cost of transport by positive work; None where it is undefined."""
        if self._sums is None:
            return None
        energy = float(self._sums[1].sum())
        return robot_cost_of_transport(self._robot, self._gravity, energy, self.distance)


def _pair_of_states(first: Observation, second: Observation) -> StateFields:
    """Return the fields of two states that count work, with time first."""

    def stack(before: FloatArray | None, after: FloatArray | None) -> FloatArray | None:
        """Return two arrays as rows; None if one is unknown."""
        return None if before is None or after is None else np.stack([before, after])

    return StateFields(
        joint_names=second.joint_names,
        joint_velocities=stack(first.joint_velocities, second.joint_velocities),
        joint_efforts=stack(first.joint_efforts, second.joint_efforts),
        joint_work=stack(first.joint_work, second.joint_work),
        element_lengths=stack(first.element_lengths, second.element_lengths),
        element_forces=stack(first.element_forces, second.element_forces),
    )
