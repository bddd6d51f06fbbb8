# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Merged joints: the same mechanics with fewer bodies and without massless links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gait_core.arrays import FloatArray, IntArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.frames import ball_joint_axes, rotation_from_rpy, rpy_from_rotation
from gait_core.robot.cache import cached_per_robot
from gait_core.robot.model import SPHERICAL_KIND, Joint, Link, RobotModel, Shape

INERTIA_MARGIN = 1e-5
"""Margin of the triangle inequality of principal moments, as share of the largest."""


@dataclass(frozen=True, kw_only=True)
class CarriedFrame:
    """
    A frame that is fixed to a link of the merged robot, its carrier.

    Attributes
    ----------
    link : str
        The carrier.
    position : (3,) array [m]
        Origin of the frame in the carrier.
    rotation : (3, 3) array
        From the axes of the frame to those of the carrier.

    """

    link: str
    position: FloatArray
    rotation: FloatArray

    def compose(self, xyz: tuple[float, ...], rpy: tuple[float, ...]) -> CarriedFrame:
        """Return the frame at xyz [m] and rpy [rad] in this frame, on the same carrier."""
        return CarriedFrame(
            link=self.link,
            position=self.position + self.rotation @ np.array(xyz),
            rotation=self.rotation @ rotation_from_rpy(rpy),
        )


@dataclass(frozen=True, kw_only=True)
class MergedRobot:
    """
    A robot with merged joints, and the frame of every original link in it.

    A link on a fixed joint is merged into its carrier, except where that would mix the contacts of
    a sole with those of another link. An inertia that no body can have is corrected. The three
    joints of a ball joint become one of kind ``spherical`` with the name of the ball joint. Its
    two inner links are dropped, and the axes of its child link are turned to the principal axes of
    inertia.

    Attributes
    ----------
    robot : RobotModel
    frames : mapping of str to CarriedFrame
        Frame of each original link but the inner ones of ball joints.
    balls : tuple of BallJoint

    """

    robot: RobotModel
    frames: Mapping[str, CarriedFrame]
    balls: tuple[BallJoint, ...] = ()

    def carrier_of(self, link: str) -> str:
        """Return the link of the merged robot that carries an original link."""
        return self.frames[link].link


@dataclass(frozen=True, kw_only=True)
class BallJoint:
    """
    A ball joint of the merged robot, described by three angles.

    Attributes
    ----------
    name : str
        Of the joint in the merged robot.
    columns : (3,) int array
        Indices of its angles among ``joint_names``.
    to_ball_axes : (3, 3) array
        Rotation, at zero angles, from the axes of the child link to the first two axes of the ball
        joint and their cross product.
    sign : float
        1, or -1 if the third axis is opposite to that cross product.
    damping : (3,) array [N m s/rad]
        Along the three angles.

    """

    name: str
    columns: IntArray
    to_ball_axes: FloatArray
    sign: float
    damping: FloatArray


@cached_per_robot
def merge_joints(robot: RobotModel) -> MergedRobot:
    """
    Return the robot with merged fixed joints and ball joints.

    Raises
    ------
    ConfigurationError
        If a link on a moving joint and all links that it carries have no mass, so that its
        acceleration is undefined.

    """
    joint_of = {joint.child: joint for joint in robot.joints}
    ball_of = {names[2]: (ball, names) for ball, names in robot.ball_joints.items()}
    inside = {name for names in robot.ball_joints.values() for name in names[:2]}
    frames: dict[str, CarriedFrame] = {}
    members: dict[str, list[Link]] = {}
    joints: dict[str, Joint] = {}
    # Links come parents first: the frame of a parent is known before those of its children.
    for link in robot.links:
        joint = joint_of.get(link.name)
        if joint is None:
            frame = own_frame(link.name)
        elif joint.name in inside:
            continue
        elif joint.name in ball_of:
            joints[joint.name] = _spherical_joint(robot, *ball_of[joint.name], frames)
            frame = own_frame(link.name)
        else:
            frame = frames[joint.parent].compose(joint.xyz, joint.rpy)
            if joint.kind != 'fixed' or not _can_merge(robot, members[frame.link], link):
                joints[joint.name] = _attach_to_carrier(joint, frame)
                frame = own_frame(link.name)
        frames[link.name] = frame
        members.setdefault(frame.link, []).append(link)
    links = tuple(_merge_links(name, group, frames) for name, group in members.items())
    remaining_joints = tuple(joints[joint.name] for joint in robot.joints if joint.name in joints)
    _check_masses(robot.name, links, remaining_joints)
    plain = MergedRobot(robot=replace(robot, links=links, joints=remaining_joints), frames=frames)
    return _align_ball_joints(robot, plain) if robot.ball_joints else plain


def _spherical_joint(
    robot: RobotModel, ball: str, names: tuple[str, str, str], frames: Mapping[str, CarriedFrame]
) -> Joint:
    """Return the spherical joint in place of the three joints of a ball joint, at zero angles."""
    first, second, third = (robot.joint[name] for name in names)
    frame = frames[first.parent].compose(first.xyz, first.rpy)
    frame = frame.compose(second.xyz, second.rpy).compose(third.xyz, third.rpy)
    x, y, z = frame.position.tolist()
    return Joint(
        name=ball,
        kind=SPHERICAL_KIND,
        parent=frame.link,
        child=third.child,
        xyz=(x, y, z),
        rpy=rpy_from_rotation(frame.rotation),
    )


def _align_ball_joints(robot: RobotModel, plain: MergedRobot) -> MergedRobot:
    """Return the merged robot whose children of ball joints have principal axes as axes."""
    balls, links, joints = [], list(plain.robot.links), list(plain.robot.joints)
    frames = dict(plain.frames)
    index = {link.name: i for i, link in enumerate(links)}
    for ball, names in robot.ball_joints.items():
        first, second, third = (robot.joint[name] for name in names)
        link = links[index[third.child]]
        # Bullet's spherical joint moves the principal axes of the child's inertia, not the axes of
        # the link: both must be the same.
        rotation = _principal_axes(link.inertia)
        links[index[link.name]] = _turn_link_axes(link, rotation)
        joints = [_turn_joint_axes(joint, link.name, rotation) for joint in joints]
        for name, frame in frames.items():
            if frame.link == link.name:
                frames[name] = _in_turned_axes(rotation, frame)
        # Axes e1, e2 and e1 x e2 as rows, times the rotation at zero angles from the child to the
        # frame of the first joint.
        axes = ball_joint_axes(robot, names)
        across = np.cross(axes[0], axes[1])
        rest = rotation_from_rpy(second.rpy) @ rotation_from_rpy(third.rpy) @ rotation
        balls.append(
            BallJoint(
                name=ball,
                columns=np.array([robot.joint_index[name] for name in names]),
                to_ball_axes=np.array([axes[0], axes[1], across]) @ rest,
                sign=1.0 if across @ axes[2] > 0.0 else -1.0,
                damping=np.array([first.damping, second.damping, third.damping]),
            )
        )
    built = replace(plain.robot, links=tuple(links), joints=tuple(joints))
    return MergedRobot(robot=built, frames=frames, balls=tuple(balls))


def _principal_axes(inertia: FloatArray) -> FloatArray:
    """Return the principal axes of an inertia as columns; the unit matrix if it is diagonal."""
    if not (inertia - np.diag(np.diag(inertia))).any():
        return np.eye(3)
    _, axes = np.linalg.eigh(inertia)
    # Eigenvectors may form a left-handed frame; the determinant, then -1, turns one of them round.
    axes[:, 0] *= np.linalg.det(axes)
    return np.asarray(axes)


def _in_turned_axes(rotation: FloatArray, frame: CarriedFrame) -> CarriedFrame:
    """Return a carried frame after the axes of its carrier have been turned."""
    return replace(
        frame, position=rotation.T @ frame.position, rotation=rotation.T @ frame.rotation
    )


def _turn_link_axes(link: Link, rotation: FloatArray) -> Link:
    """Return a link in axes turned by ``rotation``, along which its inertia is diagonal."""
    frame = _in_turned_axes(rotation, own_frame(link.name))
    inertia = rotation.T @ link.inertia @ rotation
    return replace(
        link,
        com=rotation.T @ link.com,
        inertia=np.diag(np.diag(inertia)),
        collisions=tuple(_transform_shape(shape, frame) for shape in link.collisions),
        visuals=tuple(_transform_shape(shape, frame) for shape in link.visuals),
    )


def _turn_joint_axes(joint: Joint, link: str, rotation: FloatArray) -> Joint:
    """Return a joint whose child or parent ``link`` has turned axes; others stay the same."""
    if joint.child == link:
        return replace(joint, rpy=rpy_from_rotation(rotation_from_rpy(joint.rpy) @ rotation))
    if joint.parent != link:
        return joint
    frame = _in_turned_axes(rotation, own_frame(link)).compose(joint.xyz, joint.rpy)
    x, y, z = frame.position.tolist()
    return replace(joint, xyz=(x, y, z), rpy=rpy_from_rotation(frame.rotation))


def own_frame(name: str) -> CarriedFrame:
    """Return the frame of a link that is its own carrier."""
    return CarriedFrame(link=name, position=np.zeros(3), rotation=np.eye(3))


def _can_merge(robot: RobotModel, group: list[Link], link: Link) -> bool:
    """Return whether a link can join a group without mixing contacts of a sole and others."""
    if not link.collisions:
        return True

    def sole(name: str) -> str:
        """Return the name of a link that is a sole, else an empty name."""
        return name if name in robot.soles else ''

    return all(sole(member.name) == sole(link.name) for member in group if member.collisions)


def _attach_to_carrier(joint: Joint, frame: CarriedFrame) -> Joint:
    """Return a joint with the carrier of its frame as parent."""
    if frame.link == joint.parent:
        return joint
    x, y, z = frame.position.tolist()
    return replace(joint, parent=frame.link, xyz=(x, y, z), rpy=rpy_from_rotation(frame.rotation))


def _merge_links(name: str, group: list[Link], frames: Mapping[str, CarriedFrame]) -> Link:
    """Return one link with mass, inertia and shapes of a group, in the frame of its carrier."""
    if len(group) == 1:
        return replace(group[0], inertia=_physical_inertia(group[0].inertia))
    mass = sum(link.mass for link in group)
    coms = [frames[link.name].position + frames[link.name].rotation @ link.com for link in group]
    com = (
        sum((link.mass * at for link, at in zip(group, coms, strict=True)), np.zeros(3)) / mass
        if mass > 0.0
        else coms[0]
    )
    inertia = np.zeros((3, 3))
    for link, at in zip(group, coms, strict=True):
        # Parallel axes (Steiner): I += R I_link R^T + m (|d|^2 1 - d d^T), d from the common com.
        rotation, arm = frames[link.name].rotation, at - com
        inertia += rotation @ link.inertia @ rotation.T
        inertia += link.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Link(
        name=name,
        mass=mass,
        com=com,
        inertia=_physical_inertia(0.5 * (inertia + inertia.T)),
        collisions=tuple(
            _transform_shape(shape, frames[link.name])
            for link in group
            for shape in link.collisions
        ),
        visuals=tuple(
            _transform_shape(shape, frames[link.name]) for link in group for shape in link.visuals
        ),
    )


def _physical_inertia(inertia: FloatArray) -> FloatArray:
    """
    Return an inertia that satisfies the triangle inequality of a rigid body.

    The largest principal moment of a body is at most the sum of the other two. Engines refuse an
    inertia that violates this, or drop it silently. Such an inertia, and one that rounding could
    make so, gets the smallest sphere that corrects it. Any other is returned unchanged.
    """
    smallest, middle, largest = np.linalg.eigvalsh(inertia)
    # A sphere adds c to all three moments: largest + c <= (middle + c) + (smallest + c).
    lacking = largest - middle - smallest + INERTIA_MARGIN * largest
    return inertia + lacking * np.eye(3) if lacking > 0.0 else inertia


def _transform_shape(shape: Shape, frame: CarriedFrame) -> Shape:
    """Return a shape of a carried link in the axes of the carrier."""
    if not frame.position.any() and np.array_equal(frame.rotation, np.eye(3)):
        return shape
    at = frame.compose(shape.xyz, shape.rpy)
    x, y, z = at.position.tolist()
    return replace(shape, xyz=(x, y, z), rpy=rpy_from_rotation(at.rotation))


def _check_masses(name: str, links: tuple[Link, ...], joints: tuple[Joint, ...]) -> None:
    """Raise ConfigurationError for a link on a moving joint that has and carries no mass."""
    parent = {joint.child: joint for joint in joints}
    carried = {link.name: link.mass for link in links}
    # Children first: each adds what it carries to its parent.
    for link in reversed(links):
        joint = parent.get(link.name)
        if joint is not None:
            carried[joint.parent] += carried[link.name]
            if joint.kind != 'fixed' and not carried[link.name] > 0.0:
                raise ConfigurationError(
                    f"robot '{name}': link '{link.name}' moves on joint '{joint.name}' but has no "
                    'mass and carries none; give it an inertial'
                )
