# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Robots and terrains scaled by a length ratio, with the same gravity and density.

Every quantity is multiplied by a power of the ratio: time and speed 1/2, mass and force 3, torque
and energy 4 (dynamic similarity after Froude; Alexander 1989, Physiological Reviews 69:1199-1227).
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import re

from gait_core.errors import ConfigurationError
from gait_core.height_field import HeightField
from gait_core.robot.model import ForceElement, Joint, Link, RobotModel, Shape, Triple
from gait_core.terrains import Terrain
from gait_core.terrains.surfaces import Grid

_UNIT_EXPONENTS = {
    'm': 1.0,
    's': 0.5,
    'kg': 3.0,
    'N': 3.0,
    'J': 4.0,
    'W': 3.5,
    'rad': 0.0,
    '-': 0.0,
}
"""Exponent of the length ratio for each unit, from equal gravity (s) and density (kg)."""
_HINGE_UNITS = {
    'stiffness': 'N m',
    'damping': 'N m s',
    'strength': 'N m',
    'rise': '-',
    'gain': '1/s',
}
_SLIDE_UNITS = {
    'stiffness': 'N/m',
    'damping': 'N s/m',
    'strength': 'N',
    'rise': '1/m',
    'gain': '1/s',
}
_SLIDE_UNITS |= {'lead': 'm', 'diameter': 'm', 'friction': '-', 'rpm': '1/s', 'torque': 'N m'}
_ELEMENT_UNITS = {**_SLIDE_UNITS, 'effort': 'N'}
"""Units of the constants of actuators and force elements."""


def scaling_exponent(unit: str) -> float:
    """
    Return the exponent of the length ratio for a unit.

    Examples
    --------
    >>> [scaling_exponent(unit) for unit in ('m/s', 'kg m^2', 'N m s/rad', '1/m', '-')]
    [0.5, 5.0, 4.5, -1.0, 0.0]

    """
    above, *below = unit.split('/')
    return _sum_exponents(above) - sum(map(_sum_exponents, below))


def _sum_exponents(factors: str) -> float:
    """Return the sum of the exponents of the factors of a unit, such as ``kg m^2``."""
    total = 0.0
    for factor in factors.split():
        name, _, exponent = factor.partition('^')
        if name == '1':
            continue
        if name not in _UNIT_EXPONENTS or not re.fullmatch(r'\d*', exponent):
            raise ConfigurationError(f"similarity scaling has no exponent for the unit '{factor}'")
        total += _UNIT_EXPONENTS[name] * int(exponent or 1)
    return total


def scale_robot(robot: RobotModel, ratio: float) -> RobotModel:
    """
    Return a robot scaled by a length ratio.

    Raises
    ------
    ConfigurationError
        If an actuator or force element has a constant of unknown unit.

    """
    kinds = {joint.name: joint.kind for joint in robot.joints}
    slides = {name for name, kind in kinds.items() if kind == 'prismatic'}
    slides |= {element.name for element in robot.force_elements}
    return dataclasses.replace(
        robot,
        links=tuple(_scale_link(link, ratio) for link in robot.links),
        joints=tuple(_scale_joint(joint, kinds, ratio) for joint in robot.joints),
        actuators={
            name: dataclasses.replace(
                actuator,
                constants=_scale_constants(
                    actuator.constants, _SLIDE_UNITS if name in slides else _HINGE_UNITS, ratio
                ),
            )
            for name, actuator in robot.actuators.items()
        },
        legs=tuple(
            dataclasses.replace(leg, sole_point=_scale_triple(leg.sole_point, ratio))
            for leg in robot.legs
        ),
        force_elements=tuple(_scale_element(element, ratio) for element in robot.force_elements),
        contact_nodes=tuple(
            dataclasses.replace(
                node, point=_scale_triple(node.point, ratio), radius=node.radius * ratio
            )
            for node in robot.contact_nodes
        ),
        assembly={
            name: (_scale_triple(at, ratio), rotation)
            for name, (at, rotation) in robot.assembly.items()
        },
        nominal_stance={
            name: value * (ratio if name in slides else 1.0)
            for name, value in robot.nominal_stance.items()
        },
        length_scale=robot.length_scale * ratio,
    )


def scale_terrain(terrain: Terrain, ratio: float) -> Terrain:
    """Return a terrain scaled by a length ratio, heights included; a plane does not change."""
    field = terrain.heightfield
    if field is None:
        return terrain
    return Grid(
        HeightField(
            heights=field.heights * ratio,
            cell=field.cell * ratio,
            origin=(field.origin[0] * ratio, field.origin[1] * ratio),
        )
    )


def _scale_link(link: Link, ratio: float) -> Link:
    return dataclasses.replace(
        link,
        mass=link.mass * ratio**3,
        com=link.com * ratio,
        inertia=link.inertia * ratio**5,
        collisions=tuple(_scale_shape(shape, ratio) for shape in link.collisions),
        visuals=tuple(_scale_shape(shape, ratio) for shape in link.visuals),
    )


def _scale_shape(shape: Shape, ratio: float) -> Shape:
    size = tuple(extent * ratio for extent in shape.size)
    return dataclasses.replace(shape, size=size, xyz=_scale_triple(shape.xyz, ratio))


def _scale_joint(joint: Joint, kinds: Mapping[str, str], ratio: float) -> Joint:
    """Return a joint of the robot scaled in length; ``kinds`` has the kind of every joint."""
    is_slide = joint.kind == 'prismatic'
    units = _SLIDE_UNITS if is_slide else _HINGE_UNITS
    position_factor = ratio if is_slide else 1.0
    mimic = joint.mimic
    if mimic is not None:
        followed_factor = ratio if kinds[mimic.joint] == 'prismatic' else 1.0
        mimic = dataclasses.replace(
            mimic,
            multiplier=mimic.multiplier * position_factor / followed_factor,
            offset=mimic.offset * position_factor,
        )
    effort_factor = ratio ** scaling_exponent(units['strength'])
    return dataclasses.replace(
        joint,
        xyz=_scale_triple(joint.xyz, ratio),
        lower=joint.lower * position_factor,
        upper=joint.upper * position_factor,
        velocity=joint.velocity * position_factor / ratio**0.5,
        effort=joint.effort * effort_factor,
        damping=joint.damping * ratio ** scaling_exponent(units['damping']),
        friction=joint.friction * effort_factor,
        mimic=mimic,
    )


def _scale_element(element: ForceElement, ratio: float) -> ForceElement:
    return dataclasses.replace(
        element,
        point_a=_scale_triple(element.point_a, ratio),
        point_b=_scale_triple(element.point_b, ratio),
        constants=_scale_constants(element.constants, _ELEMENT_UNITS, ratio),
    )


def _scale_constants(
    constants: Mapping[str, float], units: Mapping[str, str], ratio: float
) -> dict[str, float]:
    for name in constants:
        if name not in units:
            raise ConfigurationError(f"similarity scaling has no unit for the constant '{name}'")
    return {
        name: value * ratio ** scaling_exponent(units[name]) for name, value in constants.items()
    }


def _scale_triple(triple: Triple, factor: float) -> Triple:
    x, y, z = triple
    return x * factor, y * factor, z * factor
