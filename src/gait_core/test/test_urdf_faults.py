# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faults of descriptions and meshes: one line with the file, the line and the nearest name."""

import re
import struct

import pytest

from gait_core.errors import ConfigurationError
from gait_core.robot.load import read_robot
from gait_core.robot.urdf.meshes import mesh_vertices
from gait_core.robot.urdf.reader import read_urdf
from gait_core.robot.urdf.tree import MAX_LINKS

# Line 6 is the first hip, line 5 the first shin.
ROBOT = """<?xml version="1.0"?>
<robot name="box">
<link name="base"><inertial><origin xyz="0 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.01"
  izz="0.01"/></inertial><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="shin"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="hip" type="revolute"><parent link="base"/><child link="shin"/><origin xyz="0 0 -1"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="10" effort="30"/>
  <dynamics damping="0.1" friction="0"/></joint>
<link name="tail"><inertial><mass value="1"/></inertial></link>
<joint name="wag" type="revolute"><parent link="base"/><child link="tail"/>
  <mimic joint="hip" multiplier="2" offset="0.1"/></joint>
</robot>
"""
LAST = """<link name="nail"/><joint name="fix" type="fixed"><parent link="tail"/>
<child link="nail"/></joint><link name="nib"/><joint name="last" type="revolute"><parent
link="nail"/><child link="nib"/></joint></robot>"""
EXTENSIONS = """
<gazebo reference="shin"><mu1>1</mu1></gazebo><transmission name="t"><tipe>x</tipe></transmission>
<ros2_control name="c" type="system"><joint name="hip"><limitt/></joint></ros2_control>
<link name="wing"><contact><lateral_friction value="1"/></contact><sensor name="s"/></link>
<joint name="fix" type="fixed"><parent link="base"/><child link="wing"/><axis xyz="0 0 0"
  rpy="0 0 0"/><safety_controller k_velocity="1"/><hardwareInterface/><mimic joint="hip"/></joint>
<x:frame xmlns:x="http://x" axes="1"/></robot>"""


def refusal(tmp_path, text, name='robot.urdf'):
    """Return the message that refuses a description, which is one line."""
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigurationError) as caught:
        read_robot(file)
    message = str(caught.value)
    assert '\n' not in message and name in message and len(message) < 300
    return message


@pytest.mark.parametrize(
    ('right', 'wrong', 'message'),
    [
        ('<mass value="1"/></inertial></link>', '</inertial><mass value="1"/></link>', 'inertial'),
        ('<link name="tail">', '<link name="tail"><link name="tip"/>', 'robot'),
        ('<geometry><sphere radius="0.02"/></geometry>', '<sphere radius="0.02"/>', 'geometry'),
        ('<dynamics damping', '<visual/><dynamics damping', 'link'),
        ('<link name="tail">', '<inertial><mass value="3"/></inertial><link name="tail">', 'link'),
    ],
)
def test_an_element_in_a_wrong_one_is_named_with_where_it_belongs(tmp_path, right, wrong, message):
    path = tmp_path / 'box.urdf'
    assert right in ROBOT
    path.write_text(ROBOT.replace(right, wrong, 1))
    with pytest.raises(ConfigurationError, match=rf', line \d+: .* belongs into <{message}>$'):
        read_urdf(path)


def test_the_description_that_the_faults_are_put_into_is_read_with_its_extensions(tmp_path):
    file = tmp_path / 'robot.urdf'
    file.write_text(ROBOT.replace('</robot>', EXTENSIONS))
    assert [joint.name for joint in read_robot(file).joints] == ['hip', 'wag', 'fix']


@pytest.mark.parametrize(
    ('line', 'right', 'wrong', 'nearest'),
    [
        (7, 'upper=', 'uper=', 'upper'),
        (7, '<axis', '<axes', 'axis'),
        (7, '<axis xyz', '<axis xzy', 'xyz'),
        (6, '<origin xyz="0 0 -1"/>', '<orgin xyz="0 0 -1"/>', 'origin'),
        (5, 'collision>', 'colision>', 'collision'),
        (5, 'radius', 'radios', 'radius'),
        (3, 'inertial>', 'inertail>', 'inertial'),
        (3, 'mass value', 'mass vlaue', 'value'),
        (6, '<parent link', '<parent lnk', 'link'),
        (6, '<joint name="hip" type', '<joint name="hip" Type', 'type'),
        (7, '<limit', '<Limit', 'limit'),
        (8, 'damping', 'dampin', 'damping'),
        (11, 'multiplier', 'multiplyer', 'multiplier'),
        (2, '<link name="tail">', '<lnk name="tail"></lnk><link name="tail">', 'link'),
    ],
)
def test_a_misspelling_is_named_with_its_line_and_the_nearest_name(
    tmp_path, line, right, wrong, nearest
):
    message = refusal(tmp_path, ROBOT.replace(right, wrong))
    # An unknown element is named at the line of the one that it lies in.
    found = int(message.partition('robot.urdf, line ')[2].partition(':')[0])
    assert line - 2 <= found <= line
    assert f"did you mean '{nearest}'?" in message


@pytest.mark.parametrize(
    ('right', 'wrong', 'message'),
    [
        ('<limit', '<limit lower="-2" upper="2"/><limit', 'has 2 different <limit>'),
        pytest.param(
            '"hip"', f'"{2000 * "a"}"', 'line 6: joint .* name of 2000 characters', id='long'
        ),
        ('"shin"', '" shin"', 'has a name that is not printable'),
        ('"shin"', '"sh&#10;in"', 'has a name that is not printable'),
        ('value="2"', 'value="1_0"', "line 3: link 'base': value='1_0' is not 1 finite number"),
        ('value="2"', 'value="1e10"', "value='1e10' is beyond the limit of 1e"),
        ('xyz="0 0 -1"', 'xyz="0 0 1e5"', "line 6: joint 'hip': xyz='0 0 1e5' is beyond"),
        ('xyz="0 0 -1"', 'xyz="0 0 ${height}"', r'name the file \*.xacro'),
        ('<sphere radius="0.02"/>', '<mesh scale="1 1 1"/>', 'its mesh has no filename'),
        ('<sphere radius="0.02"/>', '<mesh filename="a" scale="1 0 1"/>', 'mesh is zero'),
        ('iyy="0.01"', 'iyy="-0.01"', "link 'base': its moment of inertia about y is -0.01"),
        ('<mimic joint="hip"', '<mimic joint="wag"', 'mimics itself: wag -> wag'),
        (
            '</robot>',
            LAST.replace('<parent\n', '<mimic joint="fix"/><parent\n'),
            "joint 'last' mimics 'fix', which is fixed; expected a joint that is revolute",
        ),
        (
            '</visual>',
            '<material name="m"><color rgba="red"/></material></visual>',
            "line 4: material 'm': rgba is 'red', expected four numbers",
        ),
        ('</visual>', '<material name="m"><colour rgba="1"/></material></visual>', "'color'"),
        pytest.param(
            '</robot>',
            MAX_LINKS * '<link name="x"/>' + '</robot>',
            '503 links, expected at most',
            id='links',
        ),
    ],
)
def test_a_fault_of_a_description_is_named(tmp_path, right, wrong, message):
    assert re.search(message, refusal(tmp_path, ROBOT.replace(right, wrong)))


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', 'git lfs pull'),
        ('<robot>' + 101 * '<a>' + 101 * '</a>' + '</robot>', 'nested deeper than 100'),
        ('<robot>' + 200_001 * '<a/>' + '</robot>', 'more than 200000 elements'),
        ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>', "declares the entity 'a'"),
        (ROBOT.replace('"1.0"', '"1.0" encoding="klingon"'), 'unknown encoding: klingon'),
        (ROBOT.encode('utf-32'), 'not well-formed XML'),
    ],
    ids=['lfs', 'deep', 'many', 'entity', 'unknown', 'utf-32'],
)
def test_a_document_beyond_the_limits_of_reading_is_named(tmp_path, text, message):
    assert message in refusal(tmp_path, text)


def test_other_encodings_are_read(tmp_path):
    for encoding in ('utf-16', 'latin-1'):
        text = ROBOT.replace('"1.0"', f'"1.0" encoding="{encoding}"').replace('hip', 'hüfte')
        (tmp_path / 'robot.urdf').write_bytes(text.encode(encoding))
        assert read_urdf(tmp_path / 'robot.urdf').joints[0].name == 'hüfte'


def test_joints_of_a_mimic_chain_follow_the_joint_that_leads_it(tmp_path):
    link = '<link name="tip"/><joint name="last" type="prismatic"><parent link="tail"/>'
    chain = '<child link="tip"/><mimic joint="wag" multiplier="-3" offset="0.5"/></joint></robot>'
    (tmp_path / 'robot.urdf').write_text(ROBOT.replace('</robot>', link + chain))
    _, wag, last = read_urdf(tmp_path / 'robot.urdf').joints
    assert (wag.mimic.joint, wag.mimic.multiplier, wag.mimic.offset) == ('hip', 2.0, 0.1)
    # -3 (2 q + 0.1) + 0.5
    assert (last.mimic.joint, last.mimic.multiplier) == ('hip', -6.0)
    assert last.mimic.offset == pytest.approx(0.2)


def test_legs_with_a_common_sole_or_joint_are_named(tmp_path):
    (tmp_path / 'box.urdf').write_text(ROBOT)
    leg = '{{name: {}, joints: [hip], sole: {}}}'
    for sole, message in (('shin', "the same sole 'shin'"), ('tail', "the same joint 'hip'")):
        (tmp_path / 'robot.yaml').write_text(
            f'urdf: box.urdf\nlegs: [{leg.format("l", "shin")}, {leg.format("m", sole)}]'
        )
        with pytest.raises(ConfigurationError, match=f"legs 'l' and 'm' have {message}"):
            read_robot(tmp_path)


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('m.stl', 80 * b'x' + struct.pack('<I', 2) + 99 * b'x', 'it has 183 bytes .* has 184'),
        ('m.stl', b'vertex 1 2 3\nvertex 1 2\n', "line 2 is 'vertex 1 2', expected 3 numbers"),
        ('m.obj', b'v 0 0 0\nv a b c\n', "line 2 is 'v a b c', expected 3 numbers"),
        ('m.obj', b'v 0 0 1e10\n', 'a coordinate beyond the limit of'),
        ('m.stl', b'version https://git-lfs.github.com/spec/v1\n', 'git lfs pull'),
        ('m.dae', b'<!DOCTYPE r [<!ENTITY a "1">]><COLLADA/>', "declares the entity 'a'"),
        ('m.dae', b'<COLLADA><asset><unit meter="0"/></asset></COLLADA>', 'its unit is 0 m'),
    ],
)
def test_a_fault_of_a_mesh_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        mesh_vertices(str(tmp_path / name))
