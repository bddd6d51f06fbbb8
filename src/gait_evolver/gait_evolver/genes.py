"""Search of an experiment: the genes' space, and the optimiser's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from gait_core import registry
from gait_core.contracts import Optimizer
from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Gene,
    Parameters,
    ParameterSpace,
    declared_parameters,
    make_parameters,
    parameter_info,
    parameter_space,
)
from gait_core.parameters.schema import Location, check_parameters
from gait_evolver.experiment import Experiment, GeneBounds, OptimizerChoice


def gene_space(
    controller: str, genes: Mapping[str, GeneBounds], location: Location
) -> ParameterSpace:
    """Return the space of the searched parameters of a controller."""
    cls = registry.controller(controller).Params
    chosen = []
    for name, bounds in genes.items():
        with (location / name).locate_errors():
            chosen.append(_bounded_gene(cls, name, bounds))
    return ParameterSpace(tuple(chosen))


def _bounded_gene(cls: type[Parameters], name: str, bounds: GeneBounds) -> Gene:
    """Return a gene as the controller declares it, within the bounds of the experiment."""
    (gene,) = parameter_space(cls, (name,)).genes
    lower = gene.lower if bounds.lower is None else bounds.lower
    upper = gene.upper if bounds.upper is None else bounds.upper
    for bound in (lower, upper):
        parameter_info(cls, name).coerce(bound)
    log = gene.log if bounds.log is None else bounds.log
    return replace(gene, lower=lower, upper=upper, log=log)


def settings_from_genes(experiment: Experiment, space: ParameterSpace) -> dict[str, Any]:
    """
    Return what the genes say of their search as settings of the optimiser, in the unit cube.

    Raises
    ------
    ConfigurationError
        If only some genes say it, the optimiser takes no such thing or was given it as a
        setting, a value lies outside the bounds, or a step is to be taken on a log scale.

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


def _gene_values(experiment: Experiment, key: str, setting: str) -> dict[str, Any]:
    """Return what the genes say under a key, by name: all of them, for this optimiser, or none."""
    said = {name: getattr(gene, key) for name, gene in experiment.genes.items()}
    silent = [name for name, value in said.items() if value is None]
    if len(silent) == len(said):
        return {}
    if silent:
        raise ConfigurationError(f"gene '{silent[0]}' has no {key}, but others have one")
    choice = experiment.optimizer
    cls = registry.optimizer(choice.name)
    if setting not in {info.name for info in declared_parameters(cls.Settings)}:
        raise ConfigurationError(
            f"optimizer '{choice.name}' takes no {key} of genes; remove it from them"
        )
    if choice.settings.get(setting):
        raise ConfigurationError(
            f'{key} is given by the genes and by optimizer.settings.{setting}; give one of them'
        )
    return said


def resolve_optimizer(experiment: Experiment, location: Location) -> OptimizerChoice:
    """Return the optimiser with every setting written out."""
    choice = experiment.optimizer
    cls = registry.optimizer(choice.name)
    check_parameters(cls.Settings, choice.settings, location / 'settings')
    given = dict(choice.settings)
    if experiment.population:
        if given.get('population', experiment.population) != experiment.population:
            raise ConfigurationError(
                f'population is {experiment.population} and optimizer.settings.population is '
                f'{given["population"]}; give one of them'
            )
        given['population'] = experiment.population
    _set_objectives(experiment, given, cls)
    return OptimizerChoice(name=choice.name, settings=asdict(make_parameters(cls.Settings, given)))


def _set_objectives(experiment: Experiment, given: dict[str, Any], cls: type[Optimizer]) -> None:
    """Give an optimiser the number of objectives; refuse one that looks at the fitness alone."""
    count, name = 1 + len(experiment.objectives), experiment.optimizer.name
    takes = 'objectives' in {info.name for info in declared_parameters(cls.Settings)}
    if not takes:
        if count > 1:
            raise ConfigurationError(
                f"optimizer '{name}' looks at the fitness alone, not at objectives; nearest "
                'valid: nsga2'
            )
    elif given.setdefault('objectives', count) != count:
        raise ConfigurationError(
            f'optimizer.settings.objectives is {given["objectives"]}, the experiment has {count}; '
            f'nearest valid: {count}'
        )
