"""Actuators of a robot in MuJoCo: velocity-level servos, and torques at the physics rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.force_kernel import (
    BALL,
    TORQUE,
    drive_torques,
)
from sim_bridge.engines.mujoco.row_kernel import SERVO, aim_servos, grip_screws
from sim_bridge.engines.mujoco.world import World
from sim_bridge.engines.shared.actuator_commands import (
    DEFAULT_GAIN,
    NO_LIMIT,
    SERVOS,
    Demands,
    Tensions,
    Torques,
)
from sim_bridge.engines.shared.laws import DAMPING


class Actuators:
    """
    Turns applied targets into MuJoCo's constraint rows and forces.

    A servo (``position``, ``velocity``) is MuJoCo's dry friction of the joint with the effort
    limit as its greatest torque, whose reference is not rest but the velocity ``feed-forward +
    gain * error``, clipped to the velocity limit. The constraint solver then finds, together
    with the contacts, the torque that reaches this velocity within one physics step, or the
    greatest one: what Bullet's motor constraint does. Dry friction acts on joints with torque, a
    servo contains it.

    Attributes
    ----------
    demands : Demands
    torques : Torques
    tensions : Tensions
    servo_table, torque_table, ball_table : SERVO, TORQUE and BALL arrays
        Servos are in the order of their constraint rows.
    row_count : int
        Constraint rows of mimic joints and servos; all others come after them.
    state : two arrays
        MuJoCo's ``qpos`` and ``qvel``.
    half_step : float [s]
        As of ``sum_torque_work``.
    has_servos, has_torques, has_forces : bool
        Whether the robot has servos and torques; whether ``apply_forces`` does anything.
    servos_only : bool
        Whether there is nothing but servos to ``select`` targets for.

    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene) -> None:
        self._world, self._step = world, scene.physics_step
        data = world.data
        self._data = data
        self.state, self._forces = (data.qpos, data.qvel), data.qfrc_applied
        self._lengths, self._rates = data.ten_length, data.ten_velocity
        self.demands = demands = Demands(robot, scene.physics_step)
        self.torques, self.tensions = Torques(demands), Tensions(demands, robot)
        # MuJoCo's controls are the tensions of the elements.
        self.tensions.applied = data.ctrl
        self.torque_table = self._make_torques(robot)
        self.ball_table = self._make_balls()
        self.has_torques = len(self.torque_table) > 0
        self._has_tensions = len(self.tensions.names) > 0
        # Along the angles of ball joints there is no acceleration at hand.
        self.half_step = 0.0 if len(self.ball_table) else 0.5 * scene.physics_step
        self._hinge: BoolArray = np.ones(len(demands.kinds), dtype=bool)
        self._hinge[[column for ball in world.fused.balls for column in ball.columns]] = False
        self._servo = np.isin(demands.kinds, SERVOS)
        friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        self._strength = np.where(self._servo, demands.effort_limit, friction)

    def _make_torques(self, robot: RobotModel) -> np.ndarray[Any, Any]:
        """Return the table of torques, to which ``torques`` writes from now."""
        torques, world = self.torques, self._world
        columns = torques.columns
        table = np.zeros(len(columns), dtype=TORQUE)
        table['joint'] = columns
        table['place'], table['dof'] = world.places[columns], world.dofs[columns]
        table['law'], table['constants'] = torques.laws, torques.constants
        table['carried'] = self._carry_damping(robot)
        torques.targets, torques.applied = table['target'].T, table['force']
        return table

    def _carry_damping(self, robot: RobotModel) -> FloatArray:
        """
        Let MuJoCo's joints carry the dampers of exponential springs; return what they carry, (t,).

        MuJoCo integrates its own damping implicitly, so that a light link may have a strong damper
        at a coarse step. Where a torque saturates, its damper must too, and stays in the law.
        """
        world, demands, columns = self._world, self.demands, self.torques.columns
        free = (demands.kinds == 'exponential') & (demands.effort_limit >= NO_LIMIT)
        for ball in world.fused.balls:
            free[ball.columns] = False
        carried = np.where(free[columns], self.torques.constants[:, DAMPING], 0.0)
        for column, more in zip(columns[free[columns]], carried[free[columns]], strict=True):
            own = robot.joint[robot.joint_names[column]].damping
            world.model.dof_damping[world.dofs[column]] = own + more
        return carried

    def _make_balls(self) -> np.ndarray[Any, Any]:
        """Return the table of ball joints, each of which has three torques."""
        world = self._world
        table = np.zeros(len(world.fused.balls), dtype=BALL)
        for row, ball in zip(table, world.fused.balls, strict=True):
            first = ball.columns[0]
            row['place'], row['dof'] = world.places[first], world.dofs[first]
            row['sign'], row['turn'], row['damping'] = ball.sign, ball.turn.ravel(), ball.damping
            row['torque'] = np.searchsorted(self.torques.columns, ball.columns)
        return table

    def order_of(self, joint: str) -> int:
        """Return the index of a joint's torque whose feed has no use of its own; else -1."""
        names = self._world.full.joint_names
        if joint not in names or self.demands.kinds[names.index(joint)] != 'exponential':
            return -1
        return int(np.flatnonzero(self.torques.columns == names.index(joint))[0])

    def _make_servos(self, strength: FloatArray, stiff: BoolArray) -> None:
        """Give every joint its greatest torque of a constraint; stiff ones hold a position."""
        world, demands = self._world, self.demands
        world.model.dof_frictionloss[world.dofs] = strength
        # MuJoCo's rows are in the order of its degrees of freedom, without those of no strength,
        # after one for each mimic joint.
        order = np.argsort(world.dofs)
        columns = order[strength[order] > 0.0]
        self.servo_table = table = np.zeros(len(columns), dtype=SERVO)
        self.row_count = world.model.neq + len(columns)
        table['joint'] = columns
        table['row'] = world.model.neq + np.arange(len(columns))
        table['place'], table['dof'] = world.places[columns], world.dofs[columns]
        table['moves'] = (self._servo & ~stiff)[columns]
        gain = np.where(stiff, min(DEFAULT_GAIN, 1.0 / self._step), demands.gain)
        # Undoes the softness of a joint that nothing else holds: its servo misses nothing.
        table['hardness'] = 1.0 / (self._step * world.options.servo_impedance)
        table['gain'], table['limit'] = gain[columns], demands.velocity_limit[columns]
        table['strength'] = demands.strength[columns]
        table['hold'] = demands.effort_limit[columns]
        table['raising'], table['lowering'] = demands.losses[:, columns]
        self.has_servos = bool(len(columns))
        self._has_screws = bool(np.isfinite(table['strength']).any())
        self.has_forces = self.has_torques or self._has_tensions or self._has_screws
        self.servos_only = self.has_servos and not (self.has_torques or self._has_tensions)

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a servo on joints with velocity or effort actuators too, for a robot that
        settles; without it they get zero velocity and effort, as ball joints always do.
        """
        loose = np.isin(self.demands.kinds, ('velocity', 'effort')) & stiff & self._hinge
        self._make_servos(np.where(loose, self.demands.effort_limit, self._strength), loose)
        self.demands.hold(positions)
        self.select(0)

    def release(self) -> None:
        """End a stiff hold."""
        self._make_servos(self._strength, np.zeros(len(self._servo), dtype=bool))
        self.select(0)

    def forget_work(self) -> None:
        """Let the work that was done until now not count."""
        for table in (self.servo_table, self.torque_table):
            table['signed'] = table['positive'] = 0.0

    def select(self, sample: int) -> None:
        """Put a sub-sample of the targets into force."""
        demands = self.demands
        if self.has_servos:
            aim_servos(self.servo_table, demands.position[sample], demands.velocity[sample])
        if self.has_torques:
            self.torques.select(sample)
        if self._has_tensions:
            self.tensions.select(sample)

    def apply_forces(self, elapsed: float) -> None:
        """
        Apply all that is no servo in a step whose first half is done; let screws stick.

        Parameters
        ----------
        elapsed : float [s]
            Since the sub-sample of the targets came into force.

        """
        qpos, qvel = self.state
        if self._has_screws:
            grip_screws(self.servo_table, qpos, qvel, self._data.efc_frictionloss)
        if self.has_torques:
            drive_torques(self.torque_table, self.ball_table, elapsed, qpos, qvel, self._forces)
        if self._has_tensions:
            self.tensions.at(self._lengths, self._rates)
