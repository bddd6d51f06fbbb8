# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The spider against the numbers of Bishop (2008): tables 4.1 and 4.2 and appendix C."""

from dataclasses import replace
import math

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.check import check_robot
from gait_core.robot.load import load_robot
from gait_core.robot.model import Actuator

SPIDER = load_robot('spider')


def test_the_middle_body_weighs_what_its_parts_do():
    core, upper, lower = (SPIDER.links[SPIDER.link_index[name]] for name in CHAIN)
    assert pytest.approx(12.57, abs=0.02) == SPIDER.mass
    assert core.mass == pytest.approx(6.96, abs=0.01)
    assert upper.mass == pytest.approx(1.16, abs=0.01)
    # The lower leg carries no actuator: the thesis's own body, to the last digit given.
    assert lower.mass == pytest.approx(0.244, abs=5e-4)
    assert lower.com == pytest.approx([0.2204, 0.0, 0.0], abs=5e-5)
    assert np.diag(lower.inertia) == pytest.approx([0.00016, 0.00099, 0.00099], abs=1e-5)
    assert core.com == pytest.approx([0.0, 0.0, 0.0726], abs=5e-5)


CHAIN = ('base_link', 'fl_upper', 'fl_lower')


def test_servos_have_the_lengths_of_the_spawn_pose_alike_in_all_legs():
    lengths = element_lengths_at(SPIDER, SPIDER.joint_stance)
    assert lengths[:8] == pytest.approx(0.2936, abs=5e-4)
    assert lengths[8:] == pytest.approx(0.2158, abs=5e-4)
    assert np.ptp(lengths[:8]) == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(lengths[8:]) == pytest.approx(0.0, abs=1e-12)


def test_legs_are_the_same_leg_turned_by_right_angles():
    poses = link_poses(SPIDER, SPIDER.joint_stance)
    for k, leg in enumerate(SPIDER.legs):
        turn = 0.5 * math.pi * k
        rotation = np.eye(4)
        rotation[:2, :2] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
        first = poses[SPIDER.link_index[SPIDER.legs[0].sole]]
        assert poses[SPIDER.link_index[leg.sole]] == pytest.approx(rotation @ first, abs=1e-12)


def test_feet_stand_at_their_radius_below_the_platform():
    # Derived from the spawn pose: 0.545 m from the middle, soles 0.290 m under the riser's.
    poses = link_poses(SPIDER, SPIDER.joint_stance)
    leg = SPIDER.legs[0]
    sole = SPIDER.links[SPIDER.link_index[leg.sole]]
    foot = sole.collisions[1]
    centre = (poses[SPIDER.link_index[leg.sole]] @ [*foot.xyz, 1.0])[:3]
    assert math.hypot(*centre[:2]) == pytest.approx(0.545, abs=1e-3)
    assert foot.size[0] - centre[2] == pytest.approx(0.290, abs=1e-3)


def test_hips_turn_about_three_axes_and_knees_about_one():
    assert len(SPIDER.joint_names) == 16
    assert len(SPIDER.ball_joints) == 4
    knees = [joint for joint in SPIDER.joints if joint.kind == 'revolute']
    assert len(knees) == 4
    for knee in knees:
        assert (knee.lower, knee.upper) == pytest.approx((0.2, 2.8), abs=1e-12)


def test_lever_arms_of_the_servos_of_a_leg_are_those_of_the_thesis():
    arms = {'v0': (0.0, 0.154, 0.133), 'v1': (0.0, 0.154, -0.133), 'r0': (-0.154, -0.028, 0.012)}
    names = [element.name for element in SPIDER.force_elements]
    for name, expected in arms.items():
        found = [_arm(names.index(name), joint) for joint in ('fl_roll', 'fl_lift', 'fl_yaw')]
        roll, lift, yaw = found
        # The thesis's y' and z' are those of the leg before it is rolled.
        cosine, sine = math.cos(0.395), math.sin(0.395)
        unrolled = (roll, cosine * lift + sine * yaw, cosine * yaw - sine * lift)
        assert unrolled == pytest.approx(expected, abs=1e-3), name


def _arm(element: int, joint: str) -> float:
    h, lengths = 1e-6, []
    for step in (h, -h):
        moved = SPIDER.joint_stance.copy()
        moved[SPIDER.joint_index[joint]] += step
        lengths.append(element_lengths_at(SPIDER, moved)[element])
    return float((lengths[0] - lengths[1]) / (2.0 * h))


def test_bodies_differ_by_their_draw_and_are_the_same_for_the_same():
    drawn = [load_robot('spider', draw) for draw in (7, 8)]
    assert drawn[0].mass != drawn[1].mass
    for robot in drawn:
        assert 11.5 < robot.mass < 13.7
        lengths = element_lengths_at(robot, robot.joint_stance)
        assert np.all((0.25 < lengths[:8]) & (lengths[:8] < 0.34))
        assert np.all((0.18 < lengths[8:]) & (lengths[8:] < 0.25))
    again = load_robot('spider', 7)
    assert again.mass == drawn[0].mass


def test_parameters_of_many_draws_fill_their_ranges():
    # The module is the robot's own; it is reached where the loader has put it.
    import sys

    module = sys.modules['gait_robot_spider']
    rng = np.random.default_rng(1)
    rows = np.array([list(module.draw_body(1, rng).values()) for _ in range(20000)])
    for i, (name, (low, high)) in enumerate(module.RANGES.items()):
        if name == 'KLL':
            continue
        assert rows[:, i].min() >= low and rows[:, i].max() <= high, name
        # A uniform mean of 20000 strays by 1 % of the width in one of 10^6 tests.
        assert rows[:, i].mean() == pytest.approx(0.5 * (low + high), abs=0.01 * (high - low))
    body = module.draw_body(3, np.random.default_rng(3))
    along = body['KBR'] * math.cos(body['LLZA']) + 0.5 * body['ULL']
    assert body['KLL'] == pytest.approx(
        math.sqrt(along**2 + (body['KBR'] * math.sin(body['LLZA'])) ** 2), abs=1e-12
    )


@pytest.mark.parametrize(
    ('joint', 'constants', 'words'),
    [
        ('fl_knee', {'stiffness': 1.0, 'crank': 0.2, 'rod': 0.1}, 'longer than its crank'),
        ('fl_yaw', {'stiffness': 1.0, 'crank': 0.1, 'rod': 0.2}, 'needs a revolute joint'),
    ],
)
def test_a_crank_that_cannot_turn_its_joint_is_refused(joint, constants, words):
    actuators = {**SPIDER.actuators, joint: Actuator(kind='slider_crank', constants=constants)}
    with pytest.raises(ConfigurationError, match=words):
        check_robot(replace(SPIDER, actuators=actuators))
