# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node ``sim_bridge``, and the scene that they describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    int_parameter,
    str_parameter,
)
from gait_core.trial.scene import Scene
from gait_core.trial.seeding import MAX_SEED
from gait_core.trial.setup import make_scene, parse_terrain, scene_with_engine

REALTIME, FAST, LOCKSTEP = 'realtime', 'fast', 'lockstep'


@dataclass(frozen=True, kw_only=True)
class BridgeParams(Parameters):
    """Parameters of the bridge: simulation, pace and publications."""

    robot: str = str_parameter(
        '',
        doc='Robot name or folder. Empty: no robot until a trial or a reset brings one.',
        read_only=True,
    )
    draw: int = int_parameter(
        0,
        low=0,
        high=MAX_SEED,
        doc='Seed of the body of a drawn robot; other robots ignore it.',
        read_only=True,
    )
    engine: str = str_parameter(
        '', doc="Registered engine. Empty: the robot's default.", read_only=True
    )
    terrain: str = str_parameter(
        '', doc='Terrain as NAME[:key=value,...]. Empty: flat.', read_only=True
    )
    seed: int = int_parameter(0, low=0, high=MAX_SEED, doc='Seed of the engine.', read_only=True)
    physics_step: float = float_parameter(
        0.0,
        low=0.0,
        high=0.1,
        unit='s',
        doc="Physics step; 0: the robot's default.",
        read_only=True,
    )
    control_period: float = float_parameter(
        0.0,
        low=0.0,
        high=1.0,
        unit='s',
        doc="Control period; 0: the robot's default.",
        read_only=True,
    )
    fixed_base: bool = bool_parameter(
        False, doc='Hang the robot by its root link.', read_only=True
    )
    mode: str = str_parameter(
        REALTIME,
        choices=(REALTIME, FAST, LOCKSTEP),
        doc='How simulated time advances: with wall time, as fast as possible, or only on '
        'request.',
        read_only=True,
    )
    realtime_factor: float = float_parameter(
        1.0,
        low=0.01,
        high=100.0,
        unit='-',
        doc='Simulated time divided by wall time in mode realtime.',
    )
    publish_clock: bool = bool_parameter(
        True,
        doc='Publish /clock: true for one bridge of a ROS domain, false for the others, which '
        'follow it with use_sim_time.',
        read_only=True,
    )
    rewind_clock: bool = bool_parameter(
        False, doc='Let /clock jump back at a reset; for tests of other nodes.', read_only=True
    )
    publish_link_tf: bool = bool_parameter(
        False,
        doc='Publish the transforms of all links on /tf, for use without robot_state_publisher.',
        read_only=True,
    )
    sensors: str = str_parameter(
        '',
        doc='Names of lidars and depth cameras of robot.yaml to simulate, or all. Empty: none.',
        read_only=True,
    )
    interface: str = str_parameter(
        'position',
        choices=('position', 'velocity', 'effort'),
        doc="Quantity of the targets on the topic 'commands'.",
        read_only=True,
    )
    hardware: bool = bool_parameter(
        False,
        doc='Simulate the hardware of a controller_manager, with topics hardware/joint_commands '
        'and hardware/joint_states instead of those of a robot.',
        read_only=True,
    )
    calibration: str = str_parameter(
        '',
        doc='Motor file whose motors are simulated, on motors/joint_commands and '
        'motors/joint_states. Empty: none.',
        read_only=True,
    )
    answer_timeout: float = float_parameter(
        5.0,
        low=0.01,
        high=3600.0,
        unit='s',
        doc='Wall time that an external controller may take for one tick of a trial.',
    )
    record_folder: str = str_parameter(
        '',
        doc='Folder for the records of trials; a request names a folder in it. Empty: '
        'gait_records in ROS_HOME (~/.ros).',
        read_only=True,
    )
    autostart: bool = bool_parameter(
        True, doc='Configure and activate the node at its start.', read_only=True
    )


def scene_from_parameters(params: BridgeParams, recorded: Scene | None = None) -> Scene:
    """
    Return the scene that the parameters describe.

    Parameters
    ----------
    params : BridgeParams
    recorded : Scene or None
        Scene of a champion's trial on the same robot, as the default of the parameters.

    Raises
    ------
    ConfigurationError
        If a parameter is invalid, or the control period differs from that of the champion.

    """
    if recorded is not None:
        return _scene_of_champion(params, recorded)
    changes: dict[str, Any] = {
        'draw': params.draw,
        'terrain': parse_terrain(params.terrain or 'flat'),
        'fixed_base': params.fixed_base,
    }
    if params.engine:
        changes['engine'] = params.engine
    for name in ('physics_step', 'control_period'):
        if getattr(params, name) > 0.0:
            changes[name] = getattr(params, name)
    return make_scene(params.robot, changes)


def _scene_of_champion(params: BridgeParams, recorded: Scene) -> Scene:
    """Return the scene of a champion, changed by the parameters that are set."""
    scene, period = replace(recorded, robot=params.robot), params.control_period
    if period > 0.0 and not math.isclose(period, scene.control_period):
        raise ConfigurationError(
            f"parameter 'control_period' is {period:g} s, that of the champion is "
            f'{scene.control_period:g} s; leave control_period out'
        )
    changes: dict[str, Any] = {}
    if params.physics_step > 0.0:
        changes['physics_step'] = params.physics_step
    if params.draw:
        changes['draw'] = params.draw
    if params.fixed_base:
        changes['fixed_base'] = True
    if params.terrain:
        given = make_scene(params.robot, {'terrain': parse_terrain(params.terrain)})
        changes['terrain'] = given.terrain
    return replace(scene_with_engine(scene, params.engine or scene.engine), **changes)
