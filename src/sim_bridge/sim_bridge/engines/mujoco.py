"""The ``mujoco`` engine: MuJoCo behind the Engine contract, with exact resets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ProtocolError, SimulationDiverged
from gait_core.observation import Observation
from gait_core.parameters import build
from gait_core.placement import base_pose
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.scene import Push, Scene
from gait_core.targets import AppliedTargets
from gait_core.terrains import load_terrain
from gait_core.trial import initial_positions
from sim_bridge.engines.bounds import CARRIES, PushWindow, refuse_unsupported
from sim_bridge.engines.mujoco_client import mj
from sim_bridge.engines.mujoco_friction import Coulomb
from sim_bridge.engines.mujoco_motors import Motors
from sim_bridge.engines.mujoco_options import MujocoOptions
from sim_bridge.engines.mujoco_state import StateReader
from sim_bridge.engines.mujoco_world import World


class MujocoEngine:
    """
    Rigid bodies and contacts by MuJoCo; options are those of ``MujocoOptions``.

    The compiled model is kept while scenes need no other; every reset clears the whole state,
    the solver's memory included, so a trial depends on its scene and targets alone, also after
    one that diverged. Nothing in it is random: the seed of ``reset`` is checked by its owner and
    not used.

    Parameters
    ----------
    robots : callable of (name, draw)
        Where robots come from.

    """

    Options = MujocoOptions
    carries = CARRIES

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        self._robots = robots
        self._world: World | None = World()
        self._robot: RobotModel | None = None
        self._ready = False

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""
        if self._robot is None:
            raise ProtocolError("engine 'mujoco' has no robot before its first reset")
        return self._robot

    @property
    def clamped(self) -> Mapping[str, int]:
        """Control periods since the reset in which a joint's target was clamped to its limits."""
        counts = self._motors.demands.clamped.tolist()
        return dict(zip(self.robot.joint_names, counts, strict=True))

    @property
    def overspeed(self) -> Mapping[str, int]:
        """Physics steps in which a joint with torque was beyond its velocity limit."""
        counts = self._motors.torques.overspeed.tolist()
        return dict(zip(self.robot.joint_names, counts, strict=True))

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links that overlapped at the start and do not collide in this scene."""
        return self._open_world().apart

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """
        Build the scene and return its state at tick 0.

        Raises
        ------
        ConfigurationError
            If the scene asks for what this engine or the robot does not have.
        SimulationDiverged
            If the robot does not survive settling.

        """
        world = self._open_world()
        self._ready = False
        robot = self._robots(scene.robot, scene.draw)
        options = build(MujocoOptions, scene.engine_options)
        refuse_unsupported('mujoco', scene, robot)
        start = initial_positions(robot, scene)
        terrain = load_terrain(scene.terrain)
        pose = base_pose(robot, start, scene.initial, terrain)
        world.rebuild(robot, scene, options, terrain, pose, start)
        self._robot = robot
        self._steps = scene.steps_per_tick
        self._motors = Motors(world, robot, scene.physics_step, options)
        self._friction = Coulomb(world.data, scene, options)
        self._state = StateReader(world, robot, scene)
        self._pushes = [_Shove(push, world, scene) for push in scene.pushes]
        self._tick = 0
        self._ready = True
        return self._settle(start, settle_ticks)

    def _settle(self, start: FloatArray, ticks: int) -> Observation:
        motors = self._motors
        motors.hold(start, stiff=ticks > 0)
        seen = self._read(0)
        for _ in range(ticks):
            self._advance(self._steps)
            seen = self._read(0)
        if ticks:
            motors.release()
        return seen

    def step(self, targets: AppliedTargets) -> Observation:
        """
        Advance one control period and return the state at its end.

        Raises
        ------
        SimulationDiverged
            If the state left the finite or plausible range; only ``reset`` is possible then.
        BadCommand, ConfigurationError
            If the targets cannot be applied; the state is unchanged.
        ProtocolError
            Before a reset or after ``close``.

        """
        if not self._ready:
            raise ProtocolError("engine 'mujoco' needs a reset before it can step")
        samples = self._motors.demands.take(targets, self._steps)
        first = self._tick * self._steps
        per_sample = self._steps // samples
        active = [push for push in self._pushes if push.window.within(first, first + self._steps)]
        for sample in range(samples):
            self._motors.select(sample)
            if active:
                self._advance_pushed(first + sample * per_sample, per_sample, active)
            else:
                self._advance(per_sample)
        self._tick += 1
        return self._read(self._tick)

    def rollout(self, tape: Sequence[AppliedTargets]) -> list[Observation]:
        """Advance one control period per tape entry; equals stepping bit for bit."""
        return [self.step(targets) for targets in tape]

    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""
        self._world = None
        self._ready = False

    def _open_world(self) -> World:
        if self._world is None:
            raise ProtocolError("engine 'mujoco' is closed")
        return self._world

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

    def _read(self, tick: int) -> Observation:
        try:
            return self._state.read(tick, self._motors)
        except SimulationDiverged:
            self._ready = False
            raise


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
