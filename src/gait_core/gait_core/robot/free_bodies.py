# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots of several free bodies, each of one link, from its own file or from robot.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from gait_core.arrays import read_only_array
from gait_core.errors import ConfigurationError
from gait_core.parameters.schema import Location, NumberRange, check_keys, read_choice, read_value
from gait_core.robot.model import Link, Shape, Triple
from gait_core.robot.robot_file import RobotFile
from gait_core.robot.urdf.reader import read_urdf
from gait_core.robot.urdf.tree import LinkTree
from gait_core.trial.scene import EMPTY_MAPPING

Assembly = Mapping[str, tuple[Triple, Triple]]
_SIZE_COUNTS = {'box': 3, 'sphere': 1, 'cylinder': 2, 'capsule': 2}
_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class FreeBody:
    """Entry of a free body: its name and its pose at the start, in the base frame [m, rad]."""

    name: str
    xyz: Triple = _ZERO
    rpy: Triple = _ZERO


@dataclass(frozen=True, kw_only=True)
class BodyFromFile(FreeBody):
    """Entry of a body that is the only link of a URDF or xacro file."""

    urdf: str


@dataclass(frozen=True, kw_only=True)
class InlineBody(FreeBody):
    """Entry of a body with mass [kg], com [m] and diagonal inertia about it [kg m^2]."""

    mass: Annotated[float, NumberRange(0.0, 1e9, 'kg')]
    com: Triple = _ZERO
    inertia: Triple
    visuals: tuple[Mapping[str, Any], ...] = ()
    collisions: tuple[Mapping[str, Any], ...] = ()


def read_bodies(
    content: RobotFile,
    location: Location,
    folder: Path,
    packages: Mapping[str, str | Path] = EMPTY_MAPPING,
) -> tuple[LinkTree, Assembly]:
    """
    Return the bodies of a robot.yaml as links without joints, and their poses at the start.

    Raises
    ------
    ConfigurationError
        For a repeated body, a file with more than one link, a wrong key or value.

    """
    for key, value in (('urdf', content.urdf), ('root_rpy', content.root_rpy)):
        if value:
            raise ConfigurationError(
                f"{(location / key).owner}: '{key}' cannot be given with 'bodies', each of which "
                'has its own'
            )
    links: list[Link] = []
    assembly: dict[str, tuple[Triple, Triple]] = {}
    for i, entry in enumerate(content.bodies or ()):
        entry_location = location / 'bodies' / i
        kind = BodyFromFile if 'urdf' in entry else InlineBody
        body: BodyFromFile | InlineBody = read_value(kind, entry, entry_location)
        if body.name in assembly:
            raise entry_location.error(f"body '{body.name}' is described twice")
        assembly[body.name] = body.xyz, body.rpy
        if isinstance(body, BodyFromFile):
            link = _link_from_file(body, entry_location, folder, packages)
        else:
            link = _link_from_entry(body, entry_location)
        links.append(_check_mass(link, entry_location))
    if not links:
        raise (location / 'bodies').error('it lists no body, expected at least one')
    return LinkTree(name=folder.name, links=tuple(links), joints=()), assembly


def _link_from_file(
    body: BodyFromFile, location: Location, folder: Path, packages: Mapping[str, str | Path]
) -> Link:
    file = folder / body.urdf
    if not file.is_file():
        raise (location / 'urdf').error(f"the file '{file.name}' does not exist")
    links = read_urdf(file, packages).links
    if len(links) != 1:
        raise ConfigurationError(f'{file}: {len(links)} links, expected 1 of a free body')
    return replace(links[0], name=body.name)


def _link_from_entry(body: InlineBody, location: Location) -> Link:
    return Link(
        name=body.name,
        mass=body.mass,
        com=read_only_array(body.com, (3,), name='com'),
        inertia=read_only_array(np.diag(body.inertia), (3, 3), name='inertia'),
        collisions=_read_shapes(body.collisions, location / 'collisions'),
        visuals=_read_shapes(body.visuals, location / 'visuals'),
    )


def _check_mass(link: Link, location: Location) -> Link:
    """Return a link with positive mass and inertia; ConfigurationError for any other."""
    if not (link.mass > 0.0 and np.linalg.eigvalsh(link.inertia)[0] > 0.0):
        raise location.error(
            f"body '{link.name}' has a mass of {link.mass:g} kg and an inertia of "
            f'{np.diag(link.inertia).tolist()} kg m^2; a free body needs both positive'
        )
    return link


def _read_shapes(entries: tuple[Mapping[str, Any], ...], location: Location) -> tuple[Shape, ...]:
    return tuple(_read_shape(entry, location / i) for i, entry in enumerate(entries))


def _read_shape(entry: Mapping[str, Any], location: Location) -> Shape:
    """Return the shape of an entry; ``ConfigurationError`` if its size has no meaning."""
    check_keys(entry, ('kind', 'size', 'xyz', 'rpy', 'rgba'), location)
    kind = read_choice(entry, 'kind', _SIZE_COUNTS, location)
    shape: Shape = read_value(Shape, entry, location)
    if len(shape.size) != _SIZE_COUNTS[kind]:
        raise ConfigurationError(
            f'{location / "size"} has {len(shape.size)} values, expected {_SIZE_COUNTS[kind]}'
        )
    if min(shape.size) <= 0.0:
        raise ConfigurationError(
            f'{location / "size"} is {min(shape.size):g} m, it must be positive'
        )
    return shape
