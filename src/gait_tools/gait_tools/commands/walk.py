# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Run one trial of a robot and print its measures.

ROBOT is a name (`gait list robots`) or a robot folder. Without options the robot's controller,
preset, scene and duration apply. `--set` changes gait.<parameter of the controller>,
scene.<field>, such as scene.friction=0.5, and settle_time.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
import sys
from typing import TYPE_CHECKING, Any

from gait_tools.commands.common import (
    add_settings,
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
    from gait_core.trial.rollout import Rollout
    from gait_core.trial.spec import TrialSpec


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument('robot', metavar='ROBOT', help='name or folder of the robot')
    parser.add_argument(
        '--controller', default='', metavar='C', help="controller (default: the robot's)"
    )
    parser.add_argument('--preset', default='', metavar='P', help='preset of the controller')
    parser.add_argument(
        '--champion', metavar='FILE', help='champion.yaml or another file with gait parameters'
    )
    parser.add_argument(
        '--seconds', type=float, metavar='S', help="duration [s] (default: the robot's)"
    )
    parser.add_argument(
        '--cmd', metavar='VX[,VY[,WZ]]', help='velocity forward, left [m/s], and yaw rate [rad/s]'
    )
    parser.add_argument(
        '--terrain', metavar='NAME[:k=v,...]', help='terrain, such as rough:range=0.1,seed=3'
    )
    parser.add_argument('--engine', metavar='E', help="engine (default: the robot's)")
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed of the trial (default: 0)'
    )
    parser.add_argument('--record', metavar='DIR', help='write a rosbag2 directory (MCAP)')
    parser.add_argument(
        '--sensors', default='', metavar='NAME[,...]', help='range sensors to publish, or all'
    )
    add_run_options(parser)
    add_settings(parser, 'gait.step_size_deg=15 or scene.friction=0.5')


def run(options: Namespace) -> int:
    """Run the trial, then print, show and record it."""
    check_display_options(options)
    spec = spec_from_options(options)
    if options.sensors:
        _check_sensors(options)
    if options.cmd is not None:
        _warn_of_clipped_command(spec)
    if options.record:
        from gait_tools.bags.write import check_bag

        check_bag(Path(options.record))
    keep = bool(options.record or options.video or options.viewer) or not options.json
    (outcome,) = run_trials([spec], ros=options.ros, keep=keep, sensors=options.sensors)
    result, rollout = outcome.result, outcome.rollout
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
        if rollout is not None and result.can_win:
            _print_gates(rollout)
    return exit_code(result.status)


def spec_from_options(options: Namespace) -> TrialSpec:
    """Return the trial that the options describe; ConfigurationError names an invalid one."""
    from gait_core.robot.load import load_robot
    from gait_core.robot.model_code import permit_model_code
    from gait_core.trial import setup as trial_setup
    from gait_core.trial.spec import TrialSpec

    permit_model_code(options.robot)
    robot = load_robot(options.robot)
    controller, preset, gait, own = _gait_from_options(options)
    settings = trial_setup.parse_settings(options.settings)
    _check_sections(settings)
    controller, preset = trial_setup.choose_controller(robot, controller, preset)
    if not options.champion:
        gait = trial_setup.default_gait_parameters(robot, controller, preset)
    parameters = trial_setup.controller_parameters(
        controller, preset, trial_setup.merge_settings(gait, settings.get('gait', {}))
    )
    scene = dict(settings.get('scene', {}))
    if options.engine:
        scene['engine'] = trial_setup.check_registered('engines', options.engine)
    if options.terrain:
        scene['terrain'] = trial_setup.parse_terrain(options.terrain)
    script = trial_setup.default_script(robot)
    if options.cmd is not None:
        script = trial_setup.constant_script(trial_setup.parse_velocity(options.cmd))
    duration = options.seconds
    if duration is None:
        duration = float(robot.defaults.get('duration', 10.0))
    return TrialSpec(
        scene=trial_setup.make_scene(options.robot, scene),
        controller=controller,
        parameters=parameters,
        script=script,
        seed=options.seed,
        duration=duration,
        settle_time=_read_seconds(
            'settle_time', settings.get('settle_time', robot.defaults.get('settle_time', 0.0))
        ),
        **own,
    )


def _warn_of_clipped_command(spec: TrialSpec) -> None:
    """Print on standard error which components of the command the controller clips."""
    from gait_core.motion.velocity_limits import describe_clipping
    from gait_core.robot.load import load_robot
    from gait_core.trial.loop import make_controller

    robot = load_robot(spec.scene.robot, spec.scene.draw)
    bounds = make_controller(spec, robot).velocity_limits
    for item in spec.script:
        if text := describe_clipping(bounds, item.command.velocity):
            print(
                f'gait: --cmd is not followed exactly by {spec.controller}: {text}',
                file=sys.stderr,
            )


def _check_sensors(options: Namespace) -> None:
    from gait_core.errors import ConfigurationError
    from gait_core.robot.load import load_robot
    from gait_core.sensors.ranging import select_sensors

    select_sensors(load_robot(options.robot), options.sensors)
    if not options.ros:
        raise ConfigurationError('--sensors needs --ros: readings are published on topics')


def _gait_from_options(options: Namespace) -> tuple[str, str, Mapping[str, Any], dict[str, Any]]:
    """
    Return controller, preset, gait parameters and further fields of the trial.

    A champion's values come before those of the options; the further fields are its fitness
    terms and weights.
    """
    from gait_core import registry
    from gait_core.errors import ConfigurationError
    from gait_core.robot.load import load_robot
    from gait_core.trial.champion import check_champion_robot, read_gait_file
    from gait_core.trial.setup import choose_controller

    if not options.champion:
        return options.controller, options.preset, {}, {}
    path = Path(options.champion)
    found = read_gait_file(path)
    if not found.is_champion and found.gait():
        # A parameter file that is not a champion names no robot and no controller.
        robot = load_robot(options.robot)
        controller, preset = choose_controller(robot, options.controller, options.preset)
        cls = registry.controller(controller)
        return controller, preset, found.gait(cls.Params), {}
    champion = found.champion()
    spec = champion.spec
    if warning := check_champion_robot(path, champion, options.robot):
        print(f'gait: {path}: {warning}', file=sys.stderr)
    if options.controller and options.controller != spec.controller:
        raise ConfigurationError(
            f"{path} holds a gait of controller '{spec.controller}', not of '{options.controller}'"
        )
    names = ('fitness_terms', 'weights', 'weights_sha256')
    fields = {name: getattr(spec, name) for name in names}
    return spec.controller, options.preset, spec.parameters, fields


def _check_sections(settings: Mapping[str, Any]) -> None:
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
