"""Configuration under launch/ is read by a safe loader, and RViz shows what a bridge publishes."""

import json
from pathlib import Path
import re
from xml.etree import ElementTree

import pytest
import yaml

from gait_core.testing_documents import rows
from gait_evolver.bags.types import typestore

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for path in (ROOT / 'launch').rglob('*') if path.suffix in ('.yaml', '.yml', '.rviz')
)
# By robot_state_publisher; everything else comes from the bridge.
DESCRIPTION = ('/robot_description', 'std_msgs/msg/String')
SHOWS = {
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


@pytest.mark.parametrize('path', [p for p in FILES if p.suffix == '.rviz'], ids=name_of)
def test_rviz_shows_topics_that_the_bridge_publishes_by_their_type(path):
    # test/ros holds this table to the node.
    readme = (ROOT / 'src' / 'sim_bridge' / 'README.md').read_text(encoding='utf-8')
    published = {f'/{name.lstrip("/")}': kind for name, kind, _ in rows(readme, 'Publishes')}
    published.update([DESCRIPTION])
    shown = {}
    for display in displays(path):
        for key in ('Topic', 'Description Topic'):
            if key in display:
                shown[display[key]['Value']] = SHOWS[display['Class']]
    assert {'/markers', '/zmp', '/robot_description'} <= shown.keys()
    assert shown == {topic: published[topic] for topic in shown}


@pytest.mark.parametrize('path', [p for p in FILES if p.suffix == '.rviz'], ids=name_of)
def test_rviz_takes_the_frame_that_the_bridge_publishes(path):
    manager = yaml.safe_load(path.read_text(encoding='utf-8'))['Visualization Manager']
    assert manager['Global Options']['Fixed Frame'] == 'odom'


# What a trial's bag holds, from the builder of its messages; test_export holds that to the bag.
BAG = (ROOT / 'src/gait_evolver/gait_evolver/bags/messages.py').read_text(encoding='utf-8')


def fields_exist(topic, path):
    """Walk a path such as twist/twist/linear/x through the definitions of the topic's type."""
    store = typestore()
    kind = re.search(rf"'{re.escape(topic)}',?\s+'(\w+/msg/\w+)'", BAG)
    kind = kind[1] if kind else {'/joint_trajectory': 'trajectory_msgs/msg/JointTrajectory'}[topic]
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
