# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Launch actions of the node graph, and checked values of launch arguments.

The module needs ``launch`` and ``launch_ros`` of an installed ROS; only launch files import it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
import os
from pathlib import Path
import sys
from typing import Any

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from gait_core.errors import ConfigurationError, name_hint
from gait_core.robot.model_code import permit_model_code
from gait_core.trial.champion import GaitFile, read_gait_file
from gait_core.trial.setup import parse_velocity
from gait_ros.graph.launch_arguments import LaunchArgument
from gait_ros.graph.nodes import CLOCK_REMAPPINGS, FRAME_REMAPPINGS, NodeSpec
from gait_ros.graph.rviz_layouts import fit_layout, layout_topics
from gait_ros.hardware.ros2_control import SIM_TARGET
from gait_ros.live.node_champion import NodeChampion, make_node_champion

_EMPTY = ("''", '""')
_TRUE = ('true', '1', 'yes', 'on')
_FALSE = ('false', '0', 'no', 'off')
# Similarity from which an argument counts as a misspelt one, by difflib.
_MIN_SIMILARITY = 0.8
# Launch configurations that launch itself sets.
_LAUNCH_CONFIGURATIONS = {'emulate_tty', 'global_params', 'ros_namespace', 'ros_remaps'}


class ArgumentValues:
    """Values of declared launch arguments, by their types."""

    def __init__(self, context: LaunchContext) -> None:
        self._context = context

    def text(self, name: str) -> str:
        """Return an argument as text, without surrounding spaces; empty for two quotes."""
        given = str(LaunchConfiguration(name).perform(self._context)).strip()
        # `ros2 launch` refuses an argument without a value.
        return '' if given in _EMPTY else given

    def robot(self) -> str:
        """Return the argument ``robot``, whose ``model.py`` the launch may run."""
        permit_model_code(self.text('robot'))
        return self.text('robot')

    def integer(self, name: str) -> int:
        """Return an argument as a whole number, or raise ConfigurationError."""
        try:
            return int(self.text(name))
        except ValueError:
            raise ConfigurationError(
                f"launch argument '{name}' is '{self.text(name)}', expected a whole number"
            ) from None

    def seed(self, default: int | None = 0) -> int | None:
        """Return the argument ``seed``; if it is empty, the default."""
        return self.integer('seed') if self.text('seed') else default

    def recorded_parameter(self, name: str) -> str:
        """Return a text in the file of ``gait``; empty without the file or the parameter."""
        found = self._gait_file()
        return '' if found is None else str(found.parameters.get(name, ''))

    def _gait_file(self) -> GaitFile | None:
        """Return the file of ``gait``; None if there is no file."""
        file = Path(self.text('gait'))
        return read_gait_file(file) if file.is_file() else None

    def champion(self) -> NodeChampion | None:
        """Return the champion in the file of ``gait``; None if there is no file or no champion."""
        found = self._gait_file()
        if found is None or not found.is_champion:
            return None
        champion = make_node_champion(found)
        champion.load_weights()
        return champion

    def number(self, name: str) -> float:
        """Return an argument as a number, or raise ConfigurationError."""
        try:
            return float(self.text(name))
        except ValueError:
            raise ConfigurationError(
                f"launch argument '{name}' is '{self.text(name)}', expected a number"
            ) from None

    def boolean(self, name: str) -> bool:
        """Return an argument as a boolean, from true, 1, yes, on, or their opposites."""
        given = self.text(name).lower()
        if given in _TRUE:
            return True
        if given in _FALSE:
            return False
        raise ConfigurationError(
            f"launch argument '{name}' is '{self.text(name)}': {name_hint(given, _TRUE + _FALSE)}"
        )


def motion_parameters(arguments: ArgumentValues) -> dict[str, Any]:
    """Return the parameters of a controller node for ``cmd_vel``: timeout and message type."""
    return {
        'command_timeout': arguments.number('command_timeout'),
        'stamped_cmd_vel': arguments.boolean('stamped_cmd_vel'),
    }


def demo_parameters(arguments: ArgumentValues) -> dict[str, Any]:
    """
    Return the parameters of a controller node for a demonstration.

    Raises
    ------
    ConfigurationError
        If a demonstration is not simulated, or a velocity is given without a demonstration.

    """
    demo, command = arguments.boolean('demo'), arguments.text('command')
    target = arguments.text('target')
    if demo and target != SIM_TARGET:
        raise ConfigurationError(
            f"launch argument 'demo' is for target '{SIM_TARGET}', this is '{target}': send "
            'cmd_vel, or call ~/walk'
        )
    if command and not demo:
        raise ConfigurationError(
            "launch argument 'command' is the velocity of a demonstration: set demo:=true, or "
            'send cmd_vel'
        )
    return {'demo': demo, **({'command': list(parse_velocity(command))} if command else {})}


def declare_arguments(arguments: Sequence[LaunchArgument]) -> list[LaunchDescriptionEntity]:
    """Return the actions that declare arguments, and warn of unknown ones."""
    found = [
        DeclareLaunchArgument(
            argument.name,
            default_value=argument.default,
            description=argument.doc,
            choices=list(argument.choices) or None,
        )
        for argument in arguments
    ]
    return [*found, _warn_of_unknown([argument.name for argument in arguments])]


def _warn_of_unknown(names: Sequence[str]) -> OpaqueFunction:
    """Return an action that warns of unknown arguments; some may be of an including file."""

    def look(context: LaunchContext) -> None:
        """Warn of each undeclared argument that can only be meant for this file."""
        file = str(context.get_locals_as_dict().get('current_launch_file_path') or '')
        # Only the file that the command line names is sure to be included by no other file.
        is_launched = bool(file) and Path(file).name in [Path(word).name for word in sys.argv]
        for given in sorted(
            set(context.launch_configurations) - {*names, *_LAUNCH_CONFIGURATIONS}
        ):
            if is_launched or get_close_matches(given, names, 1, _MIN_SIMILARITY):
                get_logger('launch').warning(
                    f"launch argument '{given}' is not one of this file: {name_hint(given, names)}"
                )

    return OpaqueFunction(function=look)


def compose_launch(
    compose: Callable[[ArgumentValues], Sequence[LaunchDescriptionEntity]],
) -> OpaqueFunction:
    """
    Return the action that calls a function with the arguments, and runs the actions it returns.

    A ConfigurationError ends the launch with one line and exit status 1.
    """
    return OpaqueFunction(function=lambda context: list(compose(ArgumentValues(context))))


def require_package(name: str, *, apt: str, instead: str = '') -> None:
    """
    Check that a package of another project is installed.

    Parameters
    ----------
    name : str
    apt : str
        Names of Debian packages without ``ros-<distribution>-``, separated by spaces.
    instead : str
        Argument that starts the launch without the package; empty: there is none.

    Raises
    ------
    ConfigurationError
        If it is not installed.

    """
    try:
        get_package_prefix(name)
    except PackageNotFoundError:
        distribution = os.environ.get('ROS_DISTRO', '<distribution>')
        packages = ' '.join(f'ros-{distribution}-{package}' for package in apt.split())
        remedy = f', or set {instead}' if instead else ''
        raise ConfigurationError(
            f"package '{name}' is not installed: apt install {packages}{remedy}"
        ) from None


def node_action(spec: NodeSpec, *, essential: bool = False, must_succeed: bool = False) -> Node:
    """
    Return the action that starts a node.

    Parameters
    ----------
    spec : NodeSpec
    essential : bool
        Whether the end of the node ends the launch, with status 1 if the node failed.
    must_succeed : bool
        Whether a failure of the node ends the launch with status 1.

    Raises
    ------
    ConfigurationError
        If a parameter file does not exist; launch would only warn, and start without it.

    """
    for file in spec.parameter_files:
        if not Path(file).is_file():
            raise ConfigurationError(f"parameter file '{file}' does not exist")
    # launch cannot know the type of an empty list.
    parameters = {name: value for name, value in spec.parameters.items() if value not in ([], ())}
    return Node(
        package=spec.package,
        executable=spec.executable,
        name=spec.name,
        namespace=spec.namespace,
        parameters=[*spec.parameter_files, parameters],
        remappings=list(spec.remappings),
        arguments=list(spec.arguments),
        output='screen',
        on_exit=_end_launch(spec.full_name, essential) if essential or must_succeed else None,
    )


def _end_launch(
    name: str, essential: bool
) -> Callable[[ProcessExited, LaunchContext], list[Shutdown]]:
    """Return the handler that ends a launch with a node that is essential or has failed."""

    def end(event: ProcessExited, context: LaunchContext) -> list[Shutdown]:
        """Shut the launch down; raise RuntimeError if the node failed."""
        if event.returncode and not context.is_shutdown:
            raise RuntimeError(f'{name} has ended with status {event.returncode}')
        return [Shutdown(reason=f'{name} has ended')] if essential else []

    return end


def state_publisher_action(
    description: str,
    namespace: str = '',
    *,
    simulated: bool = True,
    shared_clock: bool = True,
    instead: str = '',
) -> Node:
    """
    Return the action that starts robot_state_publisher.

    Parameters
    ----------
    description : str
        URDF of the robot.
    namespace : str
    simulated : bool
        Whether time is simulated.
    shared_clock : bool
        Whether simulated time comes from /clock; otherwise from the bridge of the robot.
    instead : str
        See ``require_package``.

    """
    require_package('robot_state_publisher', apt='robot-state-publisher', instead=instead)
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=namespace,
        parameters=[
            {
                # Without the type, a description that looks like YAML would be parsed as YAML.
                'robot_description': ParameterValue(description, value_type=str),
                'use_sim_time': simulated,
            }
        ],
        remappings=[*FRAME_REMAPPINGS, *(() if shared_clock else CLOCK_REMAPPINGS)],
        output='screen',
    )


def rviz_action(
    layout: str,
    size: float,
    namespace: str = '',
    *,
    simulated: bool = True,
    shared_clock: bool = True,
) -> Node:
    """
    Return the action that starts RViz.

    Parameters
    ----------
    layout : str
        Name of a layout of gait_bringup.
    size : float [m]
        Length scale of the robot, to which the layout is scaled.
    namespace : str
    simulated : bool
        Whether time is simulated.
    shared_clock : bool
        Whether simulated time comes from /clock; otherwise from the bridge of the robot.

    """
    require_package('rviz2', apt='rviz2', instead='rviz:=false')
    folder = Path(get_package_share_directory('gait_bringup')) / 'rviz'
    file = fit_layout(folder / f'{layout}.rviz', size)
    return Node(
        package='rviz2',
        executable='rviz2',
        name='rviz',
        namespace=namespace,
        arguments=['-d', str(file)],
        parameters=[{'use_sim_time': simulated}],
        remappings=[
            *((topic, topic[1:]) for topic in layout_topics(file)),
            *FRAME_REMAPPINGS,
            *(() if shared_clock else CLOCK_REMAPPINGS),
        ],
        output='screen',
    )
