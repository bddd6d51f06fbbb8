# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node graph is plain data that names what exists."""

from dataclasses import replace
from importlib.metadata import entry_points
from itertools import pairwise

import pytest
import yaml

from gait_core.errors import ConfigurationError
from gait_core.robot.load import load_robot
from gait_core.testing.doubles import WaveController, register_temporarily, spec_for_test
from gait_ros.graph.control_nodes import ControlledRobot, hardware_graph
from gait_ros.graph.nodes import LiveWalk, evolve_graph, trial_graph, walk_graph
from gait_ros.hardware.motors import default_hardware

WAVE = {'amplitude': 0.1 + 0.2, 'frequency': 1e-05 + 1.0}


@pytest.fixture
def wave(monkeypatch):
    from gait_core import registry

    known = registry.package
    monkeypatch.setattr(
        registry,
        'package',
        lambda kind, name: 'gait_core' if name == 'wave' else known(kind, name),
    )
    with register_temporarily('controllers', wave=WaveController):
        yield


def test_a_walk_is_a_bridge_with_the_clock_and_a_controller_that_follows_it():
    bridge, walker = walk_graph(
        LiveWalk(robot='a1', controller='phase_cpg', namespace='r1', gait_files=('c.yaml',))
    )
    assert (bridge.full_name, walker.full_name) == ('/r1/sim_bridge', '/r1/cpg')
    assert bridge.parameters['mode'] == 'realtime'
    assert walker.parameters['use_sim_time'] is True
    assert walker.parameter_files == ('c.yaml',)
    assert (walker.package, walker.executable) == ('gait_cpg', 'cpg_node')


def test_the_gait_of_a_bridge_without_the_clock_follows_its_bridge_all_the_same():
    for clock, rules in ((True, ()), (False, (('/clock', 'sim_bridge/clock'),))):
        bridge, walker = walk_graph(
            LiveWalk(robot='a1', controller='phase_cpg', namespace='r2', publishes_clock=clock)
        )
        assert bridge.parameters['publish_clock'] is clock and walker.remappings == rules


def test_an_unknown_controller_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigurationError, match="did you mean 'phase_cpg'"):
        walk_graph(LiveWalk(robot='a1', controller='phase_cgp'))


def test_a_trial_writes_every_parameter_of_its_controller_out(wave):
    spec = spec_for_test(parameters={'amplitude': 0.3})
    bridge, walker = trial_graph(spec, link_transforms=True)
    assert walker.parameters['gait.amplitude'] == 0.3
    assert walker.parameters['gait.frequency'] == 1.0
    assert walker.parameters['preset'] == 'none' and walker.parameters['lockstep'] is True
    assert walker.parameters['bridge'] == bridge.name
    assert bridge.parameters['publish_clock'] is False
    assert bridge.parameters['publish_link_tf'] is True


def test_workers_have_namespaces_of_their_own_and_no_clock():
    evolver, *workers = evolve_graph(2, 'guroo_quick')
    names = ['/worker0/sim_bridge', '/worker1/sim_bridge']
    assert [worker.full_name for worker in workers] == names
    assert not any(worker.parameters['publish_clock'] for worker in workers)
    assert [f'/{name}' for name in evolver.parameters['workers']] == names
    other, *others = evolve_graph(2, 'guroo_quick', namespace='b')
    assert [other.full_name, *(worker.full_name for worker in others)] == [
        '/b/evolver',
        *(f'/b{name}' for name in names),
    ]
    # The evolver looks for them in its own namespace.
    assert other.parameters == evolver.parameters


def test_every_executable_exists_and_every_parameter_is_declared():
    pytest.importorskip('rclpy')
    from gait_core.parameters.declaration import declared_parameters
    from gait_core.safety.parameters import SafetyParams
    from gait_ros.graph.processes import node_entry_point
    from gait_ros.live.node_parameters import ControllerNodeParams
    from sim_bridge.settings import BridgeParams

    nodes = [
        *walk_graph(LiveWalk(robot='a1', controller='phase_cpg')),
        *walk_graph(LiveWalk(robot='guroo', controller='staged_walk')),
    ]
    nodes += trial_graph(spec_for_test('hold'))
    for node in nodes:
        assert node_entry_point(node).startswith(f'{node.package}.')
        declared = BridgeParams if node.package == 'sim_bridge' else ControllerNodeParams
        known = {info.name for info in declared_parameters(declared)} | {'use_sim_time'}
        known |= {f'safety.{info.name}' for info in declared_parameters(SafetyParams)}
        assert {name for name in node.parameters if not name.startswith('gait.')} <= known
    assert entry_points(group='console_scripts', name='controller_node')


def test_parameter_files_keep_every_bit_and_type(wave):
    pytest.importorskip('rclpy')
    from gait_ros.graph.processes import parameter_file_text, ros_arguments

    _, walker = trial_graph(spec_for_test(parameters=WAVE))
    text = parameter_file_text(
        {**walker.parameters, 'hash': '12e4567', 'none': [], 'list': (1, 2)}
    )
    read = yaml.safe_load(text)['/**']['ros__parameters']
    assert read['gait.amplitude'] == WAVE['amplitude']
    assert read['gait.frequency'] == WAVE['frequency']
    assert read['hash'] == '12e4567' and read['list'] == [1, 2] and 'none' not in read
    arguments = ros_arguments(walker, 'p.yaml')
    assert ('-r', '__node:=controller') in pairwise(arguments)
    assert arguments[-2:] == ['--params-file', 'p.yaml']


@pytest.mark.parametrize('target', ['mock', 'topic', 'hardware'])
@pytest.mark.parametrize('plugin', ['', 'a/B'])
def test_before_motors_of_topics_stands_the_node_hardware(target, plugin):
    """And a gait reads the IMU that is broadcast, where one is."""
    robot = load_robot('a1')
    motors = replace(default_hardware(robot), plugin=plugin)
    simulation = {} if target == 'topic' else None
    nodes = hardware_graph(
        ControlledRobot(
            name='a1',
            robot=robot,
            target=target,
            controllers_file='controllers.yaml',
            hardware='motors.yaml',
            motors=motors,
            simulation=simulation,
            controller='phase_cpg',
            gait={'seed': 0},
        )
    )
    by_name = {node.name: node for node in nodes}
    between = target == 'topic' or target == 'hardware' and not plugin
    assert ('hardware' in by_name) == between
    if simulation is not None:
        assert by_name['sim_bridge'].parameters['calibration'] == 'motors.yaml'
        assert by_name['hardware'].parameters['use_sim_time'] is True
    broadcast = target == 'mock' or target == 'hardware' and bool(plugin)
    assert ('imu_sensor_broadcaster' in by_name['spawner_of_active'].arguments) == broadcast
    told = dict(by_name['cpg'].remappings)
    assert told.get('imu/data') == ('imu_sensor_broadcaster/imu' if broadcast else None)
