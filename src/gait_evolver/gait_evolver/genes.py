# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Search space of an experiment and settings of its optimiser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
import random
from typing import Any

import numpy as np

from gait_core import registry
from gait_core.contracts import Evaluation, Optimizer
from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.parameters.declaration import (
    Parameters,
    declared_parameters,
    make_parameters,
    parameter_info,
)
from gait_core.parameters.plain_data import to_plain_data
from gait_core.parameters.schema import Location, check_parameters
from gait_core.parameters.space import Gene, ParameterSpace, parameter_space
from gait_core.robot.model import RobotModel
from gait_core.trial.robot_gait import check_legs
from gait_evolver.experiment import Experiment, GeneBounds, OptimizerChoice


def gene_space(
    controller: str, genes: Mapping[str, GeneBounds], location: Location
) -> ParameterSpace:
    """Return the space of a controller's searched parameters; errors name the gene's location."""
    cls = registry.controller(controller).Params
    bounded_genes = []
    for name, bounds in genes.items():
        with (location / name).locate_errors():
            bounded_genes.append(_bounded_gene(cls, name, bounds))
    return ParameterSpace(tuple(bounded_genes))


def check_effects(
    declared: type[Parameters],
    space: ParameterSpace,
    parameters: Mapping[str, Any],
    robot: RobotModel,
    location: Location,
) -> None:
    """
    Refuse genes of legs that the robot lacks, and genes that parameters leave without effect.

    Parameters
    ----------
    declared : type of Parameters
        Of the controller.
    space : ParameterSpace
        The genes.
    parameters : mapping
        Every fixed parameter.
    robot : RobotModel
    location : Location
        Of the genes.

    """
    for name in space.names:
        with (location / name).locate_errors():
            check_legs(declared, [name], robot)
    # Genes of single legs are set, too: if every leg has one, the gene for all legs has no effect.
    of_legs = {gene.name: gene.lower for gene in space.genes if '.' in gene.name}
    params = make_parameters(declared, {**parameters, **of_legs})
    reasons = params.without_effect([leg.name for leg in robot.legs])
    for name in space.names:
        if name in reasons:
            with (location / name).locate_errors():
                raise ConfigurationError(f"gene '{name}' has no effect: {reasons[name]}")


def _bounded_gene(cls: type[Parameters], name: str, bounds: GeneBounds) -> Gene:
    """Return a gene as the controller declares it, with the experiment's bounds."""
    (gene,) = parameter_space(cls, (name,)).genes
    lower = gene.lower if bounds.lower is None else bounds.lower
    upper = gene.upper if bounds.upper is None else bounds.upper
    for bound in (lower, upper):
        parameter_info(cls, name).coerce(bound)
    log = gene.log if bounds.log is None else bounds.log
    return replace(gene, lower=lower, upper=upper, log=log)


def settings_from_genes(experiment: Experiment, space: ParameterSpace) -> dict[str, Any]:
    """
    Return ``initial`` and ``step`` of the genes as settings of the optimiser, in the unit cube.

    Raises
    ------
    ConfigurationError
        If only some genes have the key, the optimiser lacks the setting or has it set already, a
        value is outside the bounds, or a gene on a log scale has a step.

    """
    settings: dict[str, Any] = {}
    ranges = _gene_values(experiment, 'initial', 'initial_low')
    if ranges:
        for end, name in enumerate(('initial_low', 'initial_high')):
            point = space.encode({gene: values[end] for gene, values in ranges.items()})
            settings[name] = tuple(point.tolist())
    steps = _gene_values(experiment, 'step', 'steps')
    if steps:
        settings['steps'] = tuple(_relative_step(gene, steps[gene.name]) for gene in space.genes)
    return settings


def _relative_step(gene: Gene, step: float) -> float:
    """Return the step of a gene as a share of its range."""
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


def _gene_values(experiment: Experiment, key: str, setting: str) -> dict[str, Any]:
    """Return the values of a key by gene; empty if no gene has it, an error if only some do."""
    values = {name: getattr(gene, key) for name, gene in experiment.genes.items()}
    missing = [name for name, value in values.items() if value is None]
    if len(missing) == len(values):
        return {}
    if missing:
        raise ConfigurationError(f"gene '{missing[0]}' has no {key}, but others have one")
    choice = experiment.optimizer
    cls = registry.optimizer(choice.name)
    if setting not in {info.name for info in declared_parameters(cls.Settings)}:
        raise ConfigurationError(
            f"optimizer '{choice.name}' has no setting for {key} of genes; remove {key} from them"
        )
    if choice.settings.get(setting):
        raise ConfigurationError(
            f'{key} is set by the genes and by optimizer.settings.{setting}; set one of them'
        )
    return values


def resolve_optimizer(experiment: Experiment, location: Location) -> OptimizerChoice:
    """Return the optimiser with every setting written out."""
    choice = experiment.optimizer
    cls = registry.optimizer(choice.name)
    check_parameters(cls.Settings, choice.settings, location / 'settings')
    settings = dict(choice.settings)
    if experiment.population:
        if settings.get('population', experiment.population) != experiment.population:
            raise ConfigurationError(
                f'population is {experiment.population} and optimizer.settings.population is '
                f'{settings["population"]}; set one of them'
            )
        settings['population'] = experiment.population
    _set_objectives(experiment, settings, cls)
    if experiment.constraints and not cls.ranks_constraints:
        raise ConfigurationError(
            f"optimizer '{choice.name}' cannot use constraints; those that rank by them: "
            f'{", ".join(_names_with_constraints())}'
        )
    checked_settings = make_parameters(cls.Settings, settings)
    # Plain data leaves out settings of later versions at their default: a run keeps its hash.
    return OptimizerChoice(
        name=choice.name,
        settings={
            name: getattr(checked_settings, name) for name in to_plain_data(checked_settings)
        },
    )


def _names_with_constraints() -> list[str]:
    """Return the registered optimisers that rank by constraints and are installed."""
    names = []
    for name in registry.names('optimizers'):
        with suppress(NotInstalled):
            names += [name] if registry.optimizer(name).ranks_constraints else []
    return names


def _set_objectives(
    experiment: Experiment, settings: dict[str, Any], cls: type[Optimizer]
) -> None:
    """Set the number of objectives; refuse several for an optimiser of the fitness alone."""
    count, name = 1 + len(experiment.objectives), experiment.optimizer.name
    takes_objectives = 'objectives' in {info.name for info in declared_parameters(cls.Settings)}
    if not takes_objectives:
        if count > 1:
            raise ConfigurationError(
                f"optimizer '{name}' maximises the fitness alone, not several objectives; nearest "
                'valid: nsga2'
            )
    elif settings.setdefault('objectives', count) != count:
        raise ConfigurationError(
            f'optimizer.settings.objectives is {settings["objectives"]}, the experiment has '
            f'{count}; nearest valid: {count}'
        )


def check_length(experiment: Experiment, optimizer: Optimizer) -> None:
    """Refuse a run too long to restore its optimiser from the log; ``optimizer`` is a new one."""
    limit = optimizer.max_candidates
    if not limit:
        return
    population, generations = len(optimizer.ask()), experiment.generations
    if generations * population > limit:
        raise ConfigurationError(
            f"optimizer '{experiment.optimizer.name}' allows {limit} candidates: to resume more "
            f'takes too long. The experiment has {generations} generations of {population}; '
            f'nearest valid: generations {max(limit // population, 1)}'
        )


def check_generators(name: str, make_optimizer: Callable[[], Optimizer]) -> None:
    """
    Refuse an optimiser that draws from a global generator in its first two generations.

    Other code draws from that generator, too, so that no run could be repeated or resumed. The
    candidates of the first generation count as failed; an exception shows in the run itself.
    """
    before = _global_generator_states()
    with suppress(Exception):
        optimizer = make_optimizer()
        candidates = optimizer.ask()
        optimizer.tell(
            [Evaluation(id=each.id, status='diverged', objectives=None) for each in candidates]
        )
        optimizer.ask()
    for generator, state in _global_generator_states().items():
        if state != before[generator]:
            raise ConfigurationError(
                f"optimizer '{name}' draws from the global generator of {generator}, so that no "
                'run of it could be repeated or resumed; nearest valid: '
                'numpy.random.default_rng(seed)'
            )


def _global_generator_states() -> dict[str, str]:
    """Return the states of the generators that all code of a process shares, by module."""
    return {
        'random': str(random.getstate()),
        'numpy.random': str(np.random.get_state(legacy=False)),  # noqa: NPY002
    }
