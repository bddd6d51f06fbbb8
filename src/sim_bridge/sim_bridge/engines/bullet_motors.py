"""Actuators of a robot in Bullet: velocity-level servos, and torques at the physics rate."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel
from gait_core.targets import AppliedTape, AppliedTargets
from sim_bridge.engines.bullet_balls import Balls
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_elements import Elements
from sim_bridge.engines.bullet_work import Meter
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.demands import DEFAULT_GAIN, Demands, Torques

ServoTargets = list[tuple[list[float], list[float]]]
"""Positions and velocities of the servos in each sub-sample."""


class Motors:
    """
    Turns applied targets into Bullet's motors and torques.

    A servo (``position``, ``velocity``) is a motor constraint that Bullet solves together with
    the contacts: it demands the velocity ``feed-forward + gain * error``, clipped to the velocity
    limit, within the effort limit. Bullet keeps it until the next sub-sample. A torque (``pd``,
    ``effort``, ``exponential``) and the tension of a force element are applied before every
    physics step. Dry friction acts on joints with torque; a servo contains it.

    Attributes
    ----------
    demands : Demands
    torques : Torques
    balls : Balls
    elements : Elements
    has_torques : bool
        Whether ``drive`` must be called before every physics step.
    meter : Meter or None
        Looks at every physics step, if work is summed or there are screws.
    links : list of int
        Bullet's index of each joint.
    pushed : list of int
        Joints with torque that are not part of a ball joint, among ``joint_names``.
    command : callable
        Gives the servos positions and velocities, and the ``constants``.
    constants : tuple
        Forces, gains and client of that call.
    tape : sequence of sequences of (positions, velocities)
        What it gives the servos in each sub-sample of each period of the tape, lists.

    """

    def __init__(
        self, world: World, robot: RobotModel, physics_step: float, sums_work: bool
    ) -> None:
        self._client, self._body = world.client, world.body
        self._movable = [
            world.joint[joint.name]
            for joint in robot.joints
            if joint.name in world.joint and joint.kind != 'fixed'
        ]
        self._dt = physics_step
        self.demands = Demands('bullet', robot, physics_step)
        self.torques = Torques(self.demands)
        self.balls = Balls(world)
        self.elements = Elements(world, robot, self.demands)
        self.has_torques = bool(len(self.torques.columns) or len(self.elements))
        self.links = [world.axes[name] for name in robot.joint_names]
        self._friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        hinges = np.setdiff1d(np.arange(len(self.links)), self.balls.columns)
        self._hinges: list[int] = hinges.tolist()
        self.pushed: list[int] = np.intersect1d(self.torques.columns, hinges).tolist()
        self._torque_links = [self.links[i] for i in self.pushed]
        self._state: FloatArray = np.zeros((3, len(self.links)))
        self._bind_servos()
        self._silence()
        links = [self.links[i] for i in self._hinges]
        screws = bool(np.isfinite(self.demands.strength).any())
        self.meter = (
            Meter(self, sums_work, self._client, self._body, links, self._hinges)
            if sums_work or screws
            else None
        )

    def _bind_servos(self) -> None:
        demands = self.demands
        self._servo = np.setdiff1d(np.arange(len(self.links)), self.torques.columns)
        self._servo_links = [self.links[i] for i in self._servo]
        self._place = {column: k for k, column in enumerate(self._servo.tolist())}
        self._servo_forces = demands.effort_limit[self._servo].tolist()
        self.command = partial(
            pb.setJointMotorControlArray, self._body, self._servo_links, pb.POSITION_CONTROL
        )
        self.constants = (
            self._servo_forces,
            # Bullet multiplies the position error by positionGain / step, not by positionGain.
            (demands.gain[self._servo] * self._dt).tolist(),
            [1.0] * len(self._servo_links),
            self._client,
        )

    def _silence(self) -> None:
        """Take the motors off that Bullet puts on every joint, and set the velocity limits."""
        for link in self._movable:
            pb.setJointMotorControl2(
                self._body,
                link,
                pb.VELOCITY_CONTROL,
                force=0.0,
                physicsClientId=self._client,
            )
        for i in self._hinges:
            # The limit stays with the motor; only a command in velocity mode would remove it.
            pb.setJointMotorControl2(
                self._body,
                self.links[i],
                pb.POSITION_CONTROL,
                targetPosition=0.0,
                force=0.0,
                maxVelocity=float(self.demands.velocity_limit[i]),
                physicsClientId=self._client,
            )
        for i in self.pushed:
            pb.setJointMotorControl2(
                self._body,
                self.links[i],
                pb.VELOCITY_CONTROL,
                targetVelocity=0.0,
                velocityGain=1.0,
                force=float(self._friction[i]),
                physicsClientId=self._client,
            )

        self.balls.silence()

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a servo on joints with velocity or effort actuators too, for a robot that
        settles; without it they get zero velocity and effort, as ball joints always do.
        """
        demands = self.demands
        demands.hold(positions)
        if self.meter is not None:
            self.meter.count(not stiff)
        self._bind_targets()
        self.select(0)
        loose = np.flatnonzero(np.isin(demands.kinds, ('velocity', 'effort')))
        loose = np.intersect1d(loose, self._hinges).tolist()
        if stiff and loose:
            pb.setJointMotorControlArray(
                self._body,
                [self.links[i] for i in loose],
                pb.POSITION_CONTROL,
                targetPositions=demands.position[0, loose].tolist(),
                targetVelocities=[0.0] * len(loose),
                forces=demands.effort_limit[loose].tolist(),
                positionGains=[min(DEFAULT_GAIN * self._dt, 1.0)] * len(loose),
                velocityGains=[1.0] * len(loose),
                physicsClientId=self._client,
            )

    def release(self) -> None:
        """End a stiff hold."""
        if self.meter is not None:
            self.meter.count(True)
        self._silence()

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """Take the targets of a control period as ``Demands.take`` does."""
        samples = self.demands.take(targets, steps)
        self._bind_targets()
        return samples

    def load_tape(self, tape: AppliedTape, steps: int) -> int:
        """Take the targets of many control periods as ``Demands.take_tape`` does."""
        samples = self.demands.take_tape(tape, steps)
        self.tape = self._pairs(*self.demands.ahead[:2])
        return samples

    @property
    def plain(self) -> bool:
        """Whether nothing but servos, and at most the sum of their work, acts in a step."""
        return not self.has_torques and (self.meter is None or self.meter.later)

    def states(self) -> Any:
        """Return what Bullet says of the joints, that after the last step where it did."""
        if self.meter is not None and self.meter.last:
            return self.meter.last
        return pb.getJointStates(self._body, self.links, self._client) if self.links else ()

    def begin(self, period: int) -> None:
        """Begin a control period of the tape."""
        self.demands.begin(period)
        self._servo_targets = self.tape[period]

    def played(self, begin: int, end: int) -> None:
        """Take it that periods of the tape were played by ``command``."""
        for period in range(begin, end):
            self.begin(period)

    def _bind_targets(self) -> None:
        position, velocity = self.demands.position, self.demands.velocity
        (self._servo_targets,) = self._pairs(position[None], velocity[None])

    def _pairs(self, positions: FloatArray, velocities: FloatArray) -> list[ServoTargets]:
        """Return what the servos get in each period, of positions and velocities (T, K, m)."""
        rows = positions[:, :, self._servo].tolist(), velocities[:, :, self._servo].tolist()
        return [list(zip(*period, strict=True)) for period in zip(*rows, strict=True)]

    def select(self, sample: int) -> None:
        """Put a sub-sample into force; servos follow it from now on."""
        self._sample = sample
        self.send()
        if self.has_torques:
            self.torques.select(sample)
            self.elements.tensions.select(sample)

    def wanted(self, column: int, position: float) -> float:
        """Return the velocity that a servo asks for at a position, by its number of joint."""
        demands, sample = self.demands, self._sample
        error = demands.position[sample, column] - position
        wanted = demands.velocity[sample, column] + demands.gain[column] * error
        limit = demands.velocity_limit[column]
        return float(min(max(wanted, -limit), limit))

    def send(self) -> None:
        """Give the servos the sub-sample in force; screws that are stuck stay."""
        sample = self._sample
        if self._servo_links:
            positions, velocities = self._servo_targets[sample]
            if self.meter is not None:
                for column, bound in self.meter.bounds.items():
                    self._servo_forces[self._place[column]] = bound
                if self.meter.stuck:
                    positions, velocities = positions.copy(), velocities.copy()
                for column, at in self.meter.stuck.items():
                    k = self._place[column]
                    positions[k], velocities[k] = at, 0.0
            self.command(positions, velocities, *self.constants)

    def drive(self) -> None:
        """Apply the torques and tensions of the coming physics step."""
        if len(self.balls):
            self._drive_balls()
        elif self._torque_links:
            self._drive_hinges()
        if len(self.elements):
            self.elements.drive()

    def _drive_hinges(self) -> None:
        states = pb.getJointStates(self._body, self._torque_links, self._client)
        at: FloatArray = np.array([state[0] for state in states])
        rate: FloatArray = np.array([state[1] for state in states])
        pb.setJointMotorControlArray(
            self._body,
            self._torque_links,
            pb.TORQUE_CONTROL,
            forces=self.torques.at(at, rate).tolist(),
            physicsClientId=self._client,
        )

    def _drive_balls(self) -> None:
        at, rate, effort = self._state
        if self._torque_links:
            states = pb.getJointStates(self._body, self._torque_links, self._client)
            at[self.pushed] = [state[0] for state in states]
            rate[self.pushed] = [state[1] for state in states]
        self.balls.read(at, rate)
        columns = self.torques.columns
        effort[columns] = self.torques.at(at[columns], rate[columns])
        self.balls.drive(effort)
        if self._torque_links:
            pb.setJointMotorControlArray(
                self._body,
                self._torque_links,
                pb.TORQUE_CONTROL,
                forces=effort[self.pushed].tolist(),
                physicsClientId=self._client,
            )
