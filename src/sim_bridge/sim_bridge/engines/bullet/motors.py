# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators in Bullet: servos, lead screws, torques and force elements, with their work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.motion.targets import AppliedTargets
from gait_core.robot.model import RobotModel
from sim_bridge.engines.bullet.ball_joints import BallJoints
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.force_elements import ForceElements
from sim_bridge.engines.bullet.world import World
from sim_bridge.engines.shared.actuator_targets import (
    DEFAULT_GAIN,
    ActuatorTargets,
    TorqueActuators,
)
from sim_bridge.engines.shared.force_laws import add_joint_work, update_screw_lock


class Motors:
    """
    Actuators of a robot as Bullet's motors and torques, and the states of its joints.

    A servo (``position``, ``velocity``, ``lead_screw``) is a motor constraint that Bullet solves
    together with the contacts. It commands the velocity ``velocity target + gain * position
    error``, clamped to the velocity limit, within the effort limit. Bullet keeps it until the next
    sub-sample. A torque (``pd``, ``effort``, ``exponential``, ``slider_crank``) and the tension of
    a force element are applied before every physics step. Joints with a torque actuator have their
    dry friction; a servo includes it.

    The work of a motor is summed over physics steps: force times the mean of the velocities before
    and after a step, which is what the force adds to the kinetic energy.

    Attributes
    ----------
    actuator_targets : ActuatorTargets
    torques : TorqueActuators
    elements : ForceElements
    applies_forces : bool
        Whether ``apply_forces`` must be called before every physics step.
    reads_steps : bool
        Whether ``read_step`` must be called after every physics step.
    joints : (3, n) array [rad or m, per s, N m or N]
        Positions, velocities and efforts of the joints at the last reading.
    work : (2, n) array [J]
        Signed and positive work of each joint's motor until then.

    """

    def __init__(
        self, world: World, robot: RobotModel, physics_step: float, sums_work: bool
    ) -> None:
        self._client, self._body, self._dt = world.client, world.body, physics_step
        self.actuator_targets = actuator_targets = ActuatorTargets(robot, physics_step)
        self.torques = TorqueActuators(actuator_targets)
        self.elements = ForceElements(world, robot, actuator_targets)
        self._balls = BallJoints(world)
        count = len(robot.joint_names)
        self.joints: FloatArray = np.zeros((3, count))
        self.work: FloatArray = np.zeros((2, count))
        self._movable = [
            world.joint_index[joint.name]
            for joint in robot.joints
            if joint.name in world.joint_index and joint.kind != 'fixed'
        ]
        self._links = [world.actuated_index[name] for name in robot.joint_names]
        self._friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        hinges = np.setdiff1d(np.arange(count), self._balls.columns)
        self._hinges = hinges
        self._hinge_links = [self._links[i] for i in hinges]
        self._hinge_states: Callable[[], Sequence[Any]] = (
            partial(pb.getJointStates, self._body, self._hinge_links, self._client)
            if len(hinges)
            else tuple
        )
        self._hinge_columns = _column_index(hinges, count)
        self._torque_columns = _column_index(self.torques.columns, count)
        self._torque_hinges = np.intersect1d(self.torques.columns, hinges)
        self._torque_links = [self._links[i] for i in self._torque_hinges]
        self._bind_servos()
        self._disable_motors()
        self._has_torques = bool(len(self.torques.columns))
        self._has_balls, self._has_elements = bool(len(self._balls)), bool(len(self.elements))
        self.applies_forces = self._has_torques or self._has_elements
        self._sums_work = sums_work
        self.reads_steps = bool(count and sums_work or self._screws) or self.applies_forces
        # If no force depends on them, readings are evaluated at the end of a control period.
        self._deferred = not (self._screws or self.applies_forces)
        self._readings: list[Sequence[Any]] = []
        self._settling = self._is_read = False
        self._before: FloatArray = np.zeros(count)

    def _bind_servos(self) -> None:
        """Prepare calls that command Bullet's position servos, and their constant arguments."""
        actuator_targets = self.actuator_targets
        self._servos = np.setdiff1d(np.arange(len(self._links)), self.torques.columns)
        links = [self._links[i] for i in self._servos]
        self._servo_columns = _column_index(self._servos, len(self._links))
        self._servo_forces = actuator_targets.effort_limit[self._servos].tolist()
        # Bullet multiplies the position error by positionGain / step, not by positionGain: with
        # gain * step the commanded velocity is gain * error.
        gains = (actuator_targets.gain[self._servos] * self._dt).tolist()
        self._servo_constants = (self._servo_forces, gains, [1.0] * len(links), self._client)
        self._command_servos = partial(
            pb.setJointMotorControlArray, self._body, links, pb.POSITION_CONTROL
        )
        self._screws = np.flatnonzero(np.isfinite(actuator_targets.strength)).tolist()
        self._servo_index = {column: k for k, column in enumerate(self._servos.tolist())}
        self._screw_force = {k: float(actuator_targets.strength[k]) for k in self._screws}
        # Positions at which overloaded lead screws are locked, by joint.
        self._locked: dict[int, float] = {}

    def _disable_motors(self) -> None:
        """Disable the motor that Bullet puts on every joint; set velocity limits and friction."""
        control, client = pb.setJointMotorControl2, self._client
        for link in self._movable:
            control(self._body, link, pb.VELOCITY_CONTROL, force=0.0, physicsClientId=client)
        for i, link in zip(self._hinges, self._hinge_links, strict=True):
            # The velocity limit belongs to the motor and stays until a command in velocity mode.
            control(
                self._body,
                link,
                pb.POSITION_CONTROL,
                targetPosition=0.0,
                force=0.0,
                maxVelocity=float(self.actuator_targets.velocity_limit[i]),
                physicsClientId=client,
            )
        for i, link in zip(self._torque_hinges, self._torque_links, strict=True):
            control(
                self._body,
                link,
                pb.VELOCITY_CONTROL,
                targetVelocity=0.0,
                velocityGain=1.0,
                force=float(self._friction[i]),
                physicsClientId=client,
            )
        self._balls.disable_motors()

    def hold_positions(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a position servo on joints with velocity and effort actuators too, for a
        robot that settles. Otherwise their targets are zero velocity and effort, as always for
        ball joints. The work during a stiff hold is not counted.
        """
        actuator_targets = self.actuator_targets
        actuator_targets.hold_positions(positions)
        self._list_servo_targets()
        self._settling = stiff
        self.select_sample(0)
        loose = np.flatnonzero(np.isin(actuator_targets.kinds, ('velocity', 'effort')))
        loose = np.intersect1d(loose, self._hinges).tolist()
        if stiff and loose:
            pb.setJointMotorControlArray(
                self._body,
                [self._links[i] for i in loose],
                pb.POSITION_CONTROL,
                targetPositions=actuator_targets.position[0, loose].tolist(),
                targetVelocities=[0.0] * len(loose),
                forces=actuator_targets.effort_limit[loose].tolist(),
                positionGains=[min(DEFAULT_GAIN * self._dt, 1.0)] * len(loose),
                velocityGains=[1.0] * len(loose),
                physicsClientId=self._client,
            )

    def end_hold(self) -> None:
        """End a stiff hold."""
        self._settling = False
        self._disable_motors()

    def load_targets(self, targets: AppliedTargets, steps: int) -> int:
        """Load the targets of a control period; return the number of their sub-samples."""
        samples = self.actuator_targets.load(targets, steps)
        self._list_servo_targets()
        return samples

    def _list_servo_targets(self) -> None:
        """Convert the servo targets of all sub-samples to the lists that PyBullet needs."""
        actuator_targets, servos = self.actuator_targets, self._servo_columns
        self._servo_positions = actuator_targets.position[:, servos].tolist()
        self._servo_velocities = actuator_targets.velocity[:, servos].tolist()

    def select_sample(self, sample: int) -> None:
        """Apply a sub-sample of the targets from now on."""
        self._sample = sample
        self._send_servos()
        if self.applies_forces:
            self.torques.select_sample(sample)
            self.elements.tensions.select_sample(sample)

    def _send_servos(self) -> None:
        """Send the present sub-sample to the servos; locked lead screws hold their position."""
        if not len(self._servos):
            return
        positions = self._servo_positions[self._sample]
        velocities = self._servo_velocities[self._sample]
        for column, force in self._screw_force.items():
            self._servo_forces[self._servo_index[column]] = force
        if self._locked:
            positions, velocities = positions.copy(), velocities.copy()
        for column, position in self._locked.items():
            k = self._servo_index[column]
            positions[k], velocities[k] = position, 0.0
        self._command_servos(positions, velocities, *self._servo_constants)

    def apply_forces(self) -> None:
        """Apply torques and tensions for the next physics step, from the last reading."""
        if self._has_torques:
            columns = self._torque_columns
            position, velocity, effort = self.joints
            effort[columns] = self.torques.compute(position[columns], velocity[columns])
            if self._has_balls:
                self._balls.apply_torques(effort)
            if self._torque_links:
                pb.setJointMotorControlArray(
                    self._body,
                    self._torque_links,
                    pb.TORQUE_CONTROL,
                    forces=effort[self._torque_hinges].tolist(),
                    physicsClientId=self._client,
                )
        if self._has_elements:
            self.elements.apply_tensions()

    def read_step(self) -> None:
        """Read the joints after a physics step, for work and for forces and lead screws."""
        if self._deferred:
            # Only store the reading: more work between two steps would push Bullet's data out of
            # the processor's cache.
            self._readings.append(self._hinge_states())
            return
        self._read_joints()
        self._is_read = True
        if self._sums_work and not self._settling:
            self._add_work(self.joints[None, 1:])
        else:
            self._before[:] = self.joints[1]
        for k in self._screws:
            self._update_screw_lock(k)

    def read_period(self) -> None:
        """Update ``joints``, ``work`` and force elements to the present state."""
        if not self._readings:
            # If every step is read, the last one has been read.
            if not self._is_read:
                self._read_joints()
            return
        numbers: list[float] = []
        for states in self._readings:
            position, velocity, _, effort = zip(*states, strict=True)
            numbers += velocity
            numbers += effort
        self._readings.clear()
        steps = np.array(numbers).reshape(-1, 2, len(self._before))
        if self._sums_work and not self._settling:
            self._add_work(steps)
        else:
            self._before[:] = steps[-1, 0]
        self.joints[0] = position
        self.joints[1:] = steps[-1]

    def _read_joints(self) -> None:
        """Read the present state of hinges, ball joints and force elements."""
        if self._hinge_links:
            position, velocity, _, effort = zip(*self._hinge_states(), strict=True)
            self.joints[:, self._hinge_columns] = position, velocity, effort
        if self._has_balls:
            self._balls.read(self.joints)
        # Bullet reports the effort of its own motors only.
        self.joints[2, self._torque_columns] = self.torques.efforts
        if self._has_elements:
            self.elements.read()

    def _add_work(self, steps: FloatArray) -> None:
        """Add the work of physics steps, by velocities and efforts (s, 2, n)."""
        add_joint_work(
            steps, self._before, self._dt, self.actuator_targets.power_ratios, self.work
        )

    def _update_screw_lock(self, k: int) -> None:
        """Lock or release a lead screw for the next step, and set the bound of its force."""
        actuator_targets, sample, was_locked = (
            self.actuator_targets,
            self._sample,
            k in self._locked,
        )
        position, velocity, effort = self.joints[:, k].tolist()
        limit = actuator_targets.velocity_limit[k]
        wanted = actuator_targets.velocity[sample, k] + actuator_targets.gain[k] * (
            actuator_targets.position[sample, k] - position
        )
        is_locked, force = update_screw_lock(
            effort,
            velocity,
            float(min(max(wanted, -limit), limit)),
            actuator_targets.strength[k],
            actuator_targets.effort_limit[k],
            was_locked,
        )
        if is_locked == was_locked and force == self._screw_force[k]:
            return
        self._screw_force[k] = force
        if not is_locked:
            self._locked.pop(k, None)
        elif not was_locked:
            self._locked[k] = position
        self._send_servos()


def _column_index(columns: IntArray, count: int) -> IntArray | slice:
    """Return an index for some of ``count`` columns; a slice, which is faster, for all of them."""
    return slice(count) if len(columns) == count else columns
