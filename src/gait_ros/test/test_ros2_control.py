# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The block of ros2_control and the controllers of every robot, for each target."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from gait_core.errors import ConfigurationError, NotInstalled
from gait_core.robot.load import load_robot, read_robot, robot_names
from gait_core.robot.model import Actuator
from gait_core.testing.doubles import legged_box
from gait_ros.hardware.motors import read_hardware
from gait_ros.hardware.ros2_control import (
    HARDWARE_TARGET,
    MOCK_TARGET,
    SIM_TARGET,
    TARGETS,
    TOPIC_TARGET,
    command_interfaces,
    control_block,
    control_urdf,
    control_xacro,
    controller_parameters,
    controllers_yaml,
)

ROBOTS = Path(__file__).resolve().parents[3] / 'urdf' / 'robots'
JOINTED = [name for name in robot_names() if name not in ('spider', 'tetraspine')]
OWN_XACRO = sorted(path.parent.name for path in ROBOTS.glob('*/*.ros2_control.xacro'))


def loaded(name):
    try:
        return load_robot(name)
    except NotInstalled as error:
        pytest.skip(str(error))


def plain(element):
    """Return an element as nested tuples, without the white space between tags."""
    text = (element.text or '').strip()
    return element.tag, dict(element.attrib), text, [plain(child) for child in element]


@pytest.mark.parametrize('name', JOINTED)
@pytest.mark.parametrize('target', [MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET])
def test_a_block_has_every_joint_with_its_limits_and_stance(name, target):
    robot = loaded(name)
    block = ElementTree.fromstring(control_urdf(robot, target)).find('ros2_control')
    assert [joint.get('name') for joint in block.iterfind('joint')] == list(robot.joint_names)
    for joint in block.iterfind('joint'):
        model = robot.joint[joint.get('name')]
        position = joint.find('command_interface[@name="position"]')
        assert [float(bound.text) for bound in position] == [model.lower, model.upper]
        # What a motor has not told is not made up; the first value of the broadcaster is NaN.
        told = [float(p.text) for p in joint.iterfind('state_interface/param')]
        assert told == (
            [robot.nominal_stance.get(model.name, 0.0)] if target == MOCK_TARGET else []
        )
        states = [state.get('name') for state in joint.iterfind('state_interface')]
        assert states == ['position', 'velocity', 'effort']
    sensors = [sensor.findtext('param') for sensor in block.iterfind('sensor')]
    assert sensors == ([robot.imu_link] if target == MOCK_TARGET and robot.imu_link else [])


def test_in_simulation_there_is_no_block_and_nothing_else_changes():
    robot = legged_box()
    assert control_block(robot, SIM_TARGET) is None
    assert 'ros2_control' not in control_urdf(robot, SIM_TARGET)


def test_a_description_with_its_block_is_the_same_robot(tmp_path):
    robot = legged_box()
    path = tmp_path / 'box.urdf'
    path.write_text(control_urdf(robot, MOCK_TARGET))
    read = read_robot(path)
    assert read.joints == robot.joints and read.joint_names == robot.joint_names


def test_a_plugin_gets_its_parameters_and_those_of_every_motor(tmp_path):
    robot = legged_box()
    file = tmp_path / 'hardware.yaml'
    file.write_text(
        'plugin: a/B\nparameters: {port: x}\njoints: {leg0_joint0: {motor: m1, sign: -1}}\n'
    )
    block = control_block(robot, HARDWARE_TARGET, read_hardware(str(file), robot))
    assert block.findtext('hardware/plugin') == 'a/B'
    assert block.findtext('hardware/param[@name="port"]') == 'x'
    given = {param.get('name'): param.text for param in block.find('joint').iterfind('param')}
    assert given == {'motor': 'm1', 'sign': '-1.0', 'ratio': '1.0', 'offset': '0.0'}
    topic = control_block(robot, TOPIC_TARGET, read_hardware(str(file), robot))
    assert topic.findtext('hardware/plugin').endswith('JointStateTopicSystem')


@pytest.mark.parametrize('name', OWN_XACRO)
def test_the_xacro_of_a_robot_makes_the_same_blocks(name):
    xacro = pytest.importorskip('xacro')
    robot = load_robot(name)
    path = ROBOTS / name / f'{name}.urdf.xacro'
    written = (ROBOTS / name / f'{name}.ros2_control.xacro').read_text(encoding='utf-8')
    assert written == control_xacro(robot), 'run: python tools/write_control.py'
    for target in TARGETS:
        text = xacro.process_file(str(path), mappings={'target': target}).toxml()
        block = ElementTree.fromstring(text).find('ros2_control')
        expected = control_block(robot, target)
        if expected is None:
            assert block is None
        else:
            assert plain(block) == plain(expected)


def test_the_xacro_takes_a_plugin_and_refuses_an_unknown_target():
    xacro = pytest.importorskip('xacro')
    path = str(ROBOTS / 'hexapod' / 'hexapod.urdf.xacro')
    given = {'target': 'hardware', 'hardware_plugin': 'my_driver/MySystem'}
    root = ElementTree.fromstring(xacro.process_file(path, mappings=given).toxml())
    assert root.findtext('ros2_control/hardware/plugin') == 'my_driver/MySystem'
    with pytest.raises(Exception, match='target is simm, expected one of sim, mock'):
        xacro.process_file(path, mappings={'target': 'simm'})


@pytest.mark.parametrize('name', JOINTED)
def test_controllers_claim_what_the_block_offers(name):
    robot = loaded(name)
    text = controllers_yaml(robot, MOCK_TARGET, 500.0)
    # The parser of rcl knows no aliases.
    assert '&' not in text and '*id' not in text
    files = yaml.safe_load(text)
    assert files == controller_parameters(robot, MOCK_TARGET, 500.0)
    nodes = {name.removeprefix('/**/'): node['ros__parameters'] for name, node in files.items()}
    manager = nodes.pop('controller_manager')
    assert manager.pop('update_rate') == 500
    assert set(nodes) <= set(manager) and 'joint_state_broadcaster' in manager
    interfaces = command_interfaces(robot)
    assert nodes['joint_trajectory_controller']['joints'] == list(robot.joint_names)
    assert nodes['joint_trajectory_controller']['command_interfaces'] == [interfaces[0]]
    for interface in interfaces:
        forward = nodes[f'forward_{interface}_controller']
        assert forward == {'joints': list(robot.joint_names), 'interface_name': interface}
    assert ('imu_sensor_broadcaster' in nodes) == bool(robot.imu_link)


def test_a_broadcaster_of_the_imu_is_there_where_the_description_has_a_sensor(tmp_path):
    robot = loaded('guroo')
    file = tmp_path / 'hardware.yaml'
    file.write_text('plugin: a/B\n')
    plain, plugin = read_hardware('', robot), read_hardware(str(file), robot)
    for target, hardware in (
        *((target, None) for target in (MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET)),
        *((target, plain) for target in (MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET)),
        *((target, plugin) for target in (MOCK_TARGET, TOPIC_TARGET, HARDWARE_TARGET)),
    ):
        sensor = control_block(robot, target, hardware).find('sensor')
        spawned = '/**/imu_sensor_broadcaster' in controller_parameters(
            robot, target, 200.0, hardware
        )
        assert spawned == (sensor is not None)
        assert spawned == (
            target == MOCK_TARGET or target == HARDWARE_TARGET and hardware is plugin
        )
        values = [] if sensor is None else sensor.findall('state_interface/param')
        assert len(values) == (target == MOCK_TARGET)


@pytest.mark.parametrize(
    ('kind', 'timeout'), [('position', None), ('velocity', 0.5), ('effort', 0.5)]
)
def test_a_trajectory_of_velocities_or_efforts_ends_in_a_hold(kind, timeout):
    """Beyond its end the last velocity would go on for ever; a position is held."""
    robot = legged_box()
    driven = replace(robot, actuators=dict.fromkeys(robot.joint_names, Actuator(kind=kind)))
    made = controller_parameters(driven, HARDWARE_TARGET)['/**/joint_trajectory_controller'][
        'ros__parameters'
    ]
    assert made['command_interfaces'] == [kind] and made.get('cmd_timeout') == timeout


def test_what_ros2_control_cannot_carry_is_refused_in_one_line():
    with pytest.raises(ConfigurationError, match="unknown target 'mok': did you mean 'mock'"):
        control_block(legged_box(), 'mok')
    for name in ('spider', 'tetraspine'):
        with pytest.raises(ConfigurationError, match=f"'{name}' has .* force elements"):
            control_block(load_robot(name), MOCK_TARGET)
