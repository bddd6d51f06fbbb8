# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of an experiment against registered names, its robot and its trials."""

from __future__ import annotations

from gait_core import registry
from gait_core.errors import ConfigurationError, unknown_leg_error, unknown_name_error
from gait_core.measures.metrics import LEG_METRICS, METRICS, leg_metric_names
from gait_core.parameters.schema import Location
from gait_core.robot.model import RobotModel
from gait_core.terrains import load_terrain
from gait_core.trial.gates import check_gate_limit
from gait_core.trial.randomisation import randomise_scene
from gait_core.trial.setup import check_registered
from gait_core.trial.spec import TrialSpec
from gait_evolver.experiment import Experiment


def check_registered_names(experiment: Experiment, location: Location) -> None:
    """Refuse unregistered names and invalid limits of gates."""
    goals = location / 'objectives'
    named = [
        *(('fitness_terms', location / 'fitness' / term, term) for term in experiment.fitness),
        *(
            ('fitness_terms', goals / name / term, term)
            for name, terms in experiment.objectives.items()
            for term in terms
        ),
        ('evaluators', location / 'evaluator', experiment.evaluator),
        ('optimizers', location / 'optimizer' / 'name', experiment.optimizer.name),
        *(
            ('engines', location / 'engines' / i, engine)
            for i, engine in enumerate(experiment.engines)
        ),
    ]
    if experiment.controller:
        named.append(('controllers', location / 'controller', experiment.controller))
    for kind, name_location, name in named:
        with name_location.locate_errors():
            check_registered(kind, name)
    for gate, limit in experiment.gates.items():
        with (location / 'gates' / gate).locate_errors():
            check_gate_limit(gate, limit)


def check_metrics(experiment: Experiment, robot: RobotModel, location: Location) -> None:
    """Refuse unknown metrics in ``measures``, and unknown metrics or terms in ``constraints``."""
    legs = [leg.name for leg in robot.legs]
    terms = registry.names('fitness_terms')
    named = [
        *(('metric', location / 'measures' / i, x, ()) for i, x in enumerate(experiment.measures)),
        *(
            ('metric or fitness term', location / 'constraints' / name, name, terms)
            for name in experiment.constraints
        ),
    ]
    for kind, name_location, name, others in named:
        if name in (*METRICS, *leg_metric_names(legs), *others):
            continue
        with name_location.locate_errors():
            if name.partition('.')[0] in LEG_METRICS:
                raise unknown_leg_error(name, legs)
            raise unknown_name_error(kind, name, (*METRICS, *leg_metric_names(legs), *others))


def check_search_kind(experiment: Experiment, controller: str, robot: RobotModel) -> None:
    """
    Refuse genes and optimisers that do not fit.

    An optimiser of network weights needs a controller with a network and no genes; every other
    optimiser needs genes.
    """
    name = experiment.optimizer.name
    networks = registry.optimizer(name).searches_arrays
    if not networks and not experiment.genes:
        raise ConfigurationError('experiment.genes is empty')
    if networks and experiment.genes:
        raise ConfigurationError(f"optimizer '{name}' searches a network's weights, not genes")
    cls = registry.controller(controller)
    if networks and not cls.array_shapes(robot, cls.Params()):
        raise ConfigurationError(
            f"optimizer '{name}' searches the weights of a network, but controller "
            f"'{controller}' has none; nearest valid: perceptron"
        )


def check_double_draws(experiment: Experiment, trial: TrialSpec) -> None:
    """Refuse ranges for a body or a start that the experiment draws already."""
    quantities = {}
    if experiment.bodies != 'one':
        quantities['draw'] = f'bodies: {experiment.bodies}', 'bodies: one'
    if experiment.start_spread:
        spread = f'start_spread: {experiment.start_spread:g}', 'start_spread: 0'
        quantities |= {'initial.x': spread, 'initial.y': spread}
    for name in trial.randomise:
        if name in quantities:
            setting, valid = quantities[name]
            raise ConfigurationError(
                f"experiment: 'randomise.{name}' and '{setting}' both draw the same value; "
                f"leave one out, e.g. '{valid}'"
            )


def check_terrain_ranges(trial: TrialSpec) -> None:
    """Refuse ranges whose ends are invalid parameters of the terrain."""
    for name in trial.randomise:
        if name.startswith('terrain.') and name != 'terrain.seed':
            for end in trial.randomise[name]:
                load_terrain(randomise_scene(trial.scene, {name: (end, end)}, 0).terrain)
