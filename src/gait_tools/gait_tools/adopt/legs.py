# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Legs found in a bare description, with roles of their joints and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from dataclasses import dataclass

import numpy as np

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.forward_kinematics import link_poses
from gait_core.robot.inference import (
    infer_legs,
    joint_axes_at_zero,
    rigid_body_heads,
    side_from_name,
)
from gait_core.robot.model import MOVING_KINDS, Leg, RobotModel
from gait_core.robot.shapes import link_points

ABDUCTION, YAW, HIP, KNEE, ANKLE, ANKLE_ROLL, EXTENSION = (
    'abduction',
    'yaw',
    'hip',
    'knee',
    'ankle',
    'ankle_roll',
    'extension',
)
_PARALLEL_COSINE = 0.9
"""Cosine above which two axes count as parallel: 26 degrees."""
_MIN_ARM_JOINTS = 3
"""Number of moving joints between the root and a leg from which it counts as an arm."""
_PAIR_NAMES: Mapping[int, tuple[str, ...]] = {1: ('',), 2: ('r', 'f'), 3: ('r', 'm', 'f')}
"""Names of the pairs from the rear forward; more pairs are numbered."""


@dataclass(frozen=True, kw_only=True)
class FoundLeg:
    """
    Leg with the roles of its joints.

    Attributes
    ----------
    leg : Leg
    roles : tuple of str
        Role of each joint: ``abduction``, ``yaw``, ``hip``, ``knee``, ``ankle`` (further ones with
        a number), ``ankle_roll`` or ``extension``.
    side : float
        1 is left, -1 is right.
    sprawled : bool
        Whether the first joint turns about the vertical and the leg reaches outwards, like the
        leg of an insect.
    """

    leg: Leg
    roles: tuple[str, ...]
    side: float
    is_sprawled: bool


def find_legs(robot: RobotModel) -> tuple[tuple[FoundLeg, ...], list[str]]:
    """
    Return the legs of a robot with x forward and z up, front left first, and doubts.

    Raises
    ------
    ConfigurationError
        If it has no legs: nothing moves, it rolls on wheels, or it is an arm.

    """
    legs = [leg for leg in infer_legs(robot) if leg.joints]
    legs, wheels = _without_wheels(robot, legs)
    _check_legs(robot, legs, wheels)
    doubts = [f"joint '{name}' turns a wheel: it is held still" for name in wheels]
    roles = {leg.name: joint_roles(robot, leg) for leg in legs}
    named, more = _name_legs(robot, legs)
    doubts += more
    found = [
        FoundLeg(
            leg=leg,
            roles=roles[old],
            side=side,
            is_sprawled=roles[old][0] == YAW and ABDUCTION not in roles[old],
        )
        for old, leg, side in named
    ]
    counts = {len(found_leg.leg.joints) for found_leg in found}
    if len(counts) > 1:
        doubts.append(
            'legs have different numbers of joints: '
            + ', '.join(f'{found_leg.leg.name} {len(found_leg.leg.joints)}' for found_leg in found)
        )
    return tuple(found), doubts


def _check_legs(robot: RobotModel, legs: Sequence[Leg], wheels: Sequence[str]) -> None:
    """Raise ``ConfigurationError`` unless a robot has two or more legs of two or more joints."""
    where = f"robot '{robot.name}' ({robot.source})"
    if not robot.joint_names:
        raise ConfigurationError(f'{where} has no moving joint, expected legs of at least two')
    if wheels and len(legs) < 2:
        raise ConfigurationError(
            f'{where} drives on wheels ({", ".join(wheels)}); only robots with legs can be adopted'
        )
    above = max((_joints_above(robot, leg.joints[0]) for leg in legs), default=0)
    if above >= _MIN_ARM_JOINTS or len(legs) < 2:
        is_arm = above >= _MIN_ARM_JOINTS or legs
        raise ConfigurationError(
            f'{where} has no legs: its {len(robot.joint_names)} joints form '
            f'{"an arm on a fixed base" if is_arm else "no chain to the ground"}; '
            'a leg is one of at least two chains of joints that end at the lowest level'
        )
    single = [leg.name for leg in legs if len(leg.joints) < 2]
    if single:
        raise ConfigurationError(
            f'{where}: legs with one joint: {", ".join(single)}; expected at least two joints'
        )


def _joints_above(robot: RobotModel, first: str) -> int:
    parent = {joint.child: joint for joint in robot.joints}
    link, count = robot.joint[first].parent, 0
    while link in parent:
        count += parent[link].kind in MOVING_KINDS
        link = parent[link].parent
    return count


def _without_wheels(robot: RobotModel, legs: Sequence[Leg]) -> tuple[list[Leg], list[str]]:
    """Return the legs without their wheel joints, and the names of the wheel joints."""
    walking_legs, wheels = [], []
    for leg in legs:
        joints = list(leg.joints)
        while joints and _is_wheel(robot, joints[-1]):
            wheels.append(joints.pop())
        if len(joints) == len(leg.joints) or len(joints) > 1:
            walking_legs.append(dataclasses.replace(leg, joints=tuple(joints)))
    return walking_legs, wheels


def _is_wheel(robot: RobotModel, name: str) -> bool:
    """Return whether a joint without limits turns links that are round about its axis."""
    joint = robot.joint[name]
    if joint.kind == 'prismatic' or joint.upper - joint.lower < 2.0 * np.pi:
        return False
    axis, origin = joint_axes_at_zero(robot)[name]
    poses = link_poses(robot, np.zeros(len(robot.joint_names)))
    heads = rigid_body_heads(robot)
    outline = []
    for row, link in enumerate(robot.links):
        points, radii = link_points(link)
        if heads[link.name] == heads[joint.child] and len(points):
            points_from_origin = points @ poses[row, :3, :3].T + poses[row, :3, 3] - origin
            across = points_from_origin - np.outer(points_from_origin @ axis, axis)
            outline.append((across, radii))
    if not outline:
        return False
    across = np.concatenate([points for points, _ in outline])
    reach = float((np.linalg.norm(across, axis=1) + outline[0][1].max()).max())
    middle = 0.5 * (across.max(axis=0) + across.min(axis=0))
    return reach > 0.0 and float(np.linalg.norm(middle)) < 0.1 * reach


def joint_roles(robot: RobotModel, leg: Leg) -> tuple[str, ...]:
    """
    Return the role of each joint of a leg, by its axis and its position in the chain.

    The largest set of horizontal parallel axes bends the leg: hip, knee, ankle. Another
    horizontal axis is abduction above the knee and ankle roll below it. Axes that are not
    horizontal are yaw, prismatic joints extension.
    """
    axes = joint_axes_at_zero(robot)
    directions = [axes[name][0] for name in leg.joints]
    kinds = [robot.joint[name].kind for name in leg.joints]
    level = [
        kind != 'prismatic' and abs(axis[2]) < 0.5
        for kind, axis in zip(kinds, directions, strict=True)
    ]
    bending = _bending_joints(directions, level)
    roles: list[str] = []
    for i, kind in enumerate(kinds):
        if kind == 'prismatic':
            roles.append(EXTENSION)
        elif not level[i]:
            roles.append(YAW)
        elif i in bending:
            place = bending.index(i)
            roles.append((HIP, KNEE, ANKLE)[place] if place < 3 else f'{ANKLE}_{place - 1}')
        else:
            roles.append(ABDUCTION if len(bending) < 2 or i < bending[1] else ANKLE_ROLL)
    return tuple(roles)


def _bending_joints(directions: Sequence[FloatArray], level: Sequence[bool]) -> list[int]:
    """Return the largest set of parallel horizontal axes; of equal sets the outermost."""
    best: list[int] = []
    for i, axis in enumerate(directions):
        if level[i]:
            alike = [
                j
                for j, other in enumerate(directions)
                if level[j] and abs(float(axis @ other)) > _PARALLEL_COSINE
            ]
            if len(alike) >= len(best):
                best = alike
    return best


def side_by_names(robot: RobotModel, leg: Leg) -> str:
    """Return the side that most names of a leg's joints and links contain, or ''."""
    names = (*leg.joints, *(robot.joint[name].child for name in leg.joints), leg.sole, leg.name)
    sides = [side_from_name(name) for name in names]
    left, right = sides.count('left'), sides.count('right')
    return '' if left == right else 'left' if left > right else 'right'


def _name_legs(
    robot: RobotModel, legs: Sequence[Leg]
) -> tuple[list[tuple[str, Leg, float]], list[str]]:
    """Return old name, renamed leg and side of each leg, front left first, and doubts."""
    axes = joint_axes_at_zero(robot)
    hips = {leg.name: axes[leg.joints[0]][1] for leg in legs}
    sides = {name: 1.0 if hip[1] >= 0.0 else -1.0 for name, hip in hips.items()}
    doubts = []
    for leg in legs:
        said = side_by_names(robot, leg)
        if said and (said == 'left') != (sides[leg.name] > 0.0):
            doubts.append(f'leg {leg.name} is named {said} and is on the other side')
    rows = {
        side: sorted(
            (leg for leg in legs if sides[leg.name] == side),
            key=lambda leg: float(hips[leg.name][0]),
        )
        for side in (1.0, -1.0)
    }
    if len(rows[1.0]) != len(rows[-1.0]):
        doubts.append(
            f'{len(rows[1.0])} legs on the left, {len(rows[-1.0])} on the right: no pairs'
        )
    named = []
    for side, row in rows.items():
        ends = _PAIR_NAMES.get(len(row), tuple(str(len(row) - i) for i in range(len(row))))
        for leg, end in zip(row, ends, strict=True):
            letter = 'l' if side > 0.0 else 'r'
            name = end + letter if len(legs) <= 4 else letter + end
            named.append((leg.name, dataclasses.replace(leg, name=name), side))
    named.sort(key=lambda item: (-float(hips[item[0]][0]).__round__(3), -item[2]))
    return named, doubts
