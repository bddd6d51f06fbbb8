# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every engine of joints simulates what the reader of descriptions accepts."""

import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.load import read_robot
from gait_core.testing.free_bodies import applied_targets, step_through
from gait_core.testing.skips import need_engine
from gait_core.trial.scene import Scene

pytestmark = pytest.mark.physics

# A cube without faces, whose triangles name vertices that do not exist: PyBullet's own reader of
# Collada ends the process on either.
CORNERS = ' '.join(f'{x} {y} {z}' for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
MESH = (
    '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>'
    '<unit meter="0.1"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>'
    f'<source id="p"><float_array id="a" count="24">{CORNERS}</float_array><technique_common>'
    '<accessor source="#a" count="8" stride="3"/></technique_common></source><vertices id="v">'
    '<input semantic="POSITION" source="#p"/></vertices><triangles count="12"><input '
    'semantic="VERTEX" source="#v" offset="0"/><p>{}</p></triangles></mesh></geometry>'
    '</library_geometries><library_visual_scenes><visual_scene id="s"><node>'
    '<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>'
    '<instance_visual_scene url="#s"/></scene></COLLADA>'
)
INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'


def link(name, geometry=''):
    shape = f'<collision><geometry>{geometry}</geometry></collision>' if geometry else ''
    return f'<link name="{name}">{INERTIAL}{shape}</link>'


def joint(name, more, xyz='0 0 0', parent='world', child=''):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><origin xyz="{xyz}"/>'
        f'<child link="{child or name}"/>{more}</joint>'
    )


@pytest.mark.parametrize('triangles', ['', '0 1 99999999 0 1 -5'])
def test_a_robot_of_odd_parts_stands(engine_of, tmp_path, triangles):
    # The name of MuJoCo's own body, a point foot, a locked joint, a passive joint that a chain of
    # mimic joints follows in reverse order, and a damaged mesh.
    (tmp_path / 'cube.dae').write_text(MESH.format(triangles))
    (tmp_path / 'odd.urdf').write_text(
        f'<robot name="odd">{link("world", "<mesh filename=*cube.dae*/>".replace("*", chr(34)))}'
        + link('locked')
        + joint('locked', '<limit lower="0.2" upper="0.2"/>', '1 0 0')
        + link('last', '<sphere radius="0"/>')
        + joint('last', '<mimic joint="next" multiplier="2"/>', '0 1 0')
        + link('next')
        + joint('next', '<mimic joint="passive" multiplier="-1" offset="0.3"/>', '0 -1 0')
        + link('passive')
        + joint('passive', '<dynamics damping="1"/>', '0 2 0')
        + '</robot>'
    )
    (tmp_path / 'robot.yaml').write_text('urdf: odd.urdf\njoints: [locked]\nlegs: []')
    robot = read_robot(tmp_path)
    engine = engine_of(robot)
    first = engine.reset(Scene(robot='odd', gravity=(0.0, 0.0, 0.0)), 0)
    last = step_through(engine, [applied_targets(robot, position=[0.2])] * 5)[-1]
    # The cube of 0.2 m stands on the ground, whatever its triangles are.
    assert first.body_poses[0, 2] == pytest.approx(0.1, abs=0.01)
    assert last.joint_positions[0] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize('corners', [[(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 0), (1, 0)]])
def test_a_sheet_and_a_line_collide_in_every_engine(engine_of, tmp_path, corners):
    points = [f'vertex {x} {y} -0.1' for x, y in (*corners, *corners[:2])]
    facets = (points[:3], points[-3:])
    rows = ['outer loop', *facets[0], 'endloop', 'outer loop', *facets[1], 'endloop']
    (tmp_path / 'sheet.stl').write_text('solid s\n' + '\n'.join(rows) + '\nendsolid s\n')
    mesh = link('plate', '<mesh filename="sheet.stl"/>')
    (tmp_path / 'plate.urdf').write_text(
        f'<robot name="p">{mesh}{link("arm")}{joint("arm", "", parent="plate")}</robot>'
    )
    (tmp_path / 'robot.yaml').write_text('urdf: plate.urdf\njoints: [arm]\nlegs: []')
    robot = read_robot(tmp_path)
    engine = engine_of(robot)
    first = engine.reset(Scene(robot='p', gravity=(0.0, 0.0, -1.0)), 0)
    last = step_through(engine, [applied_targets(robot, position=[0.0])] * 5)[-1]
    for observation in (first, last):
        assert observation.body_poses[0, 2] == pytest.approx(0.1, abs=0.01)


def test_a_visual_mesh_that_ends_bullet_is_named_before_a_picture_is_made(tmp_path):
    need_engine('bullet')
    from sim_bridge.engines.bullet.client import pb
    from sim_bridge.engines.bullet.posed_robot import PosedRobot

    (tmp_path / 'cube.dae').write_text(MESH.format(''))
    visual = '<visual><geometry><mesh filename="cube.dae"/></geometry></visual></link>'
    file = tmp_path / 'box.urdf'
    file.write_text(f'<robot name="box">{link("base")}</robot>'.replace('</link>', visual))
    with pytest.raises(ConfigurationError, match=r"'box': Bullet was ended .* '.*cube\.dae'"):
        PosedRobot(read_robot(file), pb.DIRECT)
