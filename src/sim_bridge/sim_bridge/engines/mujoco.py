"""The ``mujoco`` engine: MuJoCo behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from sim_bridge.engines.bounds import PushWindow
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_friction import Coulomb
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_state import StateReader
from sim_bridge.engines.mujoco_world import World
from sim_bridge.engines.rigid_engine import RigidEngine


class _Shove:
    """A push as MuJoCo takes it: a wrench at the centre of mass of the body that carries it."""

    def __init__(self, push: Push, world: World, scene: Scene) -> None:
        self.window = PushWindow(push, scene, world.full, world.fused)
        self._data = world.data
        self._body = world.body(self.window.place.link)
        self._lever = self.window.place.position - world.model.body_ipos[self._body]
        self._force = np.array(push.force)

    def apply(self) -> None:
        """Add the force to the coming physics step, whose first half is done."""
        arm = self._data.xmat[self._body].reshape(3, 3) @ self._lever
        wrench = self._data.xfrc_applied[self._body]
        wrench[:3] += self._force
        wrench[3:] += np.cross(arm, self._force)


class MujocoEngine(RigidEngine[World, Motors, _Shove]):
    """
    Rigid bodies and contacts by MuJoCo; options are those of ``MujocoOptions``.

    The compiled model is kept while scenes need no other; every reset clears the whole state, the
    solver's memory included.
    """

    name = 'mujoco'
    Options = MujocoOptions

    def _open(self) -> World:
        return World()

    def _bind(
        self, world: World, robot: RobotModel, scene: Scene, options: MujocoOptions
    ) -> tuple[Motors, StateReader]:
        motors = Motors(world, robot, scene.physics_step, options)
        self._friction = Coulomb(world.data, scene, options)
        return motors, StateReader(world, robot, scene)

    def _shove(self, push: Push, world: World, scene: Scene) -> _Shove:
        return _Shove(push, world, scene)

    def _advance(self, steps: int) -> None:
        begin, finish = mj.mj_step1, mj.mj_step2
        drive, correct = self._motors.drive, self._friction.correct
        world = self._open_world()
        model, data = world.model, world.data
        for _ in range(steps):
            begin(model, data)
            drive()
            correct()
            finish(model, data)

    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[_Shove]) -> None:
        world = self._open_world()
        for index in range(first, first + steps):
            mj.mj_step1(world.model, world.data)
            self._motors.drive()
            self._friction.correct()
            for push in pushes:
                if push.window.within(index, index + 1):
                    push.apply()
            mj.mj_step2(world.model, world.data)
            world.data.xfrc_applied[:] = 0.0
