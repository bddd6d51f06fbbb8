# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Report the contents of a robot description, and what it lacks.

URDF is a .urdf or .xacro file, a robot folder or the name of a robot.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gait_tools.commands.common import add_json, add_packages, print_json, read_packages


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', metavar='URDF', help='file, robot name or robot folder')
    add_packages(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the load report."""
    from gait_core.robot.load_report import report_description
    from gait_core.robot.model_code import permit_model_code

    permit_model_code(options.urdf)
    report = report_description(options.urdf, read_packages(options.package))
    if options.json:
        print_json(report.as_dict())
    else:
        print('\n'.join(report.lines()))
    return 0
