# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Writer of URDF, for engines and displays that read files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
import math
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from gait_core.errors import ConfigurationError, unknown_name_error
from gait_core.kinematics.frames import rotation_from_rpy
from gait_core.robot.model import MOVING_KINDS, SPHERICAL_KIND, Joint, Link, RobotModel, Shape

_NO_LIMIT = 1e9
"""Limit of a joint without a limit, for urdfdom [SI]: it refuses infinite and absent ones."""


def to_urdf(robot: RobotModel, *, visuals: bool = True, root: str = '') -> str:
    """
    Return the URDF text of a robot.

    Numbers keep every bit, so that reading the text gives the same links and joints. Every link
    has an ``inertial``, also at mass 0. Infinite limits are left out, and so are force elements
    and actuators, which URDF does not have. A ball joint has the type ``spherical``, which only
    this suite reads.

    Parameters
    ----------
    robot : RobotModel
    visuals : bool
        Whether to write the visual shapes.
    root : str
        Root link of the tree to write; required for a robot of several bodies.

    Raises
    ------
    ConfigurationError
        If ``root`` is unknown, or empty for a robot of several bodies.

    """
    return _serialize(_robot_element(robot, _links_of_tree(robot, root), visuals))


def to_scene_urdf(robot: RobotModel) -> str:
    """
    Return the URDF of all bodies for ROS, floating below a massless link ``odom``.

    The transforms from ``odom`` to the roots are published separately. A robot of one root has no
    ``odom``. robot_state_publisher, RViz and ros2_control read the text by urdfdom: limits that
    are absent become 1e9, capsules a cylinder and two balls, and meshes are named by a URL.
    """
    robot = replace(
        robot,
        links=tuple(_link_for_urdfdom(link) for link in robot.links),
        joints=tuple(_joint_for_urdfdom(joint) for joint in robot.joints),
    )
    if len(robot.roots) == 1:
        return to_urdf(robot)
    document = _robot_element(robot, robot.links, visuals=True)
    SubElement(document, 'link', name='odom')
    for root in robot.roots:
        xyz, rpy = robot.assembly.get(root, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        joint = SubElement(document, 'joint', name=f'odom_to_{root}', type='floating')
        _add_origin(joint, xyz, rpy)
        SubElement(joint, 'parent', link='odom')
        SubElement(joint, 'child', link=root)
    return _serialize(document)


def _joint_for_urdfdom(joint: Joint) -> Joint:
    """Return a joint with the finite limits that its kind has."""
    is_continuous = joint.kind == 'continuous'
    return replace(
        joint,
        lower=joint.lower if is_continuous else max(joint.lower, -_NO_LIMIT),
        upper=joint.upper if is_continuous else min(joint.upper, _NO_LIMIT),
        velocity=min(joint.velocity, _NO_LIMIT),
        effort=min(joint.effort, _NO_LIMIT),
    )


def _link_for_urdfdom(link: Link) -> Link:
    return replace(
        link,
        collisions=tuple(part for shape in link.collisions for part in _shapes_for_urdfdom(shape)),
        visuals=tuple(part for shape in link.visuals for part in _shapes_for_urdfdom(shape)),
    )


def _shapes_for_urdfdom(shape: Shape) -> Iterable[Shape]:
    """Yield the shapes that urdfdom reads in place of one; colours are limited to [0, 1]."""
    if shape.rgba is not None:
        red, green, blue, alpha = (min(max(part, 0.0), 1.0) for part in shape.rgba)
        shape = replace(shape, rgba=(red, green, blue, alpha))
    if shape.kind == 'mesh':
        yield replace(shape, file=Path(shape.file).as_uri())
    elif shape.kind == 'capsule':
        radius, length = shape.size
        yield replace(shape, kind='cylinder')
        for end in (-0.5, 0.5):
            offset = rotation_from_rpy(shape.rpy) @ np.array([0.0, 0.0, end * length])
            x, y, z = (np.array(shape.xyz) + offset).tolist()
            yield replace(shape, kind='sphere', size=(radius,), xyz=(x, y, z))
    else:
        yield shape


def insert_base_link(text: str, name: str) -> str:
    """Return a URDF text with a massless root link of that name fixed above its root."""
    document = ElementTree.fromstring(text)
    links = [link.attrib['name'] for link in document.iterfind('link')]
    if name in links:
        return text
    below = {child.attrib['link'] for child in document.iterfind('joint/child')}
    root = next(link for link in links if link not in below)
    joint = Element('joint', name=f'{name}_to_{root}', type='fixed')
    SubElement(joint, 'parent', link=name)
    SubElement(joint, 'child', link=root)
    document[:0] = [Element('link', name=name), joint]
    return _serialize(document)


def _robot_element(robot: RobotModel, links: Sequence[Link], visuals: bool) -> Element:
    document = Element('robot', name=robot.name)
    for link in links:
        document.append(_link_element(link, visuals))
    names = {link.name for link in links}
    for joint in robot.joints:
        if joint.child in names:
            document.append(_joint_element(joint))
    return document


def _serialize(document: Element) -> str:
    ElementTree.indent(document)
    return ElementTree.tostring(document, encoding='unicode', xml_declaration=True) + '\n'


def _links_of_tree(robot: RobotModel, root: str) -> list[Link]:
    """Return the links of the tree below a root; links are in tree order."""
    if root and root not in robot.roots:
        raise unknown_name_error('root link', root, robot.roots)
    if not root and len(robot.roots) > 1:
        raise ConfigurationError(
            f"robot '{robot.name}' has {len(robot.roots)} roots ({', '.join(robot.roots)}); "
            'a URDF holds one'
        )
    inside = {root or robot.roots[0]}
    parent = {joint.child: joint.parent for joint in robot.joints}
    for link in robot.links:
        if parent.get(link.name) in inside:
            inside.add(link.name)
    return [link for link in robot.links if link.name in inside]


def _format_numbers(numbers: Iterable[float]) -> str:
    return ' '.join(repr(float(number)) for number in numbers)


def _add_origin(parent: Element, xyz: Iterable[float], rpy: Iterable[float]) -> None:
    SubElement(parent, 'origin', xyz=_format_numbers(xyz), rpy=_format_numbers(rpy))


def _link_element(link: Link, visuals: bool) -> Element:
    """Return the element of a link, with inertial, collisions and visuals."""
    element = Element('link', name=link.name)
    inertial = SubElement(element, 'inertial')
    _add_origin(inertial, link.com, (0.0, 0.0, 0.0))
    SubElement(inertial, 'mass', value=repr(float(link.mass)))
    i = link.inertia
    SubElement(
        inertial,
        'inertia',
        {
            'ixx': _format_numbers([i[0, 0]]),
            'ixy': _format_numbers([i[0, 1]]),
            'ixz': _format_numbers([i[0, 2]]),
            'iyy': _format_numbers([i[1, 1]]),
            'iyz': _format_numbers([i[1, 2]]),
            'izz': _format_numbers([i[2, 2]]),
        },
    )
    for shape in link.collisions:
        _fill_shape_element(SubElement(element, 'collision'), shape)
    for shape in link.visuals if visuals else ():
        _fill_shape_element(SubElement(element, 'visual'), shape)
    return element


def _fill_shape_element(element: Element, shape: Shape) -> None:
    """Add origin, geometry and colour of a shape to its element."""
    _add_origin(element, shape.xyz, shape.rpy)
    form = SubElement(SubElement(element, 'geometry'), shape.kind)
    if shape.kind == 'box':
        form.set('size', _format_numbers(shape.size))
    elif shape.kind == 'mesh':
        form.set('filename', shape.file)
        form.set('scale', _format_numbers(shape.size))
    else:
        form.set('radius', _format_numbers(shape.size[:1]))
        if shape.kind != 'sphere':
            form.set('length', _format_numbers(shape.size[1:]))
    if shape.rgba is not None:
        # Readers share materials by name, so the name is the colour itself.
        name = '-'.join(repr(float(part)) for part in shape.rgba)
        material = SubElement(element, 'material', name=name)
        SubElement(material, 'color', rgba=_format_numbers(shape.rgba))


def _joint_element(joint: Joint) -> Element:
    """Return the element of a joint, with its finite limits, dynamics and mimic."""
    element = Element('joint', name=joint.name, type=joint.kind)
    _add_origin(element, joint.xyz, joint.rpy)
    SubElement(element, 'parent', link=joint.parent)
    SubElement(element, 'child', link=joint.child)
    if joint.kind in (*MOVING_KINDS, SPHERICAL_KIND):
        SubElement(element, 'axis', xyz=_format_numbers(joint.axis))
    if joint.kind not in MOVING_KINDS:
        return element
    limits = {name: getattr(joint, name) for name in ('lower', 'upper', 'velocity', 'effort')}
    finite = {name: repr(float(value)) for name, value in limits.items() if math.isfinite(value)}
    SubElement(element, 'limit', finite)
    SubElement(
        element,
        'dynamics',
        damping=repr(float(joint.damping)),
        friction=repr(float(joint.friction)),
    )
    if joint.mimic is not None:
        SubElement(
            element,
            'mimic',
            joint=joint.mimic.joint,
            multiplier=repr(float(joint.mimic.multiplier)),
            offset=repr(float(joint.mimic.offset)),
        )
    return element
