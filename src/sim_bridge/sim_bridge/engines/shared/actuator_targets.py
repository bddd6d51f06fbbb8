"""Targets of actuators for a control period: checked, clamped and evaluated by their laws."""

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
        self.gain = _actuator_constants(self.actuators, 'gain')
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


class TorqueActuators:
    """
    The t actuators that give a torque, from the state at the start of a physics step.

    Attributes
    ----------
    columns : (t,) int array
        Indices of their joints in ``robot.joint_names``.
    laws : (t,) int array
        Codes of ``force_laws.JOINT_LAWS``.
    constants : (t, COLUMN_COUNT) array
        As of ``force_laws.joint_torques``.
    targets : (3, t) array
        Present sub-sample of positions, velocities and efforts.
    efforts : (t,) array [N m or N]
        Torques of the last step.

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
        """Apply a sub-sample of the targets from now on."""
        actuator_targets, columns = self._actuator_targets, self.columns
        self.steps = 0
        if len(columns):
            self.targets[0] = actuator_targets.position[sample, columns]
            self.targets[1] = actuator_targets.velocity[sample, columns]
            self.targets[2] = actuator_targets.effort[sample, columns]

    def compute(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the torques, (t,) [N m or N], of the next step at a state, (t,) each."""
        force_laws.joint_torques(
            self.laws,
            self.constants,
            self.targets,
            self.steps * self._dt,
            position,
            velocity,
            self.efforts,
        )
        self.steps += 1
        return self.efforts


class ElementTensions:
    """
    The e force elements of a robot, with tensions from the state at the start of a physics step.

    Attributes
    ----------
    names : tuple of str
        In the order of the robot.
    laws, constants, targets
        As of ``force_laws.element_tensions``; targets are those of the present sub-sample.
    efforts : (e,) array [N]
        Tensions of the last step.

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
        """Apply a sub-sample of the targets from now on."""
        actuator_targets, first = self._actuator_targets, self._first
        self.steps = 0
        if self.names:
            self.targets[0] = actuator_targets.position[sample, first:]
            self.targets[1] = actuator_targets.velocity[sample, first:]
            self.targets[2] = actuator_targets.effort[sample, first:]

    def compute(self, lengths: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the tensions, (e,) [N], of the next step at lengths and rates, (e,) each."""
        force_laws.element_tensions(
            self.laws,
            self.constants,
            self.targets,
            self.steps * self._dt,
            lengths,
            rates,
            self.efforts,
        )
        self.steps += 1
        return self.efforts


def _check_gain(name: str, actuator: Actuator, physics_step: float) -> None:
    """Raise ConfigurationError for a gain that more than corrects an error in one physics step."""
    gain = constant_or_default(ACTUATOR_KINDS, actuator.kind, actuator.constants, 'gain')
    if gain * physics_step > 1.0:
        raise ConfigurationError(
            f"joint '{name}': gain {gain:g}/s overshoots in one physics step of {physics_step:g} "
            f's; nearest valid: {1.0 / physics_step:g}/s'
        )


def _actuator_constants(actuators: Sequence[Actuator], name: str) -> FloatArray:
    """Return a constant of each actuator; 0 for kinds without a constant of that name."""
    return np.array(
        [constant_or_default(ACTUATOR_KINDS, one.kind, one.constants, name) for one in actuators]
    )


def _element_constants(elements: Sequence[ForceElement], name: str) -> FloatArray:
    return np.array(
        [constant_or_default(ELEMENT_KINDS, one.kind, one.constants, name) for one in elements]
    )
