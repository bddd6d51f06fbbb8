"""What targets demand of actuators: the laws that every engine applies at its physics rate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gait_core.arrays import FloatArray, IntArray, all_finite
from gait_core.errors import BadCommand, ConfigurationError, unknown
from gait_core.robot.model import Actuator, RobotModel
from gait_core.targets import AppliedTargets

KINDS: Mapping[str, tuple[str, ...]] = {
    'position': (),
    'velocity': (),
    'pd': ('stiffness', 'damping'),
    'effort': (),
}
"""Actuators of the engines, and the constants each needs."""
SERVOS = ('position', 'velocity')
"""Those that demand a velocity; the others give a torque."""
NO_LIMIT = 1e9
"""Stands for no limit of velocity or effort."""
DEFAULT_GAIN = 20.0
"""Gain [1/s] of a position actuator that states none."""


class Demands:
    """
    The targets of a control period, checked, clamped to the joint limits and counted.

    Attributes
    ----------
    kinds : (n,) object array
        Kind of each joint's actuator.
    gain : (n,) array [1/s]
        Zero where the actuator is no position servo.
    velocity_limit, effort_limit : (n,) arrays
        Finite.
    clamped : (n,) int array
        Control periods in which a joint's target lay outside its limits and was clamped.
    position, velocity, effort : (K, n) arrays
        Of the period that was taken last.

    Raises
    ------
    ConfigurationError
        If an actuator is of no known kind, lacks a constant or overshoots in one physics step.

    """

    def __init__(self, engine: str, robot: RobotModel, physics_step: float) -> None:
        names = robot.joint_names
        actuators = [_checked(engine, robot, name, physics_step) for name in names]
        self._n = len(names)
        self._lower, self._upper = robot.lower, robot.upper
        self.kinds = np.array([actuator.kind for actuator in actuators], dtype=object)
        self.gain = _constants(actuators, 'gain')
        self.velocity_limit: FloatArray = np.minimum(robot.velocity_limit, NO_LIMIT)
        self.effort_limit: FloatArray = np.minimum(robot.effort_limit, NO_LIMIT)
        self.clamped: IntArray = np.zeros(self._n, dtype=np.int64)
        self.stiffness = _constants(actuators, 'stiffness')
        self.damping = _constants(actuators, 'damping')

    def hold(self, positions: FloatArray) -> None:
        """Demand that joint positions be held, at zero velocity and effort."""
        zero = np.zeros((1, self._n))
        self.position = np.clip(positions, self._lower, self._upper)[None, :]
        self.velocity = self.effort = zero

    def take(self, targets: AppliedTargets, steps: int) -> int:
        """
        Take the targets of a control period of some physics steps; return its sub-samples.

        Raises
        ------
        BadCommand
            For a wrong shape or a value that is not finite.
        ConfigurationError
            If the sub-samples do not divide the physics steps.

        """
        position, velocity, effort = targets.position, targets.velocity, targets.effort
        samples = len(position)
        if not position.shape == velocity.shape == effort.shape == (samples, self._n):
            raise BadCommand(
                f'targets have shapes {position.shape}, {velocity.shape}, {effort.shape}, '
                f'expected (K, {self._n}) for each'
            )
        if steps % samples:
            valid = [k for k in range(1, steps + 1) if steps % k == 0]
            best = min(valid, key=lambda k: abs(k - samples))
            raise ConfigurationError(
                f'{samples} sub-samples do not divide the {steps} physics steps of a control '
                f'period; nearest valid: {best}'
            )
        if not (all_finite(position) and all_finite(velocity) and all_finite(effort)):
            raise BadCommand('targets hold a value that is not finite')
        wanted = np.minimum(np.maximum(position, self._lower), self._upper)
        outside = wanted != position
        if outside.any():
            self.clamped += outside.any(axis=0)
        self.position, self.velocity, self.effort = wanted, velocity, effort
        return samples


class Torques:
    """
    The torques of ``pd`` and ``effort`` actuators, from the state at the start of a physics step.

    Beyond a joint's velocity limit its torque only brakes.

    Attributes
    ----------
    columns : (m,) int array
        The joints concerned, into ``robot.joint_names``.
    applied : (m,) array [N m or N]
        The last torques.
    overspeed : (n,) int array
        Physics steps in which a joint with torque was beyond its velocity limit.

    """

    def __init__(self, demands: Demands) -> None:
        self._demands = demands
        self.columns = columns = np.flatnonzero(~np.isin(demands.kinds, SERVOS))
        self._stiffness, self._damping = demands.stiffness[columns], demands.damping[columns]
        self._effort_limit = demands.effort_limit[columns]
        self._velocity_limit = demands.velocity_limit[columns]
        self._fed = demands.kinds[columns] == 'effort'
        self.applied: FloatArray = np.zeros(len(columns))
        self.overspeed: IntArray = np.zeros(len(demands.kinds), dtype=np.int64)

    def select(self, sample: int) -> None:
        """Put a sub-sample of the demands into force."""
        columns = self.columns
        if not len(columns):
            return
        self._aim = self._demands.position[sample, columns]
        self._rate = self._demands.velocity[sample, columns]
        self._feed = np.where(self._fed, self._demands.effort[sample, columns], 0.0)

    def at(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the torques, (m,) [N m or N], of the coming step at a state, (m,) each."""
        torque: FloatArray = (
            self._stiffness * (self._aim - position)
            + self._damping * (self._rate - velocity)
            + self._feed
        )
        limit = self._effort_limit
        torque = np.minimum(np.maximum(torque, -limit), limit)
        over = np.abs(velocity) > self._velocity_limit
        if over.any():
            self.overspeed[self.columns] += over
            torque[over & (torque * velocity > 0.0)] = 0.0
        self.applied = torque
        return torque

    def write(self, efforts: FloatArray) -> None:
        """Write the torques of the last physics step into the efforts of all joints, (n,)."""
        if len(self.columns):
            efforts[self.columns] = self.applied


def _checked(engine: str, robot: RobotModel, name: str, physics_step: float) -> Actuator:
    actuator = robot.actuators[name]
    if actuator.kind not in KINDS:
        raise unknown(f"actuator of engine '{engine}' at joint '{name}'", actuator.kind, KINDS)
    for constant in KINDS[actuator.kind]:
        if constant not in actuator.constants:
            raise ConfigurationError(
                f"joint '{name}': its {actuator.kind} actuator has no constant '{constant}'"
            )
    gain = _constant(actuator, 'gain')
    if gain * physics_step > 1.0:
        raise ConfigurationError(
            f"joint '{name}': gain {gain:g}/s overshoots in one physics step of {physics_step:g} "
            f's; nearest valid: {1.0 / physics_step:g}/s'
        )
    return actuator


_OWNER = {'gain': 'position', 'stiffness': 'pd', 'damping': 'pd'}


def _constant(actuator: Actuator, name: str) -> float:
    """Return a constant, or zero where the kind of actuator has none of that name."""
    if actuator.kind != _OWNER[name]:
        return 0.0
    return actuator.constants.get(name, DEFAULT_GAIN if name == 'gain' else 0.0)


def _constants(actuators: list[Actuator], name: str) -> FloatArray:
    return np.array([_constant(actuator, name) for actuator in actuators])
