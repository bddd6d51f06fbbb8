# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""The load report: true on robots of others, and on faults made on purpose."""

import dataclasses
import json

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.find import find_robot
from gait_core.robot.load import load_robot, read_robot
from gait_core.robot.load_report import report_robot
from gait_core.robot.model import Joint, Link, RobotModel, Shape
from gait_core.robot.overlap import find_overlaps
from gait_core.testing.doubles import legged_box
from gait_core.testing.skips import need_data
from gait_core.trial.scene import EMPTY_MAPPING

GUROO = load_robot('guroo')


def data_file(name: str) -> str:
    return str(need_data(f'pybullet_data:{name}'))


def described(path, packages=EMPTY_MAPPING):
    return report_robot(read_robot(find_robot(str(path)), packages))


def two(first: Shape, second: Shape, apart, kind: str = 'revolute') -> RobotModel:
    """Return a base and a link on a joint, or on a joint behind another link if apart."""
    links = [
        Link(name=name, mass=1.0, com=np.zeros(3), inertia=np.eye(3), collisions=shapes)
        for name, shapes in (('base', (first,)), ('middle', ()), ('tip', (second,)))
    ]
    joints = (
        Joint(name='a', kind='revolute', parent='base', child='middle'),
        Joint(name='b', kind=kind, parent='middle', child='tip', xyz=apart),
    )
    names = tuple(joint.name for joint in joints if joint.kind != 'fixed')
    return RobotModel(
        name='two', links=tuple(links), joints=joints, joint_names=names, actuators={}
    )


def test_guroo_has_nothing_to_warn_of_but_its_sole_frames():
    report = report_robot(GUROO)
    assert report.total_mass == pytest.approx(38.0, abs=1e-9)
    assert (report.links, report.joints, report.up, report.forward) == (26, 23, 'z', 'x')
    assert report.height == pytest.approx(0.62, abs=1e-9)
    assert report.legs['left'][-1] == 'l_sole'
    assert report.without_mass == ('l_sole', 'r_sole')
    assert len(report.warnings) == 1
    assert report.overlaps == ()


def test_a_y_up_file_is_warned_of_with_the_turn_that_mends_it():
    bad = described(data_file('laikago/laikago_toes.urdf'))
    assert (bad.up, bad.forward) == ('y', 'z')
    warning = next(text for text in bad.warnings if 'z up' in text)
    assert 'root_rpy: [1.5708, 0.0000, 1.5708]' in warning
    good = described(data_file('laikago/laikago_toes_zup.urdf'))
    assert (good.up, good.forward) == ('z', 'x')
    assert not any('z up' in text for text in good.warnings)
    # Its toes' joints are endless: they need no limits.
    assert good.without_position_limits == ()


def test_the_turn_of_the_warning_is_right(tmp_path):
    data_file('laikago/laikago_toes.urdf')
    (tmp_path / 'robot.yaml').write_text(
        'urdf: pybullet_data:laikago/laikago_toes.urdf\nroot_rpy: [1.5708, 0.0, 1.5708]\n'
    )
    report = described(tmp_path)
    assert (report.up, report.forward) == ('z', 'x')


def test_missing_limits_and_impossible_inertias_are_listed():
    report = described(data_file('mini_cheetah/mini_cheetah.urdf'))
    assert len(report.without_effort_limit) == len(report.without_velocity_limit) == 12
    assert sorted(report.implausible) == ['thigh_fl', 'thigh_fr', 'thigh_hl', 'thigh_hr']
    assert all('triangle inequality' in fault for fault in report.implausible.values())


def with_inertia(inertia: np.ndarray, mass: float = 4.0) -> RobotModel:
    robot = legged_box(2)
    base = dataclasses.replace(robot.links[0], inertia=inertia, mass=mass)
    return dataclasses.replace(robot, links=(base, *robot.links[1:]))


@pytest.mark.parametrize(
    ('inertia', 'fault'),
    [
        (np.diag([0.1, 0.1, 0.2001]), 'triangle inequality'),
        (np.diag([0.1, 0.1, 0.2]), ''),
        (np.diag([0.1, 0.1, 0.0]), 'not all positive'),
        (np.diag([0.1, 0.1, 0.1]) - 0.2, 'not all positive'),
        (np.diag([9.0, 9.0, 9.0]), '1.5 m radius of gyration'),
    ],
)
def test_inertias_that_no_body_has_are_found(inertia, fault):
    found = report_robot(with_inertia(inertia)).implausible
    assert ('base' in found) == bool(fault)
    assert fault in found.get('base', '')


def test_position_limits_are_missed_on_joints_that_are_not_endless():
    robot = legged_box(2)
    free = dataclasses.replace(robot.joints[0], lower=-np.inf, upper=np.inf)
    endless = dataclasses.replace(robot.joints[1], kind='continuous', lower=-np.inf, upper=np.inf)
    report = report_robot(dataclasses.replace(robot, joints=(free, endless, *robot.joints[2:])))
    assert report.without_position_limits == ('leg0_joint0',)


def test_upside_down_robots_and_robots_without_legs_are_told():
    standing = report_robot(legged_box(4))
    robot = legged_box(4)
    flipped = tuple(
        dataclasses.replace(joint, rpy=(np.pi, 0.0, 0.0)) if joint.parent == 'base' else joint
        for joint in robot.joints
    )
    lying = dataclasses.replace(robot, joints=flipped, legs=())
    assert standing.up == 'z'
    report = report_robot(lying)
    assert report.up == '-z'
    assert any('upside down' in text for text in report.warnings)
    assert any(text.startswith('no legs') for text in report.warnings)


def in_units(robot, length=1.0, mass=1.0, angle=1.0):
    """Return a robot whose numbers are multiplied, as in a file with other units."""

    def scaled(shape):
        size = tuple(length * side for side in shape.size)
        return dataclasses.replace(shape, size=size, xyz=length * np.array(shape.xyz))

    links = tuple(
        dataclasses.replace(
            link, mass=mass * link.mass, collisions=tuple(map(scaled, link.collisions))
        )
        for link in robot.links
    )
    joints = tuple(
        dataclasses.replace(
            joint,
            xyz=length * np.array(joint.xyz),
            lower=angle * joint.lower,
            upper=angle * joint.upper,
        )
        for joint in robot.joints
    )
    return dataclasses.replace(robot, links=links, joints=joints)


@pytest.mark.parametrize(
    ('factors', 'unit'),
    [
        ({'length': 1000.0}, 'looks like millimetres'),
        ({'mass': 1000.0}, 'looks like grams'),
        ({'angle': 180.0 / np.pi}, 'look like degrees'),
    ],
)
@pytest.mark.parametrize('name', ['a1', 'guroo', 'roach', 'hexapod'])
def test_other_units_than_si_are_told(name, factors, unit):
    robot = load_robot(name)
    assert not any('look' in text for text in report_robot(robot).warnings)
    assert [text for text in report_robot(in_units(robot, **factors)).warnings if unit in text]


@pytest.mark.parametrize('shift', [(0.0, 0.0, 0.0), (0.8, 0.0, 0.0), (0.0, -0.8, 0.0)])
@pytest.mark.parametrize('name', ['a1', 'guroo', 'roach', 'hexapod'])
def test_the_origin_of_the_base_tells_nothing_about_its_axes(name, shift):
    robot = load_robot(name)
    root = robot.roots[0]
    joints = tuple(
        dataclasses.replace(joint, xyz=np.array(joint.xyz) + shift)
        if joint.parent == root
        else joint
        for joint in robot.joints
    )
    report = report_robot(dataclasses.replace(robot, joints=joints))
    assert (report.up, report.forward) == ('z', 'x')


def test_a_robot_without_collision_shapes_is_told():
    robot = legged_box(4)
    ghosts = tuple(dataclasses.replace(link, collisions=()) for link in robot.links)
    warnings = report_robot(dataclasses.replace(robot, links=ghosts)).warnings
    assert 'no link has a collision shape: the robot sinks through the ground' in warnings


BOX = Shape(kind='box', size=(0.2, 0.2, 0.2))
BALL = Shape(kind='sphere', size=(0.1,))
TURNED = dataclasses.replace(BOX, rpy=(0.0, 0.0, np.pi / 4))


@pytest.mark.parametrize(
    ('first', 'second', 'apart', 'depth'),
    [
        (BOX, BOX, (0.15, 0.0, 0.0), 0.05),
        (BOX, BOX, (0.201, 0.0, 0.0), None),
        (BOX, BALL, (0.15, 0.0, 0.0), 0.05),
        # Off the edge of the box the ball is nearer than its own box would be.
        (BOX, BALL, (0.18, 0.18, 0.0), None),
        (BALL, BALL, (0.0, 0.12, 0.16), None),
        (BALL, BALL, (0.0, 0.0, 0.19), 0.01),
        # A box on its corner reaches 0.1 sqrt(2) to the side.
        (BOX, TURNED, (0.23, 0.0, 0.0), 0.1 * (1.0 + np.sqrt(2.0)) - 0.23),
        (BOX, TURNED, (0.242, 0.0, 0.0), None),
        (BOX, Shape(kind='cylinder', size=(0.05, 0.1)), (0.14, 0.0, 0.0), 0.01),
        (BOX, Shape(kind='capsule', size=(0.05, 0.1)), (0.0, 0.0, 0.19), 0.01),
    ],
)
def test_overlaps_equal_the_closed_form(first, second, apart, depth):
    found = find_overlaps(two(first, second, apart))
    assert len(found) == (depth is not None)
    if depth is not None:
        assert (found[0].link_a, found[0].link_b) == ('base', 'tip')
        assert found[0].depth == pytest.approx(depth, abs=1e-12)
        assert not found[0].are_neighbours
        assert found[0].is_exact == (second.kind in ('box', 'sphere'))


def test_links_fixed_together_count_as_one_body():
    near = (0.15, 0.0, 0.0)
    assert find_overlaps(two(BOX, BOX, near, 'fixed'))[0].are_neighbours
    assert not find_overlaps(two(BOX, BOX, near))[0].are_neighbours
    alone = two(BOX, BOX, near, 'fixed')
    fixed = dataclasses.replace(alone.joints[0], kind='fixed')
    welded = dataclasses.replace(alone, joints=(fixed, alone.joints[1]), joint_names=())
    assert find_overlaps(welded) == ()


def test_overlapping_boxes_on_a_hinge_are_named():
    robot = two(BOX, BOX, (0.15, 0.0, 0.0), 'fixed')
    warning = next(text for text in report_robot(robot).warnings if 'overlap' in text)
    assert 'base - tip' in warning


def test_the_report_is_plain_data_and_plain_text():
    report = report_robot(GUROO)
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain['total_mass_kg'] == report.total_mass
    assert plain['legs']['right']['sole'] == 'r_sole'
    assert plain['warnings'] == list(report.warnings)
    lines = report.lines()
    assert all('\n' not in line for line in lines)
    assert sum(line.startswith('WARNING') for line in lines) == len(report.warnings)


LINK = '<robot name="a"><link name="b">{}</link></robot>'


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('<robot>', 'not well-formed XML'),
        (LINK.format(''), 'total mass of 0 kg'),
        (
            LINK.format('<visual><geometry><mesh filename="gone.obj"/></geometry></visual>'),
            "mesh file 'gone.obj' does not exist",
        ),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / 'bad.urdf'
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        described(path)
    assert '\n' not in str(caught.value)


def test_packages_given_by_the_user_are_used(tmp_path):
    (tmp_path / 'meshes').mkdir()
    (tmp_path / 'meshes' / 'a.obj').write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n')
    path = tmp_path / 'somewhere' / 'a.urdf'
    path.parent.mkdir()
    path.write_text(
        LINK.format(
            '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial><collision>'
            '<geometry><mesh filename="package://elsewhere/meshes/a.obj"/></geometry></collision>'
        )
    )
    assert described(path, {'elsewhere': tmp_path}).links == 1
    with pytest.raises(ConfigurationError, match='--package elsewhere=PATH'):
        described(path)
