# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators of every engine: gains, limits, saturation, sub-samples and mimic joints."""

from dataclasses import replace

import numpy as np
import pytest

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.motion.targets import JointTargets, TargetMemory
from gait_core.robot.model import Actuator, Joint, Mimic
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import applied_targets, one_joint_robot, solid_box, step_through
from gait_core.trial.scene import InitialState, Scene

pytestmark = pytest.mark.physics
G = 9.81
BALANCED = {'com': (0.0, 0.0, 0.0), 'inertia': 0.1, 'joint': 'continuous'}
STAND = Scene(robot='of the test', fixed_base=True)


def run(engine, ticks: int, **targets):
    return step_through(engine, [applied_targets(engine.robot, **targets)] * ticks)


@pytest.mark.parametrize('step', [0.001, 0.002, 0.004])
def test_a_position_error_decays_at_the_gain_whatever_the_physics_step(engine_of, step):
    engine = engine_of(one_joint_robot('position', {'gain': 10.0}, **BALANCED))
    engine.reset(replace(STAND, physics_step=step), 0)
    left = 0.5 - run(engine, 5, position=[0.5])[-1].joint_positions[0]
    # Bullet's own positionGain would make it 4 times as fast at 4 ms as at 1 ms.
    assert left == pytest.approx(0.5 * (1.0 - 10.0 * step) ** round(0.1 / step), rel=1e-6)
    assert left == pytest.approx(0.5 * np.exp(-1.0), rel=0.03)


def test_feed_forward_removes_the_lag_behind_a_ramp(engine_of):
    engine = engine_of(one_joint_robot('position', {'gain': 10.0}, **BALANCED))
    rate, ticks = 0.5, 50
    ends = []
    for feed in (0.0, rate):
        engine.reset(STAND, 0)
        for tick in range(ticks):
            ramp = rate * 0.001 * np.arange(20 * tick, 20 * tick + 20)
            engine_end = engine.step(
                applied_targets(
                    engine.robot, position=ramp[:, None], velocity=np.full((20, 1), feed)
                )
            )
        ends.append(rate * ticks * 0.02 - engine_end.joint_positions[0])
    # Without it the joint trails by rate / gain.
    assert ends[0] == pytest.approx(rate / 10.0, rel=0.02)
    assert abs(ends[1]) < 1e-6


def test_a_static_load_beyond_the_effort_limit_sags_and_the_report_stays_within(engine_of):
    load = 15.0 / (G * 0.5)
    level = (0.5, 0.0, 0.0)
    for kind, constants in (
        ('position', {'gain': 20.0}),
        ('velocity', {}),
        ('pd', {'stiffness': 2000.0, 'damping': 20.0}),
    ):
        arm = one_joint_robot(kind, constants, mass=load, com=level, inertia=0.01, effort=10.0)
        engine = engine_of(arm)
        engine.reset(STAND, 0)
        seen = run(engine, 20, position=[0.0])
        assert seen[-1].joint_positions[0] > 0.2, kind
        efforts = np.abs([one.joint_efforts[0] for one in seen])
        assert efforts.max() == pytest.approx(10.0, abs=1e-6), kind
        # Within its limit the same joint carries two thirds of the load, and reports it.
        held = replace(arm, links=(arm.links[0], replace(arm.links[1], mass=load * 0.6)))
        engine = engine_of(held)
        engine.reset(STAND, 0)
        end = run(engine, 20, position=[0.0])[-1]
        assert abs(end.joint_positions[0]) < 0.01, kind
        assert end.joint_efforts[0] == pytest.approx(-9.0, abs=0.05), kind


def test_a_pd_joint_settles_where_its_spring_balances_the_load(engine_of):
    level = {'com': (0.5, 0.0, 0.0), 'inertia': 0.01, 'joint': 'continuous'}
    arm = one_joint_robot('pd', {'stiffness': 50.0, 'damping': 4.0}, **level)
    engine = engine_of(arm)
    engine.reset(STAND, 0)
    end = run(engine, 150, position=[0.0])[-1]
    angle, effort = end.joint_positions[0], end.joint_efforts[0]
    assert abs(end.joint_velocities[0]) < 1e-4
    assert effort == pytest.approx(-50.0 * angle, abs=1e-3)
    assert effort == pytest.approx(-G * 0.5 * np.cos(angle), abs=1e-3)


def test_pd_damping_is_in_newton_metre_seconds_per_radian(engine_of):
    engine = engine_of(one_joint_robot('pd', {'stiffness': 0.0, 'damping': 0.5}, **BALANCED))
    engine.reset(STAND, 0)
    speed = run(engine, 10, velocity=[1.0])[-1].joint_velocities[0]
    assert speed == pytest.approx(1.0 - np.exp(-0.5 / 0.1 * 0.2), rel=2e-3)


@pytest.mark.parametrize('kind', ['position', 'velocity'])
def test_a_servo_keeps_the_velocity_limit(engine_of, kind):
    engine = engine_of(one_joint_robot(kind, {}, velocity=10.0, effort=1000.0, **BALANCED))
    engine.reset(replace(STAND, control_period=0.001), 0)
    seen = run(engine, 400, position=[1.9], velocity=[0.0 if kind == 'position' else 50.0])
    fastest = max(abs(one.joint_velocities[0]) for one in seen)
    # Bullet alone would run at its own limit of 100 rad/s.
    assert 9.9 < fastest <= 10.0 + 1e-9


@pytest.mark.parametrize(
    ('kind', 'constants', 'targets'),
    [
        ('effort', {}, {'effort': [5.0]}),
        ('pd', {'stiffness': 0.0, 'damping': 50.0}, {'velocity': [100.0]}),
    ],
)
def test_a_torque_does_not_drive_a_joint_beyond_its_velocity_limit(
    engine_of, kind, constants, targets
):
    engine = engine_of(one_joint_robot(kind, constants, velocity=10.0, effort=5.0, **BALANCED))
    engine.reset(replace(STAND, control_period=0.001), 0)
    seen = run(engine, 1000, **targets)
    speeds = np.array([one.joint_velocities[0] for one in seen])
    # One step of full torque past the limit at most.
    assert 9.9 < speeds.max() <= 10.0 + 5.0 / 0.1 * 0.001 + 1e-9


def test_a_prismatic_target_beyond_the_limit_is_clamped(engine_of):
    leg = one_joint_robot(
        'position', {'gain': 20.0}, joint='prismatic', com=(0.0, 0.0, 0.0), lower=0.0, upper=0.05
    )
    engine = engine_of(leg)
    engine.reset(STAND, 0)
    assert run(engine, 50, position=[0.02])[-1].joint_positions[0] == pytest.approx(0.02, abs=1e-6)
    seen = run(engine, 50, position=[0.5])
    assert max(one.joint_positions[0] for one in seen) <= 0.0505
    assert seen[-1].joint_positions[0] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize('start', [-0.002, 0.052])
def test_a_joint_that_starts_beyond_its_limit_recovers(engine_of, start):
    leg = one_joint_robot(
        'position', {'gain': 20.0}, joint='prismatic', com=(0.0, 0.0, 0.0), lower=0.0, upper=0.05
    )
    engine = engine_of(leg)
    beyond = InitialState(joint_positions={'hinge': start})
    first = engine.reset(replace(STAND, initial=beyond), 0)
    assert first.joint_positions[0] == start
    assert run(engine, 50, position=[0.02])[-1].joint_positions[0] == pytest.approx(0.02, abs=1e-6)


def test_a_torque_is_stopped_by_the_joint_limits(engine_of):
    engine = engine_of(
        one_joint_robot(
            'effort', {}, com=(0.0, 0.0, 0.0), inertia=0.1, lower=-0.4, upper=0.3, effort=5.0
        )
    )
    engine.reset(STAND, 0)
    for effort, limit in ((5.0, 0.3), (-5.0, -0.4)):
        assert run(engine, 50, effort=[effort])[-1].joint_positions[0] == pytest.approx(
            limit, abs=1e-3
        )


def test_sub_samples_share_a_control_period_evenly(engine_of):
    engine = engine_of(one_joint_robot('velocity', {}, **BALANCED))
    engine.reset(STAND, 0)
    end = run(engine, 1, velocity=np.array([[1.0], [3.0], [-2.0], [0.0]]))[-1]
    assert end.joint_positions[0] == pytest.approx((1.0 + 3.0 - 2.0) * 0.005, abs=1e-9)


def test_sub_samples_that_do_not_divide_the_period_are_refused_with_the_nearest(engine_of):
    engine = engine_of(one_joint_robot('velocity', {}, **BALANCED))
    engine.reset(STAND, 0)
    for samples, valid in ((3, 2), (6, 5), (40, 20)):
        with pytest.raises(ConfigurationError, match=f'nearest valid: {valid}$'):
            engine.step(applied_targets(engine.robot, velocity=np.ones((samples, 1))))


def test_targets_of_a_wrong_shape_are_refused_with_both_shapes(engine_of):
    engine = engine_of(legged_box(2, 2))
    engine.reset(STAND, 0)
    with pytest.raises(BadCommand, match=r'\(1, 1\).*expected \(K, 4\)'):
        engine.step(applied_targets(one_joint_robot()))


def test_a_mimic_joint_follows_its_source_and_its_load_is_felt(engine_of):
    for multiplier, offset in ((-0.5, 0.2), (2.0, -0.1)):
        tip = replace(solid_box('tip', (0.1, 0.1, 0.1), 0.5, (0.2, 0.0, 0.0)), collisions=())
        follower = Joint(
            name='follower', kind='revolute', parent='arm', child='tip', xyz=(0.0, 0.0, -1.0),
            axis=(0.0, 1.0, 0.0), mimic=Mimic(joint='hinge', multiplier=multiplier, offset=offset),
        )  # fmt: skip
        arm = one_joint_robot('position', {'gain': 10.0}, inertia=0.1)
        sensed = replace(
            arm, links=(*arm.links, tip), joints=(*arm.joints, follower), imu_link='tip'
        )
        engine = engine_of(sensed)
        engine.reset(STAND, 0)
        for tick in range(60):
            angle = 0.6 * np.sin(0.1 * tick)
            seen = engine.step(applied_targets(sensed, position=[angle]))
            hinge = seen.joint_positions[0]
            pitch = 2.0 * np.arctan2(seen.imu.orientation[1], seen.imu.orientation[3])
            assert pitch == pytest.approx(hinge + multiplier * hinge + offset, abs=1e-3)
        assert seen.joint_names == ('hinge',)
        # Statics of both bodies through the gear: virtual work of gravity along the joint.
        end = run(engine, 100, position=[0.4])[-1]
        turn, second = 0.4, 0.4 + multiplier * 0.4 + offset
        arm_x, elbow_x = -0.5 * np.sin(turn), -1.0 * np.sin(turn)
        tip_x = elbow_x + 0.2 * np.cos(second)
        moment = (
            -1.0 * G * arm_x - 0.5 * G * tip_x
            - 0.5 * G * (tip_x - elbow_x) * multiplier
        )  # fmt: skip
        assert end.joint_efforts[0] == pytest.approx(moment, abs=0.05)


def test_joints_hold_while_the_robot_settles_whatever_their_actuator(engine_of):
    base = legged_box(4, 2)
    for kind in ('position', 'velocity', 'effort'):
        robot = replace(base, actuators={name: Actuator(kind=kind) for name in base.joint_names})
        engine = engine_of(robot)
        rest = engine.reset(Scene(robot='x', physics_step=0.002), 0, settle_ticks=25)
        np.testing.assert_allclose(rest.joint_positions, robot.stance, atol=0.02)
        assert rest.tick == 0
        height = rest.body_poses[0, 2]
        fallen = height - run(engine, 15)[-1].body_poses[0, 2]
        # Zero torque lets it sink as soon as targets come; the servos carry on.
        assert (fallen > 0.05) == (kind == 'effort')


def test_two_joints_that_move_for_half_a_minute_leave_the_others_where_they_were(engine_of):
    robot = legged_box(4, 3)
    engine = engine_of(robot)
    # Hung up clear of the ground: only weight and motion of the legs pull at the others.
    start = InitialState(clearance=0.5)
    engine.reset(Scene(robot='x', physics_step=0.01, fixed_base=True, initial=start), 0)
    memory = TargetMemory(robot.target_names, robot.stance)
    names, middle = robot.joint_names[:2], robot.joint_stance[:2]
    tape = [
        memory.resolve(JointTargets(names=names, position=middle + 0.1 * np.sin(0.1 * tick)))
        for tick in range(1500)
    ]
    found = np.array([seen.joint_positions for seen in step_through(engine, tape)])
    assert np.ptp(found[:, :2], axis=0).min() > 0.1
    assert np.abs(found[:, 2:] - robot.joint_stance[2:]).max() < 0.01


def test_a_servo_that_overshoots_in_a_physics_step_is_named(engine_of):
    fast = Actuator(kind='position', constants={'gain': 1500.0})
    engine = engine_of(replace(one_joint_robot(), actuators={'hinge': fast}))
    with pytest.raises(ConfigurationError) as caught:
        engine.reset(STAND, 0)
    assert str(caught.value).endswith('nearest valid: 1000/s') and "'hinge'" in str(caught.value)
