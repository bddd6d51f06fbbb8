# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Nodes of a robot under ros2_control, as data for launch files.

The module imports no ROS package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gait_core.robot.model import RobotModel
from gait_core.trial.scene import EMPTY_MAPPING
from gait_ros.graph.nodes import (
    BRIDGE_NAME,
    CLOCK_REMAPPINGS,
    USE_SIM_TIME,
    NodeSpec,
    bridge_node,
    controller_node,
)
from gait_ros.hardware.motors import Hardware
from gait_ros.hardware.ros2_control import (
    IMU_BROADCASTER,
    MOCK_TARGET,
    STATE_BROADCASTER,
    TRAJECTORY_CONTROLLER,
    command_interfaces,
    controller_parameters,
    forward_controller_name,
    reports_imu,
    uses_plugin,
)

CONTROLLER_MANAGER = 'controller_manager'
OUTPUT_TOPICS = ('joint_trajectory', 'commands')
"""Topics on which a gait sends its targets: as trajectories, or as plain values."""


@dataclass(frozen=True, kw_only=True)
class ControlledRobot:
    """
    Robot under ros2_control, with or without a gait.

    Attributes
    ----------
    name : str
        Name or folder of the robot.
    robot : RobotModel
    target : str
        ``mock``, ``topic`` or ``hardware``: the component that moves the joints.
    controllers_file : str
        Parameter file with the text of ``gait_ros.hardware.ros2_control.controllers_yaml``.
    output : str
        One of ``OUTPUT_TOPICS``. Its ros2_control controller is activated, the others are only
        loaded.
    hardware : str
        Motor file; empty: motors have the names and directions of the joints. A simulation needs
        a file.
    motors : Hardware or None
        Content of the motor file. Its plugin, if any, drives the motors.
    simulation : mapping or None
        Parameters of a bridge that simulates the motors; None: no bridge.
    controller : str
        Registered name of the controller of the gait; empty: no gait.
    gait : mapping
        Parameters of the controller node.
    gait_files : tuple of str
        Parameter files of the controller node.
    namespace : str
        Namespace of all nodes.

    """

    name: str
    robot: RobotModel
    target: str
    controllers_file: str
    output: str = 'joint_trajectory'
    hardware: str = ''
    motors: Hardware | None = None
    simulation: Mapping[str, Any] | None = None
    controller: str = ''
    gait: Mapping[str, Any] = field(default_factory=lambda: EMPTY_MAPPING)
    gait_files: tuple[str, ...] = ()
    namespace: str = ''

    @property
    def is_simulated(self) -> bool:
        """True if a bridge simulates the motors; all nodes follow its clock."""
        return self.simulation is not None


def controller_manager_graph(controlled: ControlledRobot) -> tuple[NodeSpec, ...]:
    """Return controller_manager, and the spawners of the controllers of a robot."""
    robot, file = controlled.robot, controlled.controllers_file
    clock = {USE_SIM_TIME: controlled.is_simulated}
    manager = NodeSpec(
        package=CONTROLLER_MANAGER,
        executable='ros2_control_node',
        name=CONTROLLER_MANAGER,
        namespace=controlled.namespace,
        parameters=clock,
        parameter_files=(file,),
    )
    written = controller_parameters(robot, controlled.target, hardware=controlled.motors)
    names = list(written[f'/**/{CONTROLLER_MANAGER}']['ros__parameters'])[1:]
    active_name = active_controller_name(robot, controlled.output)
    idle = [
        name
        for name in names
        if name not in (STATE_BROADCASTER, active_name)
        and (name == TRAJECTORY_CONTROLLER or name.startswith('forward_'))
    ]
    active = [name for name in names if name not in idle]
    spawners = [
        NodeSpec(
            package=CONTROLLER_MANAGER,
            executable='spawner',
            name=f'spawner_of_{kind}',
            namespace=controlled.namespace,
            parameters=clock,
            # One spawner loads several controllers in order, after controller_manager has started.
            arguments=(*listed, '-c', CONTROLLER_MANAGER, '-p', file, *more),
        )
        for kind, listed, more in (('active', active, ()), ('idle', idle, ('--inactive',)))
        if listed
    ]
    return manager, *spawners


def active_controller_name(robot: RobotModel, output: str) -> str:
    """Return the name of the ros2_control controller behind a topic of ``OUTPUT_TOPICS``."""
    if output == 'joint_trajectory':
        return TRAJECTORY_CONTROLLER
    return forward_controller_name(command_interfaces(robot)[0])


def gait_node(controlled: ControlledRobot) -> NodeSpec:
    """
    Return the node of a gait that sends its targets to the controllers of ros2_control.

    If the robot reports an IMU, the node subscribes to the topic of the IMU broadcaster.
    """
    robot, output = controlled.robot, controlled.output
    remappings = [(output, f'{active_controller_name(robot, output)}/{output}')]
    if reports_imu(robot, controlled.target, controlled.motors):
        remappings.append(('imu/data', f'{IMU_BROADCASTER}/imu'))
    return controller_node(
        controlled.controller,
        {
            'robot': controlled.name,
            USE_SIM_TIME: controlled.is_simulated,
            **controlled.gait,
            'output': output,
            'interface': command_interfaces(robot)[0],
        },
        controlled.namespace,
        parameter_files=controlled.gait_files,
        remappings=tuple(remappings),
    )


def hardware_bridge_node(
    robot: str, parameters: Mapping[str, Any], namespace: str = ''
) -> NodeSpec:
    """Return a bridge that simulates the hardware of controller_manager."""
    return bridge_node({'robot': robot, 'hardware': True, **parameters}, namespace)


def hardware_node(
    robot: str, hardware: str, namespace: str = '', *, simulated: bool = False
) -> NodeSpec:
    """Return the node ``hardware`` for a motor file, which may be empty."""
    return NodeSpec(
        package='gait_ros',
        executable='hardware_node',
        name='hardware',
        namespace=namespace,
        parameters={'robot': robot, 'hardware': hardware, USE_SIM_TIME: simulated},
    )


def hardware_graph(controlled: ControlledRobot) -> tuple[NodeSpec, ...]:
    """Return all nodes of a robot under ros2_control; when one of them ends, all are ended."""
    name, simulation = controlled.name, controlled.simulation
    namespace, hardware = controlled.namespace, controlled.hardware
    nodes = controller_manager_graph(controlled)
    if controlled.target != MOCK_TARGET and not uses_plugin(controlled.target, controlled.motors):
        nodes += (hardware_node(name, hardware, namespace, simulated=controlled.is_simulated),)
    if simulation is not None:
        bridge_parameters = {**simulation, 'calibration': hardware}
        nodes += (hardware_bridge_node(name, bridge_parameters, namespace),)
    if controlled.controller:
        nodes += (gait_node(controlled),)
    if simulation is not None and not simulation.get('publish_clock', True):
        nodes = tuple(map(_remap_clock, nodes))
    return nodes


def _remap_clock(node: NodeSpec) -> NodeSpec:
    """Return the node with /clock remapped to the clock of the bridge, if it uses that clock."""
    if node.name == BRIDGE_NAME or not node.parameters.get(USE_SIM_TIME):
        return node
    return replace(node, remappings=(*node.remappings, *CLOCK_REMAPPINGS))
