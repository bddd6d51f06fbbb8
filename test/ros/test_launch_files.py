# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The launch files by the real launch library: arguments, refusals, and what they compose."""

from dataclasses import replace
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

# The folder launch/ at the root passes for a package of that name; launch_ros has no namesake.
pytest.importorskip('launch_ros', reason='launch_ros of an installed ROS is not there')

from geometry_msgs.msg import Twist
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
import yaml

from gait_core.errors import ConfigurationError
from gait_core.robot.load import load_robot
from gait_core.trial.champion import read_champion, write_champion
from gait_core.trial.spec import Command, TimedCommand
from gait_interfaces.msg import WorkerStatus
from gait_ros.graph.control_nodes import ControlledRobot, hardware_graph
from gait_ros.graph.launch_actions import node_action
from gait_ros.graph.nodes import (
    FRAME_REMAPPINGS,
    LiveWalk,
    NodeSpec,
    clock_parameters,
    evolve_graph,
    walk_graph,
)
from gait_ros.hardware.motors import read_hardware
from gait_ros.nodes.qos import STREAM_QOS
from sim_bridge.node import SimBridgeNode

RUN = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

file, *words = sys.argv[1:]
arguments = [tuple(word.split(':=')) for word in words]
service = LaunchService()
service.include_launch_description(
    IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=arguments)
)
sys.exit(service.run())
"""

FOLLOWS = {'command_timeout': 0.5, 'stamped_cmd_vel': False}
"""Default parameters of velocities in a launch."""
LAUNCH = Path(__file__).resolve().parents[2] / 'launch'
FILES = sorted(path.name for path in LAUNCH.glob('*.launch.py'))
CHAMPION = str(LAUNCH.parent / 'doc' / 'results' / 'guroo_champion.yaml')


class Loader(yaml.SafeLoader):
    """Reads files of launch as ROS does, which ignores the tag of a tuple."""


Loader.add_constructor(
    'tag:yaml.org,2002:python/tuple', lambda loader, node: loader.construct_sequence(node)
)


@pytest.fixture(autouse=True)
def nothing_is_started(monkeypatch):
    """Let actions expand their command lines, but start no process."""
    monkeypatch.setattr(ExecuteProcess, 'execute', lambda self, context: None)


INSTALLED = os.environ['AMENT_PREFIX_PATH']
OTHERS = ('robot_state_publisher', 'rviz2', 'controller_manager')


@pytest.fixture(autouse=True)
def others_are_installed(tmp_path_factory, monkeypatch):
    """Let packages of other projects, which have no wheels, count as installed."""
    prefix = tmp_path_factory.mktemp('others')
    markers = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    markers.mkdir(parents=True)
    for package in OTHERS:
        (markers / package).touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{prefix}{os.pathsep}{INSTALLED}')


@pytest.mark.parametrize(
    ('file', 'arguments', 'words'),
    [
        ('walk.launch.py', {'rviz': 'true', 'link_tf': 'sim_bridge'}, 'rviz2, or set rviz:=false'),
        ('walk.launch.py', {}, 'robot-state-publisher, or set link_tf:=sim_bridge'),
        ('control.launch.py', {}, 'ros2-control ros-new-ros2-controllers'),
    ],
)
def test_a_missing_package_is_one_line_with_the_remedy(monkeypatch, file, arguments, words):
    monkeypatch.setenv('AMENT_PREFIX_PATH', INSTALLED)
    monkeypatch.setenv('ROS_DISTRO', 'new')
    with pytest.raises(
        ConfigurationError, match=f'is not installed: apt install ros-new-{words}$'
    ):
        composed(file, **arguments)


def composed(file, **arguments):
    """Return the actions that a launch file composes, and the context."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    # As `ros2 launch` sets it.
    context.extend_locals({'current_launch_file_path': str(LAUNCH / file)})
    actions = []
    for entity in get_launch_description_from_python_launch_file(str(LAUNCH / file)).entities:
        actions += entity.visit(context) or []
    return actions, context


class Started:
    """Command line, parameters and remappings of a Node action."""

    def __init__(self, action, context):
        action.execute(context)
        self.package, self.executable = action.node_package, action.node_executable
        self.name, self.parameters, self.remappings = action.node_name, {}, []
        # Where it is installed; robot_state_publisher and rviz2 may be missing.
        self.find = lambda: perform_substitutions(context, action.cmd[0])
        self.words = [perform_substitutions(context, word) for word in action.cmd[1:]]
        for option, value in zip(self.words, self.words[1:], strict=False):
            if option == '--params-file':
                for section in Loader(Path(value).read_text()).get_single_data().values():
                    self.parameters.update(flat(section['ros__parameters']))
            if option == '-r' and not value.startswith('__'):
                self.remappings.append(tuple(value.split(':=')))

    @property
    def facts(self):
        return (self.package, self.executable, self.name, typed(self.parameters))


def facts(spec):
    """Return the expected start of a node of the graph."""
    return (spec.package, spec.executable, spec.full_name, typed(spec.parameters))


def typed(parameters):
    """Return values with their types: 1, 1.0 and true are three parameters."""
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()}
    return {name: (type(value).__name__, value) for name, value in plain.items()}


def flat(values, prefix=''):
    found = {}
    for name, value in values.items():
        inner = flat(value, f'{prefix}{name}.') if isinstance(value, dict) else None
        found.update({f'{prefix}{name}': value} if inner is None else inner)
    return found


def started(file, **arguments):
    actions, context = composed(file, **arguments)
    return [Started(action, context) for action in actions if isinstance(action, Node)]


@pytest.mark.parametrize('file', FILES)
def test_every_argument_is_described_and_has_a_default(file):
    description = get_launch_description_from_python_launch_file(str(LAUNCH / file))
    declared = [a for a in description.entities if isinstance(a, DeclareLaunchArgument)]
    assert declared and any(isinstance(a, OpaqueFunction) for a in description.entities)
    for argument in declared:
        assert argument.default_value is not None, argument.name
        assert argument.description.endswith('.') or argument.choices, argument.name
        assert argument.description != 'no description given', argument.name


def test_a_walk_is_the_graph_that_walk_graph_describes():
    publisher, bridge, walker = started('walk.launch.py')
    expected = walk_graph(
        LiveWalk(robot='guroo', controller='staged_walk', motion={**FOLLOWS, 'demo': False})
    )
    assert [bridge.facts, walker.facts] == [facts(spec) for spec in expected]
    assert publisher.package == 'robot_state_publisher'
    assert '<robot name="guroo"' in publisher.parameters['robot_description']


def test_every_argument_of_a_walk_reaches_the_graph(tmp_path):
    gait = tmp_path / 'gait.yaml'
    gait.write_text('/**: {ros__parameters: {gait: {frequency: 2.0}}}\n')
    arguments = {
        'robot': 'a1',
        'preset': 'walk',
        'engine': 'bullet',
        'terrain': 'rough:range=0.02',
        'seed': '3',
        'realtime_factor': '2',
        'namespace': 'r1',
    }
    bridge, walker = started(
        'walk.launch.py',
        controller='phase_cpg',
        gait=str(gait),
        link_tf='sim_bridge',
        publish_clock='off',
        demo='yes',
        command='0.2,0,0.1',
        command_timeout='2',
        stamped_cmd_vel='true',
        **arguments,
    )
    walk = LiveWalk(
        controller='phase_cpg',
        gait_files=(str(gait),),
        link_transforms=True,
        publishes_clock=False,
        motion={
            'demo': True,
            'command': [0.2, 0.0, 0.1],
            'command_timeout': 2.0,
            'stamped_cmd_vel': True,
        },
        **{**arguments, 'seed': 3, 'realtime_factor': 2.0},
    )
    expected = walk_graph(walk)
    assert bridge.facts == facts(expected[0]) and bridge.name == '/r1/sim_bridge'
    assert bridge.parameters['use_sim_time'] is True
    assert set(bridge.remappings) == set(FRAME_REMAPPINGS)
    assert str(gait) in walker.words
    assert walker.parameters.pop('gait.frequency') == 2.0
    assert walker.facts == facts(expected[1])


def test_a_champion_names_robot_and_controller_and_leaves_its_scene_to_the_nodes():
    nodes = started('walk.launch.py', gait=CHAMPION, link_tf='sim_bridge')
    expected = walk_graph(
        LiveWalk(
            robot='guroo',
            controller='staged_walk',
            terrain='',
            seed=None,
            champion=CHAMPION,
            link_transforms=True,
            motion={**FOLLOWS, 'demo': False},
        )
    )
    for node, spec in zip(nodes, expected, strict=True):
        assert CHAMPION in node.words and spec.parameter_files == (CHAMPION,)
        given = {name: node.parameters.get(name) for name in spec.parameters}
        assert typed(given) == typed(spec.parameters) and 'seed' not in spec.parameters


@pytest.mark.parametrize('command', ['', '0.1'])
def test_a_demonstration_of_a_trial_with_a_script_needs_a_velocity(tmp_path, command):
    champion = read_champion(Path(CHAMPION))
    ahead = Command(velocity=(0.1, 0.0, 0.0))
    script = (TimedCommand(time=0.0, command=Command()), TimedCommand(time=1.0, command=ahead))
    file = tmp_path / 'champion.yaml'
    write_champion(file, replace(champion, spec=replace(champion.spec, script=script)))
    arguments = {'gait': str(file), 'demo': 'true', 'link_tf': 'sim_bridge', 'command': command}
    if command:
        assert len(started('walk.launch.py', **arguments)) == 2
        return
    with pytest.raises(ConfigurationError, match='a script or set points'):
        composed('walk.launch.py', **arguments)


def test_a_walk_takes_robot_and_controller_from_dumped_parameters(tmp_path):
    gait = tmp_path / 'cpg.yaml'
    parameters = {'robot': 'a1', 'controller': 'phase_cpg', 'gait': {'frequency': 2.0}}
    gait.write_text(yaml.safe_dump({'/cpg': {'ros__parameters': {**parameters, 'command': []}}}))
    bridge, walker = started('walk.launch.py', gait=str(gait), link_tf='sim_bridge')
    assert bridge.parameters['robot'] == walker.parameters['robot'] == 'a1'
    assert walker.executable == 'cpg_node' and str(gait) in walker.words


def test_a_walk_may_start_from_no_preset_at_all():
    _, walker = started('walk.launch.py', preset='none', link_tf='sim_bridge')
    assert walker.parameters['preset'] == 'none'


def shown_by(file, **arguments):
    rviz = [one for one in started(file, rviz='true', **arguments) if one.package == 'rviz2']
    assert len(rviz) == 1
    return rviz[0]


def test_rviz_gets_its_layout_and_topics_in_the_namespace():
    rviz = shown_by('walk.launch.py', link_tf='sim_bridge', namespace='r1')
    assert rviz.package == 'rviz2'
    layout = Path(rviz.words[rviz.words.index('-d') + 1]).read_text(encoding='utf-8')
    topics = set(re.findall(r'Value: /(\w+)$', layout, re.MULTILINE))
    assert {'markers', 'zmp'} <= topics
    assert {*((f'/{topic}', topic) for topic in topics), *FRAME_REMAPPINGS} == set(rviz.remappings)
    assert rviz.name == '/r1/rviz'
    rviz = shown_by('walk.launch.py', robot='a1', sensors='all')
    assert rviz.words[rviz.words.index('-d') + 1].endswith('/sensors.rviz')
    assert ('/lidar/scan', 'lidar/scan') in rviz.remappings
    rviz = shown_by('walk.launch.py', robot='tetraspine')
    assert rviz.words[rviz.words.index('-d') + 1].endswith('/tensegrity.rviz')


@pytest.mark.parametrize(
    ('file', 'target', 'layout', 'simulated'),
    [
        ('hardware.launch.py', 'hardware', 'hardware', False),
        ('hardware.launch.py', 'topic', 'walk', True),
        ('control.launch.py', 'mock', 'control', False),
    ],
)
def test_rviz_shows_what_there_is_of_a_robot_under_control(file, target, layout, simulated):
    *_, rviz = started(file, target=target, rviz='true', namespace='r1')
    assert rviz.words[rviz.words.index('-d') + 1].endswith(f'/{layout}.rviz')
    assert rviz.parameters['use_sim_time'] is simulated and rviz.name == '/r1/rviz'


def test_a_description_under_control_begins_at_base_link():
    _, publisher, *_ = started('control.launch.py', target='mock', robot='a1')
    description = publisher.parameters['robot_description']
    assert '<parent link="base_link" />' in description and set(publisher.remappings) == set(
        FRAME_REMAPPINGS
    )


def hardware_nodes(target, gait=True, **more):
    """Return the facts of the nodes of hardware_graph for the a1, without generated files."""
    walker = {'preset': '', 'seed': 0, 'autostart': False, 'safety.recover': False, **FOLLOWS}
    gait_fields = {'controller': 'phase_cpg', 'gait': {**walker, **more.pop('walker', {})}}
    controlled = ControlledRobot(
        name='a1',
        robot=load_robot('a1'),
        target=target,
        controllers_file='controllers.yaml',
        **(gait_fields if gait else {}),
        **more,
    )
    return hardware_graph(controlled)


def test_control_alone_is_a_manager_its_controllers_and_a_description():
    manager, publisher, active, idle = started('control.launch.py', target='mock')
    (expected, *spawners) = hardware_nodes('mock', gait=False)
    assert (manager.package, manager.executable) == (expected.package, expected.executable)
    assert manager.name == '/controller_manager'
    assert manager.parameters['update_rate'] == 200
    assert manager.parameters['use_sim_time'] is False
    description = publisher.parameters['robot_description']
    assert 'mock_components/GenericSystem' in description
    for started_one, spec in zip((active, idle), spawners, strict=True):
        names = [word for word in spec.arguments if word.endswith(('controller', 'broadcaster'))]
        assert started_one.words[: len(names)] == names
    assert 'joint_trajectory_controller' in active.words and '--inactive' in idle.words


@pytest.mark.parametrize('output', ['joint_trajectory', 'commands'])
def test_a_gait_on_hardware_waits_and_commands_the_active_controller(output):
    _, _, active, _, motors, walker = started('hardware.launch.py', output=output)
    expected = hardware_nodes('hardware', output=output)[-2:]
    assert [motors.facts, walker.facts] == [facts(spec) for spec in expected]
    moving = {
        'joint_trajectory': 'joint_trajectory_controller/joint_trajectory',
        'commands': 'forward_position_controller/commands',
    }[output]
    assert walker.remappings == [(output, moving)] and moving.partition('/')[0] in active.words
    assert walker.parameters['autostart'] is False
    assert walker.parameters['use_sim_time'] is False


def test_a_simulated_robot_is_the_hardware_of_its_manager(tmp_path):
    file = tmp_path / 'hardware.yaml'
    file.write_text('joints: {FL_hip_joint: {sign: -1}}\n')
    *_, motors, bridge, walker = started(
        'hardware.launch.py', target='topic', hardware=str(file), namespace='r1', activate='yes'
    )
    expected = hardware_nodes(
        'topic',
        hardware=str(file),
        simulation={'realtime_factor': 1.0, 'seed': 0, **clock_parameters(True)},
        namespace='r1',
        walker={'autostart': True, 'safety.recover': True},
    )
    got = [motors.facts, bridge.facts, walker.facts]
    assert got == [facts(spec) for spec in expected[-3:]]
    assert bridge.parameters['hardware'] is True
    assert bridge.parameters['calibration'] == str(file)
    assert walker.parameters['use_sim_time'] is True


@pytest.mark.parametrize('file', ['hardware.launch.py', 'control.launch.py'])
@pytest.mark.parametrize('target', ['topic', 'hardware', 'mock'])
def test_without_a_plugin_the_node_hardware_stands_before_the_motors(file, target):
    """Also where no hardware.yaml says anything of them; a bridge plays the same motors."""
    nodes = {node.executable: node for node in started(file, target=target, robot='a1')}
    assert ('hardware_node' in nodes) == (target != 'mock')
    if target == 'topic':
        played = nodes['sim_bridge_node'].parameters['calibration']
        given = nodes['hardware_node'].parameters['hardware']
        assert played == given and read_hardware(given, load_robot('a1')).motors


@pytest.mark.parametrize(
    ('target', 'plugin', 'broadcast'),
    [('mock', '', True), ('hardware', 'a/B', True), ('hardware', '', False), ('topic', '', False)],
)
def test_a_gait_reads_the_imu_that_is_broadcast_and_none_is_spawned_without_a_sensor(
    tmp_path, target, plugin, broadcast
):
    file = tmp_path / 'hardware.yaml'
    file.write_text(f'plugin: {plugin}\n' if plugin else '{}\n')
    nodes = started('hardware.launch.py', robot='a1', target=target, hardware=str(file))
    walker = nodes[-1]
    heard = dict(walker.remappings).get('imu/data', 'imu/data')
    # imu_sensor_broadcaster publishes ~/imu.
    assert heard == ('imu_sensor_broadcaster/imu' if broadcast else 'imu/data')
    spawned = any('imu_sensor_broadcaster' in node.words for node in nodes)
    assert spawned == broadcast == ('<sensor' in nodes[1].parameters['robot_description'])


def test_a_plugin_reaches_the_motors_itself(tmp_path):
    file = tmp_path / 'hardware.yaml'
    file.write_text('plugin: my_driver/MySystem\njoints: {FL_hip_joint: {sign: -1}}\n')
    nodes = started('hardware.launch.py', hardware=str(file))
    assert not any(node.executable == 'hardware_node' for node in nodes)
    description = nodes[1].parameters['robot_description']
    assert '<plugin>my_driver/MySystem</plugin>' in description
    assert '<param name="sign">-1.0</param>' in description


@pytest.mark.parametrize(('target', 'activate'), [('topic', 'True'), ('hardware', 'False')])
def test_the_same_walk_goes_to_hardware_by_its_target(target, activate):
    (included,), context = composed(
        'walk.launch.py', robot='a1', target=target, preset='walk', command_timeout='0.2'
    )
    given = dict(included.launch_arguments)
    assert given['command_timeout'] == '0.2'
    assert given['activate'] == activate and given['preset'] == 'walk'
    file = str(LAUNCH / 'hardware.launch.py')
    declared = get_launch_description_from_python_launch_file(file).entities
    names = {one.name for one in declared if isinstance(one, DeclareLaunchArgument)}
    # Expands its location, and loads the file.
    included.launch_description_source.get_launch_description(context)
    assert included.launch_description_source.location == file
    assert set(given) <= names


def test_an_evolution_is_the_graph_that_evolve_graph_describes(tmp_path):
    evolver, *workers = started(
        'evolve.launch.py',
        workers='3',
        experiment='a1_trot',
        generations='5',
        seed='2',
        run_directory=str(tmp_path),
    )
    expected = evolve_graph(
        3,
        'a1_trot',
        parameters={
            'generations': 5,
            'seed': 2,
            'run_directory': str(tmp_path),
            'resume': False,
        },
    )
    assert len(workers) == 3
    assert [node.facts for node in (evolver, *workers)] == [facts(spec) for spec in expected]


def test_an_evolution_without_workers_of_its_own_uses_those_of_the_domain():
    (evolver,) = started('evolve.launch.py', workers='0')
    assert 'workers' not in evolver.parameters


@pytest.mark.parametrize('given', ['', "''", '""'])
def test_an_empty_argument_may_be_written_as_two_quotes(given):
    evolver, *_ = started('evolve.launch.py', experiment=given)
    assert evolver.parameters['experiment'] == ''


@pytest.mark.parametrize(
    ('given', 'meant'),
    [
        *((word, True) for word in ('true', 'True', 'TRUE', '1', 'yes', 'on')),
        *((word, False) for word in ('false', 'False', '0', 'no', 'off', ' false ')),
    ],
)
def test_truth_is_read_in_every_spelling(given, meant):
    nodes = started('walk.launch.py', rviz=given, link_tf='sim_bridge')
    assert any(node.package == 'rviz2' for node in nodes) == meant
    evolver, *_ = started('evolve.launch.py', resume=given)
    assert evolver.parameters['resume'] is meant


@pytest.mark.parametrize(
    ('file', 'arguments', 'words'),
    [
        ('walk.launch.py', {'rviz': 'maybe'}, "'rviz' is 'maybe'.*false.*true"),
        ('walk.launch.py', {'robot': 'guro'}, "'guro': did you mean 'guroo'"),
        ('walk.launch.py', {'controller': 'staged_wlak'}, "did you mean 'staged_walk'"),
        ('walk.launch.py', {'seed': 'x'}, "'seed' is 'x', expected a whole number"),
        ('walk.launch.py', {'realtime_factor': 'fast'}, "'realtime_factor' is 'fast'"),
        ('walk.launch.py', {'gait': 'nowhere.yaml'}, "'nowhere.yaml' does not exist"),
        ('walk.launch.py', {'preset': 'publised'}, "did you mean 'published'"),
        ('walk.launch.py', {'terrain': 'ruogh'}, "did you mean 'rough'"),
        ('walk.launch.py', {'terrain': 'rough:rnge=1'}, "did you mean 'range'"),
        ('walk.launch.py', {'engine': 'bulet'}, "did you mean 'bullet'"),
        (
            'walk.launch.py',
            {'demo': 'true', 'target': 'mock'},
            "'demo' is for target 'sim'.*'mock'",
        ),
        ('walk.launch.py', {'demo': 'true', 'target': 'hardware'}, "'demo' is for target 'sim'"),
        ('walk.launch.py', {'command': '0.1'}, "'command' is the velocity of a demonstration"),
        ('walk.launch.py', {'demo': 'true', 'command': 'fast'}, r"'fast': expected VX\[,VY"),
        ('control.launch.py', {'robot': 'a2'}, "unknown robot 'a2'"),
        ('control.launch.py', {'robot': 'spider'}, "'spider' has 12 force elements"),
        ('control.launch.py', {'hardware': 'no.yaml'}, 'no.yaml'),
        ('control.launch.py', {'rate': '0'}, "'rate' is 0 Hz, expected 1 to 10000"),
        ('control.launch.py', {'target': 'topic', 'simulation': 'so'}, "'simulation' is 'so'"),
        ('walk.launch.py', {'gait': CHAMPION, 'robot': 'a1'}, "for robot 'guroo', .* runs 'a1'"),
        ('walk.launch.py', {'gait': CHAMPION, 'controller': 'hold'}, "this node runs 'hold'"),
        ('walk.launch.py', {'gait': CHAMPION, 'preset': 'published'}, 'leave preset out'),
        ('hardware.launch.py', {'gait': CHAMPION}, "for robot 'guroo', this node runs 'a1'"),
        (
            'hardware.launch.py',
            {'gait': CHAMPION, 'robot': 'guroo', 'preset': 'published'},
            'leave preset out',
        ),
        ('hardware.launch.py', {'preset': 'trto'}, "did you mean 'trot'"),
        ('hardware.launch.py', {'activate': 'maybe'}, "'activate' is 'maybe'"),
        ('evolve.launch.py', {'experiment': 'guro_quick'}, "did you mean 'guroo_quick'"),
        ('evolve.launch.py', {'workers': '2.5'}, "'workers' is '2.5', expected a whole"),
        ('evolve.launch.py', {'resume': 'maybe'}, "'resume' is 'maybe'.*false.*true"),
    ],
)
def test_a_mistake_is_refused_in_one_line_that_names_it(file, arguments, words):
    with pytest.raises(ConfigurationError, match=words) as refusal:
        composed(file, **arguments)
    assert '\n' not in str(refusal.value)


@pytest.fixture
def warnings(monkeypatch):
    """Return the list of warnings that launch files log."""
    said = []
    logger = SimpleNamespace(warning=said.append)
    monkeypatch.setattr('gait_ros.graph.launch_actions.get_logger', lambda name: logger)
    return said


def test_an_argument_that_looks_misspelt_is_warned_of(warnings):
    composed('walk.launch.py', terain='rough', my_map='x', terrain='flat')
    (line,) = warnings
    assert line.startswith(
        "launch argument 'terain' is not one of this file: did you mean 'terrain'? valid: "
    )


@pytest.mark.parametrize(
    ('launched', 'count'),
    [('walk.launch.py', 1), (str(LAUNCH / 'walk.launch.py'), 1), ('mine', 0)],
)
def test_an_unknown_argument_of_the_launched_file_is_warned_of(
    warnings, monkeypatch, launched, count
):
    monkeypatch.setattr('sys.argv', ['ros2', 'launch', launched, 'my_map:=x'])
    composed('walk.launch.py', my_map='x')
    assert len(warnings) == count
    assert all("'my_map' is not one of this file" in line for line in warnings)


@pytest.mark.parametrize(
    ('file', 'name'), [('walk.launch.py', 'link_tf'), ('control.launch.py', 'target')]
)
def test_a_choice_that_is_none_is_refused_by_launch_itself(file, name):
    with pytest.raises(RuntimeError, match=name):
        composed(file, **{name: 'rviz'})


def test_parameters_reach_a_node_with_their_types():
    """Texts that YAML would read as a truth value, a number or null stay texts."""
    parameters = {
        'word': 'off',
        'digits': '0123',
        'nothing': '',
        'path': 'a: b',
        'names': ['/worker0/sim_bridge', 'no'],
        'number': 2.0,
        'whole': 2,
        'truth': True,
        'numbers': [0.5, 2.0],
    }
    spec = NodeSpec(
        package='sim_bridge', executable='sim_bridge_node', name='n', parameters=parameters
    )
    assert Started(node_action(spec), LaunchContext()).facts == facts(spec)


def test_the_executables_are_installed():
    for file in FILES:
        for node in started(file):
            if node.package not in ('robot_state_publisher', 'rviz2', 'controller_manager'):
                assert Path(node.find()).is_file()


@pytest.fixture
def launched(tmp_path):
    """Return a function that runs a launch file as `ros2 launch` does, in a process group."""
    started = []

    def start(file, **arguments):
        words = [f'{name}:={value}' for name, value in arguments.items()]
        with (tmp_path / 'output').open('w') as output:
            started.append(
                subprocess.Popen(
                    # A file of ours by its name, another one by its path.
                    [sys.executable, '-c', RUN, str(LAUNCH / file), *words],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        return started[-1]

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def test_a_launched_robot_walks_and_the_end_of_its_bridge_ends_all(graph, box, launched, tmp_path):
    process = launched(
        'walk.launch.py',
        robot=box,
        link_tf='sim_bridge',
        namespace='r1',
        realtime_factor=5.0,
        demo='true',
        command='0.2',
    )
    beats, states = [], []
    for kind, topic, found in (
        (WorkerStatus, '/r1/sim_bridge/worker_status', beats),
        (JointState, '/r1/joint_states', states),
    ):
        graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    graph.until(lambda: states and list(states[-1].position) != list(states[0].position), 60.0)
    graph.until(lambda: beats)
    os.kill(beats[-1].pid, signal.SIGINT)
    process.wait(15.0)
    log = (tmp_path / 'output').read_text()
    assert process.returncode == 0, log
    assert log.count('process has finished cleanly') == 2, log


# As a lab composes it: each robot in a group, so that arguments and names stay inside.
LAB = """
from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import PushRosNamespace, SetRemap

WALK, BOX = {walk!r}, {box!r}


def robot(name, **given):
    given = dict(robot=BOX, link_tf='sim_bridge', demo='true', command='0.2', **given)
    return GroupAction([
        PushRosNamespace(name),
        SetRemap('cmd_vel', 'nav/cmd_vel'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(WALK), launch_arguments=given.items()
        ),
    ])


def generate_launch_description():
    return LaunchDescription([
        robot('r1', realtime_factor='2.0', seed='3'),
        robot('r2', publish_clock='false'),
    ])
"""


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def latest(messages):
    """Return the stamp of the last message [s], of whichever kind it is."""
    last = messages[-1]
    return seconds((last if isinstance(last, JointState) else last.transforms[0]).header.stamp)


def test_two_robots_of_a_labs_own_launch_file_walk_in_one_graph(graph, box, launched, tmp_path):
    file = tmp_path / 'lab.launch.py'
    file.write_text(LAB.format(walk=str(LAUNCH / 'walk.launch.py'), box=box))
    process = launched(str(file))
    output = tmp_path / 'output'
    found = {}
    for name in ('r1', 'r2'):
        for topic, kind in (('joint_states', JointState), ('tf', TFMessage)):
            found[name, topic] = []
            graph.client.create_subscription(
                kind, f'/{name}/{topic}', found[name, topic].append, STREAM_QOS
            )
    clock = []
    graph.client.create_subscription(Clock, '/clock', clock.append, STREAM_QOS)

    def moves(messages):
        return messages and list(messages[-1].position) != list(messages[0].position)

    graph.until(lambda: all(moves(found[name, 'joint_states']) for name in ('r1', 'r2')), 60.0)
    # One clock, and frames apart: each robot's names are the same in a namespace of its own.
    assert graph.client.count_publishers('/clock') == 1
    assert not graph.client.count_publishers('/tf')
    graph.until(lambda: clock and all(found.values()))
    for name in ('r1', 'r2'):
        frames = {tf.header.frame_id for one in found[name, 'tf'] for tf in one.transforms}
        assert {'odom', 'base_link'} <= frames and not any('/' in frame for frame in frames)
    # Both go on in the time of that clock, however slow the machine: from any moment of it each
    # comes to later ones.
    for _ in range(3):
        now = seconds(clock[-1].clock)
        for messages in found.values():
            graph.until(lambda messages=messages, now=now: latest(messages) > now)
    for name in ('r1', 'r2'):
        graph.until(lambda name=name: graph.client.count_subscribers(f'/{name}/nav/cmd_vel') == 1)
        assert not graph.client.count_subscribers(f'/{name}/cmd_vel')
    # Arguments of one group do not leak into the other.
    get = graph.call(GetParameters, '/r2/sim_bridge/get_parameters', names=['seed'])
    assert get.values[0].integer_value == 0
    os.killpg(process.pid, signal.SIGINT)
    process.wait(20.0)
    # Nor is what launch keeps among the arguments taken for a misspelt one of ours.
    assert 'Traceback' not in output.read_text() and 'did you mean' not in output.read_text()


def test_a_second_clock_is_refused_by_the_name_of_the_argument(graph, box, launched, tmp_path):
    graph.add(SimBridgeNode, robot=box, name='first')
    process = launched('walk.launch.py', robot=box, link_tf='sim_bridge', namespace='r2')
    output = tmp_path / 'output'
    # It may take seconds to discover who is there: then one clock gives way to the other.
    graph.until(lambda: process.poll() is not None or '; /r2' in output.read_text(), 60.0)
    log = output.read_text()
    assert 'Traceback' not in log
    if process.poll() is None:
        assert '/clock is also published by /first; /r2/sim_bridge stops publishing it' in log
        graph.until(lambda: graph.client.count_publishers('/clock') == 1)
        return
    assert process.returncode == 1 and '/r2/sim_bridge has ended with status 2' in log
    assert '/clock is published by /first already; with publish_clock:=false this' in log


MANAGER = """
import contextlib

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

rclpy.init()
node = Node('controller_manager')
commands = node.create_publisher(JointState, 'hardware/joint_commands', 1)
states = node.create_publisher(JointState, 'joint_states', 10)
node.create_subscription(
    JointState, 'hardware/joint_states', states.publish, qos_profile_sensor_data
)
node.create_subscription(
    JointTrajectory,
    'joint_trajectory_controller/joint_trajectory',
    lambda given: commands.publish(
        JointState(name=given.joint_names, position=given.points[-1].positions)
    ),
    10,
)
# It is the end of our nodes that is looked at, not of this one.
with contextlib.suppress(BaseException):
    rclpy.spin(node)
"""


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Install stand-ins for packages without a wheel: a manager that relays, others that wait."""
    waits = 'import signal\nsignal.sigwait({signal.SIGINT, signal.SIGTERM})\n'
    for package, executable, text in (
        ('controller_manager', 'ros2_control_node', MANAGER),
        ('controller_manager', 'spawner', 'pass\n'),
        ('robot_state_publisher', 'robot_state_publisher', waits),
    ):
        file = tmp_path / 'lib' / package / executable
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!{sys.executable}\n{text}')
        file.chmod(0o755)
        marker = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages' / package
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    found = os.environ['AMENT_PREFIX_PATH']
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}{os.pathsep}{found}')
    return tmp_path / 'lib' / 'controller_manager' / 'ros2_control_node'


def test_a_launched_gait_walks_through_topic_based_hardware(
    graph, box, launched, stand_ins, tmp_path
):
    process = launched(
        'hardware.launch.py', robot=box, target='topic', activate='true', controller='wave'
    )
    velocity, asked = graph.client.create_publisher(Twist, '/cmd_vel', 10), Twist()
    asked.linear.x = 0.1
    graph.client.create_timer(0.05, lambda: velocity.publish(asked))
    states, poses = [], []
    for kind, topic, found in (
        (JointState, '/joint_states', states),
        (Odometry, '/odom', poses),
    ):
        graph.client.create_subscription(kind, topic, found.append, STREAM_QOS)
    graph.until(lambda: poses and abs(poses[-1].pose.pose.position.x) > 0.02, 30.0)
    assert states and list(states[-1].position) != list(states[0].position)
    os.killpg(process.pid, signal.SIGINT)
    process.wait(15.0)
    log = (tmp_path / 'output').read_text()
    assert 'Traceback' not in log, log


def test_a_controller_that_fails_ends_a_walk_with_status_1(box, launched, tmp_path):
    gait = tmp_path / 'gait.yaml'
    gait.write_text('/**: {ros__parameters: {gait: {amplitude: 99.0}}}\n')
    process = launched(
        'walk.launch.py', robot=box, controller='wave', link_tf='sim_bridge', gait=str(gait)
    )
    assert process.wait(60.0) == 1
    log = (tmp_path / 'output').read_text()
    assert 'gait.amplitude' in log and '/controller has ended with status 2' in log
    assert 'Traceback' not in log


def test_a_mistake_ends_a_launch_with_its_line_and_status_1(launched, tmp_path):
    process = launched('walk.launch.py', robot='guro')
    assert process.wait(30.0) == 1
    log = (tmp_path / 'output').read_text()
    assert "unknown robot 'guro': did you mean 'guroo'?" in log
    assert 'Traceback' not in log
