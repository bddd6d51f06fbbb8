# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Set the thresholds of a robot's reflexes above the values of an undisturbed walk.

ROBOT walks on level ground without reflexes, once per preset. Each threshold is set outside the
range of all walks by a margin. Then the walks are repeated with all reflexes, none of which
should act. `gait walk --champion FILE` and the controller node load the file of `--out`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gait_tools.commands.common import EXIT_FAILED, add_settings, check_output, print_json

if TYPE_CHECKING:
    from gait_core.trial.spec import TrialSpec

WALK_DURATION, DEFAULT_MARGIN = 3.0, 0.1


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('robot', metavar='ROBOT', help='name or folder of the robot')
    parser.add_argument(
        '--controller', default='', metavar='C', help="controller (default: the robot's)"
    )
    parser.add_argument(
        '--preset',
        action='append',
        default=[],
        metavar='P',
        help='preset; may be repeated (default: every preset)',
    )
    parser.add_argument(
        '--seconds',
        type=float,
        default=WALK_DURATION,
        metavar='S',
        help='duration of each walk [s] (default: 3)',
    )
    parser.add_argument(
        '--margin',
        type=float,
        default=DEFAULT_MARGIN,
        metavar='M',
        help='distance of a threshold from the range measured in the walks, as a share of that '
        'range (default: 0.1)',
    )
    parser.add_argument(
        '--cmd', metavar='VX[,VY[,WZ]]', help="velocity [m/s, m/s, rad/s] (default: the robot's)"
    )
    parser.add_argument('--engine', metavar='E', help="engine (default: the robot's)")
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed of the trials (default: 0)'
    )
    parser.add_argument('--out', metavar='FILE', help='parameter file to write')
    add_settings(parser, 'scene.friction=0.5 or gait.step_time=0.06')


def run(options: Namespace) -> int:
    """Calibrate and check; return 1 if a reflex acts in an undisturbed walk."""
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import write_gait_parameters
    from gait_tools.calibration import calibrate_thresholds, count_undisturbed_events

    if not 0.0 <= options.margin <= 10.0:
        raise ConfigurationError(f'--margin {options.margin:g}; nearest valid: 0 to 10')
    out = Path(options.out) if options.out else None
    # Before the walks, which take a minute.
    if out is not None:
        check_output('--out', out, _is_parameter_file, '.yaml')
    walks = _walks(options)
    thresholds = calibrate_thresholds(list(walks.values()), options.margin)
    acted = dict(count_undisturbed_events(list(walks.values()), thresholds))
    if out is not None:
        write_gait_parameters(out, thresholds)
    if options.json:
        values = {'robot': options.robot, 'walks': list(walks), 'margin': options.margin}
        print_json({**values, 'thresholds': thresholds, 'events': acted, 'file': options.out})
    else:
        for name, value in thresholds.items():
            print(f'  {name + ":":20}{value:.4g}')
        events = ', '.join(f'{name} {count}' for name, count in acted.items())
        print(f'reflex events in walks with presets {", ".join(walks)}: {events}')
        if options.out:
            print(f'thresholds: {options.out}')
    return EXIT_FAILED if any(acted.values()) else 0


def _is_parameter_file(path: Path) -> bool:
    """Return whether a file holds parameters of a gait alone, without the record of a champion."""
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import read_gait_file

    try:
        return list(read_gait_file(path).parameters) == ['gait']
    except ConfigurationError:
        return False


def _walks(options: Namespace) -> dict[str, TrialSpec]:
    """Return the walks by preset, with reflexes off."""
    from gait_core import registry
    from gait_tools.calibration import unique_walks_without_reflexes
    from gait_tools.commands.walk import spec_from_options

    given = {**vars(options), 'champion': None, 'terrain': None}
    presets = options.preset
    if not presets:
        spec = spec_from_options(Namespace(**{**given, 'preset': ''}))
        presets = list(registry.controller(spec.controller).presets)
    return unique_walks_without_reflexes(
        {name: spec_from_options(Namespace(**{**given, 'preset': name})) for name in presets}
    )
