# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proposal of a robot folder for a bare description."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gait_core.errors import ConfigurationError
from gait_core.kinematics.foot_workspace import FootWorkspace, leg_workspace
from gait_core.kinematics.forward_kinematics import com_positions
from gait_core.kinematics.frames import rpy_from_rotation
from gait_core.kinematics.leg_ik import LegKinematics
from gait_core.measures.stability import support_margin, support_polygon
from gait_core.parameters import plain_data
from gait_core.parameters.schema import Location, Source
from gait_core.robot.check import check_robot
from gait_core.robot.description import robot_from_description
from gait_core.robot.inference import joint_axes_at_zero, up_axis
from gait_core.robot.load import read_robot
from gait_core.robot.load_report import LoadReport, describe_length_fault, report_robot
from gait_core.robot.model import RobotModel
from gait_core.robot.robot_file import RobotFile
from gait_core.robot.urdf.reader import read_urdf
from gait_core.trial.scene import EMPTY_MAPPING
from gait_tools.adopt.gaits import GRAVITY, MIN_LEGS_WITHOUT_BALANCE, propose_gait, sole_points
from gait_tools.adopt.legs import FoundLeg, find_legs, side_by_names
from gait_tools.adopt.stance import propose_stance

_MAX_LIFT_FACTOR = 20
"""Largest plausible effort limit, over weight times leg length."""
_AXES = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), 'z': (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """
    Proposal of a robot folder.

    Attributes
    ----------
    robot : RobotModel
        With x forward and z up, legs and nominal stance.
    urdf : Path
        Description from which it was read.
    root_rpy : (3,) tuple or None [rad]
        Orientation of the file's root frame in the robot's; None if they are equal.
    legs : tuple of FoundLeg
    workspaces : mapping of str to FootWorkspace
        Workspace of each foot by the name of its leg.
    controller : str
        Controller that can walk the robot; empty if there is none.
    gait : mapping of str to parameter
        Parameters of the controller for the size of the robot.
    report : LoadReport
        Load report of the robot in the stance.
    doubts : tuple of str
        Lines on results that a person should check.
    """

    robot: RobotModel
    urdf: Path
    root_rpy: tuple[float, float, float] | None
    legs: tuple[FoundLeg, ...]
    workspaces: Mapping[str, FootWorkspace]
    controller: str
    gait: Mapping[str, Any]
    report: LoadReport
    doubts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the adoption as plain data; lengths in m."""
        return {
            **self.report.as_dict(),
            'roles': {
                name: role
                for found_leg in self.legs
                for name, role in zip(found_leg.leg.joints, found_leg.roles, strict=True)
            },
            'mirror_pairs': plain_data.to_plain_data(self.robot.mirror_pairs),
            'root_rpy': plain_data.to_plain_data(self.root_rpy),
            'nominal_stance': plain_data.to_plain_data(self.robot.nominal_stance),
            'workspace': plain_data.to_plain_data(self.workspaces),
            'controller': self.controller,
            'gait': dict(self.gait),
            'doubts': list(self.doubts),
        }

    def lines(self) -> list[str]:
        """Return the load report, the legs and the doubts as text."""
        legs = []
        for found_leg in self.legs:
            space = self.workspaces[found_leg.leg.name]
            roles = ', '.join(
                f'{name} {role}'
                for name, role in zip(found_leg.leg.joints, found_leg.roles, strict=True)
            )
            legs.append(f'leg {found_leg.leg.name}: {roles}; sole {found_leg.leg.sole}')
            legs.append(
                f'  its foot goes {space.forward:.2f} m forward, {space.back:.2f} back, '
                f'{space.left:.2f} left, {space.right:.2f} right, {space.up:.2f} up, '
                f'{space.down:.2f} down'
            )
        head = [line for line in self.report.lines() if not line.startswith('leg ')]
        return [*head, *legs, *(f'DOUBT: {text}' for text in self.doubts)]


def propose_adoption(
    path: Path, packages: Mapping[str, str | Path] = EMPTY_MAPPING, height: float = 0.0
) -> Adoption:
    """
    Return the proposal for the robot of a .urdf or .xacro file.

    Parameters
    ----------
    path : Path
    packages : mapping of str to path
        Folders of the packages in ``package://`` paths.
    height : float
        Height of a hip over its foot as a share of the stretched leg; 0: the default.

    Raises
    ------
    ConfigurationError
        If it cannot be read, is in millimetres, or has no legs, such as an arm or a cart.

    """
    if path.is_dir():
        raise ConfigurationError(f"'{path}' is a folder; gait adopt takes a .urdf or .xacro file")
    given = read_robot(path, packages)
    if length_fault := describe_length_fault(given):
        raise ConfigurationError(f'{path}: {length_fault}; scale it to metres')
    turn, doubts = _frame_rotation(given)
    content = RobotFile(name=path.name.split('.')[0], root_rpy=turn)
    location = Location(source=Source(str(path)))
    robot = check_robot(robot_from_description(read_urdf(path, packages), content, location, path))
    legs, more = find_legs(robot)
    robot = dataclasses.replace(
        robot,
        legs=tuple(found_leg.leg for found_leg in legs),
        joint_names=_joint_order(robot, legs),
    )
    stance, about_stance = propose_stance(robot, legs, height)
    robot = check_robot(dataclasses.replace(robot, nominal_stance=stance))
    spaces = {found_leg.leg.name: leg_workspace(robot, found_leg.leg.name) for found_leg in legs}
    controller, gait, about_gait = propose_gait(robot, legs, spaces)
    return Adoption(
        robot=robot,
        urdf=path,
        root_rpy=turn,
        legs=legs,
        workspaces=spaces,
        controller=controller,
        gait=gait,
        report=report_robot(robot),
        doubts=(*doubts, *more, *about_stance, *_find_doubts(robot, legs, spaces), *about_gait),
    )


def _joint_order(robot: RobotModel, legs: tuple[FoundLeg, ...]) -> tuple[str, ...]:
    of_legs = [name for found_leg in legs for name in found_leg.leg.joints]
    return (*of_legs, *(name for name in robot.joint_names if name not in of_legs))


def _frame_rotation(robot: RobotModel) -> tuple[tuple[float, float, float] | None, list[str]]:
    """Return the rotation of the file's frame, None if it needs none, and doubts."""
    up = up_axis(robot)
    doubts = []
    if up == '-z':
        # The mean of the chains' ends is above the root: arms and a head, or legs that are folded
        # upwards at zero. In both cases z is up.
        doubts.append('its chains end above the base on average: up is taken as z')
        up = 'z'
    forward = _forward_axis(robot, up)
    if not forward:
        forward = _long_axis(robot, up)
        doubts.append(
            f'forward is taken as {forward}, because no names mark left and right; if it walks '
            'backward or sideways, set root_rpy in robot.yaml'
        )
    if (forward, up) == ('x', 'z'):
        return None, doubts
    ahead, above = _axis_vector(forward), _axis_vector(up)
    turn = rpy_from_rotation(np.array([ahead, np.cross(above, ahead), above]))
    doubts.append(f'the file has up along {up}, forward along {forward}: root_rpy turns it')
    return turn, doubts


def _forward_axis(robot: RobotModel, up: str) -> str:
    """Return the root axis that points forward by the names of left and right legs, or ''."""
    axes = joint_axes_at_zero(robot)
    places: dict[str, list[Any]] = {'left': [], 'right': []}
    for leg in robot.legs:
        if leg.joints and (side := side_by_names(robot, leg)):
            places[side].append(axes[leg.joints[0]][1])
    if not places['left'] or not places['right']:
        return ''
    left = np.mean(places['left'], axis=0) - np.mean(places['right'], axis=0)
    forward = np.cross(left, _axis_vector(up))
    main = int(np.argmax(np.abs(forward)))
    if abs(forward[main]) < 0.9 * max(float(np.linalg.norm(forward)), 1e-9):
        return ''
    return ('-' if forward[main] < 0.0 else '') + 'xyz'[main]


def _long_axis(robot: RobotModel, up: str) -> str:
    """Return the horizontal axis with the largest spread of the hips; two legs: the smallest."""
    axes = joint_axes_at_zero(robot)
    hips = np.array([axes[leg.joints[0]][1] for leg in robot.legs if leg.joints])
    level = [axis for axis in 'xyz' if axis != up[-1]]
    if not len(hips):
        return level[0]
    spread = np.ptp(hips, axis=0)
    if len(hips) == 2:
        # Two legs are side by side: the spread is lateral.
        return min(level, key=lambda axis: spread['xyz'.index(axis)])
    return max(level, key=lambda axis: spread['xyz'.index(axis)])


def _axis_vector(axis: str) -> Any:
    return np.array(_AXES[axis[-1]]) * (-1.0 if axis.startswith('-') else 1.0)


def _find_doubts(
    robot: RobotModel, legs: tuple[FoundLeg, ...], spaces: Mapping[str, FootWorkspace]
) -> list[str]:
    """Return a sentence on everything about an adopted robot that its user should check."""
    found = []
    unlimited = [
        name
        for name in robot.joint_names
        if np.isinf(robot.joint[name].effort) and robot.joint[name].kind != 'fixed'
    ]
    if unlimited:
        found.append(
            f'{len(unlimited)} joints have no effort limit and are simulated without one; write '
            'theirs under limits in robot.yaml'
        )
    found += _effort_doubts(robot, legs)
    alone = [
        name
        for found_leg in legs
        for name in found_leg.leg.joints
        if name not in robot.mirror_pairs
    ]
    if alone:
        found.append(f'no counterpart on the other side was found for {", ".join(alone)}')
    sprawled = any(found_leg.is_sprawled for found_leg in legs)
    if len(legs) > MIN_LEGS_WITHOUT_BALANCE or (
        len(legs) == MIN_LEGS_WITHOUT_BALANCE and not sprawled
    ):
        found += _balance_doubts(robot)
    narrow = [name for name, space in spaces.items() if space.left + space.right == 0.0]
    if narrow and len(legs) >= MIN_LEGS_WITHOUT_BALANCE:
        found.append(
            f'feet of {", ".join(narrow)} cannot move sideways: the robot turns with longer '
            'strides on one side and sliding feet'
        )
    short = [name for name, space in spaces.items() if min(space.forward, space.back) < 0.02]
    if short:
        found.append(f'feet of {", ".join(short)} can go less than 2 cm forward or back')
    return found


def _effort_doubts(robot: RobotModel, legs: tuple[FoundLeg, ...]) -> list[str]:
    """Return doubts about effort limits far above the effort that lifts the robot on one leg."""
    weight = GRAVITY * sum(link.mass for link in robot.links)
    names = [
        name
        for found_leg in legs
        for name in found_leg.leg.joints
        if robot.joint[name].kind != 'prismatic'
        and _MAX_LIFT_FACTOR * weight * LegKinematics(robot, found_leg.leg.name).length
        < robot.joint[name].effort
        < np.inf
    ]
    if not names:
        return []
    most = max(robot.joint[name].effort for name in names)
    doubt = (
        f'the effort limit of {len(names)} joints, up to {most:g} N m, is implausible: more than '
        f'{_MAX_LIFT_FACTOR} times what lifts the robot on a stretched leg; write the true limits '
        'under limits in robot.yaml'
    )
    return [doubt]


def _balance_doubts(robot: RobotModel) -> list[str]:
    com = com_positions(robot, robot.joint_stance)
    inside = support_margin(com[:2], support_polygon(sole_points(robot)[:, :2]))
    if inside > 0.0:
        return []
    return [f'the centre of mass is {-1e3 * inside:.0f} mm outside the polygon of its feet']
