"""
Contracts of everything that can be added: abstract base classes and types of functions.

What is registered under a name derives from the class of its kind, and so has every member.
Studies have theirs in ``gait_tools.study.definition``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.motion.observation import Observation
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape, AppliedTargets, JointTargets, TargetTape
from gait_core.motion.velocity_limits import UNLIMITED, VelocityLimits
from gait_core.parameters.declaration import Parameters
from gait_core.processes.worker_policy import LossCallback, Workload
from gait_core.robot.model import RobotModel
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import EMPTY_MAPPING, Scene
from gait_core.trial.spec import Command, TrialResult, TrialSpec

Arrays = Mapping[str, npt.NDArray[np.generic]]
"""Bulk weights of a controller by name."""
ArrayShapes = Mapping[str, tuple[int, ...]]
"""Shapes of a controller's arrays by name."""


class Controller(ABC):
    """
    Turns commands and observations into joint targets; no clock, no I/O, no engine.

    A registered controller is constructed as ``cls(robot, params)``; one with arrays, too, as
    ``cls(robot, params, arrays)``.

    Class attributes
    ----------------
    Params : type of Parameters
        Its parameters.
    presets : mapping of str to mapping
        Named parameter sets, as differences from the defaults. The first is the default preset.
    set_points : tuple of str
        Names that it takes beside the velocity of a command; a node with those of a posture
        (``gait_ros.live.posture_input``) has topic and service for them.

    """

    Params: ClassVar[type[Parameters]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    set_points: ClassVar[tuple[str, ...]] = ()

    def __init__(self, robot: RobotModel, params: Any, arrays: Arrays = EMPTY_MAPPING) -> None:
        self._params = params

    @classmethod
    def array_shapes(cls, robot: RobotModel, params: Any) -> ArrayShapes:
        """Return the shapes of its arrays of float32; empty: it has none."""
        return EMPTY_MAPPING

    @property
    def params(self) -> Any:
        """The parameters in force."""
        return self._params

    def set_params(self, params: Any) -> None:
        """Replace the parameters while running; they take effect where the controller says."""
        self._params = params

    @property
    def needs(self) -> frozenset[str]:
        """Fields of Observation without which it cannot run with the parameters in force."""
        return frozenset()

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which it follows a commanded velocity, with the parameters in force."""
        return UNLIMITED, UNLIMITED, UNLIMITED

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Return to the initial state; equal seeds give equal behaviour."""

    @abstractmethod
    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """
        Return the targets of the coming control period of length dt [s].

        A live gait that is no longer asked for is commanded no velocity and the set point
        ``stop`` at 1; it ends when its feet are down and its targets rest, or after some time
        (``gait_core.motion.motion_request.GaitStop``). It begins anew by a reset.
        """

    def state(self) -> Mapping[str, float]:
        """
        Return phase and stage by name, for ``gait_state`` and pictures.

        ``stance.<leg>`` is 1 where a foot is meant to be down, else 0: a live gait does not end
        while one is in the air. ``reflex.<name>`` counts how often a reflex has acted.
        """
        return EMPTY_MAPPING

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """
        Return the footholds aimed at, (3,) [m], by leg; of legs that stand, none.

        In the frame of the first root link as it is now: the ground moves on under it.
        """
        return EMPTY_MAPPING


class TapeController(Controller):
    """A controller that also says many control periods ahead what it will ask for."""

    @abstractmethod
    def target_tape(self, dt: float, commands: Sequence[Command]) -> TargetTape | None:
        """
        Return the targets of the coming control periods, one per command; ``None``: step it.

        They are those of as many calls of ``step``, bit for bit, and leave the controller where
        these would. ``None`` changes nothing: it looks at observations with the parameters in
        force. A command that ``step`` refuses raises BadCommand.
        """


class ReflexController(Controller):
    """A controller whose reflexes act where a measured quantity exceeds a threshold."""

    @abstractmethod
    def record_ranges(self) -> None:
        """Record from now on the range of each quantity that a threshold is compared with."""

    @abstractmethod
    def thresholds(self, margin: float) -> dict[str, float]:
        """
        Return thresholds by parameter, outside the recorded ranges by a share of their width.

        The greater a threshold, the less easily its reflex acts. Empty before ``record_ranges``.
        """


class Engine(ABC):
    """
    Physics behind one contract; constructed as ``cls()``, or ``cls(robots)`` with a source.

    ``reset`` is exact: a trial after any history equals the first one to the last bit.

    Class attributes
    ----------------
    supported_features : tuple of str
        Features of robots and scenes that it can simulate.

    """

    supported_features: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def __init__(self, robots: Callable[[str, int], RobotModel] = ...) -> None:
        """Open the physics; ``robots`` returns the robot of a name and a draw (``load_robot``)."""

    @abstractmethod
    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """
        Build the scene and return its state at tick 0.

        The robot holds its initial joint positions until its first targets, and for
        ``settle_ticks`` control periods before tick 0; pushes count from tick 0.
        """

    @abstractmethod
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

    @property
    @abstractmethod
    def robot(self) -> RobotModel:
        """The robot of the current scene."""

    @abstractmethod
    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""


class TapeEngine(ABC):
    """An engine that also advances many control periods faster in one call than by steps."""

    @abstractmethod
    def rollout(self, tape: AppliedTape) -> StateTape:
        """
        Advance one control period per tape entry; equals stepping bit for bit.

        SimulationDiverged carries the states that were reached before.
        """


class Terrain(Protocol):
    """A surface z = height(x, y) in ``odom``."""

    @property
    def heightfield(self) -> HeightField | None:
        """The grid to build in an engine; ``None``: the plane z = 0."""

    @property
    def hash(self) -> str:
        """SHA-256 of the surface itself, whatever name and parameters made it."""

    def height(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the height [m] at points, in their broadcast shape."""

    def normal(self, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the upward unit normal at points, with a last axis of 3."""


class TerrainParameters(Parameters, ABC):
    """The parameters of a registered terrain: a frozen dataclass that builds the surface."""

    @abstractmethod
    def build(self, seed: int) -> Terrain:
        """Return the surface; equal parameters and seed give the same one."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """
    Individual that an optimiser wants evaluated, with its parents.

    Attributes
    ----------
    id : int
    parents : tuple of int
        Ids of the candidates that it was made of.
    values : (n,) array
        Searched parameters in the unit cube, in the order of the space's names.
    arrays : mapping of str to array
        Searched arrays of the controller, such as a network's weights.

    """

    id: int
    parents: tuple[int, ...] = ()
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    arrays: Arrays = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """
    Scores of a candidate.

    Attributes
    ----------
    id : int
        The candidate's.
    status : str
        As of TrialResult; a status that may not win ranks below every other.
    objectives : (m,) array or None
        To be maximised; ``None`` if the status may not win. The first is the fitness.
    measures : mapping of str to float
        Logged beside them.
    constraints : mapping of str to float
        Satisfied when <= 0.

    """

    id: int
    status: str
    objectives: FloatArray | None
    measures: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    constraints: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)

    @property
    def fitness(self) -> float:
        """First objective, or minus infinity where there is none."""
        return float('-inf') if self.objectives is None else float(self.objectives[0])


class Optimizer(ABC):
    """
    Search by ask and tell: of parameters in the unit cube, or of a controller's arrays.

    Constructed as ``cls(dimension=, seed=, **settings)``; a class with ``searches_arrays`` takes
    their ``shapes``, too. ``ask`` twice without ``tell``, or a ``tell`` whose ids are not exactly
    those asked, raises ProtocolError. Replaying the tells of a run on a fresh instance with the
    same seed restores its state exactly.

    Class attributes
    ----------------
    Settings : type of Parameters
        Its settings.
    searches_arrays : bool
        Whether it searches arrays in place of parameters; ``dimension`` is then 0.

    """

    Settings: ClassVar[type[Parameters]]
    searches_arrays: ClassVar[bool] = False

    @abstractmethod
    def __init__(
        self, *, dimension: int, seed: int, shapes: ArrayShapes = EMPTY_MAPPING, **settings: Any
    ) -> None:
        """
        Begin a search.

        Parameters
        ----------
        dimension : int
            Number of parameters.
        seed : int
            Of its generator.
        shapes : mapping of str to tuple of int
            What ``Controller.array_shapes`` returned.
        settings
            Of ``Settings``.

        Raises
        ------
        ConfigurationError
            If a setting is unknown, out of range or does not fit the dimension or the shapes.

        """

    @abstractmethod
    def ask(self) -> list[Candidate]:
        """Return the next candidates."""

    @abstractmethod
    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations of all candidates of the last ask, in any order."""

    def stop(self) -> str:
        """Return why the search is over, or an empty string."""
        return ''

    @property
    def keeps_records(self) -> bool:
        """True if a fitness counts beyond the generation in which it was told."""
        return True

    @property
    def reevaluates(self) -> bool:
        """True if candidates with equal values are asked again: their trials make one mean."""
        return False

    def check_trial(self, trial: TrialSpec) -> None:
        """Raise ConfigurationError for trials in which its candidates are not what it takes."""
        del trial

    def pareto_front(self) -> FloatArray:
        """Return the objectives of the best compromises, (k, m); none of a single objective."""
        return np.empty((0, 1))


ProgressCallback = Callable[[int, TrialResult], None]
"""Called with the index of a finished trial and its result, in order of completion."""


class Evaluator(ABC):
    """
    Runs trials; results come in the order of the specs and depend on them alone.

    A registered evaluator is constructed as ``cls(workers=)``; 0 means as many as there are.

    Attributes
    ----------
    workload : Workload
        What its workers were offered and did.
    lost_workers : int
        Number of workers lost so far.

    """

    def __init__(self, *, workers: int = 0) -> None:
        if workers < 0:
            raise ConfigurationError(f'workers is {workers}, it must not be negative')
        self.workload = Workload()
        self.lost_workers = 0

    @property
    def worker_names(self) -> tuple[str, ...]:
        """Names of the workers at hand, of an evaluator whose workers have names."""
        return ()

    @abstractmethod
    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: ProgressCallback | None = None,
        lost: LossCallback | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec.

        An exception that a trial's own code raises is the status of that trial. The trial of a
        worker that is lost is run again and never scored (``gait_core.processes.worker_policy``);
        ``lost`` is called for each of them.

        Raises
        ------
        RunStopped
            If trials cannot be finished on the workers that there are.

        """

    @abstractmethod
    def close(self) -> None:
        """Stop the workers."""


class Renderer(Protocol):
    """Draws recorded trials without a display; registered as a function."""

    def __call__(
        self, rollout: Rollout, fps: float, size: tuple[int, int]
    ) -> Iterator[npt.NDArray[np.uint8]]:
        """
        Yield pictures, (height, width, 3) RGB, at a frame rate of the trial's own time.

        ``size`` is width and height; the camera follows the robot.
        """


class Viewer(ABC):
    """A window that shows the state of a running trial; constructed as ``cls(robot, terrain)``."""

    @abstractmethod
    def __init__(self, robot: RobotModel, terrain: Terrain) -> None:
        """Open the window; ConfigurationError without a display."""

    @property
    @abstractmethod
    def open(self) -> bool:
        """True if the window has not been closed by its user."""

    @abstractmethod
    def show(self, observation: Observation) -> None:
        """Show a state; without effect once the window is closed."""

    @abstractmethod
    def close(self) -> None:
        """Close the window."""


FitnessTerm = Callable[[Rollout], float]
"""What is wanted of a trial, as a finite number; its weight stands in the experiment."""

Benchmark = Callable[[], Sequence[Measurement]]
"""Measures speed and memory on this machine, for ``gait bench``."""
