# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""No display of RViz is red: each layout by the topics, types, QoS and frames of running nodes."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rclpy.qos import (
    QoSCompatibility,
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSLivelinessPolicy,
    QoSProfile,
    QoSReliabilityPolicy,
    qos_check_compatible,
)
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray
import yaml

from gait_core.robot.urdf.writer import insert_base_link, to_scene_urdf
from gait_core.testing.skips import need_robot
from gait_ros.graph.rviz_layouts import fit_layout
from gait_ros.hardware.ros2_control import MOCK_TARGET, control_urdf
from gait_ros.live.node import ControllerNode
from sim_bridge.node import SimBridgeNode

LAYOUTS = Path(__file__).resolve().parents[2] / 'launch' / 'rviz'
ROBOTS = ('guroo', 'a1', 'tetraspine', 'roach', 'hexapod', 'spider')
SHOWN = {
    'rviz_default_plugins/MarkerArray': MarkerArray,
    'rviz_default_plugins/PointStamped': PointStamped,
    'rviz_default_plugins/Odometry': Odometry,
}
# What robot_state_publisher offers, as its sources say.
DESCRIPTION = QoSProfile(
    depth=1,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
    reliability=QoSReliabilityPolicy.RELIABLE,
    liveliness=QoSLivelinessPolicy.AUTOMATIC,
)
POLICIES = {
    'Reliability Policy': QoSReliabilityPolicy,
    'Durability Policy': QoSDurabilityPolicy,
    'History Policy': QoSHistoryPolicy,
}


def test_a_layout_is_scaled_to_a_robot_that_is_much_smaller(tmp_path):
    file = LAYOUTS / 'walk.rviz'
    assert fit_layout(file, 0.62) == fit_layout(file, 0.27) == file
    small = fit_layout(file, 0.01)
    given, made = (yaml.safe_load(path.read_text()) for path in (file, small))
    views = [one['Visualization Manager']['Views']['Current'] for one in (given, made)]
    assert views[1]['Distance'] == pytest.approx(views[0]['Distance'] * 0.02)
    assert views[1]['Pitch'] == views[0]['Pitch']
    grids = [one['Visualization Manager']['Displays'][0] for one in (given, made)]
    assert grids[1]['Cell Size'] == pytest.approx(grids[0]['Cell Size'] * 0.02)
    # Nothing else differs: numbers of cells, colours, topics.
    lengths = [text.count(': ') for text in (file.read_text(), small.read_text())]
    assert lengths[0] == lengths[1]


def layout(task):
    text = (LAYOUTS / f'{task}.rviz').read_text(encoding='utf-8')
    return yaml.safe_load(text)['Visualization Manager']


def asked(topic):
    """Return the QoS that a display asks for."""
    given = {
        key.split()[0].lower(): kinds[topic[key].upper().replace(' ', '_')]
        for key, kinds in POLICIES.items()
    }
    return QoSProfile(depth=topic['Depth'], liveliness=QoSLivelinessPolicy.AUTOMATIC, **given)


def subscribed(manager):
    """Yield class, topic and QoS of every display that has one."""
    for display in manager['Displays']:
        for key in ('Topic', 'Description Topic'):
            if key in display:
                yield display['Class'], display[key]['Value'], asked(display[key])


def frames_of(description):
    """Return the frames that robot_state_publisher makes of a description, and its root."""
    document = ElementTree.fromstring(description)
    links = {link.get('name') for link in document.iterfind('link')}
    # Of a floating joint it publishes nothing: another node says where that is.
    joints = [j for j in document.iterfind('joint') if j.get('type') != 'floating']
    floating = {
        j.find('child').get('link')
        for j in document.iterfind('joint')
        if j.get('type') == 'floating'
    }
    return links, links - {joint.find('child').get('link') for joint in joints} | floating


def check(graph, manager, frames):
    """Check that the topics of a layout are published, and that its frames are in the tree."""
    views = manager['Views']['Current']
    fixed = manager['Global Options']['Fixed Frame']
    wanted = {fixed, views['Target Frame'].replace('<Fixed Frame>', fixed)}
    wanted |= {
        display['Reference Frame'].replace('<Fixed Frame>', fixed)
        for display in manager['Displays']
        if 'Reference Frame' in display
    }
    assert wanted <= frames, f'{wanted - frames} not in {sorted(frames)}'
    for kind, topic, qos in subscribed(manager):
        if kind not in SHOWN:
            assert qos_check_compatible(DESCRIPTION, qos)[0] == QoSCompatibility.OK
            continue
        heard = []
        graph.client.create_subscription(SHOWN[kind], topic, heard.append, qos)
        (offer,) = graph.until(lambda topic=topic: offers(graph, topic))
        verdict, reason = qos_check_compatible(offer.qos_profile, qos)
        assert verdict == QoSCompatibility.OK, f'{topic}: {reason}'
        (message,) = graph.until(lambda heard=heard: heard[-1:])
        headers = getattr(message, 'markers', [message])
        assert {one.header.frame_id for one in headers} <= frames, topic


def offers(graph, topic):
    return graph.client.get_publishers_info_by_topic(topic)


@pytest.mark.parametrize('name', ROBOTS)
def test_every_display_of_a_simulated_walk_has_topic_type_qos_and_frame(graph, name):
    robot = need_robot(name)
    # Free bodies on contact nodes need their physics; of the others, only names and frames count.
    graph.add(SimBridgeNode, robot=name, engine='' if name == 'tetraspine' else 'kinematic')
    graph.add(ControllerNode, robot=name)
    transforms = []
    graph.client.create_subscription(TFMessage, '/tf', transforms.append, 10)
    graph.until(lambda: transforms)
    parents = {one.child_frame_id: one.header.frame_id for one in transforms[-1].transforms}
    links, roots = frames_of(to_scene_urdf(robot))
    # The tree of the description hangs in that of the bridge.
    assert roots - {'odom'} <= set(parents)
    frames = links | set(parents) | set(parents.values())
    task = 'walk' if len(robot.roots) == 1 else 'tensegrity'
    for layouts in (task, 'replay'):
        check(graph, layout(layouts), frames)


@pytest.mark.parametrize('name', ['guroo', 'a1', 'hexapod'])
def test_every_display_of_a_gait_on_hardware_has_topic_type_qos_and_frame(graph, name):
    need_robot(name)
    node = graph.add(ControllerNode, robot=name)
    publisher = graph.client.create_publisher(JointState, '/joint_states', 10)
    publisher.publish(JointState(name=node.robot.joint_names))
    links, roots = frames_of(insert_base_link(control_urdf(node.robot, MOCK_TARGET), 'base_link'))
    assert roots == {'base_link'}
    for task in ('hardware', 'control'):
        check(graph, layout(task), links)
