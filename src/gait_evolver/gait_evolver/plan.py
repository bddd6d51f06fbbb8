# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Resolved experiments: names looked up, values checked, trials derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.contracts import ArrayShapes, Optimizer
from gait_core.errors import (
    ConfigurationError,
    name_hint,
)
from gait_core.measures.metrics import METRICS
from gait_core.parameters.declaration import flatten_legs, make_parameters
from gait_core.parameters.plain_data import sha256_of, to_plain_data
from gait_core.parameters.schema import Location, check_parameters, read_value
from gait_core.parameters.space import ParameterSpace
from gait_core.robot.load import load_robot
from gait_core.trial.gates import gate_limits
from gait_core.trial.robot_gait import choose_controller, resolve_gait
from gait_core.trial.scene import EMPTY_MAPPING, Scene
from gait_core.trial.seeding import derived_seed
from gait_core.trial.setup import (
    check_registered,
    default_script,
    make_scene,
    merge_settings,
    scene_with_engine,
)
from gait_core.trial.sources import sources_hash
from gait_core.trial.spec import TrialSpec
from gait_evolver.checks import (
    check_double_draws,
    check_metrics,
    check_registered_names,
    check_search_kind,
    check_terrain_ranges,
)
from gait_evolver.experiment import (
    EXPERIMENT_LOCATION,
    CurriculumStage,
    Experiment,
    StoppingRules,
    read_experiment,
)
from gait_evolver.genes import (
    check_effects,
    check_length,
    gene_space,
    resolve_optimizer,
    settings_from_genes,
)

_BODY_SEED, _START_SEED = 1, 2


@dataclass(frozen=True, kw_only=True)
class StagePlan:
    """Resolved stage of a curriculum: its trial, and the scene of the trial on each engine."""

    trial: TrialSpec
    scenes: Mapping[str, Scene]


@dataclass(frozen=True, kw_only=True)
class TrialIndex:
    """
    Index of a trial within its run.

    Attributes
    ----------
    generation, individual, repeat : int
        Counted from 0; ``individual`` is the position of the candidate in its generation.
    engine : str
        Empty: the engine of the scene.
    candidate_id : int
        Id of the candidate, unique in its run.
    stage : int
        Stage of the curriculum; -1 is the last one, the experiment as written.

    """

    generation: int = 0
    individual: int = 0
    repeat: int = 0
    engine: str = ''
    candidate_id: int = 0
    stage: int = -1

    @property
    def name(self) -> str:
        """Name of the trial in messages and for ``--skip-trial``."""
        return f'{self.generation}/{self.individual}/{self.repeat}/{self.engine}'


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    A resolved and checked experiment.

    Attributes
    ----------
    experiment : Experiment
        With every default written out; it alone determines the run.
    space : ParameterSpace
        The genes.
    trial : TrialSpec
        Trial of a candidate, without its genes and seed.
    scenes : mapping of str to Scene
        Scene of the trial on each engine, in the experiment's order.
    stage_plans : tuple of StagePlan
        One per stage of the curriculum; the last holds ``trial`` and ``scenes``.
    ignored_gait : str
        As ``RobotGait.ignored``.

    """

    experiment: Experiment
    space: ParameterSpace
    trial: TrialSpec
    scenes: Mapping[str, Scene]
    stage_plans: tuple[StagePlan, ...]
    ignored_gait: str = ''

    @property
    def config_hash(self) -> str:
        """SHA-256 of the resolved experiment without length, evaluator and stopping rules."""
        endless = replace(self.experiment, generations=1, evaluator='local', stop=StoppingRules())
        return sha256_of(endless)

    @property
    def sources_hash(self) -> str:
        """SHA-256 of the code and the robot of the trials."""
        hashes = [
            sources_hash(replace(stage.trial, scene=scene))
            for stage in self.stage_plans
            for scene in stage.scenes.values()
        ]
        return hashes[0] if len(hashes) == 1 else sha256_of(hashes)

    @property
    def logged_metrics(self) -> tuple[str, ...]:
        """Metrics in the log: all of the robot, and those of legs that the experiment names."""
        named = (*self.experiment.measures, *self.experiment.constraints)
        own = (*METRICS, *self.trial.fitness_terms)
        return (*METRICS, *(name for name in dict.fromkeys(named) if name not in own))

    @property
    def array_shapes(self) -> ArrayShapes:
        """Shapes of the searched arrays; empty if the optimiser searches genes."""
        if not registry.optimizer(self.experiment.optimizer.name).searches_arrays:
            return EMPTY_MAPPING
        controller = registry.controller(self.trial.controller)
        params = make_parameters(controller.Params, self.trial.parameters)
        return controller.array_shapes(load_robot(self.trial.scene.robot), params)

    def make_optimizer(self) -> Optimizer:
        """Return a new optimiser with the seed of the run."""
        choice, shapes = self.experiment.optimizer, self.array_shapes
        settings = {**choice.settings, **settings_from_genes(self.experiment, self.space)}
        if shapes:
            settings['shapes'] = shapes
        cls = registry.optimizer(choice.name)
        return cls(dimension=len(self.space), seed=self.experiment.seed, **settings)

    def spec(self, values: Mapping[str, float], trial_index: TrialIndex) -> TrialSpec:
        """
        Return the trial with a candidate's parameter values and an index of the run.

        The seed does not depend on the engine, so that random values, such as the noise of the
        sensors, are equal on all engines.
        """
        key = (
            (trial_index.generation, trial_index.repeat)
            if self.experiment.common_seeds
            else (trial_index.generation, trial_index.individual, trial_index.repeat)
        )
        seed = derived_seed(self.experiment.seed, *key)
        stage_plan = self.stage_plans[trial_index.stage]
        scene = (
            stage_plan.scenes[trial_index.engine] if trial_index.engine else stage_plan.trial.scene
        )
        return replace(
            stage_plan.trial,
            scene=self._trial_scene(scene, seed, trial_index.candidate_id),
            parameters={**stage_plan.trial.parameters, **values},
            seed=seed,
        )

    def _trial_scene(self, scene: Scene, seed: int, member: int) -> Scene:
        """Return the scene with the draw of the body and the offset of the start."""
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


def load_plan(name_or_path: str, overrides: Mapping[str, Any] = EMPTY_MAPPING) -> Plan:
    """Return the plan of an experiment, given by name or file, with some values replaced."""
    return resolve_experiment(*read_experiment(name_or_path, overrides))


def resolve_experiment(experiment: Experiment, location: Location = EXPERIMENT_LOCATION) -> Plan:
    """
    Return the plan of an experiment: look names up, write defaults out, check ranges.

    Parameters
    ----------
    experiment : Experiment
    location : Location
        Location of the experiment in its file, for messages.

    Raises
    ------
    ConfigurationError
        For an unknown robot, controller, preset, parameter, gene, scene field, terrain, engine,
        fitness term, optimiser, setting or evaluator, or a value out of range.

    """
    with (location / 'robot').locate_errors():
        robot = load_robot(experiment.robot)
    check_registered_names(experiment, location)
    check_metrics(experiment, robot, location)
    with (location / 'preset').locate_errors():
        controller, _ = choose_controller(robot, experiment.controller, experiment.preset)
    check_search_kind(experiment, controller, robot)
    both = sorted(set(experiment.genes) & set(flatten_legs(experiment.parameters)))
    if both:
        with (location / 'genes' / both[0]).locate_errors():
            raise ConfigurationError(f"'{both[0]}' is both a gene and a fixed parameter")
    declared = registry.controller(controller).Params
    check_parameters(declared, experiment.parameters, location / 'parameters')
    gait = resolve_gait(robot, controller, experiment.preset, experiment.parameters)
    space = gene_space(controller, experiment.genes, location / 'genes')
    check_effects(declared, space, gait.parameters, robot, location / 'genes')
    scene = _resolve_scene(experiment, location / 'scene')
    resolved = replace(
        experiment,
        controller=controller,
        preset=gait.preset,
        engines=experiment.engines or (scene.engine,),
        gates=gate_limits(robot, scene, experiment.gates),
        script=experiment.script or default_script(robot),
    )
    trial = _make_trial(resolved, scene, gait.trial_parameters)
    written_out = replace(
        resolved,
        parameters={
            name: value for name, value in trial.parameters.items() if name not in space.names
        },
        genes={
            gene.name: replace(
                experiment.genes[gene.name], lower=gene.lower, upper=gene.upper, log=gene.log
            )
            for gene in space.genes
        },
        scene={key: value for key, value in to_plain_data(trial.scene).items() if key != 'robot'},
        optimizer=resolve_optimizer(experiment, location / 'optimizer'),
        randomise=trial.randomise,
    )
    stage_plans = _plan_stages(resolved, trial, location / 'curriculum')
    plan = Plan(
        experiment=written_out,
        space=space,
        trial=trial,
        scenes=stage_plans[-1].scenes,
        stage_plans=stage_plans,
        ignored_gait=gait.ignored,
    )
    _check_optimizer(plan)
    return plan


def _make_trial(experiment: Experiment, scene: Scene, parameters: Mapping[str, Any]) -> TrialSpec:
    """Return the trial of an experiment with its scene and the controller's fixed parameters."""
    # Terms of other objectives and of constraints are measured too, with weight 0 in the fitness.
    others = {name: 0.0 for terms in experiment.objectives.values() for name in terms}
    terms = set(registry.names('fitness_terms')) if experiment.constraints else set()
    others |= {name: 0.0 for name in experiment.constraints if name in terms}
    return TrialSpec(
        scene=scene,
        controller=experiment.controller,
        parameters=parameters,
        script=experiment.script,
        duration=experiment.duration,
        settle_time=experiment.settle_time,
        fitness_terms={**others, **experiment.fitness} if others else experiment.fitness,
        gates={name: limit for name, limit in experiment.gates.items() if limit is not None},
        randomise=_flatten_ranges(experiment.randomise),
        hopeless=experiment.hopeless,
    )


def _plan_stages(
    experiment: Experiment, trial: TrialSpec, location: Location
) -> tuple[StagePlan, ...]:
    """Return the plans of the curriculum's stages, then that of the trial itself."""
    trials = [
        *(
            _stage_trial(experiment, trial, stage, location / i)
            for i, stage in enumerate(experiment.curriculum)
        ),
        trial,
    ]
    stage_plans = tuple(
        StagePlan(
            trial=each,
            scenes={
                engine: scene_with_engine(each.scene, engine) for engine in experiment.engines
            },
        )
        for each in trials
    )
    for stage_plan in stage_plans:
        check_terrain_ranges(stage_plan.trial)
        check_double_draws(experiment, stage_plan.trial)
    return stage_plans


def _check_optimizer(plan: Plan) -> None:
    """Refuse an optimiser that does not fit the genes, the trials or a curriculum."""
    optimizer = plan.make_optimizer()
    check_length(plan.experiment, optimizer)
    for stage_plan in plan.stage_plans:
        optimizer.check_trial(stage_plan.trial)
    if plan.experiment.curriculum and optimizer.keeps_fitness:
        of_genes = 'genetic with settings: {reevaluate: true}, or cma_es'
        raise ConfigurationError(
            f"optimizer '{plan.experiment.optimizer.name}' keeps fitness values across "
            'generations, but values of two stages of a curriculum are not comparable; '
            'nearest valid: '
            f'{"pattern_cma" if plan.array_shapes else of_genes}'
        )


def _flatten_ranges(ranges: Mapping[str, Any], prefix: str = '') -> dict[str, tuple[float, float]]:
    """Return nested ranges by their dotted names."""
    found: dict[str, tuple[float, float]] = {}
    for key, value in ranges.items():
        if isinstance(value, Mapping):
            found.update(_flatten_ranges(value, f'{prefix}{key}.'))
        else:
            name = f'{prefix}{key}'
            found[name] = read_value(tuple[float, float], value, f'randomise.{name}')
    return found


def _stage_trial(
    experiment: Experiment, trial: TrialSpec, stage: CurriculumStage, location: Location
) -> TrialSpec:
    """Return the experiment's trial with the changes of a stage."""
    changed = replace(experiment, scene=merge_settings(experiment.scene, stage.scene))
    return replace(
        trial,
        scene=_resolve_scene(changed, location / 'scene') if stage.scene else trial.scene,
        duration=trial.duration if stage.duration is None else stage.duration,
        script=stage.script or trial.script,
        randomise=trial.randomise if stage.randomise is None else _flatten_ranges(stage.randomise),
        hopeless=trial.hopeless if stage.hopeless is None else stage.hopeless,
    )


def _resolve_scene(experiment: Experiment, location: Location) -> Scene:
    """Return the experiment's scene; without an engine it gets the first of the experiment's."""
    engines, given = experiment.engines, dict(experiment.scene)
    if engines:
        named = given.setdefault('engine', engines[0])
        # A name of another type is refused with the scene.
        if isinstance(named, str) and named not in engines:
            with (location / 'engine').locate_errors():
                raise ConfigurationError(
                    f"scene.engine '{named}' is not one of experiment.engines: "
                    f'{name_hint(named, engines)}'
                )
    return make_scene(experiment.robot, given, location.as_top())


def single_engine_overrides(engine: str) -> dict[str, Any]:
    """Return overrides of an experiment that run it on one engine only."""
    check_registered('engines', engine)
    return {'engines': [engine], 'scene': {'engine': engine}}
