# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Description of a robot for ros2_control: its URDF block and the parameters of its controllers.

The module makes files for an installed ros2_control. Simulations do not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
import math
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import yaml

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.robot.model import Joint, RobotModel
from gait_core.robot.urdf.writer import to_scene_urdf
from gait_ros.hardware.motors import (
    JOINT_COMMANDS_TOPIC,
    JOINT_STATES_TOPIC,
    Hardware,
    default_hardware,
)

SIM_TARGET, MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET = TARGETS = (
    'sim',
    'mock',
    'topic',
    'hardware',
)
"""
Components that move the joints: a bridge without ros2_control; mock components of ros2_control; a
driver or bridge on the topic ``hardware/joint_commands``; a hardware plugin.
"""

TRAJECTORY_CONTROLLER = 'joint_trajectory_controller'
STATE_BROADCASTER = 'joint_state_broadcaster'
IMU_BROADCASTER = 'imu_sensor_broadcaster'
INTERFACES = ('position', 'velocity', 'effort')

# Time [s] after the end of a trajectory at which its controller holds.
_COMMAND_TIMEOUT = 0.5
_MOCK_PLUGIN = 'mock_components/GenericSystem'
_TOPIC_PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
_INTERFACE_BY_KIND = {'velocity': 'velocity', 'effort': 'effort'}
_XACRO = 'http://www.ros.org/wiki/xacro'
_TOOL = 'tools/write_control.py'
_IMU_INTERFACES = (
    *(f'orientation.{axis}' for axis in 'xyzw'),
    *(f'angular_velocity.{axis}' for axis in 'xyz'),
    *(f'linear_acceleration.{axis}' for axis in 'xyz'),
)


def command_interfaces(robot: RobotModel) -> tuple[str, ...]:
    """
    Return the quantities in which joints can be commanded; controllers claim the first.

    They are the same for all joints, because a JointState with fewer values than names does not
    tell the joint of a value.
    """
    kinds = {robot.actuators[name].kind for name in robot.joint_names}
    wanted = {_INTERFACE_BY_KIND.get(kind, 'position') for kind in kinds}
    return tuple(name for name in INTERFACES if name in wanted)


def forward_controller_name(interface: str) -> str:
    """Return the name of the forward command controller of an interface."""
    return f'forward_{interface}_controller'


def uses_plugin(target: str, hardware: Hardware | None) -> bool:
    """Return whether a plugin of ros2_control drives the motors, instead of topics."""
    return hardware is not None and target == HARDWARE_TARGET and bool(hardware.plugin)


def reports_imu(robot: RobotModel, target: str, hardware: Hardware | None = None) -> bool:
    """Return whether the description for ros2_control has an IMU; on topics it has none."""
    return bool(robot.imu_link) and (target == MOCK_TARGET or uses_plugin(target, hardware))


def control_block(
    robot: RobotModel, target: str, hardware: Hardware | None = None
) -> Element | None:
    """
    Return the ``<ros2_control>`` block of the URDF of a robot; None for the target ``sim``.

    Parameters
    ----------
    robot : RobotModel
    target : str
        One of ``TARGETS``.
    hardware : Hardware or None
        Its plugin with parameters is the hardware of the target ``hardware``, and each joint has
        the parameters motor, sign, ratio and offset. Without a plugin the target is ``topic``.

    Raises
    ------
    ConfigurationError
        If the target is unknown, or the robot has force elements or no joints.

    """
    if target not in TARGETS:
        raise unknown_name_error('target', target, TARGETS)
    if target == SIM_TARGET:
        return None
    if robot.force_elements or not robot.joint_names:
        raise ConfigurationError(
            f"robot '{robot.name}' has {len(robot.force_elements)} force elements and "
            f'{len(robot.joint_names)} joints: ros2_control has interfaces for joints only'
        )
    real = uses_plugin(target, hardware)
    block = Element('ros2_control', name=robot.name, type='system')
    system = SubElement(block, 'hardware')
    if target == MOCK_TARGET:
        SubElement(system, 'plugin').text = _MOCK_PLUGIN
        _add_parameters(system, {'calculate_dynamics': 'true'})
    elif real and hardware is not None:
        SubElement(system, 'plugin').text = hardware.plugin
        _add_parameters(system, hardware.parameters)
    else:
        SubElement(system, 'plugin').text = _TOPIC_PLUGIN
        _add_parameters(
            system,
            {
                'joint_commands_topic': JOINT_COMMANDS_TOPIC,
                'joint_states_topic': JOINT_STATES_TOPIC,
                # Send commands always, so that a held pose is not taken for the end of commands.
                'trigger_joint_command_threshold': '-1',
            },
        )
    for name in robot.joint_names:
        element = _add_joint(block, robot, robot.joint[name])
        if target == MOCK_TARGET:
            # Only mock motors have an initial position; real ones report theirs.
            _set_initial_position(element, robot)
        if real and hardware is not None and name in hardware.motors:
            motor = hardware.motors[name]
            numbers = {key: repr(getattr(motor, key)) for key in ('sign', 'ratio', 'offset')}
            _add_parameters(element, {'motor': motor.name, **numbers})
    if reports_imu(robot, target, hardware):
        _add_imu(block, robot, target)
    return block


def control_urdf(robot: RobotModel, target: str, hardware: Hardware | None = None) -> str:
    """Return the URDF of a robot, with its meshes and the block for a target."""
    block = control_block(robot, target, hardware)
    text = to_scene_urdf(robot)
    if block is None:
        return text
    document = ElementTree.fromstring(text)
    document.append(block)
    ElementTree.indent(document)
    return ElementTree.tostring(document, encoding='unicode', xml_declaration=True) + '\n'


def controller_parameters(
    robot: RobotModel, target: str, rate: float = 200.0, hardware: Hardware | None = None
) -> dict[str, Any]:
    """
    Return the parameters of controller_manager and of the controllers of a robot.

    The controllers are a joint state broadcaster, a trajectory controller, a forward command
    controller for each command interface, and an IMU broadcaster if the hardware reports an IMU.
    The names of the nodes apply in every namespace.

    Parameters
    ----------
    robot : RobotModel
    target : str
    rate : float [Hz]
        Update rate of controller_manager.
    hardware : Hardware or None
        See ``control_block``.

    """
    joints, interfaces = list(robot.joint_names), command_interfaces(robot)
    own: dict[str, tuple[str, dict[str, Any]]] = {
        STATE_BROADCASTER: ('joint_state_broadcaster/JointStateBroadcaster', {}),
        TRAJECTORY_CONTROLLER: (
            'joint_trajectory_controller/JointTrajectoryController',
            {
                'joints': joints,
                'command_interfaces': [interfaces[0]],
                'state_interfaces': ['position', 'velocity'],
                # A gait sends a short trajectory in every control period. Each must start from
                # the last target, even if that was in motion or did not name every joint. Releases
                # before 4.22 of March 2025 lack this parameter.
                'interpolate_from_desired_state': True,
                'allow_partial_joints_goal': True,
                'allow_nonzero_velocity_at_trajectory_end': True,
                # A position holds after its last point; a velocity or effort would continue.
                **({} if interfaces[0] == 'position' else {'cmd_timeout': _COMMAND_TIMEOUT}),
            },
        ),
    }
    for interface in interfaces:
        own[forward_controller_name(interface)] = (
            'forward_command_controller/ForwardCommandController',
            {'joints': list(joints), 'interface_name': interface},
        )
    if reports_imu(robot, target, hardware):
        own[IMU_BROADCASTER] = (
            'imu_sensor_broadcaster/IMUSensorBroadcaster',
            {'sensor_name': 'imu', 'frame_id': robot.imu_link},
        )
    manager: dict[str, Any] = {'update_rate': round(rate)}
    manager.update({name: {'type': kind} for name, (kind, _) in own.items()})
    nodes = {'controller_manager': manager, **{name: more for name, (_, more) in own.items()}}
    return {f'/**/{name}': {'ros__parameters': values} for name, values in nodes.items() if values}


def controllers_yaml(
    robot: RobotModel, target: str, rate: float = 200.0, hardware: Hardware | None = None
) -> str:
    """Return the text of the controllers.yaml of a robot."""
    return str(
        yaml.safe_dump(controller_parameters(robot, target, rate, hardware), sort_keys=False)
    )


def control_xacro(robot: RobotModel) -> str:
    """
    Return a xacro file with the macro ``ros2_control``, which the xacro of a robot includes.

    The macro writes the block of ``control_block`` for its argument ``target``; for the target
    ``hardware`` with its argument ``plugin``.
    """
    blocks = {
        f'target == "{MOCK_TARGET}"': control_block(robot, MOCK_TARGET),
        (
            f'target == "{TOPIC_TARGET}" or target == "{HARDWARE_TARGET}" and not plugin'
        ): control_block(robot, TOPIC_TARGET),
        f'target == "{HARDWARE_TARGET}" and plugin': control_block(
            robot, HARDWARE_TARGET, replace(default_hardware(robot), motors={}, plugin='${plugin}')
        ),
    }
    ElementTree.register_namespace('xacro', _XACRO)
    root = Element('robot')
    macro = _add_xacro(root, 'macro', name='ros2_control', params='target plugin')
    _add_xacro(
        macro, 'unless', value=f'${{target in {TARGETS!r}}}'
    ).text = f'${{xacro.fatal("target is %s, expected one of {", ".join(TARGETS)}" % target)}}'
    # Elements that all blocks have in common are written once.
    any_target = _add_xacro(macro, 'unless', value=f'${{target == "{SIM_TARGET}"}}')
    common = SubElement(any_target, 'ros2_control', name=robot.name, type='system')
    system = SubElement(common, 'hardware')
    for condition, block in blocks.items():
        assert block is not None
        _add_xacro(system, 'if', value=f'${{bool({condition})}}').extend(block[0])
    mocked = f'${{target == "{MOCK_TARGET}"}}'
    for name in robot.joint_names:
        element = _add_joint(common, robot, robot.joint[name])
        _set_initial_position(element, robot, lambda state: _add_xacro(state, 'if', value=mocked))
    has_imu = f'${{bool(target == "{MOCK_TARGET}" or target == "{HARDWARE_TARGET}" and plugin)}}'
    if robot.imu_link:
        sensor = _add_xacro(common, 'if', value=has_imu)
        _add_imu(sensor, robot, MOCK_TARGET, lambda state: _add_xacro(state, 'if', value=mocked))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0"?>\n<!-- Made from the model by {_TOOL}. -->\n{text}\n'


def _add_xacro(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, f'{{{_XACRO}}}{tag}', attributes)


def _add_parameters(element: Element, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        SubElement(element, 'param', name=name).text = value


def _add_joint(block: Element, robot: RobotModel, joint: Joint) -> Element:
    """Add a joint with its interfaces and limits to a block."""
    element = SubElement(block, 'joint', name=joint.name)
    limits = {
        'position': (joint.lower, joint.upper),
        'velocity': (-joint.velocity, joint.velocity),
        'effort': (-joint.effort, joint.effort),
    }
    for name in command_interfaces(robot):
        command = SubElement(element, 'command_interface', name=name)
        bounds = zip(('min', 'max'), limits[name], strict=True)
        _add_parameters(command, {key: repr(float(v)) for key, v in bounds if math.isfinite(v)})
    for name in INTERFACES:
        SubElement(element, 'state_interface', name=name)
    return element


def _unconditional(element: Element) -> Element:
    return element


def _set_initial_position(
    joint: Element, robot: RobotModel, condition: Callable[[Element], Element] = _unconditional
) -> None:
    """Set the initial position to the stance; ``condition`` wraps the parameter in an element."""
    state = joint.find('state_interface[@name="position"]')
    assert state is not None
    value = repr(float(robot.nominal_stance.get(joint.get('name', ''), 0.0)))
    _add_parameters(condition(state), {'initial_value': value})


def _add_imu(
    block: Element,
    robot: RobotModel,
    target: str,
    condition: Callable[[Element], Element] = _unconditional,
) -> None:
    """Add the IMU to a block; ``condition`` wraps the initial value in an element."""
    sensor = SubElement(block, 'sensor', name='imu')
    for name in _IMU_INTERFACES:
        state = SubElement(sensor, 'state_interface', name=name)
        if name == 'orientation.w' and target == MOCK_TARGET:
            _add_parameters(condition(state), {'initial_value': '1.0'})
    _add_parameters(sensor, {'frame_id': robot.imu_link})
