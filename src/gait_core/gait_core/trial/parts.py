# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Engine, controller, start and fitness terms of a trial, from the names in its spec."""

from __future__ import annotations

import numpy as np

from gait_core import registry
from gait_core.arrays import FloatArray
from gait_core.contracts import Controller, Engine
from gait_core.errors import ConfigurationError, excerpt, unknown_name_error
from gait_core.files.archives import load_weights
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.trial.gates import check_gate_names
from gait_core.trial.rollout import Rollout
from gait_core.trial.scene import Scene
from gait_core.trial.spec import FELL, OK, TrialSpec

_engine_cache: dict[str, Engine] = {}


def cached_engine(name: str) -> Engine:
    """Return the engine of a name; each process makes one and keeps it."""
    if name not in _engine_cache:
        _engine_cache[name] = registry.engine(name)()
    return _engine_cache[name]


def load_trial_parts(spec: TrialSpec) -> None:
    """
    Load the engine, controller, fitness terms and robot that a trial names, before it is run.

    Parts stay loaded for the life of the process. The robot is left out if quantities of the
    scene are drawn at random: its body may be one of them.

    Raises
    ------
    ConfigurationError
        If one of them does not exist or cannot be used on this machine.

    """
    registry.engine(spec.scene.engine)
    registry.controller(spec.controller)
    for term in spec.fitness_terms:
        registry.fitness_term(term)
    check_gate_names(spec.gates)
    if not spec.randomise:
        load_robot(spec.scene.robot, spec.scene.draw)


def make_controller(spec: TrialSpec, robot: RobotModel) -> Controller:
    """Return the spec's controller with its parameters; ConfigurationError for bad ones."""
    cls = registry.controller(spec.controller)
    params = make_parameters(cls.Params, spec.parameters)
    if spec.weights:
        return cls(robot, params, load_weights(spec.weights, spec.weights_sha256))
    return cls(robot, params)


def initial_positions(robot: RobotModel, scene: Scene) -> FloatArray:
    """Return the scene's initial positions by ``robot.target_names``, (m,) [rad or m]."""
    start: FloatArray = robot.stance.copy()
    index = {name: i for i, name in enumerate(robot.target_names)}
    for name, value in scene.initial.joint_positions.items():
        if name not in index:
            raise unknown_name_error('joint in initial.joint_positions', name, index)
        start[index[name]] = value
    return start


def fitness_terms(rollout: Rollout) -> dict[str, float]:
    """Return the unweighted fitness terms by name; empty unless the status gives a fitness."""
    if rollout.status not in (OK, FELL):
        return {}
    return {name: _fitness_term(name, rollout) for name in rollout.spec.fitness_terms}


def _fitness_term(name: str, rollout: Rollout) -> float:
    """Return a term's value; TypeError if it is not a number, ConfigurationError if infinite."""
    term = registry.fitness_term(name)
    returned = term(rollout)
    try:
        value = float(returned)
    except (TypeError, ValueError):
        raise TypeError(
            f"fitness term '{name}' ({term.__module__}) returned {excerpt(repr(returned))}, "
            'expected a number'
        ) from None
    if not np.isfinite(value):
        raise ConfigurationError(
            f"fitness term '{name}' returned {value}, expected a finite number"
        )
    return value
