"""Exports are read back by their own libraries, to the last bit."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
import yaml

from gait_core.errors import ConfigurationError
from gait_core.scene import InitialState
from gait_core.testing import KinematicEngine, WaveController, registered, spec_for_test
from gait_core.trial import run_loop
from gait_evolver.export import _Messages, write_bag, write_trajectory


@pytest.fixture(scope='module')
def rollout():
    with registered('controllers', wave=WaveController):
        return run_loop(spec_for_test(duration=1.0), KinematicEngine()).rollout()


@pytest.fixture(scope='module')
def bag(rollout, tmp_path_factory):
    folder = tmp_path_factory.mktemp('bags') / 'walk'
    write_bag(folder, rollout)
    return folder


def messages(folder):
    """Return (topic, log time, message) of a bag, as rosbags reads it."""
    store = get_typestore(Stores.ROS2_JAZZY)
    with Reader(folder) as reader:
        return [
            (connection.topic, stamp, store.deserialize_cdr(raw, connection.msgtype))
            for connection, stamp, raw in reader.messages()
        ]


def test_the_trajectory_is_the_targets_to_the_last_bit(rollout, tmp_path):
    write_trajectory(tmp_path / 'walk.csv', rollout)
    header, *rows = csv.reader((tmp_path / 'walk.csv').read_text().splitlines())
    assert tuple(header) == ('time_s', *rollout.robot.target_names)
    found = np.array(rows, dtype=float)
    np.testing.assert_array_equal(found[:, 1:], rollout.target_positions)
    np.testing.assert_array_equal(found[:, 0], rollout.time[:-1])


def test_the_bag_is_a_directory_of_mcap(bag):
    facts = yaml.safe_load((bag / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert facts['storage_identifier'] == 'mcap'
    assert {path.suffix for path in bag.iterdir()} == {'.yaml', '.mcap'}


def test_the_bag_holds_every_tick(bag, rollout):
    found = messages(bag)
    by_topic = {}
    for topic, stamp, message in found:
        by_topic.setdefault(topic, []).append((stamp, message))
    count = rollout.ticks + 1
    assert {topic: len(items) for topic, items in by_topic.items() if topic != '/zmp'} == {
        '/clock': count,
        '/joint_states': count,
        '/odom': count,
        '/tf': count,
        '/joint_trajectory': rollout.ticks,
    }
    states = [message for _, message in by_topic['/joint_states']]
    np.testing.assert_array_equal([m.position for m in states], rollout.joint_positions)
    np.testing.assert_array_equal([m.velocity for m in states], rollout.joint_velocities)
    targets = [message for _, message in by_topic['/joint_trajectory']]
    np.testing.assert_array_equal(
        [m.points[0].positions for m in targets], rollout.target_positions
    )
    where = [m.pose.pose.position for _, m in by_topic['/odom']]
    np.testing.assert_array_equal([p.x for p in where], rollout.body_poses[:, 0, 0])


def test_no_stamp_is_zero_and_the_bag_lasts_as_long_as_the_trial(bag, rollout):
    found = messages(bag)
    stamps = [stamp for _, stamp, _ in found]
    assert stamps == sorted(stamps) and stamps[0] > 0
    assert (stamps[-1] - stamps[0]) * 1e-9 == pytest.approx(rollout.ticks * rollout.dt)
    for topic, stamp, message in found:
        if hasattr(message, 'header') and topic != '/joint_trajectory':
            at = message.header.stamp
            assert at.sec * 10**9 + at.nanosec == stamp
        if topic == '/joint_trajectory':
            assert message.points[0].time_from_start.nanosec == round(rollout.dt * 1e9)


def test_the_twist_is_in_the_frame_of_the_base():
    spec = spec_for_test(duration=0.2)
    turned = replace(spec, scene=replace(spec.scene, initial=InitialState(yaw=np.pi / 2.0)))
    with registered('controllers', wave=WaveController):
        rollout = run_loop(turned, KinematicEngine()).rollout()
    types = get_typestore(Stores.ROS2_JAZZY).types
    fast = int(np.argmax(rollout.body_twists[:, 0, 1]))
    _, _, _, message = _Messages(types, rollout)._odometry(fast, 1)
    # It moves along y of the world, which is ahead for a robot that is turned to the left.
    assert rollout.body_twists[fast, 0, 1] > 0.01
    assert message.twist.twist.linear.x == pytest.approx(
        np.linalg.norm(rollout.body_twists[fast, 0, :2]), rel=0.05
    )


def test_a_folder_that_exists_is_refused_in_one_line(bag, rollout, tmp_path):
    with pytest.raises(ConfigurationError, match='walk') as caught:
        write_bag(bag, rollout)
    assert '\n' not in str(caught.value)
    with pytest.raises(ConfigurationError, match='No such file'):
        write_trajectory(tmp_path / 'none' / 'walk.csv', rollout)
