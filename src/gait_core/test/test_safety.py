# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The safety layer: soft start, clamps, watchdog, falls and the emergency stop."""

import dataclasses
import math

import numpy as np
import pytest

from gait_core.errors import BadCommand, NotInstalled
from gait_core.motion.observation import Imu, Observation
from gait_core.motion.targets import JointTargets
from gait_core.robot.load import load_robot, robot_names
from gait_core.robot.model import FallCriterion
from gait_core.safety.layer import (
    FALLEN,
    HOLD,
    HOLDING,
    RESET,
    RUNNING,
    STARTING,
    STEP,
    STOPPED,
    WAIT,
    WAITING,
    SafetyLayer,
)
from gait_core.safety.parameters import SafetyParams
from gait_core.testing.doubles import legged_box

DT = 0.02


def seen(robot, positions=None, roll=None):
    imu = None
    if roll is not None:
        imu = Imu(
            orientation=np.array([math.sin(roll / 2), 0.0, 0.0, math.cos(roll / 2)]),
            angular_velocity=np.zeros(3),
            linear_acceleration=np.array([0.0, 0.0, 9.81]),
        )
    n = len(robot.joint_names)
    return Observation(
        tick=0,
        time=0.0,
        joint_names=robot.joint_names,
        joint_positions=np.zeros(n) if positions is None else positions,
        imu=imu,
    )


def at(robot, value, **more):
    n = len(robot.target_names)
    return JointTargets(names=robot.target_names, position=np.full(n, float(value)), **more)


def play(layer, observation, wanted, ticks, age=0.0):
    """Return the positions put out, (ticks, m), and the index of the first running tick."""
    rows = []
    for _ in range(ticks):
        action = layer.next_action(DT, observation, age)
        out = layer.output(DT, wanted if action in (STEP, RESET) else None)
        rows.append(out.position[-1])
    return np.array(rows)


@pytest.fixture
def robot():
    return legged_box()


def running(robot, params=None, **more):
    layer = SafetyLayer(robot, params or SafetyParams())
    play(layer, seen(robot, **more), at(robot, 0.0), 3)
    assert layer.mode == RUNNING
    return layer


def drawn_pose(robot, rng):
    """Return a pose anywhere within the limits; a joint without limits within half a turn."""
    lower = np.where(np.isfinite(robot.lower), robot.lower, -math.pi)
    upper = np.where(np.isfinite(robot.upper), robot.upper, math.pi)
    return lower + rng.random(len(lower)) * (upper - lower)


@pytest.mark.parametrize('name', robot_names())
def test_activation_starts_at_the_measured_pose_and_keeps_every_speed_limit(name):
    try:
        robot = load_robot(name)
    except NotInstalled as error:
        pytest.skip(str(error))
    n, rng = len(robot.joint_names), np.random.default_rng(1)
    params = SafetyParams(start_speed=2.0)
    limit = np.minimum(robot.velocity_limit, params.start_speed)
    wanted = JointTargets(names=robot.target_names, position=robot.stance)
    for _ in range(20):
        pose = drawn_pose(robot, rng)
        layer = SafetyLayer(robot, params)
        way = np.abs(pose - robot.joint_stance) / limit
        ticks = int(1.5 * way.max(initial=0.0) / DT) + 3
        rows = play(layer, seen(robot, pose), wanted, ticks)[:, :n]
        assert np.abs(rows[0] - pose).max(initial=0.0) <= 0.02
        speed = np.abs(np.diff(rows, axis=0)) / DT
        assert (speed <= limit * (1.0 + 1e-9)).all()
        assert layer.mode == RUNNING
        np.testing.assert_allclose(
            rows[-1], np.clip(robot.joint_stance, robot.lower, robot.upper), atol=1e-12
        )


def test_the_controller_waits_at_its_first_targets_until_the_robot_is_there(robot):
    layer = SafetyLayer(robot, SafetyParams())
    far = seen(robot, np.full(8, 0.5))
    actions = []
    while layer.mode != RUNNING:
        actions.append(layer.next_action(DT, far, 0.0))
        layer.output(DT, at(robot, 0.0) if actions[-1] == RESET else None)
    assert actions[0] == RESET and set(actions[1:]) == {HOLD}
    # 0.5 rad at a peak of 1 rad/s along u^2 (3 - 2u) take 0.75 s.
    assert len(actions) == pytest.approx(0.75 / DT, abs=2)
    assert layer.next_action(DT, far, 0.0) == STEP


def test_in_motion_targets_within_the_limits_pass_unchanged(robot):
    layer = running(robot)
    wanted = at(robot, 0.01, velocity=np.full(8, 0.5), effort=np.full(8, 0.1))
    assert layer.next_action(DT, seen(robot), 0.0) == STEP
    out = layer.output(DT, wanted)
    for field in ('position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(out, field), getattr(wanted, field))
    assert not any(count.any() for count in layer.clamped.values())


def test_limits_clamp_and_are_counted_by_joint(robot):
    layer = running(robot)
    speed, upper = robot.velocity_limit[0], robot.upper[0]
    wild = {'leg0_joint0': 100.0}
    targets = JointTargets(
        names=tuple(wild),
        position=np.array([100.0]),
        velocity=np.array([1e3]),
        effort=np.array([1e4]),
    )
    ticks = int(upper / (speed * DT)) + 2
    rows, velocities = [], []
    for _ in range(ticks):
        layer.next_action(DT, seen(robot), 0.0)
        out = layer.output(DT, targets)
        rows.append(out.position[-1])
        assert out.effort[-1, 0] == robot.effort_limit[0]
        velocities.append(out.velocity[-1, 0])
    rows = np.array(rows)
    # At the speed of the joint on the way, and without any where it must not go on.
    np.testing.assert_allclose(velocities, np.diff(rows[:, 0], prepend=0.0) / DT)
    assert velocities[0] == pytest.approx(speed) and velocities[-1] == 0.0
    assert np.abs(np.diff(rows, axis=0)).max() <= speed * DT * (1 + 1e-9)
    assert rows[-1, 0] == upper and (rows[:, 1:] == 0.0).all()
    for name in ('position', 'velocity', 'effort'):
        assert layer.clamped[name][0] == ticks and layer.clamped[name][1:].sum() == 0
    assert 0 < layer.clamped['speed'][0] < ticks


def test_sub_samples_share_the_speed_of_their_period(robot):
    layer = running(robot)
    layer.next_action(DT, seen(robot), 0.0)
    names, step = robot.target_names, robot.velocity_limit[0] * DT / 4
    out = layer.output(DT, JointTargets(names=names, position=np.full((4, 8), 1.0)))
    np.testing.assert_allclose(out.position[:, 0], step * np.arange(1, 5))


def test_half_the_speed_where_the_share_says_so(robot):
    layer = running(robot, SafetyParams(speed_share=0.5))
    layer.next_action(DT, seen(robot), 0.0)
    out = layer.output(DT, at(robot, 1.0))
    np.testing.assert_allclose(out.position[0], 0.5 * robot.velocity_limit * DT)


def test_nothing_moves_before_every_joint_was_measured(robot):
    layer = SafetyLayer(robot, SafetyParams(state_timeout=0.0))
    assert layer.next_action(DT, seen(robot), math.inf) == WAIT
    assert layer.output(DT, None) is None and layer.mode == WAITING
    assert layer.next_action(DT, seen(robot), 1e3) == RESET


def test_stale_states_hold_the_last_targets_and_their_return_is_a_soft_start(robot):
    layer = running(robot, SafetyParams(state_timeout=0.5))
    layer.next_action(DT, seen(robot), 0.0)
    layer.output(DT, at(robot, 0.1, velocity=np.full(8, 1.0)))
    for age in (0.51, 0.53):
        assert layer.next_action(DT, seen(robot), age) == HOLD
        held = layer.output(DT, None)
        assert (held.position == 0.1).all() and (held.velocity == 0.0).all()
    assert layer.mode == HOLDING and layer.holds == 1 and '0.53 s old' in layer.reason
    moved = seen(robot, np.full(8, -0.2))
    assert layer.next_action(DT, moved, 0.01) == STEP
    assert (layer.output(DT, at(robot, 0.1)).position == -0.2).all()
    assert layer.mode == STARTING


def test_refused_targets_hold_the_last_good_ones(robot):
    layer = running(robot)
    layer.next_action(DT, seen(robot), 0.0)
    layer.output(DT, at(robot, 0.1, velocity=np.full(8, 1.0)))
    layer.next_action(DT, seen(robot), 0.0)
    with pytest.raises(BadCommand):
        at(robot, float('nan'))
    layer.count_refusal()
    out = layer.output(DT, None)
    assert (out.position == 0.1).all() and (out.velocity == 0.0).all()
    assert layer.refusals == 1 and layer.mode == RUNNING


def test_a_fall_takes_time_to_be_one_and_moves_slowly_into_the_fall_pose(robot):
    robot = dataclasses.replace(robot, fall=FallCriterion(pose={'leg0_joint1': 0.6}))
    params = SafetyParams(fall_time=0.1)
    layer = running(robot, params, roll=0.1)
    play(layer, seen(robot, roll=1.1), at(robot, 0.0), 4)
    assert layer.mode == RUNNING
    play(layer, seen(robot, roll=0.1), at(robot, 0.0), 4)
    rows = play(layer, seen(robot, roll=1.1), at(robot, 0.0), 60)
    assert layer.mode == FALLEN and layer.falls == 1 and '1.10 rad' in layer.reason
    column = robot.target_names.index('leg0_joint1')
    assert rows[-1, column] == pytest.approx(0.6) and not np.delete(rows, column, 1).any()
    assert np.abs(np.diff(rows, axis=0)).max() <= params.start_speed * DT
    assert layer.next_action(DT, seen(robot, roll=0.0), 0.0) == HOLD
    assert layer.resume() == ''
    assert layer.next_action(DT, seen(robot, roll=0.0), 0.0) == RESET


def test_where_it_may_recover_a_robot_that_stands_again_starts_anew(robot):
    layer = running(robot, SafetyParams(recover=True), roll=0.0)
    play(layer, seen(robot, roll=1.5), at(robot, 0.0), 10)
    assert layer.mode == FALLEN
    play(layer, seen(robot, roll=0.0), at(robot, 0.0), 60)
    assert layer.mode == RUNNING


@pytest.mark.parametrize('action', ['hold', 'ignore'])
def test_a_fall_may_be_held_or_ignored(robot, action):
    robot = dataclasses.replace(robot, fall=FallCriterion(pose={'leg0_joint1': 0.6}))
    layer = running(robot, SafetyParams(fall_action=action), roll=0.0)
    rows = play(layer, seen(robot, roll=1.5), at(robot, 0.01), 10)
    assert layer.mode == (FALLEN if action == 'hold' else RUNNING)
    assert rows[-1, 0] == 0.01 and (rows <= 0.01).all()


def test_an_emergency_stop_holds_until_it_is_ended(robot):
    layer = running(robot)
    layer.stop('on request')
    rows = play(layer, seen(robot, roll=2.0), at(robot, 1.0), 5, age=9.0)
    assert layer.mode == STOPPED and layer.stops == 1 and 'on request' in layer.reason
    assert (rows == 0.0).all()
    assert layer.resume() == ''
    assert layer.mode == WAITING and 'nothing to resume' in layer.resume()


def test_a_stop_before_the_first_state_gives_no_targets(robot):
    layer = SafetyLayer(robot, SafetyParams())
    layer.stop('on request')
    assert layer.next_action(DT, seen(robot), 0.0) == HOLD
    assert layer.output(DT, None) is None


def test_a_pose_beyond_the_limits_returns_into_them_at_limited_speed(robot):
    layer = SafetyLayer(robot, SafetyParams())
    out_of_range = robot.upper + 0.2
    rows = play(layer, seen(robot, out_of_range), at(robot, 10.0), 40)
    np.testing.assert_array_equal(rows[0], out_of_range)
    np.testing.assert_allclose(rows[-1], robot.upper)
    assert np.abs(np.diff(rows, axis=0)).max() <= DT


def test_velocities_alone_begin_slowly_are_clamped_and_stand_still_on_hold(robot):
    layer = SafetyLayer(robot, SafetyParams(start_speed=0.5))
    wanted = JointTargets(names=robot.target_names, velocity=np.full(8, 1e3))
    given = []
    for _ in range(100):
        action = layer.next_action(DT, seen(robot, np.full(8, 0.3)), 0.0)
        out = layer.output(DT, wanted if action in (STEP, RESET) else None)
        assert out.position is None
        given.append(out.velocity[-1])
    assert all((velocity <= 0.5).all() for velocity in given[:20])
    assert (given[-1] == robot.velocity_limit).all()
    layer.next_action(DT, seen(robot), 1.0)
    assert (layer.output(DT, None).velocity == 0.0).all()


@pytest.mark.parametrize('late', [0, 1, 2])
@pytest.mark.parametrize('quantity', ['', 'velocity'])
def test_velocities_stop_at_the_limits_of_position(robot, quantity, late):
    """The robot follows its targets; the layer observes it some periods late."""
    layer = SafetyLayer(robot, SafetyParams(), quantity)
    more = {'position': np.full(8, 0.2)} if quantity else {}
    pose, known = np.full(8, 0.2), [np.full(8, 0.2)] * (late + 1)
    for sign in (1.0, -1.0):
        wanted = JointTargets(names=robot.target_names, velocity=np.full(8, 1e3 * sign), **more)
        for _ in range(100):
            action = layer.next_action(DT, seen(robot, known[-1 - late]), late * DT)
            out = layer.output(DT, wanted if action in (STEP, RESET) else None)
            pose = pose + DT * out.velocity[-1]
            known.append(pose)
            assert (robot.lower - 1e-9 <= pose).all() and (pose <= robot.upper + 1e-9).all()
        end = robot.upper if sign > 0.0 else robot.lower
        np.testing.assert_allclose(pose, end, atol=0.01)


def test_efforts_do_not_push_a_joint_beyond_its_limits(robot):
    layer = SafetyLayer(robot, SafetyParams())
    wanted = JointTargets(names=robot.target_names, effort=np.full(8, 0.5))
    at_limit = np.where(np.arange(8) < 4, robot.upper, 0.0)
    for _ in range(60):
        action = layer.next_action(DT, seen(robot, at_limit), 0.0)
        out = layer.output(DT, wanted if action in (STEP, RESET) else None)
    np.testing.assert_array_equal(out.effort[-1], np.where(np.arange(8) < 4, 0.0, 0.5))


def test_a_share_of_the_speed_bounds_velocities_as_it_bounds_positions(robot):
    layer = running(robot, SafetyParams(speed_share=0.3))
    layer.next_action(DT, seen(robot), 0.0)
    out = layer.output(DT, at(robot, 1.0, velocity=np.full(8, 1e3)))
    np.testing.assert_allclose(out.velocity[0], 0.3 * robot.velocity_limit)
    np.testing.assert_allclose(out.position[0] / DT, 0.3 * robot.velocity_limit)


@pytest.mark.parametrize('value', [1e9, -1e9, 1e150])
@pytest.mark.parametrize('enabled', [True, False])
def test_whatever_a_controller_asks_for_leaves_within_the_limits(robot, value, enabled):
    layer = SafetyLayer(robot, SafetyParams(enabled=enabled))
    huge = np.full(8, value)
    wanted = JointTargets(names=robot.target_names, position=huge, velocity=huge, effort=huge)
    for _ in range(300):
        action = layer.next_action(DT, seen(robot), 0.0)
        out = layer.output(DT, wanted if action in (STEP, RESET) else None)
        assert (robot.lower <= out.position).all() and (out.position <= robot.upper).all()
        assert (np.abs(out.velocity) <= robot.velocity_limit).all()
        assert (np.abs(out.effort) <= robot.effort_limit).all()
    assert layer.clamped['position'].all() and layer.clamped['effort'].all()


def test_without_the_layer_only_limits_and_the_stop_are_left(robot):
    layer = SafetyLayer(robot, SafetyParams(enabled=False))
    assert layer.next_action(DT, seen(robot), math.inf) == RESET
    assert (layer.output(DT, at(robot, 0.4)).position == 0.4).all()
    assert layer.next_action(DT, seen(robot, roll=2.0), 9.0) == STEP
    assert (layer.output(DT, at(robot, -0.4)).position == -0.4).all()
    layer.stop('on request')
    assert layer.next_action(DT, seen(robot), 0.0) == HOLD
    assert (layer.output(DT, None).position == -0.4).all()
