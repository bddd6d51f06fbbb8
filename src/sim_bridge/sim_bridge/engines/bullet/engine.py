# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Engine ``bullet``: rigid bodies by PyBullet, with exact resets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.motion.observation import Observation
from gait_core.motion.targets import AppliedTargets
from gait_core.processes import liveness
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Push, Scene
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.free_bodies import BulletFreeBodiesEngine
from sim_bridge.engines.bullet.ground import GroundRayCaster
from sim_bridge.engines.bullet.motors import Motors
from sim_bridge.engines.bullet.options import BulletOptions
from sim_bridge.engines.bullet.state import STATE_SIZE, MountedFrame, StateReader, body_state
from sim_bridge.engines.bullet.world import World
from sim_bridge.engines.shared.scene_checks import (
    BALL_JOINTS,
    CONTACT_NODES,
    FORCE_ELEMENTS,
    FREE_BODIES,
    RIGID_BODY_FEATURES,
    PushWindow,
)
from sim_bridge.engines.shared.scene_engine import SceneEngine, SceneStart


class _BulletPush:
    """A push: a force at a point in ``odom``, which Bullet needs anew before every step."""

    def __init__(self, push: Push, world: World, scene: Scene) -> None:
        self.window = PushWindow(push, scene, world.robot, world.merged)
        self._client, self._body = world.client, world.body
        self._mount = MountedFrame(world, self.window.frame)
        self._force = list(push.force)

    def apply(self) -> None:
        """Add the force to the coming physics step."""
        link, frame = self._mount.carrier, np.empty(STATE_SIZE)
        self._mount.write_state(body_state(self._body, link, self._client), frame)
        point = frame[:3].tolist()
        pb.applyExternalForce(self._body, link, self._force, point, pb.WORLD_FRAME, self._client)


class BulletEngine(SceneEngine):
    """
    Rigid bodies and contacts by PyBullet, with the options of ``BulletOptions``.

    Every reset empties the client and loads robot and terrain anew. Robots on contact nodes
    consist of free bodies; ``BulletFreeBodiesEngine`` simulates them.
    """

    name = 'bullet'
    Options = BulletOptions
    RayCaster = GroundRayCaster
    supported_features = (
        *RIGID_BODY_FEATURES,
        BALL_JOINTS,
        FORCE_ELEMENTS,
        FREE_BODIES,
        CONTACT_NODES,
    )

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        super().__init__(robots)
        self._world = World()
        self._free_bodies: BulletFreeBodiesEngine | None = None
        self._uses_free_bodies = False

    @property
    def _free_bodies_engine(self) -> BulletFreeBodiesEngine | None:
        """The engine of free bodies while it simulates the scene, else None."""
        return self._free_bodies if self._uses_free_bodies else None

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""
        return self._free_bodies_engine.robot if self._free_bodies_engine else super().robot

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """Build the scene and return its state at tick 0, as ``SceneEngine.reset`` does."""
        self._check_open()
        self._uses_free_bodies = bool(self._load_robot(scene.robot, scene.draw).contact_nodes)
        if not self._uses_free_bodies:
            return super().reset(scene, seed, settle_ticks)
        if self._free_bodies is None:
            self._free_bodies = BulletFreeBodiesEngine(self._load_robot)
        return self._free_bodies.reset(scene, seed, settle_ticks)

    def _build(self, start: SceneStart) -> None:
        world, robot, scene = self._world, start.robot, start.scene
        world.rebuild(start)
        sums_work = bool(start.options.sum_work)
        self._motors = Motors(world, robot, scene.physics_step, sums_work)
        self._state = StateReader(world, robot, scene, sums_work)
        self._pushes = [_BulletPush(push, world, scene) for push in scene.pushes]

    def _settle(self, positions: FloatArray, ticks: int) -> Observation:
        """Hold the robot at joint positions for ``ticks`` periods; return the last observation."""
        motors, steps = self._motors, self._steps
        motors.hold_positions(positions, stiff=ticks > 0)
        observation = self._read(0)
        for tick in range(-ticks, 0):
            # Steps before tick 0 have negative indices, which lie in no window of a push.
            self._advance(tick * steps, steps)
            liveness.count_period()
            observation = self._read(0)
        if ticks:
            motors.end_hold()
        return observation

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period and return the state at its end."""
        if self._uses_free_bodies and self._free_bodies is not None:
            return self._free_bodies.step(targets)
        self._check_ready()
        scaling, motors = self._scaling, self._motors
        if scaling is not None:
            targets = scaling.scale_targets(targets)
        samples = motors.load_targets(targets, self._steps)
        steps = self._steps // samples
        first = self._tick * self._steps
        # If the physics diverges this stays false: only a reset is possible then.
        self._ready = False
        for sample in range(samples):
            motors.select_sample(sample)
            self._advance(first + sample * steps, steps)
        self._tick += 1
        observation = self._read(self._tick)
        self._ready = True
        return observation

    def _advance(self, first: int, steps: int) -> None:
        """Advance ``steps`` physics steps, from the step ``first`` counted from tick 0."""
        step_physics, client, motors = pb.stepSimulation, self._world.client, self._motors
        applies_forces, reads_steps = motors.applies_forces, motors.reads_steps
        pushes = self._pushes
        for step in range(first, first + steps):
            # Bullet clears external forces and joint torques after every step. Both follow from
            # the state at the start of the step; servos are constraints and persist.
            for push in pushes:
                if push.window.within(step, step + 1):
                    push.apply()
            if applies_forces:
                motors.apply_forces()
            step_physics(client)
            if reads_steps:
                motors.read_step()

    def _observe(self, tick: int) -> Observation:
        return self._state.read(tick, self._motors)

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return the distances of rays through the scene without its robot, (n,) [m]."""
        caster = self._free_bodies_engine.cast if self._free_bodies_engine else super().cast
        return caster(origin, directions, max_distance)

    def _release(self) -> None:
        self._world.close()
        if self._free_bodies is not None:
            self._free_bodies.close()
