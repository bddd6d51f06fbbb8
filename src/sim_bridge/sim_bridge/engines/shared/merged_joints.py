"""Fixed and ball joints fused: the same mechanics with fewer bodies, no massless frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.frames import ball_joint_axes, rotation_from_rpy, rpy_from_rotation
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import SPHERICAL_KIND, Joint, Link, RobotModel, Shape

MARGIN = 1e-5
"""Share of the largest principal moment of inertia by which it stays possible."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    Place of a link of the full robot in the fused one.

    Attributes
    ----------
    link : str
        The link that carries it.
    position : (3,) array [m]
        Its origin in the carrier's frame.
    rotation : (3, 3) array
        From its axes to the carrier's.

    """

    link: str
    position: FloatArray
    rotation: FloatArray

    def then(self, xyz: tuple[float, ...], rpy: tuple[float, ...]) -> Place:
        """Return the place of a frame that xyz [m] and rpy [rad] put in this one."""
        return Place(
            link=self.link,
            position=self.position + self.rotation @ np.array(xyz),
            rotation=self.rotation @ rotation_from_rpy(rpy),
        )


@dataclass(frozen=True, kw_only=True)
class Fused:
    """
    A robot without needless fixed joints, and the place of every original link in it.

    A fixed link keeps its joint only where fusing it would mix the contacts of a sole with those
    of another link. An inertia that no body can have is mended. The three joints of a ball joint
    are one of the kind ``spherical``, of the ball joint's name; the links inside are gone, and
    the frame of the link behind lies along its principal axes of inertia.
    """

    robot: RobotModel
    places: Mapping[str, Place]
    balls: tuple[Ball, ...] = ()

    def carrier(self, link: str) -> str:
        """Return the link of the fused robot that carries a link."""
        return self.places[link].link


@dataclass(frozen=True, kw_only=True)
class Ball:
    """
    A ball joint of the fused robot and the three angles that describe it.

    Attributes
    ----------
    name : str
        Of the joint in the fused robot.
    columns : (3,) int array
        Its angles among ``joint_names``.
    turn : (3, 3) array
        From the axes of the fused link behind it to the first two axes of the ball joint and
        their product, all angles at zero.
    sign : float
        1, or -1 where the third axis is opposite to that product.
    damping : (3,) array [N m s/rad]

    """

    name: str
    columns: IntArray
    turn: FloatArray
    sign: float
    damping: FloatArray


@cached_per_robot
def fused(robot: RobotModel) -> Fused:
    """
    Return the robot with fixed joints fused.

    Raises
    ------
    ConfigurationError
        If a moving link and all that hangs on it have no mass: its acceleration is undefined.

    """
    joint_of = {joint.child: joint for joint in robot.joints}
    ball_of = {names[2]: (ball, names) for ball, names in robot.ball_joints.items()}
    inside = {name for names in robot.ball_joints.values() for name in names[:2]}
    places: dict[str, Place] = {}
    members: dict[str, list[Link]] = {}
    joints: dict[str, Joint] = {}
    for link in robot.links:
        joint = joint_of.get(link.name)
        if joint is None:
            place = origin_of(link.name)
        elif joint.name in inside:
            continue
        elif joint.name in ball_of:
            joints[joint.name] = _spherical(robot, *ball_of[joint.name], places)
            place = origin_of(link.name)
        else:
            place = places[joint.parent].then(joint.xyz, joint.rpy)
            if joint.kind != 'fixed' or not _may_join(robot, members[place.link], link):
                joints[joint.name] = _moved(joint, place)
                place = origin_of(link.name)
        places[link.name] = place
        members.setdefault(place.link, []).append(link)
    links = tuple(_merged(name, group, places) for name, group in members.items())
    kept = tuple(joints[joint.name] for joint in robot.joints if joint.name in joints)
    _check_masses(robot.name, links, kept)
    plain = Fused(robot=replace(robot, links=links, joints=kept), places=places)
    return _with_balls(robot, plain) if robot.ball_joints else plain


def _spherical(
    robot: RobotModel, ball: str, names: tuple[str, str, str], places: Mapping[str, Place]
) -> Joint:
    first, second, third = (robot.joint[name] for name in names)
    place = places[first.parent].then(first.xyz, first.rpy)
    place = place.then(second.xyz, second.rpy).then(third.xyz, third.rpy)
    x, y, z = place.position.tolist()
    return Joint(
        name=ball, kind=SPHERICAL_KIND, parent=place.link, child=third.child, xyz=(x, y, z),
        rpy=rpy_from_rotation(place.rotation),
    )  # fmt: skip


def _with_balls(robot: RobotModel, plain: Fused) -> Fused:
    balls, links, joints = [], list(plain.robot.links), list(plain.robot.joints)
    places = dict(plain.places)
    index = {link.name: i for i, link in enumerate(links)}
    for ball, names in robot.ball_joints.items():
        first, second, third = (robot.joint[name] for name in names)
        link = links[index[third.child]]
        # Bullet turns with the principal axes of a body, not with those of its link.
        turn = _principal(link.inertia)
        links[index[link.name]] = _turned_link(link, turn)
        joints = [_turned_joint(joint, link.name, turn) for joint in joints]
        for name, place in places.items():
            if place.link == link.name:
                places[name] = _seen_from(turn, place)
        axes = ball_joint_axes(robot, names)
        across = np.cross(axes[0], axes[1])
        rest = rotation_from_rpy(second.rpy) @ rotation_from_rpy(third.rpy) @ turn
        balls.append(
            Ball(
                name=ball,
                columns=np.array([robot.joint_index[name] for name in names]),
                turn=np.array([axes[0], axes[1], across]) @ rest,
                sign=1.0 if across @ axes[2] > 0.0 else -1.0,
                damping=np.array([first.damping, second.damping, third.damping]),
            )
        )
    built = replace(plain.robot, links=tuple(links), joints=tuple(joints))
    return Fused(robot=built, places=places, balls=tuple(balls))


def _principal(inertia: FloatArray) -> FloatArray:
    """Return the principal axes of an inertia as columns; its own axes if these are principal."""
    if not (inertia - np.diag(np.diag(inertia))).any():
        return np.eye(3)
    _, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.linalg.det(axes)
    return np.asarray(axes)


def _seen_from(turn: FloatArray, place: Place) -> Place:
    """Return a place seen from a frame that is turned against the one it was seen from."""
    return replace(place, position=turn.T @ place.position, rotation=turn.T @ place.rotation)


def _turned_link(link: Link, turn: FloatArray) -> Link:
    frame = _seen_from(turn, origin_of(link.name))
    inertia = turn.T @ link.inertia @ turn
    return replace(
        link,
        com=turn.T @ link.com,
        inertia=np.diag(np.diag(inertia)),
        collisions=tuple(_placed(shape, frame) for shape in link.collisions),
        visuals=tuple(_placed(shape, frame) for shape in link.visuals),
    )


def _turned_joint(joint: Joint, link: str, turn: FloatArray) -> Joint:
    """Return a joint to or from a link whose frame is turned."""
    if joint.child == link:
        return replace(joint, rpy=rpy_from_rotation(rotation_from_rpy(joint.rpy) @ turn))
    if joint.parent != link:
        return joint
    place = _seen_from(turn, origin_of(link)).then(joint.xyz, joint.rpy)
    x, y, z = place.position.tolist()
    return replace(joint, xyz=(x, y, z), rpy=rpy_from_rotation(place.rotation))


def origin_of(name: str) -> Place:
    """Return the place of a link that carries itself."""
    return Place(link=name, position=np.zeros(3), rotation=np.eye(3))


def _may_join(robot: RobotModel, group: list[Link], link: Link) -> bool:
    """Return whether a fixed link's contacts can be told apart, or need not be, when it joins."""
    if not link.collisions:
        return True

    def sole(name: str) -> str:
        """Return the sole that a link is, or an empty name."""
        return name if name in robot.soles else ''

    return all(sole(member.name) == sole(link.name) for member in group if member.collisions)


def _moved(joint: Joint, place: Place) -> Joint:
    if place.link == joint.parent:
        return joint
    x, y, z = place.position.tolist()
    return replace(joint, parent=place.link, xyz=(x, y, z), rpy=rpy_from_rotation(place.rotation))


def _merged(name: str, group: list[Link], places: Mapping[str, Place]) -> Link:
    if len(group) == 1:
        return replace(group[0], inertia=_possible(group[0].inertia))
    mass = sum(link.mass for link in group)
    coms = [places[link.name].position + places[link.name].rotation @ link.com for link in group]
    com = (
        sum((link.mass * at for link, at in zip(group, coms, strict=True)), np.zeros(3)) / mass
        if mass > 0.0
        else coms[0]
    )
    inertia = np.zeros((3, 3))
    for link, at in zip(group, coms, strict=True):
        turn, arm = places[link.name].rotation, at - com
        inertia += turn @ link.inertia @ turn.T
        inertia += link.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Link(
        name=name,
        mass=mass,
        com=com,
        inertia=_possible(0.5 * (inertia + inertia.T)),
        collisions=tuple(
            _placed(shape, places[link.name]) for link in group for shape in link.collisions
        ),
        visuals=tuple(
            _placed(shape, places[link.name]) for link in group for shape in link.visuals
        ),
    )


def _possible(inertia: FloatArray) -> FloatArray:
    """
    Return an inertia that a body can have; any that clearly is one is returned as it is.

    The largest principal moment of a body is at most the sum of the other two. Where it is more,
    or so close that rounding may make it more, the least sphere is added that mends it: engines
    refuse such an inertia or silently drop it.
    """
    least, middle, most = np.linalg.eigvalsh(inertia)
    lacking = most - middle - least + MARGIN * most
    return inertia + lacking * np.eye(3) if lacking > 0.0 else inertia


def _placed(shape: Shape, place: Place) -> Shape:
    if not place.position.any() and np.array_equal(place.rotation, np.eye(3)):
        return shape
    at = place.then(shape.xyz, shape.rpy)
    x, y, z = at.position.tolist()
    return replace(shape, xyz=(x, y, z), rpy=rpy_from_rotation(at.rotation))


def _check_masses(name: str, links: tuple[Link, ...], joints: tuple[Joint, ...]) -> None:
    parent = {joint.child: joint for joint in joints}
    carried = {link.name: link.mass for link in links}
    for link in reversed(links):
        joint = parent.get(link.name)
        if joint is not None:
            carried[joint.parent] += carried[link.name]
            if joint.kind != 'fixed' and not carried[link.name] > 0.0:
                raise ConfigurationError(
                    f"robot '{name}': link '{link.name}' moves on joint '{joint.name}' but has no "
                    'mass and carries none; give it an inertial'
                )
