# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Write a commented experiment, robot, controller or fitness term to start from.

KIND is experiment, robot, controller or fitness_term. What is written runs as it is; the command
prints how, and overwrites nothing. An experiment is a YAML file that searches around the robot's
own gait. A robot is a folder with a xacro file and robot.yaml; `gait adopt` makes one from a URDF.
A controller and a fitness term are Python packages with the name of their folder.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gait_tools.commands.common import add_json, print_json

KINDS = ('experiment', 'robot', 'controller', 'fitness_term')


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('start', metavar='KIND', help=', '.join(KINDS))
    parser.add_argument(
        'path',
        metavar='PATH',
        nargs='?',
        help='YAML file or folder to write (default: my_KIND, or my_experiment.yaml)',
    )
    parser.add_argument('--robot', metavar='ROBOT', help='robot of an experiment (default: guroo)')
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the files and print the commands that use them."""
    from gait_core.errors import ConfigurationError, unknown_name_error
    from gait_core.files.access import expand_user
    from gait_core.robot.model_code import permit_model_code
    from gait_tools.starts.experiment import DEFAULT_ROBOT, write_experiment
    from gait_tools.starts.folders import write_start_folder

    kind = options.start
    if kind not in KINDS:
        raise unknown_name_error('kind', kind, KINDS)
    default = 'my_experiment.yaml' if kind == 'experiment' else f'my_{kind}'
    path = expand_user(options.path or default)
    if options.robot is not None and kind != 'experiment':
        raise ConfigurationError(f'--robot is for an experiment, not for a {kind}; leave it out')
    if kind == 'experiment':
        permit_model_code(options.robot or '')
        commands = write_experiment(path, options.robot or DEFAULT_ROBOT)
    else:
        commands = write_start_folder(kind, path)
    if options.json:
        print_json({'kind': kind, 'path': str(path), 'next': list(commands)})
        return 0
    print(f'wrote {path}')
    print('\n'.join(f'next: {command}' for command in commands))
    return 0
