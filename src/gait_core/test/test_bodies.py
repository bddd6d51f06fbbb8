# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots of several bodies, and the tensegrity spine of Korbel (2013) as data."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.constants import inch, lbf

from gait_core.errors import ConfigurationError
from gait_core.kinematics.element_colours import tension_colours
from gait_core.kinematics.element_geometry import element_lengths_at
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.kinematics.start_pose import pose_on_terrain, root_poses_from_base
from gait_core.robot.load import load_robot, read_robot
from gait_core.robot.load_report import report_robot
from gait_core.robot.urdf.writer import to_scene_urdf, to_urdf
from gait_core.terrains.surfaces import Plane
from gait_core.trial.scene import InitialState

BALL = '{name: ball, mass: 0.1, inertia: [4e-5, 4e-5, 4e-5], xyz: [0.3, 0, 0]}'
OTHER = '{name: other, mass: 0.2, inertia: [4e-5, 4e-5, 4e-5], rpy: [0, 0, 1.5]}'
PAIR = f"""
bodies:
  - {BALL}
  - {OTHER}
contact_nodes: [{{name: foot, link: ball, point: [0, 0, -0.05], radius: 0.01}}]
force_elements:
  - {{name: rope, kind: cable, link_a: ball, link_b: other, constants: {{stiffness: 5}}}}
signals: {{pull: [rope]}}
"""


@pytest.fixture(scope='module')
def spine():
    return load_robot('tetraspine')


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / 'robot.yaml').write_text(text)
    return tmp_path


def test_korbel_1_mass_and_inertia_of_a_tetrahedron_follow_from_its_solids(spine):
    link, density = spine.links[0], 2700.0
    mass, inertia = 0.0, np.zeros((3, 3))
    for shape in link.visuals:
        radius = shape.size[0]
        if shape.kind == 'sphere':
            part = density * 4.0 / 3.0 * np.pi * radius**3
            own = 0.4 * part * radius**2 * np.eye(3)
        else:
            length = shape.size[1]
            part = density * np.pi * radius**2 * length
            across = part * (3.0 * radius**2 + length**2) / 12.0
            turn = rotation_from_rpy(shape.rpy)
            own = turn @ np.diag([across, across, 0.5 * part * radius**2]) @ turn.T
        at = np.array(shape.xyz)
        mass += part
        inertia += own + part * (at @ at * np.eye(3) - np.outer(at, at))
    assert len(link.visuals) == 10
    assert link.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(link.inertia, inertia, atol=1e-15)
    assert link.mass == pytest.approx(0.0203, rel=0.01)
    np.testing.assert_allclose(np.diag(link.inertia), 6.74e-5, rtol=0.01)


def test_korbel_2_counts_of_bodies_cables_signals_and_contact_nodes(spine):
    names = [element.name for element in spine.force_elements]
    assert spine.roots == ('t1', 't2', 't3', 't4', 't5')
    assert len(names) == 24
    assert sum('outer' in name for name in names) == sum('inner' in name for name in names) == 12
    assert [signal for signal, _ in spine.signals] == [f'signal_{gap}' for gap in (1, 2, 3, 4)]
    assert spine.signals[0][1] == ('gap1_outer_a', 'gap1_outer_b')
    assert len({name for _, driven in spine.signals for name in driven}) == 8
    assert len(spine.contact_nodes) == 11 and spine.soles[-1] == 't5_d'


def test_korbel_3_tensions_at_the_starting_lengths(spine):
    lengths = element_lengths_at(spine, np.zeros(0))
    stretch = lengths - spine.stance
    for element, length, pull in zip(spine.force_elements, lengths, stretch, strict=True):
        tension = element.constants['stiffness'] * pull / lbf
        wanted = (2.944, 0.581) if 'outer' in element.name else (3.978, 1.181)
        assert (length / inch, tension) == pytest.approx(wanted, rel=0.005)


def test_the_spine_starts_with_its_lower_corners_on_the_ground(spine):
    start = InitialState(clearance=0.0, x=0.2, yaw=0.5)
    poses = root_poses_from_base(spine, pose_on_terrain(spine, spine.stance, start, Plane()))
    links = link_poses(spine, np.zeros(0), poses)
    low = [links[spine.link_index[node.link]] @ [*node.point, 1.0] for node in spine.contact_nodes]
    np.testing.assert_allclose(np.array(low)[:10, 2], 0.0, atol=1e-12)
    step = poses[1, :3] - poses[0, :3]
    np.testing.assert_allclose(step, 2.944 * inch * np.array([np.cos(0.5), np.sin(0.5), 0.0]))


def test_a_display_gets_one_tree_in_which_the_bodies_float(spine):
    root = ElementTree.fromstring(to_scene_urdf(spine))
    assert [link.get('name') for link in root.iter('link')] == [*spine.roots, 'odom']
    joints = root.findall('joint')
    assert {joint.get('type') for joint in joints} == {'floating'}
    assert [joint.find('child').get('link') for joint in joints] == list(spine.roots)
    guroo = load_robot('guroo')
    assert to_scene_urdf(guroo) == to_urdf(guroo)


def test_its_load_report_counts_bodies_cables_and_nodes_and_warns_of_nothing(spine):
    report = report_robot(spine)
    assert report.warnings == ()
    assert '5 bodies, 24 force elements, 11 contact nodes' in report.lines()


def test_the_tautest_cable_is_redder_than_a_slack_one(spine):
    red, _, blue = tension_colours(spine, np.linspace(0.0, 10.0, 24)).T
    assert red[0] < blue[0] and red[-1] > blue[-1]
    assert (np.diff(red) >= 0.0).all() and (np.diff(blue) <= 0.0).all()


def test_bodies_described_in_place_lie_where_they_are_put(tmp_path):
    robot = read_robot(folder(tmp_path, PAIR))
    assert robot.roots == ('ball', 'other') and robot.mass == pytest.approx(0.3)
    np.testing.assert_allclose(link_poses(robot, np.zeros(0))[0, :3, 3], [0.3, 0.0, 0.0])
    assert robot.signals == (('pull', ('rope',)),)
    assert robot.stance == pytest.approx([0.3])  # The rope's length in the assembly.
    assert pose_on_terrain(robot, robot.stance, InitialState(), Plane())[2] == pytest.approx(0.061)


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        ('link_b: other', 'link_b: othr', "did you mean 'other'?"),
        ('[rope]', '[rop]', "signal 'pull': unknown target 'rop': did you mean 'rope'?"),
        ('[rope]', '[]', "signal 'pull' drives no joint"),
        ('{pull: [rope]}', '{pull: [rope], push: [rope]}', "again by signal 'push'"),
        ('name: other', 'name: ball', "body 'ball' is described twice"),
        ('mass: 0.1', 'mass: 0', 'needs both positive'),
        *(
            ('mass: 0.1', f'mass: 0.1, collisions: [{{kind: sphere, {shape}}}]', said)
            for shape, said in (
                ('size: [0]', 'size is 0 m, it must be positive'),
                ('size: [1e26]', 'nearest valid: 1e+06'),
                ('size: [1], xyz: [0, 1e26, 0]', 'nearest valid: 1e+06'),
                ('size: [1], rgba: [2, 0, 0, 1]', 'nearest valid: 1'),
            )
        ),
        (
            'mass: 0.1',
            'mas: 0.1',
            "line 3, column 18: unknown key 'bodies[0].mas': did you mean 'bodies[0].mass'?",
        ),
        ('mass: 0.1', 'urdf: ball.urdf', "unknown key 'bodies[0].inertia'"),
        ('link: ball', 'link: bal', "did you mean 'ball'?"),
        ('radius: 0.01', 'radius: -1', 'nearest valid: 0'),
        ('bodies:', 'urdf: x.urdf\nbodies:', "'urdf' cannot be given with 'bodies'"),
    ],
)
def test_a_mistake_in_bodies_is_told_in_one_line(tmp_path, old, new, said):
    assert old in PAIR
    with pytest.raises(ConfigurationError) as error:
        read_robot(folder(tmp_path, PAIR.replace(old, new, 1)))
    assert said in str(error.value) and '\n' not in str(error.value)
