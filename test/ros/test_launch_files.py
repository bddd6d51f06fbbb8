"""The launch files by the real launch library: arguments, refusals, and what they compose."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys

import pytest

# The folder launch/ at the root passes for a package of that name; launch_ros has no namesake.
pytest.importorskip('launch_ros', reason='launch_ros of an installed ROS is not there')

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from sensor_msgs.msg import JointState
import yaml

from gait_core.errors import ConfigurationError
from gait_interfaces.msg import WorkerStatus
from gait_ros.graph import NodeSpec, evolve_graph, walk_graph
from gait_ros.launch_actions import node_action
from gait_ros.qos import STREAM

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

LAUNCH = Path(__file__).resolve().parents[2] / 'launch'
FILES = sorted(path.name for path in LAUNCH.glob('*.launch.py'))


class Loader(yaml.SafeLoader):
    """Reads what launch writes as ROS does: its tag for a tuple means nothing."""


Loader.add_constructor(
    'tag:yaml.org,2002:python/tuple', lambda loader, node: loader.construct_sequence(node)
)


@pytest.fixture(autouse=True)
def nothing_is_started(monkeypatch):
    """Let actions expand their command lines, but start no process."""
    monkeypatch.setattr(ExecuteProcess, 'execute', lambda self, context: None)


def composed(file, **arguments):
    """Return the actions that a launch file composes, and the context."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    actions = []
    for entity in get_launch_description_from_python_launch_file(str(LAUNCH / file)).entities:
        actions += entity.visit(context) or []
    return actions, context


class Started:
    """How a Node action would start its process."""

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
    """Return what a node of the graph should be started as."""
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
    bridge, walker, publisher = started('walk.launch.py')
    expected = walk_graph('guroo', 'staged_walk')
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
        **arguments,
    )
    expected = walk_graph(
        controller='phase_cpg',
        gait_files=(str(gait),),
        link_transforms=True,
        **{**arguments, 'seed': 3, 'realtime_factor': 2.0},
    )
    assert bridge.facts == facts(expected[0]) and bridge.name == '/r1/sim_bridge'
    assert str(gait) in walker.words
    assert walker.parameters.pop('gait.frequency') == 2.0
    assert walker.facts == facts(expected[1])


def test_a_walk_may_start_from_no_preset_at_all():
    _, walker = started('walk.launch.py', preset='none', link_tf='sim_bridge')
    assert walker.parameters['preset'] == 'none'


def test_rviz_gets_its_layout_and_topics_in_the_namespace():
    *_, rviz = started('walk.launch.py', rviz='true', link_tf='sim_bridge', namespace='r1')
    assert rviz.package == 'rviz2'
    layout = Path(rviz.words[rviz.words.index('-d') + 1]).read_text(encoding='utf-8')
    shown = set(re.findall(r'Value: /(\w+)$', layout, re.MULTILINE))
    assert {'markers', 'zmp'} <= shown
    assert {(f'/{topic}', topic) for topic in shown} <= set(rviz.remappings)
    assert rviz.name == '/r1/rviz'


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
        ('evolve.launch.py', {'experiment': 'guro_quick'}, "did you mean 'guroo_quick'"),
        ('evolve.launch.py', {'workers': '2.5'}, "'workers' is '2.5', expected a whole"),
        ('evolve.launch.py', {'resume': 'maybe'}, "'resume' is 'maybe'.*false.*true"),
    ],
)
def test_a_mistake_is_refused_in_one_line_that_names_it(file, arguments, words):
    with pytest.raises(ConfigurationError, match=words) as refusal:
        composed(file, **arguments)
    assert '\n' not in str(refusal.value)


def test_a_choice_that_is_none_is_refused_by_launch_itself():
    with pytest.raises(RuntimeError, match='link_tf'):
        composed('walk.launch.py', link_tf='rviz')


def test_parameters_reach_a_node_with_their_types():
    """What YAML would read as a truth value, a number or nothing stays text."""
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
            if node.package not in ('robot_state_publisher', 'rviz2'):
                assert Path(node.find()).is_file()


@pytest.fixture
def launched(tmp_path):
    """Return what runs a launch file as `ros2 launch` does, in a process group of its own."""
    started = []

    def start(file, **arguments):
        words = [f'{name}:={value}' for name, value in arguments.items()]
        with (tmp_path / 'output').open('w') as output:
            started.append(
                subprocess.Popen(
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
        'walk.launch.py', robot=box, link_tf='sim_bridge', namespace='r1', realtime_factor=5.0
    )
    beats, states = [], []
    for kind, topic, found in (
        (WorkerStatus, '/r1/sim_bridge/worker_status', beats),
        (JointState, '/r1/joint_states', states),
    ):
        graph.client.create_subscription(kind, topic, found.append, STREAM)
    graph.until(lambda: states and list(states[-1].position) != list(states[0].position), 30.0)
    graph.until(lambda: beats)
    os.kill(beats[-1].pid, signal.SIGINT)
    process.wait(15.0)
    log = (tmp_path / 'output').read_text()
    assert process.returncode == 0, log
    assert log.count('process has finished cleanly') == 2, log


def test_a_mistake_ends_a_launch_with_its_line_and_status_1(launched, tmp_path):
    process = launched('walk.launch.py', robot='guro')
    assert process.wait(30.0) == 1
    log = (tmp_path / 'output').read_text()
    assert "unknown robot 'guro': did you mean 'guroo'?" in log
    assert 'Traceback' not in log
