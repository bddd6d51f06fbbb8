"""Scenes of engines: checks, similarity, start pose, rays and the order of a reset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.contracts import Engine
from gait_core.errors import ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.kinematics.start_pose import pose_on_terrain
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import Parameters, make_parameters
from gait_core.robot.load import load_robot
from gait_core.robot.mass import scale_mass
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain, load_terrain
from gait_core.trial.loop import initial_positions
from gait_core.trial.scene import InitialState, Scene
from sim_bridge.engines.shared.scene_checks import check_features
from sim_bridge.engines.shared.similarity import SimilarityScaling


@dataclass(frozen=True)
class SceneStart:
    """
    A scene as an engine simulates it: with a length scale, that of the enlarged robot.

    Attributes
    ----------
    robot : RobotModel
    scene : Scene
    options : Parameters
        Of the engine.
    terrain : Terrain
    pose : (7,) array [m, -]
        Of the root link.
    positions : (m,) array [rad or m]
        By ``target_names``, all at rest.

    """

    robot: RobotModel
    scene: Scene
    options: Any
    terrain: Terrain
    pose: FloatArray
    positions: FloatArray

    @property
    def joint_positions(self) -> FloatArray:
        """Positions of the joints, (n,), without lengths of force elements."""
        return self.positions[: len(self.robot.joint_names)]


class TerrainRayCaster(Protocol):
    """Casts rays at a terrain, apart from the physics."""

    terrain: Terrain

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return the distances of rays to the terrain, (n,) [m], as RangingEngine has it."""

    def close(self) -> None:
        """Release what the engine's library holds."""


class SceneEngine(Engine):
    """
    Base of engines: checks scenes, settles and closes.

    A trial depends on its scene and targets alone, also after one that diverged. Nothing is
    random: the seed of ``reset`` is checked by its owner and not used.

    Parameters
    ----------
    robots : callable of (name, draw)
        Source of robots.

    """

    name: ClassVar[str]
    Options: ClassVar[type[Parameters]]
    RayCaster: ClassVar[type[Any] | None] = None

    def __init__(self, robots: Callable[[str, int], RobotModel] = load_robot) -> None:
        self._load_robot = robots
        self._robot: RobotModel | None = None
        self._scaling: SimilarityScaling | None = None
        self._start: SceneStart | None = None
        self._ray_caster: TerrainRayCaster | None = None
        self._ready = self._closed = False

    @abstractmethod
    def _build(self, start: SceneStart) -> None:
        """Bring the physics to the start of a scene, with all that acts on it and reads it."""

    @abstractmethod
    def _settle(self, positions: FloatArray, ticks: int) -> Observation:
        """Hold positions of joints and lengths of elements (m,) for some control periods."""

    @abstractmethod
    def _observe(self, tick: int) -> Observation:
        """Return the simulated state at a tick; SimulationDiverged if it is no physics."""

    @abstractmethod
    def _release(self) -> None:
        """Release the physics."""

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
        self._check_open()
        self._ready = False
        robot = scale_mass(self._load_robot(scene.robot, scene.draw), scene.mass_factor)
        options: Any = make_parameters(self.Options, scene.engine_options)
        check_features(self.name, self.supported_features, scene, robot)
        positions = initial_positions(robot, scene)
        terrain = load_terrain(scene.terrain)
        self._robot, self._period, self._terrain = robot, scene.control_period, terrain
        self._scaling = scaling = self._make_scaling(scene.length_scale)
        if scaling is not None:
            positions, options = scaling.scale_positions(positions), scaling.scale_options(options)
            robot, scene, terrain = (
                scaling.robot,
                scaling.scale_scene(scene),
                scaling.scale_terrain(terrain),
            )
        pose = self._start_pose(robot, positions, scene.initial, terrain)
        self._start = start = SceneStart(robot, scene, options, terrain, pose, positions)
        self._steps, self._tick = scene.steps_per_tick, 0
        self._build(start)
        observation = self._settle(positions, settle_ticks)
        self._ready = True
        return observation

    def _make_scaling(self, ratio: float) -> SimilarityScaling | None:
        """Return what enlarges the robot, the one at hand if it does; None for a ratio of 1."""
        if ratio == 1.0:
            return None
        if self._scaling is not None and self._scaling.matches(ratio, self.robot):
            return self._scaling
        return SimilarityScaling(ratio, self.robot)

    def _start_pose(
        self, robot: RobotModel, positions: FloatArray, initial: InitialState, terrain: Terrain
    ) -> FloatArray:
        """Return the pose of the root at the start, that of the last reset if nothing changed."""
        last = self._start
        if (
            last is not None
            and last.robot is robot
            and last.terrain is terrain
            and last.scene.initial == initial
            and np.array_equal(last.positions, positions)
        ):
            return last.pose
        return pose_on_terrain(robot, positions, initial, terrain)

    def _read(self, tick: int) -> Observation:
        """Return the state at a tick in units of the real robot; step no more if it diverged."""
        try:
            observation = self._observe(tick)
        except SimulationDiverged:
            self._ready = False
            raise
        return (
            observation
            if self._scaling is None
            else self._scaling.unscale_observation(observation, self._period)
        )

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """
        Return the distances of rays through the scene without its robot, as RangingEngine has it.

        Raises
        ------
        ConfigurationError
            If this engine casts no rays.
        ProtocolError
            Before a reset or after ``close``.

        """
        self._check_ready()
        if self.RayCaster is None:
            raise ConfigurationError(
                f"engine '{self.name}' casts no rays for range sensors; valid: bullet, mujoco"
            )
        if self._ray_caster is None or self._ray_caster.terrain is not self._terrain:
            self._close_ray_caster()
            self._ray_caster = self.RayCaster(self._terrain)
        assert self._ray_caster is not None
        return self._ray_caster.cast(origin, directions, max_distance)

    def _close_ray_caster(self) -> None:
        if self._ray_caster is not None:
            self._ray_caster.close()
            self._ray_caster = None

    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""
        if not self._closed:
            self._closed = True
            self._release()
        self._close_ray_caster()
        self._ready = False

    def _check_open(self) -> None:
        if self._closed:
            raise ProtocolError(f"engine '{self.name}' is closed")

    def _check_ready(self) -> None:
        if not self._ready:
            raise ProtocolError(f"engine '{self.name}' needs a reset before it can step")
