# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start of an experiment for any robot: a search around the robot's own gait."""

from __future__ import annotations

from collections.abc import Mapping
import json
import os
from pathlib import Path
import re
import shlex
import textwrap
from typing import Any

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.files.access import expand_user, write_atomically
from gait_core.parameters.declaration import ParameterInfo, Parameters, declared_parameters
from gait_core.robot.find import robot_names
from gait_core.robot.load import load_robot
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.setup import default_script
from gait_tools.starts.folders import check_new_path

DEFAULT_ROBOT = 'guroo'
_GENE_COUNT, _GENE_RANGE = 3, 0.3
"""Number of genes, and their range as a share of their values in the robot's own gait."""
_MAX_DURATION = 6.0
"""Largest duration of a trial [s]."""
_COMMENT_COLUMN, _GENE_COMMENT_COLUMN = 34, 46
_MAX_COMMENT = 70

_HEAD = """\
# An experiment to start from. All keys: doc/experiments.md. Run it:
#   gait evolve {path}
format: 1
description: {description}
{robot}
{controller}
# Preset over the robot's own gait; valid: gait list presets {controller_name}
# preset: {preset}

# Searched parameters around the robot's own gait; all: gait list parameters {controller_name}
genes:
"""
_TAIL = """\

# Parameters that are not searched, in place of those of the gait.
# parameters: {{{parameter}: {value}}}

# Fields of the scene, such as terrain; valid terrains: gait list terrains
scene: {{terrain: {{name: flat}}}}

# Commands from a time [s] on: forward, left [m/s], yaw rate [rad/s].
script:
  - {{time: 0.0, command: {{velocity: {velocity}}}}}
duration: {duration}                     # s

# Weights of fitness terms, whose sum is maximised; all: gait list fitness_terms
fitness:
  distance: 1.0                   # per m
  survival: 2.0                   # for a trial without a fall
  lateral_drift: -0.5             # per m
  energy: -0.001                  # per J

# A real search takes a population of 40 and 30 generations.
optimizer: {{name: genetic}}        # others: gait list optimizers
population: 8
generations: 2
seed: 1
"""


def write_experiment(file: Path, robot_name: str) -> tuple[str, ...]:
    """
    Write the start of an experiment, and return the command that runs it.

    Parameters
    ----------
    file : Path
        New YAML file.
    robot_name : str
        Name or folder of a robot.

    Raises
    ------
    ConfigurationError
        If the file exists or is no YAML file, or the robot's controller has nothing to search.

    """
    check_new_path(file)
    if file.suffix not in ('.yaml', '.yml'):
        raise ConfigurationError(f"'{file}': an experiment is a YAML file, e.g. walk.yaml")
    if not file.parent.is_dir():
        raise ConfigurationError(f"'{file}': the folder '{file.parent}' does not exist")
    command = f'gait evolve {shlex.quote(str(file))}'
    write_atomically(file, _experiment_text(file, robot_name))
    return (command,)


def _experiment_text(file: Path, robot_name: str) -> str:
    """Return the text of an experiment that searches the default gait of a robot."""
    robot = load_robot(robot_name)
    gait = resolve_gait(robot)
    declared = registry.controller(gait.controller).Params
    genes = _genes(declared, gait.parameters)
    if not genes or registry.controller(gait.controller).array_shapes(
        robot, declared(**gait.parameters)
    ):
        raise ConfigurationError(
            f"robot '{robot_name}' walks with controller '{gait.controller}', which has no "
            f'parameters to search; nearest valid: --robot {DEFAULT_ROBOT}'
        )
    robot_text = robot_name
    if robot_name not in robot_names():
        # A path is read from the folder of the experiment.
        robot_text = f'./{os.path.relpath(expand_user(robot_name), file.parent)}'
    first = genes[0]
    text = _HEAD.format(
        path=shlex.quote(str(file)),
        description=_yaml_text(f'The gait of {robot.name}, for distance and little energy.'),
        robot=_with_comment(
            f'robot: {_yaml_text(robot_text)}', 'name, or a folder from here: ./my_robot'
        ),
        controller=_with_comment(f'controller: {gait.controller}', 'valid: gait list controllers'),
        controller_name=gait.controller,
        preset=gait.preset,
    )
    for info in genes:
        text += f'  {_gene(info, gait.parameters[info.name])}\n'
    velocity = list(default_script(robot)[0].command.velocity)
    duration = min(_MAX_DURATION, float(robot.defaults.get('duration', _MAX_DURATION)))
    return text + _TAIL.format(
        parameter=first.name,
        value=f'{gait.parameters[first.name]:g}',
        velocity=velocity,
        duration=duration,
    )


def _genes(declared: type[Parameters], values: Mapping[str, Any]) -> list[ParameterInfo]:
    """Return the searched parameters: the first numbers that the controller itself declares."""
    inherited = {
        info.name
        for base in declared.__bases__
        if issubclass(base, Parameters) and base is not Parameters
        for info in declared_parameters(base)
    }
    numbers = [
        info
        for info in declared_parameters(declared)
        if info.kind == 'float' and not info.read_only and values[info.name]
    ]
    # Parameters of a base class, such as those of reflexes, come last.
    return sorted(numbers, key=lambda info: info.name in inherited)[:_GENE_COUNT]


def _gene(info: ParameterInfo, value: float) -> str:
    """Return the line of a gene: its bounds, and its unit and meaning as a comment."""
    ends = sorted((value * (1.0 - _GENE_RANGE), value * (1.0 + _GENE_RANGE)))
    lower = max(ends[0], -float('inf') if info.low is None else info.low)
    upper = min(ends[1], float('inf') if info.high is None else info.high)
    unit = '' if info.unit in ('', '-') else f'{info.unit}: '
    line = f'{info.name}: {{lower: {lower:.4g}, upper: {upper:.4g}}}'
    comment = textwrap.shorten(f'{unit}{info.doc}', _MAX_COMMENT, placeholder=' ...')
    return _with_comment(line, comment, _GENE_COMMENT_COLUMN)


def _yaml_text(text: str) -> str:
    """Return a text as a YAML value, quoted if it has other than usual characters."""
    return text if re.fullmatch(r'[\w./, -]+', text) else json.dumps(text)


def _with_comment(line: str, comment: str, column: int = _COMMENT_COLUMN) -> str:
    return f'{line:<{column - 2}}  # {comment}'
