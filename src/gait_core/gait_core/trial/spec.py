# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Specification of a trial as data, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import Annotated, Any

from gait_core.errors import ConfigurationError
from gait_core.parameters.plain_data import added_field
from gait_core.parameters.schema import Coordinate, NumberRange
from gait_core.trial.randomisation import check_ranges
from gait_core.trial.scene import EMPTY_MAPPING, Scene
from gait_core.trial.seeding import check_seed

OK = 'ok'
FELL = 'fell'
DIVERGED = 'diverged'


Weight = Annotated[float, NumberRange(-1e9, 1e9)]
"""Weight of a fitness term, or limit of a gate."""
MAX_TICKS = 10_000_000
"""Largest number of control periods after settling: 55 hours at 50 Hz. More is a mistake."""


def invalid_status(reason: str) -> str:
    """Return the status of a trial that a gate or a protocol fault ended."""
    return f'invalid:{reason}'


EXCEPTION = 'invalid:exception'
"""Status: code of a controller, a fitness term or a robot raised an exception."""
SKIPPED = 'invalid:skipped'
"""Status: the trial was skipped at the user's request."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """
    Command to a controller.

    Attributes
    ----------
    velocity : (3,) tuple [m/s, m/s, rad/s]
        Forward, left and yaw rate, in the base frame.
    set_points : mapping of str to float
        Named quantities that the controller defines, e.g. ``stop``.

    """

    velocity: tuple[Coordinate, Coordinate, Coordinate] = (0.0, 0.0, 0.0)
    set_points: Mapping[str, Coordinate] = field(default_factory=lambda: EMPTY_MAPPING)

    def __post_init__(self) -> None:
        """Check that every number is finite."""
        velocity = zip(('x', 'y', 'yaw'), self.velocity, strict=True)
        for name, value in (*velocity, *self.set_points.items()):
            if not math.isfinite(value):
                raise ConfigurationError(f'command.{name} is {value}, expected a finite number')


@dataclass(frozen=True, kw_only=True)
class TimedCommand:
    """A command that holds from ``time`` (s since the start of the trial) to the next one."""

    time: Annotated[float, NumberRange(-1e7, 1e7, 's')]
    command: Command

    def __post_init__(self) -> None:
        """Check that the time is finite."""
        if not math.isfinite(self.time):
            raise ConfigurationError(
                f'the time of a command is {self.time} s, expected a finite number'
            )


@dataclass(frozen=True, kw_only=True)
class Milestone:
    """
    Distance that a robot must have moved by a time, else the trial is ``invalid:hopeless``.

    ``time`` [s] since the start of the trial; ``moved`` [m], the horizontal distance of the mean
    position of the root links from that at the start.
    """

    time: Coordinate
    moved: Coordinate

    def __post_init__(self) -> None:
        """Check that both are positive."""
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0.0):
                raise ConfigurationError(f'hopeless.{name} is {value}, it must be positive')


@dataclass(frozen=True, kw_only=True)
class TrialSpec:
    """
    Everything that determines a trial's result.

    Attributes
    ----------
    scene : Scene
    controller : str
        Registered controller.
    parameters : mapping of str to number, bool, str or list of float
        Controller parameters by name, in the units of the controller's dataclass.
    script : tuple of TimedCommand
        In order of time. Before the first one: no velocity and no set points.
    seed : int
    duration : float [s]
        Whole control periods are run: ``round(duration / control_period)``.
    settle_time : float [s]
        Time before tick 0 in which the robot holds its initial joint positions.
    fitness_terms : mapping of str to float
        Weight by registered term; fitness is their weighted sum. Empty: no fitness.
    gates : mapping of str to float
        Limit by gate (``gait_core.trial.gates``): a trial that exceeds one is invalid. Empty:
        no gate is checked.
    weights : str
        File with a controller's bulk weights (``.npz``); empty: none.
    weights_sha256 : str
        Their hash, checked when loading. Empty: none.
    randomise : mapping of str to (float, float)
        Range of each quantity of the scene that is drawn from the seed
        (``gait_core.trial.randomisation``).
    hopeless : tuple of Milestone
        In order of time. A trial that misses one ends early, as ``invalid:hopeless``.

    """

    scene: Scene
    controller: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    script: tuple[TimedCommand, ...] = ()
    seed: int = 0
    duration: float = 10.0
    settle_time: float = 0.0
    fitness_terms: Mapping[str, Weight] = field(default_factory=lambda: EMPTY_MAPPING)
    gates: Mapping[str, Weight] = field(default_factory=lambda: EMPTY_MAPPING)
    weights: str = ''
    weights_sha256: str = ''
    randomise: Mapping[str, tuple[float, float]] = added_field(factory=lambda: EMPTY_MAPPING)
    hopeless: tuple[Milestone, ...] = added_field(())

    def __post_init__(self) -> None:
        """Check seed and times, and that a robot with a fixed base has no fitness."""
        check_seed(self.seed)
        if not (math.isfinite(self.duration) and self.duration > 0.0):
            raise ConfigurationError(f'duration is {self.duration} s, it must be positive')
        if not (math.isfinite(self.settle_time) and self.settle_time >= 0.0):
            raise ConfigurationError(
                f'settle_time is {self.settle_time} s, it must not be negative'
            )
        for name, seconds in (('duration', self.duration), ('settle_time', self.settle_time)):
            longest = MAX_TICKS * self.scene.control_period
            if seconds > longest:
                raise ConfigurationError(
                    f'{name} is {seconds:g} s, longer than {MAX_TICKS} control periods; '
                    f'nearest valid: {longest:g} s'
                )
        if self.weights_sha256 and not self.weights:
            raise ConfigurationError('weights_sha256 is given, but weights names no file')
        for term, weight in self.fitness_terms.items():
            if not math.isfinite(weight):
                raise ConfigurationError(
                    f"fitness term '{term}' has weight {weight}, expected a finite number"
                )
        if self.ticks < 1:
            raise ConfigurationError(
                f'duration {self.duration} s is shorter than one control period '
                f'({self.scene.control_period} s)'
            )
        times = [item.time for item in self.script]
        if times != sorted(times):
            raise ConfigurationError(f'the command script is not in order of time: {times}')
        if self.scene.fixed_base and self.fitness_terms:
            raise ConfigurationError(
                'fitness_terms are given, but a robot with scene.fixed_base gets no fitness'
            )
        check_ranges(self.scene, self.randomise)
        self._check_milestones()

    def _check_milestones(self) -> None:
        """Check that milestones are in order of time and before the end."""
        times = [milestone.time for milestone in self.hopeless]
        if times != sorted(set(times)):
            raise ConfigurationError(f'hopeless is not in order of time: {times}')
        for time in times:
            if time >= self.duration:
                raise ConfigurationError(
                    f'hopeless.time is {time:g} s, not before the end of the trial at '
                    f'{self.duration:g} s; nearest '
                    f'valid: {max(self.duration - self.scene.control_period, 0.0):g}'
                )

    @property
    def ticks(self) -> int:
        """Control periods of the trial."""
        return round(self.duration / self.scene.control_period)


_TIME_TOLERANCE = 1e-9
"""Time [s] by which a tick may precede a command that holds at it, by rounding."""


class CommandScript:
    """
    Commands of a script, read in order of time.

    Before the first item: no velocity and no set points.

    Attributes
    ----------
    next_change : float [s]
        Time of the next change of the command; infinite after the last item.

    """

    def __init__(self, script: tuple[TimedCommand, ...]) -> None:
        self._script = script
        self._next = 0
        self._current = Command()
        self.next_change = script[0].time - _TIME_TOLERANCE if script else math.inf

    def command_at(self, time: float) -> Command:
        """Return the command that holds at a time [s], not before that of the last call."""
        while self.next_change <= time:
            self._current = self._script[self._next].command
            self._next += 1
            is_last = self._next == len(self._script)
            self.next_change = (
                math.inf if is_last else self._script[self._next].time - _TIME_TOLERANCE
            )
        return self._current


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """
    Outcome of a trial.

    Attributes
    ----------
    status : str
        ``ok``, ``fell``, ``diverged`` or ``invalid:<reason>``. Only the first two give a
        fitness.
    metrics : mapping of str to float
        By the names of ``doc/measures.md``; an undefined one is absent. Never NaN.
    terms : mapping of str to float
        Fitness terms before weighting; empty unless the status gives a fitness.
    fitness : float or None
        Weighted sum of the terms, to be maximised; ``None`` unless the status gives one.
    trial_hash : str
        SHA-256 of every tick's states and applied targets, then the status.
    spec_hash : str
        SHA-256 of the spec.
    fingerprint : str
        The platform on which the hash holds.
    ticks : int
        Control periods that were run.
    fell_at : float or None [s]
    wall_time : float [s]
        Time of the whole trial including the reset; not compared.
    reason : str
        Reason for the status in one line; empty for ``ok``.

    """

    status: str
    metrics: Mapping[str, float]
    terms: Mapping[str, float]
    fitness: float | None
    trial_hash: str
    spec_hash: str
    fingerprint: str
    ticks: int
    fell_at: float | None = None
    wall_time: float = 0.0
    reason: str = ''

    @property
    def has_fitness(self) -> bool:
        """True if the status gives a fitness."""
        return self.status in (OK, FELL)
