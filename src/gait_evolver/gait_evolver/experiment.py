"""
What to evolve, as YAML: robot, controller, genes, trial, fitness and optimiser.

An experiment is a file of the package (``experiments/<name>.yaml``) or of the user. ``resolve``
fills in every default, so that a run is described by its own copy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from gait_core import registry
from gait_core.canonical import plain, rebuild, sha256_of
from gait_core.errors import ConfigurationError, nearest, unknown
from gait_core.gates import checked_limits
from gait_core.parameters import Gene, Parameters, ParameterSpace, build, describe, space_from
from gait_core.perceptrons import PerceptronLayout
from gait_core.robot.load import load_robot
from gait_core.scene import NOTHING, Scene
from gait_core.seeding import check_seed, derived_seed
from gait_core.sources import sources_hash
from gait_core.trial_setup import (
    check_registered,
    choose_controller,
    controller_parameters,
    default_script,
    make_scene,
    merged,
)
from gait_core.trial_spec import TimedCommand, TrialSpec

FORMAT = 1
"""Version of the file; a reader refuses others."""

BODIES = ('one', 'turn', 'member')
_BODY_SEED, _START_SEED = 1, 2

FOLDER = Path(__file__).parent / 'experiments'


@dataclass(frozen=True, kw_only=True)
class GeneBounds:
    """
    What an experiment says of a gene, in the gene's unit.

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
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


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
        Limit per gate of ``gait_core.gates`` in its unit, over those that follow from the robot;
        ``None`` turns one off.
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

    """

    format: int = FORMAT
    name: str = ''
    description: str = ''
    robot: str
    controller: str = ''
    preset: str = ''
    parameters: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    genes: Mapping[str, GeneBounds] = field(default_factory=lambda: NOTHING)
    scene: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    engines: tuple[str, ...] = ()
    script: tuple[TimedCommand, ...] = ()
    duration: float
    settle_time: float = 0.0
    fitness: Mapping[str, float]
    gates: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)
    optimizer: OptimizerChoice = field(default_factory=OptimizerChoice)
    generations: int = 10
    population: int = 0
    repeats: int = 1
    common_seeds: bool = False
    bodies: str = 'one'
    start_spread: float = 0.0
    seed: int = 0
    evaluator: str = 'local'

    def __post_init__(self) -> None:
        """Check version, counts and seed."""
        if self.format != FORMAT:
            raise ConfigurationError(
                f'experiment format {self.format}: this version reads format {FORMAT}'
            )
        for name, least in (('generations', 1), ('population', 0), ('repeats', 1)):
            if getattr(self, name) < least:
                raise ConfigurationError(
                    f'experiment.{name} is {getattr(self, name)}, it must be at least {least}'
                )
        if '/' in self.name:
            raise ConfigurationError(
                f"experiment.name is '{self.name}', expected a name without '/': runs bear it"
            )
        if not self.fitness:
            raise ConfigurationError('experiment.fitness is empty')
        if self.bodies not in BODIES:
            raise unknown('experiment.bodies', self.bodies, BODIES)
        if not self.start_spread >= 0.0:
            raise ConfigurationError(
                f'experiment.start_spread is {self.start_spread:g} m; nearest valid: 0'
            )
        if self.repeats > 1 and (self.bodies != 'one' or self.start_spread):
            raise ConfigurationError(
                f'experiment.repeats is {self.repeats}, but a champion has one scene: repeats '
                'cannot differ in body or start; nearest valid: repeats: 1'
            )
        for engine in self.engines:
            if self.engines.count(engine) > 1:
                raise ConfigurationError(f"experiment.engines names '{engine}' more than once")
        check_seed(self.seed)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    A resolved experiment: everything looked up and checked.

    ``experiment`` has every default written out and describes the run alone; ``trial`` is the
    trial of an individual without its genes and seed, and ``scenes`` hold its scene on each of
    the experiment's engines, in their order.
    """

    experiment: Experiment
    space: ParameterSpace
    trial: TrialSpec
    scenes: Mapping[str, Scene]

    @property
    def config_hash(self) -> str:
        """SHA-256 of the resolved experiment without its length."""
        return sha256_of(replace(self.experiment, generations=1, evaluator='local'))

    @property
    def sources_hash(self) -> str:
        """SHA-256 of the code and the robot of the trials."""
        hashes = [self.sources_hash_on(engine) for engine in self.scenes]
        return hashes[0] if len(hashes) == 1 else sha256_of(hashes)

    def sources_hash_on(self, engine: str) -> str:
        """Return the SHA-256 of the code and the robot of the trials on one engine."""
        return sources_hash(self.trial.scene.robot, self.trial.controller, engine)

    @property
    def layout(self) -> PerceptronLayout | None:
        """Layout of the networks that are searched; ``None`` where genes are."""
        if not _searches_networks(self.experiment):
            return None
        controller: Any = registry.load('controllers', self.trial.controller)
        params = build(controller.Params, self.trial.parameters)
        found: PerceptronLayout = controller.layout(load_robot(self.trial.scene.robot), params)
        return found

    def make_optimizer(self) -> Any:
        """Return a new optimiser, seeded from the seed of the run."""
        choice = self.experiment.optimizer
        cls: Any = registry.load('optimizers', choice.name)
        layout = self.layout
        if layout is not None:
            return cls(layout=layout, seed=self.experiment.seed, **choice.settings)
        settings = {**choice.settings, **_gene_settings(self.experiment, self.space)}
        return cls(dimension=len(self.space), seed=self.experiment.seed, **settings)

    def spec(
        self,
        values: Mapping[str, float],
        generation: int,
        individual: int,
        repeat: int,
        engine: str = '',
        member: int = 0,
    ) -> TrialSpec:
        """
        Return the trial of an individual's parameter values, on the scene's engine or another.

        The seed is the same on every engine: what is drawn from it, such as the noise of the
        sensors, then makes no difference between them.
        """
        common = self.experiment.common_seeds
        key = (generation, repeat) if common else (generation, individual, repeat)
        seed = derived_seed(self.experiment.seed, *key)
        return replace(
            self.trial,
            scene=self._scene(self.scenes[engine] if engine else self.trial.scene, seed, member),
            parameters={**self.trial.parameters, **values},
            seed=seed,
        )

    def _scene(self, scene: Scene, seed: int, member: int) -> Scene:
        """Return the scene of a trial of a member: its body and where it starts."""
        experiment = self.experiment
        if experiment.bodies == 'turn':
            scene = replace(scene, draw=derived_seed(seed, _BODY_SEED))
        elif experiment.bodies == 'member':
            scene = replace(scene, draw=derived_seed(experiment.seed, _BODY_SEED, member))
        if experiment.start_spread:
            rng = np.random.default_rng(derived_seed(seed, _START_SEED))
            x, y = (experiment.start_spread * rng.uniform(-1.0, 1.0, 2)).tolist()
            start = scene.initial
            scene = replace(scene, initial=replace(start, x=start.x + x, y=start.y + y))
        return scene


def experiment_names() -> tuple[str, ...]:
    """Return the experiments of the package, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob('*.yaml')))


def load_experiment(name_or_path: str, overrides: Mapping[str, Any] = NOTHING) -> Experiment:
    """
    Return the experiment of a name or YAML file, with some values replaced.

    Parameters
    ----------
    name_or_path : str
    overrides : mapping
        Nested as in the file; ``gait`` stands for ``parameters``. ``generations``, ``seed``,
        ``evaluator`` and any other key may be given.

    Raises
    ------
    ConfigurationError
        For an unknown experiment or key (with the nearest valid one) or a wrong type.

    """
    path = Path(name_or_path)
    if path.suffix not in ('.yaml', '.yml'):
        if name_or_path not in experiment_names():
            raise unknown('experiment', name_or_path, experiment_names())
        path = FOLDER / f'{name_or_path}.yaml'
    experiment = rebuild_experiment(read_yaml(path), path.stem, overrides)
    return replace(experiment, robot=_beside(path, experiment.robot))


def _beside(path: Path, robot: str) -> str:
    """
    Return a robot that is a path as an absolute one, relative to the experiment's own file.

    A run then goes on wherever it is resumed from. A bare word is a name.
    """
    folder = Path(robot).expanduser()
    if len(folder.parts) < 2 and not robot.startswith('.'):
        return robot
    near = (path.parent / folder).resolve()
    return str(near if near.exists() else folder.resolve())


def rebuild_experiment(content: Any, name: str, overrides: Mapping[str, Any]) -> Experiment:
    """Return the experiment of plain data, with some values replaced."""
    if not isinstance(content, dict):
        raise ConfigurationError(f"experiment '{name}' is {content!r}, expected named values")
    changes = dict(overrides)
    if 'gait' in changes:
        changes['parameters'] = merged(changes.get('parameters', {}), changes.pop('gait'))
    # A gene without overrides is written `name:`, which YAML reads as null.
    genes = content.get('genes')
    if isinstance(genes, dict):
        content = {**content, 'genes': {key: value or {} for key, value in genes.items()}}
    content = _without_foreign(content, changes, 'optimizer', 'name', 'settings')
    content = _without_foreign(content, changes, 'scene', 'engine', 'engine_options')
    experiment: Experiment = rebuild(
        Experiment, merged({'name': name, **content}, changes), 'experiment'
    )
    return experiment


def _without_foreign(
    content: Mapping[str, Any], changes: Mapping[str, Any], key: str, kind: str, settings: str
) -> Mapping[str, Any]:
    """Return the content without the settings of what another one takes the place of."""
    known, change = content.get(key), changes.get(key)
    if not (isinstance(known, dict) and isinstance(change, Mapping)):
        return content
    if change.get(kind, known.get(kind)) == known.get(kind):
        return content
    return {**content, key: {name: item for name, item in known.items() if name != settings}}


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; ConfigurationError if it cannot be read."""
    try:
        return yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigurationError(f'{path}: {error.strerror}') from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f'{path} is no YAML: {str(error).splitlines()[0]}') from error


def resolve(experiment: Experiment) -> Plan:
    """
    Return the plan of an experiment: names looked up, defaults written out, ranges checked.

    Raises
    ------
    ConfigurationError
        For an unknown robot, controller, preset, parameter, gene, scene field, terrain, engine,
        fitness term, optimiser, setting or evaluator, or a value out of range.

    """
    robot = load_robot(experiment.robot)
    controller, preset = choose_controller(robot, experiment.controller, experiment.preset)
    for term in experiment.fitness:
        check_registered('fitness_terms', term)
    check_registered('evaluators', experiment.evaluator)
    _check_search(experiment, controller)
    both = sorted(set(experiment.genes) & set(experiment.parameters))
    if both:
        raise ConfigurationError(f"'{both[0]}' is both a gene and a fixed parameter")
    fixed = controller_parameters(controller, preset, experiment.parameters)
    space = _space(controller, experiment.genes)
    scene = _scene(experiment)
    engines = experiment.engines or (scene.engine,)
    gates = checked_limits(robot, scene, experiment.gates)
    trial = TrialSpec(
        scene=scene,
        controller=controller,
        parameters=fixed,
        script=experiment.script or default_script(robot),
        duration=experiment.duration,
        settle_time=experiment.settle_time,
        fitness_terms=experiment.fitness,
        gates={name: limit for name, limit in gates.items() if limit is not None},
    )
    written_out = replace(
        experiment,
        controller=controller,
        preset=preset,
        parameters={name: value for name, value in fixed.items() if name not in space.names},
        genes={
            gene.name: replace(
                experiment.genes[gene.name], lower=gene.lower, upper=gene.upper, log=gene.log
            )
            for gene in space.genes
        },
        scene={key: value for key, value in plain(trial.scene).items() if key != 'robot'},
        engines=engines,
        script=trial.script,
        gates=gates,
        optimizer=_optimizer(experiment),
    )
    scenes = {engine: scene_on(scene, engine) for engine in engines}
    plan = Plan(experiment=written_out, space=space, trial=trial, scenes=scenes)
    plan.make_optimizer()  # Refuses settings that do not fit the number of genes.
    return plan


def _searches_networks(experiment: Experiment) -> bool:
    cls: Any = registry.load('optimizers', experiment.optimizer.name)
    return bool(getattr(cls, 'networks', False))


def _check_search(experiment: Experiment, controller: str) -> None:
    """Refuse genes for an optimiser of networks, none for another, a controller without one."""
    check_registered('optimizers', experiment.optimizer.name)
    name, networks = experiment.optimizer.name, _searches_networks(experiment)
    if not networks and not experiment.genes:
        raise ConfigurationError('experiment.genes is empty')
    if networks and experiment.genes:
        raise ConfigurationError(f"optimizer '{name}' searches a network's weights, not genes")
    if networks and not hasattr(registry.load('controllers', controller), 'layout'):
        raise ConfigurationError(
            f"optimizer '{name}' searches the weights of a network, controller '{controller}' has "
            'none; nearest valid: perceptron'
        )


def _scene(experiment: Experiment) -> Scene:
    """Return the scene; where it names no engine it is that of the first of several."""
    engines, given = experiment.engines, dict(experiment.scene)
    for engine in engines:
        check_registered('engines', engine)
    if engines:
        named = given.get('engine') or engines[0]
        if named not in engines:
            raise ConfigurationError(
                f"scene.engine '{named}' is not one of experiment.engines: "
                f'{nearest(str(named), engines)}'
            )
        given['engine'] = named
    return make_scene(experiment.robot, given)


def scene_on(scene: Scene, engine: str) -> Scene:
    """
    Return a scene on an engine; another one takes the robot's options for it.

    Options are an engine's own: those of one mean nothing to another.
    """
    if engine == scene.engine:
        return scene
    foreign = ('robot', 'engine', 'engine_options')
    fields = {key: value for key, value in plain(scene).items() if key not in foreign}
    return make_scene(scene.robot, {**fields, 'engine': engine})


def on_one_engine(engine: str) -> dict[str, Any]:
    """Return the changes of an experiment that run it on one engine alone."""
    check_registered('engines', engine)
    return {'engines': [engine], 'scene': {'engine': engine}}


def _space(controller: str, genes: Mapping[str, GeneBounds]) -> ParameterSpace:
    if not genes:
        return ParameterSpace(())
    cls: type[Parameters] = registry.load('controllers', controller).Params
    declared = space_from(cls, tuple(genes))
    infos = {info.name: info for info in describe(cls)}
    chosen = []
    for gene in declared.genes:
        bounds = genes[gene.name]
        lower = gene.lower if bounds.lower is None else bounds.lower
        upper = gene.upper if bounds.upper is None else bounds.upper
        for bound in (lower, upper):
            infos[gene.name].coerce(bound)
        log = gene.log if bounds.log is None else bounds.log
        chosen.append(Gene(name=gene.name, lower=lower, upper=upper, unit=gene.unit, log=log))
    return ParameterSpace(tuple(chosen))


def _gene_settings(experiment: Experiment, space: ParameterSpace) -> dict[str, Any]:
    """
    Return what the genes say of their search as settings of the optimiser, in the unit cube.

    Raises
    ------
    ConfigurationError
        If only some genes say it, the optimiser takes no such thing or was given it as a
        setting, a value lies outside the bounds, or a step is to be taken on a log scale.

    """
    settings: dict[str, Any] = {}
    ranges = _said(experiment, 'initial', 'initial_low')
    if ranges:
        for end, name in enumerate(('initial_low', 'initial_high')):
            point = space.encode({gene: values[end] for gene, values in ranges.items()})
            settings[name] = tuple(point.tolist())
    steps = _said(experiment, 'step', 'steps')
    if steps:
        settings['steps'] = tuple(_share(gene, steps[gene.name]) for gene in space.genes)
    return settings


def _share(gene: Gene, step: float) -> float:
    """Return a step as a share of the gene's range."""
    width = gene.upper - gene.lower
    if gene.log:
        raise ConfigurationError(
            f"gene '{gene.name}' has a step and a log scale; nearest valid: log: false"
        )
    if not 0.0 <= step <= width:
        raise ConfigurationError(
            f"gene '{gene.name}' has a step of {step:g} {gene.unit}, outside its range; "
            f'nearest valid: {min(max(step, 0.0), width):g}'
        )
    return step / width


def _said(experiment: Experiment, key: str, setting: str) -> dict[str, Any]:
    """Return what the genes say under a key, by name: all of them, for this optimiser, or none."""
    said = {name: getattr(gene, key) for name, gene in experiment.genes.items()}
    silent = [name for name, value in said.items() if value is None]
    if len(silent) == len(said):
        return {}
    if silent:
        raise ConfigurationError(f"gene '{silent[0]}' has no {key}, but others have one")
    choice = experiment.optimizer
    cls: Any = registry.load('optimizers', choice.name)
    if setting not in {info.name for info in describe(cls.Settings)}:
        raise ConfigurationError(
            f"optimizer '{choice.name}' takes no {key} of genes; remove it from them"
        )
    if choice.settings.get(setting):
        raise ConfigurationError(
            f'{key} is given by the genes and by optimizer.settings.{setting}; give one of them'
        )
    return said


def _optimizer(experiment: Experiment) -> OptimizerChoice:
    choice = experiment.optimizer
    check_registered('optimizers', choice.name)
    cls: Any = registry.load('optimizers', choice.name)
    given = dict(choice.settings)
    if experiment.population:
        if given.get('population', experiment.population) != experiment.population:
            raise ConfigurationError(
                f'population is {experiment.population} and optimizer.settings.population is '
                f'{given["population"]}; give one of them'
            )
        given['population'] = experiment.population
    return OptimizerChoice(name=choice.name, settings=asdict(build(cls.Settings, given)))
