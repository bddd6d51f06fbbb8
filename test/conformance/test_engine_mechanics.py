# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every engine against closed forms of rigid-body mechanics."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

from gait_core import registry
from gait_core.robot.model import Joint
from gait_core.testing.doubles import legged_box
from gait_core.testing.free_bodies import (
    applied_targets,
    free_ball,
    free_box,
    one_joint_robot,
    solid_box,
    step_through,
)
from gait_core.testing.skips import need_robot
from gait_core.trial.scene import InitialState, Push, Scene

pytestmark = pytest.mark.physics
G = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)


def scene(**fields) -> Scene:
    return Scene(robot='of the test', **fields)


def run(engine, ticks: int, targets=None):
    targets = applied_targets(engine.robot) if targets is None else targets
    return step_through(engine, [targets] * ticks)


def test_a_box_falls_by_half_g_t_squared_and_is_not_damped(engine_of):
    engine = engine_of(free_box())
    start = engine.reset(scene(physics_step=0.0005, initial=InitialState(clearance=20.0)), seed=0)
    end = run(engine, 100)[-1]
    assert end.time == pytest.approx(2.0)
    fall = start.body_poses[0, 2] - end.body_poses[0, 2]
    # A step of 0.5 ms overshoots by one part in the number of steps, 1/4000.
    assert fall == pytest.approx(0.5 * G * 2.0**2, rel=1e-3)
    # Bullet's default damping of 0.04 would take 8 % of the speed.
    assert end.body_twists[0, 2] == pytest.approx(-2.0 * G, rel=1e-9)


@pytest.mark.parametrize('inertia', [1e-6, 0.05])
@pytest.mark.parametrize('amplitude', [0.1, 1.0])
def test_a_pendulum_swings_with_the_period_of_its_closed_form(engine_of, amplitude, inertia):
    engine = engine_of(one_joint_robot(inertia=inertia))
    start = InitialState(joint_positions={'hinge': amplitude})
    engine.reset(scene(fixed_base=True, control_period=0.001, initial=start), seed=0)
    angles = np.array([seen.joint_positions[0] for seen in run(engine, 6000)])
    down = np.flatnonzero((angles[:-1] > 0.0) & (angles[1:] <= 0.0))
    crossings = down + angles[down] / (angles[down] - angles[down + 1])
    period = float(np.mean(np.diff(crossings))) * 0.001
    expected = 4.0 * np.sqrt((inertia + 0.25) / (0.5 * G)) * ellipk(np.sin(0.5 * amplitude) ** 2)
    assert period == pytest.approx(expected, rel=1e-3)


def test_a_joint_without_command_has_no_hidden_motor(engine_of):
    engine = engine_of(one_joint_robot())
    start = InitialState(joint_positions={'hinge': 1.0})
    engine.reset(scene(fixed_base=True, initial=start), seed=0)
    angles = [seen.joint_positions[0] for seen in run(engine, 100)]
    # Bullet's own motors would hold it at 1.0.
    assert min(angles) < -0.9


@pytest.mark.parametrize('heading', [0.0, 0.7])
@pytest.mark.parametrize('friction', [0.3, 0.9])
def test_a_pushed_block_slides_to_the_distance_that_friction_leaves(engine_of, friction, heading):
    block = free_box(size=(0.4, 0.4, 0.05), mass=2.0)
    engine = engine_of(block)
    force, time = 40.0, 0.2
    push = Push(
        start=0.0,
        duration=time,
        force=(force * np.cos(heading), force * np.sin(heading), 0.0),
    )
    start = engine.reset(scene(friction=friction, pushes=(push,)), seed=0, settle_ticks=25)
    seen = run(engine, 75)
    speed = (force / 2.0 - friction * G) * time
    distance = 0.5 * speed * time + speed**2 / (2.0 * friction * G)
    way = seen[-1].body_poses[0, :2] - start.body_poses[0, :2]
    assert np.hypot(*way) == pytest.approx(distance, rel=0.02)
    # The friction cone is round: the way is straight whatever its direction.
    assert np.arctan2(way[1], way[0]) == pytest.approx(heading, abs=0.01)
    assert np.abs(seen[-1].body_twists).max() < 1e-3


def test_friction_forces_oppose_the_slide_and_equal_mu_times_the_load(engine_of):
    engine = engine_of(free_box(size=(0.4, 0.4, 0.05), mass=2.0))
    push = Push(start=0.0, duration=0.2, force=(40.0, 0.0, 0.0))
    engine.reset(
        scene(friction=0.5, control_period=0.001, pushes=(push,)), seed=0, settle_ticks=500
    )
    sliding = run(engine, 190)[20:]
    assert sliding[0].body_twists[0, 0] > 0.2
    forces = np.array([seen.contacts.forces.sum(axis=0) for seen in sliding])
    np.testing.assert_allclose(forces[:, 0], -0.5 * forces[:, 2], atol=0.05)
    # Single steps of a sliding contact chatter in Bullet; their mean carries the weight.
    assert forces[:, 2].mean() == pytest.approx(2.0 * G, rel=0.01)


@pytest.mark.parametrize('restitution', [0.0, 0.5, 0.8])
def test_a_dropped_ball_rebounds_with_the_restitution_of_the_scene(engine_of, restitution):
    engine = engine_of(free_ball())
    engine.reset(scene(restitution=restitution, initial=InitialState(clearance=0.5)), seed=0)
    speeds = np.array([seen.body_twists[0, 2] for seen in run(engine, 25)])
    fastest = float(-speeds.min())
    # The last reading before the impact and the first after it are up to a tick of gravity off.
    assert float(speeds.max(initial=0.0)) == pytest.approx(restitution * fastest, abs=2 * G * 0.02)


@pytest.mark.parametrize('robot', ['guroo', 'a1'])
def test_a_standing_robot_presses_with_its_weight(engine_name, robot):
    need_robot(robot)
    engine = registry.engine(engine_name)()
    try:
        engine.reset(Scene(robot=robot, physics_step=0.002), seed=0, settle_ticks=75)
        seen = step_through(engine, [applied_targets(engine.robot)] * 10)
        force = np.mean([one.contacts.forces.sum(axis=0) for one in seen], axis=0)
        weight = engine.robot.mass * G
    finally:
        engine.close()
    np.testing.assert_allclose(force, [0.0, 0.0, weight], atol=0.01 * weight)


def test_only_the_soles_of_a_standing_robot_touch_and_hold_their_share(engine_of):
    engine = engine_of(legged_box())
    seen = engine.reset(scene(), seed=0, settle_ticks=50)
    assert set(seen.contacts.sole.tolist()) == {0, 1, 2, 3}
    assert seen.contacts.in_contact().all()
    weight = engine.robot.mass * G
    assert seen.contacts.sole_forces()[:, 2].sum() == pytest.approx(weight, rel=0.01)
    assert np.abs(seen.contacts.points[:, 2]).max() < 1e-9
    assert 0.0 < seen.contacts.depths.max() < 1e-4


def test_a_foot_just_above_the_ground_has_no_contact(engine_of):
    engine = engine_of(legged_box())
    # Bullet lists pairs of points that come within 20 mm.
    engine.reset(scene(gravity=WEIGHTLESS, initial=InitialState(clearance=0.001)), seed=0)
    assert len(run(engine, 1)[-1].contacts.points) == 0


def test_the_imu_reads_plus_g_at_rest_nothing_in_free_fall_and_the_push_between(engine_of):
    engine = engine_of(free_box())
    at_rest = engine.reset(scene(), seed=0, settle_ticks=50)
    np.testing.assert_allclose(at_rest.imu.linear_acceleration, [0.0, 0.0, G], atol=1e-3)
    engine.reset(scene(initial=InitialState(clearance=5.0)), seed=0)
    falling = run(engine, 5)[-1]
    np.testing.assert_allclose(falling.imu.linear_acceleration, 0.0, atol=1e-9)
    push = Push(start=0.0, duration=1.0, force=(3.0, 0.0, 0.0))
    engine.reset(scene(gravity=WEIGHTLESS, pushes=(push,)), seed=0)
    pushed = run(engine, 5)[-1]
    np.testing.assert_allclose(pushed.imu.linear_acceleration, [1.5, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize('moving', [False, True])
def test_a_tilted_imu_link_reads_gravity_and_rate_in_its_own_axes(engine_of, moving):
    rpy = (0.4, -0.3, 1.1)
    robot = one_joint_robot('velocity', {}, com=(0.0, 0.0, 0.0), joint='continuous')
    carrier = 'arm' if moving else 'post'
    sensor = replace(solid_box('sensor', (0.01, 0.01, 0.01), 0.0), inertia=np.zeros((3, 3)))
    mount = Joint(
        name='mount', kind='fixed', parent=carrier, child='sensor', xyz=(0.0, 0.1, 0.0), rpy=rpy
    )
    robot = replace(
        robot,
        links=(*robot.links, sensor),
        joints=(*robot.joints, mount),
        imu_link='sensor',
    )
    engine = engine_of(robot)
    engine.reset(scene(fixed_base=True), seed=0)
    rate = 0.8
    seen = run(engine, 50, applied_targets(robot, velocity=[rate]))[-1]
    angle = seen.joint_positions[0] if moving else 0.0
    expected = Rotation.from_euler('y', angle) * Rotation.from_euler('xyz', rpy)
    got = Rotation.from_quat(seen.imu.orientation)
    assert (got * expected.inv()).magnitude() < 1e-7
    spin = [0.0, rate, 0.0] if moving else [0.0, 0.0, 0.0]
    np.testing.assert_allclose(seen.imu.angular_velocity, expected.inv().apply(spin), atol=1e-6)
    # The mount lies on the axis of the hinge: it turns but does not accelerate.
    np.testing.assert_allclose(
        seen.imu.linear_acceleration, expected.inv().apply([0.0, 0.0, G]), atol=1e-6
    )


def test_a_push_changes_momentum_by_force_times_time(engine_of):
    engine = engine_of(free_box(mass=4.0, com=(0.05, -0.02, 0.03)))
    push = Push(start=0.013, duration=0.1, force=(8.0, -4.0, 2.0))
    engine.reset(scene(gravity=WEIGHTLESS, pushes=(push,)), seed=0)
    seen = run(engine, 10)
    np.testing.assert_allclose(seen[-1].body_twists[0, 3:], 0.0, atol=1e-15)
    np.testing.assert_allclose(seen[-1].body_twists[0, :3], [0.2, -0.1, 0.05], atol=1e-12)
    # The window opens in the first period, 7 of whose 20 steps lie in it.
    np.testing.assert_allclose(seen[0].body_twists[0, 0], 0.2 * 7 / 100, rtol=1e-9)


def test_pushes_count_from_tick_zero_whatever_the_settling(engine_of):
    engine = engine_of(free_box(mass=4.0))
    push = Push(start=0.04, duration=0.02, force=(8.0, 0.0, 0.0))
    for settle in (0, 7):
        engine.reset(scene(gravity=WEIGHTLESS, pushes=(push,)), 0, settle_ticks=settle)
        speeds = [seen.body_twists[0, 0] for seen in run(engine, 3)]
        np.testing.assert_allclose(speeds, [0.0, 0.0, 0.04], atol=1e-12)


def test_a_push_on_a_fixed_link_acts_at_its_centre_of_mass(engine_of):
    body, tip = free_box(mass=4.0).links[0], solid_box('tip', (0.02, 0.02, 0.02), 1.0)
    joint = Joint(name='boom', kind='fixed', parent='box', child='tip', xyz=(0.5, 0.0, 0.0))
    robot = replace(free_box(), links=(body, tip), joints=(joint,))
    force, time = 2.0, 0.02
    push = Push(start=0.0, duration=time, force=(0.0, force, 0.0), link='tip')
    engine = engine_of(robot)
    engine.reset(scene(gravity=WEIGHTLESS, physics_step=0.0002, pushes=(push,)), seed=0)
    end = run(engine, 1)[-1]
    centre = 0.5 * 1.0 / 5.0
    about_z = body.inertia[2, 2] + tip.inertia[2, 2] + 4.0 * centre**2 + 1.0 * (0.5 - centre) ** 2
    spin = force * time * (0.5 - centre) / about_z
    assert end.body_twists[0, 5] == pytest.approx(spin, rel=1e-3)
    assert end.body_twists[0, 1] == pytest.approx(force * time / 5.0 - spin * centre, rel=1e-3)


def test_a_robot_at_rest_does_not_fall_asleep(engine_of):
    engine = engine_of(free_box(mass=4.0))
    push = Push(start=4.0, duration=0.2, force=(1.0, 0.0, 0.0))
    engine.reset(scene(friction=0.0, physics_step=0.002, pushes=(push,)), seed=0)
    assert run(engine, 220)[-1].body_twists[0, 0] == pytest.approx(0.05, rel=1e-6)


def test_a_robot_on_a_stand_does_not_move(engine_of):
    engine = engine_of(legged_box())
    start = engine.reset(scene(fixed_base=True, initial=InitialState(clearance=0.5)), seed=0)
    end = run(engine, 50)[-1]
    np.testing.assert_array_equal(end.body_poses, start.body_poses)
    np.testing.assert_array_equal(end.body_twists, 0.0)


@pytest.mark.parametrize('torque', [0.3, -0.3])
def test_off_diagonal_inertia_keeps_its_axes(engine_of, torque):
    turn = Rotation.from_euler('xyz', [0.5, -0.8, 0.3]).as_matrix()
    tilted = turn @ np.diag([0.02, 0.05, 0.06]) @ turn.T
    robot = one_joint_robot(com=(0.1, 0.0, -0.2), mass=2.0, inertia=tilted)
    engine = engine_of(robot)
    engine.reset(scene(fixed_base=True, gravity=WEIGHTLESS), seed=0)
    end = run(engine, 5, applied_targets(robot, effort=[torque]))[-1]
    about_hinge = tilted[1, 1] + 2.0 * (0.1**2 + 0.2**2)
    assert end.joint_velocities[0] == pytest.approx(0.1 * torque / about_hinge, rel=1e-6)


def test_an_inertia_that_no_body_can_have_is_not_dropped(engine_of):
    """The thigh of a published quadruped: its largest moment is 4 % too large."""
    thigh = np.diag([0.00041, 0.00179, 0.00230])
    robot = one_joint_robot(com=(0.0, 0.0, 0.0), inertia=thigh, joint='continuous')
    engine = engine_of(robot)
    engine.reset(scene(fixed_base=True), seed=0)
    end = run(engine, 5, applied_targets(robot, effort=[0.001]))[-1]
    # Bullet itself would set it to zero, and the joint would run away.
    assert end.joint_velocities[0] == pytest.approx(0.001 * 0.1 / (0.00179 + 0.0001), rel=0.01)


def test_the_base_pose_is_that_of_the_link_frame_not_of_the_inertial_frame(engine_of):
    turn = Rotation.from_euler('xyz', [0.4, 0.2, -0.9]).as_matrix()
    tilted = turn @ np.diag([0.02, 0.05, 0.06]) @ turn.T
    engine = engine_of(free_box(com=(0.1, -0.05, 0.02), inertia=tilted))
    attitude = InitialState(x=0.3, y=-0.2, roll=0.1, pitch=-0.2, yaw=0.5, clearance=1.0)
    seen = engine.reset(scene(initial=attitude, gravity=WEIGHTLESS), seed=0)
    wanted = Rotation.from_euler('xyz', [0.1, -0.2, 0.5])
    np.testing.assert_allclose(seen.body_poses[0, :2], [0.3, -0.2], atol=1e-12)
    np.testing.assert_allclose(seen.body_poses[0, 3:], wanted.as_quat(), atol=1e-12)


def test_the_base_twist_is_that_of_the_link_frame(engine_of):
    com = np.array([0.1, -0.05, 0.02])
    tip = replace(solid_box('tip', (0.02, 0.02, 0.02), 0.0), inertia=np.zeros((3, 3)))
    joint = Joint(name='boom', kind='fixed', parent='box', child='tip', xyz=(0.5, 0.2, 0.0))
    box = free_box(com=com)
    engine = engine_of(replace(box, links=(*box.links, tip), joints=(joint,)))
    push = Push(start=0.0, duration=0.02, force=(0.0, 0.0, 3.0), link='tip')
    aloft = InitialState(clearance=1.0)
    engine.reset(
        scene(gravity=WEIGHTLESS, physics_step=0.0002, pushes=(push,), initial=aloft), seed=0
    )
    end = run(engine, 1)[-1]
    twist, attitude = end.body_twists[0], Rotation.from_quat(end.body_poses[0, 3:])
    assert np.abs(twist[3:]).max() > 0.5
    # The centre of mass has the speed F t / m, whatever the box does about it.
    centre = twist[:3] + np.cross(twist[3:], attitude.apply(com))
    # MuJoCo moves the frame, not the centre: its error is of the order of the step.
    np.testing.assert_allclose(centre, [0.0, 0.0, 0.03], atol=1e-6)


def test_a_moving_chain_turns_about_the_axes_of_its_description(engine_of):
    """Every link's frame follows the forward kinematics of the model."""
    robot = legged_box(2, 3)
    skewed = tuple(
        replace(
            link,
            inertia=2e-3 * np.eye(3)
            + 1e-4 * np.array([[0.0, 1.0, 0.5], [1.0, 0.0, -0.7], [0.5, -0.7, 0.0]]),
            com=np.array([0.01, 0.02, -0.05]),
        )
        if link.name != 'base'
        else link
        for link in robot.links
    )
    for link in robot.links[1:]:
        tilted = replace(robot, links=skewed, imu_link=link.name)
        engine = engine_of(tilted)
        start = {name: 0.3 * (i + 1) for i, name in enumerate(robot.joint_names[:3])}
        seen = engine.reset(
            scene(fixed_base=True, initial=InitialState(joint_positions=start)), seed=0
        )
        chain = [joint.name for joint in robot.joints]
        upto = next(i for i, joint in enumerate(robot.joints) if joint.child == link.name)
        leg = chain[: upto + 1] if upto < 3 else chain[3 : upto + 1]
        pitch = sum(seen.joint_positions[robot.joint_index[name]] for name in leg)
        got = Rotation.from_quat(seen.imu.orientation)
        assert (got * Rotation.from_euler('y', pitch).inv()).magnitude() < 1e-7


def test_joint_damping_and_dry_friction_brake_as_described(engine_of):
    for limits, expected in (
        ({'damping': 0.2}, lambda v: v * np.exp(-0.2 / 0.1 * 0.3)),
        ({'friction': 0.05}, lambda v: v - 0.05 / 0.1 * 0.3),
    ):
        robot = one_joint_robot(com=(0.0, 0.0, 0.0), inertia=0.1, joint='continuous', **limits)
        engine = engine_of(robot)
        engine.reset(scene(fixed_base=True), seed=0)
        fast = run(engine, 5, applied_targets(robot, effort=[2.0]))[-1].joint_velocities[0]
        slow = run(engine, 15)[-1].joint_velocities[0]
        assert fast > 1.5
        assert slow == pytest.approx(expected(fast), rel=2e-3)


def test_actuator_kinds_give_the_motion_of_their_law(engine_of):
    inertia, gain = 0.1, 20.0
    still = {'com': (0.0, 0.0, 0.0), 'inertia': inertia, 'joint': 'continuous'}
    cases = {
        'position': ({'gain': gain}, {'position': [0.5]}),
        'velocity': ({}, {'velocity': [0.5]}),
        'pd': ({'stiffness': 5.0, 'damping': 0.0}, {'position': [0.5]}),
        'effort': ({}, {'effort': [0.5]}),
    }
    n = 200
    law = {
        'position': 0.5 * (1.0 - (1.0 - gain * 0.001) ** n),
        'velocity': 0.5 * 0.2,
        'pd': 0.5 * (1.0 - np.cos(np.sqrt(5.0 / inertia) * 0.2)),
        'effort': 0.5 * 0.5 / inertia * 0.2**2,
    }
    for kind, (constants, command) in cases.items():
        robot = one_joint_robot(kind, constants, **still)
        engine = engine_of(robot)
        engine.reset(scene(fixed_base=True), seed=0)
        end = run(engine, 10, applied_targets(robot, **command))[-1]
        assert end.joint_positions[0] == pytest.approx(law[kind], rel=0.01), kind
