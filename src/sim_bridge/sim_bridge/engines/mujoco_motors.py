"""Actuators of a robot in MuJoCo: velocity-level servos, and torques at the physics rate."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import BoolArray, FloatArray, IntArray
from gait_core.robot.model import RobotModel
from gait_core.targets import AppliedTargets
from sim_bridge.engines.demands import DEFAULT_GAIN, SERVOS, Demands, Torques
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_world import World


class Motors:
    """
    Turns applied targets into MuJoCo's constraint rows and torques.

    A servo (``position``, ``velocity``) is MuJoCo's dry friction of the joint with the effort
    limit as its greatest torque, whose reference is not rest but the velocity ``feed-forward +
    gain * error``, clipped to the velocity limit. The constraint solver then finds, together
    with the contacts, the torque that reaches this velocity within one physics step, or the
    greatest one: what Bullet's motor constraint does. The reference is written into the rows
    between the two halves of a step. A torque (``pd``, ``effort``) is applied as a force; dry
    friction acts on joints with torque, a servo contains it.

    Attributes
    ----------
    demands : Demands
    torques : Torques

    """

    def __init__(
        self, world: World, robot: RobotModel, physics_step: float, options: MujocoOptions
    ) -> None:
        self._world, self._data = world, world.data
        self.demands = demands = Demands('mujoco', robot, physics_step)
        self.torques = Torques(demands)
        self._dt = physics_step
        # Undoes the softness of a joint that nothing else holds: the servo then misses nothing.
        self._rate_of_reference = 1.0 / (physics_step * options.servo_impedance)
        self._servo = np.isin(demands.kinds, SERVOS)
        friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        self._strength = np.where(self._servo, demands.effort_limit, friction)
        self._torque_places = world.places[self.torques.columns]
        self._torque_dofs = world.dofs[self.torques.columns]
        self._set_rows(self._strength, np.zeros(len(self._servo), dtype=bool))

    def _set_rows(self, strength: FloatArray, stiff: BoolArray) -> None:
        """Give every joint its greatest torque of a constraint; stiff ones hold a position."""
        world, demands = self._world, self.demands
        world.model.dof_frictionloss[world.dofs] = strength
        # MuJoCo's rows are in the order of its degrees of freedom, without those of no strength.
        order = np.argsort(world.dofs)
        self._columns: IntArray = order[strength[order] > 0.0]
        columns = self._columns
        self._places, self._dofs = world.places[columns], world.dofs[columns]
        gain = np.where(stiff, min(DEFAULT_GAIN, 1.0 / self._dt), demands.gain)
        self._gain = gain[columns]
        self._limit = demands.velocity_limit[columns]
        self._lowest = -self._limit
        self._moves = (self._servo & ~stiff)[columns].astype(np.float64)
        self._wanted, self._now = np.zeros(len(columns)), np.zeros(len(columns))
        first = int(world.model.neq)
        self._rows = slice(first, first + len(columns))

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a servo on joints with velocity or effort actuators too, for a robot that
        settles; without it they get zero velocity and effort.
        """
        loose = np.isin(self.demands.kinds, ('velocity', 'effort')) & stiff
        strength = np.where(loose, self.demands.effort_limit, self._strength)
        self._set_rows(strength, loose)
        self.demands.hold(positions)
        self.select(0)

    def release(self) -> None:
        """End a stiff hold."""
        self._set_rows(self._strength, np.zeros(len(self._servo), dtype=bool))
        self.select(0)

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """Take the targets of a control period as ``Demands.take`` does."""
        return self.demands.take(targets, steps)

    def select(self, sample: int) -> None:
        """Put a sub-sample of the demands into force."""
        self._aim = self.demands.position[sample, self._columns]
        self._rate = self.demands.velocity[sample, self._columns] * self._moves
        self.torques.select(sample)

    def drive(self) -> None:
        """Set references and torques of a physics step whose first half is done."""
        data = self._data
        wanted, now = self._wanted, self._now
        if len(wanted):
            data.qpos.take(self._places, out=wanted, mode='clip')
            data.qvel.take(self._dofs, out=now, mode='clip')
            np.subtract(self._aim, wanted, out=wanted)
            np.multiply(wanted, self._gain, out=wanted)
            np.add(wanted, self._rate, out=wanted)
            np.minimum(wanted, self._limit, out=wanted)
            np.maximum(wanted, self._lowest, out=wanted)
            np.subtract(wanted, now, out=wanted)
            np.multiply(wanted, self._rate_of_reference, out=wanted)
            data.efc_aref[self._rows] = wanted
        if len(self._torque_dofs):
            data.qfrc_applied[self._torque_dofs] = self.torques.at(
                data.qpos[self._torque_places], data.qvel[self._torque_dofs]
            )

    def efforts(self) -> FloatArray:
        """Return the efforts of the actuators in the last physics step, (n,) [N m or N]."""
        efforts: FloatArray = np.zeros(len(self._servo))
        force = self._data.efc_force
        if len(force):
            efforts[self._columns] = force[self._rows]
        self.torques.write(efforts)
        return efforts
