# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot and terrain of a scene in a PyBullet client, loaded anew at every reset."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
import math

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain
from gait_core.trial.scene import Scene
from sim_bridge.engines.bullet.client import connect, disconnect, pb
from sim_bridge.engines.bullet.description import (
    check_visual_meshes,
    description_files,
    written_description,
)
from sim_bridge.engines.bullet.ground import add_ground
from sim_bridge.engines.bullet.options import BulletOptions
from sim_bridge.engines.shared.actuator_targets import NO_LIMIT
from sim_bridge.engines.shared.ball_joints import ball_quaternion
from sim_bridge.engines.shared.merged_joints import MergedRobot, merge_joints
from sim_bridge.engines.shared.rotations import matrix_from_quaternion, multiply_quaternions
from sim_bridge.engines.shared.scene_checks import check_root_link
from sim_bridge.engines.shared.scene_engine import SceneStart

MIMIC_GEAR_EFFORT = 1e6
"""Effort limit [N m or N] of the gear of a mimic joint, above that of any motor."""

MAX_JOINTS = 121
"""Largest number of moving joints: PyBullet's states hold 128 numbers, 7 of them of the base."""


class World:
    """
    A client with the robot and the ground of one scene.

    Attributes
    ----------
    client, body, ground : int
        PyBullet's ids.
    robot : RobotModel
        The robot as described.
    merged : MergedRobot
        The robot as loaded, with merged joints.
    joint_index : mapping of str to int
        Bullet's index of each joint, which is also that of its child link.
    actuated_index : mapping of str to int
        Bullet's index of each joint of ``joint_names``; the three of a ball joint share one.
    link_index : mapping of str to int
        Bullet's index of each link of the merged robot; -1 is the root.

    """

    def __init__(self, mode: int = pb.DIRECT, *, visuals: bool = False) -> None:
        self._visuals = visuals
        self.client = connect(mode)
        self._files: tuple[MergedRobot, dict[str, str]] | None = None
        self._field: tuple[HeightField, list[float]] | None = None

    def close(self) -> None:
        """End the client."""
        disconnect(self.client)

    def rebuild(self, start: SceneStart) -> None:
        """Empty the client; load the scene with the robot at its start, every joint at rest."""
        scene, options = start.scene, start.options
        self.robot, self.merged = start.robot, merge_joints(start.robot)
        check_root_link('bullet', scene, self.merged.robot)
        _check_joint_count(self.merged.robot)
        pb.resetSimulation(physicsClientId=self.client)
        set_physics_parameters(self.client, scene, options)
        self._add_ground(start.terrain)
        self._load(
            scene.fixed_base,
            pb.URDF_USE_SELF_COLLISION | pb.URDF_USE_SELF_COLLISION_EXCLUDE_PARENT
            if options.self_collision
            else 0,
        )
        self._set_surfaces(scene)
        self._set_dynamics()
        self._couple_mimics()
        self.set_state(start.pose, start.joint_positions)
        if options.self_collision:
            self._separate_overlapping()

    def load_for_display(self, robot: RobotModel) -> None:
        """Empty the client and load a robot for pictures, which is posed but never stepped."""
        self.robot, self.merged = robot, merge_joints(robot)
        pb.resetSimulation(physicsClientId=self.client)
        pb.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=self.client)
        self._load(fixed_base=True)

    def set_state(self, pose: FloatArray, positions: FloatArray) -> None:
        """Set the pose of the root link and the positions of the joints, all at rest."""
        set_base_pose(self.client, self.body, pose)
        robot = self.merged.robot
        value = dict(zip(robot.joint_names, positions.tolist(), strict=True))
        for joint in robot.joints:
            if joint.mimic is not None:
                # A leader that is passive starts at zero.
                leader = value.get(joint.mimic.joint, 0.0)
                value[joint.name] = joint.mimic.multiplier * leader + joint.mimic.offset
        for name, position in value.items():
            if name in self.joint_index:
                pb.resetJointState(
                    self.body, self.joint_index[name], position, 0.0, physicsClientId=self.client
                )
        for ball in self.merged.balls:
            pb.resetJointStateMultiDof(
                self.body,
                self.joint_index[ball.name],
                ball_quaternion(ball, positions[ball.columns]).tolist(),
                [0.0, 0.0, 0.0],
                physicsClientId=self.client,
            )

    def inertial_frame(self, link: int) -> tuple[FloatArray, FloatArray]:
        """Return position (3,) [m] and quaternion (4,) of a link's inertial frame in the link."""
        dynamics = pb.getDynamicsInfo(self.body, link, physicsClientId=self.client)
        return np.array(dynamics[3]), np.array(dynamics[4])

    def _add_ground(self, terrain: Terrain) -> None:
        field = terrain.heightfield
        heights = [] if field is None else self._heights(field)
        self.ground: int = add_ground(terrain, heights, self.client)

    def _heights(self, field: HeightField) -> list[float]:
        if self._field is None or self._field[0] is not field:
            self._field = field, field.heights.ravel().tolist()
        return self._field[1]

    def _load(self, fixed_base: bool, flags: int = 0) -> None:
        """Load the robot, and find Bullet's numbers of its joints and links."""
        flags |= pb.URDF_USE_INERTIA_FROM_FILE
        if not self._visuals:
            flags |= pb.URDF_IGNORE_VISUAL_SHAPES
        robot = self.merged.robot
        if self._files is None or self._files[0] is not self.merged:
            self._files = self.merged, description_files(robot, visuals=self._visuals)
        with written_description(self._files[1]) as file:
            if self._visuals:
                check_visual_meshes(robot, file)
            try:
                self.body: int = pb.loadURDF(
                    file, flags=flags, useFixedBase=fixed_base, physicsClientId=self.client
                )
            except pb.error as error:
                raise ConfigurationError(
                    f"robot '{robot.name}': Bullet cannot load it: {error}"
                ) from None
        self.joint_index: Mapping[str, int] = {
            pb.getJointInfo(self.body, i, physicsClientId=self.client)[1].decode(): i
            for i in range(pb.getNumJoints(self.body, physicsClientId=self.client))
        }
        names = robot.joint_names
        balls = {names[i]: ball.name for ball in self.merged.balls for i in ball.columns}
        self.actuated_index: Mapping[str, int] = {
            name: self.joint_index[balls.get(name, name)] for name in names
        }
        self.link_index: Mapping[str, int] = {
            robot.links[0].name: -1,
            **{joint.child: self.joint_index[joint.name] for joint in robot.joints},
        }

    def _set_surfaces(self, scene: Scene) -> None:
        """Set friction and restitution of the ground and of every link."""
        # Bullet multiplies the coefficients of two surfaces in contact: each gets the square root.
        # A friction set in the same call as a damping is applied to the base, whatever the link,
        # so that nothing else is set here.
        surface = {
            'lateralFriction': math.sqrt(scene.friction),
            'spinningFriction': 0.0,
            'rollingFriction': 0.0,
            'restitution': math.sqrt(scene.restitution),
        }
        pb.changeDynamics(self.ground, -1, **surface, physicsClientId=self.client)
        for index in self.link_index.values():
            pb.changeDynamics(self.body, index, **surface, physicsClientId=self.client)

    def _set_dynamics(self) -> None:
        """Switch off what Bullet does by default: damping, sleep, a limit of joint velocities."""
        pb.changeDynamics(
            self.body,
            -1,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pb.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.client,
        )
        # Bullet clamps every joint velocity at 100 per second by default.
        pb.changeDynamics(self.body, -1, maxJointVelocity=NO_LIMIT, physicsClientId=self.client)

    def _couple_mimics(self) -> None:
        """Couple every mimic joint to the joint that it follows, by a gear."""
        for joint in self.merged.robot.joints:
            if joint.mimic is not None:
                # Bullet's gear holds q_a + ratio * q_b = target.
                gear = pb.createConstraint(
                    self.body,
                    self.joint_index[joint.name],
                    self.body,
                    self.joint_index[joint.mimic.joint],
                    pb.JOINT_GEAR,
                    [0.0, 0.0, 1.0],
                    [0.0, 0.0, 0.0],
                    [0.0, 0.0, 0.0],
                    physicsClientId=self.client,
                )
                pb.changeConstraint(
                    gear,
                    gearRatio=-joint.mimic.multiplier,
                    erp=0.2,
                    maxForce=MIMIC_GEAR_EFFORT,
                    relativePositionTarget=joint.mimic.offset,
                    physicsClientId=self.client,
                )

    def _separate_overlapping(self) -> None:
        """Exclude pairs of links that overlap at the start from collisions."""
        neighbours = {(joint.parent, joint.child) for joint in self.merged.robot.joints}
        for a, b in combinations(self.link_index, 2):
            if (a, b) in neighbours or (b, a) in neighbours:
                continue
            points = pb.getClosestPoints(
                self.body,
                self.body,
                0.0,
                linkIndexA=self.link_index[a],
                linkIndexB=self.link_index[b],
                physicsClientId=self.client,
            )
            if any(point[8] < 0.0 for point in points):
                pb.setCollisionFilterPair(
                    self.body,
                    self.body,
                    self.link_index[a],
                    self.link_index[b],
                    0,
                    physicsClientId=self.client,
                )


def _check_joint_count(robot: RobotModel) -> None:
    """Raise ConfigurationError for more moving joints than Bullet reports the states of."""
    count = sum(joint.kind != 'fixed' for joint in robot.joints)
    if count > MAX_JOINTS:
        raise ConfigurationError(
            f"robot '{robot.name}' has {count} moving joints, engine 'bullet' simulates at most "
            f"{MAX_JOINTS}; engine 'mujoco' has no such limit"
        )


def set_physics_parameters(client: int, scene: Scene, options: BulletOptions) -> None:
    """Set gravity, step and solver: all at every reset, because Bullet resets only some."""
    pb.setPhysicsEngineParameter(
        fixedTimeStep=scene.physics_step,
        numSubSteps=0,
        numSolverIterations=options.solver_iterations,
        solverResidualThreshold=options.solver_residual,
        erp=options.erp,
        contactERP=options.contact_erp,
        frictionERP=options.friction_erp,
        globalCFM=options.cfm,
        contactSlop=options.contact_slop,
        restitutionVelocityThreshold=options.restitution_speed,
        warmStartingFactor=options.warm_start,
        deterministicOverlappingPairs=1,
        enableFileCaching=0,
        physicsClientId=client,
    )
    pb.setRealTimeSimulation(0, physicsClientId=client)
    pb.setGravity(*scene.gravity, physicsClientId=client)


def set_base_pose(client: int, body: int, pose: FloatArray) -> None:
    """Set the pose of a body's root link, (7,) [m, -]."""
    # PyBullet's base pose is that of the inertial frame: at the centre of mass, and turned to the
    # principal axes if the inertia has products.
    dynamics = pb.getDynamicsInfo(body, -1, physicsClientId=client)
    at = pose[:3] + matrix_from_quaternion(pose[3:]) @ dynamics[3]
    quaternion = multiply_quaternions(pose[3:], dynamics[4])
    pb.resetBasePositionAndOrientation(
        body, at.tolist(), quaternion.tolist(), physicsClientId=client
    )
