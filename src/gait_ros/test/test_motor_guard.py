# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands of motors start at the measured pose and stay within limits and speeds."""

import math

import numpy as np
import pytest

from gait_core.errors import NotInstalled
from gait_core.robot.load import load_robot, robot_names
from gait_core.testing.doubles import legged_box
from gait_ros.hardware.motor_guard import MotorGuard
from gait_ros.hardware.motor_watch import MotorReadings
from gait_ros.hardware.motors import JointValues

ROBOT = legged_box()
NAMES = ROBOT.joint_names
LIMIT = ROBOT.velocity_limit
NAN, INF = math.nan, math.inf
DT = 0.005


def values(position=None, velocity=None, effort=None, names=NAMES):
    fields = {'position': position, 'velocity': velocity, 'effort': effort}
    return JointValues(
        names=tuple(names),
        **{
            k: np.broadcast_to(float(v) if np.isscalar(v) else v, len(names)).astype(float)
            for k, v in fields.items()
            if v is not None
        },
    )


@pytest.fixture
def guard():
    made = MotorGuard(ROBOT, start_speed=0.5)
    made.measure(values(position=0.1))
    return made


def settled(guard, at=0.1):
    """Return a guard whose joints have reached their command."""
    guard.limit_command(values(position=at), DT)
    return guard


def test_the_first_command_is_the_measured_pose_and_the_way_from_there_is_slow(guard):
    first = guard.limit_command(values(position=0.6), DT)
    np.testing.assert_array_equal(first.position, 0.1)
    last, steps = first.position, 0
    while last[0] < 0.6:
        moved = guard.limit_command(values(position=0.6), DT).position
        assert np.abs(moved - last).max() <= 0.5 * DT + 1e-12
        last, steps = moved, steps + 1
    # 0.5 rad at 0.5 rad/s is a second.
    assert steps * DT == pytest.approx(1.0, abs=2 * DT)
    assert not sum(count.sum() for count in guard.clamp_counts.values())
    # It has met what is commanded: the limit of the joint holds from now on.
    free = guard.limit_command(values(position=-0.6), DT).position
    np.testing.assert_allclose(0.6 - free, LIMIT * DT)
    assert (guard.clamp_counts['speed'] == 1).all()


def test_a_wild_path_to_the_pose_is_not_followed(guard):
    """A trajectory controller comes from where it held, however far the robot is from there."""
    for held in np.linspace(0.9, 0.1, 5):
        out = guard.limit_command(values(position=held), DT).position
        assert np.abs(out - 0.1).max() <= 0.02


@pytest.mark.parametrize('bad', [INF, -INF, 1e9, -1e9, 1e308])
def test_what_no_joint_can_do_is_refused_and_it_holds(guard, bad):
    settled(guard)
    given = values(position=0.1, velocity=0.2, effort=0.3)
    wrong = np.full(len(NAMES), 0.1)
    wrong[2] = bad
    for field in ('position', 'velocity', 'effort'):
        told = {f: getattr(given, f) for f in ('position', 'velocity', 'effort')}
        out = guard.limit_command(values(**{**told, field: wrong}), DT)
        assert out.position[2] == 0.1 and out.velocity[2] == out.effort[2] == 0.0
    assert guard.implausible_counts.tolist() == [3 * (i == 2) for i in range(len(NAMES))]


def test_what_is_beyond_a_limit_is_clamped_and_counted(guard):
    settled(guard)
    beyond = ROBOT.upper + 0.5
    for _ in range(1000):
        out = guard.limit_command(values(position=beyond, velocity=1e3, effort=1e5), DT)
        assert (out.position <= ROBOT.upper).all() and (out.velocity <= LIMIT).all()
        assert (out.effort <= ROBOT.effort_limit).all()
    np.testing.assert_array_equal(out.position, ROBOT.upper)
    for what in ('position', 'velocity', 'effort'):
        bounded = np.isfinite(
            {'position': ROBOT.upper, 'velocity': LIMIT, 'effort': ROBOT.effort_limit}[what]
        )
        assert (guard.clamp_counts[what][bounded] == 1000).all()


def test_a_jump_is_followed_at_the_limit_of_speed_however_often_it_comes(guard):
    settled(guard)
    last, passed, rng = np.full(len(NAMES), 0.1), 0.0, np.random.default_rng(0)
    for _ in range(400):
        dt = float(rng.choice([0.0, 0.001, 0.02, 5.0]))
        out = guard.limit_command(values(position=rng.uniform(-1.0, 1.0, len(NAMES))), dt).position
        # A pause is no permission to jump.
        assert (np.abs(out - last) <= LIMIT * min(dt, 0.1) + 1e-12).all()
        last, passed = out, passed + dt


def test_a_velocity_alone_stops_at_a_position_limit(guard):
    at, dt = np.zeros(len(NAMES)), 0.002
    for _ in range(3000):
        guard.measure(values(position=at))
        at = at + guard.limit_command(values(velocity=LIMIT), dt).velocity * dt
        assert (at <= ROBOT.upper + 1e-9).all()
    np.testing.assert_allclose(at, ROBOT.upper, atol=1e-3)
    guard.measure(values(position=ROBOT.upper + 0.1))
    assert (guard.limit_command(values(velocity=1.0), dt).velocity == 0.0).all()
    assert (guard.limit_command(values(velocity=-1.0), dt).velocity == -1.0).all()


def test_a_hold_is_the_last_position_velocity_zero_and_effort_zero_of_what_was_commanded(guard):
    assert guard.hold().names == ()
    settled(guard)
    guard.limit_command(values(position=0.1, velocity=0.2, names=NAMES[:2]), DT)
    hold = guard.hold()
    assert hold.names == NAMES and hold.effort is None
    np.testing.assert_array_equal(hold.position, 0.1)
    np.testing.assert_array_equal(hold.velocity[:2], 0.0)
    assert np.isnan(hold.velocity[2:]).all()
    for name in (NAMES[0], NAMES[2]):
        guard.forget_position(name)
    hold = guard.hold()
    # The first one was commanded by velocity, too: it is still stopped.
    assert hold.names == (*NAMES[:2], *NAMES[3:])
    assert np.isnan(hold.position[0]) and hold.velocity[0] == 0.0
    guard.forget_commands()
    assert guard.hold().names == ()


def test_nan_is_no_command(guard):
    assert guard.limit_command(values(position=NAN), DT).names == ()
    given = values(position=[0.1, NAN] + [0.1] * 6, velocity=NAN)
    out = guard.limit_command(given, DT)
    assert out.names == (NAMES[0], *NAMES[2:]) and out.velocity is None
    assert not guard.implausible_counts.any()


def test_what_is_commanded_no_more_holds(guard):
    """A controller that is deactivated claims nothing: its last velocity must not go on."""
    settled(guard)
    guard.limit_command(values(position=0.1, velocity=0.4, effort=0.3), DT)
    out = guard.limit_command(values(position=NAN, velocity=NAN), DT)
    assert (out.position == 0.1).all() and not out.velocity.any() and not out.effort.any()
    # Another one moves the joints by velocity alone.
    out = guard.limit_command(values(velocity=0.2), DT)
    assert out.position is None and (out.velocity == 0.2).all() and not out.effort.any()
    out = guard.limit_command(values(velocity=NAN), DT)
    assert out.position is None and not out.velocity.any()
    assert guard.hold().position is None


@pytest.mark.parametrize('bad', [INF, 1e9, -1e9, 40.0])
def test_a_state_that_no_joint_can_have_is_none(guard, bad):
    told = guard.measure(values(position=[bad] + [0.2] * 7, velocity=1.0))
    assert math.isnan(told.position[0]) and (told.position[1:] == 0.2).all()
    assert guard.measured[0] == 0.1 and guard.measured[1] == 0.2
    assert guard.refused_states == 1
    told = guard.measure(values(position=0.1, velocity=[bad] * 8))
    assert np.isnan(told.velocity).all() == (abs(bad) > 1e6)


def test_readings_grow_old_by_the_slower_clock_and_are_still_until_they_move():
    readings = MotorReadings(['a', 'b'], np.array([0.01, 0.01]))

    def at(simulated, wall):
        return np.array([simulated, wall], dtype=float)

    assert np.isinf(readings.ages(at(0, 0))).all() and not readings.rest_times(at(0, 0)).any()
    for i in range(21):
        values = np.array([1.0 + 0.004 * (i % 2), 0.02 * i, 5.0])
        readings.add(['a', 'b', 'c'], values, at(0.1 * i, 0.1 * i))
    np.testing.assert_allclose(readings.ages(at(2.5, 9.0)), 0.5)
    np.testing.assert_allclose(readings.ages(at(9.0, 2.5)), 0.5)
    # A clock that has gone back says nothing.
    np.testing.assert_allclose(readings.ages(at(1.0, 2.5)), 0.5)
    still = readings.rest_times(at(2.0, 2.0))
    assert still[0] == pytest.approx(2.0) and still[1] == pytest.approx(0.0)
    readings.add(['a'], np.array([NAN]), at(2.1, 2.1))
    readings.add(['a'], np.array([1e9]), at(2.1, 2.1))
    assert readings.values[0] == 1.0
    # What it did in a pause is not known.
    readings.add(['a'], np.array([1.0]), at(4.0, 4.0))
    assert readings.rest_times(at(4.0, 4.0))[0] == 0.0


@pytest.mark.parametrize('name', robot_names())
def test_every_robot_starts_softly_from_twenty_poses(name):
    try:
        robot = load_robot(name)
    except NotInstalled as error:
        pytest.skip(str(error))
    names, rng = robot.joint_names, np.random.default_rng(5)
    if not names:
        # It has force elements alone, which the node hardware refuses.
        assert robot.target_names
        return
    low, high = np.maximum(robot.lower, -2.0), np.minimum(robot.upper, 2.0)
    slow = np.minimum(robot.velocity_limit, 1.0)
    for _ in range(20):
        guard = MotorGuard(robot, start_speed=1.0)
        at, goal = rng.uniform(low, high), values(position=robot.joint_stance, names=names)
        guard.measure(values(position=at, names=names))
        last = guard.limit_command(goal, 0.01).position
        assert np.abs(last - at).max() <= 0.02
        while np.abs(last - goal.position).max() > 0.0:
            out = guard.limit_command(goal, 0.01).position
            assert (np.abs(out - last) <= slow * 0.01 + 1e-12).all()
            last = out


def test_positions_that_begin_again_after_a_pause_are_approached_softly(guard):
    settled(guard)
    for pause in (values(position=NAN), values(position=NAN, velocity=0.0)):
        guard.limit_command(pause, DT)
        out = guard.limit_command(values(position=0.6), DT).position
        assert np.abs(out - 0.1).max() <= 0.5 * DT + 1e-12
        settled(guard, at=0.1)
