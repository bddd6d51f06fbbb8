"""Free bodies on contact nodes in PyBullet: Bullet moves them, the shared laws push and pull."""

from __future__ import annotations

import tempfile

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel
from gait_core.robot.to_urdf import to_urdf
from gait_core.scene import Scene
from gait_core.terrains import Terrain
from sim_bridge.engines.bullet_client import connect, disconnect, pb
from sim_bridge.engines.bullet_options import BulletOptions
from sim_bridge.engines.cables import Bodies, FreeBodiesEngine
from sim_bridge.engines.cables_kernel import aim, load_bodies


class BulletBodies(Bodies):
    """
    The bodies of a scene in a client of their own, without collisions, damping or gravity.

    Their weight is among the forces that the laws give.

    Attributes
    ----------
    client : int
    ids : list of int
        PyBullet's, in the order of the robot's roots.

    """

    def __init__(self) -> None:
        self.client = connect()
        self.ids: list[int] = []

    def rebuild(
        self,
        robot: RobotModel,
        scene: Scene,
        options: BulletOptions,
        terrain: Terrain,
        pose: FloatArray,
        positions: FloatArray,
    ) -> None:
        """Empty the client and load every body at its place in the assembly, at rest."""
        self.lay_out('bullet', robot, scene, options, terrain, pose)
        client = self.client
        pb.resetSimulation(physicsClientId=client)
        pb.setPhysicsEngineParameter(
            fixedTimeStep=scene.physics_step, numSubSteps=0, enableFileCaching=0,
            physicsClientId=client,
        )  # fmt: skip
        pb.setGravity(0.0, 0.0, 0.0, physicsClientId=client)
        self.ids = [self._load(robot, name) for name in robot.roots]
        for body, row in zip(self.ids, self.state.tolist(), strict=True):
            pb.resetBasePositionAndOrientation(body, row[:3], row[3:7], physicsClientId=client)

    def _load(self, robot: RobotModel, root: str) -> int:
        with tempfile.NamedTemporaryFile('w', suffix='.urdf', encoding='utf-8') as file:
            file.write(to_urdf(robot, root=root, visuals=False))
            file.flush()
            body: int = pb.loadURDF(
                file.name, flags=pb.URDF_USE_INERTIA_FROM_FILE | pb.URDF_IGNORE_VISUAL_SHAPES
                | pb.URDF_IGNORE_COLLISION_SHAPES, physicsClientId=self.client,
            )  # fmt: skip
        pb.changeDynamics(
            body, -1, linearDamping=0.0, angularDamping=0.0,
            activationState=pb.ACTIVATION_STATE_DISABLE_SLEEPING, physicsClientId=self.client,
        )  # fmt: skip
        return body

    def read(self) -> None:
        """Take over where Bullet has the bodies."""
        client = self.client
        for row, body in enumerate(self.ids):
            at, turn = pb.getBasePositionAndOrientation(body, client)
            linear, angular = pb.getBaseVelocity(body, client)
            self.state[row] = (*at, *turn, *linear, *angular)

    def step(self, wrenches: FloatArray) -> None:
        """Advance one step under forces and torques about the centres of mass, (b, 6)."""
        client, frame = self.client, pb.WORLD_FRAME
        places = self.state[:, :3].tolist()
        for body, wrench, at in zip(self.ids, wrenches.tolist(), places, strict=True):
            pb.applyExternalForce(body, -1, wrench[:3], at, frame, client)
            pb.applyExternalTorque(body, -1, wrench[3:], frame, client)
        pb.stepSimulation(client)

    def close(self) -> None:
        """End the client."""
        disconnect(self.client)


class NodesEngine(FreeBodiesEngine[BulletBodies]):
    """What the ``bullet`` engine does with robots of free bodies: all but the bodies' motion."""

    name = 'bullet'
    Options = BulletOptions

    def _open(self) -> BulletBodies:
        return BulletBodies()

    def _advance(self, targets: FloatArray, first: int) -> None:
        world, motion = self._open_world(), self._motion
        samples = targets.shape[1]
        steps = self._steps // samples
        for sample in range(samples):
            aim(targets, sample, motion.work)
            for i in range(steps):
                step = first + sample * steps + i
                load_bodies(self._setting, motion, i * self._setting.dt, step)
                world.step(motion.work.wrenches)
                world.read()
