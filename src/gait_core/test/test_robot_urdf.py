# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading URDF and xacro: values, order and every fault with its file."""

import math
from pathlib import Path
import struct
import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gait_core.errors import ConfigurationError
from gait_core.robot.urdf.meshes import mesh_hull, mesh_vertices
from gait_core.robot.urdf.reader import read_urdf

LEG = """
<robot name="leg">
  <material name="red"><color rgba="1 0 0 0.5"/></material>
  <link name="foot">
    <visual><geometry><sphere radius="0.02"/></geometry><material name="red"/></visual>
    <collision>
      <origin xyz="0 0 -0.1" rpy="0 0.5 0"/>
      <geometry><cylinder radius="0.02" length="0.2"/></geometry>
    </collision>
  </link>
  <link name="base">
    <inertial>
      <origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/>
      <mass value="2.5"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>
    </inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
  </link>
  <joint name="knee" type="revolute">
    <origin xyz="0 0.1 0" rpy="0.1 0.2 0.3"/>
    <parent link="base"/><child link="foot"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" velocity="5" effort="30"/>
    <dynamics damping="0.4" friction="0.1"/>
  </joint>
</robot>
"""

INF = math.inf
BASE = '<link name="a"><inertial><mass value="1"/></inertial></link>'


def joint(name='j', kind='revolute', parent='a', child='b', more=''):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{more}</joint>'
    )


@pytest.fixture
def write(tmp_path):
    def put(text: str, name: str = 'robot.urdf') -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return put


def test_links_come_in_tree_order_with_all_their_values(write):
    tree = read_urdf(write(LEG))
    base, foot = tree.links
    assert (tree.name, base.name, foot.name) == ('leg', 'base', 'foot')
    assert base.mass == 2.5
    np.testing.assert_array_equal(base.com, [0.1, 0.0, 0.2])
    # A quarter turn about z exchanges the moments about x and y.
    np.testing.assert_allclose(base.inertia, np.diag([2.0, 1.0, 2.5]), atol=1e-15)
    assert base.collisions[0].kind == 'box' and base.collisions[0].size == (0.1, 0.2, 0.3)
    assert foot.mass == 0.0
    assert foot.visuals[0].rgba == (1.0, 0.0, 0.0, 0.5)
    cylinder = foot.collisions[0]
    assert (cylinder.kind, cylinder.size, cylinder.rpy) == ('cylinder', (0.02, 0.2), (0, 0.5, 0))
    (knee,) = tree.joints
    assert (knee.lower, knee.upper, knee.velocity, knee.effort) == (-1.0, 2.0, 5.0, 30.0)
    assert (knee.axis, knee.xyz, knee.rpy) == ((0, 0, 1), (0, 0.1, 0), (0.1, 0.2, 0.3))
    assert (knee.damping, knee.friction) == (0.4, 0.1)


def test_an_inertia_is_turned_like_a_tensor(write):
    rpy = (0.3, -0.4, 0.7)
    text = LEG.replace('rpy="0 0 1.5707963267948966"', 'rpy="{} {} {}"'.format(*rpy))
    turn = Rotation.from_euler('ZYX', rpy[::-1]).as_matrix()
    expected = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    np.testing.assert_allclose(read_urdf(write(text)).links[0].inertia, expected, atol=1e-14)


@pytest.mark.parametrize(
    ('kind', 'limit', 'expected'),
    [
        ('revolute', '', (-INF, INF, INF, INF)),
        ('revolute', '<limit velocity="0" effort="0"/>', (-INF, INF, INF, INF)),
        ('continuous', '<limit lower="-1" upper="1"/>', (-INF, INF, INF, INF)),
        ('prismatic', '<limit upper="0.05" velocity="1"/>', (0.0, 0.05, 1.0, INF)),
        (
            'revolute',
            '<limit lower="-1" upper="1e16" velocity="1e9" effort="1.01e9"/>',
            (-1.0, INF, 1e9, INF),
        ),
        ('revolute', '<limit lower="-1e16" upper="2" velocity="1e300"/>', (-INF, 2.0, INF, INF)),
    ],
)
def test_limits_that_are_absent_or_void_are_infinite(write, kind, limit, expected):
    tree = read_urdf(write(f'<robot>{BASE}<link name="b"/>{joint(kind=kind, more=limit)}</robot>'))
    (found,) = tree.joints
    assert (found.lower, found.upper, found.velocity, found.effort) == expected


def test_a_floating_joint_under_a_massless_root_falls_away(write):
    tree = read_urdf(
        write(f'<robot><link name="world"/>{BASE}{joint("f", "floating", "world", "a")}</robot>')
    )
    assert [link.name for link in tree.links] == ['a']
    assert tree.joints == ()


def two_links(joint_text: str) -> str:
    return f'<robot>{BASE}<link name="b"/>{joint_text}</robot>'


def one_link(inside: str) -> str:
    return f'<robot><link name="a">{inside}</link></robot>'


FAULTS = [
    ('<robot><link', 'not well-formed XML'),
    ('<sdf/>', r'root element is <sdf>, expected <robot>'),
    ('<robot/>', 'describes no link'),
    (f'<robot>{BASE}{BASE}</robot>', "link 'a' is described twice"),
    ('<robot><link/></robot>', 'a link has no name'),
    (
        two_links(joint(more='<limit lower="1" upper="-1"/>')),
        r"joint 'j' has the lower limit 1 above the upper -1: are they exchanged",
    ),
    *(
        (
            two_links(joint(more=f'<limit {name}="{value}"/>')),
            rf"joint 'j' has {name} {value}, expected more".replace('+', r'\+'),
        )
        for name in ('velocity', 'effort')
        for value in ('-3', '-1e+16')
    ),
    *(
        (two_links(joint(more=f'<dynamics {name}="-3"/>')), f"joint 'j' has {name} -3, expected 0")
        for name in ('damping', 'friction')
    ),
    (two_links(''), r"2 links have no parent joint \('a', 'b'\)"),
    (
        f'<robot>{BASE}<link name="foot"/>{joint(child="foof")}</robot>',
        "names the unknown link 'foof': did you mean 'foot'",
    ),
    (two_links(joint() + joint('k')), "link 'b' is the child of two joints, 'j' and 'k'"),
    (
        two_links(joint(parent='c') + joint('k', parent='b', child='c') + '<link name="c"/>'),
        "link 'b' is part of a loop",
    ),
    (two_links(joint(kind='hinge')), "unknown type 'hinge'"),
    (two_links(joint(kind='spherical')), 'ball_joints'),
    (two_links(joint(kind='floating')), "joint 'j' is floating"),
    (two_links(joint(more='<axis xyz="0 0 0"/>')), "joint 'j' has an axis of length zero"),
    (two_links(joint(more='<axis xyz="0 nan 1"/>')), "xyz='0 nan 1' is not 3 finite numbers"),
    (two_links(joint(more='<mimic joint="i"/>')), "mimics the unknown joint 'i'"),
    (two_links(joint(more='<mimic joint="j"/>')), 'mimics itself: j -> j'),
    (
        two_links('<material name="m"><color rgba="red 0 0 1"/></material>' + joint()),
        "material 'm': rgba is 'red 0 0 1'",
    ),
    (one_link('<inertial><mass value="-1"/></inertial>'), 'its mass is -1.0 kg'),
    (one_link('<collision><geometry><cone/></geometry></collision>'), "'cone'; valid: box"),
    (
        one_link('<collision><geometry><box size="1 2"/></geometry></collision>'),
        "link 'a': size='1 2' is not 3 finite numbers",
    ),
    (
        one_link('<collision><geometry><sphere radius="-1"/></geometry></collision>'),
        'the size of its sphere is negative',
    ),
]


@pytest.mark.parametrize(('text', 'message'), FAULTS)
def test_faults_are_named_with_their_file(write, text, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        read_urdf(write(text))
    assert str(caught.value).count('\n') == 0
    assert 'robot.urdf' in str(caught.value)


def mesh_link(file: str) -> str:
    return (
        '<robot><link name="a"><inertial><mass value="1"/></inertial><collision><geometry>'
        f'<mesh filename="{file}" scale="1 1 -1"/></geometry></collision></link></robot>'
    )


@pytest.mark.parametrize('reference', ['meshes/tri.obj', 'package://pkg/meshes/tri.obj', 'file'])
def test_meshes_are_found_by_every_kind_of_reference(tmp_path, reference):
    (tmp_path / 'meshes').mkdir()
    mesh = tmp_path / 'meshes' / 'tri.obj'
    mesh.write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')
    (tmp_path / 'package.xml').write_text('<package><name>pkg</name></package>')
    source = tmp_path / 'robot.urdf'
    source.write_text(mesh_link(f'file://{mesh}' if reference == 'file' else reference))
    (shape,) = read_urdf(source).links[0].collisions
    assert shape.file == str(mesh.resolve())
    assert shape.size == (1.0, 1.0, -1.0)


def test_missing_meshes_and_packages_are_named(write, tmp_path):
    with pytest.raises(ConfigurationError, match=r"mesh file 'meshes/foot.obj' does not exist"):
        read_urdf(write(mesh_link('meshes/foot.obj')))
    lost = write(mesh_link('package://lost/foot.obj'))
    with pytest.raises(ConfigurationError, match='--package lost=PATH'):
        read_urdf(lost)
    (tmp_path / 'here').mkdir()
    (tmp_path / 'here' / 'foot.obj').write_text('v 0 0 0\n')
    assert (
        read_urdf(lost, {'lost': tmp_path / 'here'}).links[0].collisions[0].file.endswith('.obj')
    )


CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
FACETS = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6)]


def stl_text() -> bytes:
    rows = [f'vertex {x} {y} {z}' for facet in FACETS for x, y, z in CUBE[list(facet)]]
    return ('solid cube\n' + '\n'.join(rows) + '\nendsolid').encode()


def stl_binary() -> bytes:
    body = b''.join(
        struct.pack('<12fH', 0, 0, 0, *CUBE[list(facet)].ravel(), 0) for facet in FACETS
    )
    return b'solid, though binary'.ljust(80) + struct.pack('<I', len(FACETS)) + body


def dae(up: str, unit: float) -> bytes:
    numbers = ' '.join(map(str, (CUBE / unit).ravel()))
    return (
        f'<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit '
        f'meter="{unit}"/><up_axis>{up}</up_axis></asset><library_geometries><geometry><mesh>'
        f'<source id="p"><float_array>{numbers}</float_array></source>'
        '<source id="n"><float_array>9 9 9</float_array></source>'
        '<vertices><input semantic="POSITION" source="#p"/></vertices></mesh></geometry>'
        '</library_geometries></COLLADA>'
    ).encode()


@pytest.mark.parametrize(
    ('name', 'content'),
    [('t.stl', stl_text()), ('b.stl', stl_binary()), ('c.dae', dae('Z_UP', 0.01))],
)
def test_mesh_formats_give_the_same_cube(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    np.testing.assert_allclose(mesh_vertices(str(tmp_path / name)), CUBE, atol=1e-12)
    hull, faces = mesh_hull(str(tmp_path / name))
    assert len(hull) == 8 and len(faces) == 12


def test_a_y_up_collada_file_is_turned(tmp_path):
    (tmp_path / 'c.dae').write_bytes(dae('Y_UP', 1.0))
    low, high = (f(mesh_vertices(str(tmp_path / 'c.dae')), axis=0) for f in (np.min, np.max))
    np.testing.assert_allclose([low, high], [[0, -3, 0], [1, 0, 2]])


def test_a_collada_scene_places_what_it_shows(tmp_path):
    scene = (
        '<library_nodes><node id="part"><scale>2 1 1</scale><instance_geometry url="#cube"/>'
        '</node></library_nodes><library_visual_scenes><visual_scene><node>'
        '<translate>0 0 5</translate>'
        '<rotate>0 0 1 90</rotate><instance_node url="#part"/></node></visual_scene>'
        '</library_visual_scenes></COLLADA>'
    )
    content = dae('Z_UP', 1.0).replace(b'<geometry>', b'<geometry id="cube">')
    (tmp_path / 'c.dae').write_bytes(content.replace(b'</COLLADA>', scene.encode()))
    x, y, z = CUBE.T
    wanted = np.unique(np.column_stack([-y, 2.0 * x, z + 5.0]), axis=0)
    np.testing.assert_allclose(mesh_vertices(str(tmp_path / 'c.dae')), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('a.step', b'', 'cannot be read; valid: .obj, .stl, .dae'),
        ('a.obj', b'# empty', 'holds no finite vertices'),
        ('a.obj', b'v 1 2 x', 'cannot be read'),
        ('a.dae', b'<COLLADA', 'cannot be read'),
    ],
)
def test_unreadable_meshes_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        mesh_vertices(str(tmp_path / name))


def test_the_axis_of_a_fixed_joint_means_nothing(write):
    tree = read_urdf(write(two_links(joint(kind='fixed', more='<axis xyz="0 0 0"/>'))))
    assert tree.joints[0].kind == 'fixed'


XACRO = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="x">{}</robot>'


def test_xacro_is_expanded_once_per_process(write, monkeypatch):
    pytest.importorskip('xacro')
    calls = []
    original = subprocess.run
    monkeypatch.setattr(
        subprocess,
        'run',
        lambda command, **more: calls.append(command) or original(command, **more),
    )
    path = write(
        XACRO.format(
            '<xacro:property name="m" value="2.5"/><!-- leg: 3 DOF; tripod -->'
            '<link name="a"><inertial><mass value="${2 * m}"/></inertial></link>'
        ),
        'once.urdf.xacro',
    )
    assert [read_urdf(path).links[0].mass for _ in range(3)] == [5.0] * 3
    assert len(calls) == 1


def test_xacro_errors_keep_message_file_and_line(write):
    pytest.importorskip('xacro')
    path = write(
        XACRO.format(
            '\n<link name="a">\n<inertial><mass value="${leg_lenght}"/></inertial></link>'
        ),
        'typo.urdf.xacro',
    )
    with pytest.raises(ConfigurationError, match=r"typo\.urdf\.xacro:3: .*'leg_lenght'") as caught:
        read_urdf(path)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('body', 'words'),
    [
        ('$(find no_such_pkg)/x.xacro', 'name its folder .*: --package no_such_pkg=PATH'),
        ('$(arg debug)', 'xacro FILE debug:=VALUE'),
        ('$(env NO_SUCH)', "Exception: environment variable 'NO_SUCH' is not set$"),
        ('lacks.urdf.xacro', 'does an include or a macro contain itself'),
    ],
)
def test_what_a_xacro_file_lacks_is_said_with_the_way_to_give_it(write, body, words):
    pytest.importorskip('xacro')
    pytest.importorskip('ament_index_python')
    path = write(XACRO.format(f'\n<xacro:include filename="{body}"/>'), 'lacks.urdf.xacro')
    with pytest.raises(ConfigurationError, match=rf'lacks\.urdf\.xacro(:2)?: .*{words}') as caught:
        read_urdf(path)
    assert len(str(caught.value).replace(str(path), '')) < 150


@pytest.mark.parametrize(
    ('reference', 'words'),
    [
        ('http://host/hip.stl', "'http' is not read; valid: package://NAME"),
        ('package://', "'package' is not read"),
        ('.', r'is a folder \('),
        (r'meshes\hip.stl', r"does not exist .*; write '/' between its folders"),
    ],
)
def test_a_mesh_that_cannot_be_found_is_said_with_its_cause(write, reference, words):
    path = write(mesh_link(reference))
    with pytest.raises(ConfigurationError, match=words):
        read_urdf(path)


def test_xacro_finds_the_package_that_the_file_lies_in(write, tmp_path, monkeypatch):
    pytest.importorskip('xacro')
    pytest.importorskip('ament_index_python')
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere')
    (tmp_path / 'package.xml').write_text('<package><name>beetle_description</name></package>')
    (tmp_path / 'tri.obj').write_text('v 0 0 0\n')
    text = XACRO.format(mesh_link('file://$(find beetle_description)/tri.obj')[7:-8])
    (shape,) = read_urdf(write(text, 'find.urdf.xacro')).links[0].collisions
    assert shape.file == str((tmp_path / 'tri.obj').resolve())
