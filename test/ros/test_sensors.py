# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lidars and a depth camera of a robot in a bridge: topics, rates, frames and readings."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip('rclpy')

from nav_msgs.msg import Odometry
from rclpy.qos import QoSReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from tf2_msgs.msg import TFMessage
import yaml

from gait_core.errors import ConfigurationError
from gait_core.terrains import load_terrain
from gait_core.testing.documents import table_rows
from gait_core.testing.skips import need_robot
from gait_core.trial import setup as trial_setup
from gait_core.trial.loop import run_trial
from gait_core.trial.spec import OK, TrialSpec
from gait_interfaces.srv import RunTrial, Step
from gait_ros.messages.conversions import to_spec
from gait_ros.nodes.qos import LATCHED_QOS
from gait_tools.cli import main
from sim_bridge.node import SimBridgeNode

need_robot('a1')
DOC = Path(__file__).parents[2] / 'doc' / 'sensors.md'
LAYOUT = Path(__file__).parents[2] / 'launch' / 'rviz' / 'sensors.rviz'
HILL = 'slope:angle_deg=10,start=0.6,extent=16'
TOPICS = {
    'lidar/scan': LaserScan,
    'ring/points': PointCloud2,
    'camera/depth/image_rect': Image,
    'camera/depth/camera_info': CameraInfo,
}


def bridge(graph, **parameters):
    return graph.add(
        SimBridgeNode, robot='a1', mode='lockstep', publish_clock=False, terrain=HILL, **parameters
    )


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def matrix(translation, rotation):
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_quat([getattr(rotation, k) for k in 'xyzw']).as_matrix()
    turned[:3, 3] = [getattr(translation, k) for k in 'xyz']
    return turned


def in_odom(points, frame, mounts, pose):
    """Return points (n, 3) of a sensor's frame in odom, through the frames of /tf_static."""
    chain = np.eye(4)
    while frame in mounts:
        transform = mounts[frame]
        chain = matrix(transform.transform.translation, transform.transform.rotation) @ chain
        frame = transform.header.frame_id
    assert frame == 'trunk'
    chain = matrix(pose.position, pose.orientation) @ chain
    return points @ chain[:3, :3].T + chain[:3, 3]


def of_scan(scan):
    angle = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
    ranges = np.array(scan.ranges)
    points = np.column_stack([ranges * np.cos(angle), ranges * np.sin(angle), 0.0 * angle])
    return points[np.isfinite(ranges)]


def of_cloud(cloud):
    points = np.frombuffer(cloud.data, '<f4').reshape(-1, 3).astype(float)
    return points[np.isfinite(points).all(axis=1)]


def of_image(image, info):
    depth = np.frombuffer(image.data, '<f4').reshape(image.height, image.width).astype(float)
    v, u = np.nonzero(np.isfinite(depth))
    fx, _, cx, _, fy, cy, *_ = info.k
    z = depth[v, u]
    return np.column_stack([(u - cx) * z / fx, (v - cy) * z / fy, z])


@pytest.fixture
def seen(graph):
    """Return the messages of each topic in two seconds of a robot that stands before a hill."""
    bridge(graph, sensors='all')
    found = {topic: [] for topic in (*TOPICS, 'odom', '/tf_static')}
    for topic, kind in TOPICS.items():
        # As navigation and RViz ask for it: whatever is lost is lost, or nothing may be.
        qos = 10 if topic.startswith('ring') else qos_profile_sensor_data
        graph.client.create_subscription(kind, topic, found[topic].append, qos)
    graph.client.create_subscription(Odometry, 'odom', found['odom'].append, 10)
    graph.client.create_subscription(
        TFMessage, '/tf_static', found['/tf_static'].append, LATCHED_QOS
    )
    graph.until(lambda: all(graph.client.count_publishers(topic) for topic in found))
    graph.until(lambda: found['/tf_static'])
    # Not all at once: a reader that keeps ten messages would lose some.
    for _ in range(10):
        assert graph.call(Step, '/sim_bridge/step', ticks=10).success
    graph.until(lambda: len(found['lidar/scan']) >= 20, fail=False)
    return found


def test_readings_come_at_their_rates_with_simulated_stamps_and_hit_the_ground(seen):
    assert [len(seen[topic]) for topic in TOPICS] == [20, 10, 10, 10]
    for topic, period in zip(TOPICS, (0.1, 0.2, 0.2, 0.2), strict=True):
        np.testing.assert_allclose(np.diff([*map(seconds, seen[topic])]), period, atol=1e-9)
    (static,) = seen['/tf_static']
    mounts = {transform.child_frame_id: transform for transform in static.transforms}
    assert set(mounts) == {'lidar_link', 'ring_link', 'camera_link', 'camera_optical_frame'}
    image, info = seen['camera/depth/image_rect'][-1], seen['camera/depth/camera_info'][-1]
    assert image.header == info.header and image.encoding == '32FC1'
    points = {
        'lidar_link': of_scan(seen['lidar/scan'][-1]),
        'ring_link': of_cloud(seen['ring/points'][-1]),
        'camera_optical_frame': of_image(image, info),
    }
    frames = [seen[topic][-1].header.frame_id for topic in TOPICS]
    assert frames == ['lidar_link', 'ring_link', *['camera_optical_frame'] * 2]
    pose = next(odom.pose.pose for odom in seen['odom'] if odom.header.stamp == image.header.stamp)
    hill = load_terrain(
        trial_setup.make_scene('a1', {'terrain': trial_setup.parse_terrain(HILL)}).terrain
    )
    for frame, found in points.items():
        x, y, z = in_odom(found, frame, mounts, pose).T
        # A scan at 0.4 m sees the slope from 2.3 m behind its foot on.
        assert len(x) > 40 and x.max() > (0.6 if frame.startswith('camera') else 2.0)
        # A reading errs by 10 mm along its ray: up to six deviations in the height.
        np.testing.assert_allclose(z, hill.height(x, y), atol=0.06)
        assert abs(np.mean(z - hill.height(x, y))) < 0.004


def test_the_page_lists_the_topics_that_they_are_published_on(graph):
    node = bridge(graph, sensors='all')
    kinds = {
        topic: f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'
        for topic, kind in TOPICS.items()
    }
    made = {publisher.topic_name.lstrip('/') for publisher in node.publishers}
    assert set(TOPICS) <= made
    listed = table_rows(DOC.read_text(encoding='utf-8'), 'Topic of the a1')
    assert {topic: kind for topic, kind, *_ in listed} == kinds


def test_the_layout_of_rviz_asks_for_no_more_than_is_offered_and_overrides_change_that(graph):
    changed = {'qos_overrides./lidar/scan.publisher.reliability': 'best_effort'}
    node = bridge(graph, sensors='all', **changed)
    offered = {publisher.topic_name: publisher.qos_profile for publisher in node.publishers}
    assert offered['/lidar/scan'].reliability == QoSReliabilityPolicy.BEST_EFFORT
    assert offered['/ring/points'].reliability == QoSReliabilityPolicy.RELIABLE
    layout = yaml.safe_load(LAYOUT.read_text(encoding='utf-8'))['Visualization Manager']
    asked = {
        display['Topic']['Value']: display['Topic']['Reliability Policy']
        for display in layout['Displays']
        if 'Topic' in display
    }
    assert {f'/{topic}' for topic in TOPICS if 'info' not in topic} <= asked.keys()
    assert {asked[f'/{topic}'] for topic in TOPICS if 'info' not in topic} == {'Best Effort'}


def test_none_but_the_sensors_that_are_named_are_there(graph):
    node = bridge(graph, sensors='lidar')
    made = {publisher.topic_name.lstrip('/') for publisher in node.publishers}
    assert made & TOPICS.keys() == {'lidar/scan'}


@pytest.mark.parametrize(
    ('sensors', 'words'), [('lidr', "did you mean 'lidar'"), ('lidar,x', "unknown sensor 'x'")]
)
def test_a_sensor_that_the_robot_lacks_is_named(graph, sensors, words):
    with pytest.raises(ConfigurationError, match=words):
        bridge(graph, sensors=sensors)


def test_an_engine_without_rays_says_so(graph, box):
    with pytest.raises(ConfigurationError, match='has no range sensors'):
        graph.add(SimBridgeNode, robot=box, mode='lockstep', publish_clock=False, sensors='lidar')


def test_a_trial_that_is_looked_at_is_the_same_trial(graph):
    graph.add(SimBridgeNode, mode='lockstep', publish_clock=False, sensors='lidar')
    scene = trial_setup.make_scene('a1', {'terrain': trial_setup.parse_terrain(HILL)})
    spec = TrialSpec(scene=scene, controller='hold', duration=0.5)
    scans = []
    graph.client.create_subscription(LaserScan, 'lidar/scan', scans.append, 10)
    hashes = set()
    # In the first trial the publisher is made, and may not be found before its end.
    for number in range(2):
        answer = graph.call(
            RunTrial, '/sim_bridge/run_trial', trial_id=f't{number}', spec=to_spec(spec)
        )
        hashes.add(answer.result.trial_hash)
        graph.until(lambda: graph.client.count_publishers('lidar/scan'))
    graph.until(lambda: len(scans) >= 5)
    assert hashes == {run_trial(spec).trial_hash}


def test_the_command_of_the_page_works(capfd):
    (line,) = [
        line for line in DOC.read_text(encoding='utf-8').splitlines() if line.startswith('gait ')
    ]
    assert main([*line.split()[1:], '--json']) == 0
    assert json.loads(capfd.readouterr().out)['status'] == OK
    # In one process nobody could listen.
    assert main(['walk', 'a1', '--sensors', 'lidar']) == 2
    assert '--sensors needs --ros' in capfd.readouterr().err
    assert main(['walk', 'a1', '--ros', '--sensors', 'lidr']) == 2
    assert "did you mean 'lidar'" in capfd.readouterr().err
