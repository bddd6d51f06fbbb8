# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The open-ended simulation follows targets and trajectories and holds where they end."""

import tracemalloc

import numpy as np
import pytest

from gait_core.errors import BadCommand
from gait_core.motion.targets import JointTargets
from gait_core.motion.trajectory import Trajectory
from gait_core.testing.doubles import KinematicEngine, register_temporarily
from gait_core.trial.scene import Scene
from sim_bridge.live import RESET_DEAD_TIME, LiveSimulation

NAME = 'leg0_joint0'


@pytest.fixture
def live():
    with register_temporarily('engines', kinematic=KinematicEngine):
        yield LiveSimulation(Scene(robot='legged_box', engine='kinematic'), seed=0)


def position(live, name=NAME):
    index = live.observation.joint_names.index(name)
    return float(live.observation.joint_positions[index])


def target(live, field='position', name=NAME):
    index = live.robot.target_names.index(name)
    return float(getattr(live.applied, field)[-1, index])


def ramp(**fields):
    given = {'position': np.array([[0.5], [0.3]]), **fields}
    return Trajectory(names=(NAME,), times=np.array([0.1, 0.2]), **given)


def test_without_targets_every_joint_holds_its_initial_position(live):
    for _ in range(10):
        live.step()
    np.testing.assert_array_equal(live.applied.position[-1], live.robot.stance)
    assert live.tick == 10 and not live.is_commanded


def test_a_trajectory_is_followed_through_its_points_and_held_at_its_end(live):
    live.follow(ramp())
    start = live.robot.stance[0]
    followed = []
    for _ in range(15):
        live.step()
        followed.append(target(live))
    times = 0.02 * (np.arange(15) + 1)
    expected = np.interp(times, [0.0, 0.1, 0.2], [start, 0.5, 0.3])
    np.testing.assert_allclose(followed, expected, atol=1e-12)
    assert followed[4] == 0.5 and followed[-1] == 0.3


def test_a_single_point_one_period_ahead_is_applied_at_once_and_exactly(live):
    live.follow(Trajectory(names=(NAME,), times=np.array([0.02]), position=np.array([[0.47]])))
    live.step()
    assert target(live) == 0.47


def test_the_points_of_one_period_are_its_sub_samples(live):
    times = 0.02 * np.arange(1, 6) / 5
    rows = np.array([[0.41], [0.43], [0.46], [0.44], [0.42]])
    live.follow(Trajectory(names=(NAME,), times=times, position=rows))
    live.step()
    index = live.robot.target_names.index(NAME)
    np.testing.assert_array_equal(live.applied.position[:, index], rows[:, 0])
    # Seven do not divide the 20 physics steps of a period: only where it ends counts.
    times = 0.02 * np.arange(1, 8) / 7
    live.follow(Trajectory(names=(NAME,), times=times, position=np.linspace(0.4, 0.5, 7)[:, None]))
    live.step()
    assert live.applied.position.shape[0] == 1 and target(live) == 0.5


def test_feed_forward_ends_with_the_trajectory(live):
    live.follow(ramp(velocity=np.array([[1.0], [-1.0]])))
    seen = []
    for _ in range(12):
        live.step()
        seen.append(target(live, 'velocity'))
    assert seen[4] == 1.0 and seen[9] == -1.0
    assert seen[10:] == [0.0, 0.0]


def test_a_trajectory_that_starts_later_leaves_the_old_targets_until_then(live):
    live.command(JointTargets(names=(NAME,), position=np.array([0.45])))
    live.step()
    live.follow(ramp(), delay=0.04)
    seen = []
    for _ in range(4):
        live.step()
        seen.append(target(live))
    np.testing.assert_allclose(seen, [0.45, 0.45, 0.46, 0.47], atol=1e-12)


def test_a_new_trajectory_begins_where_the_old_one_is(live):
    live.follow(ramp())
    for _ in range(3):
        live.step()
    there = target(live)
    live.follow(ramp(position=np.array([[1.0], [1.0]])))
    live.step()
    assert target(live) == pytest.approx(there + 0.2 * (1.0 - there))


def test_a_reset_under_commands_ignores_them_for_a_tenth_of_a_second(live):
    live.command(JointTargets(names=(NAME,), position=np.array([0.9])))
    live.step()
    live = LiveSimulation(live.scene, live.seed, RESET_DEAD_TIME)
    for tick in range(8):
        live.command(JointTargets(names=(NAME,), position=np.array([0.9])))
        live.step()
        assert (position(live) == live.robot.stance[0]) == (tick < 5)


@pytest.mark.parametrize(
    ('fields', 'words'),
    [
        ({'times': np.zeros(0)}, 'no points'),
        ({'times': np.array([0.2, 0.2])}, 'does not increase'),
        ({'times': np.array([-0.1, 0.2])}, 'negative'),
        ({'times': np.array([0.1, np.nan])}, 'not finite'),
        ({'position': None}, 'neither positions, velocities nor efforts'),
        ({'position': np.array([[np.nan], [0.0]])}, 'not finite'),
        ({'names': (NAME, NAME), 'position': np.zeros((2, 2))}, 'twice'),
        ({'position': np.zeros((2, 3))}, 'expected'),
        ({'position': np.zeros((1, 1))}, 'have 1 rows, expected 2'),
    ],
)
def test_a_bad_trajectory_is_refused_by_what_is_wrong(fields, words):
    given = {
        'names': (NAME,),
        'times': np.array([0.1, 0.2]),
        'position': np.array([[0.5], [0.3]]),
        **fields,
    }
    with pytest.raises(BadCommand, match=words):
        Trajectory(**given)


def test_a_stream_of_changing_unknown_names_leaves_no_trace(live):
    def messages(first, count):
        for number in range(first, first + count):
            names = (*(f'{number}_{i}' for i in range(100)), NAME)
            values = np.full((1, len(names)), 0.3)
            live.command(JointTargets(names=names, position=values))
            live.follow(Trajectory(names=names, times=np.array([0.1]), position=values))
            live.step()

    messages(0, 100)
    tracemalloc.start()
    try:
        messages(100, 500)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 50000 names of 8 characters would be 3 MB.
    assert grown < 300_000 and len(live.unknown_joints) == 20
    assert target(live) != live.robot.stance[0]


def test_what_names_no_joint_of_the_robot_leaves_the_trajectory_that_is_followed(live):
    live.follow(ramp())
    live.command(JointTargets(names=('tail',), position=np.array([0.3])))
    live.follow(Trajectory(names=('tail',), times=np.array([0.1]), position=np.array([[0.3]])))
    for _ in range(11):
        live.step()
    assert target(live) == pytest.approx(0.3) and live.unknown_joints == {'tail'}


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
def test_targets_that_no_joint_has_are_refused_and_the_last_hold(live, field):
    far = {field: np.array([[1e300]])}
    with pytest.raises(BadCommand, match=f"{field} of joint '{NAME}' is beyond 1e"):
        live.command(JointTargets(names=(NAME,), **far))
    with pytest.raises(BadCommand, match='check its unit'):
        live.follow(Trajectory(names=(NAME,), times=np.array([0.1]), **far))
    live.step()
    assert target(live) == live.robot.stance[0]
