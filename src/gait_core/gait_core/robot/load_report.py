# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Load report: content of a robot description, and properties that engines treat differently."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.kinematics.frames import rpy_from_rotation
from gait_core.kinematics.start_pose import nominal_height
from gait_core.parameters import plain_data
from gait_core.robot.inference import side_from_name, up_axis
from gait_core.robot.model import MOVING_KINDS, Link, RobotModel
from gait_core.robot.overlap import Overlap, find_overlaps
from gait_core.robot.shapes import shape_points

_AXES = {'x': (1, 0, 0), 'y': (0, 1, 0), 'z': (0, 0, 1)}
_DEGREES_RANGE = (4.0 * np.pi, 1000.0)
"""Limits of a joint [rad] that are probably in degrees; larger ones stand for no limit."""
_MAX_SIZE = 10.0
"""Size of a robot [m] beyond which its lengths are probably in millimetres."""
_MAX_DENSITY = 22600.0
"""Density of osmium, the densest metal [kg/m^3]; beyond it masses are probably in grams."""


@dataclass(frozen=True, kw_only=True)
class LoadReport:
    """
    Content of a robot description, with warnings.

    Attributes
    ----------
    source, name : str
    links, joints : int
        Number of all links, and of moving joints without mimic.
    total_mass : float [kg]
    height : float [m]
        Height of the root link's origin over the ground in the nominal stance.
    actuated : tuple of str
        Names of the actuated joints.
    legs : mapping of str to tuple of str
        Joints of each leg, then its sole link.
    bodies, force_elements, contact_nodes : int
        Numbers of root links, of force elements and of contact nodes.
    without_mass : tuple of str
        Links without inertial, or with mass zero.
    implausible : mapping of str to str
        Fault of the inertia of a link, by link.
    without_position_limits, without_velocity_limit, without_effort_limit : tuple of str
        Joints without these limits; continuous joints need no position limits.
    mimic : mapping of str to str
        Joint that each mimic joint follows.
    up, forward : str
        Axis of the root link that points up or forward, such as ``z`` or ``-x``; ``forward`` is
        empty if names and shape do not determine it.
    overlaps : tuple of Overlap
        Pairs of links that overlap in the nominal stance.
    warnings : tuple of str
        One line each.

    """

    source: str
    name: str
    links: int
    joints: int
    total_mass: float
    height: float
    actuated: tuple[str, ...]
    legs: Mapping[str, tuple[str, ...]]
    bodies: int
    force_elements: int
    contact_nodes: int
    without_mass: tuple[str, ...]
    implausible: Mapping[str, str]
    without_position_limits: tuple[str, ...]
    without_velocity_limit: tuple[str, ...]
    without_effort_limit: tuple[str, ...]
    mimic: Mapping[str, str]
    up: str
    forward: str
    overlaps: tuple[Overlap, ...]
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data; keys are the attributes, with units."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain['total_mass_kg'] = plain.pop('total_mass')
        plain['height_m'] = plain.pop('height')
        plain['legs'] = {
            name: {'joints': list(chain[:-1]), 'sole': chain[-1]}
            for name, chain in self.legs.items()
        }
        plain['overlaps'] = [
            {
                'link_a': pair.link_a,
                'link_b': pair.link_b,
                'depth_m': pair.depth,
                'neighbours': pair.are_neighbours,
                'exact': pair.is_exact,
            }
            for pair in self.overlaps
        ]
        return dict(plain_data.to_plain_data(plain))

    def lines(self) -> list[str]:
        """Return the report as text."""
        head = (
            f'robot {self.name} ({self.source})',
            f'{self.links} links, {self.joints} independent joints, {len(self.actuated)} actuated',
            f'{self.total_mass:.4g} kg, base {self.height:.3f} m above the ground in its stance',
            f'up is {self.up}, forward is {self.forward or "not known"}',
        )
        legs = [
            f'leg {name}: {", ".join(chain[:-1]) or "no joints"} -> sole {chain[-1]}'
            for name, chain in self.legs.items()
        ]
        counts = (
            f'{self.bodies} bodies, {self.force_elements} force elements, '
            f'{self.contact_nodes} contact nodes'
        )
        has_more = self.bodies > 1 or self.force_elements or self.contact_nodes
        parts = [counts] if has_more else []
        return [*head, *parts, *legs, *(f'WARNING: {text}' for text in self.warnings)]


def report_robot(robot: RobotModel) -> LoadReport:
    """Return the report of a loaded robot."""
    movable = [
        joint for joint in robot.joints if joint.kind in MOVING_KINDS and joint.mimic is None
    ]
    implausible = {link.name: fault for link in robot.links if (fault := _inertia_fault(link))}
    report = LoadReport(
        source=robot.source,
        name=robot.name,
        links=len(robot.links),
        joints=len(movable),
        total_mass=robot.mass,
        height=nominal_height(robot),
        actuated=robot.joint_names,
        legs={leg.name: (*leg.joints, leg.sole) for leg in robot.legs},
        bodies=len(robot.roots),
        force_elements=len(robot.force_elements),
        contact_nodes=len(robot.contact_nodes),
        without_mass=tuple(link.name for link in robot.links if link.mass == 0.0),
        implausible=implausible,
        without_position_limits=tuple(
            joint.name
            for joint in movable
            if joint.kind != 'continuous' and np.isinf([joint.lower, joint.upper]).any()
        ),
        without_velocity_limit=tuple(j.name for j in movable if np.isinf(j.velocity)),
        without_effort_limit=tuple(j.name for j in movable if np.isinf(j.effort)),
        mimic={j.name: j.mimic.joint for j in robot.joints if j.mimic is not None},
        up=up_axis(robot),
        forward=_forward_axis(robot),
        overlaps=find_overlaps(robot),
        warnings=(),
    )
    warnings = (*_warnings(report), *_unit_warnings(robot))
    return dataclasses.replace(report, warnings=warnings)


def _warnings(report: LoadReport) -> list[str]:
    """Return the warnings of a report, one line each."""
    warnings = _frame_warnings(report)
    for names, text in (
        (report.without_mass, 'without mass (some engines make it 1 kg)'),
        (report.without_position_limits, 'without position limits'),
        (report.without_velocity_limit, 'without velocity limit'),
        (report.without_effort_limit, 'without effort limit'),
    ):
        if names:
            kind = 'link' if names is report.without_mass else 'joint'
            warnings.append(
                f'{len(names)} {kind}{"s" * (len(names) > 1)} {text}: {", ".join(names)}'
            )
    for fault in dict.fromkeys(report.implausible.values()):
        alike = [name for name, other in report.implausible.items() if other == fault]
        warnings.append(f'link{"s" * (len(alike) > 1)} {", ".join(alike)}: {fault}')
    warnings += [
        f"joint '{name}' mimics '{other}', which some engines ignore"
        for name, other in report.mimic.items()
    ]
    warnings += _overlap_warnings(report.overlaps)
    if not (report.legs or report.contact_nodes):
        warnings.append('no legs: no chain of joints ends at the lowest level')
    return warnings


def _unit_warnings(robot: RobotModel) -> list[str]:
    """Return warnings of missing collision shapes and of values in units that are not SI."""
    warnings = []
    if not robot.contact_nodes and not any(link.collisions for link in robot.links):
        warnings.append('no link has a collision shape: the robot sinks through the ground')
    largest = {
        joint.name: max(abs(joint.lower), abs(joint.upper))
        for joint in robot.joints
        if joint.kind == 'revolute'
    }
    low, high = _DEGREES_RANGE
    in_degrees = {name: angle for name, angle in largest.items() if low < angle < high}
    if in_degrees:
        warnings.append(
            f'limits of up to {max(in_degrees.values()):.3g} rad look like degrees: '
            + ', '.join(in_degrees)
        )
    if length_fault := describe_length_fault(robot):
        warnings.append(length_fault)
    heavy = [link for link in robot.links if link.mass > 0.0]
    volumes = [_box_volume(link) for link in heavy]
    if all(volumes) and robot.mass > _MAX_DENSITY * sum(volumes):
        warnings.append(
            f'a mass of {robot.mass:.3g} kg in boxes of {sum(volumes):.3g} m^3 about its links '
            'looks like grams: no metal is so dense'
        )
    return warnings


def describe_length_fault(robot: RobotModel) -> str:
    """Return a line if the lengths of a robot seem to be millimetres; empty otherwise."""
    poses = link_poses(robot, robot.stance[: len(robot.joint_names)])
    # Links without mass, such as a world link, may be anywhere.
    places = poses[[link.mass > 0.0 for link in robot.links], :3, 3]
    size = float(np.ptp(places, axis=0).max(initial=0.0))
    if size <= _MAX_SIZE:
        return ''
    return f'a size of {size:.3g} m looks like millimetres'


def _box_volume(link: Link) -> float:
    """Return the sum of the volumes of boxes about the shapes of a link [m^3]."""
    volume = 0.0
    for shape in link.collisions or link.visuals:
        points, radius = shape_points(shape)
        volume += float(np.prod(np.ptp(points, axis=0) + 2.0 * radius))
    return volume


def _overlap_warnings(overlaps: tuple[Overlap, ...]) -> list[str]:
    """Return a warning for each pair of overlapping links, and one for all neighbours."""
    warnings = [
        f"links '{pair.link_a}' and '{pair.link_b}' "
        f'{"overlap" if pair.is_exact else "may overlap"} by {1e3 * pair.depth:.2g} mm '
        'in the nominal stance'
        for pair in overlaps
        if not pair.are_neighbours
    ]
    neighbours = [f'{pair.link_a} - {pair.link_b}' for pair in overlaps if pair.are_neighbours]
    if neighbours:
        warnings.append(
            f'{len(neighbours)} pairs of links that a joint connects overlap, which matters where '
            f'an engine lets them collide: {", ".join(neighbours)}'
        )
    return warnings


def _frame_warnings(report: LoadReport) -> list[str]:
    """Return the warning of a base frame with other axes, with the root_rpy that corrects it."""
    if report.up == 'z' and report.forward in ('x', ''):
        return []
    if report.up == '-z':
        return ['its chains end above the base: it is upside down, or needs a nominal_stance']
    text = f'the base frame is not x forward, z up: up is {report.up}'
    if not report.forward:
        return [text]
    up, forward = _axis_vector(report.up), _axis_vector(report.forward)
    # Rows are the axes of the base frame (forward, left, up) in the frame of the file.
    turn = ', '.join(
        f'{angle:.4f}'
        for angle in rpy_from_rotation(np.array([forward, np.cross(up, forward), up]))
    )
    return [f'{text}, forward is {report.forward}; root_rpy: [{turn}] in robot.yaml turns it']


def _axis_vector(axis: str) -> FloatArray:
    return np.array(_AXES[axis[-1]], dtype=np.float64) * (-1.0 if axis.startswith('-') else 1.0)


def negative_inertias(robot: RobotModel) -> list[str]:
    """Return the links with a negative principal moment of inertia, beyond rounding."""
    moments = {link.name: np.linalg.eigvalsh(link.inertia) for link in robot.links}
    return [name for name, values in moments.items() if values[0] < -1e-9 * abs(values[2])]


def _inertia_fault(link: Link) -> str:
    """Return the fault of an inertia that no rigid body has; '' for a plausible one."""
    if link.mass == 0.0:
        return ''
    # Principal moments, ascending; of a rigid body each is at most the sum of the others.
    principal = np.linalg.eigvalsh(link.inertia)
    values = ', '.join(f'{value:.3g}' for value in principal)
    if principal[0] <= 0.0:
        return f'its principal moments of inertia ({values} kg m^2) are not all positive'
    if principal[0] + principal[1] < principal[2] * (1.0 - 1e-6):
        return (
            f'its principal moments of inertia ({values} kg m^2) break the triangle inequality: '
            'no body has the greatest above the sum of the others'
        )
    gyration, radius = float(np.sqrt(principal[2] / link.mass)), _shape_radius(link)
    if radius > 0.0 and gyration > 2.0 * radius:
        return (
            f'its inertia belongs to a body of {gyration:.3g} m radius of gyration, its shape '
            f'reaches {radius:.3g} m from its centre of mass'
        )
    return ''


def _shape_radius(link: Link) -> float:
    """Return the distance from the centre of mass to the farthest point of the link's shapes."""
    farthest = 0.0
    for shape in link.collisions or link.visuals:
        points, radius = shape_points(shape)
        farthest = max(
            farthest, radius + float(np.linalg.norm(points - link.com, axis=1).max(initial=0.0))
        )
    return farthest


def _forward_axis(robot: RobotModel) -> str:
    """
    Return the axis of the root that points forward, by left and right in names of legs.

    Empty if no names tell sides, or if the direction is not near an axis.
    """
    poses = link_poses(robot, robot.stance[: len(robot.joint_names)])
    hips: dict[str, list[FloatArray]] = {'left': [], 'right': []}
    for leg in robot.legs:
        if leg.joints:
            hip = robot.joint[leg.joints[0]]
            side = side_from_name(hip.name) or side_from_name(leg.name) or side_from_name(leg.sole)
            if side:
                hips[side].append(poses[robot.link_index[hip.child], :3, 3])
    if not hips['left'] or not hips['right']:
        return ''
    # Left is the direction from the right hips to the left ones; forward is left x up.
    left = np.mean(hips['left'], axis=0) - np.mean(hips['right'], axis=0)
    forward = np.cross(left, _axis_vector(up_axis(robot)))
    length = float(np.linalg.norm(forward))
    main = int(np.argmax(np.abs(forward)))
    if length < 1e-6 or abs(forward[main]) < 0.9 * length:
        return ''
    return ('-' if forward[main] < 0.0 else '') + 'xyz'[main]
