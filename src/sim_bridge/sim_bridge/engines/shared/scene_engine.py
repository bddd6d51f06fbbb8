# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Base class of engines: checks of the scene, scaling, start pose, rays and settling."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
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
from gait_core.trial.parts import initial_positions
from gait_core.trial.scene import InitialState, Scene
from sim_bridge.engines.shared.scene_checks import check_features
from sim_bridge.engines.shared.similarity import SimilarityScaling


@dataclass(frozen=True)
class SceneStart:
    """
    Start of a scene as an engine simulates it; with a length scale, all parts are scaled.

    Attributes
    ----------
    robot : RobotModel
    scene : Scene
    options : Parameters
        Options of the engine.
    terrain : Terrain
    pose : (7,) array [m, -]
        Pose of the root link.
    positions : (m,) array [rad or m]
        By ``target_names``; all velocities are zero.

    """

    robot: RobotModel
    scene: Scene
    options: Any
    terrain: Terrain
    pose: FloatArray
    positions: FloatArray

    @property
    def joint_positions(self) -> FloatArray:
        """Positions of the joints, (n,), without the lengths of force elements."""
        return self.positions[: len(self.robot.joint_names)]


class TerrainRayCaster(Protocol):
    """Ray caster at a terrain, separate from the physics."""

    terrain: Terrain

    def cast(self, origin: FloatArray, directions: FloatArray, max_distance: float) -> FloatArray:
        """Return the distances of rays, (n,) [m], as ``RangingEngine.cast`` defines them."""

    def close(self) -> None:
        """Release the resources of the engine's library."""


class SceneEngine(Engine):
    """
    Base of engines: checks and prepares the scene, settles the robot, casts rays and closes.

    A trial depends on its scene and targets alone, also after a trial that diverged. Nothing is
    random: the seed of ``reset`` is not used, and the caller checks it.

    Parameters
    ----------
    robots : callable of (name, draw)
        Function that returns a robot.

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
        """Set the physics, its actuators, pushes and reader to the start of a scene."""

    @abstractmethod
    def _settle(self, positions: FloatArray, ticks: int) -> Observation:
        """Hold joint positions and element lengths, (m,), for ``ticks`` control periods."""

    @abstractmethod
    def _observe(self, tick: int) -> Observation:
        """Return the observation at a tick; SimulationDiverged if it is beyond its limits."""

    @abstractmethod
    def _release(self) -> None:
        """Release the physics."""

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""
        if self._robot is None:
            raise ProtocolError(f"engine '{self.name}' has no robot before its first reset")
        return self._robot

    @classmethod
    def check_options(cls, options: Mapping[str, float]) -> None:
        """Raise ConfigurationError for an unknown option or a value out of its range."""
        make_parameters(cls.Options, options)

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """
        Build the scene and return its state at tick 0.

        Raises
        ------
        ConfigurationError
            If the scene needs a feature that this engine or the robot lacks.
        SimulationDiverged
            If the physics diverges during settling.

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
        """Return the scaling by a length ratio, reusing the last if equal; None for ratio 1."""
        if ratio == 1.0:
            return None
        if self._scaling is not None and self._scaling.matches(ratio, self.robot):
            return self._scaling
        return SimilarityScaling(ratio, self.robot)

    def _start_pose(
        self, robot: RobotModel, positions: FloatArray, initial: InitialState, terrain: Terrain
    ) -> FloatArray:
        """Return the start pose of the root; that of the last reset if nothing has changed."""
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
        """Return the observation at a tick in real units; after a divergence refuse to step."""
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
        Return the distances of rays through the scene without its robot, (n,) [m].

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
