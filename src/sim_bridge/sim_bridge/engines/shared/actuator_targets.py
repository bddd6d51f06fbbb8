"""Targets of a control period as actuators take them: checked, clamped, turned into forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import BadCommand, ConfigurationError
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.actuation_kinds import (
    ACTUATOR_KINDS,
    ELEMENT_KINDS,
    NO_LIMIT,
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
"""Actuators that demand a velocity; the others give a torque."""
DEFAULT_GAIN = ACTUATOR_KINDS['position'].optional['gain']
"""Gain [1/s] of a position actuator that states none."""


class ActuatorTargets:
    """
    The targets of a control period, checked and clamped to the joint limits.

    Attributes
    ----------
    kinds : (n,) object array
        Kind of each joint's actuator.
    gain : (n,) array [1/s]
        Zero where the actuator is no position servo.
    velocity_limit, effort_limit : (n,) arrays
        Finite; the effort is that which a servo can hold.
    strength : (n,) array [N]
        What the motors of screws push against; infinite of other servos.
    power_ratios : (2, n) array [-]
        ``raising`` and ``lowering`` of ``force_laws.servo_power``.
    target_limits : (2, m) array
        Limits of targets, by ``target_names``; infinite of force elements.
    position, velocity, effort : (K, m) arrays
        Of the period that was taken last, by ``target_names``.
    physics_step : float [s]

    Raises
    ------
    ConfigurationError
        If an actuator overshoots in one physics step.

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
        self.gain = _actuator_constants(self.actuators, 'gain')
        self.velocity_limit: FloatArray = np.minimum(robot.velocity_limit, NO_LIMIT)
        self.effort_limit: FloatArray = np.minimum(robot.effort_limit, NO_LIMIT)
        self._fit_screws(names)

    def _fit_screws(self, names: Sequence[str]) -> None:
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
        """Demand that positions and lengths be held, (m,), at zero velocity and effort."""
        zero = np.zeros((1, self._m))
        self.position = np.clip(positions, *self.target_limits)[None, :]
        self.velocity = self.effort = zero

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """
        Take the targets of a control period of some physics steps; return its sub-samples.

        Raises
        ------
        BadCommand
            For a wrong shape. That they are finite is checked where they are made.
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


class TorqueActuators:
    """
    The torques of actuators that are no servos, from the state at the start of a physics step.

    Attributes
    ----------
    columns : (t,) int array
        The joints concerned, into ``robot.joint_names``.
    laws : (t,) int array
        Codes of ``force_laws.JOINT_LAWS``.
    constants : (t, COLUMNS) array
        As of ``force_laws.joint_torques``.
    targets : (3, t) array
        In force; filled by ``select``.
    efforts : (t,) array [N m or N]
        The last torques.

    """

    def __init__(self, actuator_targets: ActuatorTargets) -> None:
        self._actuator_targets, self._dt = actuator_targets, actuator_targets.physics_step
        self.columns = columns = np.flatnonzero(~np.isin(actuator_targets.kinds, SERVO_KINDS))
        chosen = [actuator_targets.actuators[i] for i in columns]
        self.laws: IntArray = np.array(
            [force_laws.JOINT_LAWS[one.kind] for one in chosen], dtype=int
        )
        self.constants: FloatArray = np.zeros((len(columns), force_laws.COLUMN_COUNT))
        self.constants[:, force_laws.STIFFNESS] = _actuator_constants(chosen, 'stiffness')
        self.constants[:, force_laws.STIFFNESS] += _actuator_constants(chosen, 'strength')
        self.constants[:, force_laws.DAMPING] = _actuator_constants(chosen, 'damping')
        self.constants[:, force_laws.RISE] = _actuator_constants(chosen, 'rise')
        self.constants[:, force_laws.CRANK] = _actuator_constants(chosen, 'crank')
        self.constants[:, force_laws.ROD] = _actuator_constants(chosen, 'rod')
        self.constants[:, force_laws.EFFORT] = actuator_targets.effort_limit[columns]
        self.constants[:, force_laws.VELOCITY] = actuator_targets.velocity_limit[columns]
        self.targets: FloatArray = np.zeros((3, len(columns)))
        self.efforts: FloatArray = np.zeros(len(columns))
        self.steps = 0

    def select_sample(self, sample: int) -> None:
        """Put a sub-sample of the demands into force."""
        actuator_targets, columns = self._actuator_targets, self.columns
        self.steps = 0
        if len(columns):
            self.targets[0] = actuator_targets.position[sample, columns]
            self.targets[1] = actuator_targets.velocity[sample, columns]
            self.targets[2] = actuator_targets.effort[sample, columns]

    def compute(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the torques, (t,) [N m or N], of the coming step at a state, (t,) each."""
        force_laws.joint_torques(
            self.laws, self.constants, self.targets, self.steps * self._dt, position, velocity,
            self.efforts,
        )  # fmt: skip
        self.steps += 1
        return self.efforts


class ElementTensions:
    """
    The tensions of force elements, from the state at the start of a physics step.

    Attributes
    ----------
    names : tuple of str
        The elements, in the robot's order.
    laws, constants, targets
        As of ``force_laws.element_tensions``; targets are filled by ``select``.
    efforts : (e,) array [N]
        The last tensions.

    """

    def __init__(self, actuator_targets: ActuatorTargets, robot: RobotModel) -> None:
        self._actuator_targets, self._dt = actuator_targets, actuator_targets.physics_step
        elements = robot.force_elements
        self._first = len(robot.joint_names)
        self.names = tuple(one.name for one in elements)
        self.laws: IntArray = np.array(
            [force_laws.ELEMENT_LAWS[one.kind] for one in elements], dtype=np.int64
        )
        self.constants: FloatArray = np.zeros((len(elements), force_laws.COLUMN_COUNT))
        self.constants[:, force_laws.STIFFNESS] = _element_constants(elements, 'stiffness')
        self.constants[:, force_laws.STIFFNESS] += _element_constants(elements, 'strength')
        self.constants[:, force_laws.DAMPING] = _element_constants(elements, 'damping')
        self.constants[:, force_laws.RISE] = _element_constants(elements, 'rise')
        effort = _element_constants(elements, 'effort')
        limited = np.array([one.kind == 'linear_servo' for one in elements], dtype=bool)
        self.constants[:, force_laws.EFFORT] = np.where(limited, effort, np.inf)
        self.targets: FloatArray = np.zeros((3, len(elements)))
        self.efforts: FloatArray = np.zeros(len(elements))
        self.steps = 0

    def select_sample(self, sample: int) -> None:
        """Put a sub-sample of the demands into force."""
        actuator_targets, first = self._actuator_targets, self._first
        self.steps = 0
        if self.names:
            self.targets[0] = actuator_targets.position[sample, first:]
            self.targets[1] = actuator_targets.velocity[sample, first:]
            self.targets[2] = actuator_targets.effort[sample, first:]

    def compute(self, lengths: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the tensions, (e,) [N], of the coming step at lengths and their rates, (e,)."""
        force_laws.element_tensions(
            self.laws, self.constants, self.targets, self.steps * self._dt, lengths, rates,
            self.efforts,
        )  # fmt: skip
        self.steps += 1
        return self.efforts


def _check_gain(name: str, actuator: Actuator, physics_step: float) -> None:
    gain = constant_or_default(ACTUATOR_KINDS, actuator.kind, actuator.constants, 'gain')
    if gain * physics_step > 1.0:
        raise ConfigurationError(
            f"joint '{name}': gain {gain:g}/s overshoots in one physics step of {physics_step:g} "
            f's; nearest valid: {1.0 / physics_step:g}/s'
        )


def _actuator_constants(actuators: Sequence[Actuator], name: str) -> FloatArray:
    """Return a constant of actuators; zero where a kind has none of that name."""
    return np.array(
        [constant_or_default(ACTUATOR_KINDS, one.kind, one.constants, name) for one in actuators]
    )


def _element_constants(elements: Sequence[ForceElement], name: str) -> FloatArray:
    return np.array(
        [constant_or_default(ELEMENT_KINDS, one.kind, one.constants, name) for one in elements]
    )
