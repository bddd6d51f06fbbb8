"""
The nodes of a robot under ros2_control, as data: what launch files translate.

Nothing here imports ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gait_core.hardware import Hardware
from gait_core.robot.model import RobotModel
from gait_core.robot.ros2_control import (
    IMU_BROADCASTER,
    MOCK,
    STATE_BROADCASTER,
    TRAJECTORY_CONTROLLER,
    by_plugin,
    command_interfaces,
    controllers,
    forward_controller,
    reports_imu,
)
from gait_ros.graph import BRIDGE, CLOCK_USERS, OWN_CLOCK, NodeSpec, bridge_node, controller_node

MANAGER = 'controller_manager'
OUTPUTS = ('joint_trajectory', 'commands')
"""Topics on which a gait's controller commands joints: trajectories, or values as they are."""


def control_graph(
    robot: RobotModel,
    target: str,
    controllers_file: str,
    *,
    output: str = 'joint_trajectory',
    motors: Hardware | None = None,
    simulated: bool = False,
    namespace: str = '',
) -> tuple[NodeSpec, ...]:
    """
    Return controller_manager and the spawner of a robot's controllers.

    Parameters
    ----------
    robot : RobotModel
    target : str
        ``mock``, ``topic`` or ``hardware``.
    controllers_file : str
        What ``gait_core.robot.ros2_control.controllers_text`` wrote.
    output : str
        One of ``OUTPUTS``: the controller for it is activated, the other ones only loaded.
    motors : Hardware or None
        What the hardware.yaml says; ``None``: nothing.
    simulated : bool
        Whether a bridge is behind it, whose clock all follow.
    namespace : str
        Of all nodes.

    """
    clock = {CLOCK_USERS: simulated}
    manager = NodeSpec(
        package=MANAGER,
        executable='ros2_control_node',
        name=MANAGER,
        namespace=namespace,
        parameters=clock,
        parameter_files=(controllers_file,),
    )
    told = controllers(robot, target, hardware=motors)
    names = list(told[f'/**/{MANAGER}']['ros__parameters'])[1:]
    moving = moving_controller(robot, output)
    idle = [
        name
        for name in names
        if name not in (STATE_BROADCASTER, moving)
        and (name == TRAJECTORY_CONTROLLER or name.startswith('forward_'))
    ]
    active = [name for name in names if name not in idle]
    spawners = [
        NodeSpec(
            package=MANAGER,
            executable='spawner',
            name=f'spawner_of_{kind}',
            namespace=namespace,
            parameters=clock,
            # One process loads them in this order; it waits for controller_manager.
            arguments=(*listed, '-c', MANAGER, '-p', controllers_file, *more),
        )
        for kind, listed, more in (('active', active, ()), ('idle', idle, ('--inactive',)))
        if listed
    ]
    return manager, *spawners


def moving_controller(robot: RobotModel, output: str) -> str:
    """Return the name of the controller that takes a topic of ``OUTPUTS``."""
    if output == 'joint_trajectory':
        return TRAJECTORY_CONTROLLER
    return forward_controller(command_interfaces(robot)[0])


def walker_under_control(
    robot: RobotModel,
    controller: str,
    parameters: Mapping[str, Any],
    *,
    output: str = 'joint_trajectory',
    imu: bool = False,
    namespace: str = '',
    gait_files: tuple[str, ...] = (),
) -> NodeSpec:
    """
    Return a gait's node that sends its targets to the controllers of controller_manager.

    With ``imu`` it reads the IMU from the topic of ros2_control's broadcaster.
    """
    remappings = [(output, f'{moving_controller(robot, output)}/{output}')]
    if imu:
        remappings.append(('imu/data', f'{IMU_BROADCASTER}/imu'))
    return controller_node(
        controller,
        {
            **parameters,
            'output': output,
            'interface': command_interfaces(robot)[0],
        },
        namespace,
        parameter_files=gait_files,
        remappings=tuple(remappings),
    )


def simulated_hardware(robot: str, parameters: Mapping[str, Any], namespace: str = '') -> NodeSpec:
    """Return a bridge that is the hardware of a controller_manager."""
    return bridge_node({'robot': robot, 'hardware': True, **parameters}, namespace)


def motor_node(
    robot: str, hardware: str, namespace: str = '', *, simulated: bool = False
) -> NodeSpec:
    """Return the node ``hardware``, with or without a hardware.yaml."""
    return NodeSpec(
        package='gait_ros',
        executable='hardware_node',
        name='hardware',
        namespace=namespace,
        parameters={'robot': robot, 'hardware': hardware, CLOCK_USERS: simulated},
    )


def hardware_graph(
    name: str,
    robot: RobotModel,
    target: str,
    controllers_file: str,
    walker: Mapping[str, Any],
    *,
    controller: str,
    output: str = 'joint_trajectory',
    hardware: str = '',
    motors: Hardware | None = None,
    simulation: Mapping[str, Any] | None = None,
    namespace: str = '',
    gait_files: tuple[str, ...] = (),
) -> tuple[NodeSpec, ...]:
    """
    Return all nodes of a gait under ros2_control, the one whose end ends all first.

    Parameters
    ----------
    name, robot : str, RobotModel
        As the user named it, and what that is.
    target, controllers_file, output
        As of ``control_graph``.
    walker : mapping
        Parameters of the gait's controller; empty: there is none.
    controller : str
        Registered name of that controller.
    hardware : str
        A hardware.yaml; empty: motors are as joints. A simulation needs one.
    motors : Hardware or None
        What it says; a plugin that it names reaches the motors itself.
    simulation : mapping or None
        Parameters of a bridge that simulates the motors; ``None``: no bridge.
    namespace, gait_files
        Of all nodes; of the gait.

    """
    simulated = simulation is not None
    nodes = control_graph(
        robot,
        target,
        controllers_file,
        output=output,
        motors=motors,
        simulated=simulated,
        namespace=namespace,
    )
    if target != MOCK and not by_plugin(target, motors):
        nodes += (motor_node(name, hardware, namespace, simulated=simulated),)
    if simulation is not None:
        played = {**simulation, 'calibration': hardware}
        nodes += (simulated_hardware(name, played, namespace),)
    if walker:
        nodes += (
            walker_under_control(
                robot,
                controller,
                {'robot': name, CLOCK_USERS: simulated, **walker},
                output=output,
                imu=reports_imu(robot, target, motors),
                namespace=namespace,
                gait_files=gait_files,
            ),
        )
    if simulation is not None and not simulation.get('publish_clock', True):
        nodes = tuple(map(_on_own_clock, nodes))
    return nodes


def _on_own_clock(node: NodeSpec) -> NodeSpec:
    """Return a node that follows the clock of its robot's bridge, unless it is the bridge."""
    if node.name == BRIDGE or not node.parameters.get(CLOCK_USERS):
        return node
    return replace(node, remappings=(*node.remappings, *OWN_CLOCK))
