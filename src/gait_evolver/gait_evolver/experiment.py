# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Experiment files: robot, controller, genes, trial, fitness and optimiser of a search.

A file belongs to a package (``experiments/<name>.yaml``) or to the user. ``resolve_experiment``
writes every default out, so that the copy in a run directory describes the run completely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
import math
from pathlib import Path
from typing import Annotated, Any

from gait_core import registry
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.files.access import expand_user
from gait_core.parameters.declaration import flatten_legs
from gait_core.parameters.plain_data import added_field
from gait_core.parameters.schema import Location, NumberRange, Source, read_value
from gait_core.parameters.yaml_file import Document, read_document
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.seeding import check_seed
from gait_core.trial.setup import merge_settings
from gait_core.trial.spec import Milestone, TimedCommand, Weight

EXPERIMENT_FORMAT = 1
"""Version of the file format; a reader refuses others."""

EXPERIMENT_LOCATION = Location('experiment')
"""Location of an experiment that has no file."""

BODY_CHOICES = ('one', 'turn', 'member')

EXPERIMENT_FOLDER = Path(__file__).parent / 'experiments'
"""Folder of this package's experiments; other packages register theirs as ``gait.experiments``."""


@dataclass(frozen=True, kw_only=True)
class GeneBounds:
    """
    Bounds and settings of a gene in its unit.

    ``lower``, ``upper`` and ``log`` override the controller's declaration; ``None`` keeps it.
    ``initial`` (bounds of the first draws) and ``step`` (largest mutation) are for optimisers
    that have such settings.
    """

    lower: float | None = None
    upper: float | None = None
    log: bool | None = None
    initial: tuple[float, float] | None = None
    step: float | None = None


@dataclass(frozen=True, kw_only=True)
class OptimizerChoice:
    """A registered optimiser and its settings by name."""

    name: str = 'genetic'
    settings: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)


@dataclass(frozen=True, kw_only=True)
class CurriculumStage:
    """
    A stage of a curriculum: changes of the experiment until the stage ends.

    It ends after a number of ``generations`` (0: no limit), or with the first generation whose
    best candidate reaches ``fitness``. Fields of ``scene`` are merged into the experiment's;
    ``duration`` [s], ``script``, ``randomise`` and ``hopeless`` replace the experiment's if set.
    """

    generations: Annotated[int, NumberRange(-(10**6), 10**6)] = 0
    fitness: float | None = None
    scene: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    duration: float | None = None
    script: tuple[TimedCommand, ...] = ()
    randomise: Mapping[str, Any] | None = None
    hopeless: tuple[Milestone, ...] | None = None

    def __post_init__(self) -> None:
        """Check that the stage can end."""
        if self.generations < 0 or (self.generations == 0 and self.fitness is None):
            raise ConfigurationError(
                f'curriculum: a stage of {self.generations} generations without a fitness never '
                'ends; nearest valid: generations: 1'
            )


@dataclass(frozen=True, kw_only=True)
class ConstraintBounds:
    """Bounds, in its unit, of a metric or fitness term of a candidate; ``None``: no bound."""

    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        """Check that there is a bound, and that both can be met."""
        if self.at_most is None and self.at_least is None:
            raise ConfigurationError('a constraint needs at_most or at_least')
        if self.at_most is not None and self.at_least is not None:
            if self.at_least > self.at_most:
                raise ConfigurationError(
                    f'at_least is {self.at_least:g}, above at_most {self.at_most:g}; nearest '
                    f'valid: {self.at_most:g}'
                )

    def violation(self, value: float | None) -> float:
        """
        Return the excess of a value over its bounds, positive if it violates one.

        It is a share of the size of the bound, as Deb (2000) advises, so that violations of
        several constraints can be added; for a bound of 0 it has the unit of the value. Infinite
        for an undefined value, ``None``.
        """
        if value is None:
            return math.inf
        excesses = []
        if self.at_most is not None:
            excesses.append((value - self.at_most) / (abs(self.at_most) or 1.0))
        if self.at_least is not None:
            excesses.append((self.at_least - value) / (abs(self.at_least) or 1.0))
        return max(excesses)


@dataclass(frozen=True, kw_only=True)
class StoppingRules:
    """
    Rules that end a run before its last generation; checked between generations.

    Attributes
    ----------
    fitness : float or None
        Fitness of the best candidate that ends the run; None: no limit.
    stagnation : int
        Generations without a better candidate that end the run; 0: no limit.
    trials : int
        Number of trials after which no further generation begins; 0: no limit.
    wall_time : float [s]
        Wall time of the process that ends the run; 0: no limit.

    """

    fitness: float | None = None
    stagnation: Annotated[int, NumberRange(0, 10**6)] = 0
    trials: Annotated[int, NumberRange(0, 10**12)] = 0
    wall_time: Annotated[float, NumberRange(0.0, 1e9, 's')] = 0.0


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """
    An experiment as written in its file.

    Attributes
    ----------
    robot : str
        Name, or a robot folder relative to the experiment's file.
    controller, preset : str
        Registered names; empty: the robot's defaults.
    parameters : mapping
        Controller parameters that are not searched; they override the preset.
    genes : mapping of str to GeneBounds
        The searched parameters, in genome order; empty if the optimiser searches the weights of
        the controller's network.
    scene : mapping
        Fields of Scene, nested; they override the robot's defaults.
    engines : tuple of str
        Engines on which every candidate runs; the lowest fitness counts. Empty: the engine of
        the scene.
    script : tuple of TimedCommand
        Empty: the robot's default command.
    duration, settle_time : float [s]
    fitness : mapping of str to float
        Weight of each registered fitness term.
    gates : mapping of str to float or None
        Limit of each gate of ``gait_core.trial.gates`` in its unit; overrides the limit derived
        from the robot. ``None`` turns a gate off.
    optimizer : OptimizerChoice
    generations, population : int
        A population of 0 is the optimiser's default.
    repeats : int
        Trials per candidate and engine, each with its own seed; their mean counts.
    common_seeds : bool
        Whether the candidates of a generation share the seeds of its repeats, so that they are
        compared under equal noise. Each generation has other seeds.
    bodies : str
        Draw of the body of a drawn robot: ``one`` (that of ``scene.draw``), ``turn`` (another
        one in each trial) or ``member`` (one for each candidate, in all its trials).
    start_spread : float [m]
        Half range of a uniform random offset of the start in x and y.
    seed : int
        Seed of the run.
    evaluator : str
        Registered name.
    objectives : mapping of str to mapping of str to float
        Further objectives, each a weighted sum of terms; for optimisers of several objectives.
    randomise : mapping
        Lower and upper bound of each quantity that varies from trial to trial
        (``gait_core.trial.randomisation``), nested or by dotted names.
    hopeless : tuple of Milestone
        Distances that a trial must have moved by given times; else it ends early.
    curriculum : tuple of CurriculumStage
        In order; after the last stage the experiment is run as written.
    stop : StoppingRules
    constraints : mapping of str to ConstraintBounds
        Bounds of metrics or fitness terms; a candidate that violates one cannot be the champion.
    measures : tuple of str
        Metrics that are logged for each candidate and told to the optimiser.

    """

    format: int = EXPERIMENT_FORMAT
    name: str = ''
    description: str = ''
    robot: str
    controller: str = ''
    preset: str = ''
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    genes: Mapping[str, GeneBounds] = field(default_factory=lambda: EMPTY_MAPPING)
    scene: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    engines: tuple[str, ...] = ()
    script: tuple[TimedCommand, ...] = ()
    duration: float
    settle_time: float = 0.0
    fitness: Mapping[str, Weight]
    gates: Mapping[str, Weight | None] = field(default_factory=lambda: EMPTY_MAPPING)
    optimizer: OptimizerChoice = field(default_factory=OptimizerChoice)
    # A plan, and each generation, is held in memory.
    generations: Annotated[int, NumberRange(1, 10**6)] = 10
    population: Annotated[int, NumberRange(0, 10**5)] = 0
    repeats: Annotated[int, NumberRange(1, 10**4)] = 1
    common_seeds: bool = False
    bodies: str = 'one'
    start_spread: Annotated[float, NumberRange(0.0, 1e6, 'm')] = 0.0
    seed: int = 0
    evaluator: str = 'local'
    objectives: Mapping[str, Mapping[str, Weight]] = added_field(factory=lambda: EMPTY_MAPPING)
    randomise: Mapping[str, Any] = added_field(factory=lambda: EMPTY_MAPPING)
    hopeless: tuple[Milestone, ...] = added_field(())
    curriculum: tuple[CurriculumStage, ...] = added_field(())
    stop: StoppingRules = added_field(StoppingRules())
    constraints: Mapping[str, ConstraintBounds] = added_field(factory=lambda: EMPTY_MAPPING)
    measures: tuple[str, ...] = added_field(())

    def __post_init__(self) -> None:
        """Check version, seed and combinations of values."""
        if self.format != EXPERIMENT_FORMAT:
            raise ConfigurationError(
                f'experiment format {self.format}: this version reads format {EXPERIMENT_FORMAT}'
            )
        if '/' in self.name or not self.name.isprintable():
            raise ConfigurationError(
                f"experiment.name is {self.name!r}, expected a line without '/': it names the run"
            )
        if not self.fitness:
            raise ConfigurationError('experiment.fitness is empty')
        if self.bodies not in BODY_CHOICES:
            raise unknown_name_error('experiment.bodies', self.bodies, BODY_CHOICES)
        for name, terms in self.objectives.items():
            if not terms:
                raise ConfigurationError(f'experiment.objectives.{name} is empty')
            if name == 'fitness':
                raise ConfigurationError(
                    "experiment.objectives.fitness: 'fitness' is always the first objective; "
                    'choose another name'
                )
        for key in ('engines', 'measures'):
            names = getattr(self, key)
            for name in names:
                if names.count(name) > 1:
                    raise ConfigurationError(f"experiment.{key} names '{name}' more than once")
        check_seed(self.seed)


def experiment_names() -> tuple[str, ...]:
    """Return the names of the experiments of all packages, sorted."""
    return tuple(sorted(experiment_files()))


def experiment_files() -> dict[str, Path]:
    """
    Return the file of every experiment by name.

    Raises
    ------
    ConfigurationError
        If two packages have an experiment of the same name.

    """
    folders = [registry.experiment_folder(name)() for name in registry.names('experiment_folders')]
    files: dict[str, Path] = {}
    for path in (
        path for folder in (EXPERIMENT_FOLDER, *folders) for path in folder.glob('*.yaml')
    ):
        if files.setdefault(path.stem, path) != path:
            raise ConfigurationError(
                f"two packages have an experiment '{path.stem}': {files[path.stem]} and {path}"
            )
    return files


def load_experiment(name_or_path: str, overrides: Mapping[str, Any] = EMPTY_MAPPING) -> Experiment:
    """Return the experiment of ``read_experiment`` without its location."""
    return read_experiment(name_or_path, overrides)[0]


def read_experiment(
    name_or_path: str, overrides: Mapping[str, Any] = EMPTY_MAPPING
) -> tuple[Experiment, Location]:
    """
    Return an experiment by name or YAML file, with some values replaced, and its location.

    Parameters
    ----------
    name_or_path : str
    overrides : mapping
        Any keys, nested as in the file; ``gait`` is another name of ``parameters``.

    Raises
    ------
    ConfigurationError
        For an unknown experiment or key (with the nearest valid one) or a wrong type; an error
        in the file is named with line and column.

    """
    path = Path(name_or_path)
    if path.suffix not in ('.yaml', '.yml'):
        files = experiment_files()
        if name_or_path not in files:
            raise registry.with_package_hint(unknown_name_error('experiment', name_or_path, files))
        path = files[name_or_path]
    document = read_document(path)
    location = experiment_location(document, overrides)
    experiment = rebuild_experiment(document.content, path.stem, overrides, location)
    # A path on the command line is that of the working folder, as the user sees it.
    folders = (Path.cwd(),) if 'robot' in overrides else (path.parent, Path.cwd())
    return replace(experiment, robot=_resolve_robot_path(experiment.robot, folders)), location


def experiment_location(
    document: Document, overrides: Mapping[str, Any] = EMPTY_MAPPING
) -> Location:
    """Return the location of an experiment in its file; replaced values have no line there."""
    source = Source(str(document.path), document, replaced=_rename_gait_key(overrides))
    return Location('experiment', source)


def _rename_gait_key(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return overrides with the keys of the file: ``gait`` becomes ``parameters``."""
    changes = dict(overrides)
    # Flat, so that the value of a leg does not replace that of all legs.
    for name in ('parameters', 'gait'):
        if isinstance(changes.get(name), Mapping):
            changes[name] = flatten_legs(changes[name])
    if 'gait' in changes:
        changes['parameters'] = merge_settings(changes.get('parameters', {}), changes.pop('gait'))
    return changes


def _resolve_robot_path(robot: str, folders: Sequence[Path]) -> str:
    """
    Return the path of a robot folder as an absolute path; a bare word is a name and stays.

    A relative path is that of the first folder that has it, else of the last. With an absolute
    path a run can be resumed from any directory.
    """
    folder = expand_user(robot)
    if len(folder.parts) < 2 and not robot.startswith('.'):
        return robot
    paths = [(each / folder).resolve() for each in folders]
    return str(next((path for path in paths if path.exists()), paths[-1]))


def rebuild_experiment(
    content: Any, name: str, overrides: Mapping[str, Any], location: Location = EXPERIMENT_LOCATION
) -> Experiment:
    """
    Return an experiment from plain data, with some values replaced.

    Parameters
    ----------
    content
    name : str
        Name of an experiment without one.
    overrides : mapping
    location : Location
        Location of the content.

    """
    changes = _rename_gait_key(overrides)
    if not isinstance(content, dict):
        raise location.type_error(content, 'named values')
    # A gene without overrides is written `name:`, which YAML reads as null.
    genes = content.get('genes')
    if isinstance(genes, dict):
        content = {**content, 'genes': {key: value or {} for key, value in genes.items()}}
    content = _drop_replaced_settings(content, changes, 'optimizer', 'name', 'settings')
    content = _drop_replaced_settings(content, changes, 'scene', 'engine', 'engine_options')
    experiment: Experiment = read_value(
        Experiment, merge_settings({'name': name, **content}, changes), location
    )
    return experiment


def _drop_replaced_settings(
    content: Mapping[str, Any], changes: Mapping[str, Any], key: str, kind: str, settings: str
) -> Mapping[str, Any]:
    """
    Return the content without settings of an optimiser or engine that the overrides replace.

    Settings of one optimiser or engine mean nothing to another.
    """
    known, change = content.get(key), changes.get(key)
    if not (isinstance(known, dict) and isinstance(change, Mapping)):
        return content
    if change.get(kind, known.get(kind)) == known.get(kind):
        return content
    return {**content, key: {name: item for name, item in known.items() if name != settings}}
