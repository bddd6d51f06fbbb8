# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reader of URDF: links and joints, checked and in tree order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from gait_core.arrays import read_only_array
from gait_core.errors import ConfigurationError, excerpt, name_hint
from gait_core.kinematics.frames import inertia_in_outer_frame
from gait_core.robot.model import MOVING_KINDS, Joint, Link, Mimic, Shape, Triple, limit_fault
from gait_core.robot.urdf.meshes import resolve_mesh
from gait_core.robot.urdf.xml_source import read_xml
from gait_core.trial.scene import EMPTY_MAPPING

JOINT_KINDS = (*MOVING_KINDS, 'fixed')
_GEOMETRIES = ('box', 'sphere', 'cylinder', 'capsule', 'mesh')
_ZERO = (0.0, 0.0, 0.0)
Colour = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class LinkTree:
    """Links and joints of a description; every parent before its children."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


def read_urdf(path: Path, packages: Mapping[str, str | Path] = EMPTY_MAPPING) -> LinkTree:
    """
    Return the links and joints of a .urdf or .xacro file.

    A link without ``inertial`` has mass 0. Absent limits, and zero limits of effort and velocity,
    become infinite; the load report lists these joints. A floating joint below a massless root
    link is removed with that link, because the base of a robot is free anyway.

    Parameters
    ----------
    path : Path
    packages : mapping of str to path
        Folders of packages in ``package://`` references; other packages are searched for.

    Raises
    ------
    ConfigurationError
        For XML that is not well-formed, a missing mesh, a wrong or repeated link or joint,
        impossible limits, or links that form no tree. The message begins with the file.

    """
    root = read_xml(path, packages)
    if root.tag != 'robot':
        raise ConfigurationError(f'{path}: the root element is <{root.tag}>, expected <robot>')
    reader = _ElementReader(path, packages, _read_materials(path, root))
    links = tuple(reader.link(element) for element in root.findall('link'))
    joints = tuple(reader.joint(element) for element in root.findall('joint'))
    links, joints = _remove_floating_root(path, links, joints)
    return LinkTree(
        name=root.get('name', path.stem),
        links=_sort_links(links, joints, str(path)),
        joints=joints,
    )


class _ElementReader:
    """Conversion of XML elements into parts of a model; errors begin with the file."""

    def __init__(
        self, path: Path, packages: Mapping[str, str | Path], materials: Mapping[str, Colour]
    ) -> None:
        self._path = path
        self._packages = packages
        self._materials = materials

    def _fault(self, text: str) -> ConfigurationError:
        return ConfigurationError(f'{self._path}: {text}')

    def numbers(
        self, owner: str, element: Element | None, attribute: str, default: str, count: int = 3
    ) -> tuple[float, ...]:
        """Return the numbers of an attribute; ConfigurationError for another count."""
        text = default if element is None else element.get(attribute, default)
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            values = ()
        if len(values) != count or not all(math.isfinite(value) for value in values):
            raise self._fault(
                f"{owner}: {attribute}='{text}' is not {count} finite number{'s' * (count > 1)}"
            )
        return values

    def number(
        self, owner: str, element: Element | None, attribute: str, default: str = '0'
    ) -> float:
        """Return the only number of an attribute."""
        return self.numbers(owner, element, attribute, default, 1)[0]

    def origin(self, owner: str, element: Element) -> tuple[Triple, Triple]:
        """Return position [m] and roll, pitch, yaw [rad] of an element in its link."""
        origin = element.find('origin')
        x, y, z = self.numbers(owner, origin, 'xyz', '0 0 0')
        roll, pitch, yaw = self.numbers(owner, origin, 'rpy', '0 0 0')
        return (x, y, z), (roll, pitch, yaw)

    def link(self, element: Element) -> Link:
        """Return a link with its collision and visual shapes."""
        name = element.get('name', '')
        if not name:
            raise self._fault('a link has no name')
        owner = f"link '{name}'"
        inertial = element.find('inertial')
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None:
            mass = self.number(owner, inertial.find('mass'), 'value')
            xyz, rpy = self.origin(owner, inertial)
            com = np.array(xyz)
            inertia = inertia_in_outer_frame(self._inertia(owner, inertial.find('inertia')), rpy)
        if mass < 0.0:
            raise self._fault(f'{owner}: its mass is {mass} kg, it must not be negative')
        return Link(
            name=name,
            mass=mass,
            com=read_only_array(com, (3,), name='com'),
            inertia=read_only_array(inertia, (3, 3), name='inertia'),
            collisions=tuple(self.shape(owner, item) for item in element.findall('collision')),
            visuals=tuple(self.shape(owner, item) for item in element.findall('visual')),
        )

    def _inertia(self, owner: str, element: Element | None) -> np.ndarray:
        xx, xy, xz, yy, yz, zz = (
            self.number(owner, element, f'i{axes}')
            for axes in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
        )
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def shape(self, owner: str, element: Element) -> Shape:
        """Return a shape of a link; ConfigurationError for an unknown geometry."""
        geometry = element.find('geometry')
        form = next(iter(geometry), None) if geometry is not None else None
        if form is None or form.tag not in _GEOMETRIES:
            tag = 'none' if form is None else form.tag
            raise self._fault(
                f"{owner}: unknown geometry '{tag}'; valid: {', '.join(_GEOMETRIES)}"
            )
        xyz, rpy = self.origin(owner, element)
        size, file = self._size(owner, form)
        return Shape(
            kind=form.tag,
            size=size,
            xyz=xyz,
            rpy=rpy,
            file=file,
            rgba=self._colour(owner, element.find('material')),
        )

    def _size(self, owner: str, form: Element) -> tuple[tuple[float, ...], str]:
        """Return the size of a geometry and, for a mesh, its file; see ``Shape``."""
        file = ''
        if form.tag == 'box':
            size = self.numbers(owner, form, 'size', '')
        elif form.tag == 'sphere':
            size = self.numbers(owner, form, 'radius', '', 1)
        elif form.tag == 'mesh':
            size = self.numbers(owner, form, 'scale', '1 1 1')
            file = resolve_mesh(form.get('filename', ''), self._path, self._packages)
        else:
            size = (
                *self.numbers(owner, form, 'radius', '', 1),
                *self.numbers(owner, form, 'length', '', 1),
            )
        # A mirrored mesh has a negative scale; all other sizes must not be negative.
        if form.tag != 'mesh' and min(size) < 0.0:
            raise self._fault(f'{owner}: the size of its {form.tag} is negative: {size}')
        return size, file

    def _colour(self, owner: str, material: Element | None) -> Colour | None:
        if material is None:
            return None
        if material.find('color') is None:
            return self._materials.get(material.get('name', ''))
        red, green, blue, alpha = self.numbers(owner, material.find('color'), 'rgba', '', 4)
        return red, green, blue, alpha

    def joint(self, element: Element) -> Joint:
        """Return a joint with its limits."""
        name, kind = element.get('name', ''), element.get('type', '')
        owner = f"joint '{name}'"
        if not name:
            raise self._fault('a joint has no name')
        if kind not in (*JOINT_KINDS, 'floating'):
            hint = '; use three revolute joints and ball_joints in robot.yaml' * (
                kind == 'spherical'
            )
            raise self._fault(
                f"{owner} has the unknown type '{kind}': {name_hint(kind, JOINT_KINDS)}{hint}"
            )
        ends = [
            item.get('link', '') if item is not None else ''
            for item in (element.find('parent'), element.find('child'))
        ]
        if not all(ends):
            raise self._fault(f'{owner} names no parent or no child link')
        xyz, rpy = self.origin(owner, element)
        lower, upper, velocity, effort = self._limits(owner, kind, element.find('limit'))
        dynamics = element.find('dynamics')
        joint = Joint(
            name=name,
            kind=kind,
            parent=ends[0],
            child=ends[1],
            xyz=xyz,
            rpy=rpy,
            axis=self._axis(owner, element) if kind in MOVING_KINDS else (1.0, 0.0, 0.0),
            lower=lower,
            upper=upper,
            velocity=velocity,
            effort=effort,
            damping=self.number(owner, dynamics, 'damping'),
            friction=self.number(owner, dynamics, 'friction'),
            mimic=self._mimic(owner, element.find('mimic')),
        )
        fault = limit_fault(joint) if kind in MOVING_KINDS else ''
        if fault:
            raise self._fault(f'{owner} {fault}')
        return joint

    def _axis(self, owner: str, element: Element) -> Triple:
        axis = np.array(self.numbers(owner, element.find('axis'), 'xyz', '1 0 0'))
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            raise self._fault(f'{owner} has an axis of length zero')
        x, y, z = (axis / length).tolist() if abs(length - 1.0) > 1e-12 else axis.tolist()
        return x, y, z

    def _limits(
        self,
        owner: str,
        kind: str,
        element: Element | None,
    ) -> tuple[float, float, float, float]:
        """Return the limits lower, upper, velocity and effort; infinite if absent."""
        lower, upper = -math.inf, math.inf
        given = element is not None and ('lower' in element.keys() or 'upper' in element.keys())
        if kind in ('revolute', 'prismatic') and given:
            lower, upper = (self.number(owner, element, end) for end in ('lower', 'upper'))
        velocity, effort = (self.number(owner, element, item) for item in ('velocity', 'effort'))
        # Many descriptions write 0 for a limit that is not known.
        return (
            lower,
            upper,
            velocity or math.inf,
            effort or math.inf,
        )

    def _mimic(self, owner: str, element: Element | None) -> Mimic | None:
        if element is None:
            return None
        return Mimic(
            joint=element.get('joint', ''),
            multiplier=self.number(owner, element, 'multiplier', '1'),
            offset=self.number(owner, element, 'offset'),
        )


def _read_materials(path: Path, root: Element) -> dict[str, Colour]:
    """Return the colours of named materials, by name; the first of a name counts."""
    colours: dict[str, Colour] = {}
    for material in root.iter('material'):
        colour = material.find('color')
        words = colour.get('rgba', '').split() if colour is not None else []
        if len(words) == 4 and material.get('name'):
            try:
                red, green, blue, alpha = (float(word) for word in words)
            except ValueError as error:
                # A colour inside a link is read again there, with the link's name in the error.
                raise ConfigurationError(
                    f"{path}: material '{material.get('name', '')}': rgba is "
                    f"'{excerpt(' '.join(words))}', expected four numbers"
                ) from error
            colours.setdefault(material.get('name', ''), (red, green, blue, alpha))
    return colours


def _remove_floating_root(
    path: Path,
    links: tuple[Link, ...],
    joints: tuple[Joint, ...],
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Return links and joints without a floating joint and the massless root above it."""
    floating = [joint for joint in joints if joint.kind == 'floating']
    by_name = {link.name: link for link in links}
    for joint in floating:
        world = by_name.get(joint.parent)
        alone = sum(other.parent == joint.parent for other in joints) == 1
        if world is None or world.mass > 0.0 or world.collisions or not alone:
            raise ConfigurationError(
                f"{path}: joint '{joint.name}' is floating; only a floating joint from a massless "
                'root link to the base can be read'
            )
        links = tuple(link for link in links if link.name != joint.parent)
    return links, tuple(joint for joint in joints if joint.kind != 'floating')


def _sort_links(links: Sequence[Link], joints: Sequence[Joint], source: str) -> tuple[Link, ...]:
    """Return the links in tree order: the root first, every parent before its children."""
    _check_references(links, joints, source)
    children: dict[str, list[str]] = {link.name: [] for link in links}
    for joint in joints:
        children[joint.parent].append(joint.child)
    with_parent = {joint.child for joint in joints}
    tops = [link.name for link in links if link.name not in with_parent]
    if len(tops) != 1:
        listed = ', '.join(f"'{name}'" for name in tops) or 'none'
        raise ConfigurationError(
            f'{source}: {len(tops)} links have no parent joint ({listed}), expected 1'
        )
    # Depth-first from the root; a link that is not met is in a loop.
    order, stack = [], tops
    while stack:
        name = stack.pop()
        order.append(name)
        stack.extend(reversed(children[name]))
    if len(order) != len(links):
        in_loop = next(link.name for link in links if link.name not in order)
        raise ConfigurationError(f"{source}: link '{in_loop}' is part of a loop of joints")
    by_name = {link.name: link for link in links}
    return tuple(by_name[name] for name in order)


def _check_references(links: Sequence[Link], joints: Sequence[Joint], source: str) -> None:
    """Raise ConfigurationError for repeated names, unknown links or joints, and two parents."""
    if not links:
        raise ConfigurationError(f'{source}: it describes no link')
    names = [link.name for link in links]
    for kind, listed in (('link', names), ('joint', [joint.name for joint in joints])):
        twice = next((name for name in listed if listed.count(name) > 1), None)
        if twice is not None:
            raise ConfigurationError(f"{source}: {kind} '{twice}' is described twice")
    parents: dict[str, str] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in names:
                raise ConfigurationError(
                    f"{source}: joint '{joint.name}' names the unknown link '{end}': "
                    f'{name_hint(end, names)}'
                )
        other = parents.setdefault(joint.child, joint.name)
        if other != joint.name:
            raise ConfigurationError(
                f"{source}: link '{joint.child}' is the child of two joints, '{other}' and "
                f"'{joint.name}'"
            )
        if joint.mimic is not None and joint.mimic.joint not in {item.name for item in joints}:
            raise ConfigurationError(
                f"{source}: joint '{joint.name}' mimics the unknown joint '{joint.mimic.joint}': "
                f'{name_hint(joint.mimic.joint, (item.name for item in joints))}'
            )
    for joint in joints:
        _check_mimic(source, joint, {item.name: item for item in joints})


def _check_mimic(source: str, joint: Joint, joints: Mapping[str, Joint]) -> None:
    """Raise ConfigurationError for a joint that mimics itself, directly or by other joints."""
    followed = [joint.name]
    while (mimic := joints[followed[-1]].mimic) is not None:
        if mimic.joint in followed:
            raise ConfigurationError(
                f"{source}: joint '{joint.name}' mimics itself: "
                f'{" -> ".join([*followed[:5], mimic.joint])}'
            )
        followed.append(mimic.joint)
