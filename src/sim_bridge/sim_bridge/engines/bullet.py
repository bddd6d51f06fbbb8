"""The ``bullet`` engine: PyBullet behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Sequence

from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from sim_bridge.engines.bounds import BALL_JOINTS, CARRIES, FORCE_ELEMENTS, PushWindow
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_options import BulletOptions
from sim_bridge.engines.bullet_state import Mount, StateReader, body_state
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.rigid_engine import RigidEngine


class _Shove:
    """A push as Bullet takes it: a force at a point in ``odom``."""

    def __init__(self, push: Push, world: World, scene: Scene) -> None:
        self.window = PushWindow(push, scene, world.full, world.model)
        self._client, self._body = world.client, world.body
        self._mount = Mount(world, self.window.place)
        self._force = list(push.force)

    def apply(self) -> None:
        """Add the force to the coming physics step."""
        body = body_state(self._body, self._mount.carrier, self._client)
        point, _, _ = self._mount.seen(*body)
        pb.applyExternalForce(
            self._body, self._mount.carrier, self._force, point, pb.WORLD_FRAME, self._client
        )


class BulletEngine(RigidEngine[World, Motors, _Shove]):
    """
    Rigid bodies and contacts by PyBullet; options are those of ``BulletOptions``.

    Every reset empties the client and loads robot and terrain anew.
    """

    name = 'bullet'
    Options = BulletOptions
    carries = (*CARRIES, BALL_JOINTS, FORCE_ELEMENTS)

    def _open(self) -> World:
        return World()

    def _bind(
        self, world: World, robot: RobotModel, scene: Scene, options: BulletOptions
    ) -> tuple[Motors, StateReader]:
        sums_work = bool(options.sum_work)
        return (
            Motors(world, robot, scene.physics_step, sums_work),
            StateReader(world, robot, scene, sums_work),
        )

    def _shove(self, push: Push, world: World, scene: Scene) -> _Shove:
        return _Shove(push, world, scene)

    def _advance(self, steps: int) -> None:
        step, client = pb.stepSimulation, self._open_world().client
        drive = self._motors.drive if self._motors.has_torques else None
        meter = self._motors.meter
        for _ in range(steps):
            if drive is not None:
                drive()
            step(client)
            if meter is not None:
                meter.read()

    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[_Shove]) -> None:
        for index in range(first, first + steps):
            for push in pushes:
                if push.window.within(index, index + 1):
                    push.apply()
            self._advance(1)
