# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Consistency of a robot model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
import math

import numpy as np

from gait_core.errors import ConfigurationError, excerpt, name_hint, unknown_name_error
from gait_core.kinematics.frames import ball_joint_axes
from gait_core.robot.actuation_kinds import (
    ACTUATOR_KINDS,
    BALL_ACTUATOR_KINDS,
    ELEMENT_KINDS,
    check_kind,
)
from gait_core.robot.model import MOVING_KINDS, Joint, RobotModel, limit_fault
from gait_core.robot.name_checks import name_fault, unknown_names_error

MAX_NODE_RADIUS = 1000.0
"""Largest radius of a contact node [m]."""


def check_robot(robot: RobotModel) -> RobotModel:
    """
    Return a consistent robot; raise ConfigurationError that names the first inconsistency.

    Models from every source are checked here.
    """
    _check_names(robot)
    if not (math.isfinite(robot.mass) and robot.mass > 0.0):
        raise ConfigurationError(
            f"robot '{robot.name}' has a total mass of {robot.mass:g} kg: no link has an inertial "
            'with a positive mass'
        )
    movable = [
        joint.name for joint in robot.joints if joint.kind in MOVING_KINDS and joint.mimic is None
    ]
    for joint in robot.joints:
        fault = limit_fault(joint) if joint.kind in MOVING_KINDS else ''
        if fault:
            raise ConfigurationError(f"joint '{joint.name}' {fault}")
    _check_mimics(robot)
    _check_inertias(robot)
    # Names first: the checks below look up joints, actuators and links by them.
    _check_known('joint', robot.joint_names, movable)
    _check_unique('joint', robot.target_names)
    _check_known('joint', robot.actuators, robot.target_names)
    for name in robot.joint_names:
        if name not in robot.actuators:
            raise ConfigurationError(f"joint '{name}' has no actuator")
        actuator = robot.actuators[name]
        check_kind(
            ACTUATOR_KINDS, 'actuator', f"joint '{name}'", actuator.kind, actuator.constants
        )
        if actuator.kind == 'lead_screw' and robot.joint[name].kind != 'prismatic':
            raise ConfigurationError(
                f"joint '{name}' is {robot.joint[name].kind}: a lead_screw actuator needs a "
                'prismatic joint; nearest valid actuator: position'
            )
        if actuator.kind == 'slider_crank':
            _check_slider_crank(robot.joint[name], actuator.constants)
    links = [link.name for link in robot.links]
    for element in robot.force_elements:
        _check_known('link', (element.link_a, element.link_b), links)
    _check_elements(robot)
    _check_contact_nodes(robot)
    _check_signals(robot)
    _check_ball_joints(robot)
    if robot.imu_link:
        _check_known('link', (robot.imu_link,), links)
    _check_legs(robot)
    _check_stance(robot)
    for name, (other, _) in robot.mirror_pairs.items():
        _check_known('joint', (name, other), robot.joint_names)
    return robot


def _check_mimics(robot: RobotModel) -> None:
    """Raise ConfigurationError for a joint that mimics an unknown, fixed or mimicking joint."""
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        _check_known('joint', (joint.mimic.joint,), robot.joint)
        leader = robot.joint[joint.mimic.joint]
        if leader.kind not in MOVING_KINDS or leader.mimic is not None:
            reason = 'mimics another' if leader.mimic is not None else f'is {leader.kind}'
            raise ConfigurationError(
                f"joint '{joint.name}' mimics '{leader.name}', which {reason}"
            )


def _check_inertias(robot: RobotModel) -> None:
    """Raise ConfigurationError for a moment of inertia that is negative or not finite."""
    for link in robot.links:
        for axis, moment in zip('xyz', np.diag(link.inertia).tolist(), strict=True):
            if not 0.0 <= moment < math.inf:
                raise ConfigurationError(
                    f"link '{link.name}': its moment of inertia about {axis} is {moment:g} "
                    'kg m^2, it must not be negative'
                )


def _check_names(robot: RobotModel) -> None:
    """Raise ConfigurationError for a name that an engine or ROS cannot take."""
    named = (
        ('robot', (robot.name,)),
        ('link', (link.name for link in robot.links)),
        ('joint', (joint.name for joint in robot.joints)),
        ('leg', (leg.name for leg in robot.legs)),
        ('force element', (element.name for element in robot.force_elements)),
        ('contact node', (node.name for node in robot.contact_nodes)),
        ('ball joint', robot.ball_joints),
        ('signal', (signal for signal, _ in robot.signals)),
        ('sensor', (sensor.name for sensor in robot.sensors)),
    )
    for kind, names in named:
        for name in names:
            if fault := name_fault(name):
                raise ConfigurationError(f"{kind} '{excerpt(name)}' {fault}")


def _check_slider_crank(joint: Joint, constants: Mapping[str, float]) -> None:
    if joint.kind != 'revolute':
        raise ConfigurationError(
            f"joint '{joint.name}' is {joint.kind}: a slider_crank actuator needs a revolute joint"
        )
    if not constants['rod'] > constants['crank']:
        raise ConfigurationError(
            f"joint '{joint.name}': its rod of {constants['rod']:g} m must be longer than its "
            f'crank of {constants["crank"]:g} m'
        )


def _check_known(kind: str, received: Iterable[str], valid: Iterable[str]) -> None:
    """Raise ConfigurationError for a received name that is not valid."""
    names, known = list(received), list(valid)
    if any(name not in known for name in names):
        raise unknown_names_error(kind, names, known)


def _check_unique(kind: str, names: tuple[str, ...]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"{kind} '{twice}' is listed twice")


def _check_elements(robot: RobotModel) -> None:
    """Raise ConfigurationError for a force element without a law, two links or a length."""
    roots = _root_by_link(robot)
    for element in robot.force_elements:
        owner = f"force element '{element.name}'"
        check_kind(ELEMENT_KINDS, 'element', owner, element.kind, element.constants)
        if element.link_a == element.link_b:
            raise ConfigurationError(f"{owner} joins link '{element.link_a}' with itself")
        if (
            roots[element.link_a] != roots[element.link_b]
            and not robot.assembly
            and element.name not in robot.nominal_stance
        ):
            raise ConfigurationError(
                f'{owner} joins two bodies; give its rest length in nominal_stance'
            )


def _check_contact_nodes(robot: RobotModel) -> None:
    """Raise ConfigurationError for a contact node with a fault, or in a robot with legs."""
    _check_unique('contact node', tuple(node.name for node in robot.contact_nodes))
    links = [link.name for link in robot.links]
    for node in robot.contact_nodes:
        _check_known('link', (node.link,), links)
        if not 0.0 <= node.radius <= MAX_NODE_RADIUS:
            valid = MAX_NODE_RADIUS if node.radius > 0.0 else 0.0
            raise ConfigurationError(
                f"contact node '{node.name}': its radius is {node.radius:g} m; nearest valid: "
                f'{valid:g}'
            )
    if robot.contact_nodes and robot.legs:
        raise ConfigurationError(
            f"robot '{robot.name}' has legs and contact nodes, expected only one of them"
        )


def _check_signals(robot: RobotModel) -> None:
    """Raise ConfigurationError for an empty signal, or a target driven twice."""
    driving: dict[str, str] = {}
    for signal, names in robot.signals:
        if not names:
            raise ConfigurationError(f"signal '{signal}' drives no joint and no force element")
        try:
            _check_known('target', names, robot.target_names)
        except ConfigurationError as error:
            raise ConfigurationError(f"signal '{signal}': {error}") from error
        for name in names:
            other = driving.setdefault(name, signal)
            if other != signal or names.count(name) > 1:
                raise ConfigurationError(
                    f"'{name}' is driven by signal '{other}' and again by signal '{signal}'"
                )


def _root_by_link(robot: RobotModel) -> dict[str, str]:
    """Return the root link of each link; links are in tree order."""
    parent = {joint.child: joint.parent for joint in robot.joints}
    root: dict[str, str] = {}
    for link in robot.links:
        root[link.name] = root[parent[link.name]] if link.name in parent else link.name
    return root


def _check_ball_joints(robot: RobotModel) -> None:
    """Raise ConfigurationError for three joints that no ball joint can replace."""
    for ball, names in robot.ball_joints.items():
        owner = f"ball joint '{ball}'"
        _check_known('joint', names, robot.joint_names)
        if ball in robot.joint:
            raise ConfigurationError(f'{owner} has the name of a joint')
        for name in names:
            _check_ball_axis(robot, owner, robot.joint[name])
        for inner, outer in pairwise(names):
            _check_inner_link(robot, owner, robot.joint[inner], robot.joint[outer])
        axes = ball_joint_axes(robot, names)
        if not np.allclose(axes @ axes.T, np.eye(3), atol=1e-6):
            raise ConfigurationError(f'{owner}: the axes of its joints are not at right angles')


def _check_ball_axis(robot: RobotModel, owner: str, joint: Joint) -> None:
    """Raise ConfigurationError for a joint that cannot be one axis of a ball joint."""
    if joint.kind not in ('revolute', 'continuous'):
        raise ConfigurationError(
            f"{owner}: joint '{joint.name}' is {joint.kind}, expected revolute or continuous"
        )
    if joint.friction or math.isfinite(joint.lower) or math.isfinite(joint.upper):
        raise ConfigurationError(
            f"{owner}: joint '{joint.name}' has limits or friction, which act on single axes; "
            'make it continuous and without friction'
        )
    kind = robot.actuators[joint.name].kind
    if kind not in BALL_ACTUATOR_KINDS:
        raise ConfigurationError(
            f"{owner}: joint '{joint.name}' has a {kind} actuator; "
            f'{name_hint(kind, BALL_ACTUATOR_KINDS)}'
        )
    if any(other.mimic and other.mimic.joint == joint.name for other in robot.joints):
        raise ConfigurationError(f"{owner}: another joint mimics '{joint.name}'")


def _check_inner_link(robot: RobotModel, owner: str, inner: Joint, outer: Joint) -> None:
    """Raise ConfigurationError unless the link between two joints is a mere point."""
    link = robot.links[robot.link_index[inner.child]]
    on_it = [joint.name for joint in robot.joints if joint.parent == link.name]
    if on_it != [outer.name] or any(outer.xyz):
        raise ConfigurationError(
            f"{owner}: joint '{outer.name}' must be the only child of '{inner.name}', at the same "
            'origin'
        )
    if link.mass > 0.0 or link.collisions:
        raise ConfigurationError(f"{owner}: inner link '{link.name}' has mass or collisions")
    elements = robot.force_elements
    ends = [end for element in elements for end in (element.link_a, element.link_b)]
    if link.name in (robot.imu_link, *robot.soles, *ends):
        raise ConfigurationError(
            f"{owner}: inner link '{link.name}' carries an IMU, a sole or a force element"
        )


def _check_legs(robot: RobotModel) -> None:
    """Raise ConfigurationError for legs with a common part, or joints out of order."""
    _check_unique('leg', tuple(leg.name for leg in robot.legs))
    parent_joint = {joint.child: joint for joint in robot.joints}
    owners: dict[str, str] = {}
    for leg in robot.legs:
        for kind, name in (('sole', leg.sole), *(('joint', name) for name in leg.joints)):
            other = owners.setdefault(f'{kind} {name}', leg.name)
            if other != leg.name:
                raise ConfigurationError(
                    f"legs '{other}' and '{leg.name}' have the same {kind} '{name}'"
                )
        _check_known('joint', leg.joints, robot.joint_names)
        if leg.sole not in robot.link_index:
            raise unknown_name_error('sole link', leg.sole, robot.link_index)
        path: list[str] = []
        link = leg.sole
        while link in parent_joint:
            path.insert(0, parent_joint[link].name)
            link = parent_joint[link].parent
        in_order = tuple(name for name in path if name in leg.joints)
        if in_order != leg.joints:
            raise ConfigurationError(
                f"leg '{leg.name}' lists {', '.join(leg.joints)}; from the body to its sole "
                f"'{leg.sole}' the joints are {', '.join(in_order) or 'none of these'}"
            )


def _check_stance(robot: RobotModel) -> None:
    """Raise ConfigurationError for an unknown name or a position beyond its limits."""
    _check_known('joint', robot.nominal_stance, robot.target_names)
    poses = {'nominal stance': robot.nominal_stance}
    if robot.fall is not None:
        poses['fall pose'] = robot.fall.pose
    for pose, name, value in (
        (pose, *item) for pose, positions in poses.items() for item in positions.items()
    ):
        if not math.isfinite(value):
            raise ConfigurationError(f"{pose} of '{name}' is {value}, expected a finite number")
        joint = robot.joint.get(name)
        if joint is not None and not joint.lower <= value <= joint.upper:
            bound = joint.lower if value < joint.lower else joint.upper
            raise ConfigurationError(
                f"{pose} of joint '{name}' is {value:g}, outside its limits "
                f'[{joint.lower:g}, {joint.upper:g}]; nearest valid: {bound:g}'
            )
