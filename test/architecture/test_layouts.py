# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Configuration under launch/ is read by a safe loader, and RViz shows what a bridge publishes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from gait_core.testing.documents import node_sections, table_rows
from gait_tools.bags.messages import BAG_TOPICS
from gait_tools.bags.types import load_typestore

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for path in (ROOT / 'launch').rglob('*') if path.suffix in ('.yaml', '.yml', '.rviz')
)
# By robot_state_publisher; everything else comes from nodes of the suite.
DESCRIPTION = ('/robot_description', 'std_msgs/msg/String')
LAYOUTS = ROOT / 'launch' / 'rviz'
# Nodes whose topics each task shows.
TASKS = {
    'walk': ('sim_bridge', 'controller'),
    'tensegrity': ('sim_bridge', 'controller'),
    'replay': ('sim_bridge',),
    'hardware': ('controller', 'hardware'),
    'sensors': ('sim_bridge', 'controller'),
    'control': (),
}
SHOWS = {
    'rviz_default_plugins/Image': 'sensor_msgs/msg/Image',
    'rviz_default_plugins/LaserScan': 'sensor_msgs/msg/LaserScan',
    'rviz_default_plugins/Odometry': 'nav_msgs/msg/Odometry',
    'rviz_default_plugins/PointCloud2': 'sensor_msgs/msg/PointCloud2',
    'rviz_default_plugins/MarkerArray': 'visualization_msgs/msg/MarkerArray',
    'rviz_default_plugins/PointStamped': 'geometry_msgs/msg/PointStamped',
    'rviz_default_plugins/RobotModel': 'std_msgs/msg/String',
}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def displays(path):
    return yaml.safe_load(path.read_text(encoding='utf-8'))['Visualization Manager']['Displays']


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_configuration_is_plain_data(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding='utf-8')), dict)


@pytest.mark.parametrize('task', TASKS)
def test_rviz_shows_topics_that_the_nodes_of_a_task_publish_by_their_type(task):
    # test/ros holds these tables to the nodes.
    published = dict([DESCRIPTION])
    sections = node_sections(ROOT)
    for node in TASKS[task]:
        topics = table_rows(sections[node], 'Publishes')
        published.update((f'/{name.lstrip("/")}', kind) for name, kind, _ in topics)
    if task == 'sensors':
        page = (ROOT / 'doc' / 'sensors.md').read_text(encoding='utf-8')
        published.update((f'/{n}', kind) for n, kind, _ in table_rows(page, 'Topic of the a1'))
    shown = {}
    for display in displays(LAYOUTS / f'{task}.rviz'):
        for key in ('Topic', 'Description Topic'):
            if key in display:
                shown[display[key]['Value']] = SHOWS[display['Class']]
    # Neither a bridge in trials nor a worker of an evolution describes its robot.
    assert ('/robot_description' in shown) == (task != 'replay')
    assert {'/markers', '/gait_markers'} & shown.keys() or task == 'control'
    assert shown == {topic: published[topic] for topic in shown}


def test_every_layout_is_of_a_task():
    assert {path.stem for path in LAYOUTS.iterdir()} == TASKS.keys()


def fields_exist(topic, path):
    """Walk a path such as twist/twist/linear/x through the definitions of the topic's type."""
    store = load_typestore()
    kind = BAG_TOPICS[topic]
    for part in path.split('/'):
        fields = dict(store.get_msgdef(kind).fields)
        node, described = fields[part.split('[')[0]]
        if node.name in ('ARRAY', 'SEQUENCE'):
            assert '[' in part, f'{topic} {path}: {part} is a list'
            node, described = described[0]
        kind = described
    return True


def test_plots_of_a_bag_are_of_fields_that_it_has():
    plots = ElementTree.parse(ROOT / 'launch/config/trial.plotjuggler.xml').getroot()
    names = [
        name
        for curve in plots.iter('curve')
        for key in ('name', 'curve_x', 'curve_y')
        if (name := curve.get(key, '')).startswith('/')
    ]
    panels = json.loads((ROOT / 'launch/config/trial.foxglove.json').read_text())['configById']
    paths = [one['value'] for panel in panels.values() for one in panel.get('paths', ())]
    names += [path.replace('.', '/') for path in paths]
    assert len(names) > 12
    topics = ('/imu/data', *(f'/{name.split("/")[1]}' for name in names))
    for name in names:
        topic = next(topic for topic in topics if name.startswith(f'{topic}/'))
        assert fields_exist(topic, name[len(topic) + 1 :])


def test_the_layout_of_foxglove_names_panels_that_it_has():
    layout = json.loads((ROOT / 'launch/config/trial.foxglove.json').read_text())

    def leaves(node):
        if isinstance(node, str):
            return {node}
        return leaves(node['first']) | leaves(node['second'])

    assert leaves(layout['layout']) == set(layout['configById'])
