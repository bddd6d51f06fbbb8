# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Launch actions of a robot under ros2_control.

The module needs ``launch`` and ``launch_ros``, as ``launch_actions`` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gait_core.errors import ConfigurationError
from gait_core.files.access import expand_user, temporary_folder
from gait_core.kinematics.base_frames import BASE_LINK
from gait_core.robot.load import load_robot
from gait_core.robot.model import RobotModel
from gait_core.robot.urdf.writer import insert_base_link
from gait_core.trial.robot_gait import choose_controller
from gait_ros.graph.control_nodes import ControlledRobot, hardware_graph
from gait_ros.graph.launch_actions import (
    ArgumentValues,
    motion_parameters,
    node_action,
    require_package,
    rviz_action,
    state_publisher_action,
)
from gait_ros.graph.nodes import clock_parameters
from gait_ros.hardware.motors import read_hardware
from gait_ros.hardware.ros2_control import (
    MOCK_TARGET,
    TOPIC_TARGET,
    control_urdf,
    controllers_yaml,
)
from gait_ros.live.node_champion import check_origin


def _simulation_parameters(
    arguments: ArgumentValues, target: str, with_gait: bool
) -> dict[str, Any] | None:
    """Return the parameters of the simulation behind the topics of motors, if there is one."""
    if target != TOPIC_TARGET or not arguments.boolean('simulation'):
        return None
    return {
        'realtime_factor': arguments.number('realtime_factor'),
        **clock_parameters(arguments.boolean('publish_clock')),
        **({'seed': arguments.seed()} if with_gait else {}),
    }


def control_actions(arguments: ArgumentValues, *, with_gait: bool) -> list[Any]:
    """
    Return the actions that start a robot under ros2_control, with or without a gait.

    Raises
    ------
    ConfigurationError
        If an argument is wrong; no node has been started then.

    """
    name, target = arguments.robot(), arguments.text('target')
    robot, namespace = load_robot(name), arguments.text('namespace')
    given = arguments.text('hardware')
    hardware = read_hardware(given, robot)
    file = str(expand_user(given).resolve()) if given and target != MOCK_TARGET else ''
    simulation = _simulation_parameters(arguments, target, with_gait)
    # Checks are made here, because a launch that ends by the refusal of a node has status 0.
    # The description begins at base_link, to which an estimator publishes the transform from odom.
    description = insert_base_link(control_urdf(robot, target, hardware), BASE_LINK)
    controllers = controllers_yaml(robot, target, _update_rate(arguments), hardware)
    controller, gait_parameters = (
        _controller_and_parameters(arguments, robot, simulation) if with_gait else ('', {})
    )
    gait = arguments.text('gait') if with_gait else ''
    folder = temporary_folder('gait_control_')
    if simulation is not None and not file:
        file = _write_file(folder / 'hardware.yaml', hardware.to_yaml())
    controlled = ControlledRobot(
        name=name,
        robot=robot,
        target=target,
        controllers_file=_write_file(folder / 'controllers.yaml', controllers),
        output=arguments.text('output'),
        hardware=file,
        motors=hardware,
        simulation=simulation,
        controller=controller,
        gait=gait_parameters,
        gait_files=(gait,) if gait else (),
        namespace=namespace,
    )
    require_package('controller_manager', apt='ros2-control ros2-controllers')
    manager, *others = hardware_graph(controlled)
    is_simulated = simulation is not None
    # Without motors no node has to hold the robot, so that a failure may end the launch.
    must_succeed = is_simulated or target == MOCK_TARGET
    has_shared_clock = simulation is None or bool(simulation['publish_clock'])
    actions = [
        node_action(manager, essential=True),
        state_publisher_action(
            description, namespace, simulated=is_simulated, shared_clock=has_shared_clock
        ),
        *(node_action(node, must_succeed=must_succeed) for node in others),
    ]
    if arguments.boolean('rviz'):
        layout = 'control' if not with_gait else 'walk' if is_simulated else 'hardware'
        actions.append(
            rviz_action(
                layout,
                robot.length_scale,
                namespace,
                simulated=is_simulated,
                shared_clock=has_shared_clock,
            )
        )
    return actions


def _controller_and_parameters(
    arguments: ArgumentValues, robot: RobotModel, simulation: dict[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    """Return the controller of the gait and the parameters of its node."""
    preset = arguments.text('preset')
    known = '' if preset == 'none' else preset
    champion = arguments.champion()
    named = arguments.text('controller') or (champion.spec.controller if champion else '')
    controller, _ = choose_controller(robot, named, known)
    seed = arguments.seed(None if champion else 0)
    if champion is not None:
        check_origin(champion.origin, arguments.text('robot'), controller)
        champion.check_preset(preset)
    parameters = {
        'preset': preset,
        **({} if seed is None else {'seed': seed}),
        'autostart': arguments.boolean('activate'),
        'safety.recover': simulation is not None,
        **motion_parameters(arguments),
    }
    return controller, parameters


def _update_rate(arguments: ArgumentValues) -> float:
    rate = arguments.number('rate')
    if not 1.0 <= rate <= 10_000.0:
        raise ConfigurationError(f"launch argument 'rate' is {rate:g} Hz, expected 1 to 10000")
    return rate


def _write_file(file: Path, content: str) -> str:
    """Write a file and return its path."""
    file.write_text(content, encoding='utf-8')
    return str(file)
