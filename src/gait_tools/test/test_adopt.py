# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a bare description to a robot folder: what is found, proposed and doubted."""

from dataclasses import replace
import math
import re

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.load import load_robot, read_robot
from gait_core.testing.skips import need_engine
from gait_core.testing.walkers import (
    ANKLE_HEIGHT,
    LOWER,
    SHANK,
    THIGH,
    UPPER,
    arm_urdf,
    biped_urdf,
    cart_urdf,
    dog_urdf,
    insect_urdf,
)
from gait_core.trial.setup import make_scene, trial_of_scene
from gait_evolver.plan import load_plan
from gait_tools import cli
from gait_tools.adopt.adoption import propose_adoption
from gait_tools.adopt.folder import check_folder, write_robot_folder

HEIGHT = 0.75 * (UPPER + LOWER)
Y_UP = (math.pi / 2, 0.0, math.pi / 2)


@pytest.fixture
def adopted(tmp_path):
    """Return a function that adopts a text as a file."""

    def make(text, name='dog.urdf'):
        (tmp_path / name).write_text(text, encoding='utf-8')
        return propose_adoption(tmp_path / name)

    return make


def soles(robot):
    poses = link_poses(robot, robot.joint_stance)
    return np.array(
        [
            poses[row, :3, :3] @ np.array(leg.sole_point) + poses[row, :3, 3]
            for leg in robot.legs
            for row in [robot.link_index[leg.sole]]
        ]
    )


@pytest.mark.parametrize('root_rpy', [(0.0, 0.0, 0.0), Y_UP, (0.0, 0.0, math.pi)])
def test_legs_roles_and_frame_of_a_quadruped_are_found_whatever_its_axes(adopted, root_rpy):
    found = adopted(dog_urdf(root_rpy=root_rpy))
    assert [one.leg.name for one in found.legs] == ['fl', 'fr', 'rl', 'rr']
    for one in found.legs:
        prefix = one.leg.name.upper()
        assert one.leg.joints == (f'{prefix}_a', f'{prefix}_b', f'{prefix}_c')
        assert one.roles == ('abduction', 'hip', 'knee')
        assert one.leg.sole == f'{prefix}_toe'
        assert not one.is_sprawled
    turn = np.array(found.root_rpy or (0.0, 0.0, 0.0))
    np.testing.assert_allclose(np.sin(turn), np.sin(root_rpy), atol=1e-9)
    assert found.robot.mirror_pairs['FL_a'] == ('FR_a', -1.0)
    assert found.robot.mirror_pairs['RL_b'] == ('RR_b', 1.0)


def test_feet_stand_under_the_hips_with_knees_behind(adopted):
    found = adopted(dog_urdf())
    wanted = np.array([[x, y, -HEIGHT] for x in (0.2, -0.2) for y in (0.17, -0.17)])
    # Knees behind draw the centre of mass, and all feet with it, a little back.
    back = com_positions(found.robot, found.robot.joint_stance)[0]
    assert -0.02 < back < 0.0
    np.testing.assert_allclose(soles(found.robot), wanted + [back, 0.0, 0.0], atol=2e-4)
    # Cosine rule: thigh and shank of 0.2 m over a hip and a foot so far apart.
    far = math.hypot(HEIGHT, back)
    bend = math.pi - math.acos((UPPER**2 + LOWER**2 - far**2) / (2.0 * UPPER * LOWER))
    lean = 0.5 * bend - math.atan2(back, HEIGHT)
    for leg in found.robot.legs:
        abduction, hip, knee = (found.robot.nominal_stance[name] for name in leg.joints)
        assert abs(abduction) < 1e-5
        assert knee == pytest.approx(-bend, abs=3e-3)
        assert hip == pytest.approx(lean, abs=3e-3)


def test_limits_decide_which_way_knees_bend(adopted):
    text = dog_urdf()
    for name in ('FL', 'FR', 'RL', 'RR'):
        at = text.index(f'name="{name}_c"')
        text = text[:at] + text[at:].replace('lower="-2.6"', 'lower="0"', 1)
    found = adopted(text)
    assert all(found.robot.nominal_stance[f'{name}_c'] > 1.0 for name in ('FL', 'RR'))


def test_limits_of_one_side_alone_are_named_where_it_stands_otherwise(adopted):
    text = dog_urdf()
    at = text.index('name="FR_c"')
    found = adopted(text[:at] + text[at:].replace('lower="-2.6"', 'lower="0"', 1))
    assert found.robot.nominal_stance['FR_c'] > 1.0 > -1.0 > found.robot.nominal_stance['FL_c']
    stands, limits = (text for text in found.doubts if 'FR_c' in text)
    assert stands.startswith('left and right stand differently: ')
    assert 'FR_c to 0 ... 2.6' in limits and 'FL_c to -2.6 ... 2.6' in limits
    assert 'likewise 2 of these joints' in limits


def test_the_workspace_of_a_leg_in_its_plane_is_that_of_two_bars(adopted):
    found = adopted(dog_urdf(limits=(-6.0, 6.0)))
    space = found.workspaces['fl']
    # The scan stops at whole fortieths of the leg's length (0.45 m with its abduction).
    step = 0.45 / 40
    reach = math.sqrt((UPPER + LOWER) ** 2 - HEIGHT**2)
    assert 2.0 * (reach - step) <= space.forward + space.back <= 2.0 * reach
    assert UPPER + LOWER - HEIGHT - step <= space.down <= UPPER + LOWER - HEIGHT + 1e-9


def test_slow_joints_bound_the_speed(adopted):
    # A foot under its hip moves by the hip alone, at joint speed times height. In a trot with duty
    # factor 3/4 it returns in 1/4 of the cycle, so the robot goes at a third of this speed.
    slow = adopted(re.sub(r'velocity="[\d.]+"', 'velocity="1.5"', dog_urdf()))
    assert slow.gait['duty_factor'] == 0.75
    assert slow.gait['max_forward'] == pytest.approx(1.5 * HEIGHT / 3.0, abs=0.01)
    assert slow.gait['max_sideways'] == pytest.approx(1.5 * HEIGHT / 3.0, abs=0.01)
    assert adopted(dog_urdf()).gait['max_forward'] > 1.0


def test_an_insect_reaches_out_and_lifts_its_knees(adopted):
    found = adopted(insect_urdf(), 'insect.urdf')
    assert [one.leg.name for one in found.legs] == ['lf', 'rf', 'lm', 'rm', 'lr', 'rr']
    assert all(one.roles == ('yaw', 'hip', 'knee') and one.is_sprawled for one in found.legs)
    assert found.gait['gait'] == 'tripod'
    feet = soles(found.robot)
    assert np.ptp(feet[:, 2]) < 1e-4
    np.testing.assert_allclose(feet[::2, 1], -feet[1::2, 1], atol=1e-4)
    poses = link_poses(found.robot, found.robot.joint_stance)
    for leg, foot in zip(found.robot.legs, feet, strict=True):
        knee = poses[found.robot.link_index[found.robot.joint[leg.joints[2]].child], :3, 3]
        assert knee[2] > foot[2] + 0.05


def test_two_legs_on_soles_get_a_walk_that_balances(adopted):
    found = adopted(biped_urdf(), 'biped.urdf')
    assert [one.leg.name for one in found.legs] == ['l', 'r']
    assert found.legs[0].roles == ('yaw', 'abduction', 'hip', 'knee', 'ankle', 'ankle_roll')
    assert found.controller == 'zmp_walk'
    assert found.doubts == ()
    # 0.92 of the stretched leg under the hips, and a step of 2.7 root(h / g).
    hips = 0.92 * (THIGH + SHANK) + ANKLE_HEIGHT
    com_height = com_positions(found.robot, found.robot.joint_stance)[2] + hips
    assert found.gait['step_time'] == pytest.approx(2.7 * math.sqrt(com_height / 9.81), abs=0.01)
    assert found.gait['stride_height'] == pytest.approx(0.06 * hips, abs=1e-3)
    assert 0.2 < found.gait['max_forward'] < 1.0


@pytest.mark.parametrize(
    ('text', 'doubt'),
    [
        (
            biped_urdf(sole=(0.01, 0.01)),
            'the sole of leg l is 10 x 10 mm, expected at least 20 mm',
        ),
        (
            biped_urdf()
            .replace(
                'name="left_ankle_roll" type="revolute"', 'name="left_ankle_roll" type="fixed"'
            )
            .replace('name="left_hip_yaw" type="revolute"', 'name="left_hip_yaw" type="fixed"'),
            'leg l has 4 joints, not 5',
        ),
    ],
)
def test_two_legs_that_cannot_balance_are_doubted_and_hold(adopted, text, doubt):
    found = adopted(text, 'biped.urdf')
    assert found.controller == ''
    assert found.gait == {}
    assert any(doubt in line for line in found.doubts)


def test_what_no_name_or_number_tells_is_doubted(adopted):
    found = adopted(dog_urdf(names=('8', '0', 'x1', 'y'), effort=0.0))
    assert [one.leg.joints[0] for one in found.legs] == ['8_a', '0_a', 'x1_a', 'y_a']
    assert any('forward is taken as x' in text for text in found.doubts)
    assert any('12 joints have no effort limit' in text for text in found.doubts)
    assert adopted(dog_urdf()).doubts == ()


def test_limits_that_are_none_are_doubted(adopted):
    # 10.6 kg on legs of 0.45 m, which 47 N m lift: twenty times as much is no limit.
    (doubt,) = adopted(dog_urdf(effort=1000.0)).doubts
    assert doubt.startswith('the effort limit of 12 joints, up to 1000 N m, is implausible')
    assert adopted(dog_urdf(effort=900.0)).doubts == ()


def test_a_heavy_head_shifts_the_feet_under_the_centre_of_mass(adopted):
    head = (
        '<joint name="neck" type="fixed"><origin xyz="0.4 0 0.1"/><parent link="trunk"/>'
        '<child link="head"/></joint><link name="head"><inertial><mass value="3"/>'
        '<inertia ixx="1e-2" ixy="0" ixz="0" iyy="1e-2" iyz="0" izz="1e-2"/></inertial></link>'
    )
    found = adopted(dog_urdf().replace('</robot>', f'{head}</robot>'))
    shift = soles(found.robot)[:, 0].mean()
    assert shift == pytest.approx(
        com_positions(found.robot, found.robot.joint_stance)[0], abs=2e-3
    )
    assert shift > 0.05
    assert any('feet are shifted' in text for text in found.doubts)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (arm_urdf(), 'no legs: its 4 joints form an arm on a fixed base'),
        (cart_urdf(), r'drives on wheels \(fl_wheel, fr_wheel, rl_wheel, rr_wheel\)'),
        (
            '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link></robot>',
            'no moving joint, expected legs',
        ),
        (
            dog_urdf().replace('<box size="0.5 0.25 0.1"/>', '<mesh filename="trunk.stl"/>'),
            "mesh file 'trunk.stl' does not exist",
        ),
        (
            re.sub(r'xyz="([-\d.]+) ([-\d.]+) ([-\d.]+)"', r'xyz="\1e3 \2e3 \3e3"', dog_urdf()),
            'looks like millimetres; scale it to metres',
        ),
    ],
)
def test_what_cannot_be_adopted_is_named_in_one_line(adopted, text, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        adopted(text)
    assert '\n' not in str(caught.value)


def test_the_folder_gives_the_robot_as_it_was_proposed(tmp_path, adopted):
    cube = ' '.join(f'v {x} {y} {z}\n' for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    (tmp_path / 'cube.obj').write_text(cube, encoding='utf-8')
    text = dog_urdf(names=('8', '0', 'on', 'y'), root_rpy=Y_UP).replace(
        '<geometry><box size="0.05 0.05 0.05"/></geometry>',
        '<geometry><mesh filename="cube.obj" scale="0.02 0.02 0.02"/></geometry>',
    )
    found = adopted(text)
    folder = tmp_path / 'rex'
    check_folder(folder)
    write_robot_folder(folder, found)
    assert (folder / 'meshes' / 'cube.obj').is_file()
    robot = read_robot(folder)
    assert robot.name == 'rex'
    assert robot.joint_names == found.robot.joint_names
    assert robot.legs == tuple(
        replace(leg, sole_point=tuple(round(value, 6) for value in leg.sole_point))
        for leg in found.robot.legs
    )
    assert robot.mirror_pairs == found.robot.mirror_pairs
    np.testing.assert_allclose(robot.joint_stance, found.robot.joint_stance, atol=1e-6)
    np.testing.assert_allclose(soles(robot), soles(found.robot), atol=1e-5)
    assert robot.defaults['gait'] == found.gait
    assert robot.defaults['controller'] == 'phase_cpg'
    with pytest.raises(ConfigurationError, match='exists already'):
        check_folder(folder)


def test_a_folder_that_is_written_again_is_read_again(tmp_path):
    (tmp_path / 'dog.urdf').write_text(dog_urdf(), encoding='utf-8')
    knees = []
    for height in (0.0, 0.9):
        write_robot_folder(
            tmp_path / 'rex', propose_adoption(tmp_path / 'dog.urdf', height=height)
        )
        knees.append(load_robot(str(tmp_path / 'rex')).nominal_stance['FL_c'])
    assert knees[1] > knees[0] + 0.3


@pytest.mark.parametrize('name', ['my dog', '7', 'a-b'])
def test_a_folder_that_cannot_name_a_robot_is_refused(tmp_path, name):
    with pytest.raises(ConfigurationError, match='expected letters, digits and _'):
        check_folder(tmp_path / name)


def test_searches_and_presets_start_from_the_gait_of_an_adopted_hexapod(adopted, tmp_path, capsys):
    need_engine('mujoco')
    found = adopted(insect_urdf(), 'insect.urdf')
    folder = tmp_path / 'insect'
    write_robot_folder(folder, found)
    assert found.gait['gait'] == 'tripod' and found.gait['heading_gain'] > 0.0
    experiment = tmp_path / 'search.yaml'
    experiment.write_text(
        f'robot: {folder}\ngenes: {{body_shift:}}\nfitness: {{distance: 1.0}}\n'
        'scene: {engine: mujoco}\nduration: 2.0\n'
    )
    searched = load_plan(str(experiment)).trial.parameters
    assert {name: searched[name] for name in found.gait} == dict(found.gait)
    scene = make_scene(str(folder), {'engine': 'mujoco'})
    assert trial_of_scene(scene).parameters == searched
    # A preset that is named changes the gait alone, for an experiment as for a walk.
    rippling = load_plan(str(experiment), {'preset': 'ripple'}).trial.parameters
    assert rippling['gait'] == 'ripple'
    kept = set(found.gait) - {'gait', 'duty_factor', 'frequency'}
    assert {name: rippling[name] for name in kept} == {name: found.gait[name] for name in kept}
    assert trial_of_scene(scene, preset='ripple').parameters == rippling
    assert cli.main(['walk', str(folder), '--controller', 'hold', '--seconds', '0.1']) == 0
    assert "'hold' starts from its preset 'stand'" in capsys.readouterr().err
