"""The ``mujoco`` engine: MuJoCo behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Sequence

from gait_core.arrays import FloatArray
from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from sim_bridge.engines.bounds import BALL_JOINTS, CARRIES, FORCE_ELEMENTS, PushWindow
from sim_bridge.engines.mujoco_kernel import ACTIVE
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_state import StateReader
from sim_bridge.engines.mujoco_world import World
from sim_bridge.engines.rigid_engine import RigidEngine


class _Shove:
    """A push as a column of the table: a wrench at the centre of mass of the body that has it."""

    def __init__(self, push: Push, world: World, scene: Scene, column: FloatArray) -> None:
        self.window = PushWindow(push, scene, world.full, world.fused)
        body = world.body(self.window.place.link)
        lever = self.window.place.position - world.model.body_ipos[body]
        column[:] = (body, 0.0, *lever, *push.force)
        self._column = column

    def act(self, acts: bool) -> None:
        """Push in the coming physics steps, or do not."""
        self._column[ACTIVE] = float(acts)


class MujocoEngine(RigidEngine[World, Motors, _Shove]):
    """
    Rigid bodies and contacts by MuJoCo; options are those of ``MujocoOptions``.

    The compiled model is kept while scenes need no other; every reset clears the whole state, the
    solver's memory included.
    """

    name = 'mujoco'
    Options = MujocoOptions
    carries = (*CARRIES, BALL_JOINTS, FORCE_ELEMENTS)

    def _open(self) -> World:
        return World()

    def _bind(
        self, world: World, robot: RobotModel, scene: Scene, options: MujocoOptions
    ) -> tuple[Motors, StateReader]:
        return Motors(world, robot, scene, options), StateReader(world, robot, scene)

    def _shove(self, push: Push, world: World, scene: Scene) -> _Shove:
        return _Shove(push, world, scene, next(self._motors.table.push_columns))

    def _advance(self, steps: int) -> None:
        self._motors.drive(steps)

    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[_Shove]) -> None:
        for index in range(first, first + steps):
            for push in pushes:
                push.act(push.window.within(index, index + 1))
            self._motors.drive(1)
        for push in pushes:
            push.act(False)
