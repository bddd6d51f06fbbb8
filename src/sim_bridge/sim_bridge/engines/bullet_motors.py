"""Actuators of a robot in Bullet: velocity-level servos, and torques at the physics rate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import BadCommand, ConfigurationError, unknown
from gait_core.robot.model import Actuator, RobotModel
from gait_core.targets import AppliedTargets
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_world import NO_VELOCITY_LIMIT, World

KINDS: Mapping[str, tuple[str, ...]] = {
    'position': (),
    'velocity': (),
    'pd': ('stiffness', 'damping'),
    'effort': (),
}
"""Actuators that this engine has, and the constants each needs."""
NO_EFFORT_LIMIT = 1e9
DEFAULT_GAIN = 20.0
"""Gain [1/s] of a position actuator that states none."""


class Motors:
    """
    Turns applied targets into Bullet's motors and torques.

    A servo (``position``, ``velocity``) is a motor constraint that Bullet solves together with
    the contacts: it demands the velocity ``feed-forward + gain * error``, clipped to the velocity
    limit, within the effort limit. Bullet keeps it until the next sub-sample. A torque (``pd``,
    ``effort``) is computed before every physics step from the state at its start; beyond the
    velocity limit it only brakes. Dry friction acts on joints with torque; a servo contains it.

    Attributes
    ----------
    clamped : (n,) int array
        Control periods in which a joint's target lay outside its limits and was clamped.
    overspeed : (n,) int array
        Physics steps in which a joint with torque was beyond its velocity limit.

    """

    def __init__(self, world: World, robot: RobotModel, physics_step: float) -> None:
        self._client, self._body = world.client, world.body
        self._dt = physics_step
        self._lower, self._upper = robot.lower, robot.upper
        self._n = len(robot.joint_names)
        self.clamped: IntArray = np.zeros(self._n, dtype=np.int64)
        self.overspeed: IntArray = np.zeros(self._n, dtype=np.int64)
        actuators = [_checked(robot, name, physics_step) for name in robot.joint_names]
        self._links = [world.joint[name] for name in robot.joint_names]
        self._velocity_limit = np.minimum(robot.velocity_limit, NO_VELOCITY_LIMIT)
        self._effort_limit = np.minimum(robot.effort_limit, NO_EFFORT_LIMIT)
        self._friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        self._kinds = np.array([actuator.kind for actuator in actuators], dtype=object)
        servo = np.isin(self._kinds, ('position', 'velocity'))
        self._servo, self._torque = np.flatnonzero(servo), np.flatnonzero(~servo)
        self._gain = _constants(actuators, 'gain')
        self._stiffness = _constants(actuators, 'stiffness')
        self._damping = _constants(actuators, 'damping')
        self._torque_links = [self._links[i] for i in self._torque]
        self._applied: FloatArray = np.zeros(len(self._torque_links))
        self._bind_servos()
        self._silence(world, robot)

    def _bind_servos(self) -> None:
        self._servo_links = [self._links[i] for i in self._servo]
        self._servo_forces = self._effort_limit[self._servo].tolist()
        # Bullet multiplies the position error by positionGain / step, not by positionGain.
        self._servo_gains = (self._gain[self._servo] * self._dt).tolist()
        self._servo_ones = [1.0] * len(self._servo_links)

    def _silence(self, world: World, robot: RobotModel) -> None:
        """Take the motors off that Bullet puts on every joint, and set the velocity limits."""
        for joint in robot.joints:
            if joint.name in world.joint and joint.kind != 'fixed':
                pb.setJointMotorControl2(
                    self._body,
                    world.joint[joint.name],
                    pb.VELOCITY_CONTROL,
                    force=0.0,
                    physicsClientId=self._client,
                )
        for link, limit in zip(self._links, self._velocity_limit.tolist(), strict=True):
            # The limit stays with the motor; only a command in velocity mode would remove it.
            pb.setJointMotorControl2(
                self._body,
                link,
                pb.POSITION_CONTROL,
                targetPosition=0.0,
                force=0.0,
                maxVelocity=limit,
                physicsClientId=self._client,
            )
        for i in self._torque:
            pb.setJointMotorControl2(
                self._body,
                self._links[i],
                pb.VELOCITY_CONTROL,
                targetVelocity=0.0,
                velocityGain=1.0,
                force=float(self._friction[i]),
                physicsClientId=self._client,
            )

    @property
    def has_torques(self) -> bool:
        """Whether ``drive`` must be called before every physics step."""
        return bool(self._torque_links)

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a servo on joints with velocity or effort actuators too, for a robot that
        settles; without it they get zero velocity and effort.
        """
        wanted = np.clip(positions, self._lower, self._upper)
        zero = np.zeros((1, self._n))
        self._take(wanted[None, :], zero, zero)
        self.select(0)
        loose = [i for i in range(self._n) if self._kinds[i] in ('velocity', 'effort')]
        if stiff and loose:
            pb.setJointMotorControlArray(
                self._body,
                [self._links[i] for i in loose],
                pb.POSITION_CONTROL,
                targetPositions=wanted[loose].tolist(),
                targetVelocities=[0.0] * len(loose),
                forces=self._effort_limit[loose].tolist(),
                positionGains=[min(DEFAULT_GAIN * self._dt, 1.0)] * len(loose),
                velocityGains=[1.0] * len(loose),
                physicsClientId=self._client,
            )

    def release(self, world: World, robot: RobotModel) -> None:
        """End a stiff hold."""
        self._silence(world, robot)

    def load(self, targets: AppliedTargets, steps: int) -> int:
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
        if not all(np.isfinite(rows).all() for rows in (position, velocity, effort)):
            raise BadCommand('targets hold a value that is not finite')
        wanted = np.minimum(np.maximum(position, self._lower), self._upper)
        if not np.array_equal(wanted, position):
            self.clamped += (wanted != position).any(axis=0)
        self._take(wanted, velocity, effort)
        return samples

    def _take(self, position: FloatArray, velocity: FloatArray, effort: FloatArray) -> None:
        self._position, self._velocity, self._effort = position, velocity, effort
        self._servo_positions = position[:, self._servo].tolist()
        self._servo_velocities = velocity[:, self._servo].tolist()

    def select(self, sample: int) -> None:
        """Put a sub-sample into force; servos follow it from now on."""
        if self._servo_links:
            pb.setJointMotorControlArray(
                self._body,
                self._servo_links,
                pb.POSITION_CONTROL,
                self._servo_positions[sample],
                self._servo_velocities[sample],
                self._servo_forces,
                self._servo_gains,
                self._servo_ones,
                self._client,
            )
        if self._torque_links:
            self._aim = self._position[sample, self._torque]
            self._rate = self._velocity[sample, self._torque]
            self._feed = np.where(
                self._kinds[self._torque] == 'effort', self._effort[sample, self._torque], 0.0
            )

    def drive(self) -> None:
        """Apply the torques of the coming physics step."""
        columns = self._torque
        states = pb.getJointStates(self._body, self._torque_links, self._client)
        at = np.array([state[0] for state in states])
        rate = np.array([state[1] for state in states])
        torque = (
            self._stiffness[columns] * (self._aim - at)
            + self._damping[columns] * (self._rate - rate)
            + self._feed
        )
        limit = self._effort_limit[columns]
        torque = np.minimum(np.maximum(torque, -limit), limit)
        over = np.abs(rate) > self._velocity_limit[columns]
        if over.any():
            self.overspeed[columns] += over
            torque[over & (torque * rate > 0.0)] = 0.0
        self._applied = torque
        pb.setJointMotorControlArray(
            self._body,
            self._torque_links,
            pb.TORQUE_CONTROL,
            forces=torque.tolist(),
            physicsClientId=self._client,
        )

    def add_torques(self, efforts: FloatArray) -> None:
        """Write the torques of the last physics step over the motor efforts that Bullet gives."""
        if self._torque_links:
            efforts[self._torque] = self._applied


def _checked(robot: RobotModel, name: str, physics_step: float) -> Actuator:
    actuator = robot.actuators[name]
    if actuator.kind not in KINDS:
        raise unknown(f"actuator of engine 'bullet' at joint '{name}'", actuator.kind, KINDS)
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
