# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials in the formats of other tools are read back by their own libraries, to the last bit."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, Writer
import yaml

from gait_core.errors import ConfigurationError
from gait_core.motion.state_tape import StateTape
from gait_core.motion.targets import AppliedTape, JointTargets
from gait_core.testing.doubles import (
    KinematicEngine,
    WaveController,
    legged_box,
    register_temporarily,
    spec_for_test,
)
from gait_core.testing.free_bodies import free_box
from gait_core.trial.hash import TrialHash
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import InitialState, SensorModel
from gait_tools.bags.controller_replay import replay_through_controller
from gait_tools.bags.messages import OBSERVATION_TOPIC, trial_messages
from gait_tools.bags.read import read_bag
from gait_tools.bags.types import load_typestore
from gait_tools.bags.write import check_bag, write_bag
from gait_tools.commands.replay import write_targets_csv


class Feeling(WaveController):
    """Waves offset by the observation, so that the targets depend on every reading."""

    needs = frozenset({'joint_positions', 'body_poses'})

    def step(self, dt, command, observation):
        wave = super().step(dt, command, observation)
        felt = 1e-3 * (observation.joint_positions + observation.body_poses[0, 2])
        position = np.vstack([wave.position[-1] + felt, wave.position[-1] - felt])
        return JointTargets(names=wave.names, position=position)


@pytest.fixture(autouse=True, scope='module')
def known():
    with register_temporarily('controllers', wave=WaveController, feeling=Feeling):
        yield


@pytest.fixture(scope='module')
def loop():
    return run_loop(spec_for_test(duration=1.0), KinematicEngine())


@pytest.fixture(scope='module')
def rollout(loop):
    return loop.rollout()


@pytest.fixture(scope='module')
def bag(loop, rollout, tmp_path_factory):
    folder = tmp_path_factory.mktemp('bags') / 'walk'
    write_bag(folder, rollout, loop.result())
    return folder


def messages(folder):
    """Return (topic, log time, message) of a bag, as rosbags reads it."""
    store = load_typestore()
    with Reader(folder) as reader:
        return [
            (connection.topic, stamp, store.deserialize_cdr(raw, connection.msgtype))
            for connection, stamp, raw in reader.messages()
        ]


def test_the_trajectory_is_the_targets_to_the_last_bit(rollout, tmp_path):
    write_targets_csv(tmp_path / 'walk.csv', rollout)
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
        '/foot_contacts': count,
        '/imu/data': count,
        '/stability': count,
        '/energy': count,
        '/joint_trajectory': rollout.ticks,
        OBSERVATION_TOPIC: rollout.ticks,
        '/robot_description': 1,
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
    rollout = run_loop(turned, KinematicEngine()).rollout()
    fast = int(np.argmax(rollout.body_twists[:, 0, 1]))
    message = [sent for topic, _, sent in trial_messages(rollout) if topic == '/odom'][fast]
    # It moves along y of the world, which is ahead for a robot that is turned to the left.
    assert rollout.body_twists[fast, 0, 1] > 0.01
    assert message.twist.twist.linear.x == pytest.approx(
        np.linalg.norm(rollout.body_twists[fast, 0, :2]), rel=0.05
    )


def test_a_folder_that_is_taken_is_refused_in_one_line(bag, loop, rollout, tmp_path):
    with pytest.raises(
        ConfigurationError, match="walk' exists; nearest valid: '.*walk_2'"
    ) as caught:
        write_bag(bag, rollout, loop.result())
    assert '\n' not in str(caught.value)
    (tmp_path / 'file').write_text('')
    with pytest.raises(ConfigurationError, match='is not a writable folder'):
        check_bag(tmp_path / 'file' / 'bag')
    with pytest.raises(ConfigurationError, match='No such file'):
        write_targets_csv(tmp_path / 'none' / 'walk.csv', rollout)


def test_what_ros2_bag_reads_of_the_metadata(bag, rollout):
    facts = yaml.safe_load((bag / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    # The keys that rosbag2 of Jazzy asks of version 9, and names that it looks for beside them.
    assert facts['version'] == 9
    asked = 'duration starting_time message_count topics_with_message_count files custom_data'
    assert {*asked.split(), 'relative_file_paths', 'compression_mode', 'ros_distro'} <= set(facts)
    assert facts['relative_file_paths'] == [f'{bag.name}.mcap'] == [facts['files'][0]['path']]
    assert facts['starting_time']['nanoseconds_since_epoch'] > 0
    assert facts['duration']['nanoseconds'] == round(rollout.ticks * rollout.dt * 1e9)
    topics = {one['topic_metadata']['name']: one for one in facts['topics_with_message_count']}
    assert facts['message_count'] == sum(one['message_count'] for one in topics.values())
    for name, one in topics.items():
        topic = one['topic_metadata']
        assert topic['serialization_format'] == 'cdr'
        assert topic['type_description_hash'].startswith('RIHS01_')
        (offered,) = topic['offered_qos_profiles']
        assert offered['reliability'] == 'reliable'
        latched = name == '/robot_description'
        assert offered['durability'] == ('transient_local' if latched else 'volatile')


def test_a_full_disk_leaves_nothing_of_a_bag(loop, rollout, tmp_path, monkeypatch):
    def full(self, *arguments):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(Writer, 'write', full)
    with pytest.raises(ConfigurationError, match='No space'):
        write_bag(tmp_path / 'bag', rollout, loop.result())
    assert not list(tmp_path.iterdir())


# Played through a controller


def recorded(folder, controller='feeling', **changes):
    spec = replace(spec_for_test(controller, duration=0.4), **changes)
    loop = run_loop(spec, KinematicEngine())
    write_bag(folder, loop.rollout(), loop.result(), {'generation': 3})
    return loop


def test_a_bag_holds_every_bit_that_the_trial_was_hashed_of(tmp_path):
    loop = recorded(tmp_path / 'bag')
    trial = read_bag(tmp_path / 'bag')
    assert trial.about == {'generation': 3} and trial.result.trial_hash == loop.result().trial_hash
    digest = TrialHash()
    digest.add_periods(
        StateTape.from_states([moment.observation for moment in trial.periods]),
        AppliedTape.from_periods([moment.applied for moment in trial.periods]),
    )
    digest.add_end(loop.rollout().states[-1:], loop.status)
    assert trial.periods[0].applied.position.shape[0] == 2
    assert digest.hexdigest() == loop.result().trial_hash


def test_a_controller_answers_to_a_bag_as_it_did(tmp_path):
    noisy = SensorModel(joint_position_noise=0.01, delay_ticks=2)
    scene = replace(spec_for_test().scene, sensors=noisy)
    recorded(tmp_path / 'bag', scene=scene)
    found = replay_through_controller(read_bag(tmp_path / 'bag'), legged_box())
    assert (found.periods, found.differing, found.first, found.is_equal) == (20, 0, None, True)


def test_another_answer_is_found_and_measured(tmp_path):
    recorded(tmp_path / 'bag')
    trial = read_bag(tmp_path / 'bag')
    moments = list(trial.periods)
    seen = moments[7].observation
    off = seen.joint_positions.copy()
    off[2] += 0.5
    moments[7] = replace(moments[7], observation=replace(seen, joint_positions=off))
    found = replay_through_controller(replace(trial, periods=tuple(moments)), legged_box())
    assert (found.differing, found.first) == (1, 7)
    assert found.largest == pytest.approx(5e-4) and found.target == seen.joint_names[2]


def test_bags_of_others_are_refused_in_one_line(bag, tmp_path):
    for content, message in (
        ('{}', 'is not that of a rosbag2 bag'),
        ('rosbag2_bagfile_information: {custom_data: }', 'holds no trial of this suite'),
        ('rosbag2_bagfile_information: {custom_data: {gait.format: "0"}}', 'trial format 0'),
    ):
        (tmp_path / 'metadata.yaml').write_text(content)
        with pytest.raises(ConfigurationError, match=message) as caught:
            read_bag(tmp_path)
        assert '\n' not in str(caught.value)


def test_the_bag_of_a_robot_without_motors_is_read_back(tmp_path):
    robot = replace(free_box(), legs=())
    loop = run_loop(spec_for_test('hold', duration=0.1), KinematicEngine(robot))
    write_bag(tmp_path / 'bag', loop.rollout(), loop.result())
    trial = read_bag(tmp_path / 'bag')
    assert len(trial.periods) == loop.rollout().ticks
    assert {period.names for period in trial.periods} == {()}
    assert replay_through_controller(trial, robot).is_equal
