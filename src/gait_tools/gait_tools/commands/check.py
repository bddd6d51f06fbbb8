# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Report the contents of a robot description, and what it lacks.

URDF is a .urdf or .xacro file, a robot folder or the name of a robot. A description with which no
trial could start is refused.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
import sys
from typing import TYPE_CHECKING

from gait_tools.commands.common import add_json, add_packages, print_json, read_packages

if TYPE_CHECKING:
    from gait_core.robot.model import RobotModel


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', metavar='URDF', help='file, robot name or robot folder')
    add_packages(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Start the robot as a walk does, then print the load report."""
    from gait_core.robot.find import find_robot
    from gait_core.robot.load import read_robot
    from gait_core.robot.load_report import report_robot
    from gait_core.robot.model_code import permit_model_code
    from gait_core.trial.setup import check_defaults

    permit_model_code(options.urdf)
    packages = read_packages(options.package)
    robot = read_robot(find_robot(options.urdf), packages)
    check_defaults(robot)
    _check_colours(robot)
    _start_trial(robot, '' if packages else options.urdf)
    report = report_robot(robot)
    if options.json:
        print_json(report.as_dict())
    else:
        print('\n'.join(report.lines()))
    return 0


def _check_colours(robot: RobotModel) -> None:
    """Raise ConfigurationError for the first colour beyond 0 to 1, which walks and RViz clip."""
    from gait_core.errors import ConfigurationError

    for link in robot.links:
        for colour in (shape.rgba for shape in link.visuals if shape.rgba is not None):
            nearest = [min(max(part, 0.0), 1.0) for part in colour]
            if nearest != list(colour):
                found, valid = (
                    ' '.join(f'{part:g}' for part in parts) for parts in (colour, nearest)
                )
                raise ConfigurationError(
                    f"robot '{robot.name}': link '{link.name}': rgba is '{found}', expected four "
                    f'numbers from 0 to 1; nearest valid: {valid}'
                )


def _start_trial(robot: RobotModel, name: str) -> None:
    """
    Start the default trial of a robot; ConfigurationError if a walk could not start.

    A robot without a name, whose packages no walk would find, starts with the controller ``hold``.
    """
    from gait_core import registry
    from gait_core.errors import ConfigurationError, NotInstalled, SimulationDiverged
    from gait_core.trial.loop import TrialLoop, start_trial
    from gait_core.trial.scene import Scene
    from gait_core.trial.setup import default_engine, default_trial
    from gait_core.trial.spec import TrialSpec

    try:
        if name:
            spec = replace(default_trial(name), settle_time=0.0)
        else:
            scene = Scene(robot=robot.source, engine=default_engine())
            spec = TrialSpec(scene=scene, controller='hold')
        engine = registry.engine(spec.scene.engine)(lambda name, draw: robot)
    except NotInstalled as error:
        print(f'gait: no trial was started: {error}', file=sys.stderr)
        return
    try:
        start_trial(TrialLoop(spec, engine))
    except SimulationDiverged as error:
        raise ConfigurationError(f'{robot.source}: {error}') from error
    finally:
        engine.close()
