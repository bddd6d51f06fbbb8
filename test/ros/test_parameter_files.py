# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of every node as a file: written by `ros2 param dump`, read at a start and live."""

import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.parameter import parameter_dict_from_yaml_file, parameter_value_to_python
import yaml

from gait_core.errors import ConfigurationError
from gait_evolver.node import EvolverNode
from gait_ros.hardware.node import HardwareNode
from gait_ros.live.node import ControllerNode
from gait_ros.live.waypoints_node import WaypointsNode
from gait_stage_walk.node import StageWalkNode
from sim_bridge.node import SimBridgeNode

CHAMPION = 'doc/results/guroo_champion.yaml'


def read_parameters(graph, node):
    """Return the parameters of a node by name, read by its services as ros2 param does."""
    name = node.get_fully_qualified_name()
    names = sorted(graph.call(ListParameters, f'{name}/list_parameters').result.names)
    values = graph.call(GetParameters, f'{name}/get_parameters', names=names).values
    assert len(values) == len(names), f'{len(names)} parameters of {name}, {len(values)} values'
    return dict(zip(names, map(parameter_value_to_python, values), strict=True))


def dump_parameters(graph, node, file):
    """Write the parameters of a node into a file as `ros2 param dump` does."""
    nested = {}
    for name, value in read_parameters(graph, node).items():
        *groups, last = name.split('.')
        section = nested
        for group in groups:
            section = section.setdefault(group, {})
        section[last] = value
    document = {node.get_fully_qualified_name(): {'ros__parameters': nested}}
    file.write_text(yaml.dump(document, default_flow_style=False))


@pytest.mark.parametrize(
    'kind',
    [SimBridgeNode, ControllerNode, StageWalkNode, HardwareNode, WaypointsNode, EvolverNode],
)
def test_a_node_whose_parameters_are_refused_leaves_the_graph(graph, box, kind):
    with pytest.raises(ConfigurationError):
        graph.add(kind, robt=box)
    assert graph.client.get_node_names() == ['test_client']


@pytest.mark.parametrize(
    ('kind', 'parameters'),
    [
        (SimBridgeNode, {'robot': 'BOX', 'publish_clock': False}),
        (ControllerNode, {'robot': 'BOX', 'controller': 'wave'}),
        (ControllerNode, {'robot': 'hexapod', 'controller': 'keyframe_stride'}),
        (StageWalkNode, {'robot': 'guroo'}),
        (HardwareNode, {'robot': 'BOX'}),
        (WaypointsNode, {'waypoints': [1.0, 0.0]}),
        (EvolverNode, {}),
    ],
)
def test_dumped_parameters_start_an_equal_node_and_load_but_for_read_only_ones(
    graph, box, tmp_path, kind, parameters
):
    file = tmp_path / 'dump.yaml'
    given = {name: box if value == 'BOX' else value for name, value in parameters.items()}
    node = graph.add(kind, start=False, **given)
    name, before = node.get_fully_qualified_name(), read_parameters(graph, node)
    dump_parameters(graph, node, file)
    messages = parameter_dict_from_yaml_file(str(file), False, [name]).values()
    answer = graph.call(SetParameters, f'{name}/set_parameters', parameters=list(messages))
    for message, result in zip(messages, answer.results, strict=True):
        read_only = node.describe_parameter(message.name).read_only
        assert result.successful or (read_only and 'read-only' in result.reason), message
    graph.remove(node)
    assert read_parameters(graph, graph.add(kind, start=False, files=[file])) == before


def test_dumped_parameters_of_a_champion_start_its_gait_without_its_file(graph, tmp_path):
    file = tmp_path / 'dump.yaml'
    node = graph.add(StageWalkNode, start=False, files=[CHAMPION])
    gait = node.controller.params
    dump_parameters(graph, node, file)
    graph.remove(node)
    assert graph.add(StageWalkNode, start=False, files=[file]).controller.params == gait


@pytest.mark.parametrize('workers', ['/worker0/sim_bridge', [1, 2]])
def test_workers_that_are_no_list_of_names_are_refused(graph, workers):
    with pytest.raises(ValueError, match="parameter 'workers' is .*, expected a list of names"):
        graph.add(EvolverNode, workers=workers)
