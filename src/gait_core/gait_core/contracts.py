# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Contracts of all extension points: abstract base classes and types of functions.

A class that is registered under a name derives from the base class of its kind, and so has every
member. The contract of studies is in ``gait_tools.study.definition``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
import threading
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.benchmark import Measurement
from gait_core.errors import ConfigurationError, RunCancelled
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
        Names of the set points of a command that it reads. A node offers a topic and a service
        for those of a posture (``gait_ros.live.posture_input``).

    """

    Params: ClassVar[type[Parameters]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    set_points: ClassVar[tuple[str, ...]] = ()

    def __init__(self, robot: RobotModel, params: Any, arrays: Arrays = EMPTY_MAPPING) -> None:
        self._params = params

    @classmethod
    def array_shapes(cls, robot: RobotModel, params: Any) -> ArrayShapes:
        """Return the shapes of its float32 arrays by name; empty without arrays."""
        return EMPTY_MAPPING

    @property
    def params(self) -> Any:
        """The parameters in force."""
        return self._params

    def set_params(self, params: Any) -> None:
        """Replace the parameters while running; a controller documents when they take effect."""
        self._params = params

    @property
    def needs(self) -> frozenset[str]:
        """Fields of Observation that it requires with the parameters in force."""
        return frozenset()

    @property
    def velocity_limits(self) -> VelocityLimits:
        """Limits within which a commanded velocity is followed, with the parameters in force."""
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

        ``stance.<leg>`` is 1 while the gait has the foot in stance, else 0: a live gait does not
        end during a swing. ``reflex.<name>`` is the number of times that a reflex has acted.
        """
        return EMPTY_MAPPING

    def planned_footholds(self) -> Mapping[str, FloatArray]:
        """
        Return the foothold of each leg in swing, (3,) [m], by leg name.

        Positions are in the present frame of the first root link. Legs in stance are absent.
        """
        return EMPTY_MAPPING


class TapeController(Controller):
    """A controller that can compute its targets many control periods ahead."""

    @abstractmethod
    def target_tape(self, dt: float, commands: Sequence[Command]) -> TargetTape | None:
        """
        Return the targets of the coming control periods, one per command; ``None``: step it.

        Equal bit for bit to as many calls of ``step``, which also leave the controller in the
        same state. ``None`` changes nothing: with the parameters in force the controller reads
        observations. A command that ``step`` refuses raises BadCommand.
        """


class ReflexController(Controller):
    """A controller whose reflexes act where a measured quantity exceeds a threshold."""

    @abstractmethod
    def record_ranges(self) -> None:
        """Record from now on the range of each quantity that a threshold is compared with."""

    @abstractmethod
    def thresholds(self, margin: float) -> dict[str, float]:
        """
        Return a threshold per parameter, outside its recorded range.

        The distance to the range is ``margin`` times the width of the range. The greater a
        threshold, the less easily its reflex acts. Empty before ``record_ranges``.
        """


class Engine(ABC):
    """
    Physics of a scene; constructed as ``cls()``, or ``cls(robots)`` with a source of robots.

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

    @classmethod
    def check_options(cls, options: Mapping[str, float]) -> None:
        """Raise ConfigurationError for engine options of a scene that ``reset`` would refuse."""
        del options

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
    """An engine that advances many control periods in one call, faster than by steps."""

    @abstractmethod
    def rollout(self, tape: AppliedTape) -> StateTape:
        """
        Advance one control period per tape entry and return the states at their ends.

        They equal those of ``step`` bit for bit. SimulationDiverged has the states before it.
        """


class Terrain(Protocol):
    """A surface z = height(x, y) in ``odom``."""

    @property
    def heightfield(self) -> HeightField | None:
        """The grid to build in an engine; ``None``: the plane z = 0."""

    @property
    def hash(self) -> str:
        """SHA-256 of the surface, independent of its name and parameters."""

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
    Candidate that an optimiser asks for, with its parents.

    Attributes
    ----------
    id : int
    parents : tuple of int
        Ids of the candidates from which it was made.
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
    Evaluation of a candidate over its trials.

    Attributes
    ----------
    id : int
        Id of the candidate.
    status : str
        As of TrialResult; a status without a fitness ranks below every other.
    objectives : (m,) array or None
        To be maximised; ``None`` if the status gives none. The first is the fitness.
    measures : mapping of str to float
        Metrics that the experiment names, in their units; an undefined one is absent. Means over
        the repeats on the engine that decides the fitness.
    constraints : mapping of str to float
        Violation of each constraint of the experiment: satisfied when <= 0, violated when > 0,
        infinite if its metric is undefined. It is the excess over the bound as a share of the
        size of the bound, or in the unit of the metric for a bound of 0. The compared value is
        the mean over the repeats, on the engine where the violation is largest.

    ``measures`` and ``constraints`` are empty if the status gives no objectives.

    """

    id: int
    status: str
    objectives: FloatArray | None
    measures: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)
    constraints: Mapping[str, float] = field(default_factory=lambda: EMPTY_MAPPING)

    @property
    def fitness(self) -> float:
        """First objective; minus infinity without objectives."""
        return float('-inf') if self.objectives is None else float(self.objectives[0])

    @property
    def is_feasible(self) -> bool:
        """True if it has objectives and satisfies every constraint."""
        return self.objectives is not None and all(x <= 0.0 for x in self.constraints.values())


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
    ranks_constraints : bool
        Whether candidates that violate constraints rank below all that satisfy them. Without it
        an experiment with constraints is refused.

    """

    Settings: ClassVar[type[Parameters]]
    searches_arrays: ClassVar[bool] = False
    ranks_constraints: ClassVar[bool] = False

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
            Seed of its random generator.
        shapes : mapping of str to tuple of int
            As ``Controller.array_shapes`` returns them.
        settings
            Fields of ``Settings``.

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
        """Receive the evaluations of all candidates of the last ask, in any order."""

    def stop(self) -> str:
        """Return the reason why the search is over; empty while it goes on."""
        return ''

    @property
    def keeps_fitness(self) -> bool:
        """True if the fitness of a candidate counts in later generations, too."""
        return True

    @property
    def reevaluates(self) -> bool:
        """True if equal candidates are asked for again, to average over all their trials."""
        return False

    @property
    def max_candidates(self) -> int:
        """Largest number of candidates whose tells can be replayed in a minute; 0: any number."""
        return 0

    def check_trial(self, trial: TrialSpec) -> None:
        """Raise ConfigurationError if its candidates do not fit a trial."""
        del trial

    def pareto_front(self) -> FloatArray:
        """Return the objectives of the Pareto front, (k, m); empty for a single objective."""
        return np.empty((0, 1))


ProgressCallback = Callable[[int, TrialResult], None]
"""Called with the index of a finished trial and its result, in order of completion."""


MAX_WORKERS = 1000
"""Largest number of workers of an evaluator: more is a mistake."""


class Evaluator(ABC):
    """
    Runs trials; results come in the order of the specs and depend on them alone.

    A registered evaluator is constructed as ``cls(workers=)``, at most ``MAX_WORKERS``; 0: all
    that are available.

    Attributes
    ----------
    workload : Workload
        Time offered to its workers, and spent by them in trials.
    lost_workers : int
        Number of workers lost so far.
    log_folder : Path or None
        Folder for the output of its workers, of evaluators that keep it; set by the run.

    """

    def __init__(self, *, workers: int = 0) -> None:
        if workers < 0:
            raise ConfigurationError(
                f'workers is {workers}, it must not be negative; nearest valid: 0'
            )
        if workers > MAX_WORKERS:
            raise ConfigurationError(f'workers is {workers}; nearest valid: {MAX_WORKERS}')
        self.workload = Workload()
        self.lost_workers = 0
        self.log_folder: Path | None = None
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """End ``evaluate`` with RunCancelled, now and later; any thread may call this."""
        self._cancelled.set()

    def raise_if_cancelled(self) -> None:
        """Raise RunCancelled after ``cancel``; ``evaluate`` calls this at least once a second."""
        if self._cancelled.is_set():
            raise RunCancelled

    @property
    def worker_names(self) -> tuple[str, ...]:
        """Names of the live workers; empty if workers have no names."""
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
        ``lost`` is called for each lost worker.

        Raises
        ------
        RunStopped
            If trials cannot be finished with the workers that are left.
        RunCancelled
            After a call of ``cancel``, also in the middle of a trial.

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
    def is_open(self) -> bool:
        """True if the window has not been closed by its user."""

    @abstractmethod
    def show(self, observation: Observation) -> None:
        """Show a state; without effect once the window is closed."""

    @abstractmethod
    def close(self) -> None:
        """Close the window."""


FitnessTerm = Callable[[Rollout], float]
"""Quantity of a rollout, a finite number; an experiment gives its weight in the fitness."""

Benchmark = Callable[[], Sequence[Measurement]]
"""Measures speed and memory on this machine, for ``gait bench``."""
