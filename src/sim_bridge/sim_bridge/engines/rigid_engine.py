"""What engines of rigid bodies share: the order of a reset, of settling, of a control period."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from gait_core import pulse
from gait_core.arrays import FloatArray
from gait_core.contracts import Engine
from gait_core.errors import ConfigurationError, ProtocolError, SimulationDiverged
from gait_core.observation import Observation
from gait_core.parameters import Parameters, build
from gait_core.placement import base_pose
from gait_core.robot.load import load_robot
from gait_core.robot.mass import heavier
from gait_core.robot.model import RobotModel
from gait_core.scene import InitialState, Push, Scene
from gait_core.state_tape import StateTape, by_steps
from gait_core.targets import AppliedTape, AppliedTargets
from gait_core.terrains import Terrain, load_terrain
from gait_core.trial import initial_positions
from sim_bridge.engines.bounds import CARRIES, PushWindow, refuse_unsupported
from sim_bridge.engines.demands import Demands, Torques
from sim_bridge.engines.rigid_states import StateLog
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


class RigidWorld(Built, Protocol):
    """The same of links that collide."""

    apart: tuple[tuple[str, str], ...]


class RigidMotors(Protocol):
    """Actuators in an engine's own form."""

    demands: Demands
    torques: Torques

    def hold(self, positions: FloatArray, stiff: bool) -> None:
        """Hold joint positions until targets come."""

    def release(self) -> None:
        """End a stiff hold."""

    def load(self, targets: AppliedTargets, steps: int) -> int:
        """Take the targets of a control period; return their sub-samples."""

    def load_tape(self, tape: AppliedTape, steps: int) -> int:
        """Take the targets of many control periods; return the sub-samples of each."""

    def begin(self, period: int) -> None:
        """Begin a control period of the tape."""

    def select(self, sample: int) -> None:
        """Put a sub-sample into force."""


class Shove(Protocol):
    """A push in an engine's own form."""

    window: PushWindow


class Reader(Protocol):
    """Reads the state in an engine's own form."""

    def read(self, tick: int, motors: Any) -> Observation:
        """Return the state at a control tick; SimulationDiverged if it is no physics."""

    def log(self, motors: Any, first: int, count: int) -> StateLog:
        """Return a log for the states of some ticks."""


class TerrainRays(Protocol):
    """Casts rays at a terrain, apart from the physics."""

    terrain: Terrain

    def cast(self, origin: FloatArray, directions: FloatArray, reach: float) -> FloatArray:
        """Return how far rays go, (n,) [m], as RangingEngine has it."""

    def close(self) -> None:
        """Release what the engine's library holds."""


BuiltT = TypeVar('BuiltT', bound=Built)
WorldT = TypeVar('WorldT', bound=RigidWorld)
MotorsT = TypeVar('MotorsT', bound=RigidMotors)
ShoveT = TypeVar('ShoveT', bound=Shove)


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


class RigidEngine(SceneEngine[WorldT], Generic[WorldT, MotorsT, ShoveT]):
    """
    An engine of rigid bodies; a subclass says how its library builds, steps and reads a world.

    Parameters are those of SceneEngine.
    """

    carries: ClassVar[tuple[str, ...]] = CARRIES

    @abstractmethod
    def _bind(
        self, world: WorldT, robot: RobotModel, scene: Scene, options: Any
    ) -> tuple[MotorsT, Reader]:
        """Return actuators and reader of a world that was just built."""

    @abstractmethod
    def _shove(self, push: Push, world: WorldT, scene: Scene) -> ShoveT:
        """Return a push in the engine's own form."""

    @abstractmethod
    def _advance(self, steps: int) -> None:
        """Advance some physics steps."""

    @abstractmethod
    def _advance_pushed(self, first: int, steps: int, pushes: Sequence[ShoveT]) -> None:
        """Advance some physics steps, counted from tick 0, with what pushes then."""

    @property
    def clamped(self) -> Mapping[str, int]:
        """Control periods since the reset in which a joint's target was clamped to its limits."""
        counts = self._motors.demands.clamped.tolist()
        return dict(zip(self.robot.target_names, counts, strict=True))

    @property
    def overspeed(self) -> Mapping[str, int]:
        """Physics steps in which a joint with torque was beyond its velocity limit."""
        counts = self._motors.torques.overspeed.tolist()
        return dict(zip(self.robot.joint_names, counts, strict=True))

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links that overlapped at the start and do not collide in this scene."""
        return self._open_world().apart

    def _equip(self, world: WorldT) -> None:
        """Make actuators, reader and pushes of a world at its start."""
        scene = self._scene
        self._motors, self._state = self._bind(world, self._simulated, scene, self._options)
        self._pushes = [self._shove(push, world, scene) for push in scene.pushes]

    def _settle(self, start: FloatArray, ticks: int) -> Observation:
        motors = self._motors
        motors.hold(start, stiff=ticks > 0)
        seen = self._read(0)
        for _ in range(ticks):
            self._advance(self._steps)
            pulse.beat()
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
        self._check_ready()
        if self._similar is not None:
            targets = self._similar.targets(targets)
        samples = self._motors.load(targets, self._steps)
        try:
            self._advance_period(samples)
        except SimulationDiverged:
            self._ready = False
            raise
        return self._read(self._tick)

    def _advance_period(self, samples: int) -> None:
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

    def rollout(self, tape: Sequence[AppliedTargets]) -> StateTape:
        """
        Advance one control period per tape entry; equals stepping bit for bit.

        Raises what ``step`` does. An ``AppliedTape`` is checked as a whole before it begins.
        """
        if not isinstance(tape, AppliedTape):
            return by_steps(self.step, tape)
        self._check_ready()
        if self._similar is not None:
            tape = self._similar.tape(tape)
        motors = self._motors
        samples = motors.load_tape(tape, self._steps)
        log = self._state.log(motors, self._tick + 1, len(tape))
        try:
            self._play(log, samples)
        except SimulationDiverged as error:
            self._ready = False
            raise SimulationDiverged(str(error), self._real(log.tape())) from error
        return self._real(log.tape())

    def _play(self, log: StateLog, samples: int) -> None:
        """Advance the periods of the tape that was loaded, and read the state after each."""
        for period in range(len(log.rows)):
            self._motors.begin(period)
            self._advance_period(samples)
            pulse.beat()
            log.read()

    def _real(self, states: StateTape) -> StateTape:
        similar = self._similar
        return states if similar is None else similar.seen_tape(states, self._period)

    def _read(self, tick: int) -> Observation:
        try:
            seen = self._state.read(tick, self._motors)
        except SimulationDiverged:
            self._ready = False
            raise
        return seen if self._similar is None else self._similar.seen(seen, self._period)
