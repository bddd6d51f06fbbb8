# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The walk on a previewed zero-moment point: masses, kinematics, balance and the controller."""

from dataclasses import replace
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.motion.observation import Imu, Observation
from gait_core.parameters.declaration import make_parameters
from gait_core.robot.legged_box import legged_box
from gait_core.testing.walkers import ANKLE_HEIGHT, biped_urdf
from gait_core.trial.spec import Command
from gait_stage_walk.zmp.biped import Biped, WholeBodyIk
from gait_stage_walk.zmp.controller import ZmpWalkController
from gait_stage_walk.zmp.mass_model import mass_model
from gait_stage_walk.zmp.parameters import ZmpWalkParams
from gait_stage_walk.zmp.stabiliser import MAX_SOLE_ANGLE, Stabiliser
from gait_tools.adopt.adoption import propose_adoption

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def robot_of(tmp_path_factory, **shape):
    place = tmp_path_factory.mktemp('biped') / 'biped.urdf'
    place.write_text(biped_urdf(**shape), encoding='utf-8')
    return propose_adoption(place).robot


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return robot_of(tmp_path_factory)


@pytest.fixture(scope='module')
def biped(robot):
    return Biped(robot, 'zmp_walk')


def seen(orientation=UPRIGHT, rates=(0.0, 0.0, 0.0)):
    imu = Imu(
        orientation=np.array(orientation),
        angular_velocity=np.array(rates),
        linear_acceleration=np.array([0.0, 0.0, 9.81]),
    )
    return Observation(tick=0, time=0.0, imu=imu)


def test_soles_and_stance_are_read_off_the_description(biped):
    assert biped.leg_names == ('l', 'r')
    np.testing.assert_allclose(biped.soles, [[[-0.1, -0.05], [0.1, 0.05]]] * 2, atol=1e-9)
    assert biped.half_width == pytest.approx(0.1, abs=1e-4)
    assert biped.height == pytest.approx(0.92 * 0.7 + ANKLE_HEIGHT, abs=1e-3)
    assert biped.max_height() == pytest.approx(0.7 + ANKLE_HEIGHT, abs=2e-3)


def test_feet_with_all_the_mass_of_the_legs_give_the_model_in_closed_form(tmp_path_factory):
    # Only the links that follow a foot to the full have mass: L = 1 for them, 0 for the body.
    heavy = Biped(robot_of(tmp_path_factory, masses=(1e-6, 1e-6, 3.0, 1e-6)), 'zmp_walk')
    model = mass_model(heavy, heavy.height)
    total, share, low = 30.0 + 6.0, 3.0 / 36.0, ANKLE_HEIGHT
    body = 30.0 / total * heavy.height
    # The links' centres of mass are at their joints: body at the hips, foot at the ankle.
    assert model.height == pytest.approx(body / (1.0 - 2.0 * share), rel=1e-3)
    assert model.foot_coefficient == pytest.approx(model.height * share - share * low, rel=1e-3)
    assert model.lifted_share == pytest.approx(share, rel=1e-3)
    assert model.inward == pytest.approx(0.0, abs=1e-4)


def test_legs_without_mass_leave_the_cart_table(tmp_path_factory):
    light = Biped(robot_of(tmp_path_factory, masses=(1e-6, 1e-6, 1e-6, 1e-6)), 'zmp_walk')
    model = mass_model(light, light.height)
    assert model.height == pytest.approx(light.height + light.com[2], rel=1e-3)
    assert abs(model.foot_coefficient) < 1e-4
    assert abs(model.lifted_share) < 1e-3


@settings(max_examples=15, deadline=None)
@given(
    com=st.tuples(st.floats(-0.05, 0.05), st.floats(-0.08, 0.08)),
    step=st.tuples(st.floats(-0.15, 0.15), st.floats(0.0, 0.1), st.floats(0.0, 0.1)),
    yaw=st.floats(-0.3, 0.3),
)
def test_mass_and_feet_are_where_they_were_wanted(biped, com, step, yaw):
    body = WholeBodyIk(biped)
    feet = np.zeros((2, 4))
    feet[:, :2] = biped.feet[:, :2] - biped.com[:2]
    feet[0] += (*step, yaw)
    joints, level = biped.robot.joint_stance.copy(), 0.9 * biped.height
    soles = np.tile(np.eye(3), (2, 1, 1))
    for _ in range(4):
        joints[biped.columns] = body.solve_joints(np.array(com), level, feet, soles)
    x, y, z, turn = body.base
    pose = np.array([x, y, z, 0.0, 0.0, math.sin(0.5 * turn), math.cos(0.5 * turn)])
    found = com_positions(biped.robot, joints, pose[None])
    np.testing.assert_allclose(found[:2], com, atol=1e-4)
    poses = link_poses(biped.robot, joints, pose)
    for row, leg in enumerate(biped.robot.legs):
        frame = poses[biped.robot.link_index[leg.sole]]
        point = frame[:3, :3] @ np.array(leg.sole_point) + frame[:3, 3]
        np.testing.assert_allclose(point, feet[row, :3], atol=2e-6)
        assert math.atan2(frame[1, 0], frame[0, 0]) == pytest.approx(feet[row, 3], abs=1e-5)
        assert frame[2, 2] == pytest.approx(1.0, abs=1e-9)


def test_soles_push_against_a_lean_and_the_capture_point_is_where_it_carries():
    params = make_parameters(ZmpWalkParams, {'balance_gain': 0.5, 'balance_damping': 0.1})
    one = Stabiliser()
    pitch = 0.04
    one.update_tilt(
        seen((0.0, math.sin(0.5 * pitch), 0.0, math.cos(0.5 * pitch)), (0, 0.2, 0)), params
    )
    soles = one.turn_soles(1.0, swing=-1)
    # Toes down, 0.5 * 0.04 + 0.1 * 0.2, where the body falls forward.
    assert math.asin(-soles[0, 2, 0]) == pytest.approx(0.04)
    # A foot in the air does not push.
    assert one.turn_soles(1.0, swing=1)[1].tolist() == np.eye(3).tolist()
    assert one.capture_error(0.8, 4.0) == pytest.approx((0.8 * math.sin(0.04 + 0.05), 0.0))
    one.update_tilt(seen((math.sin(0.5), 0.0, 0.0, math.cos(0.5)), (0, 0, 0)), params)
    assert math.asin(one.turn_soles(1.0, swing=-1)[0, 2, 1]) == pytest.approx(MAX_SOLE_ANGLE)
    assert one.capture_error(0.8, 4.0)[1] < 0.0
    one.update_tilt(
        seen((math.sin(0.5), 0.0, 0.0, math.cos(0.5))),
        make_parameters(ZmpWalkParams, {'balance_gain': 0.0, 'balance_damping': 0.0}),
    )
    assert one.turn_soles(1.0, swing=-1).tolist() == [np.eye(3).tolist()] * 2


def stepped(controller, seconds, velocity=(0.0, 0.0, 0.0), **set_points):
    """Return the joints of every sub-sample of a walk that observes an upright base."""
    command = Command(velocity=velocity, set_points=set_points)
    ticks = round(seconds / 0.02)
    given_ = [controller.step(0.02, command, seen()) for _ in range(ticks)]
    return np.concatenate([targets.position for targets in given_])


def test_it_stands_until_told_to_walk_stops_squats_and_rises(robot):
    one = ZmpWalkController(robot, make_parameters(ZmpWalkParams, {}))
    standing = stepped(one, 1.0)
    assert one.state()['stage'] == 0.0
    assert np.ptp(standing[-50:], axis=0).max() < 1e-3
    moving = stepped(one, 3.0, (0.2, 0.0, 0.0))
    steps = one.state()['steps']
    assert steps >= 2.0
    # No joint jumps: 4 ms at the 20 rad/s of the description are 0.08 rad.
    assert np.abs(np.diff(moving, axis=0)).max() < 0.03
    stepped(one, 4.0, (0.2, 0.0, 0.0), stop=1.0)
    assert one.state()['stage'] == 0.0
    upright = stepped(one, 0.5)[-1]
    squat = stepped(one, 4.0, (0.2, 0.0, 0.0), sit=1.0)[-1]
    knee = one._biped.names.index('left_knee')
    assert squat[knee] > upright[knee] + 0.4
    assert one.state()['stage'] == 0.0
    np.testing.assert_allclose(stepped(one, 3.0)[-1], upright, atol=0.01)


def test_landings_are_where_the_feet_come_down(robot):
    one = ZmpWalkController(robot, make_parameters(ZmpWalkParams, {}))
    while not one.planned_footholds():
        stepped(one, 0.02, (0.2, 0.0, 0.0))
    (leg, place), *_ = one.planned_footholds().items()
    assert leg == 'l'
    assert place[2] == pytest.approx(-one._base_height)
    assert 0.02 < place[0] < 0.3
    assert place[1] > 0.0


def test_odometry_adds_up_what_was_planned(robot):
    params = make_parameters(
        ZmpWalkParams, {'odometry': True, 'balance_gain': 0.0, 'balance_damping': 0.0}
    )
    one = ZmpWalkController(robot, params)
    assert one.needs == {'joint_positions'}
    joints = robot.joint_stance[: len(robot.joint_names)].copy()
    command = Command(velocity=(0.3, 0.0, 0.0))
    for tick in range(250):
        shown = Observation(
            tick=tick, time=0.02 * tick, joint_names=robot.joint_names, joint_positions=joints
        )
        targets = one.step(0.02, command, shown)
        joints[[robot.joint_index[name] for name in targets.names]] = targets.position[-1]
    place = one._body.base
    assert one.state()['odom.x'] == pytest.approx(place[0], abs=0.02)
    assert one.state()['odom.y'] == pytest.approx(place[1], abs=0.02)


def test_a_lean_leads_the_next_foot_to_the_side(robot):
    leaning = (math.sin(0.05), 0.0, 0.0, math.cos(0.05))  # To the right.
    landed = []
    for gain in (0.0, 1.0):
        one = ZmpWalkController(robot, make_parameters(ZmpWalkParams, {'capture_gain': gain}))
        while one.state()['stance.r'] == 1.0:
            stepped(one, 0.02, (0.2, 0.0, 0.0))
        for _ in range(8):
            one.step(0.02, Command(velocity=(0.2, 0.0, 0.0)), seen(leaning))
        landed.append(one.planned_footholds()['r'])
    assert landed[1][1] < landed[0][1] - 0.05


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda robot: legged_box(4, 3, roll=True), 'needs 2 legs, robot .* has 4'),
        (
            lambda robot: replace(
                robot, legs=tuple(replace(leg, joints=leg.joints[2:]) for leg in robot.legs)
            ),
            "needs legs of 5 joints, leg 'l' .* has 4",
        ),
    ],
)
def test_what_cannot_walk_so_is_named_in_one_line(robot, make, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        ZmpWalkController(make(robot), make_parameters(ZmpWalkParams, {}))
    assert '\n' not in str(caught.value)


def test_feet_that_are_points_are_refused(tmp_path_factory):
    with pytest.raises(ConfigurationError, match='needs soles of 20 x 20 mm, .* 10 x 10 mm'):
        Biped(robot_of(tmp_path_factory, sole=(0.01, 0.01)), 'zmp_walk')
