"""
Report what a robot description says, and what it lacks.

URDF is a .urdf or .xacro file, a robot folder or the name of a robot.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gait_evolver.commands.common import add_json, print_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('urdf', metavar='URDF')
    parser.add_argument(
        '--package',
        action='append',
        default=[],
        metavar='NAME=PATH',
        help='folder that package://NAME stands for; may be repeated',
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the load report."""
    from gait_core.errors import ConfigurationError
    from gait_core.robot.report import load_report

    packages = {}
    for text in options.package:
        name, equals, path = text.partition('=')
        if not (name and equals and path):
            raise ConfigurationError(f"--package '{text}': expected NAME=PATH")
        packages[name] = path
    report = load_report(options.urdf, packages)
    if options.json:
        print_json(report.as_dict())
    else:
        print('\n'.join(report.lines()))
    return 0
