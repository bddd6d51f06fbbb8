# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Observations of a robot in MuJoCo."""

from __future__ import annotations

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import SimulationDiverged
from gait_core.motion.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Scene
from sim_bridge.engines.mujoco.actuators import Actuators
from sim_bridge.engines.mujoco.client import mj
from sim_bridge.engines.mujoco.force_kernel import read_balls
from sim_bridge.engines.mujoco.ground import ContactLaw
from sim_bridge.engines.mujoco.read_kernel import (
    IMU,
    contact_views,
    has_warning,
    read_contacts,
    read_imu,
    read_robot,
)
from sim_bridge.engines.mujoco.world import World
from sim_bridge.engines.shared.rigid_states import StateLayout
from sim_bridge.engines.shared.rotations import quaternion_from_matrix

ROOT_BODY = 1
"""MuJoCo's index of the root link; 0 is the world."""
# Warnings after which a state is not valid: MuJoCo drops forces and constraints that are bad or
# for which it has no memory, and goes on.
_FATAL_WARNINGS = np.array(
    [
        int(getattr(mj.mjtWarning, f'mjWARN_{name}'))
        for name in ('BADQPOS', 'BADQVEL', 'BADQACC', 'BADCTRL', 'CNSTRFULL', 'CONTACTFULL')
    ]
)
_XYZW = np.array([1, 2, 3, 0])


class StateReader:
    """
    Reader of observations, once per control period.

    The specific force of the IMU is the mean over the last control period, as of a sensor that
    integrates between its samples: change of velocity over the period, minus gravity. At the
    first reading after a reset the velocity counts as unchanged. Contacts are those of the last
    physics step, with their points on the ground at its start.

    Attributes
    ----------
    imu : (1,) IMU array

    """

    def __init__(
        self, world: World, robot: RobotModel, scene: Scene, actuators: Actuators
    ) -> None:
        self._layout = StateLayout(robot, scene.control_period, sums_work=True)
        self._world, self._actuators = world, actuators
        self._model, self._data = world.model, world.data
        self._warnings = world.data.warning.number
        self._joints: IntArray = np.array([world.qpos_index, world.dof_index])
        self._ball_columns: IntArray = np.array(
            [ball.columns for ball in world.merged.balls], dtype=np.int64
        )
        self._free = not scene.fixed_base
        self._find_imu(robot, scene)
        carriers = [world.body_index(world.merged.carrier_of(sole)) for sole in robot.soles]
        sole_of = {body: i for i, body in reversed(list(enumerate(carriers)))}
        self._sole_of: IntArray = np.array(
            [sole_of.get(body, -1) for body in world.model.geom_bodyid.tolist()], dtype=np.int64
        )

    def _find_imu(self, robot: RobotModel, scene: Scene) -> None:
        mount = self._world.merged.frames[robot.imu_link or robot.links[0].name]
        self._imu_body = self._world.body_index(mount.link)
        self.imu = np.zeros(1, dtype=IMU)
        self.imu['lever'], self.imu['mount'] = (
            mount.position,
            quaternion_from_matrix(mount.rotation),
        )
        self.imu['gravity'], self.imu['period'] = scene.gravity, scene.control_period

    def read(self, tick: int, contact_law: ContactLaw) -> Observation:
        """
        Return the observation at a tick; contacts include the pulls of stuck soles.

        Raises
        ------
        SimulationDiverged
            If MuJoCo warned, or a value is not finite or beyond its limit.

        """
        if has_warning(self._warnings, _FATAL_WARNINGS):
            raise self._warned(tick)
        layout, actuators, tensions = self._layout, self._actuators, self._actuators.tensions
        row = layout.new_row()
        read_robot(
            actuators.state,
            self._joints,
            actuators.servo_table,
            actuators.torque_table,
            self._free,
            row,
        )
        if len(self._ball_columns):
            self._read_balls(row)
        root = row[layout.root]
        if not self._free:
            self._read_body(ROOT_BODY, root)
        carrier = root
        if self._imu_body != ROOT_BODY:
            carrier = np.empty(13)
            self._read_body(self._imu_body, carrier)
        read_imu(self.imu, carrier, row[layout.imu])
        layout.check_row(tick, row)
        contacts = self._contacts(contact_law)
        if tensions.names:
            self._update_tendons()
        return layout.observation(tick, row, contacts, self._data.ten_length, tensions.efforts)

    def _warned(self, tick: int) -> SimulationDiverged:
        warnings = self._data.warning
        kind = int(_FATAL_WARNINGS[np.argmax(warnings.number[_FATAL_WARNINGS])])
        text = mj.mju_warningText(kind, int(warnings[kind].lastinfo))
        return SimulationDiverged(f'the simulation diverged before tick {tick}: {text}')

    def _read_balls(self, row: FloatArray) -> None:
        """Write the angles of ball joints and their rates into a row."""
        layout, columns, balls = self._layout, self._ball_columns, self._actuators.ball_table
        read_balls(balls, *self._actuators.state)
        row[layout.positions][columns] = balls['angle']
        row[layout.velocities][columns] = balls['rate']

    def _update_tendons(self) -> None:
        """Compute the lengths of tendons at the end of the last step; MuJoCo has its start."""
        mj.mj_kinematics(self._model, self._data)
        mj.mj_comPos(self._model, self._data)
        mj.mj_tendon(self._model, self._data)

    def _read_body(self, body: int, frame: FloatArray) -> None:
        """Write pose and twist of a body's frame in ``odom``, (13,)."""
        model, data = self._model, self._data
        # After mj_step2 the frames are still those of the start of the step: compute them anew.
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        twist = np.empty(6)
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, body, twist, 0)
        frame[:3], frame[3:7] = data.xpos[body], data.xquat[body][_XYZW]
        frame[7:10], frame[10:] = twist[3:], twist[:3]

    def _contacts(self, contact_law: ContactLaw) -> Contacts | None:
        """Return the contacts with the ground in the last step; ``None`` without contacts."""
        data = self._data
        soles: IntArray = np.empty(data.ncon, dtype=np.int64)
        found: FloatArray = np.empty((data.ncon, 7))
        count = read_contacts(
            contact_views(data), data.efc_force, self._world.ground, self._sole_of, soles, found
        )
        soles, found = soles[:count], found[:count]
        if len(contact_law.soles):
            # The pull on a stuck sole is a force of the ground too, at its anchor.
            pulled, pulls = contact_law.sole_contacts()
            soles, found = np.concatenate([soles, pulled]), np.concatenate([found, pulls])
        return self._layout.contacts(soles, found) if len(soles) else None
