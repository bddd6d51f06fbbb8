# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rules of the safety layer one by one: ramps, brakes, blends, counts and plausible values."""

import dataclasses
import math

import numpy as np
import pytest

from gait_core.motion.observation import Imu, Observation
from gait_core.motion.targets import JointTargets
from gait_core.robot.model import FallCriterion
from gait_core.safety.layer import (
    FALLEN,
    HOLD,
    HOLDING,
    RESET,
    RUNNING,
    STANDING,
    STARTING,
    STEP,
    STOPPED,
    WAIT,
    WAITING,
    SafetyLayer,
)
from gait_core.safety.parameters import SafetyParams
from gait_core.safety.plausibility import plausible_positions
from gait_core.testing.doubles import legged_box

DT = 0.02
ROBOT = legged_box()
NAMES = ROBOT.target_names


def seen(position=0.0, tilt=None):
    imu = None
    if tilt is not None:
        imu = Imu(
            orientation=np.array([0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2)]),
            angular_velocity=np.zeros(3),
            linear_acceleration=np.zeros(3),
        )
    return Observation(
        tick=0,
        time=0.0,
        joint_names=ROBOT.joint_names,
        joint_positions=np.full(8, float(position)),
        imu=imu,
    )


def told(position=None, velocity=None, effort=None):
    fields = {'position': position, 'velocity': velocity, 'effort': effort}
    return JointTargets(
        names=NAMES, **{k: np.full(8, float(v)) for k, v in fields.items() if v is not None}
    )


def turn(layer, wanted, observation=None, age=0.0, dt=DT, moving=True):
    """Run a control period as a node does; return the action and the output."""
    action = layer.next_action(dt, seen() if observation is None else observation, age, moving)
    return action, layer.output(dt, wanted if action in (STEP, RESET) else None)


def running(wanted=None, params=None, robot=ROBOT, quantity=''):
    layer = SafetyLayer(robot, params or SafetyParams(), quantity)
    for _ in range(60):
        turn(layer, wanted or told(0.0))
    assert layer.mode == RUNNING and layer.reason == ''
    return layer


# Ramps


def test_a_ramp_is_a_cubic_whose_steepest_part_has_the_start_speed():
    layer = SafetyLayer(ROBOT, SafetyParams(start_speed=0.5))
    assert layer.mode == WAITING
    # 0.3 rad at a peak of 0.5 rad/s: 1.5 times 0.6 s.
    for k in range(46):
        _, out = turn(layer, told(0.3))
        u = min(k * DT / 0.9, 1.0)
        np.testing.assert_allclose(out.position[0], 0.3 * (3.0 * u**2 - 2.0 * u**3), atol=1e-12)
        assert out.velocity is None
        assert layer.mode == (STARTING if u < 1.0 else RUNNING)


def test_velocities_of_a_ramp_go_with_its_positions():
    layer = SafetyLayer(ROBOT, SafetyParams(start_speed=0.5))
    rates = []
    for _ in range(46):
        _, out = turn(layer, told(0.3, velocity=0.0))
        rates.append(out.velocity[0, 0])
    u = np.minimum(np.arange(46) * DT / 0.9, 1.0)
    np.testing.assert_allclose(rates, 0.3 * 6.0 * u * (1.0 - u) / 0.9, atol=1e-12)
    assert max(rates) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(('distance', 'mode'), [(0.009, RUNNING), (0.011, STARTING)])
def test_targets_within_a_hundredth_need_no_ramp(distance, mode):
    layer = SafetyLayer(ROBOT, SafetyParams())
    _, out = turn(layer, told(distance))
    assert layer.mode == mode
    assert out.position[0, 0] == (distance if mode == RUNNING else 0.0)


def test_a_slow_start_needs_a_ramp_for_the_smallest_way():
    # 9 mm at 0.1 rad/s take seven periods.
    layer = SafetyLayer(ROBOT, SafetyParams(start_speed=0.1))
    turn(layer, told(0.009))
    assert layer.mode == STARTING


def test_all_joints_arrive_together():
    layer = SafetyLayer(ROBOT, SafetyParams())
    goal = np.linspace(-0.4, 0.4, 8)
    rows = []
    while layer.mode != RUNNING:
        _, out = turn(layer, JointTargets(names=NAMES, position=goal))
        rows.append(out.position[0])
    shares = np.array(rows)[1:] / goal
    np.testing.assert_allclose(shares, np.tile(shares[:, :1], (1, 8)))


# Brakes and limits


@pytest.mark.parametrize(('age', 'delay'), [(0.0, 0.02), (0.03, 0.05), (1.0, 1.02), (5.0, 1.02)])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_takes_four_delays_at_least_to_its_limit(age, delay, sign):
    params = SafetyParams(state_timeout=0.0, start_speed=100.0)
    layer = running(told(0.0, velocity=0.0), params, quantity='velocity')
    # 0.1 rad before a limit of 1.5.
    near = seen(sign * 1.4)
    layer.next_action(DT, near, age)
    out = layer.output(DT, told(0.0, velocity=sign * 9.0))
    np.testing.assert_allclose(out.velocity, sign * 0.1 / (4.0 * delay))
    # Away from it the joint's own limit holds.
    layer.next_action(DT, near, age)
    out = layer.output(DT, told(0.0, velocity=-sign * 9.0))
    np.testing.assert_allclose(out.velocity, -sign * np.minimum(8.0, 2.9 / (4.0 * delay)))


def test_efforts_push_away_from_a_limit_and_not_beyond_it():
    layer = running(told(effort=0.0))
    for at, pushes, kept in ((1.5, 3.0, 0.0), (1.5, -3.0, -3.0), (-1.6, -3.0, 0.0),
                             (-1.6, 3.0, 3.0), (1.49, 3.0, 3.0)):  # fmt: skip
        layer.next_action(DT, seen(at), 0.0)
        assert (layer.output(DT, told(effort=pushes)).effort == kept).all()


def test_a_clamped_target_moves_at_the_velocity_of_its_clamp():
    layer = running(told(0.0, velocity=0.0))
    _, out = turn(layer, told(0.1, velocity=3.0))
    np.testing.assert_allclose(out.velocity, 3.0)
    # 1 rad further at once: 8 rad/s, whatever velocity came with it.
    _, out = turn(layer, told(1.1, velocity=3.0))
    np.testing.assert_allclose(out.position, 0.1 + 8.0 * DT)
    np.testing.assert_allclose(out.velocity, 8.0)


# Blends


def test_a_changed_gait_is_reached_at_the_start_speed():
    layer = running(params=SafetyParams(start_speed=0.5))
    layer.start_blend()
    rows = [turn(layer, told(0.2))[1].position[0, 0] for _ in range(30)]
    np.testing.assert_allclose(np.diff(rows[:19]), 0.5 * DT, atol=1e-9)
    assert rows[-1] == pytest.approx(0.2)


def test_no_blend_begins_before_the_gait_or_without_the_layer():
    layer = SafetyLayer(ROBOT, SafetyParams())
    layer.start_blend()
    plain = SafetyLayer(ROBOT, SafetyParams())
    goals = [0.3] * 50 + [0.4] * 5
    for goal in goals:
        # On the ramp a change of the gait changes nothing.
        if layer.mode == STARTING:
            layer.start_blend()
        np.testing.assert_array_equal(
            turn(layer, told(goal))[1].position, turn(plain, told(goal))[1].position
        )
    off = SafetyLayer(ROBOT, SafetyParams(enabled=False))
    turn(off, told(0.1))
    off.start_blend()
    assert (turn(off, told(-0.1))[1].position == -0.1).all()


def test_a_failed_period_is_blended_over():
    layer = running(params=SafetyParams(start_speed=0.5))
    turn(layer, told(0.1))
    layer.next_action(DT, seen(), 0.0)
    assert (layer.output(DT, None).position == 0.1).all()
    # The peak speed of the gait before was 5 rad/s; the offset shrinks by 0.5 rad/s besides.
    _, out = turn(layer, told(0.6))
    assert 0.1 < out.position[0, 0] <= 0.1 + (5.0 + 0.5) * DT + 1e-9


# Modes and counts


def test_each_hold_is_counted_once_however_long_it_is():
    layer = running()
    for count in (1, 2):
        for _ in range(3):
            assert turn(layer, told(0.0), age=0.6)[0] == HOLD
        assert layer.mode == HOLDING and layer.holds == count
        turn(layer, told(0.0))
        assert layer.mode == RUNNING


@pytest.mark.parametrize(('age', 'action'), [(0.5, STEP), (0.5001, HOLD), (math.inf, HOLD)])
def test_states_are_stale_beyond_their_timeout(age, action):
    assert turn(running(params=SafetyParams(state_timeout=0.5)), told(0.0), age=age)[0] == action


def test_no_timeout_still_needs_every_joint():
    params = SafetyParams(state_timeout=0.0)
    assert turn(running(params=params), told(0.0), age=1e6)[0] == STEP
    assert turn(running(params=params), told(0.0), age=math.inf)[0] == HOLD


def test_a_robot_that_is_not_asked_to_move_stands_and_starts_from_where_it_held():
    layer = running()
    turn(layer, told(0.1))
    for _ in range(3):
        action, out = turn(layer, told(0.5), seen(0.05), moving=False)
        assert action == HOLD and layer.mode == STANDING and (out.position == 0.1).all()
    action, out = turn(layer, told(0.1), seen(0.05))
    assert action == STEP and layer.mode == RUNNING and (out.position == 0.1).all()


def test_standing_before_the_first_motion_holds_the_measured_pose_and_resets_later():
    layer = SafetyLayer(ROBOT, SafetyParams())
    action, out = turn(layer, None, seen(0.2), moving=False)
    assert action == HOLD and layer.mode == STANDING and (out.position == 0.2).all()
    assert turn(layer, told(0.2), seen(0.2))[0] == RESET
    assert turn(layer, told(0.2), seen(0.2))[0] == STEP


def test_without_the_layer_a_robot_waits_until_it_is_asked():
    layer = SafetyLayer(ROBOT, SafetyParams(enabled=False))
    assert turn(layer, told(0.1), moving=False) == (WAIT, None)
    assert turn(layer, told(0.1))[0] == RESET
    action, out = turn(layer, told(0.3), moving=False)
    assert action == HOLD and layer.mode == STANDING and (out.position == 0.1).all()
    assert turn(layer, told(0.3))[0] == STEP


def test_a_new_controller_starts_from_the_last_output():
    layer = running()
    turn(layer, told(0.1))
    layer.replace_controller()
    assert layer.mode == STARTING
    action, out = turn(layer, told(0.5), seen(0.3))
    assert action == STEP and (out.position == 0.1).all() and layer.mode == STARTING
    # A stop stays one.
    layer.stop('by hand')
    layer.replace_controller()
    layer.restart()
    assert layer.mode == STOPPED and layer.stops == 1


# Falls


@pytest.mark.parametrize(('tilt', 'limit', 'falls'), [
    (0.95, 0.0, 0), (1.05, 0.0, 1), (0.45, 0.5, 0), (0.55, 0.5, 1), (3.1, 0.5, 1),
])  # fmt: skip
def test_a_fall_is_a_tilt_beyond_the_limit_for_its_time(tilt, limit, falls):
    robot = dataclasses.replace(ROBOT, fall=FallCriterion(max_tilt=1.0))
    layer = running(params=SafetyParams(fall_tilt=limit, fall_time=0.05), robot=robot)
    for count in range(6):
        # 50 ms are over in the third period.
        assert (layer.mode == FALLEN) == bool(falls and count > 2)
        turn(layer, told(0.0), seen(tilt=tilt))
    assert layer.falls == falls


def test_a_tilt_with_a_break_is_no_fall():
    layer = running(params=SafetyParams(fall_tilt=0.5, fall_time=0.05))
    for tilt in (0.6, 0.6, 0.4, 0.6, 0.6, 0.4):
        turn(layer, told(0.0), seen(tilt=tilt))
    assert layer.mode == RUNNING and layer.falls == 0


@pytest.mark.parametrize(('recover', 'mode'), [(True, RUNNING), (False, FALLEN)])
def test_a_robot_recovers_after_a_second_upright_at_a_stretch(recover, mode):
    layer = running(params=SafetyParams(fall_tilt=0.5, fall_time=0.0, recover=recover))
    turn(layer, told(0.0), seen(tilt=0.6))
    assert layer.mode == FALLEN
    for tilt in [0.0] * 45 + [0.6] + [0.0] * 49:
        turn(layer, told(0.0), seen(tilt=tilt))
        assert layer.mode == FALLEN
    for _ in range(4):
        turn(layer, told(0.0), seen(tilt=0.0))
    assert layer.mode == mode


# Plausible values


def test_a_joint_is_within_a_turn_of_its_limits():
    free = dataclasses.replace(ROBOT.joints[0], kind='continuous', lower=-math.inf, upper=math.inf)
    robot = dataclasses.replace(ROBOT, joints=(free, *ROBOT.joints[1:]))
    low, high = plausible_positions(robot)
    assert (low[0], high[0]) == (-1e6, 1e6)
    np.testing.assert_allclose(low[1:], -1.5 - 2.0 * math.pi)
    np.testing.assert_allclose(high[1:], 1.5 + 2.0 * math.pi)
