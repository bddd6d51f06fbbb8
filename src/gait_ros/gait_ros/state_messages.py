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
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from gait_core.arrays import BoolArray, FloatArray
from gait_core.base_frames import ODOM, base_frame, base_transforms
from gait_core.kinematics import com_positions, link_poses
from gait_core.metrics import ZMP_LOAD
from gait_core.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.scene import SensorModel
from gait_core.soles import sole_centres
from gait_core.stability import DEFINED, UNDEFINED, centre_of_pressure, margin, support_polygon
from gait_interfaces.msg import FootContacts, Stability
from gait_ros.conversions import flat

_STATUS = {UNDEFINED: Stability.UNDEFINED, DEFINED: Stability.DEFINED}


def point_of(values: Any) -> Point:
    """Return x, y and z [m] as a message."""
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


def odometry(stamp: Time, true: Observation, robot: RobotModel) -> Odometry:
    """Return the base's true pose, and its twist in its own frame (REP-105)."""
    pose, twist = true.body_poses[0], true.body_twists[0]
    message = Odometry(header=Header(stamp=stamp, frame_id=ODOM), child_frame_id=base_frame(robot))
    message.pose.pose.position = point_of(pose[:3])
    message.pose.pose.orientation = _quaternion(pose[3:])
    turn = Rotation.from_quat(pose[3:]).as_matrix()
    message.twist.twist.linear = _vector(twist[:3] @ turn)
    message.twist.twist.angular = _vector(twist[3:] @ turn)
    return message


def imu(stamp: Time, seen: Observation, robot: RobotModel, sensors: SensorModel) -> Imu:
    """
    Return the inertial reading in the frame of the link that carries it (REP-145).

    Covariances are those of the noise; all zeros, which means unknown, where there is none.
    """
    reading = seen.imu
    turned, turning, speeding = (np.eye(3).ravel() * one for one in sensors.imu_variances)
    return Imu(
        header=Header(stamp=stamp, frame_id=robot.imu_link or robot.roots[0]),
        orientation=_quaternion(reading.orientation),
        orientation_covariance=turned,
        angular_velocity=_vector(reading.angular_velocity),
        angular_velocity_covariance=turning,
        linear_acceleration=_vector(reading.linear_acceleration),
        linear_acceleration_covariance=speeding,
    )


def body_transforms(stamp: Time, true: Observation, robot: RobotModel) -> TFMessage:
    """Return odom -> base_link -> root link, or odom -> root for every root; base_footprint."""
    return TFMessage(
        transforms=[
            _transform(stamp, parent, child, pose[:3], pose[3:])
            for parent, child, pose in base_transforms(
                robot, true.joint_positions, true.body_poses
            )
        ]
    )


def link_transforms(stamp: Time, true: Observation, robot: RobotModel) -> TFMessage:
    """Return odom -> link for every link but the roots, where no robot_state_publisher runs."""
    poses = link_poses(robot, true.joint_positions, true.body_poses)
    quaternions = Rotation.from_matrix(poses[:, :3, :3]).as_quat()
    return TFMessage(
        transforms=[
            _transform(stamp, ODOM, link.name, poses[i, :3, 3], quaternions[i])
            for i, link in enumerate(robot.links)
            if link.name not in robot.roots
        ]
    )


def _transform(
    stamp: Time, parent: str, child: str, position: Any, quaternion: Any
) -> TransformStamped:
    return TransformStamped(
        header=Header(stamp=stamp, frame_id=parent),
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
        centres=[point_of(centre) for centre in sole_centres(contacts)],
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
    message.com = point_of(com_positions(robot, true.joint_positions, true.body_poses))
    if len(contacts.points):
        height = float(point[2]) if point is not None else float(contacts.points[:, 2].mean())
        corners = support_polygon(contacts.points)
        message.support_polygon = [point_of((x, y, height)) for x, y in corners.tolist()]
        if point is not None:
            message.zmp = [point_of(point)]
            message.margin = [margin(point, corners)]
    return message


def zmp_point(message: Stability) -> PointStamped | None:
    """Return the zero moment point alone, or ``None`` where it is undefined."""
    if not message.zmp:
        return None
    return PointStamped(header=message.header, point=message.zmp[0])


def weight_of(robot: RobotModel, gravity: FloatArray | tuple[float, ...]) -> float:
    """Return the robot's weight [N]; that of 1 m/s^2 where there is no gravity."""
    return robot.mass * (float(np.linalg.norm(gravity)) or 1.0)
