# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators in MuJoCo: servos as constraint rows, torques and tensions as forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import BoolArray, FloatArray
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.constraint_kernel import (
    SERVO,
    set_servo_targets,
    update_screw_locks,
)
from sim_bridge.engines.mujoco.force_kernel import (
    BALL,
    TORQUE,
    apply_torques,
)
from sim_bridge.engines.mujoco.world import World
from sim_bridge.engines.shared.actuator_targets import (
    DEFAULT_GAIN,
    NO_LIMIT,
    SERVO_KINDS,
    ActuatorTargets,
    ElementTensions,
    TorqueActuators,
)
from sim_bridge.engines.shared.force_laws import DAMPING


class Actuators:
    """
    Actuators of a robot as MuJoCo's constraint rows and forces.

    A servo (``position``, ``velocity``, ``lead_screw``) is the row of MuJoCo's dry friction of the
    joint, with the effort limit as the bound of its torque. Its reference is not rest, but the
    velocity ``velocity target + gain * position error``, clamped to the velocity limit. The solver
    finds, together with the contacts, the torque that reaches this velocity within one physics
    step, or the largest torque. This is the law of Bullet's motor constraint. Joints with a torque
    actuator keep their dry friction; a servo includes it.

    Attributes
    ----------
    actuator_targets : ActuatorTargets
    torques : TorqueActuators
    tensions : ElementTensions
    servo_table, torque_table, ball_table : SERVO, TORQUE and BALL arrays
        Servos in the order of their constraint rows.
    row_count : int
        Number of constraint rows of mimic joints and servos; all others come after them.
    state : two arrays
        MuJoCo's ``qpos`` and ``qvel``.
    half_step : float [s]
        As of ``add_torque_work``.
    has_servos, has_torques, has_forces : bool
        Whether the robot has servos; torques; anything that ``apply_forces`` applies.
    servos_only : bool
        Whether all targets are those of servos.

    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene) -> None:
        self._world, self._step = world, scene.physics_step
        data = world.data
        self._data = data
        self.state, self._forces = (data.qpos, data.qvel), data.qfrc_applied
        self._lengths, self._rates = data.ten_length, data.ten_velocity
        self.actuator_targets = actuator_targets = ActuatorTargets(robot, scene.physics_step)
        self.torques, self.tensions = (
            TorqueActuators(actuator_targets),
            ElementTensions(actuator_targets, robot),
        )
        # MuJoCo's controls are the tensions of the force elements: computed in place.
        self.tensions.efforts = data.ctrl
        self.torque_table = self._make_torques(robot)
        self.ball_table = self._make_balls()
        self.has_torques = len(self.torque_table) > 0
        self._has_tensions = len(self.tensions.names) > 0
        # The accelerations along the angles of ball joints are not available.
        self.half_step = 0.0 if len(self.ball_table) else 0.5 * scene.physics_step
        self._hinge: BoolArray = np.ones(len(actuator_targets.kinds), dtype=bool)
        self._hinge[[column for ball in world.merged.balls for column in ball.columns]] = False
        self._servo = np.isin(actuator_targets.kinds, SERVO_KINDS)
        friction = np.array([robot.joint[name].friction for name in robot.joint_names])
        self._strength = np.where(self._servo, actuator_targets.effort_limit, friction)

    def _make_torques(self, robot: RobotModel) -> np.ndarray[Any, Any]:
        """Return the table of torques; ``torques`` writes its targets and efforts to it."""
        torques, world = self.torques, self._world
        columns = torques.columns
        table = np.zeros(len(columns), dtype=TORQUE)
        table['joint'] = columns
        table['qpos_index'], table['dof_index'] = (
            world.qpos_index[columns],
            world.dof_index[columns],
        )
        table['law'], table['constants'] = torques.laws, torques.constants
        table['implicit_damping'] = self._carry_damping(robot)
        torques.targets, torques.efforts = table['target'].T, table['force']
        return table

    def _carry_damping(self, robot: RobotModel) -> FloatArray:
        """
        Move the dampers of exponential springs to MuJoCo's joints; return their damping, (t,).

        MuJoCo integrates the damping of joints implicitly, so that a light link can have a strong
        damper at a coarse step. An actuator with an effort limit keeps its damper in the law,
        because the limit applies to the sum of spring and damper.
        """
        world, actuator_targets, columns = self._world, self.actuator_targets, self.torques.columns
        free = (actuator_targets.kinds == 'exponential') & (
            actuator_targets.effort_limit >= NO_LIMIT
        )
        for ball in world.merged.balls:
            free[ball.columns] = False
        carried = np.where(free[columns], self.torques.constants[:, DAMPING], 0.0)
        for column, more in zip(columns[free[columns]], carried[free[columns]], strict=True):
            own = robot.joint[robot.joint_names[column]].damping
            world.model.dof_damping[world.dof_index[column]] = own + more
        return carried

    def _make_balls(self) -> np.ndarray[Any, Any]:
        """Return the table of ball joints, each with the indices of its three torques."""
        world = self._world
        table = np.zeros(len(world.merged.balls), dtype=BALL)
        for row, ball in zip(table, world.merged.balls, strict=True):
            first = ball.columns[0]
            row['qpos_index'], row['dof_index'] = world.qpos_index[first], world.dof_index[first]
            row['sign'], row['to_ball_axes'], row['damping'] = (
                ball.sign,
                ball.to_ball_axes.ravel(),
                ball.damping,
            )
            row['torque_index'] = np.searchsorted(self.torques.columns, ball.columns)
        return table

    def hold_torque_index(self, joint: str) -> int:
        """
        Return the index of the torque that decides whether the sole on a joint sticks, or -1.

        The sole sticks while the effort target of the torque is not negative. That target is free
        for this use only in the law ``exponential``, which does not read it.
        """
        names = self._world.robot.joint_names
        if joint not in names or self.actuator_targets.kinds[names.index(joint)] != 'exponential':
            return -1
        return int(np.flatnonzero(self.torques.columns == names.index(joint))[0])

    def _make_servos(self, strength: FloatArray, stiff: BoolArray) -> None:
        """
        Make the table of servos.

        Parameters
        ----------
        strength : (n,) array [N m or N]
            Bound of the constraint force of each joint; 0: the joint has no row.
        stiff : (n,) bool array
            Joints without a position servo that hold their position during settling.

        """
        world, actuator_targets = self._world, self.actuator_targets
        world.model.dof_frictionloss[world.dof_index] = strength
        # MuJoCo's rows: one for each mimic joint, then those of dry friction in the order of the
        # degrees of freedom, without those whose friction is 0.
        order = np.argsort(world.dof_index)
        columns = order[strength[order] > 0.0]
        self.servo_table = table = np.zeros(len(columns), dtype=SERVO)
        self.row_count = world.model.neq + len(columns)
        table['joint'] = columns
        table['row'] = world.model.neq + np.arange(len(columns))
        table['qpos_index'], table['dof_index'] = (
            world.qpos_index[columns],
            world.dof_index[columns],
        )
        table['rate_factor'] = (self._servo & ~stiff)[columns]
        gain = np.where(stiff, min(DEFAULT_GAIN, 1.0 / self._step), actuator_targets.gain)
        # A row of impedance d reaches the acceleration (1 - d) a_0 + d a_ref, a_0 without the row.
        # With a_ref = (commanded - v) / (h d) a joint that nothing else accelerates (a_0 = 0)
        # reaches the commanded velocity exactly, in one step h.
        table['hardness'] = 1.0 / (self._step * world.options.servo_impedance)
        table['gain'], table['velocity_limit'] = (
            gain[columns],
            actuator_targets.velocity_limit[columns],
        )
        table['strength'] = actuator_targets.strength[columns]
        table['holding_force'] = actuator_targets.effort_limit[columns]
        table['drive_ratio'], table['backdrive_ratio'] = actuator_targets.power_ratios[:, columns]
        self.has_servos = bool(len(columns))
        self._has_screws = bool(np.isfinite(table['strength']).any())
        self.has_forces = self.has_torques or self._has_tensions or self._has_screws
        self.servos_only = self.has_servos and not (self.has_torques or self._has_tensions)

    def hold_positions(self, positions: FloatArray, stiff: bool) -> None:
        """
        Hold joint positions until targets come.

        ``stiff`` puts a position servo on joints with velocity and effort actuators too, for a
        robot that settles. Otherwise their targets are zero velocity and effort, as always for
        ball joints.
        """
        loose = np.isin(self.actuator_targets.kinds, ('velocity', 'effort')) & stiff & self._hinge
        self._make_servos(
            np.where(loose, self.actuator_targets.effort_limit, self._strength), loose
        )
        self.actuator_targets.hold_positions(positions)
        self.select_sample(0)

    def end_hold(self) -> None:
        """End a stiff hold."""
        self._make_servos(self._strength, np.zeros(len(self._servo), dtype=bool))
        self.select_sample(0)

    def reset_work(self) -> None:
        """Set the work of all joints to zero."""
        for table in (self.servo_table, self.torque_table):
            table['work'] = table['positive_work'] = 0.0

    def select_sample(self, sample: int) -> None:
        """Apply a sub-sample of the targets from now on."""
        actuator_targets = self.actuator_targets
        if self.has_servos:
            set_servo_targets(
                self.servo_table,
                actuator_targets.position[sample],
                actuator_targets.velocity[sample],
            )
        if self.has_torques:
            self.torques.select_sample(sample)
        if self._has_tensions:
            self.tensions.select_sample(sample)

    def apply_forces(self, elapsed: float) -> None:
        """
        Apply torques and tensions between the halves of a step; lock or release lead screws.

        Parameters
        ----------
        elapsed : float [s]
            Time since the sub-sample of the targets came into force.

        """
        qpos, qvel = self.state
        if self._has_screws:
            update_screw_locks(self.servo_table, qpos, qvel, self._data.efc_frictionloss)
        if self.has_torques:
            apply_torques(self.torque_table, self.ball_table, elapsed, qpos, qvel, self._forces)
        if self._has_tensions:
            self.tensions.compute(self._lengths, self._rates)
