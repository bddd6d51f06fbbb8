"""Robots of several free bodies: each one link, from its own small file or described in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from gait_core.arrays import frozen
from gait_core.errors import ConfigurationError, unknown
from gait_core.robot.model import Link, Shape, Triple
from gait_core.robot.urdf import Tree, read_urdf
from gait_core.robot.yaml_reader import Section
from gait_core.scene import NOTHING

Assembly = Mapping[str, tuple[Triple, Triple]]
_PLACE = ('name', 'xyz', 'rpy')
_INLINE = ('mass', 'com', 'inertia', 'visuals', 'collisions')
_SIZES = {'box': 3, 'sphere': 1, 'cylinder': 2, 'capsule': 2}
_ZERO = (0.0, 0.0, 0.0)


def read_bodies(
    given: Section, folder: Path, packages: Mapping[str, str | Path] = NOTHING
) -> tuple[Tree, Assembly]:
    """
    Return the bodies of a robot.yaml as links without joints, and where they lie at first.

    Raises
    ------
    ConfigurationError
        For a body that is there twice, a file with more than one link, a wrong key or value.

    """
    for key in ('urdf', 'root_rpy'):
        if key in given:
            raise ConfigurationError(
                f"{given.where}: '{key}' has no place beside 'bodies', each of which names its own"
            )
    links: list[Link] = []
    assembly: dict[str, tuple[Triple, Triple]] = {}
    for body in given.sections('bodies'):
        name = body.text('name')
        if name in assembly:
            raise ConfigurationError(f"{given.where}: body '{name}' is described twice")
        assembly[name] = body.triple('xyz', _ZERO), body.triple('rpy', _ZERO)
        links.append(_from_file(body, folder, packages) if 'urdf' in body else _inline(body))
    if not links:
        raise ConfigurationError(f'{given.where}: bodies lists no body')
    return Tree(name=folder.name, links=tuple(links), joints=()), assembly


def _from_file(body: Section, folder: Path, packages: Mapping[str, str | Path]) -> Link:
    body.allow(*_PLACE, 'urdf')
    file = folder / body.text('urdf')
    if not file.is_file():
        raise ConfigurationError(f"{body.where}: urdf: the file '{file.name}' does not exist")
    links = read_urdf(file, packages).links
    if len(links) != 1:
        raise ConfigurationError(f'{file}: {len(links)} links; a free body is of exactly one')
    return _heavy(replace(links[0], name=body.text('name')), body.where)


def _inline(body: Section) -> Link:
    body.allow(*_PLACE, *_INLINE)
    link = Link(
        name=body.text('name'),
        mass=body.number('mass'),
        com=frozen(body.triple('com', _ZERO), (3,), name='com'),
        inertia=frozen(np.diag(body.triple('inertia')), (3, 3), name='inertia'),
        collisions=tuple(map(_shape, body.sections('collisions'))),
        visuals=tuple(map(_shape, body.sections('visuals'))),
    )
    return _heavy(link, body.where)


def _heavy(link: Link, where: str) -> Link:
    """Return a link if it can be moved by forces."""
    if not (link.mass > 0.0 and np.linalg.eigvalsh(link.inertia)[0] > 0.0):
        raise ConfigurationError(
            f"{where}: body '{link.name}' has a mass of {link.mass:g} kg and an inertia of "
            f'{np.diag(link.inertia).tolist()} kg m^2; a free body needs both positive'
        )
    return link


def _shape(given: Section) -> Shape:
    given.allow('kind', 'size', 'xyz', 'rpy', 'rgba')
    kind = given.text('kind')
    if kind not in _SIZES:
        raise ConfigurationError(f'{given.where}: {unknown("shape", kind, _SIZES)}')
    colour = given.floats('rgba', 4) if 'rgba' in given else None
    return Shape(
        kind=kind,
        size=given.floats('size', _SIZES[kind]),
        xyz=given.triple('xyz', _ZERO),
        rpy=given.triple('rpy', _ZERO),
        rgba=None if colour is None else (colour[0], colour[1], colour[2], colour[3]),
    )
