"""The ``bullet`` engine: PyBullet behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from gait_core.state_tape import StateTape
from gait_core.targets import AppliedTargets
from sim_bridge.engines.bounds import (
    BALL_JOINTS,
    CARRIES,
    CONTACT_NODES,
    FORCE_ELEMENTS,
    FREE_BODIES,
    PushWindow,
)
from sim_bridge.engines.bullet_client import pb
from sim_bridge.engines.bullet_ground import GroundRays
from sim_bridge.engines.bullet_motors import Motors
from sim_bridge.engines.bullet_nodes import NodesEngine
from sim_bridge.engines.bullet_options import BulletOptions
from sim_bridge.engines.bullet_read_kernel import BODY
from sim_bridge.engines.bullet_state import Mount, StateReader, body_state
from sim_bridge.engines.bullet_world import World
from sim_bridge.engines.rigid_engine import RigidEngine
from sim_bridge.engines.rigid_states import StateLog


class _Shove:
    """A push as Bullet takes it: a force at a point in ``odom``."""

    def __init__(self, push: Push, world: World, scene: Scene) -> None:
        self.window = PushWindow(push, scene, world.full, world.model)
        self._client, self._body = world.client, world.body
        self._mount = Mount(world, self.window.place)
        self._force = list(push.force)
        self._frame: FloatArray = np.empty((1, BODY))

    def apply(self) -> None:
        """Add the force to the coming physics step."""
        body = body_state(self._body, self._mount.carrier, self._client)
        self._mount.place(np.array(body).reshape(1, -1), 0, self._frame, 0)
        point = self._frame[0, :3].tolist()
        pb.applyExternalForce(
            self._body, self._mount.carrier, self._force, point, pb.WORLD_FRAME, self._client
        )


class BulletEngine(RigidEngine[World, Motors, _Shove]):
    """
    Rigid bodies and contacts by PyBullet; options are those of ``BulletOptions``.

    Every reset empties the client and loads robot and terrain anew. Robots that stand on contact
    nodes are of free bodies, which ``NodesEngine`` carries.
    """

    name = 'bullet'
    Options = BulletOptions
    Rays = GroundRays
    carries = (*CARRIES, BALL_JOINTS, FORCE_ELEMENTS, FREE_BODIES, CONTACT_NODES)
    _state: StateReader

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        super().__init__(robots)
        self._nodes: NodesEngine | None = None
        self._on_nodes = False

    @property
    def _other(self) -> NodesEngine | None:
        """What carries the robot of the scene, where this class does not."""
        return self._nodes if self._on_nodes else None

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""
        return self._other.robot if self._other else super().robot

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """Build the scene and return its state at tick 0, as RigidEngine does."""
        self._open_world()
        self._on_nodes = bool(self._robots(scene.robot, scene.draw).contact_nodes)
        if not self._on_nodes:
            return super().reset(scene, seed, settle_ticks)
        if self._nodes is None:
            self._nodes = NodesEngine(self._robots)
        return self._nodes.reset(scene, seed, settle_ticks)

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period and return the state at its end, as RigidEngine does."""
        return self._other.step(targets) if self._other else super().step(targets)

    def rollout(self, tape: Sequence[AppliedTargets]) -> StateTape:
        """Advance one control period per tape entry; equals stepping bit for bit."""
        return self._other.rollout(tape) if self._other else super().rollout(tape)

    def cast(self, origin: FloatArray, directions: FloatArray, reach: float) -> FloatArray:
        """Return how far rays go through the scene without its robot, as SceneEngine does."""
        caster = self._other.cast if self._other else super().cast
        return caster(origin, directions, reach)

    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""
        super().close()
        if self._nodes is not None:
            self._nodes.close()

    def _open(self) -> World:
        return World()

    def _bind(
        self, world: World, robot: RobotModel, scene: Scene, options: BulletOptions
    ) -> tuple[Motors, StateReader]:
        sums_work = bool(options.sum_work)
        self._client = world.client
        return (
            Motors(world, robot, scene.physics_step, sums_work),
            StateReader(world, robot, scene, sums_work),
        )

    def _shove(self, push: Push, world: World, scene: Scene) -> _Shove:
        return _Shove(push, world, scene)

    def _play(self, log: StateLog, samples: int) -> None:
        begun, count = self._tick, len(log.rows)
        first, end = begun * self._steps, (begun + count) * self._steps
        pushed = any(push.window.within(first, end) for push in self._pushes)
        if pushed or not (self._motors.plain and self._state.plain):
            super()._play(log, samples)
            return
        while log.done < count:
            self._state.play(log, self._motors, self._steps // samples)
            self._tick = begun + log.done

    def _advance(self, steps: int) -> None:
        step, client, motors = pb.stepSimulation, self._client, self._motors
        drives, meter = motors.has_torques, motors.meter
        for _ in range(steps):
            if drives:
                motors.drive()
            step(client)
            if meter is not None:
                meter.read()

    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[_Shove]) -> None:
        for index in range(first, first + steps):
            for push in pushes:
                if push.window.within(index, index + 1):
                    push.apply()
            self._advance(1)
