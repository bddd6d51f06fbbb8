"""Observations read from a Bullet world."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, SimulationDiverged
from gait_core.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.rigid import inverse, matrix_of, product, quaternion_of, velocity_at

FAR = 1e3
"""Distance [m] and speed [m/s, rad/s] beyond which a state is no physics."""


class StateReader:
    """
    Reads the state of the robot in a world, once per control period.

    The specific force of the IMU is the change of its velocity over the last control period, as
    an inertial sensor reports that integrates between its samples; the first one after a reset
    counts the robot as at rest before. Contacts are those of the last physics step: their points
    are where they were at its start.
    """

    def __init__(self, world: World, robot: RobotModel, scene: Scene) -> None:
        self._world, self._robot = world, robot
        self._client, self._body, self._ground = world.client, world.body, world.ground
        self._links = [world.joint[name] for name in robot.joint_names]
        self._period = scene.control_period
        self._gravity = np.array(scene.gravity)
        self._com, inertial_turn = world.inertial(-1)
        self._link_turn = inverse(inertial_turn)
        self._bind_imu(robot)
        carriers = [world.link[world.model.carrier(sole)] for sole in robot.soles]
        self._sole_of = {index: i for i, index in reversed(list(enumerate(carriers)))}
        self._imu_velocity: FloatArray | None = None

    def _bind_imu(self, robot: RobotModel) -> None:
        name = robot.imu_link or robot.links[0].name
        if name not in self._world.model.places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{name}' is no link")
        self._imu_place = self._world.model.places[name]
        self._imu_carrier = self._world.link[self._imu_place.link]
        self._imu_turn = quaternion_of(self._imu_place.rotation)
        if self._imu_carrier >= 0:
            # Bullet gives a moving link by its inertial frame, and its link frame only rounded.
            com, inertial_turn = self._world.inertial(self._imu_carrier)
            self._imu_lever = matrix_of(inverse(inertial_turn)) @ (self._imu_place.position - com)
            self._imu_turn = product(inverse(inertial_turn), self._imu_turn)

    def read(self, tick: int, motors: Motors) -> Observation:
        """
        Return the state at a control tick.

        Raises
        ------
        SimulationDiverged
            If it is not finite or beyond any physics.

        """
        positions, velocities, efforts = self._joints(motors)
        pose, twist = self._root()
        _check(tick, pose, twist, positions, velocities)
        poses, twists = pose[None], twist[None]
        for array in (positions, velocities, efforts, poses, twists):
            array.flags.writeable = False
        return Observation(
            tick=tick,
            time=tick * self._period,
            joint_names=self._robot.joint_names,
            joint_positions=positions,
            joint_velocities=velocities,
            joint_efforts=efforts,
            body_names=self._robot.roots,
            body_poses=poses,
            body_twists=twists,
            imu=self._imu(pose, twist),
            contacts=self._contacts(),
        )

    def _joints(self, motors: Motors) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not self._links:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        states = pb.getJointStates(self._body, self._links, self._client)
        positions, velocities, _, efforts = zip(*states, strict=True)
        applied = np.array(efforts)
        motors.add_torques(applied)
        return np.array(positions), np.array(velocities), applied

    def _root(self) -> tuple[FloatArray, FloatArray]:
        """Return pose and twist of the root's link frame; Bullet's are the inertial frame's."""
        com, turn = pb.getBasePositionAndOrientation(self._body, self._client)
        linear, angular = pb.getBaseVelocity(self._body, self._client)
        turn = product(turn, self._link_turn)
        lever = -(matrix_of(turn) @ self._com)
        return (
            np.concatenate([com + lever, turn]),
            np.concatenate([velocity_at(lever, linear, angular), angular]),
        )

    def _imu(self, pose: FloatArray, twist: FloatArray) -> Imu:
        if self._imu_carrier < 0:
            turn, linear, angular = pose[3:], twist[:3], twist[3:]
            lever = matrix_of(turn) @ self._imu_place.position
        else:
            # Without forward kinematics Bullet's link frames are one step behind its joints.
            state = pb.getLinkState(self._body, self._imu_carrier, 1, 1, self._client)
            turn, linear, angular = state[1], state[6], np.array(state[7])
            lever = matrix_of(turn) @ self._imu_lever
        turn = product(turn, self._imu_turn)
        to_link = matrix_of(turn).T
        velocity = velocity_at(lever, linear, angular)
        before = velocity if self._imu_velocity is None else self._imu_velocity
        self._imu_velocity = velocity
        return Imu(
            orientation=turn,
            angular_velocity=to_link @ angular,
            linear_acceleration=to_link @ ((velocity - before) / self._period - self._gravity),
        )

    def _contacts(self) -> Contacts:
        found = [
            point
            for point in pb.getContactPoints(
                self._body, self._ground, physicsClientId=self._client
            )
            # Bullet also lists points that are near but do not touch.
            if point[9] > 0.0 or point[8] < 0.0
        ]
        if not found:
            return Contacts(soles=self._robot.soles)
        return Contacts(
            soles=self._robot.soles,
            sole=np.array([self._sole_of.get(point[3], -1) for point in found], dtype=np.int64),
            points=np.array([point[6] for point in found]),
            forces=np.array([_force(point) for point in found]),
            depths=np.array([-point[8] for point in found]),
        )


def _force(point: Any) -> tuple[float, float, float]:
    """Return the force on the robot: along the normal and both directions of friction."""
    n, normal, along_1, d1, along_2, d2 = (
        point[7],
        point[9],
        point[10],
        point[11],
        point[12],
        point[13],
    )
    return (
        normal * n[0] + along_1 * d1[0] + along_2 * d2[0],
        normal * n[1] + along_1 * d1[1] + along_2 * d2[1],
        normal * n[2] + along_1 * d1[2] + along_2 * d2[2],
    )


def _check(
    tick: int, pose: FloatArray, twist: FloatArray, positions: FloatArray, velocities: FloatArray
) -> None:
    far = float(np.abs(pose[:3]).max())
    fast = float(np.abs(twist).max())
    spin = float(np.abs(velocities).max(initial=0.0))
    # Every comparison with NaN is false, and NumPy's maxima keep it.
    if not (far < FAR and fast < FAR and spin < FAR and np.isfinite(positions.sum())):
        raise SimulationDiverged(
            f'the physics left its range at tick {tick}: base {far:.3g} m away at {fast:.3g} m/s '
            f'or rad/s, fastest joint at {spin:.3g} per s'
        )
