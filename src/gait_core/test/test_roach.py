# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The roach against the numbers of McKenna (1990): bodies, masses, toes, springs."""

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.load import load_robot
from gait_core.trial.setup import make_scene

ROACH = load_robot('roach')
# Toe tips of the left legs in the thorax frame [cm], as front, middle, back.
INITIAL = [(1.842, 1.010, -1.073), (0.510, 1.650, -1.552), (-1.018, 1.847, -1.839)]
TOUCH_DOWN = [(1.669, 1.070, -1.128), (0.878, 1.777, -1.508), (-0.104, 2.041, -1.717)]
LIFT_OFF = [(1.363, 1.455, -1.187), (0.066, 1.928, -1.569), (-1.018, 1.847, -1.839)]
# Angles of joints 0, 1 and 2 of those legs where the step and where the stance ends.
STEP_ENDS = [(-0.7, -0.3, -0.2), (-0.25, -0.5, 0.2), (-0.1, 0.4, -0.35)]
STANCE_ENDS = [(-0.05, -0.3, 0.1), (0.25, -0.9, 0.8), (0.3, -0.2, 0.4)]


def toes(angles=None) -> np.ndarray:
    """Return the toes, (6, 3) [m], in the thorax frame: fl, fr, ml, mr, bl, br."""
    joints = ROACH.stance.copy()
    if angles is not None:
        for leg, side in ((leg, 1.0 if leg.name[1] == 'l' else -1.0) for leg in ROACH.legs):
            for name, angle in zip(leg.joints, angles['fmb'.index(leg.name[0])], strict=False):
                joints[ROACH.joint_index[name]] = side * angle
    poses = link_poses(ROACH, joints)
    thorax = np.linalg.inv(poses[ROACH.link_index['thorax']])
    return np.array(
        [
            (thorax @ poses[ROACH.link_index[leg.sole]] @ [*leg.sole_point, 1.0])[:3]
            for leg in ROACH.legs
        ]
    )


def test_it_has_33_bodies_and_32_hinges_and_weighs_what_its_boxes_do():
    assert (len(ROACH.links), len(ROACH.joint_names)) == (33, 32)
    assert {joint.kind for joint in ROACH.joints} == {'revolute'}
    assert ROACH.mass == pytest.approx(2.1755e-3, rel=1e-4)
    # The thesis says 2.1 g; its boxes have bevelled edges.
    assert ROACH.mass == pytest.approx(2.1e-3, rel=0.04)


def test_it_is_as_long_as_the_thesis_says():
    poses = link_poses(ROACH, ROACH.stance)
    ends = []
    for link in ('abdomen', 'head'):
        shape = ROACH.links[ROACH.link_index[link]].collisions[0]
        corners = np.array(shape.xyz) + 0.5 * np.array(shape.size) * [[-1, 0, 0], [1, 0, 0]]
        pose = poses[ROACH.link_index[link]]
        ends += (corners @ pose[:3, :3].T + pose[:3, 3])[:, 0].tolist()
    assert 0.029 < max(ends) - min(ends) < 0.030


@pytest.mark.parametrize(
    ('angles', 'expected'),
    [(None, INITIAL), (STEP_ENDS, TOUCH_DOWN), (STANCE_ENDS, LIFT_OFF)],
)
def test_its_toes_are_where_the_script_puts_them(angles, expected):
    assert 100.0 * toes(angles)[::2] == pytest.approx(np.array(expected), abs=1e-3)


def test_mirrored_angles_mirror_the_toes():
    drawn = np.random.default_rng(3).uniform(-0.8, 0.8, (3, 3))
    found = toes(drawn)
    assert found[1::2] == pytest.approx(found[::2] * [1.0, -1.0, 1.0], abs=1e-12)
    signs = {ROACH.mirror_pairs[name][1] for leg in ROACH.legs for name in leg.joints}
    assert signs == {-1.0}


def test_springs_are_as_strong_as_what_hangs_on_them_is_heavy():
    # alpha in micronewton metres and damping in micronewton metre seconds, per kilogram as
    # recovered: of the segment and all beyond it.
    for joint, strength, rise, damping in (
        ('leg_fl0', 30.82, 6.0, 0.9245),
        ('leg_fr2', 1.949, 6.0, 0.0585),
        ('leg_ml1', 5.074, 16.0, 0.1522),
        ('leg_bl0', 46.81, 16.0, 1.404),
        ('leg_br4', 0.0858, 8.0, 0.01286),
        ('thorax', 11.78, 10.0, 4.91),
    ):
        actuator = ROACH.actuators[joint]
        assert actuator.kind == 'exponential'
        assert actuator.constants['strength'] == pytest.approx(1e-6 * strength, rel=1e-3)
        assert actuator.constants['rise'] == rise
        assert actuator.constants['damping'] == pytest.approx(1e-6 * damping, rel=1e-3)


def test_a_draw_puts_a_stump_in_the_place_of_one_leg():
    whole, left = [
        [robot.links[robot.link_index[f'{leg.name}_2']].mass for leg in robot.legs]
        for robot in (ROACH, load_robot('roach', 3))
    ]
    assert left == pytest.approx([*whole[:2], 0.2 * whole[2], *whole[3:]])


def test_there_is_no_seventh_leg_to_miss():
    with pytest.raises(ConfigurationError, match=r'^scene\.draw is 7, .*nearest valid: 6$'):
        make_scene('roach', {'draw': 7})


def test_its_terrains_are_of_its_size_unless_told_otherwise():
    usual = make_scene('roach', {'terrain': {'name': 'steps'}}).terrain
    assert usual.parameters['height'] == 0.002
    told = make_scene('roach', {'terrain': {'name': 'steps', 'parameters': {'height': 0.004}}})
    assert dict(told.terrain.parameters) == {**usual.parameters, 'height': 0.004}
    assert dict(make_scene('roach', {}).terrain.parameters) == {}


def test_each_engine_gets_the_physics_step_that_it_needs():
    steps = {
        name: make_scene('roach', {'engine': name}).physics_step for name in ('mujoco', 'bullet')
    }
    assert steps == pytest.approx({'mujoco': 1.0 / 38400.0, 'bullet': 1.0 / 76800.0})
    assert (
        make_scene('roach', {'engine': 'bullet', 'physics_step': 1e-4 / 2.4}).physics_step < 5e-5
    )
