# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Free bodies on contact nodes in PyBullet, under the laws of the kernel of ``cables``."""

from __future__ import annotations

from collections.abc import Callable

from gait_core.arrays import FloatArray
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from sim_bridge.engines.bullet.client import connect, disconnect, pb
from sim_bridge.engines.bullet.description import description_files, written_description
from sim_bridge.engines.bullet.options import BulletOptions
from sim_bridge.engines.cables.engine import FreeBodies, FreeBodiesEngine
from sim_bridge.engines.cables.kernel import select_targets, update_wrenches
from sim_bridge.engines.shared.scene_engine import SceneStart


class BulletBodies(FreeBodies):
    """
    Free bodies of a scene in a client of their own, without collisions, damping or gravity.

    Their weight is part of the wrenches of the kernel.

    Attributes
    ----------
    client : int
    ids : list of int
        PyBullet's, in the order of the robot's roots.

    """

    engine_name = 'bullet'

    def __init__(self) -> None:
        self.client = connect()
        self.ids: list[int] = []

    def rebuild(self, start: SceneStart) -> None:
        """Empty the client and load every body at its start pose, at rest."""
        super().rebuild(start)
        robot, scene = start.robot, start.scene
        client = self.client
        pb.resetSimulation(physicsClientId=client)
        pb.setPhysicsEngineParameter(
            fixedTimeStep=scene.physics_step,
            numSubSteps=0,
            enableFileCaching=0,
            physicsClientId=client,
        )
        pb.setGravity(0.0, 0.0, 0.0, physicsClientId=client)
        self.ids = [self._load(robot, name) for name in robot.roots]
        for body, row in zip(self.ids, self.state.tolist(), strict=True):
            pb.resetBasePositionAndOrientation(body, row[:3], row[3:7], physicsClientId=client)

    def _load(self, robot: RobotModel, root: str) -> int:
        """Load the body of one root link without its shapes; return Bullet's number of it."""
        with written_description(description_files(robot, root=root)) as file:
            flags = pb.URDF_USE_INERTIA_FROM_FILE
            flags |= pb.URDF_IGNORE_VISUAL_SHAPES | pb.URDF_IGNORE_COLLISION_SHAPES
            body: int = pb.loadURDF(file, flags=flags, physicsClientId=self.client)
        pb.changeDynamics(
            body,
            -1,
            linearDamping=0.0,
            angularDamping=0.0,
            activationState=pb.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.client,
        )
        return body

    def read(self) -> None:
        """Read the states of the bodies from Bullet."""
        client = self.client
        for row, body in enumerate(self.ids):
            at, quaternion = pb.getBasePositionAndOrientation(body, client)
            linear, angular = pb.getBaseVelocity(body, client)
            self.state[row] = (*at, *quaternion, *linear, *angular)

    def step(self, wrenches: FloatArray) -> None:
        """Advance one physics step under wrenches about the centres of mass, (b, 6) [N, N m]."""
        client, frame = self.client, pb.WORLD_FRAME
        centres = self.state[:, :3].tolist()
        for body, wrench, at in zip(self.ids, wrenches.tolist(), centres, strict=True):
            pb.applyExternalForce(body, -1, wrench[:3], at, frame, client)
            pb.applyExternalTorque(body, -1, wrench[3:], frame, client)
        pb.stepSimulation(client)

    def close(self) -> None:
        """End the client."""
        disconnect(self.client)


class BulletFreeBodiesEngine(FreeBodiesEngine):
    """Engine ``bullet`` for robots of free bodies: forces from the kernel, motion by Bullet."""

    name = 'bullet'
    Options = BulletOptions

    _bodies: BulletBodies

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        super().__init__(robots)
        self._bodies = BulletBodies()

    def _release(self) -> None:
        self._bodies.close()

    def _advance(self, targets: FloatArray, first: int) -> None:
        """Run the physics steps of one control period; ``first`` is the index of the first one."""
        bodies, motion = self._bodies, self._motion
        samples = targets.shape[1]
        steps = self._steps // samples
        for sample in range(samples):
            select_targets(targets, sample, motion.buffers)
            for i in range(steps):
                step = first + sample * steps + i
                update_wrenches(self._compiled_scene, motion, i * self._compiled_scene.dt, step)
                bodies.step(motion.buffers.wrenches)
                bodies.read()
