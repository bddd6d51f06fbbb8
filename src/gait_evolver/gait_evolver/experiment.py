"""
Experiments as YAML files: robot, controller, genes, trial, fitness and optimiser.

An experiment is a file of a package (``experiments/<name>.yaml``) or of the user. ``resolve``
fills in every default, so that a run is described by its own copy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from gait_core import registry
from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.parameters.plain_data import added_field
from gait_core.parameters.schema import Location, NumberRange, Source, read_value
from gait_core.parameters.yaml_file import Document, read_document
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.seeding import check_seed
from gait_core.trial.setup import merge_settings
from gait_core.trial.spec import Milestone, TimedCommand

EXPERIMENT_FORMAT = 1
"""Version of the file; a reader refuses others."""

EXPERIMENT_LOCATION = Location('experiment')
"""Location of an experiment that is in no file."""

BODY_CHOICES = ('one', 'turn', 'member')

EXPERIMENT_FOLDER = Path(__file__).parent / 'experiments'
"""Experiments of this package; others register theirs as ``gait.experiments``."""


@dataclass(frozen=True, kw_only=True)
class GeneBounds:
    """
    Bounds and settings of a gene in its unit.

    ``lower``, ``upper`` and ``log`` override what the controller declares; ``None`` keeps that.
    ``initial`` (first and last value of the first draws) and ``step`` (largest mutation) are for
    optimisers that take them from the genes.
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
    A stage of a curriculum: changes of the experiment that hold until it ends.

    It ends after some ``generations`` (0: any number), or with the first one whose best individual
    reaches a ``fitness``. ``scene`` is changed, ``duration`` [s], ``script``, ``randomise`` and
    ``hopeless`` are replaced where they are given.
    """

    generations: int = 0
    fitness: float | None = None
    scene: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    duration: float | None = None
    script: tuple[TimedCommand, ...] = ()
    randomise: Mapping[str, Any] | None = None
    hopeless: tuple[Milestone, ...] | None = None

    def __post_init__(self) -> None:
        """Check that it can end."""
        if self.generations < 0 or (self.generations == 0 and self.fitness is None):
            raise ConfigurationError(
                f'curriculum: a stage of {self.generations} generations without a fitness never '
                'ends; nearest valid: generations: 1'
            )


@dataclass(frozen=True, kw_only=True)
class StoppingRules:
    """
    Rules that end a run before its last generation; checked between generations.

    Attributes
    ----------
    fitness : float or None
        Once the best individual has reached it.
    stagnation : int
        After so many generations without a better one; 0: never.
    trials : int
        Before a generation that begins with so many trials done; 0: never.
    wall_time : float [s]
        Of the process that runs it; 0: unlimited.

    """

    fitness: float | None = None
    stagnation: Annotated[int, NumberRange(0)] = 0
    trials: Annotated[int, NumberRange(0)] = 0
    wall_time: Annotated[float, NumberRange(0.0, unit='s')] = 0.0


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """
    An experiment as its file states it.

    Attributes
    ----------
    robot : str
        Name, or a robot folder: relative to the experiment's file.
    controller, preset : str
        Registered names; empty: the robot's defaults.
    parameters : mapping
        Controller parameters that are not searched, over the preset.
    genes : mapping of str to GeneBounds
        The searched parameters, in genome order. None where the optimiser searches the weights of
        the controller's network.
    scene : mapping
        Fields of Scene, nested, over the robot's defaults.
    engines : tuple of str
        Every individual is run on each of them, and its fitness is that of the worst. Empty:
        the scene's alone.
    script : tuple of TimedCommand
        Empty: the robot's default command.
    duration, settle_time : float [s]
    fitness : mapping of str to float
        Weight per registered term.
    gates : mapping of str to float or None
        Limit per gate of ``gait_core.trial.gates`` in its unit, over those that follow from the
        robot; ``None`` turns one off.
    optimizer : OptimizerChoice
    generations, population : int
        A population of 0 is the optimiser's own.
    repeats : int
        Trials per individual and engine, each with its own seed; their mean counts.
    common_seeds : bool
        The individuals of a generation share the seeds of its repeats, so that they meet the same
        noise and their differences are their own; the next generation meets other noise.
    bodies : str
        Whose body a trial has, of a robot that is drawn: ``one`` (that of ``scene.draw``), or
        another one for each ``turn`` or each ``member``, which keeps it as long as it is asked.
    start_spread : float [m]
        Each trial starts at x and y drawn from plus or minus that, about those of the scene.
    seed : int
        Of the run.
    evaluator : str
        Registered.
    objectives : mapping of str to mapping of str to float
        More objectives beside the fitness, each a weighted sum of terms; for optimisers that
        look for the best compromises.
    randomise : mapping
        Least and largest value of what differs from trial to trial
        (``gait_core.trial.randomisation``), nested or by dotted names.
    hopeless : tuple of Milestone
        By when a trial must have moved how far.
    curriculum : tuple of Stage
        In order; after the last one the experiment is as it stands.
    stop : StoppingRules

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
    fitness: Mapping[str, float]
    gates: Mapping[str, float | None] = field(default_factory=lambda: EMPTY_MAPPING)
    optimizer: OptimizerChoice = field(default_factory=OptimizerChoice)
    # A plan, and each generation, is held in memory.
    generations: Annotated[int, NumberRange(1, 10**6)] = 10
    population: Annotated[int, NumberRange(0, 10**5)] = 0
    repeats: Annotated[int, NumberRange(1, 10**4)] = 1
    common_seeds: bool = False
    bodies: str = 'one'
    start_spread: Annotated[float, NumberRange(0.0, unit='m')] = 0.0
    seed: int = 0
    evaluator: str = 'local'
    objectives: Mapping[str, Mapping[str, float]] = added_field(factory=lambda: EMPTY_MAPPING)
    randomise: Mapping[str, Any] = added_field(factory=lambda: EMPTY_MAPPING)
    hopeless: tuple[Milestone, ...] = added_field(())
    curriculum: tuple[CurriculumStage, ...] = added_field(())
    stop: StoppingRules = added_field(StoppingRules())

    def __post_init__(self) -> None:
        """Check version, seed, and values that do not go together."""
        if self.format != EXPERIMENT_FORMAT:
            raise ConfigurationError(
                f'experiment format {self.format}: this version reads format {EXPERIMENT_FORMAT}'
            )
        if '/' in self.name or not self.name.isprintable():
            raise ConfigurationError(
                f"experiment.name is {self.name!r}, expected a line without '/': runs bear it"
            )
        if not self.fitness:
            raise ConfigurationError('experiment.fitness is empty')
        if self.bodies not in BODY_CHOICES:
            raise unknown_name_error('experiment.bodies', self.bodies, BODY_CHOICES)
        if self.repeats > 1 and (self.bodies != 'one' or self.start_spread):
            raise ConfigurationError(
                f'experiment.repeats is {self.repeats}, bodies {self.bodies} and start_spread '
                f'{self.start_spread:g}, but a champion has one scene; nearest valid: repeats: 1, '
                'or bodies: one and start_spread: 0 with randomise.draw and randomise.initial'
            )
        for name, terms in self.objectives.items():
            if not terms:
                raise ConfigurationError(f'experiment.objectives.{name} is empty')
            if name == 'fitness':
                raise ConfigurationError('experiment.objectives: the fitness is one already')
        for engine in self.engines:
            if self.engines.count(engine) > 1:
                raise ConfigurationError(f"experiment.engines names '{engine}' more than once")
        check_seed(self.seed)


def experiment_names() -> tuple[str, ...]:
    """Return the experiments of all packages, sorted."""
    return tuple(sorted(experiment_files()))


def experiment_files() -> dict[str, Path]:
    """
    Return the file of every experiment by its name.

    Raises
    ------
    ConfigurationError
        If two packages have an experiment of one name.

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
    """Return the experiment that ``read_experiment`` reads."""
    return read_experiment(name_or_path, overrides)[0]


def read_experiment(
    name_or_path: str, overrides: Mapping[str, Any] = EMPTY_MAPPING
) -> tuple[Experiment, Location]:
    """
    Return the experiment of a name or YAML file, with some values replaced, and its location.

    Parameters
    ----------
    name_or_path : str
    overrides : mapping
        Nested as in the file; ``gait`` stands for ``parameters``. ``generations``, ``seed``,
        ``evaluator`` and any other key may be given.

    Raises
    ------
    ConfigurationError
        For an unknown experiment or key (with the nearest valid one) or a wrong type. What is
        wrong in the file is named with line and column.

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
    return replace(experiment, robot=_resolve_robot_path(path, experiment.robot)), location


def experiment_location(
    document: Document, overrides: Mapping[str, Any] = EMPTY_MAPPING
) -> Location:
    """Return the location of the experiment in a file some of whose values are replaced."""
    source = Source(str(document.path), document, replaced=_rename_gait_key(overrides))
    return Location('experiment', source)


def _rename_gait_key(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return overrides by the keys of the file: there ``gait`` is ``parameters``."""
    changes = dict(overrides)
    if 'gait' in changes:
        changes['parameters'] = merge_settings(changes.get('parameters', {}), changes.pop('gait'))
    return changes


def _resolve_robot_path(path: Path, robot: str) -> str:
    """
    Return a robot that is a path as an absolute one, relative to the experiment's own file.

    A run then goes on wherever it is resumed from. A bare word is a name.
    """
    folder = Path(robot).expanduser()
    if len(folder.parts) < 2 and not robot.startswith('.'):
        return robot
    near = (path.parent / folder).resolve()
    return str(near if near.exists() else folder.resolve())


def rebuild_experiment(
    content: Any, name: str, overrides: Mapping[str, Any], location: Location = EXPERIMENT_LOCATION
) -> Experiment:
    """
    Return the experiment of plain data, with some values replaced.

    Parameters
    ----------
    content
    name : str
        Of an experiment that has none itself.
    overrides : mapping
    location : Location
        Of the content.

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
    """Return the content without the settings of what another one takes the place of."""
    known, change = content.get(key), changes.get(key)
    if not (isinstance(known, dict) and isinstance(change, Mapping)):
        return content
    if change.get(kind, known.get(kind)) == known.get(kind):
        return content
    return {**content, key: {name: item for name, item in known.items() if name != settings}}
