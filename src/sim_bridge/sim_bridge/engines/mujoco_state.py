"""Observations read from a MuJoCo world."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.bounds import check_state
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_world import World
from sim_bridge.engines.rigid import quaternion_of

ROOT = 1
"""MuJoCo's index of the root link; 0 is the world."""
# Warnings after which a state is no physics.
_FATAL = np.array(
    [
        int(getattr(mj.mjtWarning, name))
        for name in ('mjWARN_BADQPOS', 'mjWARN_BADQVEL', 'mjWARN_BADQACC', 'mjWARN_CNSTRFULL')
    ]
)
_XYZW, _WXYZ = np.array([1, 2, 3, 0]), np.array([3, 0, 1, 2])


class StateReader:
    """
    Reads the state of the robot in a world, once per control period.

    The specific force of the IMU is the change of its velocity over the last control period, as
    an inertial sensor reports that integrates between its samples; the first one after a reset
    counts the robot as at rest before. Contacts are those of the last physics step: their points
    are where they were at its start, on the ground.
    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene) -> None:
        self._world, self._robot = world, robot
        self._model, self._data = world.model, world.data
        self._period = scene.control_period
        self._gravity = np.array(scene.gravity)
        self._fixed = scene.fixed_base
        self._rubs = scene.friction > 0.0
        places = world.fused.places
        imu_link = robot.imu_link or robot.links[0].name
        if imu_link not in places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{imu_link}' is no link")
        mount = places[imu_link]
        self._imu_body = world.body(mount.link)
        self._imu_lever = mount.position
        self._imu_turn: FloatArray = quaternion_of(mount.rotation)[_WXYZ]
        self._imu_velocity: FloatArray | None = None
        self._velocity: FloatArray = np.empty(3)
        carriers = [world.body(world.fused.carrier(sole)) for sole in robot.soles]
        sole_of = {body: i for i, body in reversed(list(enumerate(carriers)))}
        self._sole_of: IntArray = np.array(
            [sole_of.get(body, -1) for body in world.model.geom_bodyid.tolist()], dtype=np.int64
        )

    def read(self, tick: int, motors: Motors) -> Observation:
        """
        Return the state at a control tick.

        Raises
        ------
        SimulationDiverged
            If it is not finite or beyond any physics.

        """
        world, data = self._world, self._data
        self._check_warnings(tick)
        positions, velocities = data.qpos[world.places], data.qvel[world.dofs]
        root = self._moving(ROOT)
        pose, twist = np.empty((1, 7)), np.empty((1, 6))
        pose[0, :3], pose[0, 3:] = root[0], root[1][_XYZW]
        twist[0, :3], twist[0, 3:] = root[2:]
        check_state(tick, pose[0].tolist(), twist[0].tolist(), positions, velocities)
        efforts = motors.efforts()
        contacts = self._contacts()
        for array in (positions, velocities, efforts, pose, twist):
            array.flags.writeable = False
        return Observation(
            tick=tick,
            time=tick * self._period,
            joint_names=self._robot.joint_names,
            joint_positions=positions,
            joint_velocities=velocities,
            joint_efforts=efforts,
            body_names=self._robot.roots,
            body_poses=pose,
            body_twists=twist,
            imu=self._imu(root if self._imu_body == ROOT else self._moving(self._imu_body)),
            contacts=contacts,
        )

    def _check_warnings(self, tick: int) -> None:
        counts = self._data.warning.number[_FATAL]
        if counts.any():
            kind = int(_FATAL[np.argmax(counts)])
            where = int(self._data.warning[kind].lastinfo)
            raise SimulationDiverged(
                f'the physics left its range before tick {tick}: {mj.mju_warningText(kind, where)}'
            )

    def _moving(self, body: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return place, quaternion w, x, y, z, velocity and rate of a body's frame in ``odom``."""
        model, data = self._model, self._data
        if body == ROOT and not self._fixed:
            turn, rate = data.qpos[3:7], np.empty(3)
            # MuJoCo gives the rate of a free body in the body's own axes.
            mj.mju_rotVecQuat(rate, data.qvel[3:6], turn)
            return data.qpos[:3], turn, data.qvel[:3], rate
        # MuJoCo's frames are those of the start of the last step.
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        twist = np.empty(6)
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, body, twist, 0)
        return data.xpos[body], data.xquat[body], twist[3:], twist[:3]

    def _imu(self, body: tuple[FloatArray, FloatArray, FloatArray, FloatArray]) -> Imu:
        """Return the reading of the sensor on a moving body."""
        _, turn, linear, rate = body
        arm, back, link = np.empty(3), np.empty(4), np.empty(4)
        mj.mju_rotVecQuat(arm, self._imu_lever, turn)
        mj.mju_mulQuat(link, turn, self._imu_turn)
        mj.mju_negQuat(back, link)
        mj.mju_cross(self._velocity, rate, arm)
        velocity = linear + self._velocity
        before = velocity if self._imu_velocity is None else self._imu_velocity
        self._imu_velocity = velocity
        felt = (velocity - before) / self._period - self._gravity
        rate_there, felt_there = np.empty(3), np.empty(3)
        mj.mju_rotVecQuat(rate_there, rate, back)
        mj.mju_rotVecQuat(felt_there, felt, back)
        return Imu(
            orientation=link[_XYZW], angular_velocity=rate_there, linear_acceleration=felt_there
        )

    def _contacts(self) -> Contacts:
        data, soles = self._data, self._robot.soles
        if not data.ncon:
            return Contacts(soles=soles)
        found = data.contact
        # The ground is of the first two kinds of geometry: always the first of a pair.
        rows = np.flatnonzero((found.geom[:, 0] == self._world.ground) & (found.efc_address >= 0))
        if not len(rows):
            return Contacts(soles=soles)
        depth = -found.dist[rows]
        frames = found.frame[rows].reshape(-1, 3, 3)
        # MuJoCo's points are midway between the two surfaces.
        points = found.pos[rows] + 0.5 * depth[:, None] * frames[:, 0]
        return Contacts(
            soles=soles,
            sole=self._sole_of[found.geom[rows, 1]],
            points=points,
            forces=(self._forces(found, rows)[:, None] @ frames)[:, 0],
            depths=depth,
        )

    def _forces(self, found: Any, rows: IntArray) -> FloatArray:
        """Return the forces on the robot, (c, 3) [N], in the contacts' frames."""
        data = self._data
        at = found.efc_address[rows]
        # A contact without friction has one row.
        shared = np.arange(3) if self._rubs else np.zeros(1, dtype=np.int64)
        forces: FloatArray = np.zeros((len(rows), 3))
        forces[:, : len(shared)] = data.efc_force[at[:, None] + shared]
        return forces
