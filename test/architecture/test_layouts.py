"""Configuration under launch/ is read by a safe loader, and RViz shows what a bridge publishes."""

from pathlib import Path

import pytest
import yaml

from gait_core.testing_documents import rows

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
