# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Benchmark of trials in the engine ``bullet``, and a plain sequence of its PyBullet calls.

The sequence makes the calls of the engine for a robot with position servos on flat ground, in the
same order, and no others. Its last state equals that of the engine to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
import time

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError
from gait_core.kinematics.start_pose import pose_on_terrain
from gait_core.motion.targets import AppliedTargets
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.parts import initial_positions
from gait_core.trial.scene import Scene
from sim_bridge.engines.bullet.client import connect, disconnect, pb
from sim_bridge.engines.bullet.description import description_files, written_description
from sim_bridge.engines.bullet.options import BulletOptions
from sim_bridge.engines.bullet.world import set_base_pose, set_physics_parameters
from sim_bridge.engines.shared.actuator_targets import DEFAULT_GAIN, NO_LIMIT
from sim_bridge.engines.shared.merged_joints import merge_joints
from sim_bridge.engines.shared.trial_benchmark import measure_trials


def benchmark() -> list[Measurement]:
    """Measure steps, overhead and resets of trials in the engine ``bullet``."""
    return measure_trials('bullet', bare_trial)


def bare_trial(
    robot: RobotModel, scene: Scene, periods: Sequence[AppliedTargets]
) -> tuple[float, tuple[float, ...]]:
    """
    Run the targets of a trial; return the wall time [s] and the last joint positions.

    The wall time includes loading the robot and every control period, but neither the connection
    nor writing the robot's file.

    Raises
    ------
    ConfigurationError
        If the scene or robot has a feature that this script lacks.

    """
    _check_supported(robot, scene)
    start = initial_positions(robot, scene)
    pose = pose_on_terrain(robot, start, scene.initial, load_terrain(scene.terrain))
    rows = [
        list(zip(targets.position.tolist(), targets.velocity.tolist(), strict=True))
        for targets in periods
    ]
    script = _BareScript(robot, scene, start, pose)
    try:
        with written_description(description_files(merge_joints(robot).robot)) as file:
            # Loaded twice: the engine, too, empties a client that holds the last trial.
            script.load(file)
            began = time.perf_counter()
            script.load(file)
            last = script.run(rows)
            return time.perf_counter() - began, last
    finally:
        disconnect(script.client)


def _check_supported(robot: RobotModel, scene: Scene) -> None:
    """Raise ``ConfigurationError`` if bare calls of Bullet cannot run the robot in the scene."""
    is_supported = (
        scene.terrain.name == 'flat'
        and not scene.pushes
        and not make_parameters(BulletOptions, scene.engine_options).self_collision
        and not any(joint.mimic for joint in robot.joints)
        and all(robot.actuators[name].kind == 'position' for name in robot.joint_names)
    )
    if not is_supported:
        raise ConfigurationError(
            'the comparison without the suite needs position servos on flat ground without '
            f"pushes, self-collision or mimic joints; robot '{robot.name}' or its scene differs"
        )


class _BareScript:
    """A robot with position servos on a plane, in a client of its own."""

    def __init__(
        self, robot: RobotModel, scene: Scene, start: FloatArray, pose: FloatArray
    ) -> None:
        self._robot, self._scene, self._start, self._pose = robot, scene, start, pose
        self.client = connect()

    def load(self, file: str) -> None:
        """Empty the client and load the robot at its start."""
        client, robot, scene, pose = self.client, self._robot, self._scene, self._pose
        pb.resetSimulation(physicsClientId=client)
        set_physics_parameters(client, scene, make_parameters(BulletOptions, scene.engine_options))
        plane = pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client)
        ground = pb.createMultiBody(0.0, plane, physicsClientId=client)
        body = pb.loadURDF(
            file,
            flags=pb.URDF_USE_INERTIA_FROM_FILE | pb.URDF_IGNORE_VISUAL_SHAPES,
            useFixedBase=scene.fixed_base,
            physicsClientId=client,
        )
        count = pb.getNumJoints(body, physicsClientId=client)
        surface = {
            'lateralFriction': scene.friction**0.5,
            'restitution': scene.restitution**0.5,
        }
        pb.changeDynamics(ground, -1, **surface, physicsClientId=client)
        for link in range(-1, count):
            pb.changeDynamics(body, link, **surface, physicsClientId=client)
        pb.changeDynamics(body, -1, linearDamping=0.0, angularDamping=0.0, physicsClientId=client)
        pb.changeDynamics(body, -1, maxJointVelocity=NO_LIMIT, physicsClientId=client)
        set_base_pose(client, body, pose)
        index = {pb.getJointInfo(body, i, client)[1].decode(): i for i in range(count)}
        links = [index[name] for name in robot.joint_names]
        for link, position in zip(links, self._start.tolist(), strict=True):
            pb.resetJointState(body, link, position, physicsClientId=client)
        for link, limit in zip(links, robot.velocity_limit.tolist(), strict=True):
            pb.setJointMotorControl2(
                body,
                link,
                pb.POSITION_CONTROL,
                targetPosition=0.0,
                force=0.0,
                maxVelocity=min(limit, NO_LIMIT),
                physicsClientId=client,
            )
        self._body, self._ground, self._links = body, ground, links

    def run(self, rows: list[list[tuple[list[float], list[float]]]]) -> tuple[float, ...]:
        """Follow positions and velocities of each sub-sample; return the last joint positions."""
        client, body, ground, links = self.client, self._body, self._ground, self._links
        robot, scene = self._robot, self._scene
        steps = scene.steps_per_tick
        forces = [min(limit, NO_LIMIT) for limit in robot.effort_limit.tolist()]
        gains = [
            robot.actuators[name].constants.get('gain', DEFAULT_GAIN) * scene.physics_step
            for name in robot.joint_names
        ]
        ones = [1.0] * len(links)
        states = pb.getJointStates(body, links, client)
        for samples in rows:
            for positions, velocities in samples:
                pb.setJointMotorControlArray(
                    body,
                    links,
                    pb.POSITION_CONTROL,
                    positions,
                    velocities,
                    forces,
                    gains,
                    ones,
                    client,
                )
                for _ in range(steps // len(samples)):
                    pb.stepSimulation(client)
                    states = pb.getJointStates(body, links, client)
            pb.getBasePositionAndOrientation(body, client)
            pb.getBaseVelocity(body, client)
            pb.getContactPoints(body, ground, physicsClientId=client)
        return tuple(state[0] for state in states)
