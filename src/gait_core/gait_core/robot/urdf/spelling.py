# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Misspelt and repeated elements and attributes of URDF."""

from __future__ import annotations

from collections.abc import Iterable
import difflib
from typing import Any

from gait_core.errors import excerpt
from gait_core.robot.urdf.xml_tree import XmlElement

_ATTRIBUTES = {
    'robot': 'name version',
    'link': 'name type',
    'visual': 'name',
    'collision': 'name group',
    'joint': 'name type',
    'origin': 'xyz rpy quat_xyzw',
    'axis': 'xyz rpy',
    'mass': 'value',
    'inertia': 'ixx ixy ixz iyy iyz izz',
    'parent': 'link',
    'child': 'link',
    'limit': 'lower upper effort velocity acceleration deceleration jerk',
    'dynamics': 'damping friction',
    'mimic': 'joint multiplier offset',
    'box': 'size',
    'sphere': 'radius',
    'cylinder': 'radius length',
    'capsule': 'radius length',
    'mesh': 'filename scale',
    'material': 'name',
    'color': 'rgba',
}
_CHILDREN = {
    'robot': 'link joint material gazebo transmission ros2_control sensor group',
    'link': 'inertial visual collision contact sensor material',
    'inertial': 'origin mass inertia',
    'visual': 'origin geometry material',
    'collision': 'origin geometry material verbose contact_coefficients',
    'geometry': 'box sphere cylinder capsule mesh',
    'joint': 'origin parent child axis limit dynamics mimic calibration safety_controller',
    'material': 'color texture',
}
# Elements that their parent has at most once.
_SINGLE = set(
    'origin geometry inertial mass inertia parent child axis limit dynamics mimic'.split()
)
# Elements that are lost where their parent is another one than URDF says.
_OWNED = {
    tag: owner
    for owner, tags in {
        'robot': 'link joint',
        'link': 'inertial visual collision',
        'inertial': 'mass inertia',
        'geometry': 'box sphere cylinder capsule mesh',
        'joint': 'parent child axis limit dynamics mimic',
    }.items()
    for tag in tags.split()
}
_MIN_LIKENESS = 0.75
"""Likeness (``difflib``) from which an unknown name is a misspelling, not an extension."""


def spelling_fault(root: XmlElement) -> tuple[XmlElement, str] | None:
    """
    Return the first misspelt, misplaced or repeated part, and its fault; None if all fit.

    Names that resemble no name of URDF are extensions, and pass; so do names with a namespace.
    The contents of extensions are not looked at.
    """
    open_elements: list[tuple[Any, str]] = [(root, '')]
    while open_elements:
        element, owner = open_elements.pop()
        if element.tag in ('link', 'joint', 'material') and 'name' in element.keys():
            owner = f"{element.tag} '{excerpt(element.get('name', ''))}': "
        children = list(element)
        parts = (
            ('attribute', element.keys(), _ATTRIBUTES.get(element.tag, '').split()),
            ('element', [child.tag for child in children], _CHILDREN.get(element.tag, '').split()),
        )
        for kind, names, known in parts:
            for name in names:
                if name not in known and (nearest := _nearest_name(name, known)):
                    return element, (
                        f"{owner}<{element.tag}> has the unknown {kind} '{excerpt(name)}': did "
                        f"you mean '{nearest}'?"
                    )
        known = _CHILDREN.get(element.tag, '').split()
        for child in children:
            # Extensions, such as <transmission>, have a <joint> of their own.
            is_part = element is root or element.tag in _OWNED
            if is_part and child.tag in _OWNED and child.tag not in known:
                return child, (
                    f'{owner}<{element.tag}> contains <{child.tag}>, which belongs into '
                    f'<{_OWNED[child.tag]}>'
                )
        for tag in known:
            alike = [_contents(child) for child in children if child.tag == tag in _SINGLE]
            if any(contents != alike[0] for contents in alike):
                return element, f'{owner}<{element.tag}> has {len(alike)} different <{tag}>'
        open_elements += [(child, owner) for child in reversed(children) if child.tag in known]
    return None


def _contents(element: Any) -> tuple[Any, ...]:
    return element.tag, element.attrib, [_contents(child) for child in element]


def _nearest_name(name: str, valid_names: Iterable[str]) -> str:
    """Return the valid name that an unknown name resembles; '' if there is none."""
    if '{' in name or ':' in name:
        return ''
    for other in valid_names:
        if name.lower() == other or sorted(name) == sorted(other):
            return other
    close = difflib.get_close_matches(name, list(valid_names), n=1, cutoff=_MIN_LIKENESS)
    return close[0] if close else ''
