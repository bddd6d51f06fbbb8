# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reader of URDF: links and joints, checked and in tree order."""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
import re
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from gait_core.arrays import read_only_array
from gait_core.errors import ConfigurationError, excerpt, name_hint
from gait_core.kinematics.frames import inertia_in_outer_frame
from gait_core.robot.mechanism import MAX_CONSTANT
from gait_core.robot.model import MOVING_KINDS, Joint, Link, Mimic, Shape, Triple, limit_fault
from gait_core.robot.name_checks import name_fault
from gait_core.robot.urdf.meshes import resolve_mesh
from gait_core.robot.urdf.spelling import spelling_fault
from gait_core.robot.urdf.tree import LinkTree, build_tree
from gait_core.robot.urdf.xml_source import read_xml
from gait_core.trial.scene import EMPTY_MAPPING

JOINT_KINDS = (*MOVING_KINDS, 'fixed')
_GEOMETRIES = ('box', 'sphere', 'cylinder', 'capsule', 'mesh')
# Greatest size of numbers by attribute, 1e9 [SI] for others. Beyond a base height of 1000 m
# every trial counts as diverged.
_GREATEST = {
    **dict.fromkeys(('xyz', 'size', 'radius', 'length'), 1e4),
    **dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), math.inf),
}
_PLAIN = re.compile(r'[^_\x80-\U0010ffff]*').fullmatch
Colour = tuple[float, float, float, float]


def read_urdf(path: Path, packages: Mapping[str, str | Path] = EMPTY_MAPPING) -> LinkTree:
    """
    Return the links and joints of a .urdf or .xacro file.

    A link without ``inertial`` has mass 0. Absent limits, limits beyond 1e9, and zero limits of
    effort and velocity become infinite; the load report lists these joints. A floating joint below
    a massless root link is removed with that link, because the base of a robot is free anyway.

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
    misspelt = spelling_fault(root)
    if misspelt is not None:
        raise _fault_at(path, *misspelt)
    reader = _ElementReader(path, packages, _read_materials(path, root))
    links = [reader.link(element) for element in root.findall('link')]
    joints = [reader.joint(element) for element in root.findall('joint')]
    try:
        return build_tree(root.get('name', path.stem), links, joints)
    except ConfigurationError as error:
        raise ConfigurationError(f'{path}: {error}') from error


def _fault_at(path: Path, element: Any, text: str) -> ConfigurationError:
    """Return the error for a fault of an element, which begins with file and line."""
    line = f', line {element.line}' if element.line else ''
    return ConfigurationError(f'{path}{line}: {text}')


class _ElementReader:
    """Conversion of XML elements into parts of a model; errors begin with the file."""

    def __init__(
        self, path: Path, packages: Mapping[str, str | Path], materials: Mapping[str, Colour]
    ) -> None:
        self._path = path
        self._packages = packages
        self._materials = materials

    def _fault(self, element: Element | None, text: str) -> ConfigurationError:
        return _fault_at(self._path, element, text)

    def _name(self, kind: str, element: Element) -> str:
        """Return the name of a link or joint; ConfigurationError for one that is unfit."""
        name = element.get('name', '')
        if not name:
            raise self._fault(element, f'a {kind} has no name')
        if fault := name_fault(name):
            raise self._fault(element, f"{kind} '{excerpt(name)}' {fault}")
        return name

    def numbers(
        self, owner: str, element: Element | None, attribute: str, default: str, count: int = 3
    ) -> tuple[float, ...]:
        """Return the numbers of an attribute; ConfigurationError for another count."""
        text = default if element is None else element.get(attribute, default)
        try:
            # float() takes 1_000 and digits of other scripts too, which no other reader does.
            values = tuple(float(word) for word in text.split()) if _PLAIN(text) else ()
        except ValueError:
            values = ()
        if len(values) != count or not all(math.isfinite(value) for value in values):
            hint = '; is it xacro? then name the file *.xacro' * ('${' in text or '$(' in text)
            raise self._fault(
                element,
                f"{owner}: {attribute}='{excerpt(text)}' is not {count} finite "
                f'number{"s" * (count > 1)}{hint}',
            )
        bound = _GREATEST.get(attribute, 1e9)
        if any(abs(value) > bound for value in values):
            raise self._fault(
                element,
                f"{owner}: {attribute}='{excerpt(text)}' is beyond the limit of {bound:g}",
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
        name = self._name('link', element)
        owner = f"link '{name}'"
        inertial = element.find('inertial')
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None:
            mass = self.number(owner, inertial.find('mass'), 'value')
            xyz, rpy = self.origin(owner, inertial)
            com = np.array(xyz)
            inertia = inertia_in_outer_frame(self._inertia(owner, inertial.find('inertia')), rpy)
        if mass < 0.0:
            raise self._fault(inertial, f'{owner}: its mass is {mass} kg, it must not be negative')
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
                element, f"{owner}: unknown geometry '{tag}'; valid: {', '.join(_GEOMETRIES)}"
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
            if not all(size):
                raise self._fault(form, f'{owner}: the scale of its mesh is zero: {size}')
            file = self._mesh(owner, form)
        else:
            size = (
                *self.numbers(owner, form, 'radius', '', 1),
                *self.numbers(owner, form, 'length', '', 1),
            )
        # A mirrored mesh has a negative scale; all other sizes must not be negative.
        if form.tag != 'mesh' and min(size) < 0.0:
            raise self._fault(form, f'{owner}: the size of its {form.tag} is negative: {size}')
        return size, file

    def _mesh(self, owner: str, form: Element) -> str:
        """Return the file of a mesh; ConfigurationError if it has none or it is not found."""
        reference = form.get('filename', '')
        if not reference:
            raise self._fault(form, f'{owner}: its mesh has no filename')
        return resolve_mesh(reference, self._path, self._packages)

    def _colour(self, owner: str, material: Element | None) -> Colour | None:
        if material is None:
            return None
        if material.find('color') is None:
            return self._materials.get(material.get('name', ''))
        red, green, blue, alpha = self.numbers(owner, material.find('color'), 'rgba', '', 4)
        return red, green, blue, alpha

    def joint(self, element: Element) -> Joint:
        """Return a joint with its limits."""
        name, kind = self._name('joint', element), element.get('type', '')
        owner = f"joint '{name}'"
        if kind not in (*JOINT_KINDS, 'floating'):
            hint = '; use three revolute joints and ball_joints in robot.yaml' * (
                kind == 'spherical'
            )
            raise self._fault(
                element,
                f"{owner} has the unknown type '{excerpt(kind)}': "
                f'{name_hint(kind, JOINT_KINDS)}{hint}',
            )
        ends = [
            item.get('link', '') if item is not None else ''
            for item in (element.find('parent'), element.find('child'))
        ]
        if not all(ends):
            raise self._fault(element, f'{owner} names no parent or no child link')
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
            raise self._fault(element, f'{owner} {fault}')
        return joint

    def _axis(self, owner: str, element: Element) -> Triple:
        axis = np.array(self.numbers(owner, element.find('axis'), 'xyz', '1 0 0'))
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            raise self._fault(element, f'{owner} has an axis of length zero')
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
        has_limits = element is not None and (
            'lower' in element.keys() or 'upper' in element.keys()
        )
        if kind in ('revolute', 'prismatic') and has_limits:
            lower, upper = (self.number(owner, element, end) for end in ('lower', 'upper'))
        velocity, effort = (self.number(owner, element, item) for item in ('velocity', 'effort'))
        # Many descriptions write 0, or a number such as 1e16, for a limit that is not known.
        return (
            lower if abs(lower) <= MAX_CONSTANT else math.copysign(math.inf, lower),
            upper if abs(upper) <= MAX_CONSTANT else math.copysign(math.inf, upper),
            velocity if velocity != 0.0 and velocity <= MAX_CONSTANT else math.inf,
            effort if effort != 0.0 and effort <= MAX_CONSTANT else math.inf,
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
    for material in [*root.findall('material'), *root.findall('link/visual/material')]:
        colour, name = material.find('color'), material.get('name', '')
        if colour is None or not name:
            continue
        text = colour.get('rgba', '')
        try:
            red, green, blue, alpha = (float(word) for word in text.split())
        except ValueError as error:
            raise _fault_at(
                path,
                colour,
                f"material '{excerpt(name)}': rgba is '{excerpt(text)}', expected four numbers",
            ) from error
        colours.setdefault(name, (red, green, blue, alpha))
    return colours
