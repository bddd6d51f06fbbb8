# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot model built from a tree of links and the content of ``robot.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.errors import unknown_name_error
from gait_core.kinematics.frames import (
    inertia_in_outer_frame,
    rotation_from_rpy,
    rpy_from_rotation,
)
from gait_core.parameters.patterns import expand_patterns, match_names
from gait_core.parameters.schema import Location, read_choice, read_value
from gait_core.robot.actuation_kinds import ACTUATOR_KINDS
from gait_core.robot.inference import (
    actuated_joint_names,
    infer_legs,
    infer_mirror_pairs,
    mirror_sign,
    neutral_stance,
)
from gait_core.robot.model import (
    Actuator,
    FallCriterion,
    Joint,
    Link,
    RobotModel,
    Shape,
    Triple,
    limit_fault,
)
from gait_core.robot.name_checks import unknown_names_error
from gait_core.robot.range_sensor import read_sensors
from gait_core.robot.robot_file import ActuatorTable, JointLimits, MirrorTable, RobotFile
from gait_core.robot.urdf.tree import LinkTree
from gait_core.trial.scene import EMPTY_MAPPING


def robot_from_description(
    tree: LinkTree,
    content: RobotFile,
    location: Location,
    source: Path,
    assembly: Mapping[str, Any] = EMPTY_MAPPING,
) -> RobotModel:
    """
    Return the robot of a tree of links and the content of its ``robot.yaml``.

    Parameters
    ----------
    tree : LinkTree
        One root, or several as returned by ``free_bodies.read_bodies`` with the assembly.
    content : RobotFile
        Absent values are inferred.
    location : Location
        Location of the content, for messages.
    source : Path
        File or folder that the robot is read from.
    assembly : mapping
        See RobotModel.

    Raises
    ------
    ConfigurationError
        For unknown names (with the nearest valid one) and values that do not fit.

    """
    if content.root_rpy is not None:
        tree = _turn_roots(tree, content.root_rpy)
    tree = _apply_limits(tree, content.limits, location / 'limits')
    names = actuated_joint_names(tree) if content.joints is None else content.joints
    if not set(names) <= set(actuated_joint_names(tree)):
        raise (location / 'joints').error(
            unknown_names_error('joint', names, actuated_joint_names(tree))
        )
    targets = (*names, *(element.name for element in content.force_elements))
    stance = {name: value for name, value in neutral_stance(tree).items() if name in names}
    stance.update(expand_patterns(content.nominal_stance, targets, location / 'nominal_stance'))
    robot = RobotModel(
        name=content.name or source.stem.removesuffix('.urdf'),
        links=tree.links,
        joints=tree.joints,
        joint_names=names,
        actuators=_read_actuators(content.actuators, names, location / 'actuators'),
        force_elements=content.force_elements,
        signals=tuple(content.signals.items()),
        contact_nodes=content.contact_nodes,
        assembly=assembly,
        ball_joints=content.ball_joints,
        nominal_stance=stance,
        fall=_read_fall_criterion(content.fall, names, location / 'fall'),
        imu_link=content.imu_link,
        sensors=read_sensors(content.sensors, [link.name for link in tree.links], location),
        defaults=content.defaults.values_by_name(location / 'defaults'),
        source=str(source),
    )
    return dataclasses.replace(
        robot,
        legs=infer_legs(robot) if content.legs is None else content.legs,
        mirror_pairs=(
            infer_mirror_pairs(robot)
            if content.mirror is None
            else _read_mirror_pairs(robot, content.mirror, location / 'mirror')
        ),
    )


def _apply_limits(
    tree: LinkTree, limits: Mapping[str, JointLimits], location: Location
) -> LinkTree:
    """Return the tree with the limits of robot.yaml in place of those of the URDF."""
    # Patterns are applied in turn: each changes only the fields that it gives.
    joints = {joint.name: joint for joint in tree.joints}
    for pattern, changed in limits.items():
        given = {key: value for key, value in vars(changed).items() if value is not None}
        for name in match_names(pattern, actuated_joint_names(tree), (location / pattern).owner):
            joints[name] = dataclasses.replace(joints[name], **given)
            fault = limit_fault(joints[name])
            if fault:
                raise (location / pattern).error(f"joint '{name}' {fault}")
    return dataclasses.replace(tree, joints=tuple(joints.values()))


def _read_actuator(entry: Mapping[str, Any], location: Location) -> Actuator:
    kind = read_choice(entry, 'kind', ACTUATOR_KINDS, location, default='position')
    constants = {key: value for key, value in entry.items() if key != 'kind'}
    return Actuator(kind=kind, constants=read_value(Mapping[str, float], constants, location))


def _read_actuators(
    table: ActuatorTable, names: tuple[str, ...], location: Location
) -> dict[str, Actuator]:
    default = _read_actuator(table.default, location / 'default')
    joints = location / 'joints'
    chosen = {
        pattern: _read_actuator(entry, joints / pattern) for pattern, entry in table.joints.items()
    }
    return {**dict.fromkeys(names, default), **expand_patterns(chosen, names, joints)}


def _read_fall_criterion(
    criterion: FallCriterion | None, joints: tuple[str, ...], location: Location
) -> FallCriterion | None:
    if criterion is None:
        return None
    pose = expand_patterns(criterion.pose, joints, location / 'pose')
    return dataclasses.replace(criterion, pose=pose)


def _read_mirror_pairs(
    robot: RobotModel, table: MirrorTable, location: Location
) -> dict[str, tuple[str, float]]:
    """Return the mirror pairs by prefixes, then the listed ones, in the order of the joints."""
    pairs: dict[str, tuple[str, float]] = {}
    for i, (left, right) in enumerate(table.prefixes):
        counterparts = {
            name: right + name.removeprefix(left)
            for name in robot.joint_names
            if name.startswith(left)
        }
        found = [item for item in counterparts.items() if item[1] in robot.joint_index]
        if not found:
            raise (location / 'prefixes' / i).error(
                f"no two joints differ by the prefixes '{left}' and '{right}' alone"
            )
        for pair in found:
            _add_pair(robot, pairs, pair, location / 'prefixes')
    for i, listed in enumerate(table.pairs):
        _add_pair(robot, pairs, listed, location / 'pairs' / i)
    return {name: pairs[name] for name in robot.joint_names if name in pairs}


def _add_pair(
    robot: RobotModel,
    pairs: dict[str, tuple[str, float]],
    entry: tuple[Any, ...],
    location: Location,
) -> None:
    """Add the pair of an entry in both directions; without a sign, the sign of the geometry."""
    if len(entry) not in (2, 3):
        raise location.type_error(list(entry), 'two joints and optionally a sign')
    name, other = str(entry[0]), str(entry[1])
    for joint in (name, other):
        if joint not in robot.joint_index:
            raise location.error(unknown_name_error('joint', joint, robot.joint_names))
    sign = entry[2] if len(entry) == 3 else mirror_sign(robot, name, other)
    if sign not in (1, -1):
        raise location.error(
            f"the axes of '{name}' and '{other}' do not mirror each other; write the sign 1 or -1 "
            'after the pair'
        )
    pairs[name], pairs[other] = (other, float(sign)), (name, float(sign))


def _turn_roots(tree: LinkTree, rpy: Triple) -> LinkTree:
    """
    Return the tree with all that is fixed to its root frames turned by ``rpy`` [rad].

    ``rpy`` is the attitude of the old root frame in the new one.
    """
    rotation = rotation_from_rpy(rpy)
    children = {joint.child for joint in tree.joints}
    roots = {link.name for link in tree.links if link.name not in children}

    def turned_item(item: Shape | Joint) -> Any:
        """Return a shape or joint of a root in the turned frame."""
        x, y, z = (rotation @ np.array(item.xyz)).tolist()
        return dataclasses.replace(
            item, xyz=(x, y, z), rpy=rpy_from_rotation(rotation @ rotation_from_rpy(item.rpy))
        )

    def turned_link(link: Link) -> Link:
        """Return a root link in its turned frame."""
        return dataclasses.replace(
            link,
            com=rotation @ link.com,
            inertia=inertia_in_outer_frame(link.inertia, rpy),
            collisions=tuple(map(turned_item, link.collisions)),
            visuals=tuple(map(turned_item, link.visuals)),
        )

    return dataclasses.replace(
        tree,
        links=tuple(turned_link(link) if link.name in roots else link for link in tree.links),
        joints=tuple(
            turned_item(joint) if joint.parent in roots else joint for joint in tree.joints
        ),
    )
