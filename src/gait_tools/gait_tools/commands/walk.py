# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Run one trial of a robot and print its measures.

ROBOT is a name (`gait list robots`) or a robot folder. Without options the robot's controller,
own gait (`defaults.gait` of robot.yaml), scene and duration apply. `--preset`, `--champion FILE`
and `--set` select another gait; the velocity of `--cmd` does not. `--set` changes gait.NAME (a
parameter of the controller), scene.NAME (a field of the scene, such as scene.friction=0.5) and
settle_time. A champion walks on the engine and with the command of its record, unless you name
others; a line says what differs from the record.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
import sys
from typing import TYPE_CHECKING, Any

from gait_tools.commands.common import (
    add_settings,
    check_set_once,
    exit_code,
    print_json,
    print_trial,
    trial_as_json,
)
from gait_tools.commands.trials import (
    add_run_options,
    check_display_options,
    print_exception,
    run_trials,
    show_trial,
)

if TYPE_CHECKING:
    from gait_core.robot.model import RobotModel
    from gait_core.trial.champion import Champion
    from gait_core.trial.rollout import Rollout
    from gait_core.trial.spec import TrialSpec


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('robot', metavar='ROBOT', help='name or folder of the robot')
    parser.add_argument(
        '--controller', default='', metavar='C', help="controller (default: the robot's)"
    )
    parser.add_argument(
        '--preset',
        default='',
        metavar='P',
        help="preset of the controller; it replaces values of the robot's own gait",
    )
    parser.add_argument(
        '--champion', metavar='FILE', help='champion.yaml or another file with gait parameters'
    )
    parser.add_argument(
        '--seconds', type=float, metavar='S', help="duration [s] (default: the robot's)"
    )
    parser.add_argument(
        '--cmd',
        metavar='VX[,VY[,WZ]]',
        help='velocity forward, left [m/s], and yaw rate [rad/s] '
        "(default: the champion's or the robot's)",
    )
    parser.add_argument(
        '--terrain', metavar='NAME[:k=v,...]', help='terrain, such as rough:range=0.1,seed=3'
    )
    parser.add_argument(
        '--engine', metavar='E', help="engine (default: the champion's or the robot's)"
    )
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed of the trial (default: 0)'
    )
    parser.add_argument('--record', metavar='DIR', help='write a rosbag2 directory (MCAP)')
    parser.add_argument(
        '--sensors', default='', metavar='NAME[,...]', help='range sensors to publish, or all'
    )
    add_run_options(parser)
    add_settings(parser, 'gait.step_size_deg=15 or scene.friction=0.5')


def print_note(line: str) -> None:
    """Print a line on standard error."""
    print(f'gait: {line}', file=sys.stderr)


def run(options: Namespace) -> int:
    """Run the trial, then print, show and record it."""
    check_display_options(options)
    # Printed after the trial, so that an error is the only line.
    notes: list[str] = []
    spec = spec_from_options(options, notes.append)
    notes += _describe_negative_inertia(spec)
    if options.sensors:
        _check_sensors(options)
    if options.cmd is not None:
        notes += _describe_clipped_command(spec)
    if options.record:
        from gait_tools.bags.write import check_bag

        check_bag(Path(options.record))
    keep = bool(options.record or options.video or options.viewer) or not options.json
    (outcome,) = run_trials([spec], ros=options.ros, keep=keep, sensors=options.sensors)
    result, rollout = outcome.result, outcome.rollout
    for line in notes:
        print_note(line)
    values = trial_as_json(spec, result, outcome.wall_time, outcome.pids)
    if options.record and rollout is not None:
        from gait_tools.bags.write import write_bag

        write_bag(Path(options.record), rollout, result)
    show_trial(options, rollout)
    if options.json:
        print_json(values)
        print_exception(result)
    else:
        print_trial(values, result.reason)
        if rollout is not None and result.has_fitness:
            _print_gates(rollout)
    return exit_code(result.status)


def spec_from_options(options: Namespace, note: Callable[[str], None] = print_note) -> TrialSpec:
    """
    Return the trial that the options describe; ConfigurationError names an invalid one.

    ``note`` is called with each line on what is not walked as the options or files say.
    """
    from gait_core.robot.load import load_robot
    from gait_core.robot.model_code import permit_model_code
    from gait_core.trial import setup as trial_setup
    from gait_core.trial.spec import TrialSpec
    from gait_tools.champion_walk import champion_fields, champion_scene, describe_differences

    permit_model_code(options.robot)
    robot = load_robot(options.robot)
    settings = trial_setup.parse_settings(options.settings)
    _check_sections(settings)
    gait = settings.get('gait', {})
    scene = dict(settings.get('scene', {}))
    if options.engine:
        check_set_once(settings, '--engine', 'scene.engine')
        scene['engine'] = trial_setup.check_registered('engines', options.engine)
    if options.terrain:
        check_set_once(settings, '--terrain', 'scene.terrain')
        scene['terrain'] = trial_setup.parse_terrain(options.terrain)
    fields: dict[str, Any] = {'script': trial_setup.default_script(robot)}
    champion = _read_champion(options, note)
    if champion is not None:
        scene = champion_scene(champion.spec.scene, scene)
        fields = champion_fields(champion.spec, gait)
    else:
        fields.update(_gait_fields(options, robot, gait, note))
    if options.cmd is not None:
        fields['script'] = trial_setup.constant_script(trial_setup.parse_velocity(options.cmd))
    duration = options.seconds
    if duration is None:
        duration = float(robot.defaults.get('duration', 10.0))
    spec = TrialSpec(
        scene=trial_setup.make_scene(options.robot, scene),
        seed=options.seed,
        duration=duration,
        settle_time=_read_seconds(
            'settle_time', settings.get('settle_time', robot.defaults.get('settle_time', 0.0))
        ),
        **fields,
    )
    if champion is not None:
        line = describe_differences(spec, champion)
        if line:
            note(f'{options.champion}: {line}')
    return spec


def _describe_negative_inertia(spec: TrialSpec) -> Iterator[str]:
    """Yield a line on the first inertia with a negative moment, which engines replace."""
    from gait_core.robot.load import load_robot
    from gait_core.robot.load_report import negative_inertias

    faults = negative_inertias(load_robot(spec.scene.robot, spec.scene.draw))
    for name in faults[:1]:
        yield (
            f"link '{name}' has a negative principal moment of inertia, which engines "
            f'replace; {len(faults)} such link{"s" * (len(faults) > 1)}, see gait check'
        )


def _describe_clipped_command(spec: TrialSpec) -> Iterator[str]:
    """Yield a line on the components of each command that the controller clips."""
    from gait_core.motion.velocity_limits import describe_clipping
    from gait_core.robot.load import load_robot
    from gait_core.trial.parts import make_controller

    robot = load_robot(spec.scene.robot, spec.scene.draw)
    bounds = make_controller(spec, robot).velocity_limits
    for item in spec.script:
        if text := describe_clipping(bounds, item.command.velocity):
            yield f'--cmd is not followed exactly by {spec.controller}: {text}'


def _check_sensors(options: Namespace) -> None:
    from gait_core.errors import ConfigurationError
    from gait_core.robot.load import load_robot
    from gait_core.sensors.ranging import select_sensors

    select_sensors(load_robot(options.robot), options.sensors)
    if not options.ros:
        raise ConfigurationError('--sensors needs --ros: readings are published on topics')


def _gait_fields(
    options: Namespace,
    robot: RobotModel,
    changes: Mapping[str, Any],
    note: Callable[[str], None],
) -> dict[str, Any]:
    """Return controller and parameters of a walk that is not a champion's."""
    from gait_core import registry
    from gait_core.parameters.declaration import merge_parameters
    from gait_core.trial.champion import read_gait_file
    from gait_core.trial.robot_gait import choose_controller, resolve_gait

    own: Mapping[str, Any] = {}
    controller, _ = choose_controller(robot, options.controller, options.preset)
    if options.champion:
        own = read_gait_file(Path(options.champion)).gait(registry.controller(controller).Params)
    declared = registry.controller(controller).Params
    values = merge_parameters(declared, own, changes)
    gait = resolve_gait(robot, options.controller, options.preset, values)
    if gait.ignored:
        note(gait.ignored)
    return {'controller': gait.controller, 'parameters': gait.trial_parameters}


def _read_champion(options: Namespace, note: Callable[[str], None]) -> Champion | None:
    """Return the champion that the options name; None without one, or for a parameter file."""
    from gait_core.errors import ConfigurationError
    from gait_core.trial.champion import check_champion_robot, read_gait_file

    if not options.champion:
        return None
    path = Path(options.champion)
    gait_file = read_gait_file(path)
    if not gait_file.is_champion and gait_file.gait():
        # A parameter file that is not a champion names no robot and no controller.
        return None
    champion = gait_file.champion()
    if warning := check_champion_robot(path, champion, options.robot):
        note(f'{path}: {warning}')
    controller = champion.spec.controller
    if options.controller and options.controller != controller:
        raise ConfigurationError(
            f"{path} holds a gait of controller '{controller}', not of '{options.controller}'"
        )
    if options.preset:
        raise ConfigurationError(
            f"--preset is '{options.preset}', but {path} has every parameter of the gait; leave "
            '--preset out'
        )
    return champion


def _check_sections(settings: Mapping[str, Any]) -> None:
    """Raise ``ConfigurationError`` for a setting that is in no section of the command."""
    from gait_core.errors import ConfigurationError, unknown_name_error

    valid = ('gait', 'scene', 'settle_time')
    for name, value in settings.items():
        if name not in valid:
            raise unknown_name_error(
                'setting', name, ('gait.<name>', 'scene.<name>', 'settle_time')
            )
        if name != 'settle_time' and not isinstance(value, Mapping):
            raise ConfigurationError(f"setting '{name}' needs a name after a dot: {name}.<name>")


def _read_seconds(name: str, value: Any) -> float:
    from gait_core.errors import ConfigurationError

    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigurationError(f'{name} is {value!r}, expected a number of seconds')
    return float(value)


def _print_gates(rollout: Rollout) -> None:
    """Print whether the gates of an evolution would accept a trial."""
    from gait_core.trial.gates import default_gate_limits, exceeded_gate

    name, line = exceeded_gate(rollout, default_gate_limits(rollout.robot, rollout.spec.scene))
    verdict = f'invalid:{name} ({line})' if name else 'passed'
    print(f'  {"gates:":19}{verdict}')
