"""Reset of engines of rigid bodies: the order in which a scene is built and settles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Engine
from gait_core.errors import ConfigurationError, ProtocolError
from gait_core.observation import Observation
from gait_core.parameters import Parameters, build
from gait_core.placement import base_pose
from gait_core.robot.load import load_robot
from gait_core.robot.mass import heavier
from gait_core.robot.model import RobotModel
from gait_core.scene import InitialState, Scene
from gait_core.terrains import Terrain, load_terrain
from gait_core.trial import initial_positions
from sim_bridge.engines.bounds import refuse_unsupported
from sim_bridge.engines.similarity import Similarity

Placed = tuple[RobotModel, Terrain, InitialState, FloatArray, FloatArray]
"""A robot on a terrain, how it starts, its positions then, and the pose of its root."""


class Built(Protocol):
    """Robot and ground in an engine's own form."""

    def rebuild(
        self,
        robot: RobotModel,
        scene: Scene,
        options: Any,
        terrain: Terrain,
        pose: FloatArray,
        positions: FloatArray,
    ) -> None:
        """Become the scene with the robot at its start."""

    def close(self) -> None:
        """Release what the engine's library holds."""


class TerrainRays(Protocol):
    """Casts rays at a terrain, apart from the physics."""

    terrain: Terrain

    def cast(self, origin: FloatArray, directions: FloatArray, reach: float) -> FloatArray:
        """Return how far rays go, (n,) [m], as RangingEngine has it."""

    def close(self) -> None:
        """Release what the engine's library holds."""


BuiltT = TypeVar('BuiltT', bound=Built)


class SceneEngine(Engine, Generic[BuiltT]):
    """
    What every engine of the suite does around its physics: build scenes, settle, close.

    A trial depends on its scene and targets alone, also after one that diverged. Nothing is
    random: the seed of ``reset`` is checked by its owner and not used.

    Parameters
    ----------
    robots : callable of (name, draw)
        Where robots come from.

    """

    name: ClassVar[str]
    Options: ClassVar[type[Parameters]]
    carries: ClassVar[tuple[str, ...]]
    Rays: ClassVar[type[Any] | None] = None

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        self._robots = robots
        self._world: BuiltT | None = self._open()
        self._robot: RobotModel | None = None
        self._similar: Similarity | None = None
        self._placed: Placed | None = None
        self._ready = False
        self._rays: TerrainRays | None = None

    @abstractmethod
    def _open(self) -> BuiltT:
        """Return an empty world."""

    @abstractmethod
    def _equip(self, world: BuiltT) -> None:
        """Make what acts on and reads a world at its start."""

    @abstractmethod
    def _settle(self, start: FloatArray, ticks: int) -> Observation:
        """Hold positions of joints and lengths of elements (m,) for some control periods."""

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""
        if self._robot is None:
            raise ProtocolError(f"engine '{self.name}' has no robot before its first reset")
        return self._robot

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
        robot = heavier(self._robots(scene.robot, scene.draw), scene.mass_factor)
        options: Any = build(self.Options, scene.engine_options)
        refuse_unsupported(self.name, self.carries, scene, robot)
        start = initial_positions(robot, scene)
        terrain = load_terrain(scene.terrain)
        self._robot, self._period, self._terrain = robot, scene.control_period, terrain
        self._similar = similar = self._similarity(scene.length_scale)
        if similar is not None:
            start, options = similar.positions(start), similar.options(options)
            robot, scene, terrain = similar.robot, similar.scene(scene), similar.terrain(terrain)
        pose = self._start_pose(robot, start, scene.initial, terrain)
        world.rebuild(robot, scene, options, terrain, pose, start[: len(robot.joint_names)])
        self._simulated = robot
        self._scene, self._options = scene, options
        self._steps = scene.steps_per_tick
        self._equip(world)
        self._tick = 0
        seen = self._settle(start, settle_ticks)
        self._ready = True
        return seen

    def _start_pose(
        self, robot: RobotModel, start: FloatArray, initial: InitialState, terrain: Terrain
    ) -> FloatArray:
        """Return the pose of the root at the start, that at hand if it is of the same scene."""
        kept = self._placed
        same = kept is not None and kept[0] is robot and kept[1] is terrain
        if kept is None or not (same and kept[2] == initial and np.array_equal(kept[3], start)):
            pose = base_pose(robot, start, initial, terrain)
            self._placed = kept = robot, terrain, initial, start, pose
        return kept[4]

    def _similarity(self, ratio: float) -> Similarity | None:
        """Return what enlarges the robot, the one at hand if it does; None for a ratio of 1."""
        if ratio == 1.0:
            return None
        if self._similar is not None and self._similar.fits(ratio, self.robot):
            return self._similar
        return Similarity(ratio, self.robot)

    def cast(self, origin: FloatArray, directions: FloatArray, reach: float) -> FloatArray:
        """
        Return how far rays go through the scene without its robot, as RangingEngine has it.

        Raises
        ------
        ConfigurationError
            If this engine casts no rays.
        ProtocolError
            Before a reset or after ``close``.

        """
        self._check_ready()
        if self.Rays is None:
            raise ConfigurationError(
                f"engine '{self.name}' casts no rays for range sensors; valid: bullet, mujoco"
            )
        if self._rays is None or self._rays.terrain is not self._terrain:
            self._drop_rays()
            self._rays = self.Rays(self._terrain)
        assert self._rays is not None
        return self._rays.cast(origin, directions, reach)

    def _drop_rays(self) -> None:
        if self._rays is not None:
            self._rays.close()
            self._rays = None

    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""
        if self._world is not None:
            self._world.close()
            self._world = None
        self._drop_rays()
        self._ready = False

    def _check_ready(self) -> None:
        if not self._ready:
            raise ProtocolError(f"engine '{self.name}' needs a reset before it can step")

    def _open_world(self) -> BuiltT:
        if self._world is None:
            raise ProtocolError(f"engine '{self.name}' is closed")
        return self._world
