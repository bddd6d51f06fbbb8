"""Observations read from a Bullet world."""

from __future__ import annotations

from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.observation import Contacts, Imu, Observation
from gait_core.robot.model import RobotModel
from gait_core.scene import Scene
from sim_bridge.engines.bounds import check_state
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.fused import Place, origin_of
from sim_bridge.engines.rigid import inverse, matrix_of, product, quaternion_of

Row = tuple[float, ...]
BodyState = tuple[Row, Row, Row, Row]
"""Position, quaternion, linear and angular velocity."""


def body_state(body: int, index: int, client: int) -> BodyState:
    """Return pose and twist of a link's inertial frame, which is what Bullet moves."""
    if index < 0:
        return (
            *pb.getBasePositionAndOrientation(body, client),
            *pb.getBaseVelocity(body, client),
        )
    # Without forward kinematics Bullet's links are one step behind its joints.
    state = pb.getLinkState(body, index, 1, 1, client)
    return state[0], state[1], state[6], state[7]


class Mount:
    """A frame fixed to a link, seen from the inertial frame that Bullet gives for that link."""

    def __init__(self, world: World, place: Place) -> None:
        self.carrier = world.link[place.link]
        com, inertial_turn = world.inertial(self.carrier)
        back = inverse(inertial_turn)
        self._lever = matrix_of(back) @ (place.position - com)
        turn = product(back, quaternion_of(place.rotation))
        self._turn = None if np.array_equal(turn, (0.0, 0.0, 0.0, 1.0)) else tuple(turn.tolist())

    def seen(self, at: Row, turn: Row, linear: Row, angular: Row) -> tuple[Row, Row, Row]:
        """Return position, quaternion and velocity in ``odom`` from those of the carrier."""
        matrix = np.array(pb.getMatrixFromQuaternion(turn)).reshape(3, 3)
        x, y, z = (matrix @ self._lever).tolist()
        wx, wy, wz = angular
        return (
            (at[0] + x, at[1] + y, at[2] + z),
            turn if self._turn is None else tuple(product(turn, self._turn).tolist()),
            (
                linear[0] + wy * z - wz * y,
                linear[1] + wz * x - wx * z,
                linear[2] + wx * y - wy * x,
            ),
        )


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
        self._root_mount = Mount(world, origin_of(robot.links[0].name))
        imu_link = robot.imu_link or robot.links[0].name
        if imu_link not in world.model.places:
            raise ConfigurationError(f"robot '{robot.name}': imu_link '{imu_link}' is no link")
        self._imu_mount = Mount(world, world.model.places[imu_link])
        self._imu_is_root = imu_link == robot.links[0].name
        self._imu_velocity: FloatArray | None = None
        carriers = [world.link[world.model.carrier(sole)] for sole in robot.soles]
        self._sole_of = {index: i for i, index in reversed(list(enumerate(carriers)))}

    def read(self, tick: int, motors: Motors) -> Observation:
        """
        Return the state at a control tick.

        Raises
        ------
        SimulationDiverged
            If it is not finite or beyond any physics.

        """
        positions, velocities, efforts = self._joints(motors)
        body = body_state(self._body, -1, self._client)
        at, turn, linear = self._root_mount.seen(*body)
        pose, twist = (*at, *turn), (*linear, *body[3])
        check_state(tick, pose, twist, positions, velocities)
        poses, twists = np.array([pose]), np.array([twist])
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
            imu=self._imu(body, turn, linear),
            contacts=self._contacts(),
        )

    def _joints(self, motors: Motors) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not self._links:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        states = pb.getJointStates(self._body, self._links, self._client)
        positions, velocities, _, efforts = zip(*states, strict=True)
        applied = np.array(efforts)
        motors.torques.write(applied)
        return np.array(positions), np.array(velocities), applied

    def _imu(self, body: BodyState, turn: Row, linear: Row) -> Imu:
        """Return the reading; given are the root's carrier and what the root link does."""
        if not self._imu_is_root:
            carrier = self._imu_mount.carrier
            if carrier >= 0:
                body = body_state(self._body, carrier, self._client)
            _, turn, linear = self._imu_mount.seen(*body)
        velocity = np.array(linear)
        before = velocity if self._imu_velocity is None else self._imu_velocity
        self._imu_velocity = velocity
        to_link = np.array(pb.getMatrixFromQuaternion(turn)).reshape(3, 3).T
        return Imu(
            orientation=np.array(turn),
            angular_velocity=to_link @ np.array(body[3]),
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
