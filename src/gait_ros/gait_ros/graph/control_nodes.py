"""
The nodes of a robot under ros2_control, as data: what launch files translate.

Nothing here imports ROS.
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
"""Topics on which a gait's controller commands joints: trajectories, or values as they are."""


@dataclass(frozen=True, kw_only=True)
class ControlledRobot:
    """
    A robot under ros2_control, with a gait or without.

    Attributes
    ----------
    name, robot : str, RobotModel
        As the user named it, and its model.
    target : str
        ``mock``, ``topic`` or ``hardware``.
    controllers_file : str
        Written by ``gait_ros.hardware.ros2_control.controllers_yaml``.
    output : str
        One of ``OUTPUTS``: the controller for it is activated, the other ones only loaded.
    hardware : str
        A hardware.yaml; empty: motors are as joints. A simulation needs one.
    motors : Hardware or None
        Its content; a plugin that it names reaches the motors itself.
    simulation : mapping or None
        Parameters of a bridge that simulates the motors; ``None``: no bridge.
    controller : str
        Registered name of the gait's controller; empty: no gait.
    gait : mapping
        Parameters of its node.
    gait_files : tuple of str
        Parameter files of its node.
    namespace : str
        Of all nodes.

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
    def simulated(self) -> bool:
        """True if a bridge simulates the motors, whose clock all nodes follow."""
        return self.simulation is not None


def controller_manager_graph(controlled: ControlledRobot) -> tuple[NodeSpec, ...]:
    """Return controller_manager and the spawners of a robot's controllers."""
    robot, file = controlled.robot, controlled.controllers_file
    clock = {USE_SIM_TIME: controlled.simulated}
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
    moving = active_controller_name(robot, controlled.output)
    idle = [
        name
        for name in names
        if name not in (STATE_BROADCASTER, moving)
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
            # One process loads them in this order; it waits for controller_manager.
            arguments=(*listed, '-c', CONTROLLER_MANAGER, '-p', file, *more),
        )
        for kind, listed, more in (('active', active, ()), ('idle', idle, ('--inactive',)))
        if listed
    ]
    return manager, *spawners


def active_controller_name(robot: RobotModel, output: str) -> str:
    """Return the name of the controller that takes a topic of ``OUTPUTS``."""
    if output == 'joint_trajectory':
        return TRAJECTORY_CONTROLLER
    return forward_controller_name(command_interfaces(robot)[0])


def gait_node(controlled: ControlledRobot) -> NodeSpec:
    """
    Return a gait's node that sends its targets to the controllers of controller_manager.

    Where the robot reports an IMU, the node reads it from the topic of ros2_control's broadcaster.
    """
    robot, output = controlled.robot, controlled.output
    remappings = [(output, f'{active_controller_name(robot, output)}/{output}')]
    if reports_imu(robot, controlled.target, controlled.motors):
        remappings.append(('imu/data', f'{IMU_BROADCASTER}/imu'))
    return controller_node(
        controlled.controller,
        {
            'robot': controlled.name,
            USE_SIM_TIME: controlled.simulated,
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
    """Return a bridge that is the hardware of a controller_manager."""
    return bridge_node({'robot': robot, 'hardware': True, **parameters}, namespace)


def hardware_node(
    robot: str, hardware: str, namespace: str = '', *, simulated: bool = False
) -> NodeSpec:
    """Return the node ``hardware``, with or without a hardware.yaml."""
    return NodeSpec(
        package='gait_ros',
        executable='hardware_node',
        name='hardware',
        namespace=namespace,
        parameters={'robot': robot, 'hardware': hardware, USE_SIM_TIME: simulated},
    )


def hardware_graph(controlled: ControlledRobot) -> tuple[NodeSpec, ...]:
    """Return all nodes of a robot under ros2_control, the one whose end ends all first."""
    name, simulation = controlled.name, controlled.simulation
    namespace, hardware = controlled.namespace, controlled.hardware
    nodes = controller_manager_graph(controlled)
    if controlled.target != MOCK_TARGET and not uses_plugin(controlled.target, controlled.motors):
        nodes += (hardware_node(name, hardware, namespace, simulated=controlled.simulated),)
    if simulation is not None:
        played = {**simulation, 'calibration': hardware}
        nodes += (hardware_bridge_node(name, played, namespace),)
    if controlled.controller:
        nodes += (gait_node(controlled),)
    if simulation is not None and not simulation.get('publish_clock', True):
        nodes = tuple(map(_remap_clock, nodes))
    return nodes


def _remap_clock(node: NodeSpec) -> NodeSpec:
    """Return a node that follows the clock of its robot's bridge, unless it is the bridge."""
    if node.name == BRIDGE_NAME or not node.parameters.get(USE_SIM_TIME):
        return node
    return replace(node, remappings=(*node.remappings, *CLOCK_REMAPPINGS))
