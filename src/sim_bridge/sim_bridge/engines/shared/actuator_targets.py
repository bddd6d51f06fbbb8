# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Targets of actuators for a control period: checked, clamped and evaluated by their laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.actuation_kinds import (
    ACTUATOR_KINDS,
    ELEMENT_KINDS,
    NO_LIMIT,
    KindConstants,
    constant_or_default,
)
from gait_core.robot.model import Actuator, ForceElement, RobotModel
from sim_bridge.engines.shared import force_laws
from sim_bridge.engines.shared.lead_screws import LeadScrew

__all__ = [
    'DEFAULT_GAIN',
    'NO_LIMIT',
    'SERVO_KINDS',
    'ActuatorTargets',
    'ElementTensions',
    'TorqueActuators',
]

SERVO_KINDS = ('position', 'velocity', 'lead_screw')
"""Kinds of actuators that command a velocity; the other kinds give a torque."""
DEFAULT_GAIN = ACTUATOR_KINDS['position'].optional['gain']
"""Gain [1/s] of a position actuator without a gain of its own."""


class ActuatorTargets:
    """
    Targets of the n joints and e force elements (m = n + e) for a control period, within limits.

    Attributes
    ----------
    kinds : (n,) object array
        Kind of each joint's actuator.
    gain : (n,) array [1/s]
        Of position servos; 0 for other actuators.
    velocity_limit, effort_limit : (n,) arrays
        Finite; the effort of a lead screw is that which it holds.
    strength : (n,) array [N]
        Load that the motor of a lead screw raises; infinite for other actuators.
    power_ratios : (2, n) array [-]
        ``drive_ratio`` and ``backdrive_ratio`` of ``force_laws.servo_power``.
    target_limits : (2, m) array
        Lower and upper limits of position targets; infinite for force elements.
    position, velocity, effort : (K, m) arrays
        K sub-samples of the present control period, by ``target_names``.
    physics_step : float [s]

    Raises
    ------
    ConfigurationError
        If the gain of an actuator overshoots in one physics step.

    """

    def __init__(self, robot: RobotModel, physics_step: float) -> None:
        names = robot.joint_names
        self._m = len(robot.target_names)
        free = np.full(len(robot.force_elements), np.inf)
        self.target_limits: FloatArray = np.array(
            [np.append(robot.lower, -free), np.append(robot.upper, free)]
        )
        self.physics_step = physics_step
        self.actuators = [robot.actuators[name] for name in names]
        for name, actuator in zip(names, self.actuators, strict=True):
            _check_gain(name, actuator, physics_step)
        self.kinds = np.array([actuator.kind for actuator in self.actuators], dtype=object)
        self.gain = _kind_constants(ACTUATOR_KINDS, self.actuators, 'gain')
        self.velocity_limit: FloatArray = np.minimum(robot.velocity_limit, NO_LIMIT)
        self.effort_limit: FloatArray = np.minimum(robot.effort_limit, NO_LIMIT)
        self._fit_screws(names)

    def _fit_screws(self, names: Sequence[str]) -> None:
        """Replace the limits of lead screws by those of screw and motor together."""
        count = len(self.actuators)
        self.strength: FloatArray = np.full(count, np.inf)
        self.power_ratios: FloatArray = np.repeat([[1.0], [-1.0]], count, axis=1)
        for i in np.flatnonzero(self.kinds == 'lead_screw').tolist():
            screw = LeadScrew.from_actuator(names[i], self.actuators[i])
            self.power_ratios[:, i] = screw.drive_ratio, screw.backdrive_ratio
            self.strength[i] = min(self.effort_limit[i], screw.strength)
            self.effort_limit[i] = min(self.strength[i] * screw.holding_ratio, NO_LIMIT)
            self.velocity_limit[i] = min(self.velocity_limit[i], screw.max_speed)

    def hold_positions(self, positions: FloatArray) -> None:
        """Set targets that hold joint positions and element lengths, (m,), at zero velocity."""
        zero = np.zeros((1, self._m))
        self.position = np.clip(positions, *self.target_limits)[None, :]
        self.velocity = self.effort = zero

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """
        Set the targets of a control period of ``steps`` physics steps; return their sub-samples.

        Raises
        ------
        BadCommand
            If the shape is wrong. Targets are checked to be finite where they are made.
        ConfigurationError
            If the sub-samples do not divide the physics steps.

        """
        position, velocity, effort = targets.position, targets.velocity, targets.effort
        samples = len(position)
        if (
            not position.shape[-1] == self._m
            or not position.shape == velocity.shape == effort.shape
        ):
            raise BadCommand(
                f'targets have shapes {position.shape}, {velocity.shape}, {effort.shape}, '
                f'expected (K, {self._m}) for each'
            )
        if steps % samples:
            valid = [k for k in range(1, steps + 1) if steps % k == 0]
            best = min(valid, key=lambda k: abs(k - samples))
            raise ConfigurationError(
                f'{samples} sub-samples do not divide the {steps} physics steps of a control '
                f'period; nearest valid: {best}'
            )
        self.position = np.minimum(
            np.maximum(position, self.target_limits[0]), self.target_limits[1]
        )
        self.velocity, self.effort = velocity, effort
        return samples


class ForceLaws:
    """
    Laws of k actuators or elements, evaluated from the state at the start of a physics step.

    Attributes
    ----------
    columns : (k,) int array
        Indices in ``robot.target_names``; those of joints are the same in ``joint_names``.
    laws : (k,) int array
        Codes of ``force_laws.JOINT_LAWS`` or ``force_laws.ELEMENT_LAWS``.
    constants : (k, COLUMN_COUNT) array
        As of ``force_laws.joint_torques`` and ``force_laws.element_tensions``.
    targets : (3, k) array
        Present sub-sample of positions, velocities and efforts.
    efforts : (k,) array [N m or N]
        Torques or tensions of the last step.

    """

    _evaluate: ClassVar[Callable[..., None]]
    laws: IntArray
    constants: FloatArray

    def __init__(self, actuator_targets: ActuatorTargets, columns: IntArray) -> None:
        self._actuator_targets, self._dt = actuator_targets, actuator_targets.physics_step
        self.columns, self._steps = columns, 0
        self.targets: FloatArray = np.zeros((3, len(columns)))
        self.efforts: FloatArray = np.zeros(len(columns))

    def select_sample(self, sample: int) -> None:
        """Apply a sub-sample of the targets from now on."""
        actuator_targets, columns = self._actuator_targets, self.columns
        self._steps = 0
        self.targets[0] = actuator_targets.position[sample, columns]
        self.targets[1] = actuator_targets.velocity[sample, columns]
        self.targets[2] = actuator_targets.effort[sample, columns]

    def compute(self, positions: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the efforts, (k,), of the next step at positions or lengths and their rates."""
        elapsed = self._steps * self._dt
        self._evaluate(
            self.laws, self.constants, self.targets, elapsed, positions, rates, self.efforts
        )
        self._steps += 1
        return self.efforts


class TorqueActuators(ForceLaws):
    """The actuators of joints that give a torque."""

    _evaluate = staticmethod(force_laws.joint_torques)

    def __init__(self, actuator_targets: ActuatorTargets) -> None:
        columns = np.flatnonzero(~np.isin(actuator_targets.kinds, SERVO_KINDS))
        super().__init__(actuator_targets, columns)
        chosen = [actuator_targets.actuators[i] for i in columns]
        self.laws = np.array(
            [force_laws.JOINT_LAWS[actuator.kind] for actuator in chosen], dtype=int
        )
        self.constants = _law_constants(ACTUATOR_KINDS, chosen)
        self.constants[:, force_laws.EFFORT] = actuator_targets.effort_limit[columns]
        self.constants[:, force_laws.VELOCITY] = actuator_targets.velocity_limit[columns]


class ElementTensions(ForceLaws):
    """
    The force elements of a robot.

    Attributes
    ----------
    names : tuple of str
        In the order of the robot.

    """

    _evaluate = staticmethod(force_laws.element_tensions)

    def __init__(self, actuator_targets: ActuatorTargets, robot: RobotModel) -> None:
        elements = robot.force_elements
        super().__init__(actuator_targets, len(robot.joint_names) + np.arange(len(elements)))
        self.names = tuple(element.name for element in elements)
        self.laws = np.array(
            [force_laws.ELEMENT_LAWS[element.kind] for element in elements], dtype=np.int64
        )
        self.constants = _law_constants(ELEMENT_KINDS, elements)
        limited = np.array([element.kind == 'linear_servo' for element in elements], dtype=bool)
        efforts = _kind_constants(ELEMENT_KINDS, elements, 'effort')
        self.constants[:, force_laws.EFFORT] = np.where(limited, efforts, np.inf)


def _check_gain(name: str, actuator: Actuator, physics_step: float) -> None:
    """Raise ConfigurationError for a gain that more than corrects an error in one physics step."""
    gain = constant_or_default(ACTUATOR_KINDS, actuator.kind, actuator.constants, 'gain')
    if gain * physics_step > 1.0:
        raise ConfigurationError(
            f"joint '{name}': gain {gain:g}/s overshoots in one physics step of {physics_step:g} "
            f's; nearest valid: {1.0 / physics_step:g}/s'
        )


def _law_constants(
    kinds: Mapping[str, KindConstants], parts: Sequence[Actuator | ForceElement]
) -> FloatArray:
    """Return the constants of laws, (k, COLUMN_COUNT), without limits."""
    constants: FloatArray = np.zeros((len(parts), force_laws.COLUMN_COUNT))
    for column, name in (
        (force_laws.STIFFNESS, 'stiffness'),
        (force_laws.STIFFNESS, 'strength'),
        (force_laws.DAMPING, 'damping'),
        (force_laws.RISE, 'rise'),
        (force_laws.CRANK, 'crank'),
        (force_laws.ROD, 'rod'),
    ):
        constants[:, column] += _kind_constants(kinds, parts, name)
    return constants


def _kind_constants(
    kinds: Mapping[str, KindConstants], parts: Sequence[Actuator | ForceElement], name: str
) -> FloatArray:
    """Return a constant of actuators or elements, (k,); 0 for kinds that do not have it."""
    return np.array(
        [constant_or_default(kinds, part.kind, part.constants, name) for part in parts]
    )
