"""Protocols that controllers, engines, optimisers and evaluators implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gait_core.arrays import FloatArray
from gait_core.observation import Observation
from gait_core.parameters import Parameters
from gait_core.robot.model import RobotModel
from gait_core.rollout import Rollout
from gait_core.scene import NOTHING, Scene
from gait_core.state_tape import StateTape
from gait_core.targets import AppliedTargets, JointTargets, TargetTape
from gait_core.trial_spec import Command, TrialResult, TrialSpec
from gait_core.worker_policy import Lost


class Controller(Protocol):
    """
    Turns commands and observations into joint targets; no clock, no I/O, no engine.

    A registered controller is a class constructed as ``cls(robot, params)``; one with bulk
    weights takes them as ``cls(robot, params, weights)`` where weights maps names to arrays.

    Class attributes
    ----------------
    Params : type of Parameters
        Its parameters.
    presets : mapping of str to mapping
        Named parameter sets, as differences from the defaults. The first is the default preset.
    set_points : tuple of str, optional
        Names that it takes beside the velocity of a command; a node with those of a posture
        (``gait_ros.posture_input``) has topic and service for them.

    Attributes
    ----------
    velocity_bounds : Bounds, optional
        Of ``gait_core.velocity_bounds``: what of a commanded velocity it follows, with the
        parameters in force. Who asks for more is told.
    """

    Params: ClassVar[type[Parameters]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]

    @property
    def needs(self) -> frozenset[str]:
        """Fields of Observation without which it cannot run with the parameters in force."""

    @property
    def params(self) -> Any:
        """The parameters in force."""

    def set_params(self, params: Any) -> None:
        """Replace the parameters while running; they take effect where the controller says."""

    def reset(self, seed: int) -> None:
        """Return to the initial state; equal seeds give equal behaviour."""

    def step(self, dt: float, command: Command, observation: Observation) -> JointTargets:
        """
        Return the targets of the coming control period of length dt [s].

        A live gait that is no longer asked for is commanded no velocity and the set point
        ``stop`` at 1; it ends when its feet are down and its targets rest, or after some time
        (``gait_core.motion_request.GaitStop``). It begins anew by a reset.
        """

    def state(self) -> Mapping[str, float]:
        """
        Return phase and stage by name, for ``gait_state`` and pictures.

        ``stance.<leg>`` is 1 where a foot is meant to be down, else 0: a live gait does not end
        while one is in the air.
        """


class FootholdController(Controller, Protocol):
    """A controller that can also say where the feet that it swings are going to land."""

    def landings(self) -> Mapping[str, FloatArray]:
        """
        Return the footholds aimed at, (3,) [m], by leg; of legs that stand, none.

        In the frame of the first root link as it is now: the ground moves on under it.
        """


class OpenLoopController(Controller, Protocol):
    """A controller that can also say many control periods ahead what it will ask for."""

    def tape(self, dt: float, commands: Sequence[Command]) -> TargetTape | None:
        """
        Return the targets of the coming control periods, one per command.

        They are those of as many calls of ``step``, bit for bit, and leave the controller where
        these would. ``None``, with nothing changed, if it looks at observations with the
        parameters in force. A command that ``step`` refuses raises BadCommand.
        """


class Engine(Protocol):
    """
    Physics behind one contract; constructed without arguments, once per process.

    ``reset`` is exact: a trial after any history equals the first one to the last bit.
    """

    def reset(self, scene: Scene, seed: int, settle_ticks: int = 0) -> Observation:
        """
        Build the scene and return its state at tick 0.

        The robot holds its initial joint positions until its first targets, and for
        ``settle_ticks`` control periods before tick 0; pushes count from tick 0.
        """

    def step(self, targets: AppliedTargets) -> Observation:
        """Advance one control period and return the state at its end."""

    @property
    def robot(self) -> RobotModel:
        """The robot of the current scene."""

    def close(self) -> None:
        """Release the physics; further calls raise ProtocolError."""


class TapeEngine(ABC):
    """An engine that also advances many control periods faster in one call than by steps."""

    @abstractmethod
    def rollout(self, tape: Sequence[AppliedTargets]) -> StateTape:
        """
        Advance one control period per tape entry; equals stepping bit for bit.

        SimulationDiverged carries the states that were reached before.
        """


class BatchEngine(Engine, Protocol):
    """An engine that can also try many open-loop tapes from one state at a time."""

    def rollout_batch(
        self, tapes: Sequence[Sequence[AppliedTargets]], threads: int
    ) -> list[StateTape]:
        """
        Advance each tape from the present state, which stays as it is.

        Equals ``rollout`` of each tape bit for bit, whatever the threads. A tape whose physics
        diverges ends before the control period in which it did.
        """


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A point of the unit cube that an optimiser wants evaluated, and where it came from."""

    id: int
    genome: FloatArray
    parents: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """
    What a candidate scored.

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
    measures: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    constraints: Mapping[str, float] = field(default_factory=lambda: NOTHING)

    @property
    def fitness(self) -> float:
        """First objective, or minus infinity where there is none."""
        return float('-inf') if self.objectives is None else float(self.objectives[0])


class Optimizer(Protocol):
    """
    Search over the unit cube by ask and tell.

    Constructed as ``cls(dimension=, seed=, **settings)``, where ``Settings`` is its Parameters
    dataclass. ``ask`` twice without ``tell``, or a ``tell`` whose ids are not exactly those asked,
    raises ProtocolError. Replaying the tells of a run on a fresh instance with the same seed
    restores its state exactly.
    """

    Settings: ClassVar[type[Parameters]]

    def ask(self) -> list[Candidate]:
        """Return the next candidates."""

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations of all candidates of the last ask, in any order."""

    def stop(self) -> str:
        """Return why the search is over, or an empty string."""


Progress = Callable[[int, TrialResult], None]
"""Called with the index of a finished trial and its result, in order of completion."""


class Evaluator(Protocol):
    """Runs trials; results come in the order of the specs and depend on them alone."""

    def evaluate(
        self,
        specs: Sequence[TrialSpec],
        progress: Progress | None = None,
        lost: Lost | None = None,
    ) -> list[TrialResult]:
        """
        Return one result per spec.

        An exception that a trial's own code raises is the status of that trial. The trial of a
        worker that is lost is run again and never scored (``gait_core.worker_policy``); ``lost``
        is called for each of them.

        Raises
        ------
        RunStopped
            If trials cannot be finished on the workers that there are.

        """

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


class Viewer(Protocol):
    """
    A window that mirrors states; registered as a class, constructed as ``cls(robot, terrain)``.

    The constructor raises ConfigurationError without a display.
    """

    @property
    def open(self) -> bool:
        """Whether the window has not been closed by its user."""

    def show(self, observation: Observation) -> None:
        """Show a state; without effect once the window is closed."""

    def close(self) -> None:
        """Close the window."""
