"""Whether a robot model is consistent in itself."""

from __future__ import annotations

from collections.abc import Iterable
import math

from gait_core.errors import ConfigurationError, unknown
from gait_core.names import unmatched
from gait_core.robot.model import MOVING, RobotModel


def check_robot(robot: RobotModel) -> RobotModel:
    """
    Return the robot, or raise ConfigurationError naming what in it does not fit.

    Every model passes through here, whatever it was built from.
    """
    if not (math.isfinite(robot.mass) and robot.mass > 0.0):
        raise ConfigurationError(
            f"robot '{robot.name}' has a total mass of {robot.mass:g} kg: no link has an inertial "
            f'with a positive mass ({robot.source})'
        )
    movable = [
        joint.name for joint in robot.joints if joint.kind in MOVING and joint.mimic is None
    ]
    _check_known('joint', robot.joint_names, movable)
    _check_unique('joint', robot.target_names)
    _check_known('joint', robot.actuators, robot.target_names)
    for name in robot.joint_names:
        if name not in robot.actuators:
            raise ConfigurationError(f"joint '{name}' has no actuator")
    links = [link.name for link in robot.links]
    for element in robot.force_elements:
        _check_known('link', (element.link_a, element.link_b), links)
    for joints in robot.ball_joints.values():
        _check_known('joint', joints, robot.joint_names)
    if robot.imu_link:
        _check_known('link', (robot.imu_link,), links)
    _check_legs(robot)
    _check_stance(robot)
    for name, (other, _) in robot.mirror_pairs.items():
        _check_known('joint', (name, other), robot.joint_names)
    return robot


def _check_known(kind: str, received: Iterable[str], valid: Iterable[str]) -> None:
    names, known = list(received), list(valid)
    if any(name not in known for name in names):
        raise unmatched(kind, names, known)


def _check_unique(kind: str, names: tuple[str, ...]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"{kind} '{twice}' is listed twice")


def _check_legs(robot: RobotModel) -> None:
    _check_unique('leg', tuple(leg.name for leg in robot.legs))
    parent_joint = {joint.child: joint for joint in robot.joints}
    for leg in robot.legs:
        _check_known('joint', leg.joints, robot.joint_names)
        if leg.sole not in robot.link_index:
            raise unknown('sole link', leg.sole, robot.link_index)
        path: list[str] = []
        link = leg.sole
        while link in parent_joint:
            path.insert(0, parent_joint[link].name)
            link = parent_joint[link].parent
        wanted = tuple(name for name in path if name in leg.joints)
        if wanted != leg.joints:
            raise ConfigurationError(
                f"leg '{leg.name}' lists {', '.join(leg.joints)}; from the body to its sole "
                f"'{leg.sole}' the joints are {', '.join(wanted) or 'none of these'}"
            )


def _check_stance(robot: RobotModel) -> None:
    _check_known('joint', robot.nominal_stance, robot.target_names)
    for name, value in robot.nominal_stance.items():
        if not math.isfinite(value):
            raise ConfigurationError(f"nominal stance of '{name}' is {value}")
        joint = robot.joint.get(name)
        if joint is not None and not joint.lower <= value <= joint.upper:
            bound = joint.lower if value < joint.lower else joint.upper
            raise ConfigurationError(
                f"nominal stance of joint '{name}' is {value:g}, outside its limits "
                f'[{joint.lower:g}, {joint.upper:g}]; nearest valid: {bound:g}'
            )
