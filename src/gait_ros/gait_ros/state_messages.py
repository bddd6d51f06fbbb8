"""What a bridge publishes of the simulated state: pure functions from observations to messages."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Point,
    PointStamped,
    Quaternion,
    Transform,
    TransformStamped,
    Vector3,
)
from nav_msgs.msg import Odometry
import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import ColorRGBA, Header
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from gait_core.arrays import BoolArray, FloatArray
from gait_core.elements import ends_at, tension_colours
from gait_core.kinematics import com_positions, link_poses
from gait_core.metrics import ZMP_LOAD
from gait_core.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.soles import sole_centres
from gait_core.stability import DEFINED, UNDEFINED, centre_of_pressure, margin, support_polygon
from gait_interfaces.msg import FootContacts, Stability
from gait_ros.conversions import flat

ODOM = 'odom'
_STATUS = {UNDEFINED: Stability.UNDEFINED, DEFINED: Stability.DEFINED}
_METRES_PER_WEIGHT = 0.5
_FORCE = ColorRGBA(r=0.9, g=0.4, b=0.0, a=1.0)
_ZMP = ColorRGBA(r=0.8, g=0.0, b=0.5, a=1.0)
_POLYGON = ColorRGBA(r=0.0, g=0.4, b=0.7, a=1.0)
_FIXED = ColorRGBA(r=0.8, g=0.1, b=0.1, a=1.0)


def _point(values: Any) -> Point:
    x, y, z = (float(value) for value in values)
    return Point(x=x, y=y, z=z)


def _vector(values: Any) -> Vector3:
    x, y, z = (float(value) for value in values)
    return Vector3(x=x, y=y, z=z)


def _quaternion(values: Any) -> Quaternion:
    x, y, z, w = (float(value) for value in values)
    return Quaternion(x=x, y=y, z=z, w=w)


def joint_state(stamp: Time, seen: Observation) -> JointState:
    """Return the joints, then the force elements; what is not measured stays empty."""
    message = JointState(header=Header(stamp=stamp))
    names = list(seen.joint_names)
    positions, velocities, efforts = (
        seen.joint_positions,
        seen.joint_velocities,
        seen.joint_efforts,
    )
    if seen.element_lengths is not None and positions is not None:
        names += seen.element_names
        positions = np.concatenate((positions, seen.element_lengths))
        # Elements report no rate: a shorter array would not say whose rates it holds.
        velocities = None
        if efforts is not None and seen.element_forces is not None:
            efforts = np.concatenate((efforts, seen.element_forces))
    message.name = names
    for field, values in (('position', positions), ('velocity', velocities), ('effort', efforts)):
        if values is not None and len(values) == len(names) and np.isfinite(values).all():
            setattr(message, field, flat(values))
    return message


def odometry(stamp: Time, true: Observation) -> Odometry:
    """Return the first root link's true pose, and its twist in its own frame (REP-105)."""
    pose, twist = true.body_poses[0], true.body_twists[0]
    message = Odometry(
        header=Header(stamp=stamp, frame_id=ODOM), child_frame_id=true.body_names[0]
    )
    message.pose.pose.position = _point(pose[:3])
    message.pose.pose.orientation = _quaternion(pose[3:])
    turn = Rotation.from_quat(pose[3:]).as_matrix()
    message.twist.twist.linear = _vector(twist[:3] @ turn)
    message.twist.twist.angular = _vector(twist[3:] @ turn)
    return message


def imu(stamp: Time, seen: Observation, robot: RobotModel) -> Imu:
    """Return the inertial reading in the frame of the link that carries it (REP-145)."""
    reading = seen.imu
    return Imu(
        header=Header(stamp=stamp, frame_id=robot.imu_link or robot.roots[0]),
        orientation=_quaternion(reading.orientation),
        angular_velocity=_vector(reading.angular_velocity),
        linear_acceleration=_vector(reading.linear_acceleration),
    )


def body_transforms(stamp: Time, true: Observation) -> TFMessage:
    """Return odom -> root link for every root."""
    return TFMessage(
        transforms=[
            _transform(stamp, name, pose[:3], pose[3:])
            for name, pose in zip(true.body_names, true.body_poses, strict=True)
        ]
    )


def link_transforms(stamp: Time, true: Observation, robot: RobotModel) -> TFMessage:
    """Return odom -> link for every link but the roots, where no robot_state_publisher runs."""
    poses = link_poses(robot, true.joint_positions, true.body_poses)
    quaternions = Rotation.from_matrix(poses[:, :3, :3]).as_quat()
    return TFMessage(
        transforms=[
            _transform(stamp, link.name, poses[i, :3, 3], quaternions[i])
            for i, link in enumerate(robot.links)
            if link.name not in robot.roots
        ]
    )


def _transform(stamp: Time, child: str, position: Any, quaternion: Any) -> TransformStamped:
    return TransformStamped(
        header=Header(stamp=stamp, frame_id=ODOM),
        child_frame_id=child,
        transform=Transform(translation=_vector(position), rotation=_quaternion(quaternion)),
    )


def foot_contacts(stamp: Time, contacts: Contacts, standing: BoolArray) -> FootContacts:
    """Return contact, force and centre of each sole."""
    return FootContacts(
        header=Header(stamp=stamp, frame_id=ODOM),
        soles=list(contacts.soles),
        in_contact=standing.tolist(),
        forces=[_vector(force) for force in contacts.sole_forces()],
        centres=[_point(centre) for centre in sole_centres(contacts)],
    )


def stability(stamp: Time, true: Observation, robot: RobotModel, gravity: float) -> Stability:
    """Return centre of pressure, centre of mass, support polygon and margin."""
    contacts = true.contacts or Contacts(soles=robot.soles)
    message = Stability(header=Header(stamp=stamp, frame_id=ODOM))
    point, status = centre_of_pressure(
        contacts.points,
        contacts.forces,
        min_force=ZMP_LOAD * robot.mass * (gravity or 1.0),
    )
    message.status = _STATUS.get(status, Stability.SEVERAL_HEIGHTS)
    message.com = _point(com_positions(robot, true.joint_positions, true.body_poses))
    if len(contacts.points):
        height = float(point[2]) if point is not None else float(contacts.points[:, 2].mean())
        corners = support_polygon(contacts.points)
        message.support_polygon = [_point((x, y, height)) for x, y in corners.tolist()]
        if point is not None:
            message.zmp = [_point(point)]
            message.margin = [margin(point, corners)]
    return message


def zmp_point(message: Stability) -> PointStamped | None:
    """Return the zero moment point alone, or ``None`` where it is undefined."""
    if not message.zmp:
        return None
    return PointStamped(header=message.header, point=message.zmp[0])


def markers(message: Stability, contacts: Contacts, weight: float, fixed: bool) -> MarkerArray:
    """Return pictures of contact forces, zero moment point and support polygon for RViz."""
    header = message.header
    forces = Marker(header=header, ns='contact_forces', type=Marker.LINE_LIST, color=_FORCE)
    forces.scale.x = 0.01
    for point, force in zip(contacts.points, contacts.forces, strict=True):
        forces.points += [_point(point), _point(point + _METRES_PER_WEIGHT / weight * force)]
    polygon = Marker(header=header, ns='support_polygon', type=Marker.LINE_STRIP, color=_POLYGON)
    polygon.scale.x = 0.005
    polygon.points = [*message.support_polygon, *message.support_polygon[:1]]
    zmp = Marker(header=header, ns='zmp', type=Marker.SPHERE, color=_ZMP)
    zmp.scale = _vector((0.03, 0.03, 0.03))
    if message.zmp:
        zmp.pose.position = message.zmp[0]
    base = Marker(header=header, ns='fixed_base', type=Marker.TEXT_VIEW_FACING, color=_FIXED)
    base.text, base.scale.z = 'fixed base', 0.1
    base.pose.position = _point((message.com.x, message.com.y, message.com.z + 0.5))
    shown = {
        'contact_forces': bool(forces.points),
        'support_polygon': len(message.support_polygon) > 1,
        'zmp': bool(message.zmp),
        'fixed_base': fixed,
    }
    for marker in (forces, polygon, zmp, base):
        marker.pose.orientation.w = 1.0
        marker.action = Marker.ADD if shown[marker.ns] else Marker.DELETE
    return MarkerArray(markers=[forces, polygon, zmp, base])


def element_lines(stamp: Time, true: Observation, robot: RobotModel) -> Marker:
    """Return force elements as lines in the colours of their tensions."""
    lines = Marker(header=Header(stamp=stamp, frame_id=ODOM), ns='force_elements')
    lines.type, lines.scale.x, lines.pose.orientation.w = Marker.LINE_LIST, 0.003, 1.0
    if not robot.force_elements or true.element_forces is None:
        lines.action = Marker.DELETE
        return lines
    colours = tension_colours(robot, true.element_forces).tolist()
    for ends, (red, green, blue) in zip(
        ends_at(robot, true.joint_positions, true.body_poses), colours, strict=True
    ):
        lines.points += [_point(end) for end in ends]
        lines.colors += [ColorRGBA(r=red, g=green, b=blue, a=1.0)] * 2
    return lines


def weight_of(robot: RobotModel, gravity: FloatArray | tuple[float, ...]) -> float:
    """Return the robot's weight [N]; that of 1 m/s^2 where there is no gravity."""
    return robot.mass * (float(np.linalg.norm(gravity)) or 1.0)
